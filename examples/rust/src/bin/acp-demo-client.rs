//! The client of the script:
//! `acp-demo-client --script script.json --work DIR [--cwd DIR] [--trace FILE] -- AGENT ARGV...`.

#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use libacp::{Config, Connection};
use libacp_examples::link::Link;
use libacp_examples::player::{Host, Player};
use libacp_examples::script::{compare, Call, Checksum, Names, Script, Side, Text};
use libacp_examples::tap::Tap;
use libacp_examples::terminal::Terminal;
use libacp_examples::{fail, shown, Failure, Result};
use libacp_files::Files;
use serde_json::{json, Value};

/// Between two looks at whether the agent has ended.
const PAUSE: Duration = Duration::from_millis(2);

/// What an editor does for an agent.
struct Client {
    files: Files,
    terminals: BTreeMap<String, Terminal>,
    created: usize,
    deadline: Instant,
}

impl Client {
    fn terminal(&mut self, params: &Value) -> Result<&mut Terminal> {
        let id = params["terminalId"].as_str().unwrap_or_default();
        self.terminals.get_mut(id).ok_or_else(|| Failure(format!("/terminalId: no terminal {id}")))
    }
}

impl Host for Client {
    const SIDE: Side = Side::Client;
    const NAME: &'static str = "libacp-demo-rust-client";

    fn learn(&mut self, _: &str, _: &Value, _: &mut Names) -> Result<()> {
        Ok(())
    }

    fn perform(&mut self, call: &Call, params: &Value) -> Result<Value> {
        let text = |name: &str| params[name].as_str().unwrap_or_default();
        match call.method.as_str() {
            "fs/read_text_file" => {
                let (path, line, limit) = (text("path"), params["line"].as_u64(), params["limit"].as_u64());
                let content = self.files.read_text_file(path, line, limit);
                Ok(json!({"content": content.map_err(|error| Failure::from(error).at(path))?}))
            }
            "fs/write_text_file" => {
                let written = self.files.write_text_file(text("path"), text("content"));
                written.map_err(|error| Failure::from(error).at(text("path")))?;
                Ok(json!({}))
            }
            "session/request_permission" => Ok(choose(params)),
            "terminal/create" => {
                let terminal = Terminal::start(params)?;
                self.created += 1;
                let id = format!("term-{}", self.created);
                self.terminals.insert(id.clone(), terminal);
                Ok(json!({"terminalId": id}))
            }
            "terminal/wait_for_exit" => {
                let deadline = self.deadline;
                self.terminal(params)?.wait(deadline)
            }
            "terminal/output" => self.terminal(params)?.output(),
            "terminal/release" => {
                self.terminal(params)?;
                self.terminals.remove(params["terminalId"].as_str().unwrap_or_default());
                Ok(json!({}))
            }
            "_libacp.dev/echo" => Ok(params.clone()),
            other => fail!("this client does not serve {other}"),
        }
    }
}

/// The user of this client always allows, once.
fn choose(params: &Value) -> Value {
    let options = params["options"].as_array().map_or(&[][..], Vec::as_slice);
    match options.iter().find(|option| option["kind"] == "allow_once") {
        Some(option) => json!({"outcome": {"outcome": "selected", "optionId": option["optionId"]}}),
        None => json!({"outcome": {"outcome": "cancelled"}}),
    }
}

/// The command line.
#[derive(Default)]
struct Options {
    script: Option<String>,
    work: Option<String>,
    cwd: Option<String>,
    trace: Option<String>,
    agent: Vec<String>,
}

impl Options {
    fn read(mut arguments: impl Iterator<Item = String>) -> Result<Self> {
        let mut options = Options::default();
        while let Some(name) = arguments.next() {
            let place = match name.as_str() {
                "--script" => &mut options.script,
                "--work" => &mut options.work,
                "--cwd" => &mut options.cwd,
                "--trace" => &mut options.trace,
                "--" => {
                    options.agent = arguments.collect();
                    break;
                }
                other => fail!("expected --script, --work, --cwd, --trace or --, got {other}"),
            };
            *place = arguments.next();
            if place.is_none() {
                fail!("{name}: expected a value after it");
            }
        }
        Ok(options)
    }
}

/// The agent's process; what fails on the way ends it.
struct Agent(Child);

impl Agent {
    fn end(&mut self, deadline: Instant) -> Result<()> {
        loop {
            match self.0.try_wait()? {
                Some(status) if status.success() => return Ok(()),
                Some(status) => fail!("the agent ended with {status}"),
                None if Instant::now() >= deadline => fail!("the agent did not end in time"),
                None => thread::sleep(PAUSE),
            }
        }
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        // Both fail only for an agent that has ended and been waited for.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A path as the path of a URI.
fn encode(path: &str) -> String {
    let kept = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
    let part = |byte: u8| if kept(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    path.bytes().map(part).collect()
}

fn run() -> Result<Value> {
    let options = Options::read(std::env::args().skip(1))?;
    let Some(script) = &options.script else { fail!("expected --script FILE") };
    let Some(work) = options.work.filter(|work| Path::new(work).is_absolute()) else {
        fail!("expected --work with an absolute path")
    };
    let Some((program, arguments)) = options.agent.split_first() else { fail!("expected an agent after --") };
    let script = Script::load(script)?;
    let cwd = options.cwd.map_or_else(|| Ok(std::env::current_dir()?.to_string_lossy().into_owned()), Result::Ok)?;
    for (name, text) in &script.files {
        let file = Path::new(&work).join(name);
        fs::write(&file, Text::all(text).concat()).map_err(|error| Failure::from(error).at(name))?;
    }

    let files = Files::new([&work]).map_err(|error| Failure::from(error).at(&work))?;

    let deadline = Instant::now() + Duration::from_millis(script.deadline_ms);
    let tap = Tap::new(options.trace.as_deref())?;
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut agent = Agent(command.spawn().map_err(|error| Failure::from(error).at(program))?);
    let (Some(input), Some(output)) = (agent.0.stdout.take(), agent.0.stdin.take()) else {
        fail!("the agent has no pipes")
    };
    let link = Link::new(Connection::new(Config::client()), input, output, tap, Some(deadline));
    let mut names = Names::default();
    names.learn("{work_uri}", encode(&work));
    names.learn("{cwd}", cwd);
    names.learn("{work}", work.clone());
    let client = Client { files, terminals: BTreeMap::new(), created: 0, deadline };
    let mut player = Player::new(&script, client, link, names)?;

    let updates = player.play()?;
    player.link.close_output()?;
    player.finish()?;
    agent.end(deadline)?;
    if !player.host.terminals.is_empty() {
        fail!("{} terminals were not released", player.host.terminals.len());
    }
    for (name, expected) in &script.written {
        let content = fs::read(Path::new(&work).join(name)).map_err(|error| Failure::from(error).at(name))?;
        let sum = Checksum::default().with(&content);
        let found = json!({"bytes": sum.bytes(), "fnv1a32": sum.digits()});
        compare("", expected, &found).map_err(|failure| failure.at(name))?;
    }
    let (sent, received) = (&player.link.tap.sent, &player.link.tap.received);
    let lines = json!({"fromClient": sent.lines, "fromAgent": received.lines});
    compare("", &script.lines, &lines).map_err(|failure| failure.at("/lines"))?;
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
    match run() {
        Ok(summary) => {
            println!("{summary}");
            ExitCode::SUCCESS
        }
        Err(Failure(error)) => {
            println!("{}", shown(&json!({"ok": false, "error": error}).to_string()));
            ExitCode::FAILURE
        }
    }
}
