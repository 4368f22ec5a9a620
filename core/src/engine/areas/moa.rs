//! MOA: MCP over ACP (draft `mcp_over_acp`).
//!
//! This follows the newest schema: the client declares servers when it opens a session, the agent sends them requests
//! with `mcp/message`, each with an id of its own, and while a request is open the client may send notifications about
//! it. An older proposal has connections to servers (`mcp/connect`, `mcp/disconnect`). The draft `mcp_connections` adds
//! them for peers that follow that proposal.

use std::borrow::Cow;
use std::sync::Arc;

use crate::engine::{
    Action, Area, Check, Finding, MessageKind, MisuseKind, Role, RuleContext, RuleMessage, State, Tracker, CLOSING,
    OPENING,
};
use crate::json;
use crate::jsonrpc::{ErrorCode, MAX_NAME_BYTES};
use crate::map::{Map, StringMap};

const REQUEST: &[&str] = &["mcp/message:request"];
const TOLD: &[&str] = &["mcp/message:notification"];
const MESSAGE: &[&str] = &["mcp/message"];
const CONNECT: &[&str] = &["mcp/connect"];
const DISCONNECT: &[&str] = &["mcp/disconnect"];

/// The MCP servers that the client provides over the connection.
#[derive(Debug, Default)]
pub(crate) struct Mcp {
    /// By id: the name, and the number of sessions that have the server or are being opened with it.
    servers: Map<Box<str>, (Box<str>, usize)>,
    /// The servers of each session.
    sessions: Map<Arc<str>, Vec<Box<str>>>,
    /// Open requests to servers, by their own ids, with the server of each.
    requests: Map<Box<str>, Box<str>>,
    /// Open connections to servers, with the server of each.
    connections: Map<Box<str>, Box<str>>,
    /// There were more than the limit, so an unknown id is not an error.
    overflowed: bool,
}

impl Mcp {
    fn release(&mut self, ids: &[Box<str>]) {
        for id in ids {
            let Some((_, sessions)) = self.servers.get_mut(id) else { continue };
            *sessions -= 1;
            if *sessions == 0 {
                self.servers.remove(id);
                self.connections.retain(|_, server| server != id);
            }
        }
    }
}

pub(super) static AREA: Area = Area {
    checks: &[
        Check::new(id!("MOA-01"), MessageKind::Call, OPENING, not_advertised).kind(MisuseKind::Capability),
        Check::new(id!("MOA-02"), MessageKind::Call, OPENING, used_id).receive(Action::Pass),
        Check::new(id!("MOA-08"), MessageKind::Call, REQUEST, |context| wrong_side(context, Role::Agent))
            .receive(Action::Refuse(ErrorCode::METHOD_NOT_FOUND))
            .kind(MisuseKind::Method),
        Check::new(id!("MOA-08"), MessageKind::Call, TOLD, |context| wrong_side(context, Role::Client))
            .receive(Action::Drop)
            .kind(MisuseKind::Method),
        Check::new(id!("MOA-03"), MessageKind::Call, REQUEST, no_server).kind(MisuseKind::Id),
        Check::new(id!("MOA-03"), MessageKind::Call, CONNECT, no_server).kind(MisuseKind::Id),
        Check::new(id!("MOA-03"), MessageKind::Answer, CONNECT, used_connection)
            .receive(Action::Report)
            .kind(MisuseKind::Id),
        Check::new(id!("MOA-04"), MessageKind::Call, REQUEST, used_request).kind(MisuseKind::Id),
        Check::new(id!("MOA-04"), MessageKind::Call, TOLD, no_request).receive(Action::Drop).kind(MisuseKind::Id),
        Check::new(id!("MOA-07"), MessageKind::Call, DISCONNECT, no_connection).kind(MisuseKind::Id),
    ],
    trackers: &[
        Tracker { rules: &[id!("MOA-03")], on: MessageKind::Call, messages: OPENING, track: declared },
        Tracker { rules: &[id!("MOA-03")], on: MessageKind::Answer, messages: OPENING, track: opened },
        Tracker { rules: &[id!("MOA-09")], on: MessageKind::Answer, messages: CLOSING, track: closed },
        Tracker { rules: &[id!("MOA-04")], on: MessageKind::Call, messages: REQUEST, track: asked },
        Tracker { rules: &[id!("MOA-04")], on: MessageKind::Answer, messages: MESSAGE, track: answered },
        Tracker {
            rules: &[id!("MOA-07")],
            on: MessageKind::Call,
            messages: CONNECT,
            track: |_, call| call.get("/serverId").map(Into::into),
        },
        Tracker { rules: &[id!("MOA-07")], on: MessageKind::Answer, messages: CONNECT, track: connected },
        Tracker {
            rules: &[id!("MOA-07")],
            on: MessageKind::Call,
            messages: DISCONNECT,
            track: |_, call| call.get("/connectionId").map(Into::into),
        },
        Tracker { rules: &[id!("MOA-07")], on: MessageKind::Answer, messages: DISCONNECT, track: disconnected },
    ],
};

/// Such servers in a request that opens a session: index, id, name.
fn servers<'a>(call: &RuleMessage<'a>) -> impl Iterator<Item = (usize, Cow<'a, str>, Cow<'a, str>)> {
    let acp = |(at, server): (usize, &'a str)| {
        let text = |name| json::unescape(json::pointer(server, name)?);
        (text("/type")? == "acp").then_some(())?;
        Some((at, text("/serverId")?, text("/name")?))
    };
    call.items("/mcpServers").into_iter().enumerate().filter_map(acp)
}

