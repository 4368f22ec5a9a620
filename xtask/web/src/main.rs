//! `cargo xtask web [--port N] [--cwd DIR] [--root DIR] [-- AGENT …]`: the example page, talking to an agent.
//!
//! For this machine alone: it listens on the loopback address, everything lies behind a random token that only the
//! printed address has, and a WebSocket is taken only from the page's own origin. `visitors` counts connections, `http` reads
//! requests and serves files, `socket` has both halves of a `WebSocket`, `bridge` joins one to a new process of the agent's,
//! `machine` serves files and commands where `--root` says so, `agents` makes processes end with the page and the server.
#![forbid(unsafe_code)]

mod agents;
mod bridge;
mod http;
mod inbox;
mod machine;
mod socket;
mod visitors;

use std::fmt::Display;
use std::io::{self, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use agents::Agents;
use visitors::Visitors;

/// What every connection needs to know.
struct Site {
    /// First part of every path.
    token: String,
    /// Values of `Host` that are this server, and with `http://` before them its origins.
    hosts: [String; 2],
    /// The page's folder.
    page: PathBuf,
    /// Command and arguments.
    agent: Vec<String>,
    /// Those that run.
    agents: Agents,
    /// The commands that run for them.
    commands: Agents,
    /// Those that are connected.
    visitors: Arc<Visitors>,
    /// Where sessions work.
    cwd: String,
    /// The folder whose files agents may use, and where their commands may begin, as far as the user agrees; without one
    /// they get neither.
    root: Option<PathBuf>,
}

const PAGE: &str = "target/web/site";
const AGENT: &str = "target/debug/acp-chat-agent";
/// After a connection could not be taken, say because there are too many open files.
const PAUSE: Duration = Duration::from_millis(100);

fn main() -> ExitCode {
    match agents::guard(std::env::args_os()).map_or_else(run, Err) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (mut port, mut cwd, mut root) = (0, None, None);
    let mut agent = Vec::new();
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or_else(|| format!("{argument} needs a value"));
        match argument.as_str() {
            "--port" => port = value()?.parse()?,
            "--cwd" => cwd = Some(std::fs::canonicalize(value()?)?),
            "--root" => root = Some(std::fs::canonicalize(value()?)?),
            "--" => agent = arguments.by_ref().collect(),
            _ => {
                return Err(
                    format!("unknown argument {argument}; [--port N] [--cwd DIR] [--root DIR] [-- AGENT …]").into()
                )
            }
        }
    }
    if agent.is_empty() {
        agent.push(AGENT.to_owned());
    }
    let cwd = cwd.or_else(|| root.clone()).map_or_else(std::env::current_dir, Ok)?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
    let port = listener.local_addr()?.port();
    let token = token()?;
    let address = format!("http://127.0.0.1:{port}/{token}/");
    let site = Arc::new(Site {
        token,
        hosts: [format!("127.0.0.1:{port}"), format!("localhost:{port}")],
        page: PAGE.into(),
        agent,
        agents: Agents::default(),
        commands: Agents::default(),
        visitors: Arc::default(),
        cwd: cwd.to_string_lossy().into_owned(),
        root,
    });
    agents::end_on_signals(&site)?;
    println!("{address}");
    // It may be a pipe that somebody waits at.
    io::stdout().flush()?;
    // Nothing that goes wrong with one connection ends the server. What goes wrong again and again is said once.
    let mut said = None;
    for stream in listener.incoming() {
        let failed = stream.and_then(|stream| receive(&site, stream)).err();
        let reason = failed.map(|error| error.to_string());
        if let Some(reason) = &reason {
            if said.as_ref() != Some(reason) {
                tell(&format_args!("a connection was not served: {reason}"));
            }
            thread::sleep(PAUSE);
        }
        said = reason.or(said);
    }
    Ok(())
}

/// Serves a connection in a thread of its own.
fn receive(site: &Arc<Site>, stream: TcpStream) -> io::Result<()> {
    let visit = site.visitors.admit(stream)?;
    let site = Arc::clone(site);
    let serve = move || {
        if let Err(error) = http::serve(&site, &visit) {
            tell(&error);
        }
    };
    thread::Builder::new().spawn(serve).map(drop)
}

/// Says something to who has started the server. They may have closed what it is said on.
fn tell(what: &dyn Display) {
    let _ = writeln!(io::stderr(), "{what}");
}

fn token() -> Result<String, getrandom::Error> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)?;
    Ok(format!("{:032x}", u128::from_ne_bytes(bytes)))
}
