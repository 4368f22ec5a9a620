//! A client or an agent on libacp that plays its side of a script of version 2:
//! `host client --script FILE --work DIR [--cwd DIR] [--trace FILE] -- AGENT ARGV...`,
//! `host agent --script FILE [--trace FILE]`.
//!
//! `../README.md` says what a script has. Read [`Play`] for how a side of it is played.

#![forbid(unsafe_code)]

mod options;
mod record;

use std::collections::HashMap;
use std::fs;
use std::process::{Child, Command, ExitCode, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use libacp::connection::Outcome;
use libacp::{Config, Connection, Event, Id, Versions};
use libacp_examples::link::Link;
use libacp_examples::tap::Tap;
use libacp_examples::{fail, shown, Failure, Result};
use options::Options;
use record::{Record, Recorded};
use serde_json::{json, Value};

/// Between two looks at whether the agent has ended.
const PAUSE: Duration = Duration::from_millis(2);

/// One side of a script that is being played.
struct Play<'s> {
    script: &'s Value,
    /// `client` or `agent`.
    side: &'static str,
    link: Link,
    /// The session's folder: the client's to say.
    cwd: Option<String>,
    /// What has no answer yet, by its name in the script.
    open: HashMap<&'s str, Id>,
    updates: u64,
}

impl<'s> Play<'s> {
    fn play(&mut self) -> Result<()> {
        let steps = self.script["steps"].as_array().map_or(&[][..], Vec::as_slice);
        for (index, step) in steps.iter().enumerate() {
            let played = if step["from"] == self.side { self.act(step) } else { self.wait(step) };
            played.map_err(|failure| failure.at(&format!("/steps/{index}")))?;
        }
        if !self.open.is_empty() {
            fail!("the end: {} requests have no answer", self.open.len());
        }
        self.link.flush()
    }

    /// The end of the stream and nothing else.
    fn finish(&mut self) -> Result<()> {
        match self.event().map_err(|failure| failure.at("the end"))? {
            Event::Closed(closed) if closed.unanswered.is_empty() => Ok(()),
            event => fail!("the end: expected the end of the stream, got {event:?}"),
        }
    }

    /// A step of this side.
    fn act(&mut self, step: &'s Value) -> Result<()> {
        if let Some(method) = step["request"].as_str() {
            let id = self.link.connection.request(method, &self.filled(&step["params"]).to_string())?;
            self.open.insert(step["as"].as_str().unwrap_or(method), id);
        } else if let Some(name) = step["answer"].as_str() {
            let id = self.take(name)?;
            if step["core"] == true {
                // libacp has answered it by itself, and says so.
                return match self.event()? {
                    Event::Answered(answered) if answered.id == id => Ok(()),
                    event => fail!("expected the answer to {name}, got {event:?}"),
                };
            }
            self.link.connection.respond(&id, &self.filled(&step["result"]).to_string())?;
        } else {
            let (method, params) = self.notification(step);
            self.link.connection.notify(method, &self.filled(&params).to_string())?;
        }
        self.link.flush()
    }

    /// A step of the other side, which must be what comes next.
    fn wait(&mut self, step: &'s Value) -> Result<()> {
        if let Some(name) = step["answer"].as_str() {
            let id = self.take(name)?;
            return match self.event()? {
                Event::Response(response) if response.id == id => match response.outcome.result_as::<Value>()? {
                    Some(found) if matches!(response.outcome, Outcome::Result(_)) => {
                        self.compare(&step["result"], &found, "")
                    }
                    _ => fail!("expected the result of {name}, got {:?}", response.outcome),
                },
                event => fail!("expected the result of {name}, got {event:?}"),
            };
        }
        match (step["request"].as_str(), self.event()?) {
            (Some(method), Event::Request(request)) if request.method == method => {
                self.compare(&step["params"], &request.params_as()?, "")?;
                self.open.insert(step["as"].as_str().unwrap_or(method), request.id);
                Ok(())
            }
            (None, Event::Notification(told)) => {
                let (method, params) = self.notification(step);
                if told.method != method {
                    fail!("expected {method}, got {}", told.method);
                }
                self.updates += u64::from(!step["update"].is_null());
                self.compare(&params, &told.params_as()?, "")
            }
            (_, event) => fail!("expected {step}, got {event:?}"),
        }
    }

    fn take(&mut self, name: &str) -> Result<Id> {
        self.open.remove(name).ok_or_else(|| Failure(format!("no request is open as {name}")))
    }

    /// The next event; rules that the peer breaks are told, and the play goes on.
    fn event(&mut self) -> Result<Event> {
        loop {
            match self.link.event()? {
                Event::Violation(violation) => {
                    let (pointer, message) = (&violation.pointer, &violation.message);
                    let method = violation.method.as_deref().unwrap_or_default();
                    let line =
                        json!({"violation": violation.rule, "method": method, "pointer": pointer, "message": message});
                    eprintln!("{}", shown(&line.to_string()));
                }
                event => return Ok(event),
            }
        }
    }

