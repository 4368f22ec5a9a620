//! The actions of handlers.

use std::future::pending;

use libacp::aio::{AgentPeer, AgentSession, Call, ClientPeer, ClientSession, Ending, Error, Failure, Tell, Turn};
use libacp::schema::{v1, v2, Message, Raw};
use libacp::Id;
use serde::Serialize;
use serde_json::{json, Value};

use super::inside::{display, terminal, tool_call};
use super::world::{done, failure, Waits, World};

/// What a handler is about.
pub(super) enum Subject {
    Turn(Turn),
    Session(AgentSession),
    Client(ClientPeer),
    Open(ClientSession),
    Agent(AgentPeer),
}

impl Subject {
    pub(super) fn session(&self) -> Option<&str> {
        match self {
            Subject::Turn(turn) => Some(turn.session().id()),
            Subject::Session(session) => Some(session.id()),
            Subject::Open(session) => Some(session.id()),
            Subject::Client(_) | Subject::Agent(_) => None,
        }
    }

    fn request(&self, method: String, params: &Value) -> Call<Raw<'static>> {
        match self {
            Subject::Turn(turn) => turn.session().request(method, params),
            Subject::Session(session) => session.request(method, params),
            Subject::Open(session) => session.request(method, params),
            Subject::Client(client) => client.request(method, params),
            Subject::Agent(agent) => agent.request(method, params),
        }
    }

    fn notify(&self, method: String, params: &Value) -> Tell {
        match self {
            Subject::Turn(turn) => turn.session().notify(method, params),
            Subject::Session(session) => session.notify(method, params),
            Subject::Open(session) => session.notify(method, params),
            Subject::Client(client) => client.notify(method, params),
            Subject::Agent(agent) => agent.notify(method, params),
        }
    }

    async fn update(&self, update: &v1::SessionUpdate<'_>) -> Result<(), Error> {
        match self {
            Subject::Turn(turn) => turn.update(update).await,
            Subject::Session(session) => session.update(update).await,
            _ => panic!("only agents' sessions have updates"),
        }
    }

    fn set_data(&self, data: Value) {
        match self {
            Subject::Turn(turn) => turn.session().set_data(data),
            Subject::Session(session) => session.set_data(data),
            Subject::Open(session) => session.set_data(data),
            _ => panic!("only sessions have data"),
        }
    }

    fn data(&self) -> Value {
        let data = match self {
            Subject::Turn(turn) => turn.session().data::<Value>(),
            Subject::Session(session) => session.data(),
            Subject::Open(session) => session.data(),
            _ => panic!("only sessions have data"),
        };
        data.map_or(Value::Null, |data| (*data).clone())
    }

    fn own(&self) -> &AgentSession {
        match self {
            Subject::Turn(turn) => turn.session(),
            Subject::Session(session) => session,
            _ => panic!("this is for agents' sessions"),
        }
    }

    pub(super) fn turn(&self) -> &Turn {
        match self {
            Subject::Turn(turn) => turn,
            _ => panic!("this is for turns"),
        }
    }
}

/// The event that a handler begins.
pub(super) fn beginning(method: &str, session: Option<&str>, id: Option<&Id>, params: &Value) -> Value {
    let mut event = json!({"handler": method, "params": params});
    if let Some(session) = session {
        event["session"] = json!(session);
    }
    if let Some(id) = id {
        event["id"] = serde_json::from_str(&id.to_json()).unwrap();
    }
    event
}

pub(super) fn begun(world: &World, method: &str, session: Option<&str>, id: Option<&Id>, params: &impl Serialize) {
    world.tell(beginning(method, session, id, &serde_json::to_value(params).unwrap()));
}

