//! What the Rust programs of the benchmark share: how they are called, how they measure, and what they print.
//!
//! `PROGRAM WORK INPUTS MILLISECONDS` does one work. With 0 milliseconds it is done once, from cold; otherwise once to get
//! warm, and then for so long at least. What comes out is one line of JSON: the seconds of one pass, how many messages
//! it has handled, and the most memory that the process had.
#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Bytes that a host reads at once.
pub const PIECE: usize = 64 * 1024;

/// Where the inputs lie.
#[derive(Debug)]
pub struct Inputs(PathBuf);

impl Inputs {
    /// The bytes of one.
    ///
    /// # Panics
    /// When it cannot be read: then there is nothing to measure.
    pub fn bytes(&self, name: &str) -> Vec<u8> {
        let path = self.0.join(name);
        std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// The text of one.
    ///
    /// # Panics
    /// When it is none.
    pub fn text(&self, name: &str) -> String {
        String::from_utf8(self.bytes(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }
}

/// How long one pass took, and how many messages it has handled.
pub type Pass = (Duration, usize);

/// A work: its name, and one pass of it.
pub type Work = (&'static str, fn(&Inputs) -> Pass);

/// A program: does what its command line says.
///
/// # Panics
/// When the command line is none, or the work goes wrong.
pub fn main(works: &[Work]) {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [name, inputs, milliseconds] = args.as_slice() else { panic!("expected WORK INPUTS MILLISECONDS") };
    let work = works.iter().find(|work| work.0 == name).unwrap_or_else(|| panic!("no work {name}")).1;
    let inputs = Inputs(Path::new(inputs).to_path_buf());
    let least = Duration::from_millis(milliseconds.parse().expect("a number of milliseconds"));
    let mut pass = work(&inputs);
    let mut seconds = pass.0.as_secs_f64();
    if !least.is_zero() {
        let (mut spent, mut passes) = (Duration::ZERO, 0);
        while spent < least {
            pass = work(&inputs);
            spent += pass.0;
            passes += 1;
        }
        seconds = spent.as_secs_f64() / f64::from(passes);
    }
    let (count, peak) = (pass.1, peak_kib().map_or("null".to_owned(), |peak| peak.to_string()));
    println!(r#"{{"work":"{name}","seconds":{seconds},"count":{count},"peak_kib":{peak}}}"#);
}

/// Times something that handles so many messages.
pub fn timed(work: impl FnOnce() -> usize) -> Pass {
    let begun = Instant::now();
    let count = work();
    (begun.elapsed(), count)
}

/// Nothing: what the process is without the library.
pub fn none(_: &Inputs) -> Pass {
    (Duration::ZERO, 0)
}

/// The most memory that this process had, where the system tells.
fn peak_kib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse().ok()
}
