//! The steps. One with `see` is a prompt in a session of its own, after which the session has to show that; what else there is to do
//! has a function here.

mod sessions;

use std::sync::Arc;
use std::time::Duration;

use agent_client_protocol::Error;
use async_io::Timer;
use futures::channel::mpsc::{unbounded, UnboundedReceiver, UnboundedSender};
use futures::executor::LocalSpawner;
use futures::future::{join, select, Either};
use futures::StreamExt;
use libacp_interop_rust::steps::checks::{check_written, fill, list, same, steps, text, Checked, Tally, Trouble};
use libacp_interop_rust::steps::{Answer, Wait};
use serde_json::{json, Map, Value};

use crate::offers::Heard;
use crate::peer::Peer;

const LIMIT: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(2);

struct Lab {
    spawner: LocalSpawner,
    argv: Vec<String>,
    version: u16,
    work: String,
    agent: Option<Peer>,
    guarded: Option<Peer>,
    noted: UnboundedSender<Value>,
    notes: UnboundedReceiver<Value>,
    asked: UnboundedSender<()>,
    questions: UnboundedReceiver<()>,
}

fn wrong(error: Error) -> Trouble {
    Trouble::Wrong(error.to_string())
}

fn refused(what: &str, code: i32, answer: Answer) -> Checked {
    match answer {
        Err(error) => same(format!("code of {what}"), &json!(code), &json!(i32::from(error.code))),
        Ok(_) => Err(Trouble::Wrong(format!("{what}: expected the error {code}, got a result"))),
    }
}

/// Plays all steps of a version.
pub(crate) async fn play(
    spawner: LocalSpawner,
    file: &str,
    version: u16,
    work: String,
    argv: Vec<String>,
) -> std::io::Result<()> {
    let all = steps(file, version, &work)?;
    let ((noted, notes), (asked, questions)) = (unbounded(), unbounded());
    let mut lab = Lab { spawner, argv, version, work, agent: None, guarded: None, noted, notes, asked, questions };
    let mut tally = Tally::default();
    for step in &all {
        let id = text(&step["id"]);
        let playing = Box::pin(lab.step(id, step));
        let ended = match select(playing, Timer::after(LIMIT)).await {
            Either::Left((ended, _)) => ended,
            Either::Right(_) => Err(Trouble::Wrong(format!("not done within {LIMIT:?}"))),
        };
        tally.tell(id, ended);
    }
    tally.end();
    Ok(())
}

impl Lab {
    fn two(&self) -> bool {
        self.version == 2
    }

    fn agent(&self) -> Checked<&Peer> {
        self.agent.as_ref().ok_or_else(|| Trouble::Wrong("there is no agent".to_owned()))
    }

    async fn start(&self, more: Option<&str>) -> Checked<Peer> {
        let argv: Vec<String> = self.argv.iter().cloned().chain(more.map(str::to_owned)).collect();
        let heard = Heard::new(self.noted.clone(), self.asked.clone());
        Peer::start(&self.spawner, self.version, &argv, heard).await
    }

    fn heard(&self) -> Checked<&Arc<Heard>> {
        Ok(&self.agent()?.heard)
    }

    fn seen(&self, id: &str) -> Checked<Value> {
        Ok(self.heard()?.fold(id, |fold| fold.seen()))
    }

    /// The folder of sessions, and what else opens one.
    fn opening(&self, more: Value) -> Value {
        let mut params = json!({"cwd": self.work, "mcpServers": []});
        more.as_object().into_iter().flatten().for_each(|(name, value)| params[name] = value.clone());
        params
    }

    async fn open(&self, method: &str, more: Value) -> Result<String, Error> {
        let Ok(agent) = self.agent() else { return Err(Error::internal_error()) };
        let params = self.opening(more);
        let id = text(&params["sessionId"]).to_owned();
        let opened = agent.ask(method, params).await?;
        let id = if id.is_empty() { text(&opened["sessionId"]).to_owned() } else { id };
        agent.heard.fold(&id, |fold| fold.open(&opened));
        Ok(id)
    }

