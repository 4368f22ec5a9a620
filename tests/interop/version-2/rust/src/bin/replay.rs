//! Replays recordings of version 2: `replay FOLDER`.
//!
//! What the recorded side sent is fed to a connection of the other role, and what the other side sent says what the host
//! calls. Every message has to come out once and in order, or to be reported; what is reported has to be what
//! `expected/NAME.txt` lists, with a reason each, and nothing else. `REPLAY_LIST=1` prints what would stand there.

#![forbid(unsafe_code)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use libacp::connection::{CallOptions, Consequence, Event, Role, Violation};
use libacp::{Config, Connection, ErrorCode, Id, Versions};
use libacp_examples::{fail, shown, Failure, Result};
use serde_json::Value;

/// Who spoke, and what; remarks of the recorder are left out.
struct Record {
    by_agent: bool,
    line: String,
    message: Value,
}

/// What became of one side of a recording.
#[derive(Default)]
struct Replay {
    /// Messages that were fed.
    messages: usize,
    /// Calls of the host's that the connection has refused.
    refused: Vec<String>,
    /// Each violation: who spoke, number of the message, rule, pointer, what became of it.
    report: Vec<String>,
    /// Messages that were lost, changed or delivered twice.
    wrong: Vec<String>,
}

fn records(path: &Path) -> Result<Vec<Record>> {
    let record = |line: &str| {
        let record: Value = serde_json::from_str(line)?;
        if record["d"] == "#" {
            return Ok(None);
        }
        let line = record["s"].as_str().unwrap_or_default().to_owned();
        let message = serde_json::from_str(&line).unwrap_or_default();
        Ok(Some(Record { by_agent: record["d"] == "<", line, message }))
    };
    let text = fs::read_to_string(path)?;
    let records = text.split('\n').filter(|line| !line.is_empty()).map(record).collect::<Result<Vec<_>>>()?;
    Ok(records.into_iter().flatten().collect())
}

impl Replay {
    fn run(records: &[Record], agent: bool) -> Self {
        let mut config = Config::new(if agent { Role::Client } else { Role::Agent });
        // A client that asks for version 1 speaks that, whatever the agent has beside it.
        if records.first().is_some_and(|hello| hello.message["params"]["protocolVersion"] == 2) {
            config.versions = Versions::ALL;
        }
        let mut connection = Connection::new(config);
        let mut replay = Replay::default();
        for record in records {
            if record.by_agent == agent {
                replay.messages += 1;
                connection.receive(record.line.as_bytes());
                replay.account(&mut connection, record);
            } else if let Err(Failure(why)) = call(&mut connection, &record.message) {
                replay.refused.push(format!("{why}: {}", record.line.trim_end()));
            }
            connection.consume(usize::MAX);
        }
        connection.receive_eof();
        let last = std::iter::from_fn(|| connection.poll_event()).last();
        if !matches!(last, Some(Event::Closed(_))) {
            replay.wrong.push(format!("ends with {last:?}"));
        }
        replay
    }

    /// What one message must bring: one delivery or one refusal, with any number of reports before it.
    fn account(&mut self, connection: &mut Connection, record: &Record) {
        let message = &record.message;
        let (method, id) = (message["method"].as_str(), id_of(message));
        let mut ends = 0;
        while let Some(event) = connection.poll_event() {
            let right = match &event {
                Event::Violation(violation) => {
                    self.note(violation, record.by_agent);
                    ends += usize::from(violation.consequence != Consequence::Delivered);
                    true
                }
                // An answer that cannot be used is reported, and ends its request as well.
                Event::Response(response) => {
                    ends = 1;
                    method.is_none() && id.as_ref() == Some(&response.id)
                }
                Event::Request(request) => {
                    ends += 1;
                    method == Some(&*request.method) && id.as_ref() == Some(&request.id)
                }
                Event::Notification(told) => {
                    ends += 1;
                    method == Some(&*told.method) && message.get("id").is_none()
                }
                // The end of a session or of its work takes along what waits there.
                Event::Cancel(_) => {
                    ends += usize::from(method == Some("$/cancel_request"));
                    matches!(method, Some("$/cancel_request" | "session/cancel" | "session/close"))
                }
                // What the host has called brings advice and answers of the core's own.
                Event::Answered(_) | Event::Advice(_) => true,
                _ => false,
            };
            if !right {
                self.wrong.push(format!("message {}: {event:?} for {}", self.messages, record.line.trim_end()));
            }
        }
        if ends != 1 {
            self.wrong.push(format!("message {}: {ends} deliveries of {}", self.messages, record.line.trim_end()));
        }
    }

