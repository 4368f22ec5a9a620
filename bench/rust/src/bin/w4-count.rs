//! Decodes the first lines of a file, for callgrind: `w4-count FILE LINES`, and with `view` behind it while it keeps the
//! session's view. Only [`decode`] is counted, by its name.
#![forbid(unsafe_code)]

use std::hint::black_box;

use libacp::{Config, Connection, Event};
use libacp_bench::{client_with, SESSION};

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [file, lines, view @ ..] = args.as_slice() else { panic!("expected FILE LINES") };
    let text = std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{file}: {error}"));
    let lines = text.split_inclusive('\n').take(lines.parse().expect("a number of lines"));
    let bytes: String = lines.collect();
    let mut config = Config::client();
    config.view = view.first().is_some_and(|word| word == "view");
    let mut client = client_with(config, SESSION);
    let events = decode(&mut client, bytes.as_bytes());
    println!(r#"{{"processor":"{}","events":{events}}}"#, processor());
}

#[inline(never)]
fn decode(client: &mut Connection, bytes: &[u8]) -> usize {
    let mut count = 0;
    client.receive(bytes);
    while let Some(event) = client.poll_event() {
        assert!(matches!(event, Event::Notification(_)), "{event:?}");
        black_box(event);
        count += 1;
    }
    count
}

/// What decides which instructions are used beside the compiler: searches choose theirs when they first run.
fn processor() -> String {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        return "x86_64 with AVX2".to_owned();
    }
    std::env::consts::ARCH.to_owned()
}
