//! ELIC: elicitation.
//!
//! Types, and the gates of the two methods, are in the model. The connection answers open requests with `cancel` when
//! the user can no longer answer them (`connection/auto_answer`). `Sessions::standing` checks that their sessions are
//! open. `form` checks answers against the requested forms.

mod form;

use std::borrow::Cow;
use std::sync::Arc;

use crate::engine::{
    Action, Area, Check, Finding, MessageKind, MisuseKind, Role, RuleContext, RuleMessage, State, Tracker, CLOSING,
};
use crate::json;
use crate::jsonrpc::{Id, MAX_NAME_BYTES};
use crate::map::{Map, StringMap};
use crate::validation::table::StringKind;

const CREATE: &[&str] = &["elicitation/create"];
const COMPLETE: &[&str] = &["elicitation/complete"];
/// A longer form, in bytes, is not kept, and its answer is not checked.
const KEPT: usize = 64 * 1024;

/// Elicitations on a web page, from the request until the agent reports that they are complete (ELIC-20).
#[derive(Debug, Default)]
pub(crate) struct Elicitations {
    /// By id, with their sessions.
    urls: Map<Box<str>, Option<Arc<str>>>,
    /// There were more than the limit, so an unknown id is not an error.
    overflowed: bool,
}

impl Elicitations {
    pub(crate) fn ids(&self) -> impl Iterator<Item = &str> {
        self.urls.keys().map(|id| &**id)
    }
}

pub(super) static AREA: Area = Area {
    checks: &[
        Check::new(id!("ELIC-01"), MessageKind::Call, CREATE, not_advertised).kind(MisuseKind::Capability),
        Check::new(id!("ELIC-08"), MessageKind::Call, CREATE, unknown_mode).send(Action::Pass),
        Check::new(id!("ELIC-04"), MessageKind::Call, CREATE, not_one_scope),
        Check::new(id!("ELIC-05"), MessageKind::Call, CREATE, no_request).receive(Action::Report).kind(MisuseKind::Id),
        Check::new(id!("ELIC-06"), MessageKind::Call, CREATE, not_written_out).receive(Action::Pass),
        Check::new(id!("ELIC-06"), MessageKind::Call, CREATE, nested).send(Action::Pass).receive(Action::Report),
        Check::new(id!("ELIC-07"), MessageKind::Call, CREATE, no_such_field).receive(Action::Report),
        Check::new(id!("ELIC-15"), MessageKind::Call, CREATE, no_address),
        Check::new(id!("ELIC-16"), MessageKind::Call, CREATE, same_id).receive(Action::Report).kind(MisuseKind::Id),
        Check::new(id!("ELIC-25"), MessageKind::Call, CREATE, in_the_clear).send(Action::Report).receive(Action::Pass),
        Check::new(id!("ELIC-12"), MessageKind::Answer, CREATE, other_content).receive(Action::Report),
        Check::new(id!("ELIC-18"), MessageKind::Answer, CREATE, content_without_consent).receive(Action::Strip),
        Check::new(id!("ELIC-21"), MessageKind::Call, COMPLETE, not_open).receive(Action::Pass).kind(MisuseKind::Id),
        Check::new(id!("ELIC-22"), MessageKind::Call, COMPLETE, not_open).send(Action::Pass).receive(Action::Drop),
    ],
    trackers: &[
        Tracker { rules: &[id!("ELIC-12"), id!("ELIC-20")], on: MessageKind::Call, messages: CREATE, track: asked },
        Tracker { rules: &[id!("ELIC-20")], on: MessageKind::Answer, messages: CREATE, track: answered },
        Tracker { rules: &[id!("ELIC-20")], on: MessageKind::Call, messages: COMPLETE, track: completed },
        Tracker { rules: &[id!("ELIC-23")], on: MessageKind::Answer, messages: CLOSING, track: session_ended },
    ],
};

fn mode<'a>(call: &RuleMessage<'a>) -> Option<Cow<'a, str>> {
    call.text("/mode")
}

fn is_known(mode: &str) -> bool {
    matches!(mode, "form" | "url")
}

