//! A client on smol that starts an agent and says one thing to it:
//! `acp-smol-client [--cancel] PROMPT -- AGENT ARGV...`.

#![forbid(unsafe_code)]

/// There are no processes and no sockets in WebAssembly.
#[cfg(target_arch = "wasm32")]
fn main() {}

#[cfg(not(target_arch = "wasm32"))]
fn main() -> std::process::ExitCode {
    libacp_examples_async::ended(&run())
}

#[cfg(not(target_arch = "wasm32"))]
fn run() -> Result<(), libacp::aio::Failure> {
    use libacp::aio::{streams, Client, Failure};
    use libacp_examples_async::{read_text_file, shown, talk, Options};
    use smol::process::{Command, Stdio};

    let options = Options::read()?;
    // Opened before the agent runs, and what its one session gets.
    let files = libacp_files::Files::new([&options.folder])?;
    let (program, arguments) = &options.agent;
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
    let mut process = command.spawn()?;
    let (Some(input), Some(output)) = (process.stdout.take(), process.stdin.take()) else {
        return Err(Failure::new("the agent has no pipes"));
    };
    let client = Client::new("acp-smol-client", "1.0")
        .permission(async |request| Ok(request.allow()))
        .on(async move |received| read_text_file(&files, &received).await)
        .on_violation(|violation| eprintln!("{}", shown(&format!("{}: {}", violation.rule, violation.message))));
    smol::block_on(async {
        client
            .run(streams(input, output), async |agent| {
                talk(agent, &options.folder, &options.prompt, options.cancel, |line| println!("{line}")).await?;
                Ok(())
            })
            .await?;
        let status = process.status().await?;
        println!("the agent ended with {}", status.code().unwrap_or(-1));
        Ok(())
    })
}
