//! CAP: capabilities in general.
//!
//! Methods are gated by the model's tables (`admission`), members, values and variants by the check of their own area; the
//! model's `parts` say what these need, to the checks as to `can` and `why_not`. Wrong capabilities are read as none by the
//! validation.

use crate::engine::{Action, Area, Check, Finding, MessageKind, Role, RuleContext, Session, State};
use crate::json;
use crate::jsonrpc::ErrorCode;
use crate::rules::{RuleId, Way};
use crate::schema::drafts::DRAFTS;
use crate::schema::tables;
use crate::validation::table::From;

const INITIALIZE: &[&str] = &["initialize"];
/// What an agent of version 2 serves that has sessions.
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

/// A call about one thing in a session, which must itself offer it.
struct Offer {
    method: &'static str,
    rule: RuleId,
    what: &'static str,
    /// Whether the thing of this id offers it now or, without an id, any of the session's.
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
    if state.has(part) {
        return None;
    }
    let (capability, of) = (part.capability(), if part.of == From::Client { "client" } else { "agent" });
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

/// CAP-14: capabilities of an older version, without whose methods they mean nothing.
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

/// A list that is missing as a whole is plain; one that leaves something out may have forgotten it.
fn silent(context: &RuleContext<'_>) -> Option<Finding> {
    let (member, groups): (&str, &[&str]) = match (context.message.get("/protocolVersion")?, context.sender) {
        ("1", Role::Client) => ("/clientCapabilities", &["fs", "terminal"]),
        ("1", Role::Agent) => ("/agentCapabilities", &["loadSession", "promptCapabilities", "mcpCapabilities"]),
        _ => return None,
    };
    let said = context.message.get(member)?;
    let missing = groups.iter().find(|name| json::pointer(said, &format!("/{name}")).is_none())?;
    Some(Finding::new(format!("{member}/{missing}"), "absent; state what is supported, and use false for what is not"))
}