/// Custom modes are advertised like extensions, in `_meta`; a peer may also list them with the others. The mode is
/// compared and not used in a pointer, because it may contain slashes.
fn offered(context: &RuleContext<'_>, mode: &str) -> bool {
    let client = context.state.config.role() == Role::Client;
    let capabilities = if client { &context.state.own.capabilities } else { &context.state.peer.capabilities };
    let places = if is_known(mode) { &["/elicitation"][..] } else { &["/elicitation", "/elicitation/_meta"] };
    let mut modes = places.iter().flat_map(|place| json::members(json::pointer(capabilities, place).unwrap_or("{}")));
    modes.any(|(name, value)| name == mode && value.starts_with('{'))
}

fn not_advertised(context: &RuleContext<'_>) -> Option<Finding> {
    let mode = mode(&context.message)?;
    if offered(context, &mode) || (!is_known(&mode) && context.sender != context.state.config.role()) {
        return None;
    }
    let message = format!(
        "the client did not advertise elicitation.{mode}; check before: can(\"elicitation/create:{mode}\"), and ask in \
         another way or go on without"
    );
    // A peer's values are not repeated to it.
    Some(if context.sender == context.state.config.role() {
        Finding::new("/mode", message)
    } else {
        Finding::new("/mode", "the client did not advertise this mode")
    })
}

fn unknown_mode(context: &RuleContext<'_>) -> Option<Finding> {
    let mode = mode(&context.message)?;
    let known = is_known(&mode) || offered(context, &mode);
    (!known).then(|| Finding::new("/mode", "a mode that the client does not know"))
}

fn not_one_scope(context: &RuleContext<'_>) -> Option<Finding> {
    let call = &context.message;
    let (session, request) = (call.get("/sessionId").is_some(), call.get("/requestId").is_some());
    if session && request {
        return Some(Finding::new(
            "/requestId",
            "an elicitation belongs to a session or to a request; leave one of them out",
        ));
    }
    (!session && call.get("/toolCallId").is_some())
        .then(|| Finding::new("/toolCallId", "a tool call belongs to a session; name the session"))
}

fn no_request(context: &RuleContext<'_>) -> Option<Finding> {
    let id = context.message.get("/requestId").and_then(Id::from_json)?;
    let open = match context.state.config.role() {
        // The agent may still work on a request that has timed out here.
        Role::Client => context.state.outbound.get(&id).or_else(|| context.state.late.get(&id)),
        Role::Agent => context.state.inbound.get(&id),
    };
    if open.is_some() {
        return None;
    }
    Some(Finding::new("/requestId", "no request of the client with this id is open"))
}

fn not_written_out(context: &RuleContext<'_>) -> Option<Finding> {
    let schema =
        context.message.get("/requestedSchema").filter(|_| context.message.text("/mode").as_deref() == Some("form"))?;
    let missing = ["/type", "/properties"].into_iter().find(|name| json::pointer(schema, name).is_none())?;
    Some(Finding::new(format!("/requestedSchema{missing}"), "absent; the schema of a form has a type and properties"))
}

/// The fields of a form, by name.
fn fields<'a>(call: &RuleMessage<'a>) -> Vec<(Cow<'a, str>, &'a str)> {
    call.get("/requestedSchema/properties").map(json::members).unwrap_or_default()
}

fn nested(context: &RuleContext<'_>) -> Option<Finding> {
    let holds = |field: &str, pointer: &str| matches!(json::agreed(field, pointer), Some("\"object\"" | "\"array\""));
    let fields = fields(&context.message);
    let (name, _) = fields
        .iter()
        .find(|(_, field)| json::pointer(field, "/type") == Some("\"object\"") || holds(field, "/items/type"))?;
    let name = name.replace('~', "~0").replace('/', "~1");
    let message = "a field with nested fields; forms are flat";
    Some(Finding::new(format!("/requestedSchema/properties/{name}"), message).made_up())
}

fn no_such_field(context: &RuleContext<'_>) -> Option<Finding> {
    let required = context.message.items("/requestedSchema/required");
    let names: StringMap<'_> = fields(&context.message).into_iter().collect();
    let at = required.into_iter().filter_map(json::unescape).position(|name| !names.has(&name))?;
    Some(Finding::new(format!("/requestedSchema/required/{at}"), "required, but no field of the form has this name"))
}

