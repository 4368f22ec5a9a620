//! `acp-chat-agent [FOLDER]`: the agent of [`libacp_examples::chat`] on the standard streams. Sessions are kept in the
//! folder, or in one among the machine's temporary files.

use std::path::PathBuf;
use std::process::ExitCode;

use libacp_examples::chat::agent::Agent;
use libacp_examples::chat::store::Store;
use libacp_examples::{shown, Result};

fn run() -> Result<()> {
    let folder = std::env::args_os().nth(1).map(PathBuf::from);
    let folder = folder.unwrap_or_else(|| std::env::temp_dir().join("libacp-chat-agent"));
    Agent::new(Store::open(&folder)?)?.run()
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("acp-chat-agent: {}", shown(&failure.to_string()));
            ExitCode::FAILURE
        }
    }
}
