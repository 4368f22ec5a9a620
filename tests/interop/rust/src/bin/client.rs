//! The client of the script on the official Rust SDK:
//! `client --script script.json --work DIR [--cwd DIR] [--trace FILE] -- AGENT ARGV...`

#![forbid(unsafe_code)]

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use agent_client_protocol::v1::schema::{
    CancelNotification, CreateTerminalRequest, InitializeRequest, NewSessionRequest, PromptRequest,
    ReadTextFileRequest, ReleaseTerminalRequest, RequestPermissionRequest, SessionNotification, TerminalOutputRequest,
    WaitForTerminalExitRequest, WriteTextFileRequest,
};
use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::{Agent, ByteStreams, Client};
use async_process::{Child, Command, Stdio};
use futures::future::{select, BoxFuture, Either, FutureExt, Shared};
use libacp_interop_rust::player::{queue, Io, Player};
use libacp_interop_rust::script::{difference, load, Checksum, Failure, Role, Script};
use libacp_interop_rust::tap::{Tap, Tapped, Trace};
use libacp_interop_rust::{notify, on_notification, on_requests, send, watch_end, Echo, Outcome};
use serde_json::{json, Value};

/// The command line.
struct Options {
    script: String,
    work: String,
    cwd: String,
    trace: Option<String>,
    agent: Vec<String>,
}

fn options() -> Result<Options, Failure> {
    let mut arguments = std::env::args().skip(1);
    let mut named = HashMap::new();
    while let Some(name) = arguments.next().filter(|name| name != "--") {
        let value = arguments.next().ok_or_else(|| Failure(format!("{name} lacks a value")))?;
        named.insert(name, value);
    }
    let mut need = |name: &str| named.remove(name).ok_or_else(|| Failure(format!("{name} is needed")));
    let (script, work) = (need("--script")?, need("--work")?);
    let here = std::env::current_dir()?.to_string_lossy().into_owned();
    let (cwd, trace) = (need("--cwd").unwrap_or(here), need("--trace").ok());
    let agent: Vec<String> = arguments.collect();
    if agent.is_empty() || !Path::new(&work).is_absolute() {
        return Err(Failure("an absolute --work and an agent are needed".to_owned()));
    }
    Ok(Options { script, work, cwd, trace, agent })
}

type Ended = Shared<BoxFuture<'static, Result<(Vec<u8>, Value), String>>>;

struct Terminal {
    ended: Ended,
    limit: usize,
}

/// The client's side of the connection, and what it really does for the agent.
struct ScriptClient {
    agent: ConnectionTo<Agent>,
    terminals: HashMap<String, Terminal>,
}

impl ScriptClient {
    fn start(&mut self, params: &Value) -> Result<Value, Failure> {
        let mut command = Command::new(text(params, "command"));
        command.args(items(params, "args").iter().filter_map(Value::as_str));
        command.envs(items(params, "env").iter().map(|item| (text(item, "name"), text(item, "value"))));
        if let Some(cwd) = params["cwd"].as_str() {
            command.current_dir(cwd);
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn()?;
        let ended = async move {
            let output = child.output().await.map_err(|error| error.to_string())?;
            let mut bytes = output.stdout;
            bytes.extend_from_slice(&output.stderr);
            Ok((bytes, json!({"exitCode": output.status.code()})))
        };
        let limit = params["outputByteLimit"].as_u64().unwrap_or(u64::MAX) as usize;
        let id = format!("term-{}", self.terminals.len() + 1);
        self.terminals.insert(id.clone(), Terminal { ended: ended.boxed().shared(), limit });
        Ok(json!({"terminalId": id}))
    }

    async fn ended(&self, params: &Value) -> Result<(Vec<u8>, Value, usize), Failure> {
        let id = text(params, "terminalId");
        let terminal = self.terminals.get(id).ok_or_else(|| Failure(format!("no terminal {id}")))?;
        let (output, status) = terminal.ended.clone().await.map_err(Failure)?;
        Ok((output, status, terminal.limit))
    }
}

fn text<'a>(value: &'a Value, member: &str) -> &'a str {
    value[member].as_str().unwrap_or_default()
}

fn items<'a>(value: &'a Value, member: &str) -> &'a [Value] {
    value[member].as_array().map_or(&[], Vec::as_slice)
}

fn lines(params: &Value) -> Result<Value, Failure> {
    let content = std::fs::read_to_string(text(params, "path"))?;
    let start = params["line"].as_u64().unwrap_or(1).saturating_sub(1) as usize;
    let limit = params["limit"].as_u64().unwrap_or(u64::MAX) as usize;
    let kept: String = content.split_inclusive('\n').skip(start).take(limit).collect();
    Ok(json!({"content": kept}))
}

fn choose(params: &Value) -> Value {
    let chosen = items(params, "options").iter().find(|option| option["kind"] == "allow_once");
    match chosen {
        Some(option) => json!({"outcome": {"outcome": "selected", "optionId": option["optionId"]}}),
        None => json!({"outcome": {"outcome": "cancelled"}}),
    }
}

impl Io for ScriptClient {
    fn request(&mut self, method: &str, mut params: Value, outcome: Outcome) -> Result<(), Failure> {
        let agent = &self.agent;
        Ok(match method {
            "initialize" => {
                let version = env!("CARGO_PKG_VERSION");
                params["clientInfo"] = json!({"name": "libacp-interop-rust-client", "version": version});
                send::<InitializeRequest, _>(agent, params, outcome)
            }
            "session/new" => send::<NewSessionRequest, _>(agent, params, outcome),
            "session/prompt" => send::<PromptRequest, _>(agent, params, outcome),
            "_libacp.dev/echo" => send::<Echo, _>(agent, params, outcome),
            other => return Err(Failure(format!("{other} is not in the script"))),
        }?)
    }