    fn note(&mut self, violation: &Violation, by_agent: bool) {
        let pointer = if violation.pointer.is_empty() { "-" } else { &violation.pointer };
        let consequence = match violation.consequence {
            Consequence::Refused(code) => format!("refused {code}"),
            other => other.name().to_owned(),
        };
        let (side, rule) = (if by_agent { '<' } else { '>' }, violation.rule);
        self.report.push(format!("{side}\t{}\t{rule}\t{pointer}\t{consequence}", self.messages));
    }
}

fn id_of(message: &Value) -> Option<Id> {
    message.get("id").and_then(|id| Id::from_json(&id.to_string()))
}

/// Does what the host did that sent this message.
fn call(connection: &mut Connection, message: &Value) -> Result<()> {
    let id = id_of(message);
    let params = message.get("params").map_or_else(|| "{}".to_owned(), Value::to_string);
    match (message["method"].as_str(), id) {
        (Some(method), Some(id)) => {
            connection.request_with(method, &params, CallOptions::default().id(id))?;
        }
        (Some(method), None) => connection.notify(method, &params)?,
        // What the core has answered by itself needs no other answer.
        (None, Some(id)) if !connection.unanswered().any(|open| open.id == id) => {}
        (None, Some(id)) => match message.get("error") {
            None => connection.respond(&id, &message["result"].to_string())?,
            Some(error) => {
                let code = ErrorCode(error["code"].as_i64().unwrap_or_default() as i32);
                let data = error.get("data").map(Value::to_string);
                connection.respond_error(&id, code, error["message"].as_str().unwrap_or_default(), data.as_deref())?;
            }
        },
        (None, None) => fail!("no message"),
    }
    Ok(())
}

/// Replays one file; what is wrong with it.
fn check(path: &Path, list: bool) -> Result<Vec<String>> {
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    // `both` sides were somebody else's: what one says may be nothing that can be said here.
    let (sides, foreign): (&[bool], bool) = match name.split('-').next() {
        Some("agent") => (&[true], false),
        Some("client") => (&[false], false),
        Some("both") => (&[true, false], true),
        _ => fail!("{name}: expected agent-, client- or both-"),
    };
    let records = records(path)?;
    let replays: Vec<Replay> = sides.iter().map(|&agent| Replay::run(&records, agent)).collect();
    let found: Vec<&String> = replays.iter().flat_map(|replay| &replay.report).collect();
    if list {
        println!("== {name}");
        for line in &found {
            println!("{}", shown(line).replace("\\u0009", "\t"));
        }
    }
    let expected = match fs::read_to_string(path.with_file_name("expected").join(format!("{name}.txt"))) {
        Ok(text) => text,
        Err(error) => fail!("{name}: expected/{name}.txt: {error}"),
    };
    let mut wrong = Vec::new();
    let mut listed = Vec::new();
    for line in expected.lines() {
        match line.split_once('#') {
            Some((columns, reason)) if reason.trim().len() > 8 => listed.push(columns.trim_end()),
            _ => wrong.push(format!("no reason: {line}")),
        }
    }
    if found != listed {
        wrong.extend(
            found.iter().filter(|line| !listed.contains(&line.as_str())).map(|line| format!("not listed: {line}")),
        );
        wrong.extend(
            listed
                .iter()
                .filter(|line| !found.iter().any(|found| found == *line))
                .map(|line| format!("not reported: {line}")),
        );
        wrong.push("what is reported is not what is listed".to_owned());
    }
    for replay in &replays {
        wrong.extend(replay.wrong.iter().cloned());
        if !foreign {
            wrong.extend(replay.refused.iter().map(|call| format!("refused: {call}")));
        }
    }
    let messages: usize = replays.iter().map(|replay| replay.messages).sum();
    println!(
        "{} {name}: {messages} messages, {} violations",
        if wrong.is_empty() { "right" } else { "WRONG" },
        found.len()
    );
    Ok(wrong.into_iter().map(|line| format!("{name}: {line}")).collect())
}

fn run() -> Result<Vec<String>> {
    let Some(folder) = std::env::args().nth(1) else { fail!("expected a folder of recordings") };
    let entries = fs::read_dir(&folder)?.collect::<std::io::Result<Vec<_>>>()?;
    let mut paths: Vec<PathBuf> = entries.into_iter().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|end| end == "jsonl"));
    paths.sort();
    if paths.is_empty() {
        fail!("{folder}: no recordings");
    }
    let list = std::env::var_os("REPLAY_LIST").is_some();
    let wrong = paths.iter().map(|path| check(path, list)).collect::<Result<Vec<_>>>()?;
    Ok(wrong.into_iter().flatten().collect())
}

fn main() -> ExitCode {
    match run() {
        Ok(wrong) if wrong.is_empty() => ExitCode::SUCCESS,
        Ok(wrong) => {
            for line in &wrong {
                eprintln!("{}", shown(line));
            }
            ExitCode::FAILURE
        }
        Err(Failure(error)) => {
            eprintln!("{}", shown(&error));
            ExitCode::FAILURE
        }
    }
}
