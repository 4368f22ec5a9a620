//! A server under load: many idle connections, slow heads and bodies, a reader that stops.
//!
//! `bench-load WHAT [OPTION …]` starts a server as a process of its own, does it, and prints one line of JSON. Read `served` for
//! the server and its agent, `wire` for the clients, then `crowd`, `slow` and `stalled`.
#![forbid(unsafe_code)]

mod crowd;
mod floor;
mod served;
mod slow;
mod stalled;
mod wire;

use anyhow::{bail, Context, Result};
use wire::Way;

const USAGE: &str = "\
bench-load crowd http|http2|ws NUMBER [SERVER …]  idle connections, one in a hundred of them at work; SERVER: a
                                                  command that prints its address, in place of this program
bench-load idle http|http2|ws NUMBER [SERVER …]   the same without any work
bench-load slow                                   heads and bodies that come byte by byte
bench-load stalled http|http2|ws SECONDS [SERVER …]  a reader that stops, under a gigabyte of updates
bench-load serve                                  the server of these
bench-load floor                                  a server of the same libraries without libacp, for `idle`
bench-load agent                                  the agent as a program";

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let way = |name: &str| Way::named(name).with_context(|| format!("{name} is no way; expected http, http2 or ws"));
    match args.as_slice() {
        ["agent"] => served::agent(),
        ["serve"] => run(served::serve()),
        ["slow"] => run(slow::run()),
        ["floor"] => run(floor::serve()),
        ["crowd", name, number, server @ ..] => run(crowd::run(way(name)?, number.parse()?, true, server)),
        ["idle", name, number, server @ ..] => run(crowd::run(way(name)?, number.parse()?, false, server)),
        ["stalled", name, seconds, server @ ..] => run(stalled::run(way(name)?, seconds.parse()?, server)),
        _ => bail!("{USAGE}"),
    }
}

fn run(work: impl std::future::Future<Output = Result<()>>) -> Result<()> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(work)
}
