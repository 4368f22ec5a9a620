//! What the client does for an agent, and what it has heard of it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agent_client_protocol::{Error, RequestCancellation};
use async_process::{Child, Command, Stdio};
use futures::channel::mpsc::UnboundedSender;
use futures::channel::oneshot;
use futures::future::{select, BoxFuture, FutureExt, Shared};
use futures::AsyncReadExt;
use libacp_interop_rust::steps::checks::{list, text};
use libacp_interop_rust::steps::Answer;
use serde_json::{json, Value};

use crate::fold::Fold;

type Ended = Shared<BoxFuture<'static, (String, Value)>>;

/// What is heard of an agent, and of what it asks for.
pub(crate) struct Heard {
    /// Sessions by their ids.
    pub(crate) folds: Mutex<BTreeMap<String, Fold>>,
    pub(crate) noted: UnboundedSender<Value>,
    /// The ids of elicitations that are complete.
    completed: Mutex<Vec<Value>>,
    /// Rings when a permission is asked for.
    pub(crate) asked: UnboundedSender<()>,
    questions: Mutex<usize>,
    /// Ends the questions that wait when it is emptied.
    waiting: Mutex<Vec<oneshot::Sender<()>>>,
    terminals: Mutex<Vec<(Child, Ended)>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Heard {
    pub(crate) fn new(noted: UnboundedSender<Value>, asked: UnboundedSender<()>) -> Arc<Heard> {
        let (folds, completed, questions, waiting, terminals) = Default::default();
        Arc::new(Heard { folds, noted, completed, asked, questions, waiting, terminals })
    }

    pub(crate) fn fold<T>(&self, id: &str, work: impl FnOnce(&mut Fold) -> T) -> T {
        work(lock(&self.folds).entry(id.to_owned()).or_default())
    }

    pub(crate) fn completed(&self) -> Value {
        lock(&self.completed).clone().into()
    }

    pub(crate) fn complete(&self, id: Value) {
        lock(&self.completed).push(id);
    }

    pub(crate) fn open_questions(&self) -> usize {
        *lock(&self.questions)
    }

    /// Ends the questions that wait: the turn was cancelled.
    pub(crate) fn stop_waiting(&self) {
        lock(&self.waiting).clear();
    }

    pub(crate) async fn answer(&self, method: &str, params: Value, stop: RequestCancellation) -> Answer {
        match method {
            "session/request_permission" => {
                *lock(&self.questions) += 1;
                let _ = self.asked.unbounded_send(());
                let (waits, waited) = oneshot::channel();
                lock(&self.waiting).push(waits);
                let outcome = permit(&params, waited, stop).await;
                *lock(&self.questions) -= 1;
                Ok(json!({"outcome": outcome}))
            }
            "elicitation/create" if params["mode"] == "url" => Ok(json!({"action": "accept"})),
            "elicitation/create" if params["message"] == "Which colour?" => {
                Ok(json!({"action": "accept", "content": {"colour": "blue"}}))
            }
            "elicitation/create" => Ok(json!({"action": "decline"})),
            "fs/read_text_file" => read(&params),
            "fs/write_text_file" => {
                std::fs::write(text(&params["path"]), text(&params["content"])).map_err(Error::into_internal_error)?;
                Ok(json!({}))
            }
            "terminal/create" => self.start(&params),
            "terminal/kill" | "terminal/release" => {
                let mut terminals = lock(&self.terminals);
                if let Some((child, _)) = terminals.get_mut(index(&params)) {
                    // One that has ended by itself is none to kill.
                    let _ = child.kill();
                }
                Ok(json!({}))
            }
            "terminal/wait_for_exit" => Ok(self.ended(&params).await?.1),
            "terminal/output" => {
                let (output, status) = self.ended(&params).await?;
                Ok(json!({"output": output, "truncated": false, "exitStatus": status}))
            }
            _ => Ok(params),
        }
    }

    fn start(&self, params: &Value) -> Answer {
        let mut command = Command::new(text(&params["command"]));
        command.args(list(&params["args"]).map(text));
        command.envs(list(&params["env"]).map(|item| (text(&item["name"]), text(&item["value"]))));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn().map_err(Error::into_internal_error)?;
        let (mut output, status) = (child.stdout.take(), child.status());
        let ended = async move {
            let mut printed = String::new();
            if let Some(output) = &mut output {
                // What is no text was not printed by these commands.
                let _ = output.read_to_string(&mut printed).await;
            }
            let status = status.await.ok();
            let signal = status.and_then(|status| std::os::unix::process::ExitStatusExt::signal(&status));
            let code = status.and_then(|status| status.code());
            (printed, json!({"exitCode": code, "signal": signal.map(|signal| signal.to_string())}))
        };
        let mut terminals = lock(&self.terminals);
        terminals.push((child, ended.boxed().shared()));
        Ok(json!({"terminalId": format!("terminal-{}", terminals.len() - 1)}))
    }

    async fn ended(&self, params: &Value) -> Result<(String, Value), Error> {
        let ended = lock(&self.terminals).get(index(params)).map(|(_, ended)| ended.clone());
        Ok(ended.ok_or_else(|| Error::new(-32002, "There is no such terminal"))?.await)
    }
}

fn index(params: &Value) -> usize {
    text(&params["terminalId"]).trim_start_matches("terminal-").parse().unwrap_or(usize::MAX)
}

fn read(params: &Value) -> Answer {
    let missing = |_| Error::new(-32002, "There is no such file");
    let content = std::fs::read_to_string(text(&params["path"])).map_err(missing)?;
    let number = |name: &str| params[name].as_u64().and_then(|number| usize::try_from(number).ok());
    let lines = content.split_inclusive('\n').skip(number("line").unwrap_or(1).saturating_sub(1));
    Ok(json!({"content": lines.take(number("limit").unwrap_or(usize::MAX)).collect::<String>()}))
}

/// What the user says: yes to `allow`, and to `meta` if the trace came with it; nothing to `wait`, until it is over.
async fn permit(params: &Value, waited: oneshot::Receiver<()>, stop: RequestCancellation) -> Value {
    let titles = [&params["title"], &params["toolCall"]["title"], &params["subject"]["toolCall"]["title"]];
    let title = titles.into_iter().map(text).find(|title| !title.is_empty()).unwrap_or_default();
    if title == "wait" {
        select(waited, Box::pin(stop.cancelled())).await;
        return json!({"outcome": "cancelled"});
    }
    let traced = title == "meta" && params["_meta"]["libacp.dev/trace"] == "abc";
    let kind = if title == "allow" || traced { "allow_once" } else { "reject_once" };
    let chosen = list(&params["options"]).find(|option| option["kind"] == kind).unwrap_or(&Value::Null);
    json!({"outcome": "selected", "optionId": chosen["optionId"]})
}
