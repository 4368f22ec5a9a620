//! MOA: MCP over ACP (draft `mcp_over_acp`).
//!
//! As the newest schema has it: the client declares servers when it opens a session, the agent sends them requests by
//! `mcp/message`, each under an id of its own, and while a request is open the client may send notifications about it.
//! Connections to servers, with `mcp/connect` and `mcp/disconnect`, are in an older proposal alone: the draft
//! `mcp_connections` has them for peers that go by that, beside and not instead of the above.

use std::borrow::Cow;
use std::sync::Arc;

use crate::engine::{
    Action, Area, Check, Message, MisuseKind, Objection, On, Role, Scene, State, Tracker, CLOSING, OPENING,
};
use crate::json;
use crate::jsonrpc::{ErrorCode, LONGEST_NAME};
use crate::map::{Map, Names};

const REQUEST: &[&str] = &["mcp/message:request"];
const TOLD: &[&str] = &["mcp/message:notification"];
const MESSAGE: &[&str] = &["mcp/message"];
const CONNECT: &[&str] = &["mcp/connect"];
const DISCONNECT: &[&str] = &["mcp/disconnect"];

/// What is known of servers behind the connection.
#[derive(Debug, Default)]
pub(crate) struct Mcp {
    /// By id: the name, and how many sessions have it or are being opened with it.
    servers: Map<Box<str>, (Box<str>, usize)>,
    /// The servers of each session.
    sessions: Map<Arc<str>, Vec<Box<str>>>,
    /// Open requests to servers, by their own ids, with the server of each.
    requests: Map<Box<str>, Box<str>>,
    /// Open connections to servers, with the server of each.
    connections: Map<Box<str>, Box<str>>,
    /// There was more than is kept, so that an unknown id says nothing.
    forgot: bool,
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
        Check::new(id!("MOA-01"), On::Call, OPENING, not_advertised).kind(MisuseKind::Capability),
        Check::new(id!("MOA-02"), On::Call, OPENING, used_id).receive(Action::Pass),
        Check::new(id!("MOA-08"), On::Call, REQUEST, |scene| wrong_side(scene, Role::Agent))
            .receive(Action::Refuse(ErrorCode::METHOD_NOT_FOUND))
            .kind(MisuseKind::Method),
        Check::new(id!("MOA-08"), On::Call, TOLD, |scene| wrong_side(scene, Role::Client))
            .receive(Action::Drop)
            .kind(MisuseKind::Method),
        Check::new(id!("MOA-03"), On::Call, REQUEST, no_server).kind(MisuseKind::Id),
        Check::new(id!("MOA-03"), On::Call, CONNECT, no_server).kind(MisuseKind::Id),
        Check::new(id!("MOA-03"), On::Answer, CONNECT, used_connection).receive(Action::Report).kind(MisuseKind::Id),
        Check::new(id!("MOA-04"), On::Call, REQUEST, used_request).kind(MisuseKind::Id),
        Check::new(id!("MOA-04"), On::Call, TOLD, no_request).receive(Action::Drop).kind(MisuseKind::Id),
        Check::new(id!("MOA-07"), On::Call, DISCONNECT, no_connection).kind(MisuseKind::Id),
    ],
    trackers: &[
        Tracker { rules: &[id!("MOA-03")], on: On::Call, messages: OPENING, track: declared },
        Tracker { rules: &[id!("MOA-03")], on: On::Answer, messages: OPENING, track: opened },
        Tracker { rules: &[id!("MOA-09")], on: On::Answer, messages: CLOSING, track: closed },
        Tracker { rules: &[id!("MOA-04")], on: On::Call, messages: REQUEST, track: asked },
        Tracker { rules: &[id!("MOA-04")], on: On::Answer, messages: MESSAGE, track: answered },
        Tracker {
            rules: &[id!("MOA-07")],
            on: On::Call,
            messages: CONNECT,
            track: |_, call| call.get("/serverId").map(Into::into),
        },
        Tracker { rules: &[id!("MOA-07")], on: On::Answer, messages: CONNECT, track: connected },
        Tracker {
            rules: &[id!("MOA-07")],
            on: On::Call,
            messages: DISCONNECT,
            track: |_, call| call.get("/connectionId").map(Into::into),
        },
        Tracker { rules: &[id!("MOA-07")], on: On::Answer, messages: DISCONNECT, track: disconnected },
    ],
};

/// The servers behind the connection that a call opens a session with: place, id, name.
fn servers<'a>(call: &Message<'a>) -> impl Iterator<Item = (usize, Cow<'a, str>, Cow<'a, str>)> {
    let acp = |(at, server): (usize, &'a str)| {
        let text = |name| json::unescape(json::pointer(server, name)?);
        (text("/type")? == "acp").then_some(())?;
        Some((at, text("/serverId")?, text("/name")?))
    };
    call.items("/mcpServers").into_iter().enumerate().filter_map(acp)
}

fn not_advertised(scene: &Scene<'_>) -> Option<Objection> {
    let (at, ..) = servers(&scene.message).next()?;
    scene.lacks("acp")?;
    Some(Objection::new(
        format!("/mcpServers/{at}"),
        "the agent did not advertise MCP over ACP; check before: can(\"session/new:acp\")",
    ))
}

