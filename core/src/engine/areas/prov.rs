//! PROV: routing an agent's model providers (draft `llm_providers`).
//!
//! The gate and the types are in the model. The last list of the agent is kept, with the changes since. Before the
//! first list, calls are not checked.

use std::borrow::Cow;

use crate::engine::{Action, Area, Check, Finding, MessageKind, RuleContext, RuleMessage, State, Tracker};
use crate::json;
use crate::jsonrpc::ErrorCode;
use crate::map::{Map, StringMap};

const LIST: &[&str] = &["providers/list"];
const SET: &[&str] = &["providers/set"];
const DISABLE: &[&str] = &["providers/disable"];
const CHANGES: &[&str] = &["providers/set", "providers/disable"];

/// The providers that the agent has listed.
#[derive(Debug, Default)]
pub(crate) struct Providers {
    known: Map<Box<str>, Provider>,
    /// There was a list, and it is kept completely.
    complete: bool,
}

/// A provider of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Provider {
    required: bool,
    enabled: bool,
    supported: Vec<Box<str>>,
}

impl Providers {
    /// Whether params of `providers/set` name an API that the agent lists for this provider, even an unknown one
    /// (PROV-11).
    pub(crate) fn lists(&self, params: &str) -> bool {
        let text = |pointer| json::pointer(params, pointer).and_then(json::unescape);
        let provider = text("/providerId").and_then(|id| self.known.get(&*id));
        let wanted = text("/apiType");
        provider.zip(wanted).is_some_and(|(known, wanted)| known.supported.iter().any(|name| **name == *wanted))
    }

    /// The ids of all providers, and whether each is enabled (PROV-04).
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, bool)> {
        self.known.iter().map(|(id, provider)| (&**id, provider.enabled))
    }
}

pub(super) static AREA: Area = Area {
    checks: &[
        Check::new(id!("PROV-03"), MessageKind::Call, CHANGES, late).send(Action::Report).receive(Action::Pass),
        Check::new(id!("PROV-06"), MessageKind::Call, SET, not_listed).send(Action::Report),
        Check::new(id!("PROV-06"), MessageKind::Call, SET, not_supported).send(Action::Report),
        Check::new(id!("PROV-07"), MessageKind::Call, DISABLE, required),
        Check::new(id!("PROV-08"), MessageKind::Error, DISABLE, fails_for_nothing)
            .send(Action::Report)
            .receive(Action::Pass),
        Check::new(id!("PROV-09"), MessageKind::Answer, LIST, gone).send(Action::Report).receive(Action::Report),
        Check::new(id!("PROV-10"), MessageKind::Answer, LIST, headers).receive(Action::Strip),
    ],
    trackers: &[
        Tracker { rules: &[id!("PROV-04")], on: MessageKind::Answer, messages: LIST, track: listed },
        Tracker { rules: &[id!("PROV-05")], on: MessageKind::Call, messages: CHANGES, track: noted },
        Tracker { rules: &[id!("PROV-05")], on: MessageKind::Answer, messages: CHANGES, track: changed },
    ],
};

fn late(context: &RuleContext<'_>) -> Option<Finding> {
    let open = !context.state.sessions.known.is_empty();
    open.then(|| {
        Finding::new("", "sessions are already open, and the agent need not change them; configure providers first")
    })
}

fn provider<'a>(context: &RuleContext<'a>) -> Option<&'a Provider> {
    context.state.providers.known.get(&*context.message.text("/providerId")?)
}

fn not_listed(context: &RuleContext<'_>) -> Option<Finding> {
    let unknown = context.state.providers.complete && provider(context).is_none();
    unknown.then(|| Finding::new("/providerId", "not a listed provider; providers/list returns them"))
}

fn not_supported(context: &RuleContext<'_>) -> Option<Finding> {
    let supported = &provider(context)?.supported;
    let wanted = context.message.text("/apiType")?;
    let fits = supported.iter().any(|name| **name == *wanted);
    (!fits).then(|| Finding::new("/apiType", "not an API type that the listed provider supports"))
}

fn required(context: &RuleContext<'_>) -> Option<Finding> {
    let required = provider(context)?.required;
    required.then(|| {
        Finding::new("/providerId", "a required provider cannot be disabled; set another configuration instead")
    })
}

fn fails_for_nothing(context: &RuleContext<'_>) -> Option<Finding> {
    let invalid = context.message.get("/code")?.parse() == Ok(ErrorCode::INVALID_PARAMS.0);
    let id = context.message.note().and_then(json::unescape)?;
    let known = context.state.providers.known.contains_key(&*id) || !context.state.providers.complete;
    (invalid && !known).then(|| Finding::new("/code", "an unknown provider counts as disabled; answer with {}"))
}

fn infos<'a>(result: &RuleMessage<'a>) -> Vec<&'a str> {
    result.items("/providers")
}

fn id_of(info: &str) -> Option<Cow<'_, str>> {
    json::unescape(json::pointer(info, "/providerId")?)
}

fn gone(context: &RuleContext<'_>) -> Option<Finding> {
    let listed: StringMap<'_> = infos(&context.message).into_iter().filter_map(id_of).collect();
    let mut off = context.state.providers.known.iter().filter(|(_, provider)| !provider.enabled);
    off.find(|(id, _)| !listed.has(id))?;
    Some(Finding::new("/providers", "a disabled provider is missing; it stays in the list"))
}

fn headers(context: &RuleContext<'_>) -> Option<Finding> {
    let mut places = Vec::new();
    for (index, info) in infos(&context.message).into_iter().enumerate() {
        let inside = ["/headers", "/current/headers"].into_iter();
        let found = inside.filter(|place| json::pointer(info, place).is_some());
        places.extend(found.map(|place| format!("/providers/{index}{place}")));
    }
    Finding::at_all(places, "headers may be secret and are not listed")
}

fn listed(state: &mut State, result: &RuleMessage<'_>) -> Option<Box<str>> {
    result.body?;
    let infos = infos(result);
    let limit = state.config.limits.remembered;
    let read = |info: &str| {
        let supported = json::pointer(info, "/supported").map(json::items).unwrap_or_default();
        let provider = Provider {
            required: json::pointer(info, "/required") == Some("true"),
            enabled: json::pointer(info, "/current").is_some_and(|current| current.starts_with('{')),
            supported: supported.into_iter().take(limit).filter_map(json::unescape).map(Into::into).collect(),
        };
        Some((id_of(info)?.into(), provider))
    };
    state.providers.complete = infos.len() <= limit;
    state.providers.known = infos.into_iter().take(limit).filter_map(read).collect();
    None
}

/// Notes the provider as JSON text.
fn noted(_: &mut State, call: &RuleMessage<'_>) -> Option<Box<str>> {
    call.get("/providerId").map(Into::into)
}

fn changed(state: &mut State, answer: &RuleMessage<'_>) -> Option<Box<str>> {
    answer.body?;
    let id = answer.note().and_then(json::unescape)?;
    if let Some(provider) = state.providers.known.get_mut(&*id) {
        provider.enabled = answer.method == "providers/set";
    }
    None
}
