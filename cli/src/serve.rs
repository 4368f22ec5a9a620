//! `acp serve`: an agent for each connection, as a child process.

use std::fs;
use std::io::Write;
use std::path::Path;

use libacp::printable;
use libacp_tokio::http::{listen, serve, AgentService, Notice, ServerOptions, Token};
use libacp_tokio::spawn;

use crate::exit::Failure;
use crate::log::say;
use crate::options::Serve;

pub(crate) async fn run(options: Serve) -> Result<(), Failure> {
    let settings = settings(&options)?;
    let (program, arguments) = options.agent.split_first().ok_or_else(|| Failure::Usage("no agent".into()))?;
    let listener = listen(options.listen);
    let listener =
        listener.map_err(|problem| Failure::Unreachable(format!("cannot listen on {}: {problem}", options.listen)))?;
    let address = listener.local_addr().map_err(|problem| Failure::Unreachable(problem.to_string()))?;
    let service = AgentService::spawn_with(settings, spawn(program).args(arguments), tell);
    println!("http://{address}{}", options.path);
    drop(std::io::stdout().flush());
    let stopped = tokio::select! {
        signal = signal() => signal,
        _ = serve(listener, service.clone()) => return Ok(()),
    };
    let used = service.connections() > 0;
    service.close().await;
    if used {
        return Err(Failure::Signal(stopped));
    }
    Ok(())
}

/// Bytes of each stream that are kept for clients that resume.
const RETAINED: usize = 256 << 10;

/// What part of its time a reader has that takes nothing and holds up other sessions, as by default.
const BLOCKING: u64 = 4;

fn settings(options: &Serve) -> Result<ServerOptions, Failure> {
    let mut settings = ServerOptions::default();
    // No request names any other. Without one, each is served.
    let no_part = |it: char| !it.is_ascii_graphic() || "?#".contains(it);
    if !options.path.is_empty() && (!options.path.starts_with('/') || options.path.contains(no_part)) {
        return Err(Failure::Usage(format!("`{}` is no path", printable(&options.path))));
    }
    settings.path.clone_from(&options.path);
    for origin in &options.origin {
        if !settings.allowed.origin(origin) {
            return Err(Failure::Usage(format!("`{}` is no origin", printable(origin))));
        }
    }
    for host in &options.host {
        if !settings.allowed.host(host) {
            return Err(Failure::Usage(format!("`{}` is no host", printable(host))));
        }
    }
    if let Some(file) = &options.token {
        let token = Token::new(&token(file)?);
        settings.token = Some(token.ok_or_else(|| Failure::Usage("the file of the token has none".into()))?);
    }
    settings.limits.connections = options.connections;
    settings.limits.retained = if options.resumable { RETAINED } else { 0 };
    settings.times.idle = options.grace.saturating_mul(1000);
    settings.times.stall = options.stall.saturating_mul(1000);
    settings.times.blocking = settings.times.stall / BLOCKING;
    Ok(settings)
}

/// The token in a file, without the space around it.
pub(crate) fn token(file: &Path) -> Result<String, Failure> {
    let text = fs::read_to_string(file);
    let text = text.map_err(|problem| Failure::Usage(format!("cannot read {}: {problem}", file.display())))?;
    Ok(text.trim().to_owned())
}

fn tell(notice: &Notice) {
    match notice {
        Notice::Opened { connection } => say(format_args!("connection {connection} is open")),
        Notice::Closed { connection, why } => say(format_args!("connection {connection} is over: {why}")),
        Notice::Violation(report) | Notice::Advice(report) => {
            let connection = report.connection.map_or(String::new(), |it| format!("connection {}: ", it.number()));
            say(format_args!("{connection}{}: {}", report.rule, report.message));
        }
        Notice::Dropped { connection, rule, message } => {
            say(format_args!("connection {connection}: a message of the agent was dropped: {rule}: {message}"));
        }
        Notice::AgentEnded { connection, how } => say(format_args!("connection {connection}: {how}")),
        _ => {}
    }
}

/// The number of a signal that ends the program.
#[cfg(unix)]
pub(crate) async fn signal() -> u8 {
    use tokio::signal::unix::{signal, SignalKind};

    let (Ok(mut int), Ok(mut term)) = (signal(SignalKind::interrupt()), signal(SignalKind::terminate())) else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = int.recv() => 2,
        _ = term.recv() => 15,
    }
}

/// The number of a signal that ends the program.
#[cfg(windows)]
pub(crate) async fn signal() -> u8 {
    drop(tokio::signal::ctrl_c().await);
    2
}
