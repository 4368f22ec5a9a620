//! `cargo xtask web [--port N] [--cwd DIR] [-- AGENT …]`: the example page, talking to an agent.
//!
//! For this machine alone: it listens on the loopback address, everything lies behind a random token that only the
//! printed address has, and a WebSocket is taken only from the page's own origin. `visitors` counts connections, `http` reads
//! requests and serves files, `bridge` joins a WebSocket to a new process of the agent's, `agents` makes these processes
//! end with the page and with the server.
#![forbid(unsafe_code)]

mod agents;
mod bridge;
mod http;
mod inbox;
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
    /// The page's folder, and that of installed packages.
    page: PathBuf,
    packages: PathBuf,
    /// Command and arguments.
    agent: Vec<String>,
    /// Those that run.
    agents: Agents,
    /// Those that are connected.
    visitors: Arc<Visitors>,
    /// Where sessions work.
    cwd: String,
}

const PAGE: &str = "examples/web";
const PACKAGES: &str = "target/web/node_modules";
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
    let (mut port, mut cwd) = (0, std::env::current_dir()?);
    let mut agent = Vec::new();
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or_else(|| format!("{argument} needs a value"));
        match argument.as_str() {
            "--port" => port = value()?.parse()?,
            "--cwd" => cwd = std::fs::canonicalize(value()?)?,
            "--" => agent = arguments.by_ref().collect(),
            _ => return Err(format!("unknown argument {argument}; [--port N] [--cwd DIR] [-- AGENT …]").into()),
        }
    }
    if agent.is_empty() {
        agent.push(AGENT.to_owned());
    }
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
    let port = listener.local_addr()?.port();
    let token = token()?;
    let address = format!("http://127.0.0.1:{port}/{token}/");
    let site = Arc::new(Site {
        token,
        hosts: [format!("127.0.0.1:{port}"), format!("localhost:{port}")],
        page: PAGE.into(),
        packages: PACKAGES.into(),
        agent,
        agents: Agents::default(),
        visitors: Arc::default(),
        cwd: cwd.to_string_lossy().into_owned(),
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
