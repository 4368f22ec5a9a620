//! The client: it takes an agent through the steps and prints a line for each. A step with `see` is a prompt in a session
//! of its own, after which the view has to show that; what else there is to do has a function here.

mod sessions;

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use futures::TryStreamExt;
use libacp::aio::{AgentPeer, ClientSession, Error, Failure};
use libacp::schema::{v1, Message, Raw};
use libacp_tokio::{spawn, AgentProcess};
use serde_json::{json, Value};
use tokio::sync::{mpsc, Mutex, Notify};
use tokio::time::timeout;

use crate::checks::{check_written, fill, list, same, steps, text, Checked, Tally, Trouble};
use crate::offers::{client, Completed};
use crate::seen::seen;

const LIMIT: Duration = Duration::from_secs(30);

impl From<Error> for Trouble {
    fn from(error: Error) -> Self {
        Trouble::Wrong(error.to_string())
    }
}

impl From<Failure> for Trouble {
    fn from(failure: Failure) -> Self {
        Trouble::Wrong(failure.to_string())
    }
}

/// A call has to be refused.
fn refused<T>(what: &str, code: i64, result: Result<T, Error>) -> Checked {
    match result {
        Err(Error::Peer { error, .. }) => {
            same(format!("code of {what}"), &code.into(), &i64::from(error.code.0).into())
        }
        Err(other) => Err(other.into()),
        Ok(_) => Err(Trouble::Wrong(format!("{what}: expected the error {code}, got a result"))),
    }
}

/// An agent, and where the steps are played.
struct Lab<'a> {
    argv: &'a [String],
    version: u16,
    work: &'a str,
    agent: Option<AgentProcess>,
    guarded: Option<AgentProcess>,
    /// Rings when a permission is asked for.
    asked: Arc<Notify>,
    note: mpsc::UnboundedSender<Value>,
    completed: Completed,
    noted: Mutex<mpsc::UnboundedReceiver<Value>>,
}

/// Plays all steps of a version.
pub(crate) async fn play(file: &str, version: u16, work: &str, argv: &[String]) -> Result<(), Failure> {
    let steps = steps(file, version, work)?;
    let (note, noted) = mpsc::unbounded_channel();
    let (asked, noted) = (Arc::new(Notify::new()), Mutex::new(noted));
    let mut lab =
        Lab { argv, version, work, agent: None, guarded: None, asked, note, completed: Completed::default(), noted };
    let mut tally = Tally::default();
    for step in &steps {
        let id = text(&step["id"]);
        let late = || Trouble::Wrong(format!("not done within {LIMIT:?}"));
        tally.tell(id, timeout(LIMIT, lab.step(id, step)).await.unwrap_or_else(|_| Err(late())));
    }
    tally.end();
    Ok(())
}

