//! Plays one side of the script: does its own steps, waits for the other side's and compares them.
//!
//! What arrives must be the step that comes next. A rule that the peer breaks is told on standard error, as a line of
//! JSON, and the play goes on.

use std::collections::HashMap;

use libacp::connection::{Outcome, Request, Violation};
use libacp::{Event, Id};
use serde_json::{json, Value};

use crate::link::Link;
use crate::script::{compare, Act, Call, Checksum, Chunks, Names, Script, Side, Step};
use crate::{fail, shown, Result};

/// A number that no double holds, in the `_meta` of the hosts' names: the client sends it, an agent that knows the
/// member sends it back. The script itself cannot have one, as one of the official SDKs rounds it.
const EXACT: (&str, i64) = ("libacp.dev/exact", 9_007_199_254_740_993);

/// What the two hosts do each in its own way.
pub trait Host {
    /// The side that it plays.
    const SIDE: Side;
    /// Its name in `initialize`.
    const NAME: &'static str;

    /// Takes values of placeholders from a request before it is compared.
    fn learn(&mut self, method: &str, params: &Value, names: &mut Names) -> Result<()>;

    /// Makes the result for a request of the other side.
    fn perform(&mut self, call: &Call, params: &Value) -> Result<Value>;
}

/// A side of the script that is being played.
pub struct Player<'s, H> {
    /// The host.
    pub host: H,
    /// Values of the placeholders.
    pub names: Names,
    /// The peer.
    pub link: Link,
    script: &'s Script,
    session: &'s Value,
    /// The step being played.
    at: String,
    open: HashMap<&'s str, (&'s Call, Id)>,
    updates: u64,
    messages: Checksum,
}

impl<'s, H: Host> Player<'s, H> {
    /// A player at the first step.
    pub fn new(script: &'s Script, host: H, link: Link, names: Names) -> Result<Self> {
        Ok(Player {
            host,
            names,
            link,
            script,
            session: script.session()?,
            at: String::new(),
            open: HashMap::new(),
            updates: 0,
            messages: Checksum::default(),
        })
    }

    /// Plays the whole script; the number of updates.
    pub fn play(&mut self) -> Result<u64> {
        let script = self.script;
        self.steps(&script.steps, "/steps").map_err(|failure| failure.at(&self.at))?;
        self.link.flush()?;
        let (bytes, digits) = (self.messages.bytes(), self.messages.digits());
        let totals = json!({"updates": self.updates, "messageBytes": bytes, "messageFnv1a32": digits});
        compare("", &script.totals, &totals).map_err(|failure| failure.at("/totals"))?;
        Ok(self.updates)
    }

    /// Waits for the end of the stream; anything else is a difference.
    pub fn finish(&mut self) -> Result<()> {
        let closed = match self.take() {
            Ok(Event::Closed(closed)) => closed,
            Ok(event) => fail!("after the last step: {}", name(&event)),
            Err(failure) => return Err(failure.at("after the last step")),
        };
        if !closed.unanswered.is_empty() || !closed.terminals.is_empty() {
            let (requests, terminals) = (closed.unanswered.len(), closed.terminals.len());
            fail!("at the end, {requests} requests have no answer and {terminals} terminals were not released");
        }
        Ok(())
    }