    async fn session(&self) -> Checked<String> {
        self.open("session/new", json!({})).await.map_err(wrong)
    }

    async fn load(&self, id: &str) -> Result<String, Error> {
        if self.two() {
            return self.open("session/resume", json!({"sessionId": id, "replayFrom": {"type": "start"}})).await;
        }
        self.open("session/load", json!({"sessionId": id})).await
    }

    /// Sends a prompt; how its work has ended.
    async fn prompt(&self, id: &str, step: &str, more: &Value) -> Answer {
        let Ok(agent) = self.agent() else { return Err(Error::internal_error()) };
        let said = format!("step: {step}");
        let mut blocks = vec![json!({"type": "text", "text": said})];
        blocks.extend(list(more).cloned());
        agent.heard.fold(id, |fold| {
            // In version 2 the agent says it, and the end of the work is an update.
            if !self.two() {
                fold.say("user", None, &said, false);
            }
            fold.shown["stop"] = Value::Null;
        });
        let params = json!({"sessionId": id, "prompt": blocks, "_meta": {"libacp.dev/trace": "abc"}});
        let answer = agent.ask("session/prompt", params).await?;
        if !self.two() {
            agent.heard.fold(id, |fold| fold.shown["stop"] = answer["stopReason"].clone());
            return Ok(answer["stopReason"].clone());
        }
        loop {
            let (state, stop, error) =
                agent.heard.fold(id, |fold| ["state", "stop", "error"].map(|name| fold.shown[name].clone()).into());
            if state == "idle" && stop == "error" {
                return Err(serde_json::from_value(error)?);
            }
            if state == "idle" && !stop.is_null() {
                return Ok(stop);
            }
            Timer::after(PAUSE).await;
        }
    }

    async fn says(&self, id: &str, step: &str, expected: &str) -> Checked {
        let said = |seen: Value| text(&seen["text"]).to_owned();
        let before = said(self.seen(id)?).len();
        self.prompt(id, step, &Value::Null).await.map_err(wrong)?;
        let after = said(self.seen(id)?);
        same("text", &json!(expected), &json!(after.get(before..)))
    }

    async fn see(&self, id: &str, step: &Value) -> Checked {
        let session = self.session().await?;
        self.prompt(&session, id, &fill(&step["with"], &self.work)).await.map_err(wrong)?;
        let mut seen = self.seen(&session)?;
        seen["completed"] = self.heard()?.completed();
        if let Some(why) = text(&seen["text"]).strip_prefix("not offered: ") {
            return Err(Trouble::NotOffered(why.to_owned()));
        }
        same("", &fill(&step["see"], &self.work), &seen)?;
        same("open questions", &json!(0), &json!(self.heard()?.open_questions()))?;
        check_written(step, &self.work)
    }

    async fn closed(&self) -> Checked<String> {
        let id = self.session().await?;
        self.says(&id, "session.load.replay", "Remembered.").await?;
        self.agent()?.ask("session/close", json!({"sessionId": id})).await.map_err(wrong)?;
        Ok(id)
    }

    /// Starts a turn, and closes the session or cancels it once it has said a word.
    async fn during(&self, step: &str, close: bool) -> Checked<String> {
        let (agent, id) = (self.agent()?, self.session().await?);
        let act = async {
            while self.seen(&id)?["text"] == "" {
                Timer::after(PAUSE).await;
            }
            let session = json!({"sessionId": id});
            if close {
                return agent.ask("session/close", session).await.map(drop).map_err(wrong);
            }
            agent.tell("session/cancel", session).map_err(wrong)
        };
        let (ended, acted) = join(self.prompt(&id, step, &Value::Null), act).await;
        acted?;
        same("stop reason", &json!("cancelled"), &ended.map_err(wrong)?)?;
        Ok(id)
    }

    async fn listed(&self, params: Value) -> Checked<Value> {
        let found = self.agent()?.ask("session/list", params).await.map_err(wrong)?;
        let sessions = list(&found["sessions"]);
        let sessions: Map<_, _> =
            sessions.map(|one| (text(&one["sessionId"]).to_owned(), one["cwd"].clone())).collect();
        Ok(sessions.into())
    }

