//! An agent on the standard streams. It repeats what it is told; a line that begins with `!` is a command, which the client
//! runs, and one that begins with `<` is a file that the client reads, as far as the client offers that.

#![forbid(unsafe_code)]

use libacp::aio::{Agent, Failure, Turn};
use libacp_tokio::stdio;

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::io::Result<()> {
    let agent = Agent::new("echo", "1.0")
        .prompt(answer)
        .on_violation(|violation| eprintln!("{}: {}", violation.rule, violation.message))
        .on_error(|method, failure| eprintln!("{method}: {failure}"));
    agent.serve(stdio()?).await
}

async fn answer(turn: Turn) -> Result<(), Failure> {
    let text = turn.text();
    // Standard output is the protocol's; this goes to standard error meanwhile.
    println!("was told {text:?}");
    for line in text.lines() {
        let answer = match line.split_at_checked(1) {
            Some(("!", command)) => run(&turn, command).await?,
            Some(("<", path)) => read(&turn, path).await?,
            _ => format!("You said: {line}\n"),
        };
        turn.message(answer).await?;
    }
    Ok(())
}

async fn run(turn: &Turn, command: &str) -> Result<String, Failure> {
    if !turn.client().can("terminal/create") {
        return Ok("This client runs no commands.\n".to_owned());
    }
    let terminal = turn.terminal("sh", ["-c", command]).await?;
    terminal.wait().await?;
    let printed = terminal.output().await?.output.to_string();
    terminal.release().await?;
    Ok(printed)
}

async fn read(turn: &Turn, path: &str) -> Result<String, Failure> {
    if !turn.client().can("fs/read_text_file") {
        return Ok("This client reads no files.\n".to_owned());
    }
    Ok(turn.read_text_file(path).await.unwrap_or_else(|problem| format!("{problem}\n")))
}
