//! `cargo xtask web [--port N] [--cwd DIR] [--root DIR] [-- AGENT …]`: the example page, talking to an agent.
//!
//! The agent is served as `acp serve` does it, over HTTP and WebSocket: a process for each connection. For this machine
//! alone: it listens on the loopback address, everything lies behind a random token that only the printed address has, and a
//! WebSocket is taken only from the page's own origin. `visitors` counts connections, `site` answers requests, `machine`
//! serves files and commands where `--root` says so, `commands` makes commands end with the page and the server.
#![forbid(unsafe_code)]

mod commands;
mod machine;
mod site;
mod visitors;

use std::convert::Infallible;
use std::fmt::Display;
use std::io::{self, Write};
use std::net::Ipv4Addr;
use std::pin::pin;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use commands::Commands;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use libacp_tokio::http::{AgentService, Notice, ServerOptions};
use libacp_tokio::spawn;
use site::Site;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::sleep;
use tower_http::services::ServeDir;
use visitors::{Visit, Visitors};

const PAGE: &str = "target/web/site";
const AGENT: &str = "target/debug/acp-chat-agent";
/// After a connection could not be taken, say because there are too many open files.
const PAUSE: Duration = Duration::from_millis(100);
/// A head is not longer than this, in bytes.
const HEAD: usize = 16 * 1024;
/// How long a whole head may take. Browsers connect ahead of what they want, and on a busy machine send it much later;
/// where room is needed, `visitors` sends those away who have not said anything.
const PATIENCE: Duration = Duration::from_secs(30);
/// Agents at a time.
const AGENTS: usize = 16;
/// Bytes of one message from the page, as in the core's limits.
const MESSAGE: usize = 32 << 20;
/// How long an agent may take to end after its input has ended, and then after a signal.
const GRACE: Duration = Duration::from_millis(250);
/// How long a connection over HTTP is kept whose page is gone, in milliseconds: the page may be loaded again.
const IDLE: u64 = 60_000;

fn main() -> ExitCode {
    match commands::guard(std::env::args_os()).map_or_else(run, Err) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

#[tokio::main(worker_threads = 2)]
async fn run() -> Result<(), Box<dyn std::error::Error>> {
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
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
    let port = listener.local_addr()?.port();
    let token = token()?;
    let address = format!("http://127.0.0.1:{port}/{token}/");
    // There is one, for as long as this program runs.
    let site: &'static Site = Box::leak(Box::new(Site {
        agent: service(&token, &agent),
        token,
        hosts: [format!("127.0.0.1:{port}"), format!("localhost:{port}")],
        page: ServeDir::new(PAGE).precompressed_br().precompressed_gzip(),
        commands: Commands::default(),
        cwd: cwd.to_string_lossy().into_owned(),
        root,
    }));
    commands::end_on_signals(site)?;
    println!("{address}");
    // It may be a pipe that somebody waits at.
    io::stdout().flush()?;
    listen(site, &listener).await
}

/// Serves all who come. Nothing that goes wrong with one connection ends the server.
async fn listen(site: &'static Site, listener: &TcpListener) -> ! {
    let visitors = Arc::<Visitors>::default();
    // What goes wrong again and again is said once.
    let mut said = None;
    loop {
        match listener.accept().await {
            Ok((stream, from)) => {
                let visit = visitors.admit(from.ip()).await;
                tokio::spawn(connection(site, visit, stream));
            }
            Err(error) => {
                let reason = error.to_string();
                if said.as_ref() != Some(&reason) {
                    tell(&format_args!("a connection was not served: {reason}"));
                }
                said = Some(reason);
                sleep(PAUSE).await;
            }
        }
    }
}

/// Serves one connection, until it has to go.
async fn connection(site: &'static Site, visit: Visit, stream: TcpStream) {
    drop(stream.set_nodelay(true));
    let served = service_fn(|request| async { Ok::<_, Infallible>(site::serve(site, &visit, request).await) });
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(PATIENCE).max_buf_size(HEAD);
    let serving = pin!(builder.serve_connection(TokioIo::new(stream), served).with_upgrades());
    tokio::select! {
        // Strangers cannot make this program say anything: what fails with them is nobody's concern.
        _ = serving => {}
        () = visit.sent_away() => {}
    }
}

/// The agent, as `acp serve` has it, behind the token.
fn service(token: &str, agent: &[String]) -> AgentService {
    let mut options = ServerOptions::default();
    options.path = format!("/{token}/agent");
    options.limits.connections = AGENTS;
    options.limits.body = MESSAGE;
    options.times.idle = IDLE;
    AgentService::spawn_with(options, spawn(&agent[0]).args(&agent[1..]).grace(GRACE), |notice| match notice {
        Notice::AgentEnded { how, .. } => tell(how),
        Notice::Dropped { rule, message, .. } => {
            tell(&format_args!("a message of the agent was dropped: {rule}: {message}"));
        }
        _ => {}
    })
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
