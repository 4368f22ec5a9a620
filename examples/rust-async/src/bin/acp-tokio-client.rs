//! A client on tokio that starts an agent and says one thing to it:
//! `acp-tokio-client [--cancel] PROMPT -- AGENT ARGV...`.

#![forbid(unsafe_code)]

/// There are no processes and no sockets in WebAssembly.
#[cfg(target_arch = "wasm32")]
fn main() {}

#[cfg(not(target_arch = "wasm32"))]
#[tokio::main(flavor = "current_thread")]
async fn main() -> std::process::ExitCode {
    libacp_examples_async::ended(&run().await)
}

#[cfg(not(target_arch = "wasm32"))]
async fn run() -> Result<(), libacp::aio::Failure> {
    use std::process::Stdio;
    use std::time::Duration;

    use libacp::aio::{streams, Client, Failure};
    use libacp_examples_async::{read_text_file, shown, talk, Options};
    use tokio_util::compat::{TokioAsyncReadCompatExt, TokioAsyncWriteCompatExt};

    let options = Options::read()?;
    // Opened before the agent runs, and what its one session gets.
    let files = libacp_files::Files::new([&options.folder])?;
    let (program, arguments) = &options.agent;
    let mut command = tokio::process::Command::new(program);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
    let mut process = command.spawn()?;
    let (Some(input), Some(output)) = (process.stdout.take(), process.stdin.take()) else {
        return Err(Failure::new("the agent has no pipes"));
    };
    let client = Client::new("acp-tokio-client", "1.0")
        .permission(async |request| Ok(request.allow()))
        .on(async move |received| read_text_file(&files, &received).await)
        .on_violation(|violation| eprintln!("{}", shown(&format!("{}: {}", violation.rule, violation.message))));
    client
        .run(streams(input.compat(), output.compat_write()), async |agent| {
            talk(agent, &options.folder, &options.prompt, options.cancel, |line| println!("{line}")).await?;
            Ok(())
        })
        .await?;
    // The pipe is closed by now, which agents end at; one that does not is killed when this program ends.
    let status = tokio::time::timeout(Duration::from_secs(5), process.wait()).await??;
    println!("the agent ended with {}", status.code().unwrap_or(-1));
    Ok(())
}