    fn notification(&self, step: &'s Value) -> (&'s str, Value) {
        match step["notify"].as_str() {
            Some(method) => (method, step["params"].clone()),
            None => ("session/update", json!({"sessionId": self.script["session"], "update": step["update"]})),
        }
    }

    /// A copy with the folder in the place of its name.
    fn filled(&self, value: &Value) -> Value {
        match (value, &self.cwd) {
            (Value::String(text), Some(cwd)) => Value::String(text.replace("{cwd}", cwd)),
            (Value::Array(items), _) => items.iter().map(|item| self.filled(item)).collect(),
            (Value::Object(members), _) => {
                Value::Object(members.iter().map(|(name, value)| (name.clone(), self.filled(value))).collect())
            }
            _ => value.clone(),
        }
    }

    /// Fails at the first place where what was found is not what is expected; further members are let be.
    fn compare(&mut self, expected: &Value, found: &Value, pointer: &str) -> Result<()> {
        match (expected, found) {
            (Value::Object(members), Value::Object(_)) => members
                .iter()
                .try_for_each(|(name, value)| self.compare(value, &found[name], &format!("{pointer}/{name}"))),
            (Value::Array(items), Value::Array(others)) if items.len() == others.len() => items
                .iter()
                .zip(others)
                .enumerate()
                .try_for_each(|(index, (item, other))| self.compare(item, other, &format!("{pointer}/{index}"))),
            _ => {
                if expected == "{cwd}" && self.cwd.is_none() {
                    self.cwd = found.as_str().map(str::to_owned);
                }
                let expected = self.filled(expected);
                if expected == *found {
                    return Ok(());
                }
                fail!("{pointer}: expected {expected}, got {found}")
            }
        }
    }
}

fn connection(script: &Value, config: Config) -> Connection {
    let mut config = config;
    if script["protocol"] == 2 {
        config.versions = Versions::ALL;
    }
    Connection::new(config)
}

fn play<'s>(script: &'s Value, side: &'static str, link: Link, cwd: Option<String>) -> Play<'s> {
    Play { script, side, link, cwd, open: HashMap::new(), updates: 0 }
}

fn agent(options: &Options, script: &Value) -> Result<()> {
    let record = options.trace.as_deref().map(Record::new).transpose()?;
    let input = Recorded::new(std::io::stdin(), '>', record.clone());
    let output = Recorded::new(std::io::stdout(), '<', record);
    // The client has a deadline and closes the pipe at it: this side needs none.
    let link = Link::new(connection(script, Config::agent()), input, output, Tap::new(None)?, None);
    let mut play = play(script, "agent", link, None);
    play.play()?;
    play.finish()?;
    play.link.close_output()
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

fn client(options: &Options, script: &Value) -> Result<Value> {
    let Some((program, arguments)) = options.agent.split_first() else { fail!("expected an agent after --") };
    let cwd = match &options.cwd {
        Some(cwd) => cwd.clone(),
        None => std::env::current_dir()?.to_string_lossy().into_owned(),
    };
    let deadline = Instant::now() + Duration::from_millis(script["deadlineMs"].as_u64().unwrap_or_default());
    let tap = Tap::new(options.trace.as_deref())?;
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut agent = Agent(command.spawn().map_err(|error| Failure::from(error).at(program))?);
    let (Some(input), Some(output)) = (agent.0.stdout.take(), agent.0.stdin.take()) else {
        fail!("the agent has no pipes")
    };
    let link = Link::new(connection(script, Config::client()), input, output, tap, Some(deadline));
    let mut play = play(script, "client", link, Some(cwd));
    play.play()?;
    play.link.close_output()?;
    play.finish()?;
    agent.end(deadline)?;
    let (sent, received) = (&play.link.tap.sent, &play.link.tap.received);
    Ok(json!({
        "ok": true,
        "messages_sent": sent.lines,
        "messages_received": received.lines,
        "bytes_sent": sent.bytes,
        "bytes_received": received.bytes,
        "updates": play.updates,
    }))
}

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let side = arguments.next().unwrap_or_default();
    let run = || {
        let options = Options::read(arguments)?;
        let script: Value = serde_json::from_slice(&fs::read(&options.script)?)?;
        match side.as_str() {
            "client" => client(&options, &script).map(|summary| println!("{summary}")),
            "agent" => agent(&options, &script),
            other => fail!("expected client or agent, got {other}"),
        }
    };
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure(error)) if side == "client" => {
            println!("{}", shown(&json!({"ok": false, "error": error}).to_string()));
            ExitCode::FAILURE
        }
        Err(Failure(error)) => {
            eprintln!("{}", shown(&error));
            ExitCode::FAILURE
        }
    }
}
