//! What a scenario's handlers, calls and steps share: names, labels, events, and what is expected.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::time::Duration;

use futures::channel::{mpsc, oneshot};
use libacp::aio::{DisplayTerminal, Error, Failure, RequestError};
use libacp::schema::{v1, IntoOwned, Raw};
use serde_json::{json, Map, Value};

use super::Failed;

/// Members of events that are compared only where they are stated.
const LOOSE: [&str; 2] = ["params", "meta"];

pub(super) struct World {
    events: mpsc::UnboundedSender<Seen>,
    names: RefCell<HashMap<String, Value>>,
    waiting: RefCell<Vec<(String, oneshot::Sender<()>)>>,
    gone: RefCell<HashSet<String>>,
    runs: RefCell<HashMap<String, usize>>,
    displays: RefCell<HashMap<String, v1::Terminal<'static>>>,
    handlers: Value,
}

/// An event, and how its params look to who reads them as a type.
pub(super) struct Seen {
    pub(super) event: Value,
    pub(super) read: fn(&Value) -> Value,
}

impl World {
    pub(super) fn new(scenario: &Value) -> (Self, mpsc::UnboundedReceiver<Seen>) {
        let (events, seen) = mpsc::unbounded();
        let world = World {
            events,
            names: RefCell::default(),
            waiting: RefCell::default(),
            gone: RefCell::default(),
            runs: RefCell::default(),
            displays: RefCell::default(),
            handlers: scenario["handlers"].clone(),
        };
        (world, seen)
    }

    pub(super) fn tell(&self, event: Value) {
        self.tell_read(event, Value::clone);
    }

    pub(super) fn tell_read(&self, event: Value, read: fn(&Value) -> Value) {
        // Who has failed sees no more.
        let _ = self.events.unbounded_send(Seen { event, read });
    }

    /// The actions of the next run of a handler.
    pub(super) fn actions(&self, method: &str) -> Vec<Value> {
        let runs = self.handlers[method].as_array().cloned().unwrap_or_default();
        let mut counts = self.runs.borrow_mut();
        let count = counts.entry(method.to_owned()).or_default();
        let run = runs.get((*count).min(runs.len().saturating_sub(1)));
        *count += 1;
        run.and_then(Value::as_array).cloned().unwrap_or_default()
    }

    /// What the runs of a handler return.
    pub(super) fn returned(&self, method: &str) -> Vec<Value> {
        let runs = self.handlers[method].as_array().into_iter().flatten();
        let actions = runs.filter_map(Value::as_array).flatten();
        actions.filter_map(|action| action.get("return").cloned()).collect()
    }

    /// Keeps what tool calls show of a terminal of the agent's own.
    pub(super) fn displays(&self, terminal: &DisplayTerminal) {
        let shown = v1::Terminal::from(terminal).into_owned();
        self.displays.borrow_mut().insert(terminal.id().to_owned(), shown);
    }

    pub(super) fn display(&self, id: &str) -> v1::Terminal<'static> {
        self.displays.borrow().get(id).unwrap_or_else(|| panic!("there is no terminal {id}")).clone()
    }

    pub(super) async fn wait(&self, label: &str) {
        if self.gone.borrow_mut().remove(label) {
            return;
        }
        let (go, gone) = oneshot::channel();
        self.waiting.borrow_mut().push((label.to_owned(), go));
        let _ = gone.await;
    }

    pub(super) fn go(&self, label: &str) {
        let all = std::mem::take(&mut *self.waiting.borrow_mut());
        let (mine, others): (Vec<_>, Vec<_>) = all.into_iter().partition(|(name, _)| name == label);
        self.waiting.borrow_mut().extend(others);
        if mine.is_empty() {
            self.gone.borrow_mut().insert(label.to_owned());
        }
        for (_, go) in mine {
            let _ = go.send(());
        }
    }

    /// A value with what its names stand for.
    pub(super) fn fill(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => self.names.borrow().get(text).cloned().unwrap_or_else(|| value.clone()),
            Value::Array(items) => items.iter().map(|item| self.fill(item)).collect(),
            Value::Object(members) => {
                members.iter().map(|(name, value)| (name.clone(), self.fill(value))).collect::<Map<_, _>>().into()
            }
            _ => value.clone(),
        }
    }

    /// Whether this is what was expected; names are bound at their first place.
    pub(super) fn is(&self, expected: &Value, found: &Value) -> bool {
        match (expected, found) {
            (Value::String(text), _) if text == "<any>" => true,
            (Value::String(text), _) if text.starts_with('<') && text.ends_with('>') => {
                if !found.is_string() && !found.is_number() {
                    return false;
                }
                self.names.borrow_mut().entry(text.clone()).or_insert_with(|| found.clone()) == found
            }
            (Value::Array(expected), Value::Array(found)) => {
                expected.len() == found.len()
                    && expected.iter().zip(found).all(|(expected, found)| self.is(expected, found))
            }
            (Value::Object(expected), Value::Object(found)) => {
                expected.len() == found.len()
                    && expected
                        .iter()
                        .all(|(name, expected)| found.get(name).is_some_and(|found| self.is(expected, found)))
            }
            _ => expected == found,
        }
    }

    /// The same for an event.
    pub(super) fn is_event(&self, expected: &Value, seen: &Seen) -> bool {
        let (mut expected, mut found) = (expected.clone(), seen.event.clone());
        for name in LOOSE {
            leave_out(&mut found, &expected, name);
        }
        if expected["error"].is_object() {
            for name in ["message", "data"] {
                let wanted = expected["error"].clone();
                leave_out(&mut found["error"], &wanted, name);
            }
        }
        for name in ["params", "result"] {
            if let Some(typed) = expected.get_mut(name) {
                *typed = (seen.read)(&self.fill(typed));
            }
        }
        self.is(&expected, &found)
    }
}

