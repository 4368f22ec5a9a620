//! What fuzzing has collected in `core/fuzz/corpus/files`, once more, without the fuzzer.

#[path = "../../core/fuzz/targets/files.rs"]
mod target;

use std::fs;

#[test]
fn file_inputs() {
    let inputs = fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../core/fuzz/corpus/files")).expect("the corpus");
    let mut count = 0;
    for input in inputs {
        let path = input.expect("a file").path();
        println!("{}", path.display());
        target::run(&fs::read(&path).expect("an input"));
        count += 1;
    }
    assert!(count >= 10, "{count} inputs");
}
