//! The committed inputs of one fuzzing target.

use std::fs;
use std::path::Path;

pub(crate) fn replay(target: &str, run: impl Fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(target);
    let inputs = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut count = 0;
    for input in inputs {
        let path = input.expect("a file").path();
        let data = fs::read(&path).expect("an input");
        // A test that fails says which input it was.
        println!("{}", path.display());
        run(&data);
        count += 1;
    }
    assert!(count >= 10, "{count} inputs in {}", folder.display());
}
