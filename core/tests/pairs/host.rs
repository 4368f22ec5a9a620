//! What the hosts of both sides share: calls, the account of requests, and what waits for an answer.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use libacp::connection::{Connection, Event, Misuse, Notification, Outcome};
use libacp::{Config, ErrorCode, Id};
use serde_json::{json, Value};

use crate::choices::Choices;

/// `Err` says which promise was broken; `false`, that the host could not do that now.
pub(crate) type Step = Result<bool, String>;

/// A request of the peer's that the host has not answered.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) id: Id,
    pub(crate) method: String,
    /// Empty where the request is about none.
    pub(crate) session: String,
    pub(crate) params: Value,
    /// The peer has asked for it back.
    pub(crate) cancelled: bool,
    /// Its session was closed since: it is answered, and says nothing of a session that was opened again.
    pub(crate) stale: bool,
    /// The id that a session will have, where the peer has been told of it before the answer.
    pub(crate) early: Option<String>,
}

/// A request of the host's that has not ended.
#[derive(Debug, Clone)]
pub(crate) struct Sent {
    pub(crate) method: String,
    pub(crate) session: String,
    pub(crate) params: Value,
    /// Its session was closed since.
    stale: bool,
}

/// What a host answers.
#[derive(Debug)]
pub(crate) enum Answer {
    Result(Value),
    Error(ErrorCode),
}

/// Members that tell variants apart.
const TAGS: &[&str] =
    &["sessionUpdate", "state", "stopReason", "type", "operation", "outcome", "action", "mode", "status"];

pub(crate) const REFUSED: Answer = Answer::Error(ErrorCode::INTERNAL_ERROR);

/// What was said, in order, on both sides.
pub(crate) type Log = Rc<RefCell<Vec<String>>>;

#[derive(Debug)]
pub(crate) struct Base {
    pub(crate) connection: Connection,
    pub(crate) sent: HashMap<Id, Sent>,
    pub(crate) todo: Vec<Asked>,
    /// Both sides keep to the rules, so that any violation or misuse is a mistake of the core's.
    legal: bool,
    pub(crate) over: bool,
    names: usize,
    /// Moves that were made, and events of each kind.
    pub(crate) seen: BTreeMap<String, usize>,
    log: Log,
}

impl Base {
    pub(crate) fn new(config: Config, legal: bool, log: Log) -> Self {
        Base {
            connection: Connection::new(config),
            sent: HashMap::new(),
            todo: Vec::new(),
            legal,
            over: false,
            names: 0,
            seen: BTreeMap::new(),
            log,
        }
    }

    pub(crate) fn count(&mut self, what: &str) {
        *self.seen.entry(what.to_owned()).or_default() += 1;
    }

    /// Counts the variants in what was sent: the member that has the value, the tag, and the variant.
    fn tally(&mut self, member: &str, value: &Value) {
        for item in value.as_array().into_iter().flatten() {
            self.tally(member, item);
        }
        for (name, value) in value.as_object().into_iter().flatten() {
            if let Some(variant) = value.as_str().filter(|_| TAGS.contains(&&**name)) {
                self.count(&format!("{member} {name} {variant}"));
            }
            self.tally(name, value);
        }
    }

    /// A session is closed: what is open is about one that is gone, but a fork opens one that is not.
    pub(crate) fn leave(&mut self, session: &str) {
        self.todo.iter_mut().filter(|asked| asked.session == session).for_each(|asked| asked.stale = true);
        let about = |sent: &&mut Sent| sent.session == session && sent.method != "session/fork";
        self.sent.values_mut().filter(about).for_each(|sent| sent.stale = true);
    }

    fn say(&self, what: &str) {
        self.log.borrow_mut().push(format!("{}: {what}", self.connection.role().name()));
    }

    /// A name that this host has not used yet.
    pub(crate) fn name(&mut self, kind: &str) -> String {
        self.names += 1;
        format!("{kind}-{}", self.names)
    }

    pub(crate) fn ready(&self) -> bool {
        self.connection.phase() == libacp::connection::Phase::Ready
    }