    fn notify(&mut self, _method: &str, params: Value) -> Result<(), Failure> {
        Ok(notify::<CancelNotification, _>(&self.agent, params)?)
    }

    async fn perform(&mut self, method: &str, params: Value, _expected: &Value) -> Result<Value, Failure> {
        match method {
            "fs/read_text_file" => lines(&params),
            "fs/write_text_file" => {
                std::fs::write(text(&params, "path"), text(&params, "content"))?;
                Ok(json!({}))
            }
            "session/request_permission" => Ok(choose(&params)),
            "terminal/create" => self.start(&params),
            "terminal/wait_for_exit" => Ok(self.ended(&params).await?.1),
            "terminal/output" => {
                let (output, status, limit) = self.ended(&params).await?;
                let kept = &output[output.len().saturating_sub(limit)..];
                let output_text = String::from_utf8_lossy(kept);
                Ok(json!({"output": output_text, "truncated": output.len() > limit, "exitStatus": status}))
            }
            "terminal/release" => {
                self.terminals.remove(text(&params, "terminalId"));
                Ok(json!({}))
            }
            "_libacp.dev/echo" => Ok(params),
            other => Err(Failure(format!("{other} is not in the script"))),
        }
    }

    fn bind(&mut self, _: &str, _: &Value, _: &mut BTreeMap<String, String>) -> Result<(), Failure> {
        Ok(())
    }
}

/// A path as it stands in a URI.
fn encode(path: &str) -> String {
    let kept = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
    path.bytes().map(|byte| if kept(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}

async fn converse(options: &Options, script: &Script, child: &mut Child, taps: [Arc<Tap>; 2]) -> Result<u64, Failure> {
    let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(Failure("the agent has no pipes".to_owned()));
    };
    let [sent, received] = taps;
    let (sender, events) = queue();
    let builder = Client.v1().name("libacp-interop-rust-client");
    let builder = on_notification!(builder, sender, SessionNotification);
    let builder = on_requests!(
        builder,
        sender,
        ReadTextFileRequest,
        WriteTextFileRequest,
        RequestPermissionRequest,
        CreateTerminalRequest,
        TerminalOutputRequest,
        ReleaseTerminalRequest,
        WaitForTerminalExitRequest,
        Echo,
    );
    let transport = ByteStreams::new(Tapped::new(stdin, sent), Tapped::new(stdout, received));
    let mut player = builder
        .connect_with(transport, async |agent: ConnectionTo<Agent>| {
            watch_end(&agent, sender.clone())?;
            let io = ScriptClient { agent, terminals: HashMap::new() };
            let mut player = Player::new(Role::Client, io, sender, events);
            player.names.insert("cwd".to_owned(), options.cwd.clone());
            player.names.insert("work".to_owned(), options.work.clone());
            player.names.insert("work_uri".to_owned(), encode(&options.work));
            Ok(match player.run(script).await {
                Ok(()) => Ok(player),
                Err(failure) => Err(failure),
            })
        })
        .await??;
    // The connection has ended and dropped the agent's standard input: now it has to end by itself.
    let status = child.status().await?;
    if !status.success() {
        return Err(Failure(format!("the agent ended with {status}")));
    }
    player.expect_empty()?;
    if player.io.terminals.is_empty() {
        return Ok(player.updates);
    }
    Err(Failure("a terminal was not released".to_owned()))
}

async fn run() -> Result<Value, Failure> {
    let options = options()?;
    let script = load(&options.script)?;
    let work = Path::new(&options.work);
    for (name, rule) in &script.files {
        std::fs::write(work.join(name), rule.expand().concat())?;
    }
    let trace = options.trace.as_deref().map(Trace::create).transpose()?;
    let taps = [">", "<"].map(|direction| Arc::new(Tap::new(direction, trace.clone())));
    let (command, arguments) = options.agent.split_first().ok_or_else(|| Failure("no agent".to_owned()))?;
    let mut spawned = Command::new(command);
    spawned.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
    let mut child = spawned.spawn().map_err(|error| Failure(format!("{command}: {error}")))?;

    let deadline = async_io::Timer::after(Duration::from_millis(script.deadline_ms));
    let conversation = Box::pin(converse(&options, &script, &mut child, taps.clone()));
    let updates = match select(conversation, deadline).await {
        Either::Left((result, _)) => result?,
        Either::Right(_) => return Err(Failure(format!("not done within {} ms", script.deadline_ms))),
    };
    for (name, expected) in &script.written {
        let mut sum = Checksum::default();
        sum.add(&std::fs::read(work.join(name))?);
        let found = json!({"bytes": sum.bytes, "fnv1a32": sum.fnv1a32()});
        if let Some(what) = difference(expected, &found, false) {
            return Err(Failure(format!("{name}{what}")));
        }
    }
    let [sent, received] = taps.map(|tap| tap.totals());
    let lines = json!({"fromClient": sent.lines, "fromAgent": received.lines});
    if let Some(what) = difference(&script.lines, &lines, false) {
        return Err(Failure(format!("lines{what}")));
    }
    Ok(json!({
        "ok": true,
        "messages_sent": sent.lines,
        "messages_received": received.lines,
        "bytes_sent": sent.bytes,
        "bytes_received": received.bytes,
        "updates": updates,
    }))
}

fn main() -> ExitCode {
    match futures::executor::block_on(run()) {
        Ok(summary) => {
            println!("{summary}");
            ExitCode::SUCCESS
        }
        Err(Failure(error)) => {
            println!("{}", json!({"ok": false, "error": error}));
            ExitCode::FAILURE
        }
    }
}