fn address<'a>(call: &RuleMessage<'a>) -> Option<Cow<'a, str>> {
    (mode(call)? == "url").then(|| call.text("/url")).flatten()
}

fn no_address(context: &RuleContext<'_>) -> Option<Finding> {
    let fits = StringKind::Uri.fits(&address(&context.message)?);
    (!fits).then(|| Finding::new("/url", "not the URL of a web page"))
}

fn in_the_clear(context: &RuleContext<'_>) -> Option<Finding> {
    let url = address(&context.message)?.to_ascii_lowercase();
    let host = url.strip_prefix("http://")?;
    let local = ["localhost", "127.0.0.1", "[::1]"].into_iter().any(|name| {
        host.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with([':', '/', '?', '#']))
    });
    (!local).then(|| Finding::new("/url", "not HTTPS, so others on the network can read and change it"))
}

fn elicitation_id<'a>(call: &RuleMessage<'a>) -> Option<Cow<'a, str>> {
    (mode(call)? == "url").then(|| call.text("/elicitationId")).flatten()
}

fn same_id(context: &RuleContext<'_>) -> Option<Finding> {
    let open = context.state.elicitations.urls.contains_key(&*elicitation_id(&context.message)?);
    open.then(|| Finding::new("/elicitationId", "another elicitation with this id is open; use another id"))
}

fn not_open(context: &RuleContext<'_>) -> Option<Finding> {
    let open = &context.state.elicitations;
    let known = open.overflowed || open.urls.contains_key(&*context.message.text("/elicitationId")?);
    (!known).then(|| {
        Finding::new(
            "/elicitationId",
            "no elicitation with this id is open: it was never requested, was declined, or is completed",
        )
    })
}

/// A member of the note of an answer.
fn noted<'a>(answer: &RuleMessage<'a>, pointer: &str) -> Option<&'a str> {
    json::pointer(answer.note()?, pointer)
}

fn other_content(context: &RuleContext<'_>) -> Option<Finding> {
    let answer = &context.message;
    let schema = noted(answer, "/schema").filter(|_| answer.text("/action").as_deref() == Some("accept"))?;
    let (place, expected) = form::mismatch(schema, answer.get("/content"))?;
    Some(Finding::new(place, format!("expected {expected}")))
}

fn content_without_consent(context: &RuleContext<'_>) -> Option<Finding> {
    let refused = context.message.text("/action")? != "accept" && context.message.get("/content").is_some();
    refused.then(|| Finding::new("/content", "only accept has content; leave it out"))
}

/// Notes the form, or the id of a new elicitation on a web page.
fn asked(state: &mut State, call: &RuleMessage<'_>) -> Option<Box<str>> {
    let mut writer = json::Writer::new();
    writer.begin_object();
    if let Some(id) = elicitation_id(call) {
        let open = &mut state.elicitations;
        if open.urls.len() >= state.config.limits.remembered || id.len() > MAX_NAME_BYTES {
            open.overflowed = true;
        } else if !open.urls.contains_key(&*id) {
            writer.key("url").string(&id);
            open.urls.insert(id.into(), call.session.cloned());
        }
    } else if let Some(schema) = call.get("/requestedSchema").filter(|schema| schema.len() <= KEPT) {
        writer.key("schema").json(schema);
    }
    writer.end_object();
    writer.finish().ok().map(Into::into)
}

fn answered(state: &mut State, answer: &RuleMessage<'_>) -> Option<Box<str>> {
    let id = noted(answer, "/url").and_then(json::unescape)?;
    if answer.text("/action").as_deref() != Some("accept") {
        state.elicitations.urls.remove(&*id);
    }
    None
}

fn completed(state: &mut State, call: &RuleMessage<'_>) -> Option<Box<str>> {
    state.elicitations.urls.remove(&*call.text("/elicitationId")?);
    None
}

fn session_ended(state: &mut State, answer: &RuleMessage<'_>) -> Option<Box<str>> {
    let session = answer.session.filter(|_| answer.body.is_some())?;
    // The session's children have ended as well.
    let sessions = &state.sessions;
    let ended = |of: &Arc<str>| of == session || sessions.get(of).is_none();
    state.elicitations.urls.retain(|_, of| !of.as_ref().is_some_and(ended));
    None
}