    /// Sends a request; `false` when the peer is a bad one and the request was refused.
    pub(crate) fn request(&mut self, method: &str, params: Value) -> Step {
        let before = self.connection.transmit().len();
        match self.connection.request(method, &params.to_string()) {
            Ok(id) => {
                self.say(&format!("requests {method} {params}"));
                self.count(&format!("sent {method}"));
                self.tally("params", &params);
                let session = params["sessionId"].as_str().unwrap_or_default().to_owned();
                let before =
                    self.sent.insert(id.clone(), Sent { method: method.into(), session, params, stale: false });
                before.is_none().then_some(true).ok_or_else(|| format!("the id {id} is in use"))
            }
            Err(misuse) => self.misused(method, &params, &misuse, before),
        }
    }

    pub(crate) fn notify(&mut self, method: &str, params: &Value) -> Step {
        let before = self.connection.transmit().len();
        match self.connection.notify(method, &params.to_string()) {
            Ok(()) => {
                self.say(&format!("notifies {method} {params}"));
                self.count(&format!("sent {method}"));
                self.tally("params", params);
                Ok(true)
            }
            Err(misuse) => self.misused(method, params, &misuse, before),
        }
    }

    pub(crate) fn reply(&mut self, asked: &Asked, answer: Answer) -> Step {
        let before = self.connection.transmit().len();
        self.say(&format!("answers {} {answer:?}", asked.method));
        let (done, said) = match answer {
            Answer::Result(result) => (self.connection.respond(&asked.id, &result.to_string()), result),
            Answer::Error(code) => {
                let message = if code == ErrorCode::REQUEST_CANCELLED { "given up" } else { "no" };
                (self.connection.respond_error(&asked.id, code, message, None), Value::Null)
            }
        };
        match done {
            Ok(()) if self.connection.respond(&asked.id, "{}").is_ok() => Err("an answer twice".into()),
            Ok(()) => {
                self.tally("result", &said);
                Ok(true)
            }
            Err(misuse) => {
                self.misused(&format!("the answer to {}", asked.method), &said, &misuse, before)?;
                // A bad peer's request must not stay open for ever.
                let _ = self.connection.respond_error(&asked.id, ErrorCode::INTERNAL_ERROR, "no", None);
                Ok(false)
            }
        }
    }

    fn misused(&mut self, what: &str, params: &Value, misuse: &Misuse, before: usize) -> Step {
        self.count("misuse");
        if self.connection.transmit().len() != before {
            return Err(format!("{what} was refused, and something was sent: {misuse}"));
        }
        if self.legal {
            return Err(format!("{:?}: {what} is legal: {misuse} ({params})", self.connection.role()));
        }
        Ok(false)
    }

    /// A message of the hosts' own making.
    pub(crate) fn extend(&mut self, choices: &mut Choices) -> Step {
        match (self.ready(), choices.below(2)) {
            (false, _) => Ok(false),
            (true, 0) => self.request("_x/ask", json!({"a": [1]})),
            (true, _) => self.notify("_x/tell", &json!({"b": null})),
        }
    }

    /// Takes back a request of the host's own.
    pub(crate) fn take_back(&mut self, choices: &mut Choices) -> Step {
        let mut open: Vec<Id> = self.sent.keys().cloned().collect();
        open.sort();
        let Some(id) = choices.pick(&open) else { return Ok(false) };
        self.say(&format!("takes back {id}"));
        match self.connection.cancel(id) {
            Ok(()) => {
                self.count("sent $/cancel_request");
                Ok(true)
            }
            Err(misuse) => Err(format!("cancel: {misuse}")),
        }
    }
}