fn used_id(scene: &Scene<'_>) -> Option<Objection> {
    let mut here = Names::default();
    let (at, ..) = servers(&scene.message).find(|(_, id, name)| {
        let elsewhere = scene.state.mcp.servers.get(&**id).is_some_and(|(known, _)| **known != **name);
        elsewhere || !here.add(id.clone())
    })?;
    Some(Objection::new(
        format!("/mcpServers/{at}/serverId"),
        "another server has this id; give each server its own id",
    ))
}

fn wrong_side(scene: &Scene<'_>, right: Role) -> Option<Objection> {
    (scene.sender != right)
        .then(|| Objection::new("", format!("this form of mcp/message is sent only by the {}", right.name())))
}

fn no_server(scene: &Scene<'_>) -> Option<Objection> {
    let mcp = &scene.state.mcp;
    let known = mcp.forgot || mcp.servers.contains_key(&*scene.message.text("/serverId")?);
    (!known).then(|| Objection::new("/serverId", "no open session was opened with this server"))
}

fn used_connection(scene: &Scene<'_>) -> Option<Objection> {
    let open = scene.state.mcp.connections.contains_key(&*scene.message.text("/connectionId")?);
    open.then(|| Objection::new("/connectionId", "another connection has this id; use another id"))
}

fn used_request(scene: &Scene<'_>) -> Option<Objection> {
    let open = scene.state.mcp.requests.contains_key(&*scene.message.text("/requestId")?);
    open.then(|| Objection::new("/requestId", "a request with this id is open; use another id"))
}

fn no_request(scene: &Scene<'_>) -> Option<Objection> {
    let server = scene.message.text("/serverId")?;
    let open = scene.state.mcp.requests.get(&*scene.message.text("/requestId")?);
    (open.map(|server| &**server) != Some(&*server) && !scene.state.mcp.forgot).then(|| {
        Objection::new(
            "/requestId",
            "no request to this server with this id is open; it has been answered, or never was",
        )
    })
}

fn no_connection(scene: &Scene<'_>) -> Option<Objection> {
    let mcp = &scene.state.mcp;
    let open = mcp.forgot || mcp.connections.contains_key(&*scene.message.text("/connectionId")?);
    (!open).then(|| Objection::new("/connectionId", "no connection with this id is open"))
}

/// A server can be used as soon as it is named. The note lists the ids, to be settled by the answer.
fn declared(state: &mut State, call: &Message<'_>) -> Option<Box<str>> {
    let mut writer = json::Writer::new();
    writer.begin_object().key("acp").begin_array();
    let (mut seen, limit) = (Names::default(), state.config.limits.remembered);
    for (_, id, name) in servers(call) {
        let room = state.mcp.servers.len() < limit || state.mcp.servers.contains_key(&*id);
        if !room || id.len() + name.len() > LONGEST_NAME {
            state.mcp.forgot = true;
        } else if seen.add(id.clone()) {
            writer.string(&id);
            state.mcp.servers.get_or_insert_with(id.into(), || (name.into(), 0)).1 += 1;
        }
    }
    writer.end_array().end_object();
    writer.finish().ok().filter(|_| !seen.is_empty()).map(Into::into)
}

fn opened(state: &mut State, answer: &Message<'_>) -> Option<Box<str>> {
    let ids = answer.note().and_then(|note| json::pointer(note, "/acp")).map(json::items).unwrap_or_default();
    let ids: Vec<Box<str>> = ids.into_iter().filter_map(json::unescape).map(Into::into).collect();
    let session = answer.body.and_then(|_| answer.opens()).filter(|id| state.sessions.known.contains_key(id));
    match session {
        None => state.mcp.release(&ids),
        // Loading a session once more replaces its servers.
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

fn closed(state: &mut State, answer: &Message<'_>) -> Option<Box<str>> {
    answer.body?;
    let ids = state.mcp.sessions.remove(answer.session?)?;
    state.mcp.release(&ids);
    None
}

fn asked(state: &mut State, call: &Message<'_>) -> Option<Box<str>> {
    let (id, server) = (call.text("/requestId")?, call.text("/serverId")?);
    if id.len() + server.len() > LONGEST_NAME {
        state.mcp.forgot = true;
        return None;
    }
    state.mcp.requests.insert(id.into(), server.into());
    call.get("/requestId").map(Into::into)
}

fn answered(state: &mut State, answer: &Message<'_>) -> Option<Box<str>> {
    state.mcp.requests.remove(&*answer.note().and_then(json::unescape)?);
    None
}

fn connected(state: &mut State, answer: &Message<'_>) -> Option<Box<str>> {
    let server = answer.note().and_then(json::unescape)?;
    let id = answer.text("/connectionId")?;
    if state.mcp.connections.len() < state.config.limits.remembered && id.len() + server.len() <= LONGEST_NAME {
        state.mcp.connections.insert(id.into(), server.into());
    } else {
        state.mcp.forgot = true;
    }
    None
}

fn disconnected(state: &mut State, answer: &Message<'_>) -> Option<Box<str>> {
    answer.body?;
    state.mcp.connections.remove(&*answer.note().and_then(json::unescape)?);
    None
}
