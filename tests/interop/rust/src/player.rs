//! Plays one role of the script: sends its steps, waits for the other role's and compares them.
//!
//! Everything that arrives (requests, notifications, results) passes through one queue in the order in which the SDK
//! hands it over, and must be what the script has next. Read next: `bin/client.rs`, `bin/agent.rs`.

use std::collections::{BTreeMap, HashMap};

use agent_client_protocol::v1::Responder;
use agent_client_protocol::Error;
use futures::channel::mpsc::{unbounded, UnboundedReceiver, UnboundedSender};
use futures::future::{FutureExt, LocalBoxFuture};
use futures::StreamExt;
use serde_json::{json, Value};

use crate::script::{difference, fill, Act, Checksum, Chunks, Failure, Request, Role, Script, Step};
use crate::Outcome;

/// Something that arrived.
pub enum Event {
    Request(String, Value, Responder),
    Notification(String, Value),
    Result(String, Result<Value, Error>),
    End,
}

impl Event {
    fn name(&self) -> String {
        match self {
            Event::Request(method, ..) => format!("request {method}"),
            Event::Notification(method, _) => format!("notification {method}"),
            Event::Result(at, _) => format!("result {at}"),
            Event::End => "end of stream".to_owned(),
        }
    }
}

/// What a role does in its own way.
pub trait Io {
    /// Sends a request; its result goes to `outcome`.
    fn request(&mut self, method: &str, params: Value, outcome: Outcome) -> Result<(), Failure>;
    /// Sends a notification.
    fn notify(&mut self, method: &str, params: Value) -> Result<(), Failure>;
    /// Makes the result for a request of the other role.
    fn perform(
        &mut self,
        method: &str,
        params: Value,
        expected: &Value,
    ) -> impl std::future::Future<Output = Result<Value, Failure>>;
    /// Learns placeholders from a request before it is compared.
    fn bind(&mut self, method: &str, params: &Value, names: &mut BTreeMap<String, String>) -> Result<(), Failure>;
}

/// A request that stays open until an `answer` step.
struct Open {
    at: String,
    request: Request,
    responder: Option<Responder>,
}

/// One role of the script in progress.
pub struct Player<I> {
    pub io: I,
    pub names: BTreeMap<String, String>,
    pub updates: u64,
    role: Role,
    session: Value,
    at: String,
    messages: Checksum,
    open: HashMap<String, Open>,
    queue: UnboundedReceiver<Event>,
    sender: UnboundedSender<Event>,
}

/// The queue between the SDK's handlers and a player.
pub fn queue() -> (UnboundedSender<Event>, UnboundedReceiver<Event>) {
    unbounded()
}

/// Says so when `initialize` does not name its sender.
pub fn require_name(member: &str, info: &Value) -> Result<(), Failure> {
    let filled = |key: &str| info[key].as_str().is_some_and(|text| !text.is_empty());
    if filled("name") && filled("version") {
        return Ok(());
    }
    Err(Failure(format!("{member} lacks a name or a version")))
}

impl<I: Io> Player<I> {
    pub fn new(role: Role, io: I, sender: UnboundedSender<Event>, queue: UnboundedReceiver<Event>) -> Self {
        Player {
            io,
            names: BTreeMap::new(),
            updates: 0,
            role,
            session: Value::Null,
            at: String::new(),
            messages: Checksum::default(),
            open: HashMap::new(),
            queue,
            sender,
        }
    }

    /// Plays the whole script; a failure names the step it happened in.
    pub async fn run(&mut self, script: &Script) -> Result<(), Failure> {
        let session = script.steps.iter().find_map(|step| match &step.act {
            Act::Request(request) => request.result.get("sessionId").cloned(),
            _ => None,
        });
        self.session = session.ok_or_else(|| Failure("the script starts no session".to_owned()))?;
        self.play(&script.steps, "/steps".to_owned()).await.map_err(|Failure(what)| {
            let colon = if what.starts_with(['/', ':']) { "" } else { ": " };
            Failure(format!("{}{colon}{what}", self.at))
        })?;
        let totals = json!({
            "updates": self.updates,
            "messageBytes": self.messages.bytes,
            "messageFnv1a32": self.messages.fnv1a32(),
        });
        compare(&script.totals, &totals, "").map_err(|Failure(what)| Failure(format!("totals{what}")))
    }

    /// Waits for the end of the stream; anything else is a failure.
    pub async fn finish(&mut self) -> Result<(), Failure> {
        match self.queue.next().await {
            Some(Event::End) | None => Ok(()),
            Some(event) => Err(Failure(format!("end: unexpected {}", event.name()))),
        }
    }

