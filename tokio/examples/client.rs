//! A client that starts an agent and says one thing to it: `client PROMPT PROGRAM ARGUMENT...`. The agent may use the files
//! of this folder and run commands.

#![forbid(unsafe_code)]

use libacp::aio::{Client, Failure};
use libacp::printable;
use libacp_tokio::{spawn, ClientExt, Files, Terminals};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let (Some(prompt), Some(program)) = (arguments.next(), arguments.next()) else {
        return Err(Failure::new("expected PROMPT PROGRAM ARGUMENT..."));
    };
    let folder = std::env::current_dir()?.to_string_lossy().into_owned();
    let client = Client::new("client", "1.0").files(Files::new()).terminals(Terminals::new());
    let agent = spawn(program).args(arguments);
    agent
        .run(&client, async |agent| {
            let session = agent.new_session(&folder).await?;
            let mut turn = session.prompt(prompt.as_str());
            while let Some(update) = turn.update().await? {
                if let Some(text) = update.text() {
                    // It may be anything, and must not steer the terminal.
                    println!("{}", printable(text));
                }
            }
            Ok(())
        })
        .await
}
