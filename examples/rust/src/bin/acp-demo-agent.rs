//! The agent of the script: `acp-demo-agent --script script.json`.

#![forbid(unsafe_code)]

use std::process::ExitCode;

use libacp::{Config, Connection};
use libacp_examples::link::Link;
use libacp_examples::player::{Host, Player};
use libacp_examples::script::{Call, Names, Script, Side};
use libacp_examples::tap::Tap;
use libacp_examples::{fail, shown, Failure, Result};
use serde_json::Value;

/// An agent that needs no model: what it says is in the script.
struct Agent;

impl Host for Agent {
    const SIDE: Side = Side::Agent;
    const NAME: &'static str = "libacp-demo-rust-agent";

    fn learn(&mut self, method: &str, params: &Value, names: &mut Names) -> Result<()> {
        match method {
            "session/new" => names.learn("{cwd}", params["cwd"].as_str().unwrap_or_default().to_owned()),
            "session/prompt" if !names.knows("{work}") => {
                let blocks = params["prompt"].as_array().map_or(&[][..], Vec::as_slice);
                let uri = blocks.iter().find_map(|block| block["uri"].as_str()).unwrap_or_default();
                let Some(folder) = uri.strip_prefix("file://").and_then(|path| path.strip_suffix("/notes.md")) else {
                    fail!("/prompt: expected a link to the work folder's notes.md");
                };
                names.learn("{work}", decode(folder)?);
                names.learn("{work_uri}", folder.to_owned());
            }
            _ => {}
        }
        Ok(())
    }

    fn perform(&mut self, call: &Call, params: &Value) -> Result<Value> {
        Ok(if call.method.starts_with('_') { params.clone() } else { call.result.clone() })
    }
}

/// The path in the path of a URI.
fn decode(text: &str) -> Result<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digits = [rest.next(), rest.next()].map(|digit| char::from(digit.unwrap_or_default()).to_digit(16));
        let [Some(high), Some(low)] = digits else { fail!("{text}: expected two hexadecimal digits after %") };
        bytes.push((high * 16 + low) as u8);
    }
    Ok(String::from_utf8(bytes)?)
}

fn run() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [option, path] = arguments.as_slice() else { fail!("expected --script FILE") };
    if option != "--script" {
        fail!("expected --script, got {option}");
    }
    let script = Script::load(path)?;
    let connection = Connection::new(Config::agent());
    // The client has a deadline and closes the pipe at it: this side needs none.
    let link = Link::new(connection, std::io::stdin(), std::io::stdout(), Tap::new(None)?, None);
    let mut player = Player::new(&script, Agent, link, Names::default())?;
    player.play()?;
    player.finish()?;
    player.link.close_output()
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure(message)) => {
            eprintln!("acp-demo-agent: {}", shown(&message));
            ExitCode::FAILURE
        }
    }
}