/// How a turn ends, from what its handler returns.
pub(super) fn ending(returned: Option<Value>) -> Result<Ending, Failure> {
    match returned {
        None => Ok(().into()),
        Some(Value::String(reason)) => Ok(read::<v1::StopReason<'static>>(&json!(reason)).into()),
        Some(whole) => Ok(v1::PromptResponse::detached(&whole.to_string())?.into()),
    }
}

/// Does what a handler does; what it returns.
pub(super) async fn act(
    world: &World,
    method: &str,
    subject: &Subject,
    actions: &[Value],
) -> Result<Option<Value>, Failure> {
    for action in actions {
        let name = action["as"].as_str();
        let with = world.fill(&action["with"]);
        if let Some(returned) = action.get("return") {
            return Ok(Some(world.fill(returned)).filter(|returned| !returned.is_null()));
        } else if action.get("fail").or(action.get("raise")).is_some() {
            return Err(failure(action));
        } else if let Some(update) = action.get("update") {
            subject.update(&read(&world.fill(update))).await?;
        } else if let Some(data) = action.get("data") {
            subject.set_data(data.clone());
        } else if action["see"] == "data" {
            world.tell(json!({"data": subject.data()}));
        } else if let Some(label) = action["wait"].as_str() {
            let mut waits = Waits(world, method, false);
            if label == "cancelled" {
                pending::<()>().await;
            }
            world.wait(label).await;
            waits.2 = true;
        } else if let Some(what) = action["request"].as_str() {
            let params = if with.is_null() { json!({}) } else { with };
            let answer = subject.request(what.to_owned(), &params).await;
            tell(world, name, answer.map(|raw| serde_json::from_str(raw.as_str()).unwrap()))?;
        } else if let Some(what) = action["notify"].as_str() {
            subject.notify(what.to_owned(), &with).await?;
        } else if let Some(what) = action["do"].as_str() {
            convenience(world, method, subject, what, name, &with).await?;
        }
    }
    Ok(None)
}

/// With a name, how it ended is told; without one, an error is the handler's.
pub(super) fn tell(world: &World, name: Option<&str>, result: Result<Value, Error>) -> Result<(), Failure> {
    match name {
        Some(name) => world.tell(done(name, result)),
        None => drop(result?),
    }
    Ok(())
}

async fn convenience(
    world: &World,
    method: &str,
    subject: &Subject,
    what: &str,
    name: Option<&str>,
    with: &Value,
) -> Result<(), Failure> {
    let text = |member: &str| with[member].as_str().unwrap_or_default();
    match what {
        "background" => {
            let item = v2::BackgroundTerminal::new(text("terminal"));
            return tell(world, name, subject.own().background(item).await.map(|()| Value::Null));
        }
        "plan" if with.get("id").is_some() => {
            let steps = with["entries"].as_array().unwrap().iter().map(read::<v1::PlanEntry<'static>>);
            return tell(world, name, subject.own().plan(text("id")).set(steps).await.map(|()| Value::Null));
        }
        "remove_plan" => return tell(world, name, subject.own().plan(text("id")).remove().await.map(|()| Value::Null)),
        _ => {}
    }
    let turn = subject.turn();
    let result = match what {
        "hold" => turn.hold().map(|()| Value::Null),
        "insert" => turn.insert().await.map(|()| Value::Null),
        "display_terminal" => return Box::pin(display(world, method, subject, with)).await,
        "message" | "thought" => say(turn, what, with).await.map(|()| Value::Null),
        "plan" => match with["entries"].as_array().unwrap() {
            steps if steps.iter().all(Value::is_string) => {
                turn.plan(steps.iter().map(|step| step.as_str().unwrap())).await
            }
            steps => turn.plan(steps.iter().map(read::<v1::PlanEntry<'static>>)).await,
        }
        .map(|()| Value::Null),
        "tool_call" => return Box::pin(tool_call(world, method, subject, with)).await,
        "terminal" => return Box::pin(terminal(world, method, subject, with)).await,
        "ask_permission" => {
            let call = read::<v1::ToolCallUpdate<'static>>(&with["tool_call"]);
            let asked = match with.get("options") {
                Some(_) => turn.ask_permission_with(call, list(&with["options"])).await,
                None => turn.ask_permission(call).await,
            };
            asked.map(|permission| outcome(&permission))
        }
        "read_text_file" => {
            let (line, limit) = (with["line"].as_u64(), with["limit"].as_u64());
            let number = |number: Option<u64>| number.map(|number| number as u32);
            let read = match (line, limit) {
                (None, None) => turn.read_text_file(text("path")).await,
                _ => turn.read_lines(text("path"), number(line), number(limit)).await,
            };
            read.map(|content| json!({"content": content}))
        }
        "write_text_file" => turn
            .write_text_file(text("path"), text("content"))
            .await
            .map(|answer| serde_json::to_value(answer).unwrap()),
        other => panic!("turns have no {other}"),
    };
    tell(world, name, result)
}

async fn say(turn: &Turn, what: &str, with: &Value) -> Result<(), Error> {
    let content = match with["text"].as_str() {
        Some(text) => text.to_owned().into(),
        None => read::<v1::ContentBlock<'static>>(&with["content"]),
    };
    let Some(id) = with["message_id"].as_str() else {
        return if what == "message" { turn.message(content).await } else { turn.thought(content).await };
    };
    let mut chunk = v1::ContentChunk::new(content);
    chunk.message_id = Some(id.to_owned().into());
    if what == "message" {
        turn.message_with(chunk).await
    } else {
        turn.thought_with(chunk).await
    }
}

/// The answer that a permission is made of.
pub(super) fn outcome(permission: &libacp::aio::Permission) -> Value {
    match &permission.option_id {
        Some(id) => json!({"outcome": {"outcome": "selected", "optionId": id}}),
        None => json!({"outcome": {"outcome": "cancelled"}}),
    }
}

pub(super) fn list(value: &Value) -> Vec<v1::PermissionOption<'static>> {
    value.as_array().unwrap().iter().map(read).collect()
}

/// JSON as a type of the protocol.
pub(super) fn read<T: Message<'static>>(value: &Value) -> T {
    T::detached(&value.to_string()).unwrap_or_else(|error| panic!("{value}: {error}"))
}
