//! What a step says and asks.

use std::time::Duration;

use agent_client_protocol::v1::schema::{
    CreateElicitationRequest, CreateTerminalRequest, KillTerminalRequest, ReadTextFileRequest, ReleaseTerminalRequest,
    RequestPermissionRequest, TerminalOutputRequest, WaitForTerminalExitRequest, WriteTextFileRequest,
};
use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::{Client, Error, JsonRpcRequest};
use async_io::Timer;
use libacp_interop_rust::Echo;
use serde::de::DeserializeOwned;
use serde::Serialize;
use serde_json::{json, Value};

use crate::{ask, say, text, Answer, Lab};

pub(crate) struct Turn<'t> {
    pub(crate) lab: &'t Lab,
    pub(crate) client: &'t ConnectionTo<Client>,
    pub(crate) id: &'t str,
    pub(crate) cwd: String,
}

impl Turn<'_> {
    fn say(&self, update: &Value) -> Result<(), Error> {
        say(self.client, self.id, update)
    }

    fn message(&self, what: &str) -> Result<(), Error> {
        self.say(&json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": what}}))
    }

    fn thought(&self, what: &str) -> Result<(), Error> {
        self.say(&json!({"sessionUpdate": "agent_thought_chunk", "content": {"type": "text", "text": what}}))
    }

    async fn ask<R>(&self, mut params: Value) -> Answer
    where
        R: JsonRpcRequest<Response: Serialize> + DeserializeOwned,
    {
        params["sessionId"] = json!(self.id);
        ask::<R>(self.client, params).await
    }

    pub(crate) fn update(&self, step: &str) -> Result<(), Error> {
        let notes = format!("{}/notes.txt", self.cwd);
        let call = |id: &str, members: Value| {
            let mut update = json!({"sessionUpdate": "tool_call_update", "toolCallId": id});
            members.as_object().into_iter().flatten().for_each(|(name, value)| update[name] = value.clone());
            update
        };
        let found = json!([{"type": "content", "content": {"type": "text", "text": "found it"}}]);
        let diff =
            json!([{"type": "diff", "path": notes, "oldText": "one\ntwo\nthree\n", "newText": "one\n2\nthree\n"}]);
        let plan = |status: &str| {
            let look = json!({"content": "look", "priority": "high", "status": status});
            json!({"sessionUpdate": "plan", "entries": [look, {"content": "answer", "priority": "medium", "status": "pending"}]})
        };
        let commands = json!([
            {"name": "wait", "description": "Wait"},
            {"name": "tour", "description": "Tour", "input": {"hint": "where to"}},
        ]);
        match step {
            "update.thought" => {
                self.thought("Let me ")?;
                self.thought("see.")?;
                return self.message("Seen.");
            }
            "update.plan" => ["in_progress", "completed"].iter().try_for_each(|status| self.say(&plan(status))),
            "update.tool_call" => [
                json!({"sessionUpdate": "tool_call", "title": "Look around", "kind": "search", "status": "pending",
                    "locations": [{"path": notes}], "rawInput": {"deep": true}}),
                json!({"status": "in_progress"}),
                json!({"content": found}),
                json!({"status": "completed", "rawOutput": {"found": 1}}),
            ]
            .into_iter()
            .try_for_each(|members| self.say(&call("look", members))),
            "update.tool_call.failed" => {
                self.say(&call("try", json!({"sessionUpdate": "tool_call", "title": "Try", "status": "in_progress"})))?;
                self.say(&call("try", json!({"status": "failed"})))?;
                return self.message("Never mind.");
            }
            "update.diff" => {
                let edit = json!({"sessionUpdate": "tool_call", "title": "Edit notes.txt", "kind": "edit", "status": "in_progress"});
                self.say(&call("edit", edit))?;
                self.say(&call("edit", json!({"content": diff})))?;
                self.say(&call("edit", json!({"status": "completed"})))
            }
            "update.commands" => {
                self.say(&json!({"sessionUpdate": "available_commands_update", "availableCommands": commands}))
            }
            "update.mode" => self.say(&json!({"sessionUpdate": "current_mode_update", "currentModeId": "code"})),
            "update.options" => {
                let options = self.lab.with(self.id, |kept| {
                    kept.options.insert("model".to_owned(), json!("large"));
                    kept.listed()
                })?;
                self.say(&json!({"sessionUpdate": "config_option_update", "configOptions": options}))
            }
            "update.usage" => {
                let cost = json!({"amount": 0.25, "currency": "EUR"});
                self.say(&json!({"sessionUpdate": "usage_update", "used": 1000, "size": 200_000, "cost": cost}))
            }
            _ => self.say(&json!({"sessionUpdate": "session_info_update", "title": "A walk"})),
        }
    }

    pub(crate) async fn use_client(&self, step: &str) -> Result<(), Error> {
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

    async fn permission(&self, title: &str) -> Result<(), Error> {
        let status = |status: &str| json!({"sessionUpdate": "tool_call_update", "toolCallId": title, "status": status});
        self.say(&json!({"sessionUpdate": "tool_call", "toolCallId": title, "title": title, "status": "pending"}))?;
        let options = json!([
            {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
            {"optionId": "no", "name": "No", "kind": "reject_once"},
        ]);
        let asked = json!({"toolCall": {"toolCallId": title, "title": title}, "options": options});
        let allowed = self.ask::<RequestPermissionRequest>(asked).await?["outcome"]["optionId"] == "yes";
        self.say(&status(if allowed { "completed" } else { "failed" }))?;
        self.message(if allowed { "allowed" } else { "rejected" })
    }

    async fn elicit(&self, message: &str) -> Result<(), Error> {
        let colours = json!([{"const": "red", "title": "red"}, {"const": "blue", "title": "blue"}]);
        let colour = json!({"colour": {"type": "string", "oneOf": colours}});
        let schema = json!({"type": "object", "properties": colour, "required": ["colour"]});
        let form = json!({"mode": "form", "message": message, "requestedSchema": schema});
        let answer = self.ask::<CreateElicitationRequest>(form).await?;
        let words = [&answer["action"], &answer["content"]["colour"]].map(text);
        self.message(words.join(" ").trim_end())
    }

    pub(crate) async fn others(&self, step: &str, params: &Value) -> Result<(), Error> {
        let block = &params["prompt"][1];
        let shown = |members: [&str; 2]| {
            let member = |at: &str| text(block.pointer(at).unwrap_or(&Value::Null)).to_owned();
            ["/type", members[0], members[1]].map(member).join(" ")
        };
        let said = match step {
            "init.client" => format!("client {}", self.lab.state().client),
            "session.close" | "cancel.prompt" => {
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
            "prompt.stream" => {
                (0..10).try_for_each(|number| self.message(&format!("{number} ")))?;
                "ä😀\u{2028}\u{1}\"\\.".to_owned()
            }
            "prompt.image" => shown(["/mimeType", "/data"]),
            "prompt.resource" => shown(["/resource/uri", "/resource/text"]),
            "prompt.link" => shown(["/uri", "/name"]),
            "mode.set" | "config.select" | "config.boolean" => self.lab.with(self.id, |kept| {
                format!("{} {} {}", kept.mode, text(&kept.options["model"]), kept.options["web"])
            })?,
            "perm.selected" => return self.permission("allow").await,
            "perm.rejected" => return self.permission("reject").await,
            "perm.cancelled" => return self.permission("wait").await,
            "elicit.form" => return self.elicit("Which colour?").await,
            "elicit.decline" => return self.elicit("Anything else?").await,
            "ext.client" => {
                let answer = ask::<Echo>(self.client, json!({"value": 42})).await?;
                format!("echo {}", answer["value"])
            }
            "meta.prompt" => format!("trace {}", text(&params["_meta"]["libacp.dev/trace"])),
            "big.update-1m" => "0123456789".repeat(100_000),
            "big.prompt-1m" => {
                let same = text(&block["text"]) == "0123456789".repeat(100_000);
                format!("{} {}", text(&block["text"]).len(), if same { "the same" } else { "different" })
            }
            "view.same" => {
                self.thought("Hm.")?;
                self.message("First.")?;
                let look = json!({"sessionUpdate": "tool_call", "toolCallId": "look", "title": "Look"});
                self.say(&look)?;
                self.say(&json!({"sessionUpdate": "tool_call_update", "toolCallId": "look", "status": "completed"}))?;
                "Second.".to_owned()
            }
            _ => {
                let content = json!({"type": "text", "text": "Remembered."});
                let update = json!({"sessionUpdate": "agent_message_chunk", "content": content});
                self.lab.with(self.id, |kept| kept.history.push(update))?;
                "Remembered.".to_owned()
            }
        };
        self.message(&said)
    }
}
