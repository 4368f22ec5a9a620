//! Handlers of all methods, by the types of their params.

use std::cell::RefCell;
use std::rc::Rc;

use libacp::aio::{Agent, AgentPeer, Client, ClientPeer, Failure, Local, Received, Reply};
use libacp::schema::{v1, v2, Answers, Family, Message, Raw, Request};
use libacp::typed::{AgentSide, ClientSide};
use serde::Serialize;
use serde_json::{json, Value};

use super::turns::{act, Subject};
use super::world::World;

/// The handler of a method, which is named by its params.
macro_rules! by_name {
    (
        $host:ident, $world:ident, $met:ident, $key:ident;
        $($method:literal => $version:ident::$params:ident,)* ;
        $($told:literal => $notification:ident,)*
    ) => {{
        let (world, met) = (Rc::clone($world), Rc::clone($met));
        match $key {
            $($method if !is_untyped(&world, $method) => $host.on::<fn($version::$params), _>(async move |received| {
                let subject = seen(&world, &met, $method, &received, typed::<$version::$params<'static>>);
                let answer = act(&world, $method, &subject, &world.actions($method)).await?;
                reply::<fn($version::$params)>($method, answer)
            }).local(),)*
            $($told => $host.on_notification::<fn(v1::$notification), _>(async move |received| {
                let method = $told.trim_end_matches("#note");
                let subject = seen(&world, &met, method, &received, typed::<v1::$notification<'static>>);
                act(&world, $told, &subject, &world.actions($told)).await.map(drop)
            }).local(),)*
            key => match key.strip_suffix("#note") {
                Some(method) => {
                    let method = method.to_owned();
                    $host.on_extension_notification(method.clone(), async move |received| {
                        let subject = seen(&world, &met, &method, &received, raw);
                        act(&world, &format!("{method}#note"), &subject, &world.actions(&format!("{method}#note"))).await.map(drop)
                    }).local()
                }
                None => {
                    let (method, told) = (key.to_owned(), key.to_owned());
                    let (other, met_too) = (Rc::clone($world), Rc::clone($met));
                    let host = $host.on_extension(method.clone(), async move |received| {
                        let subject = seen(&world, &met, &method, &received, raw);
                        let answer = act(&world, &method, &subject, &world.actions(&method)).await?;
                        Ok(Raw::of(&answer.unwrap_or_else(|| json!({})))?.into())
                    });
                    if !key.starts_with('_') {
                        return host.local();
                    }
                    host.on_extension_notification(told.clone(), async move |received| {
                        let subject = seen(&other, &met_too, &told, &received, raw);
                        act(&other, &told, &subject, &other.actions(&told)).await.map(drop)
                    }).local()
                }
            },
        }
    }};
}

pub(super) fn of_agents(
    agent: Agent<Local>,
    world: &Rc<World>,
    met: &Rc<RefCell<Option<ClientPeer>>>,
    key: &str,
) -> Agent<Local> {
    by_name! {
        agent, world, met, key;
        "initialize" => v1::InitializeRequest,
        "authenticate" => v1::AuthenticateRequest,
        "logout" => v1::LogoutRequest,
        "auth/status" => v1::AuthStatusRequest,
        "session/new" => v1::NewSessionRequest,
        "session/load" => v1::LoadSessionRequest,
        "session/resume" => v1::ResumeSessionRequest,
        "session/fork" => v1::ForkSessionRequest,
        "session/list" => v1::ListSessionsRequest,
        "session/close" => v1::CloseSessionRequest,
        "session/delete" => v1::DeleteSessionRequest,
        "session/archive" => v1::ArchiveSessionRequest,
        "session/unarchive" => v1::UnarchiveSessionRequest,
        "session/status" => v1::SessionStatusRequest,
        "session/set_title" => v1::SetSessionTitleRequest,
        "session/options" => v1::SessionOptionsRequest,
        "session/set_mode" => v1::SetSessionModeRequest,
        "session/set_config_option" => v1::SetSessionConfigOptionRequest,
        "providers/list" => v1::ListProvidersRequest,
        "providers/set" => v1::SetProviderRequest,
        "providers/disable" => v1::DisableProviderRequest,
        "mcp/message" => v1::MessageMcpRequest,
        "nes/start" => v1::StartNesRequest,
        "tool_call/cancel" => v2::CancelToolCallRequest,
        "terminal/cancel" => v2::CancelTerminalRequest,
        ;
        "$/cancel_request" => CancelRequestNotification,
        "mcp/message#note" => MessageMcpNotification,
        "session/cancel" => CancelNotification,
    }
}

pub(super) fn of_clients(
    client: Client<Local>,
    world: &Rc<World>,
    met: &Rc<RefCell<Option<AgentPeer>>>,
    key: &str,
) -> Client<Local> {
    by_name! {
        client, world, met, key;
        "fs/read_text_file" => v1::ReadTextFileRequest,
        "fs/write_text_file" => v1::WriteTextFileRequest,
        "terminal/create" => v1::CreateTerminalRequest,
        "terminal/output" => v1::TerminalOutputRequest,
        "terminal/wait_for_exit" => v1::WaitForTerminalExitRequest,
        "terminal/kill" => v1::KillTerminalRequest,
        "terminal/release" => v1::ReleaseTerminalRequest,
        "elicitation/create" => v1::CreateElicitationRequest,
        "mcp/message" => v1::MessageMcpRequest,
        ;
        "$/cancel_request" => CancelRequestNotification,
        "session/update" => SessionNotification,
        "elicitation/complete" => CompleteElicitationNotification,
    }
}

/// Whether the handler of a method returns what has no place in its type, and so has JSON.
fn is_untyped(world: &World, method: &str) -> bool {
    let odd = |returned: &Value| returned.get("sessionid").is_some();
    world.returned(method).iter().any(odd)
}

/// What a handler of a side is about.
pub(super) trait OfSide: Sized {
    type Peer: Clone;

    fn subject<M: Family>(received: &Received<Self, M>) -> Subject;
    fn peer<M: Family>(received: &Received<Self, M>) -> Self::Peer;
}

impl OfSide for AgentSide {
    type Peer = ClientPeer;

    fn subject<M: Family>(received: &Received<Self, M>) -> Subject {
        received.session().map_or_else(|| Subject::Client(received.client().clone()), Subject::Session)
    }

    fn peer<M: Family>(received: &Received<Self, M>) -> ClientPeer {
        received.client().clone()
    }
}

impl OfSide for ClientSide {
    type Peer = AgentPeer;

    fn subject<M: Family>(received: &Received<Self, M>) -> Subject {
        received.session().map_or_else(|| Subject::Agent(received.agent().clone()), Subject::Open)
    }

    fn peer<M: Family>(received: &Received<Self, M>) -> AgentPeer {
        received.agent().clone()
    }
}

/// A handler has begun: remembers the peer, tells it, and says what it is about.
fn seen<S: OfSide, M: Family>(
    world: &World,
    met: &RefCell<Option<S::Peer>>,
    method: &str,
    received: &Received<S, M>,
    read: fn(&Value) -> Value,
) -> Subject
where
    M::Params<'static>: Serialize,
{
    *met.borrow_mut() = Some(S::peer(received));
    let subject = S::subject(received);
    let params = serde_json::to_value(&**received).unwrap();
    world.tell_read(super::turns::beginning(method, subject.session(), received.id(), &params), read);
    subject
}

/// Params as their type reads and writes them.
pub(super) fn typed<P: Message<'static>>(params: &Value) -> Value {
    let typed = P::detached(&params.to_string());
    typed.map_or_else(|_| params.clone(), |typed| serde_json::to_value(typed).unwrap())
}

fn raw(params: &Value) -> Value {
    params.clone()
}

/// A typed answer, made of JSON as a handler would write it in its types.
fn reply<M: Family>(method: &str, answer: Option<Value>) -> Result<Reply<M>, Failure>
where
    M::Params<'static>: Request<'static>,
    <M::Params<'static> as Request<'static>>::Result<'static>: Answers<M>,
{
    let Some(mut answer) = answer else { return Ok(Reply::default()) };
    let required = match method {
        "session/new" | "session/fork" => Some(("sessionId", json!(""))),
        "initialize" => Some(("protocolVersion", json!(1))),
        _ => None,
    };
    if let Some((name, value)) = required {
        answer.as_object_mut().unwrap().entry(name).or_insert(value);
    }
    Ok(<M::Params<'static> as Request<'static>>::Result::<'static>::detached(&answer.to_string())?.into())
}