    /// Fails if anything came that nobody waited for.
    pub fn expect_empty(&mut self) -> Result<(), Failure> {
        match self.queue.try_recv() {
            Ok(Event::End) | Err(_) => Ok(()),
            Ok(event) => Err(Failure(format!("end: unexpected {}", event.name()))),
        }
    }

    fn play<'a>(&'a mut self, steps: &'a [Step], path: String) -> LocalBoxFuture<'a, Result<(), Failure>> {
        async move {
            for (index, step) in steps.iter().enumerate() {
                let at = format!("{path}/{index}");
                self.at.clone_from(&at);
                match &step.act {
                    Act::Request(request) => self.request(step.by, request, at).await?,
                    Act::Notify { notify, params } => drop(self.notify(step.by, notify, params).await?),
                    Act::Chunks(chunks) => self.chunks(step.by, chunks).await?,
                    Act::Answer { answer } => self.answer(answer).await?,
                }
            }
            Ok(())
        }
        .boxed_local()
    }

    async fn take(&mut self) -> Event {
        self.queue.next().await.unwrap_or(Event::End)
    }

    async fn notify(&mut self, by: Role, method: &str, template: &Value) -> Result<Value, Failure> {
        self.updates += u64::from(method == "session/update");
        let params = fill(template, &self.names);
        if by == self.role {
            self.io.notify(method, params.clone())?;
            return Ok(params);
        }
        match self.take().await {
            Event::Notification(name, came) if name == method => {
                compare(&params, &came, method)?;
                Ok(came)
            }
            other => Err(unexpected(method, &other)),
        }
    }

    async fn chunks(&mut self, by: Role, step: &Chunks) -> Result<(), Failure> {
        let mut sum = Checksum::default();
        let mut count = 0;
        for text in step.chunks.iter().flat_map(crate::script::Text::expand) {
            let content = json!({"type": "text", "text": text});
            let update = json!({"sessionUpdate": "agent_message_chunk", "content": content});
            let params = json!({"sessionId": self.session, "update": update});
            let came = self.notify(by, "session/update", &params).await?;
            let text = came["update"]["content"]["text"].as_str().unwrap_or_default().as_bytes();
            sum.add(text);
            self.messages.add(text);
            count += 1;
        }
        let expected = json!({"count": step.count, "bytes": step.bytes, "fnv1a32": step.fnv1a32});
        compare(&expected, &json!({"count": count, "bytes": sum.bytes, "fnv1a32": sum.fnv1a32()}), "")
    }

    async fn answer(&mut self, name: &str) -> Result<(), Failure> {
        let open = self.open.remove(name).ok_or_else(|| Failure(format!("nothing is open as {name}")))?;
        match open.responder {
            Some(responder) => Ok(responder.respond(open.request.result)?),
            None => self.result(&open.request, &open.at).await,
        }
    }

    async fn request(&mut self, by: Role, step: &Request, at: String) -> Result<(), Failure> {
        let method = step.request.as_str();
        let params = fill(&step.params, &self.names);
        let mut came = Value::Null;
        let mut responder = None;
        if by == self.role {
            let outcome = Outcome { at: at.clone(), queue: self.sender.clone() };
            self.io.request(method, params, outcome)?;
        } else {
            match self.take().await {
                Event::Request(name, value, answer) if name == method => {
                    self.io.bind(method, &value, &mut self.names)?;
                    compare(&fill(&step.params, &self.names), &value, method)?;
                    (came, responder) = (value, Some(answer));
                }
                other => return Err(unexpected(method, &other)),
            }
        }
        if let Some(name) = &step.open {
            self.open.insert(name.clone(), Open { at, request: step.clone(), responder });
            return Ok(());
        }
        self.play(&step.during, format!("{at}/during")).await?;
        self.at.clone_from(&at);
        let Some(responder) = responder else {
            return self.result(step, &at).await;
        };
        let result = self.io.perform(method, came, &step.result).await?;
        compare(&step.result, &result, method)?;
        Ok(responder.respond(result)?)
    }

    async fn result(&mut self, step: &Request, at: &str) -> Result<(), Failure> {
        match self.take().await {
            Event::Result(place, Ok(value)) if place == at => {
                if step.request == "initialize" {
                    require_name("agentInfo", &value["agentInfo"])?;
                }
                compare(&step.result, &value, &step.request)
            }
            Event::Result(place, Err(error)) if place == at => {
                Err(Failure(format!("{} failed: {error}", step.request)))
            }
            other => Err(unexpected(&format!("the result of {}", step.request), &other)),
        }
    }
}

fn unexpected(expected: &str, came: &Event) -> Failure {
    Failure(format!("expected {expected}, got {}", came.name()))
}

fn compare(expected: &Value, actual: &Value, method: &str) -> Result<(), Failure> {
    difference(expected, actual, method.starts_with('_')).map_or(Ok(()), |found| Err(Failure(found)))
}
