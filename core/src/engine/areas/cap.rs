//! CAP: capabilities in general.
//!
//! Methods are gated by the model's tables (`admission`); members, values and variants by checks of their own areas.
//! The model's `parts` list the capabilities that these need, for the checks and for `can` and `why_not`. The
//! validation reads malformed capabilities as absent.

use crate::engine::{Action, Area, Check, Finding, MessageKind, Policy, Role, RuleContext, Session, State};
use crate::json;
use crate::jsonrpc::ErrorCode;
use crate::rules::{RuleId, Way};
use crate::schema::drafts::DRAFTS;
use crate::schema::tables;
use crate::validation::table::{From, HelloNames};

const INITIALIZE: &[&str] = &["initialize"];
/// The methods that every agent of version 2 with sessions serves.
const BASELINE: &[&str] = &["session/new", "session/list", "session/resume", "session/close", "session/prompt"];
const TERMINALS: &[&str] =
    &["terminal/create", "terminal/output", "terminal/wait_for_exit", "terminal/kill", "terminal/release"];

pub(super) static AREA: Area = Area {
    checks: &[
        Check::new(id!("CAP-08"), MessageKind::Error, &["session/new", "session/prompt"], unknown)
            .send(Action::Report)
            .receive(Action::ReportAlways),
        Check::new(id!("CAP-09"), MessageKind::Error, BASELINE, unknown)
            .send(Action::Report)
            .receive(Action::ReportAlways),
        Check::new(id!("CAP-14"), MessageKind::Call, INITIALIZE, not_served_any_more).receive(Action::Report),
        Check::new(id!("CAP-11"), MessageKind::Error, &["session/request_permission"], unknown)
            .send(Action::Report)
            .receive(Action::ReportAlways),
        Check::new(id!("CAP-12"), MessageKind::Error, TERMINALS, unknown)
            .send(Action::Report)
            .receive(Action::ReportAlways),
        Check::new(id!("CAP-16"), MessageKind::Call, INITIALIZE, silent)
            .send(Action::AdviseIfStrict)
            .receive(Action::Pass),
        Check::new(id!("CAP-16"), MessageKind::Answer, INITIALIZE, silent)
            .send(Action::AdviseIfStrict)
            .receive(Action::Pass),
    ],
    trackers: &[],
};

/// A method about one item of a session, whose own capabilities must allow it.
struct Offer {
    method: &'static str,
    rule: RuleId,
    what: &'static str,
    /// Whether the item of this id allows it now or, without an id, any item of the session.
    by: fn(&Session, Option<&str>) -> bool,
}

static OFFERS: &[Offer] = &[
    Offer { method: "tool_call/cancel", rule: id!("TOOL-37"), what: "tool call", by: super::tool::may_be_cancelled },
    Offer { method: "terminal/cancel", rule: id!("DTERM-14"), what: "terminal", by: super::dterm::may_be_cancelled },
];

/// Why a method, or a parameter or value of it, cannot be sent to the peer: the rule, and what is missing.
pub(crate) fn withheld(state: &State, method: &str, name: Option<&str>) -> Option<(RuleId, String)> {
    let offer = OFFERS.iter().find(|offer| offer.method == method && offer.rule.is_on(Way::Send));
    if let Some(Offer { rule, what, by, .. }) = offer {
        let offered = state.sessions.iter().any(|(_, session)| by(session, name));
        let which = name.map_or_else(|| format!("a {what}"), |name| format!("the {what} {name}"));
        return (!offered).then(|| (*rule, format!("{method} needs {which} to offer it, in its capabilities")));
    }
    let name = name?;
    let part = state.part(method, name).filter(|part| part.rule.is_on(Way::Send))?;
    if part.draft != 0 && state.config.drafts & (1 << part.draft) == 0 {
        let draft = DRAFTS[usize::from(part.draft) - 1];
        return Some((part.rule, format!("{method} with {name} belongs to the draft {draft}, which is off")));
    }
    let Some((of, _)) = part.needs else {
        // A part of an enabled draft needs nothing more. A host that forwards messages may send unknown members
        // (EXT-01).
        let may = part.draft != 0 || part.rule == id!("EXT-01") && state.config.policy_for(part.rule) == Policy::Off;
        return (!may).then(|| (part.rule, format!("version {} has no {method} with {name}", state.tables.version)));
    };
    let of = if of == From::Client { Role::Client } else { Role::Agent };
    // A capability of the host itself is checked when it answers.
    if of == state.config.role() || state.has(part) {
        return None;
    }
    let (capability, of) = (part.capability(), of.name());
    Some((
        part.rule,
        format!("{method} with {name} needs the capability {capability}, which the {of} did not advertise"),
    ))
}

fn unknown(context: &RuleContext<'_>) -> Option<Finding> {
    let code = context.message.get("/code")?.parse().ok()?;
    if ErrorCode(code) != ErrorCode::METHOD_NOT_FOUND {
        return None;
    }
    Some(Finding::new("/code", "this peer always serves this method; use another error to say what failed"))
}

/// CAP-14: capabilities for methods that this version no longer has.
fn not_served_any_more(context: &RuleContext<'_>) -> Option<Finding> {
    let version = context.message.get("/protocolVersion")?.parse().ok()?;
    let tables = tables::version(version)?;
    let gone = |method: &str| tables.methods.iter().all(|row| row.name != method);
    let place = |name: &str| format!("/{}/{name}", tables.dialect.client.capabilities);
    let all = [("fs", "fs/read_text_file"), ("terminal", "terminal/create")].into_iter();
    let there = all.filter(|(_, method)| gone(method)).map(|(name, _)| place(name));
    let places = there.filter(|place| context.message.get(place).is_some()).collect();
    Finding::at_all(places, "this version has no such methods; the agent uses its own files and terminals")
}

/// The names in a hello, in the version that it proposes or agrees to.
pub(super) fn names(context: &RuleContext<'_>) -> Option<&'static HelloNames> {
    let version = context.message.get("/protocolVersion")?.parse().ok()?;
    Some(tables::version(version)?.dialect.hello(context.sender))
}

/// The groups of capabilities that a member is expected to state.
const GROUPS: &[(&str, &[&str])] = &[
    ("clientCapabilities", &["fs", "terminal"]),
    ("agentCapabilities", &["loadSession", "promptCapabilities", "mcpCapabilities"]),
];

/// An absent capabilities object is clear; one without a member may have forgotten it.
fn silent(context: &RuleContext<'_>) -> Option<Finding> {
    let member = names(context)?.capabilities;
    let (_, groups) = GROUPS.iter().find(|(name, _)| *name == member)?;
    let said = context.message.get(&format!("/{member}"))?;
    let missing = groups.iter().find(|name| json::pointer(said, &format!("/{name}")).is_none())?;
    let message = "absent; state what is supported, and use false for what is not";
    Some(Finding::new(format!("/{member}/{missing}"), message))
}