impl Lab<'_> {
    async fn start(&self, more: &[&str]) -> Checked<AgentProcess> {
        let (program, arguments) = self.argv.split_first().ok_or_else(|| Trouble::Wrong("no agent".to_owned()))?;
        let (starting, driving) = spawn(program).args(arguments).args(more).connect(client(
            self.version,
            Arc::clone(&self.asked),
            self.note.clone(),
            Rc::clone(&self.completed),
        ))?;
        tokio::task::spawn_local(driving);
        Ok(starting.open().await?)
    }

    fn agent(&self) -> Checked<&AgentProcess> {
        self.agent.as_ref().ok_or_else(|| Trouble::Wrong("there is no agent".to_owned()))
    }

    async fn session(&self) -> Checked<ClientSession> {
        Ok(self.agent()?.new_session(self.work).await?)
    }

    async fn noted(&self, expected: &str) -> Checked {
        let noted = self.noted.lock().await.recv().await.unwrap_or_default();
        if let Some(why) = noted["note"].as_str().and_then(|note| note.strip_prefix("not offered: ")) {
            return Err(Trouble::NotOffered(why.to_owned()));
        }
        same("note", &json!({"note": expected}), &noted)
    }

    async fn count(&self) -> Checked<u64> {
        let answer: Value = self.agent()?.request("_libacp.dev/given-up", &json!({})).await?.parse()?;
        Ok(answer["count"].as_u64().unwrap_or_default())
    }

    async fn listed(&self, cwd: Option<&str>) -> Checked<BTreeMap<String, String>> {
        let mut request = v1::ListSessionsRequest::default();
        request.cwd = cwd.map(|cwd| cwd.to_owned().into());
        let infos: Vec<_> = self.agent()?.list_sessions_with(request).try_collect().await?;
        Ok(infos.into_iter().map(|info| (info.session_id.0.to_string(), info.cwd.to_string())).collect())
    }

    /// Plays the turn of a step in a new session, and looks at what is shown afterwards.
    async fn see(&self, id: &str, step: &Value) -> Checked {
        let session = self.session().await?;
        let mut blocks = vec![json!({"type": "text", "text": format!("step: {id}")})];
        blocks.extend(list(&step["with"]).map(|block| fill(block, self.work)));
        let blocks: Vec<v1::ContentBlock<'static>> =
            blocks.iter().map(|block| v1::ContentBlock::detached(&block.to_string())).collect::<Result<_, _>>()?;
        let turn = session.prompt(blocks).meta(Raw::of(&json!({"libacp.dev/trace": "abc"}))?);
        let stop = turn.finish().await?.stop_reason.to_string();
        let mut shown = seen(&session)?;
        shown["completed"] = json!(*self.completed.borrow());
        // Prompts end as version 1 says it, which knows no others.
        let expected = if id == "enum.stop" { &json!("end_turn") } else { &shown["stop"] };
        same("stop reason", expected, &json!(stop))?;
        if let Some(why) = shown["text"].as_str().and_then(|text| text.strip_prefix("not offered: ")) {
            return Err(Trouble::NotOffered(why.to_owned()));
        }
        same("", &fill(&step["see"], self.work), &shown)?;
        same("open questions", &json!(0), &json!(session.view(|view| view.questions().len())))?;
        check_written(step, self.work)
    }

    /// Plays the turn of a step, and looks at the text that has come with it.
    async fn says(&self, session: &ClientSession, id: &str, expected: &str) -> Checked {
        let said = |shown: &Value| text(&shown["text"]).to_owned();
        let before = said(&seen(session)?);
        session.prompt(format!("step: {id}")).finish().await?;
        let after = said(&seen(session)?);
        same("text", &json!(expected), &json!(after.strip_prefix(&before).unwrap_or(&after)))
    }

    async fn remembered(&self) -> Checked<ClientSession> {
        let session = self.session().await?;
        self.says(&session, "session.load.replay", "Remembered.").await?;
        Ok(session)
    }

    /// Starts a turn, and does something at its first update; the turn ends as cancelled.
    async fn during(&self, id: &str, close: bool) -> Checked<ClientSession> {
        let session = self.session().await?;
        let mut turn = session.prompt(format!("step: {id}"));
        let mut stopped = false;
        while turn.update().await?.is_some() {
            if stopped {
                continue;
            }
            stopped = true;
            if close {
                session.close().await?;
            } else {
                turn.cancel().await?;
            }
        }
        let reason = turn.stop_reason().map(ToString::to_string);
        same("stop reason", &json!("cancelled"), &json!(reason))?;
        Ok(session)
    }

    async fn configure(&self, step: &str, id: &str, value: Value, expected: &str) -> Checked {
        let session = self.session().await?;
        let options = match &value {
            Value::Bool(on) => session.set_config_option(id, *on).await?,
            other => session.set_config_option(id, other.as_str().unwrap_or_default()).await?,
        };
        let options = serde_json::to_value(&options)?;
        let option = list(&options).find(|option| option["id"] == id).unwrap_or(&Value::Null);
        same("options", &value, &option["currentValue"])?;
        same("view", &value, &seen(&session)?["options"][id])?;
        self.says(&session, step, expected).await
    }

    async fn step(&mut self, id: &str, step: &Value) -> Checked {
        if let Some(agent) = self.agent.as_ref().or(self.guarded.as_ref()) {
            let needs =
                list(&step["needs"]).filter_map(Value::as_str).filter(|need| need.contains('/') || *need == "logout");
            if let Some(missing) = needs.into_iter().find(|need| !agent.can(need)) {
                return Err(Trouble::NotOffered(missing.to_owned()));
            }
        }
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
        let ways = |agent: &AgentProcess| json!(agent.auth_methods().len());
        match id {
            "auth.login" => {
                let agent = self.guarded.insert(self.start(&["--login"]).await?);
                same("ways", &json!(1), &ways(agent))?;
                refused("session/new", -32000, agent.new_session(self.work).await)?;
                agent.authenticate("key").await?;
                agent.new_session(self.work).await?;
                Ok(())
            }
            "auth.logout" => {
                let agent = self.guarded.take().ok_or_else(|| Trouble::Wrong("nobody is logged in".to_owned()))?;
                agent.logout().await?;
                refused("session/new", -32000, agent.new_session(self.work).await)?;
                agent.close().await;
                Ok(())
            }
            "auth.none" => {
                let agent = self.start(&[]).await?;
                same("ways", &json!(0), &ways(self.agent.insert(agent)))?;
                self.session().await.map(drop)
            }
            "conn.close" => {
                let agent = self.start(&[]).await?;
                let request = AgentPeer::clone(&agent);
                let waiting = async move { request.request("_libacp.dev/wait", &json!({})).await };
                let closing = async {
                    self.noted("waiting").await?;
                    Checked::Ok(agent.close().await.exit.to_string())
                };
                let (answer, exit) = futures::future::join(waiting, closing).await;
                let exit = exit?;
                if answer.is_ok() {
                    return Err(Trouble::Wrong("the request has an answer".to_owned()));
                }
                same("status", &json!("exit code 0"), &json!(exit))
            }
            _ => {
                let agent = self.agent.take().ok_or_else(|| Trouble::Wrong("there is no agent".to_owned()))?;
                same("status", &json!("exit code 0"), &json!(agent.close().await.exit.to_string()))
            }
        }
    }

    fn greeting(&self, what: &str) -> Checked {
        let agent = self.agent()?;
        match what {
            "version" => same(what, &json!(self.version), &json!(agent.version())),
            "info" => same(what, &json!({"name": "catalogue", "version": "1.0"}), &serde_json::to_value(agent.info())?),
            _ => {
                let prompt = json!({"image": true, "embeddedContext": true});
                let sessions =
                    json!({"list": {}, "resume": {}, "close": {}, "delete": {}, "additionalDirectories": {}});
                let all = json!({"loadSession": true, "promptCapabilities": prompt, "sessionCapabilities": sessions});
                same(what, &all, &serde_json::to_value(agent.capabilities())?)
            }
        }
    }

    async fn settings(&self, id: &str) -> Checked {
        match id {
            "mode.set" => {
                let session = self.session().await?;
                session.set_mode("code").await?;
                same("mode", &json!("code"), &seen(&session)?["mode"])?;
                self.says(&session, id, "code small false").await
            }
            "config.grouped" => self.configure(id, "style", json!("haiku"), "haiku").await,
            "config.select" => self.configure(id, "model", json!("large"), "ask large false").await,
            _ => self.configure(id, "web", json!(true), "ask small true").await,
        }
    }

    async fn cancels(&self, id: &str) -> Checked {
        let agent = self.agent()?;
        match id {
            "perm.cancelled" => {
                let session = self.session().await?;
                let open = || session.view(|view| view.questions().len());
                let turn = session.prompt("step: perm.cancelled");
                let watched = async {
                    self.asked.notified().await;
                    same("open questions", &json!(1), &json!(open()))?;
                    session.cancel().await?;
                    Checked::Ok(())
                };
                // What was asked for before must not ring.
                let _ = timeout(Duration::ZERO, self.asked.notified()).await;
                let (ended, watched) = futures::future::join(turn.finish(), watched).await;
                watched?;
                same("stop reason", &json!("cancelled"), &json!(ended?.stop_reason.to_string()))?;
                same("open questions", &json!(0), &json!(open()))
            }
            "cancel.prompt" => {
                let session = self.during(id, false).await?;
                self.says(&session, "session.load.replay", "Remembered.").await
            }
            "cancel-request.client" => {
                {
                    let waiting = agent.request("_libacp.dev/wait", &json!({}));
                    let noted = self.noted("waiting");
                    tokio::select! {
                        biased;
                        noted = noted => noted?,
                        _ = waiting => return Err(Trouble::Wrong("the request does not wait".to_owned())),
                    }
                }
                while self.count().await? < 1 {
                    tokio::time::sleep(Duration::from_millis(10)).await;
                }
                Ok(())
            }
            _ => match agent.notify("$/cancel_request", &json!({"requestId": "nobody"})).await {
                Err(Error::Misuse(why)) => Err(Trouble::NotOffered(why.to_string())),
                other => other.map_err(Trouble::from),
            },
        }
    }

    async fn extensions(&self, id: &str) -> Checked {
        let agent = self.agent()?;
        match id {
            "ext.request" => {
                let params = json!({"value": [1, null, {"a": "ä"}]});
                same("echo", &params, &agent.request("_libacp.dev/echo", &params).await?.parse()?)
            }
            "ext.notification" => {
                agent.notify("_libacp.dev/note", &json!({"note": "hello"})).await?;
                self.noted("hello").await
            }
            "error.unknown-method" => refused("a method", -32601, agent.request("_libacp.dev/none", &json!({})).await),
            _ => {
                let session = self.session().await?;
                refused("the prompt", -32042, session.prompt("step: error.handler").finish().await)?;
                self.says(&session, "session.load.replay", "Remembered.").await
            }
        }
    }
}