fn leave_out(found: &mut Value, expected: &Value, name: &str) {
    if let Some(found) = found.as_object_mut().filter(|_| expected.get(name).is_none()) {
        found.remove(name);
    }
}

/// How a call ended, as an event.
pub(super) fn done(name: &str, result: Result<Value, Error>) -> Value {
    ending(name, result.map_err(|error| described(&error)))
}

/// The same, with the error that the event has.
pub(super) fn ending(name: &str, result: Result<Value, Value>) -> Value {
    match result {
        Ok(result) => json!({"done": name, "result": result}),
        Err(error) => json!({"done": name, "error": error}),
    }
}

/// How work ended: with a result, or with the error that the event has. What the client cancels is not an error there.
pub(super) fn worked(ended: Result<v1::PromptResponse<'_>, Failure>) -> Result<Value, Value> {
    let failure = match ended {
        Ok(ended) => return Ok(serde_json::to_value(ended).unwrap()),
        Err(failure) => failure,
    };
    match failure.downcast_ref::<Error>() {
        Some(error) => Err(described(error)),
        None => Err(json!({"kind": "failed"})),
    }
}

pub(super) fn described(error: &Error) -> Value {
    match error {
        Error::Misuse(misuse) => json!({"kind": "misuse", "rule": misuse.rule.as_str()}),
        Error::Peer { error, .. } => {
            let data = error.data.as_ref().map(|data| serde_json::from_str::<Value>(data).unwrap());
            let mut told = json!({"kind": "peer", "code": error.code.0, "message": error.message});
            if let Some(data) = data {
                told["data"] = data;
            }
            told
        }
        Error::Timeout { .. } => json!({"kind": "timeout"}),
        Error::Closed { .. } => json!({"kind": "closed"}),
        Error::Invalid { .. } => json!({"kind": "invalid"}),
        other => json!({"kind": "other", "message": other.to_string()}),
    }
}

/// What the actions `fail` and `raise` end with.
pub(super) fn failure(action: &Value) -> Failure {
    if let Some(text) = action["raise"].as_str() {
        return Failure::new(text);
    }
    let error = &action["fail"];
    let code = libacp::ErrorCode(error["code"].as_i64().unwrap() as i32);
    let failed = RequestError::new(code, error["message"].as_str().unwrap().to_owned());
    match error.get("data") {
        Some(data) => failed.data(Raw::of(data).unwrap()).into(),
        None => failed.into(),
    }
}

/// Tells that a handler was dropped where it waits.
pub(super) struct Waits<'w>(pub(super) &'w World, pub(super) &'w str, pub(super) bool);

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        if !self.2 {
            self.0.tell(json!({"cancelled": self.1}));
        }
    }
}

pub(super) async fn sleep(time: Duration) {
    let (tell, told) = oneshot::channel::<()>();
    std::thread::spawn(move || {
        std::thread::sleep(time);
        drop(tell);
    });
    let _ = told.await;
}

pub(super) fn differs<T>(how: &'static str, why: String) -> Result<T, Failed> {
    Err(Failed { how, why })
}