    async fn configure(&self, step: &str, option: &str, value: Value, expected: &str) -> Checked {
        let id = self.session().await?;
        let mut params = json!({"sessionId": id, "configId": option, "value": value});
        if value.is_boolean() || self.two() {
            params["type"] = json!(if value.is_boolean() { "boolean" } else { "id" });
        }
        let answer = self.agent()?.ask("session/set_config_option", params).await.map_err(wrong)?;
        let fold = self.heard()?.fold(&id, |fold| {
            fold.open(&answer);
            fold.seen()
        });
        same("options", &value, if option == "mode" { &fold["mode"] } else { &fold["options"][option] })?;
        self.says(&id, step, expected).await
    }

    async fn note(&mut self, expected: &str) -> Checked {
        let note = self.notes.next().await.unwrap_or_default();
        if let Some(why) = text(&note["note"]).strip_prefix("not offered: ") {
            return Err(Trouble::NotOffered(why.to_owned()));
        }
        same("note", &json!({"note": expected}), &note)
    }

    async fn step(&mut self, id: &str, step: &Value) -> Checked {
        match id.split_once('.').unwrap_or_default() {
            ("auth" | "conn" | "stdio", _) => self.come_and_go(id).await,
            ("init", what) if what != "client" => self.greeting(what),
            ("session", _) => self.sessions(id, step).await,
            ("mode" | "config", _) => self.settings(id).await,
            ("perm", "cancelled") | ("cancel", _) | ("cancel-request", "client" | "unknown") => self.cancels(id).await,
            ("ext", "request" | "notification") | ("error", _) => self.extensions(id).await,
            _ => self.see(id, step).await,
        }
    }

    async fn come_and_go(&mut self, id: &str) -> Checked {
        let ways = |peer: &Peer| {
            let ways = list(&peer.hello["authMethods"]).map(|way| way.get("methodId").unwrap_or(&way["id"]));
            json!(ways.collect::<Vec<_>>())
        };
        let nobody = || Trouble::Wrong("nobody is logged in".to_owned());
        match id {
            "auth.login" => {
                let peer = self.guarded.insert(self.start(Some("--login")).await?);
                same("ways", &json!(["key"]), &ways(peer))?;
                let peer = self.guarded.as_ref().ok_or_else(nobody)?;
                let new = || peer.ask("session/new", self.opening(json!({})));
                refused("session/new", -32000, new().await)?;
                peer.ask("login", json!({"methodId": "key"})).await.map_err(wrong)?;
                new().await.map(drop).map_err(wrong)
            }
            "auth.logout" => {
                let peer = self.guarded.take().ok_or_else(nobody)?;
                peer.ask("logout", json!({})).await.map_err(wrong)?;
                refused("session/new", -32000, peer.ask("session/new", self.opening(json!({}))).await)?;
                peer.end().await.map(drop)
            }
            "auth.none" => {
                let peer = self.agent.insert(self.start(None).await?);
                same("ways", &json!([]), &ways(peer))?;
                self.session().await.map(drop)
            }
            "conn.close" => {
                let peer = self.start(None).await?;
                let agent = peer.agent.clone();
                let waiting = agent.send_request(Wait(Map::new()));
                self.note("waiting").await?;
                let code = peer.end().await?;
                if let Ok(answer) = waiting.block_task().await {
                    return Err(Trouble::Wrong(format!("the request has an answer: {answer}")));
                }
                same("status", &json!(0), &json!(code))
            }
            _ => {
                let peer = self.agent.take().ok_or_else(nobody)?;
                same("status", &json!(0), &json!(peer.end().await?))
            }
        }
    }

