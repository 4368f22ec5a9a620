//! The agent of the script on the official Rust SDK: `agent --script script.json`.

#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::process::ExitCode;

use agent_client_protocol::v1::schema::{
    CancelNotification, CreateTerminalRequest, InitializeRequest, NewSessionRequest, PromptRequest,
    ReadTextFileRequest, ReleaseTerminalRequest, RequestPermissionRequest, SessionNotification, TerminalOutputRequest,
    WaitForTerminalExitRequest, WriteTextFileRequest,
};
use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::{Agent, Client, Stdio};
use libacp_interop_rust::player::{queue, require_name, Io, Player};
use libacp_interop_rust::script::{load, Failure, Role};
use libacp_interop_rust::{notify, on_notification, on_requests, send, watch_end, Echo, Outcome};
use serde_json::{json, Value};

struct ScriptAgent(ConnectionTo<Client>);

impl Io for ScriptAgent {
    fn request(&mut self, method: &str, params: Value, outcome: Outcome) -> Result<(), Failure> {
        let client = &self.0;
        Ok(match method {
            "fs/read_text_file" => send::<ReadTextFileRequest, _>(client, params, outcome),
            "fs/write_text_file" => send::<WriteTextFileRequest, _>(client, params, outcome),
            "session/request_permission" => send::<RequestPermissionRequest, _>(client, params, outcome),
            "terminal/create" => send::<CreateTerminalRequest, _>(client, params, outcome),
            "terminal/output" => send::<TerminalOutputRequest, _>(client, params, outcome),
            "terminal/release" => send::<ReleaseTerminalRequest, _>(client, params, outcome),
            "terminal/wait_for_exit" => send::<WaitForTerminalExitRequest, _>(client, params, outcome),
            "_libacp.dev/echo" => send::<Echo, _>(client, params, outcome),
            other => return Err(Failure(format!("{other} is not in the script"))),
        }?)
    }

    fn notify(&mut self, _method: &str, params: Value) -> Result<(), Failure> {
        Ok(notify::<SessionNotification, _>(&self.0, params)?)
    }

    async fn perform(&mut self, method: &str, _params: Value, expected: &Value) -> Result<Value, Failure> {
        let mut result = expected.clone();
        if method == "initialize" {
            result["agentInfo"] = json!({"name": "libacp-interop-rust-agent", "version": env!("CARGO_PKG_VERSION")});
        }
        Ok(result)
    }

    fn bind(&mut self, method: &str, params: &Value, names: &mut BTreeMap<String, String>) -> Result<(), Failure> {
        match method {
            "initialize" => require_name("clientInfo", &params["clientInfo"])?,
            "session/new" => {
                names.insert("cwd".to_owned(), params["cwd"].as_str().unwrap_or_default().to_owned());
            }
            "session/prompt" if !names.contains_key("work") => {
                let blocks = params["prompt"].as_array().map_or(&[][..], Vec::as_slice);
                let uri = blocks.iter().find_map(|block| block["uri"].as_str()).unwrap_or_default();
                let path = uri.strip_prefix("file://").and_then(|path| path.strip_suffix("/notes.md"));
                let work = path.and_then(|path| Some((path, decode(path)?)));
                let (path, work) = work.ok_or_else(|| Failure("the prompt links to no notes.md".to_owned()))?;
                names.insert("work_uri".to_owned(), path.to_owned());
                names.insert("work".to_owned(), work);
            }
            _ => {}
        }
        Ok(())
    }
}

/// Undoes percent-encoding.
fn decode(text: &str) -> Option<String> {
    let mut parts = text.split('%');
    let mut bytes = parts.next()?.as_bytes().to_vec();
    for part in parts {
        bytes.push(u8::from_str_radix(part.get(..2)?, 16).ok()?);
        bytes.extend_from_slice(&part.as_bytes()[2..]);
    }
    String::from_utf8(bytes).ok()
}

async fn run() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let (Some("--script"), Some(path)) = (arguments.next().as_deref(), arguments.next()) else {
        return Err(Failure("--script is needed".to_owned()));
    };
    let script = load(&path)?;
    let (sender, events) = queue();
    let builder = Agent.v1().name("libacp-interop-rust-agent");
    let builder = on_requests!(builder, sender, InitializeRequest, NewSessionRequest, PromptRequest, Echo);
    let builder = on_notification!(builder, sender, CancelNotification);
    builder
        .connect_with(Stdio::new(), async move |client: ConnectionTo<Client>| {
            watch_end(&client, sender.clone())?;
            let mut player = Player::new(Role::Agent, ScriptAgent(client), sender, events);
            let played = player.run(&script).await;
            Ok(match played {
                Ok(()) => player.finish().await,
                failed => failed,
            })
        })
        .await?
}

fn main() -> ExitCode {
    match futures::executor::block_on(run()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("rust agent: {failure}");
            ExitCode::FAILURE
        }
    }
}
