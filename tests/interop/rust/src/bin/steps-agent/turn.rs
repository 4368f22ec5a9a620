//! What a step says and asks.

use std::time::Duration;

use agent_client_protocol::v1::schema::{
    self as one, CreateTerminalRequest, KillTerminalRequest, ReadTextFileRequest, ReleaseTerminalRequest,
    TerminalOutputRequest, WaitForTerminalExitRequest, WriteTextFileRequest,
};
use agent_client_protocol::v2::schema as two;
use agent_client_protocol::{Client, ConnectionTo, Error, JsonRpcRequest};
use async_io::Timer;
use libacp_interop_rust::steps::checks::{list, text};
use libacp_interop_rust::steps::{ask, tell, Answer};
use libacp_interop_rust::Echo;
use serde::de::DeserializeOwned;
use serde::Serialize;
use serde_json::{json, Value};

use crate::lab::Lab;

pub(crate) struct Turn<'t> {
    pub(crate) lab: &'t Lab,
    pub(crate) client: &'t ConnectionTo<Client>,
    pub(crate) id: &'t str,
    pub(crate) cwd: String,
    /// What the ids of its messages begin with.
    pub(crate) messages: String,
    pub(crate) params: &'t Value,
}

impl Turn<'_> {
    /// Plays the turn of the step that the prompt names; its stop reason.
    pub(crate) async fn play(self) -> Result<String, Error> {
        let step = text(&self.params["prompt"][0]["text"]).trim_start_matches("step: ");
        if let Some(updates) = self.lab.words.turn(step, &self.cwd, &self.messages) {
            updates.iter().try_for_each(|update| self.say(update))?;
            return Ok("end_turn".to_owned());
        }
        match step.split_once('.').unwrap_or_default() {
            ("stop", reason) => return Ok(reason.to_owned()),
            ("enum", "stop") => return Ok("_libacp.dev/tired".to_owned()),
            ("error", _) => return Err(Error::new(-32042, "No such thing").data(json!({"thing": "x"}))),
            ("fs" | "term", _) => self.use_client(step).await?,
            ("perm" | "meta", what) if what != "prompt" => self.permission(what).await?,
            _ => self.others(step).await?,
        }
        Ok("end_turn".to_owned())
    }

    fn say(&self, update: &Value) -> Result<(), Error> {
        self.lab.say(self.client, self.id, update)
    }

    fn message(&self, what: &str) -> Result<(), Error> {
        self.say(&self.lab.words.chunk("message", what, &self.messages))
    }

    async fn ask<R>(&self, mut params: Value) -> Answer
    where
        R: JsonRpcRequest<Response: Serialize> + DeserializeOwned,
    {
        params["sessionId"] = json!(self.id);
        ask::<R, _>(self.client, params).await
    }

    /// Asks the user, with the request's type of either version.
    async fn ask_user<One, Two>(&self, params: Value) -> Answer
    where
        One: JsonRpcRequest<Response: Serialize> + DeserializeOwned,
        Two: JsonRpcRequest<Response: Serialize> + DeserializeOwned,
    {
        if !self.lab.words.are_2() {
            return self.ask::<One>(params).await;
        }
        self.say(&json!({"sessionUpdate": "state_update", "state": "requires_action"}))?;
        let answer = self.ask::<Two>(params).await;
        self.say(&json!({"sessionUpdate": "state_update", "state": "running"}))?;
        answer
    }

    async fn use_client(&self, step: &str) -> Result<(), Error> {
        let path = |name: &str| format!("{}/{name}", self.cwd);
        let said = match step {
            "fs.read" => {
                text(&self.ask::<ReadTextFileRequest>(json!({"path": path("notes.txt")})).await?["content"]).to_owned()
            }
            "fs.read-range" => {
                let lines = json!({"path": path("notes.txt"), "line": 2, "limit": 1});
                text(&self.ask::<ReadTextFileRequest>(lines).await?["content"]).trim_end().to_owned()
            }
            "fs.write" => {
                self.ask::<WriteTextFileRequest>(json!({"path": path("out.txt"), "content": "a\r\nä😀"})).await?;
                "written".to_owned()
            }
            "fs.missing" => match self.ask::<ReadTextFileRequest>(json!({"path": path("none.txt")})).await {
                Err(error) => format!("error {}", i32::from(error.code)),
                Ok(_) => "no error".to_owned(),
            },
            _ => {
                let env = json!([{"name": "GREETING", "value": "hello"}]);
                let run = json!({"command": "sh", "args": ["-c", "echo \"$GREETING\"; exit 3"], "env": env});
                let command = if step == "term.run" { run } else { json!({"command": "sleep", "args": ["30"]}) };
                let terminal = self.ask::<CreateTerminalRequest>(command).await?;
                if step == "term.kill" {
                    self.ask::<KillTerminalRequest>(terminal.clone()).await?;
                }
                let ended = self.ask::<WaitForTerminalExitRequest>(terminal.clone()).await?;
                let printed = self.ask::<TerminalOutputRequest>(terminal.clone()).await?;
                self.ask::<ReleaseTerminalRequest>(terminal).await?;
                match step {
                    "term.run" => format!("{} {}", text(&printed["output"]).trim(), ended["exitCode"]),
                    _ if ended["signal"].is_string() => "killed".to_owned(),
                    _ => "not killed".to_owned(),
                }
            }
        };
        self.message(&said)
    }

    async fn permission(&self, what: &str) -> Result<(), Error> {
        let title = match what {
            "selected" => "allow",
            "rejected" => "reject",
            "cancelled" => "wait",
            _ => "meta",
        };
        let words = self.lab.words;
        let kind = if words.are_2() { "tool_call_update" } else { "tool_call" };
        self.say(&json!({"sessionUpdate": kind, "toolCallId": title, "title": title, "status": "pending"}))?;
        let asked = words.permission(title, title == "meta");
        let answer = self.ask_user::<one::RequestPermissionRequest, two::RequestPermissionRequest>(asked).await?;
        let allowed = answer["outcome"]["optionId"] == "yes";
        let status = if allowed { "completed" } else { "failed" };
        self.say(&json!({"sessionUpdate": "tool_call_update", "toolCallId": title, "status": status}))?;
        self.message(if allowed { "allowed" } else { "rejected" })
    }

    /// Asks for a permission, and gives that up.
    async fn give_up(&self) -> Result<(), Error> {
        let mut asked = self.lab.words.permission("wait", false);
        asked["sessionId"] = json!(self.id);
        let ended = if self.lab.words.are_2() {
            let sent = self.client.send_request(serde_json::from_value::<two::RequestPermissionRequest>(asked)?);
            Timer::after(Duration::from_millis(20)).await;
            sent.cancel()?;
            sent.block_task().await.map(drop)
        } else {
            let sent = self.client.send_request(serde_json::from_value::<one::RequestPermissionRequest>(asked)?);
            Timer::after(Duration::from_millis(20)).await;
            sent.cancel()?;
            sent.block_task().await.map(drop)
        };
        // The client answers with an error or with an outcome; either says that it has stopped.
        drop(ended);
        self.message("given up")
    }

    async fn elicit(&self, message: &str) -> Result<(), Error> {
        let colours = json!([{"const": "red", "title": "red"}, {"const": "blue", "title": "blue"}]);
        let colour = json!({"colour": {"type": "string", "oneOf": colours}});
        let schema = json!({"type": "object", "properties": colour, "required": ["colour"]});
        let form = json!({"mode": "form", "message": message, "requestedSchema": schema});
        let answer = self.ask_user::<one::CreateElicitationRequest, two::CreateElicitationRequest>(form).await?;
        let words = [&answer["action"], &answer["content"]["colour"]].map(text);
        self.message(words.join(" ").trim_end())
    }

    async fn others(&self, step: &str) -> Result<(), Error> {
        let block = &self.params["prompt"][1];
        let shown = |members: [&str; 2]| {
            let member = |at: &str| text(block.pointer(at).unwrap_or(&Value::Null)).to_owned();
            ["/type", members[0], members[1]].map(member).join(" ")
        };
        let said = match step {
            "init.client" => format!("client {}", self.lab.state().client),
            "session.close" | "cancel.prompt" | "conn.close" => {
                self.message("Waiting.")?;
                futures::future::pending().await
            }
            "session.multi" => {
                for number in 0..20 {
                    self.message(&format!("{} {number};", self.id))?;
                    Timer::after(Duration::from_millis(1)).await;
                }
                return Ok(());
            }
            "session.folders" => self.lab.with(self.id, |kept| text(&kept.further[0]).to_owned())?,
            "prompt.image" => shown(["/mimeType", "/data"]),
            "prompt.resource" => shown(["/resource/uri", "/resource/text"]),
            "prompt.link" => shown(["/uri", "/name"]),
            "enum.audience" => list(&block["annotations"]["audience"]).map(text).collect::<Vec<_>>().join(" "),
            "update.mode" | "update.options" => {
                let update = self.lab.with(self.id, |kept| {
                    if step == "update.mode" {
                        "code".clone_into(&mut kept.mode);
                        return self.lab.words.mode(kept);
                    }
                    kept.options.insert("model".to_owned(), json!("large"));
                    json!({"sessionUpdate": "config_option_update", "configOptions": self.lab.words.options(kept)})
                })?;
                return self.say(&update);
            }
            "mode.set" | "config.select" | "config.boolean" => self.lab.with(self.id, |kept| {
                format!("{} {} {}", kept.mode, text(&kept.options["model"]), kept.options["web"])
            })?,
            "config.grouped" => self.lab.with(self.id, |kept| text(&kept.options["style"]).to_owned())?,
            "elicit.form" => return self.elicit("Which colour?").await,
            "elicit.decline" => return self.elicit("Anything else?").await,
            "elicit.complete" => {
                let url = "https://example.com/visit";
                let link = json!({"mode": "url", "message": "Visit", "url": url, "elicitationId": "visit"});
                let answer =
                    self.ask_user::<one::CreateElicitationRequest, two::CreateElicitationRequest>(link).await?;
                tell::<one::CompleteElicitationNotification, _>(self.client, json!({"elicitationId": "visit"}))?;
                text(&answer["action"]).to_owned()
            }
            "cancel-request.agent" => return self.give_up().await,
            "ext.client" => {
                let answer = ask::<Echo, _>(self.client, json!({"value": 42})).await?;
                format!("echo {}", answer["value"])
            }
            "meta.prompt" => format!("trace {}", text(&self.params["_meta"]["libacp.dev/trace"])),
            "big.prompt-1m" | "big.prompt-8m" => {
                let said = text(&block["text"]);
                let same = said == "0123456789".repeat(said.len() / 10);
                format!("{} {}", said.len(), if same { "the same" } else { "different" })
            }
            _ => {
                self.lab.keep(self.id, "Remembered.")?;
                "Remembered.".to_owned()
            }
        };
        self.message(&said)
    }
}