    fn greeting(&self, what: &str) -> Checked {
        let hello = &self.agent()?.hello;
        let can = if self.two() {
            let prompt = json!({"image": {}, "embeddedContext": {}});
            json!({"session": {"prompt": prompt, "delete": {}, "additionalDirectories": {}}})
        } else {
            let sessions = json!({"list": {}, "resume": {}, "close": {}, "delete": {}, "additionalDirectories": {}});
            let prompt = json!({"image": true, "embeddedContext": true});
            json!({"loadSession": true, "promptCapabilities": prompt, "sessionCapabilities": sessions})
        };
        let info = json!({"name": "catalogue", "version": "1.0"});
        let member = |one: &str, two: &str| &hello[if self.two() { two } else { one }];
        match what {
            "version" => same(what, &json!(self.version), &hello["protocolVersion"]),
            "info" => same(what, &info, member("agentInfo", "info")),
            _ => same(what, &can, member("agentCapabilities", "capabilities")),
        }
    }

    async fn settings(&self, id: &str) -> Checked {
        match id {
            "mode.set" if self.two() => self.configure(id, "mode", json!("code"), "code small false").await,
            "mode.set" => {
                let session = self.session().await?;
                let params = json!({"sessionId": session, "modeId": "code"});
                self.agent()?.ask("session/set_mode", params).await.map_err(wrong)?;
                self.says(&session, id, "code small false").await?;
                same("mode", &json!("code"), &self.seen(&session)?["mode"])
            }
            "config.select" => self.configure(id, "model", json!("large"), "ask large false").await,
            "config.grouped" => self.configure(id, "style", json!("haiku"), "haiku").await,
            _ => self.configure(id, "web", json!(true), "ask small true").await,
        }
    }

    async fn cancels(&mut self, id: &str) -> Checked {
        match id {
            "perm.cancelled" => {
                let session = self.session().await?;
                // What was asked for before must not ring.
                while self.questions.try_recv().is_ok() {}
                let mut questions = std::mem::replace(&mut self.questions, unbounded().1);
                let agent = self.agent()?;
                let watched = async {
                    questions.next().await;
                    same("open questions", &json!(1), &json!(agent.heard.open_questions()))?;
                    agent.tell("session/cancel", json!({"sessionId": session})).map_err(wrong)?;
                    agent.heard.stop_waiting();
                    Checked::Ok(())
                };
                let (ended, watched) = join(self.prompt(&session, id, &Value::Null), watched).await;
                let open = agent.heard.open_questions();
                self.questions = questions;
                watched?;
                same("stop reason", &json!("cancelled"), &ended.map_err(wrong)?)?;
                same("open questions", &json!(0), &json!(open))
            }
            "cancel.prompt" => {
                let session = self.during(id, false).await?;
                self.says(&session, "session.load.replay", "Remembered.").await
            }
            "cancel-request.client" => {
                let agent = self.agent()?.agent.clone();
                let waiting = agent.send_request(Wait(Map::new()));
                self.note("waiting").await?;
                waiting.cancel().map_err(wrong)?;
                let _ = waiting.block_task().await;
                let agent = self.agent()?;
                while agent.ask("_libacp.dev/given-up", json!({})).await.map_err(wrong)?["count"] == 0 {
                    Timer::after(PAUSE).await;
                }
                Ok(())
            }
            _ => {
                let agent = self.agent()?;
                agent.tell("$/cancel_request", json!({"requestId": "nobody"})).map_err(wrong)?;
                let params = json!({"value": 1});
                same("echo", &params, &agent.ask("_libacp.dev/echo", params.clone()).await.map_err(wrong)?)
            }
        }
    }

    async fn extensions(&mut self, id: &str) -> Checked {
        let agent = self.agent()?;
        match id {
            "ext.request" => {
                let params = json!({"value": [1, null, {"a": "ä"}]});
                same("echo", &params, &agent.ask("_libacp.dev/echo", params.clone()).await.map_err(wrong)?)
            }
            "ext.notification" => {
                agent.tell("_libacp.dev/note", json!({"note": "hello"})).map_err(wrong)?;
                self.note("hello").await
            }
            "error.unknown-method" => refused("a method", -32601, agent.ask("_libacp.dev/none", json!({})).await),
            _ => {
                let session = self.session().await?;
                refused("the prompt", -32042, self.prompt(&session, id, &Value::Null).await)?;
                self.says(&session, "session.load.replay", "Remembered.").await
            }
        }
    }
}
