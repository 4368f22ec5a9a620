//! The actions of handlers.

use std::future::pending;

use libacp::aio::{
    AgentPeer, AgentSession, Call, ClientPeer, ClientSession, DisplayTerminal, Ending, Error, Failure, Tell, Terminal,
    Turn,
};
use libacp::schema::{v1, v2, IntoOwned, Message, Patch, Raw};
use libacp::Id;
use serde::Serialize;
use serde_json::{json, Value};

use super::world::{done, failed, failure, Waits, World};

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

    fn turn(&self) -> &Turn {
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
fn tell(world: &World, name: Option<&str>, result: Result<Value, Error>) -> Result<(), Failure> {
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
        "work" => return Box::pin(work(world, method, subject, name, with)).await,
        "background" => return tell(world, name, background(subject.own(), with).await.map(|()| Value::Null)),
        "plan" if with.get("id").is_some() => {
            let plan = subject.own().plan(text("id"));
            let steps = || with["entries"].as_array().unwrap().iter().map(read::<v1::PlanEntry<'static>>);
            let told = if with["remove"] == true { plan.remove().await } else { plan.set(steps()).await };
            return tell(world, name, told.map(|()| Value::Null));
        }
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

async fn tool_call(world: &World, method: &str, subject: &Subject, with: &Value) -> Result<(), Failure> {
    let turn = subject.turn();
    let mut json = with.clone();
    let members = json.as_object_mut().unwrap();
    let then = members.remove("then").unwrap_or_default();
    for (ours, theirs) in [("id", "toolCallId"), ("raw_input", "rawInput")] {
        if let Some(value) = members.remove(ours) {
            members.insert(theirs.to_owned(), value);
        }
    }
    let mut call = if members.keys().all(|name| name == "title" || name == "kind") && members.contains_key("kind") {
        turn.tool_call(with["title"].as_str().unwrap(), read(&with["kind"])).await?
    } else {
        let made_up = json!(format!("made-up-{}", members.len()));
        members.entry("toolCallId").or_insert(made_up);
        members.entry("status").or_insert(json!("in_progress"));
        turn.tool_call_with(read(&json)).await?
    };
    for action in then.as_array().into_iter().flatten() {
        let (with, name) = (world.fill(&action["with"]), action["as"].as_str());
        let text = |member: &str| with[member].as_str().unwrap_or_default();
        match action["do"].as_str() {
            Some("text") => call.text(text("text")).await?,
            Some("diff") => call.diff(text("path"), text("new_text"), with["old_text"].as_str()).await?,
            Some("change") => {
                let mut changes = with.clone();
                changes["toolCallId"] = json!(call.id());
                call.update(read(&changes)).await?;
            }
            Some("append") => call.append(read::<v1::ToolCallContent<'static>>(&with["content"])).await?,
            Some("cancelled") => {
                call.cancelled().await?;
                return Ok(());
            }
            Some("complete") => {
                match with.get("raw_output") {
                    Some(output) => call.complete_with(Raw::of(output)?).await?,
                    None => call.complete().await?,
                }
                return Ok(());
            }
            Some("fail") => {
                call.fail(text("text")).await?;
                return Ok(());
            }
            Some("ask_permission") => {
                let asked = match with.get("options") {
                    Some(options) => call.ask_permission_with(list(options)).await,
                    None => call.ask_permission().await,
                };
                let refused = asked.as_ref().is_ok_and(|permission| !permission.allowed);
                tell(world, name, asked.map(|permission| outcome(&permission)))?;
                if refused {
                    // Dropped, it has failed.
                    return Ok(());
                }
            }
            _ => {
                act(world, method, subject, std::slice::from_ref(action)).await?;
            }
        }
    }
    Ok(call.complete().await?)
}

async fn terminal(world: &World, method: &str, subject: &Subject, with: &Value) -> Result<(), Failure> {
    let turn = subject.turn();
    let command = with["command"].as_str().unwrap();
    let args: Vec<&str> = with["args"].as_array().into_iter().flatten().map(|arg| arg.as_str().unwrap()).collect();
    let plain = with.as_object().unwrap().keys().all(|name| ["command", "args", "then"].contains(&name.as_str()));
    let terminal: Terminal = if plain {
        turn.terminal(command, args).await?
    } else {
        let mut request = v1::CreateTerminalRequest::new(turn.session().id(), command);
        request.args = args.into_iter().map(Into::into).collect();
        let env = with["env"].as_object().into_iter().flatten();
        request.env = env.map(|(name, value)| v1::EnvVariable::new(name.as_str(), value.as_str().unwrap())).collect();
        request.cwd = with["cwd"].as_str().map(Into::into);
        request.output_byte_limit = with["output_byte_limit"].as_u64();
        turn.terminal_with(request.into_owned()).await?
    };
    for action in with["then"].as_array().into_iter().flatten() {
        let name = action["as"].as_str();
        match action["do"].as_str() {
            Some("wait") => tell(world, name, terminal.wait().await.map(|end| serde_json::to_value(end).unwrap()))?,
            Some("output") => tell(world, name, terminal.output().await.map(|end| serde_json::to_value(end).unwrap()))?,
            Some("kill") => tell(world, name, terminal.kill().await.map(|end| serde_json::to_value(end).unwrap()))?,
            _ => {
                act(world, method, subject, std::slice::from_ref(action)).await?;
            }
        }
    }
    Ok(terminal.release().await?)
}

async fn work(world: &World, method: &str, subject: &Subject, name: Option<&str>, with: &Value) -> Result<(), Failure> {
    let then = with["then"].as_array().unwrap();
    let body = async |turn: Turn| ending(act(world, method, &Subject::Turn(turn), then).await?);
    match (subject.own().work(body).await, name) {
        (Ok(()), None) => {}
        (Ok(()), Some(name)) => world.tell(done(name, Ok(Value::Null))),
        (Err(failure), None) => return Err(failure),
        (Err(failure), Some(name)) => world.tell(failed(name, &failure)),
    }
    Ok(())
}

async fn background(session: &AgentSession, with: &Value) -> Result<(), Error> {
    let item = match with["tool_call"].as_str() {
        Some(id) => v2::BackgroundToolCall::new(id).into(),
        None => v2::BackgroundWork::from(v2::BackgroundTerminal::new(with["terminal"].as_str().unwrap())),
    };
    session.background(item).await
}

async fn display(world: &World, method: &str, subject: &Subject, with: &Value) -> Result<(), Failure> {
    let mut update = v2::TerminalUpdate::new(with["id"].as_str().unwrap_or_default());
    update.command = Patch::Value(with["command"].as_str().unwrap().into());
    if let Some(cwd) = with["cwd"].as_str() {
        update.cwd = Patch::Value(cwd.into());
    }
    let terminal: DisplayTerminal = subject.turn().display_terminal_with(update).await?;
    for action in with["then"].as_array().into_iter().flatten() {
        let with = &action["with"];
        match action["do"].as_str() {
            Some("write") if with.get("base64").is_some() => {
                // The vectors have this one.
                assert_eq!(with["base64"], "/w==");
                terminal.write([0xff]).await?;
            }
            Some("write") => terminal.write(with["text"].as_str().unwrap()).await?,
            Some("exit") => {
                let mut status = v2::TerminalExitStatus::new();
                status.signal = with["signal"].as_str().map(Into::into);
                match with["code"].as_i64() {
                    Some(code) => terminal.exit(code).await?,
                    None => terminal.exit_with(status).await?,
                }
                return Ok(());
            }
            _ => {
                act(world, method, subject, std::slice::from_ref(action)).await?;
            }
        }
    }
    Ok(())
}

/// The answer that a permission is made of.
fn outcome(permission: &libacp::aio::Permission) -> Value {
    match &permission.option_id {
        Some(id) => json!({"outcome": {"outcome": "selected", "optionId": id}}),
        None => json!({"outcome": {"outcome": "cancelled"}}),
    }
}

fn list(value: &Value) -> Vec<v1::PermissionOption<'static>> {
    value.as_array().unwrap().iter().map(read).collect()
}

/// JSON as a type of the protocol.
pub(super) fn read<T: Message<'static>>(value: &Value) -> T {
    T::detached(&value.to_string()).unwrap_or_else(|error| panic!("{value}: {error}"))
}