    fn steps(&mut self, steps: &'s [Step], place: &str) -> Result<()> {
        for (index, step) in steps.iter().enumerate() {
            let at = format!("{place}/{index}");
            self.at.clone_from(&at);
            let mine = step.by == H::SIDE;
            match &step.act {
                Act::Call(call) if mine => self.ask(call, &at)?,
                Act::Call(call) => self.serve(call, &at)?,
                Act::Notify { notify, params } => {
                    let params = self.names.fill(params);
                    self.tell(mine, notify, &params)?;
                }
                Act::Chunks(chunks) => self.chunks(mine, chunks)?,
                Act::Answer { answer } => {
                    let open = self.open.remove(answer.as_str());
                    let Some((call, id)) = open else { fail!("no request is open as {answer}") };
                    if mine {
                        self.answered(call, &id)?;
                    } else {
                        self.result(call, &id)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// A request of this host's.
    fn ask(&mut self, call: &'s Call, at: &str) -> Result<()> {
        let mut params = self.names.fill(&call.params);
        if call.method == "initialize" {
            params["clientInfo"] =
                json!({"name": H::NAME, "version": env!("CARGO_PKG_VERSION"), "_meta": {EXACT.0: EXACT.1}});
        }
        let id = self.link.connection.request(&call.method, &params.to_string())?;
        if let Some(name) = &call.open {
            self.open.insert(name, (call, id));
            return Ok(());
        }
        self.steps(&call.during, &format!("{at}/during"))?;
        at.clone_into(&mut self.at);
        self.result(call, &id)
    }

    /// The end of a request of this host's.
    fn result(&mut self, call: &Call, id: &Id) -> Result<()> {
        let response = match self.take()? {
            Event::Response(response) if response.id == *id => response,
            event => fail!("expected the result of {}, got {}", call.method, name(&event)),
        };
        let result = match &response.outcome {
            Outcome::Result(_) => response.outcome.result_as::<Value>()?.unwrap_or_default(),
            Outcome::Error(error) => fail!("{} failed: {error}", call.method),
            other => fail!("{} ended without a result: {}", call.method, other.name()),
        };
        if call.method == "initialize" {
            named("agentInfo", &result["agentInfo"])?;
            match exact(&result["agentInfo"]) {
                Some(number) if *number != json!(EXACT.1) => {
                    fail!("/agentInfo/_meta/{}: expected {}, got {number}", EXACT.0.replace('/', "~1"), EXACT.1)
                }
                _ => {}
            }
        }
        compare(&call.method, &call.result, &result)
    }

    /// A request of the other side's.
    fn serve(&mut self, call: &'s Call, at: &str) -> Result<()> {
        let request: Request = match self.take()? {
            Event::Request(request) if request.method == call.method => request,
            event => fail!("expected the request {}, got {}", call.method, name(&event)),
        };
        let params: Value = request.params_as()?;
        self.host.learn(&call.method, &params, &mut self.names)?;
        compare(&call.method, &self.names.fill(&call.params), &params)?;
        if let Some(name) = &call.open {
            self.open.insert(name, (call, request.id));
            return Ok(());
        }
        self.steps(&call.during, &format!("{at}/during"))?;
        at.clone_into(&mut self.at);
        let mut result = self.host.perform(call, &params)?;
        compare(&call.method, &self.names.fill(&call.result), &result)?;
        if call.method == "initialize" {
            named("clientInfo", &params["clientInfo"])?;
            result["agentInfo"] = json!({"name": H::NAME, "version": env!("CARGO_PKG_VERSION")});
            if let Some(number) = exact(&params["clientInfo"]) {
                result["agentInfo"]["_meta"] = json!({EXACT.0: number});
            }
        }
        Ok(self.link.connection.respond(&request.id, &result.to_string())?)
    }

    /// An open request of the other side's gets its answer: the core gives it when the turn is cancelled.
    fn answered(&mut self, call: &Call, id: &Id) -> Result<()> {
        match self.take()? {
            Event::Answered(answered) if answered.id == *id => {}
            event => fail!("expected that {} has been answered, got {}", call.method, name(&event)),
        }
        compare(&call.method, &call.result, &json!({"outcome": {"outcome": "cancelled"}}))
    }

    /// A notification, from either side; its params as they came.
    fn tell(&mut self, mine: bool, method: &str, params: &Value) -> Result<()> {
        self.updates += u64::from(method == "session/update");
        if mine {
            return Ok(self.link.connection.notify(method, &params.to_string())?);
        }
        match self.take()? {
            Event::Notification(notification) if notification.method == method => {
                let came: Value = notification.params_as()?;
                compare(method, params, &came)
            }
            event => fail!("expected the notification {method}, got {}", name(&event)),
        }
    }

    fn chunks(&mut self, mine: bool, chunks: &Chunks) -> Result<()> {
        let (mut count, mut sum) = (0, Checksum::default());
        for text in chunks.chunks.iter().flat_map(crate::script::Text::all) {
            // Compared as a whole, so what came is the text that is summed up here.
            self.tell(
                mine,
                "session/update",
                &json!({
                    "sessionId": self.session,
                    "update": {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}},
                }),
            )?;
            count += 1;
            sum.add(text.as_bytes());
            self.messages.add(text.as_bytes());
        }
        let counted = json!({"count": count, "bytes": sum.bytes(), "fnv1a32": sum.digits()});
        compare("", &chunks.expected(), &counted)
    }

    /// The next event but violations: those are told, and nothing of them is lost, so the play goes on.
    fn take(&mut self) -> Result<Event> {
        loop {
            match self.link.event()? {
                Event::Violation(violation) => eprintln!("{}", shown(&told(&violation).to_string())),
                event => return Ok(event),
            }
        }
    }
}

/// What the peer did wrong, as one line of JSON.
fn told(violation: &Violation) -> Value {
    let method = violation.method.as_deref().unwrap_or_default();
    json!({
        "violation": violation.rule,
        "method": method,
        "pointer": violation.pointer,
        "message": violation.message,
    })
}

/// `initialize` names its sender.
fn named(member: &str, info: &Value) -> Result<()> {
    for part in ["name", "version"] {
        if info[part].as_str().is_none_or(str::is_empty) {
            fail!("/{member}/{part}: expected a text that is not empty, got {}", info[part]);
        }
    }
    Ok(())
}

/// The exact number in the information about a host.
fn exact(info: &Value) -> Option<&Value> {
    info["_meta"].get(EXACT.0)
}

/// What an event is, for messages.
fn name(event: &Event) -> String {
    match event {
        Event::Request(request) => format!("the request {}", request.method),
        Event::Notification(told) => format!("the notification {}", told.method),
        Event::Response(response) => format!("the end of {}", response.method),
        Event::Closed(_) => "the end of the stream".to_owned(),
        other => format!("the event {}", other.name()),
    }
}
