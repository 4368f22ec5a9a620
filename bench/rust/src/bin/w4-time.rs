//! Times W4 in pieces, without a view and with one: `w4-time FILE PASSES`.
//!
//! The two take turns in one process, and of each piece of 16 KiB the shortest of all passes counts: other load on the
//! machine disturbs some passes of a piece, and hardly all. What comes out is one line of JSON with the milliseconds of each.
#![forbid(unsafe_code)]

use std::hint::black_box;
use std::time::Instant;

use libacp::{Config, Connection, Event};
use libacp_bench::{client_with, SESSION};

const PIECE: usize = 16 * 1024;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [file, passes] = args.as_slice() else { panic!("expected FILE PASSES") };
    let bytes = std::fs::read(file).unwrap_or_else(|error| panic!("{file}: {error}"));
    let pieces = bytes.len().div_ceil(PIECE);
    let mut shortest = [false, true].map(|_| vec![f64::INFINITY; pieces]);
    for _ in 0..passes.parse().expect("a number of passes") {
        for (view, shortest) in [false, true].into_iter().zip(&mut shortest) {
            pass(&bytes, view, shortest);
        }
    }
    let [without, with] = shortest.map(|pieces| pieces.iter().sum::<f64>() * 1e3);
    println!(r#"{{"without":{without:.3},"with":{with:.3},"adds":{:.4}}}"#, with / without - 1.0);
}

fn pass(bytes: &[u8], view: bool, shortest: &mut [f64]) {
    let mut config = Config::client();
    config.view = view;
    let mut client = client_with(config, SESSION);
    let mut drawn = 0;
    for (piece, shortest) in bytes.chunks(PIECE).zip(shortest) {
        let begun = Instant::now();
        drawn = decode(&mut client, piece, drawn);
        *shortest = shortest.min(begun.elapsed().as_secs_f64());
    }
}

/// Takes all events of a piece, and asks what has changed since it was drawn.
fn decode(client: &mut Connection, piece: &[u8], drawn: u64) -> u64 {
    client.receive(piece);
    while let Some(event) = client.poll_event() {
        assert!(matches!(event, Event::Notification(_)), "{event:?}");
        black_box(event);
    }
    let Some(view) = client.view("s-0") else { return 0 };
    black_box(view.since(drawn).entries().count());
    view.revision()
}