/// Something that a host does, with a name to count it by.
pub(crate) type Move<H> = (&'static str, fn(&mut H, &mut Choices) -> Step);

/// One side's host.
pub(crate) trait Host: Sized + 'static {
    /// Everything that it may do, by name.
    const MOVES: &'static [Move<Self>];

    /// One that can do what the choices say; with drafts, those that both sides know are on.
    fn new(config: Config, drafts: bool, base: impl FnOnce(Config) -> Base, choices: &mut Choices) -> Self;

    fn base(&mut self) -> &mut Base;
    /// The peer tells something.
    fn told(&mut self, told: &Notification);
    /// The peer asks something; what must be known before the answer.
    fn asked(&mut self, asked: &Asked);
    /// The peer asks for something back.
    fn cancelled(&mut self, _asked: &Asked) {}
    /// A request of the host's has ended.
    fn ended(&mut self, sent: &Sent, outcome: &Outcome);
    /// What to answer to one that is no longer among the open ones.
    fn answer(&mut self, asked: &Asked, choices: &mut Choices) -> Result<Answer, String>;
    /// Ends something that nobody waits for and that would go on; `false` when nothing does.
    fn rest(&mut self, _: &mut Choices) -> Step {
        Ok(false)
    }
    /// Gives back what the other side keeps for it.
    fn give_back(&mut self) -> Result<(), String> {
        Ok(())
    }

    fn act(&mut self, choices: &mut Choices) -> Result<(), String> {
        let (name, act) = Self::MOVES[choices.below(Self::MOVES.len())];
        if !self.base().over && act(self, choices)? {
            self.base().count(name);
        }
        self.drain()
    }

    /// Answers one of the open requests.
    fn answer_one(&mut self, choices: &mut Choices) -> Step {
        let waiting = self.base().todo.len();
        if waiting == 0 {
            return Ok(false);
        }
        let asked = self.base().todo.remove(choices.below(waiting));
        let answer = self.answer(&asked, choices)?;
        self.base().reply(&asked, answer)
    }

    /// Takes all events.
    fn drain(&mut self) -> Result<(), String> {
        while let Some(event) = self.base().connection.poll_event() {
            self.base().count(event.name());
            if self.base().over {
                return Err(format!("an event after the last: {event:?}"));
            }
            self.event(event)?;
        }
        Ok(())
    }

    fn event(&mut self, event: Event) -> Result<(), String> {
        self.base().say(&format!("sees {event:?}"));
        match event {
            Event::Request(request) => {
                let params = serde_json::from_str(request.params()).unwrap_or_default();
                let asked = Asked {
                    id: request.id.clone(),
                    method: request.method.to_string(),
                    session: request.session.as_deref().unwrap_or_default().to_owned(),
                    params,
                    cancelled: false,
                    stale: false,
                    early: None,
                };
                if self.base().todo.iter().any(|open| open.id == asked.id) {
                    return Err(format!("an open id was delivered again: {}", asked.id));
                }
                self.asked(&asked);
                self.base().todo.push(asked);
            }
            Event::Notification(told) => self.told(&told),
            Event::Response(response) => {
                let Some(sent) = self.base().sent.remove(&response.id) else {
                    return Err(format!("ended twice: {} {}", response.method, response.id));
                };
                if !sent.stale {
                    self.ended(&sent, &response.outcome);
                }
            }
            Event::Cancel(cancel) => {
                let open = self.base().todo.iter_mut().find(|asked| asked.id == cancel.id);
                let Some(asked) = open else { return Err(format!("cancels what is not open: {cancel:?}")) };
                asked.cancelled = true;
                let asked = asked.clone();
                self.cancelled(&asked);
            }
            Event::Answered(answered) => {
                let open = self.base().todo.iter().position(|asked| asked.id == answered.id);
                let Some(open) = open else { return Err(format!("answers what is not open: {answered:?}")) };
                self.base().todo.remove(open);
            }
            Event::Violation(violation) if self.base().legal => {
                return Err(format!(
                    "{:?} says that its peer broke a rule: {violation:?}",
                    self.base().connection.role()
                ));
            }
            Event::Violation(_) => {}
            Event::Advice(advice) => self.base().count(&format!("advice {}", advice.rule)),
            Event::Closed(_) => self.base().over = true,
            other => return Err(format!("{other:?}")),
        }
        Ok(())
    }
}