fn not_advertised(context: &RuleContext<'_>) -> Option<Finding> {
    let (at, ..) = servers(&context.message).next()?;
    context.lacks("acp")?;
    Some(Finding::new(
        format!("/mcpServers/{at}"),
        "the agent did not advertise MCP over ACP; check before: can(\"session/new:acp\")",
    ))
}

fn used_id(context: &RuleContext<'_>) -> Option<Finding> {
    let mut here = StringMap::default();
    let (at, ..) = servers(&context.message).find(|(_, id, name)| {
        let elsewhere = context.state.mcp.servers.get(&**id).is_some_and(|(known, _)| **known != **name);
        elsewhere || !here.add(id.clone())
    })?;
    Some(Finding::new(format!("/mcpServers/{at}/serverId"), "another server has this id; give each server its own id"))
}

fn wrong_side(context: &RuleContext<'_>, right: Role) -> Option<Finding> {
    (context.sender != right)
        .then(|| Finding::new("", format!("this form of mcp/message is sent only by the {}", right.name())))
}

fn no_server(context: &RuleContext<'_>) -> Option<Finding> {
    let mcp = &context.state.mcp;
    let known = mcp.overflowed || mcp.servers.contains_key(&*context.message.text("/serverId")?);
    (!known).then(|| Finding::new("/serverId", "no open session was opened with this server"))
}

fn used_connection(context: &RuleContext<'_>) -> Option<Finding> {
    let open = context.state.mcp.connections.contains_key(&*context.message.text("/connectionId")?);
    open.then(|| Finding::new("/connectionId", "another connection has this id; use another id"))
}

fn used_request(context: &RuleContext<'_>) -> Option<Finding> {
    let open = context.state.mcp.requests.contains_key(&*context.message.text("/requestId")?);
    open.then(|| Finding::new("/requestId", "a request with this id is open; use another id"))
}

fn no_request(context: &RuleContext<'_>) -> Option<Finding> {
    let server = context.message.text("/serverId")?;
    let open = context.state.mcp.requests.get(&*context.message.text("/requestId")?);
    (open.map(|server| &**server) != Some(&*server) && !context.state.mcp.overflowed).then(|| {
        Finding::new("/requestId", "no request to this server with this id is open; it has been answered, or never was")
    })
}

fn no_connection(context: &RuleContext<'_>) -> Option<Finding> {
    let mcp = &context.state.mcp;
    let open = mcp.overflowed || mcp.connections.contains_key(&*context.message.text("/connectionId")?);
    (!open).then(|| Finding::new("/connectionId", "no connection with this id is open"))
}

/// A server can be used as soon as it is declared. The note lists the ids for the answer.
fn declared(state: &mut State, call: &RuleMessage<'_>) -> Option<Box<str>> {
    let mut writer = json::Writer::new();
    writer.begin_object().key("acp").begin_array();
    let (mut seen, limit) = (StringMap::default(), state.config.limits.remembered);
    for (_, id, name) in servers(call) {
        let room = state.mcp.servers.len() < limit || state.mcp.servers.contains_key(&*id);
        if !room || id.len() + name.len() > MAX_NAME_BYTES {
            state.mcp.overflowed = true;
        } else if seen.add(id.clone()) {
            writer.string(&id);
            state.mcp.servers.get_or_insert_with(id.into(), || (name.into(), 0)).1 += 1;
        }
    }
    writer.end_array().end_object();
    writer.finish().ok().filter(|_| !seen.is_empty()).map(Into::into)
}

fn opened(state: &mut State, answer: &RuleMessage<'_>) -> Option<Box<str>> {
    let ids = answer.note().and_then(|note| json::pointer(note, "/acp")).map(json::items).unwrap_or_default();
    let ids: Vec<Box<str>> = ids.into_iter().filter_map(json::unescape).map(Into::into).collect();
    let session = answer.body.and_then(|_| answer.opens()).filter(|id| state.sessions.known.contains_key(id));
    match session {
        None => state.mcp.release(&ids),
        // Loading a session again replaces its servers.
        Some(session) => {
            let before = state.mcp.sessions.remove(&*session).unwrap_or_default();
            state.mcp.release(&before);
            if !ids.is_empty() {
                state.mcp.sessions.insert(state.sessions.intern(&session), ids);
            }
        }
    }
    None
}

fn closed(state: &mut State, answer: &RuleMessage<'_>) -> Option<Box<str>> {
    answer.body?;
    let ids = state.mcp.sessions.remove(answer.session?)?;
    state.mcp.release(&ids);
    None
}

fn asked(state: &mut State, call: &RuleMessage<'_>) -> Option<Box<str>> {
    let (id, server) = (call.text("/requestId")?, call.text("/serverId")?);
    if id.len() + server.len() > MAX_NAME_BYTES {
        state.mcp.overflowed = true;
        return None;
    }
    state.mcp.requests.insert(id.into(), server.into());
    call.get("/requestId").map(Into::into)
}

fn answered(state: &mut State, answer: &RuleMessage<'_>) -> Option<Box<str>> {
    state.mcp.requests.remove(&*answer.note().and_then(json::unescape)?);
    None
}

fn connected(state: &mut State, answer: &RuleMessage<'_>) -> Option<Box<str>> {
    let server = answer.note().and_then(json::unescape)?;
    let id = answer.text("/connectionId")?;
    if state.mcp.connections.len() < state.config.limits.remembered && id.len() + server.len() <= MAX_NAME_BYTES {
        state.mcp.connections.insert(id.into(), server.into());
    } else {
        state.mcp.overflowed = true;
    }
    None
}

fn disconnected(state: &mut State, answer: &RuleMessage<'_>) -> Option<Box<str>> {
    answer.body?;
    state.mcp.connections.remove(&*answer.note().and_then(json::unescape)?);
    None
}
