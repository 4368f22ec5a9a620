//! The command line.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;

const CODES: &str = "\
Exit codes:
  0    the conversation ended, or the server was stopped while nobody used it
  2    an option cannot be used
  3    the address cannot be listened on, or the server cannot be reached
  4    the server wants other credentials
  5    what answers is no agent, or refused to talk
  130  SIGINT
  143  SIGTERM";

/// Agents of the Agent Client Protocol over HTTP and WebSocket.
#[derive(Parser, Debug)]
#[command(name = "acp", version, after_help = CODES)]
pub(crate) struct Options {
    #[command(subcommand)]
    pub(crate) command: Command,
    /// Say errors alone.
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,
}

#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Serve an agent that speaks over its standard streams: one process for each connection.
    Serve(Serve),
    /// Be an agent on the standard streams that is really elsewhere.
    Connect(Connect),
    /// Print completions for a shell.
    Completions {
        /// The shell.
        shell: Shell,
    },
}

#[derive(Args, Debug)]
pub(crate) struct Serve {
    /// Where to listen. Port 0 is one that is free; the address is printed as soon as it is known.
    #[arg(long, default_value = "127.0.0.1:7332", value_name = "ADDRESS:PORT")]
    pub(crate) listen: SocketAddr,
    /// The path of the endpoint.
    #[arg(long, default_value = "/acp")]
    pub(crate) path: String,
    /// A file with a token that clients have to send: `Authorization: Bearer TOKEN`.
    #[arg(long, value_name = "FILE")]
    pub(crate) token: Option<PathBuf>,
    /// Also serve the pages of this origin, such as `https://editor.example.com`. May be given more than once.
    #[arg(long, value_name = "URL")]
    pub(crate) origin: Vec<String>,
    /// Also answer to this name; by default only to those of this machine. May be given more than once.
    #[arg(long, value_name = "NAME")]
    pub(crate) host: Vec<String>,
    /// How long a connection without streams and requests is kept, in seconds.
    #[arg(long, default_value_t = 60, value_name = "SECONDS")]
    pub(crate) grace: u64,
    /// How long a client may read nothing while 1 MiB waits for it, in seconds: then a session loses its stream, or a WebSocket
    /// is closed. A quarter of that while other sessions of the connection wait behind the stream.
    #[arg(long, default_value_t = 60, value_name = "SECONDS")]
    pub(crate) stall: u64,
    /// Keep the last 256 KiB of each stream for clients whose connection breaks and that resume (`Last-Event-ID`): a draft.
    #[arg(long)]
    pub(crate) resumable: bool,
    /// How many connections, and so processes, there may be at a time.
    #[arg(long, default_value_t = 64, value_name = "NUMBER")]
    pub(crate) connections: usize,
    /// The agent and its arguments.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub(crate) agent: Vec<OsString>,
}

#[derive(Args, Debug)]
pub(crate) struct Connect {
    /// The address of the agent: http://, https://, ws:// or wss://.
    pub(crate) url: String,
    /// A header for each request, as in 'X-Team: blue'. May be given more than once.
    #[arg(long, value_name = "NAME: VALUE")]
    pub(crate) header: Vec<String>,
    /// A file with a token to send: `Authorization: Bearer TOKEN`. It is read again when the server wants another one.
    #[arg(long, value_name = "FILE")]
    pub(crate) token: Option<PathBuf>,
    /// How long the first connection may take, in seconds.
    #[arg(long, default_value_t = 30, value_name = "SECONDS")]
    pub(crate) first: u64,
    /// How long a lost connection is tried to be opened again, in seconds.
    #[arg(long, default_value_t = 300, value_name = "SECONDS")]
    pub(crate) give_up: u64,
    /// When a stream breaks, go on behind its last event, if the server gives events ids (`Last-Event-ID`): a draft.
    #[arg(long)]
    pub(crate) resumable: bool,
    /// Speak HTTP/2 without TLS.
    #[arg(long)]
    pub(crate) http2: bool,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        Options::command().debug_assert();
        assert!(Options::try_parse_from(["acp", "serve"]).is_err(), "an agent is needed");
        let options = Options::try_parse_from(["acp", "serve", "--host", "a", "--host", "b", "--", "agent", "--acp"]);
        let Command::Serve(serve) = options.unwrap().command else { panic!() };
        assert_eq!((serve.host, serve.agent), (vec!["a".into(), "b".into()], vec!["agent".into(), "--acp".into()]));
    }
}
