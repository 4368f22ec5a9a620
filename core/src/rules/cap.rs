//! CAP: capabilities in general.
//!
//! Methods are gated by the model's tables (`connection/rules/admission`), parameters and values by the check of their own
//! area; [`GATED`] names those for `can` and `why_not`. Wrong capabilities are read as none by the validation.

use super::catalogue::{rule, E, R, T};
use super::scene::{Action, Check, Objection, On, Scene, OPENING};
use super::{Area, Level, RuleId, Severity, Way};
use crate::connection::{Role, State};
use crate::json;
use crate::jsonrpc::ErrorCode;
use Level::{Must, MustNot, Should};
use Severity::{Error, Note, Warning};

const INITIALIZE: &[&str] = &["initialize"];
const TERMINALS: &[&str] =
    &["terminal/create", "terminal/output", "terminal/wait_for_exit", "terminal/kill", "terminal/release"];

pub(super) static AREA: Area = Area {
    name: "CAP",
    title: "Capabilities in general",
    rules: RULES,
    checks: &[
        Check::new(id!("CAP-08"), On::Error, &["session/new", "session/prompt"], unknown)
            .send(Action::Report)
            .receive(Action::Tell),
        Check::new(id!("CAP-11"), On::Error, &["session/request_permission"], unknown)
            .send(Action::Report)
            .receive(Action::Tell),
        Check::new(id!("CAP-12"), On::Error, TERMINALS, unknown).send(Action::Report).receive(Action::Tell),
        Check::new(id!("CAP-16"), On::Call, INITIALIZE, silent).send(Action::Hint).receive(Action::Pass),
        Check::new(id!("CAP-16"), On::Answer, INITIALIZE, silent).send(Action::Hint).receive(Action::Pass),
    ],
    trackers: &[],
};

pub(super) static RULES: &[super::Rule] = &[
    rule("CAP-01", Must, Error, T, "What is not listed among the capabilities is not supported."),
    rule("CAP-03", Must, Warning, E | R, "A capability is a switch or an object, whichever the specification says."),
    rule("CAP-04", Must, Error, T, "A capability that is an object is there or not; what stands in it does not matter."),
    rule("CAP-05", Must, Warning, E | R, "In version 2 every capability is an object."),
    rule("CAP-06", Must, Warning, R, "A capability that cannot be read is not supported, and initialize goes on."),
    rule("CAP-08", Must, Warning, E | R, "Every agent serves new sessions, prompts and their cancelling."),
    rule("CAP-10", MustNot, Error, E | R, "Version 2 calls session methods only on agents that advertise sessions."),
    rule("CAP-11", Must, Warning, E | R, "Every client serves permission requests."),
    rule("CAP-12", Must, Warning, E | R, "A client that advertises terminals serves all five of their methods."),
    rule("CAP-15", Must, Error, E | R, "A method whose capability its receiver did not advertise is an unknown method."),
    rule("CAP-16", Should, Note, E, "What is supported is said rather than left out; typed capabilities write every switch, and a host whose policy for notes is strict is told of silence."),
];

/// Something other than a method that needs a capability of version 1.
struct Gated {
    methods: &'static [&'static str],
    /// What it is called behind the method's name and a colon.
    name: &'static str,
    of: Role,
    /// Where the capability stands.
    pointer: &'static str,
    rule: RuleId,
    draft: Option<&'static str>,
}

const fn gated(
    methods: &'static [&'static str],
    name: &'static str,
    of: Role,
    pointer: &'static str,
    rule: RuleId,
) -> Gated {
    Gated { methods, name, of, pointer, rule, draft: None }
}

impl Gated {
    const fn draft(mut self, name: &'static str) -> Self {
        self.draft = Some(name);
        self
    }
}

const PROMPT: &[&str] = &["session/prompt"];
const UPDATE: &[&str] = &["session/update"];
const QUESTION: &[&str] = &["elicitation/create"];

const GATED: &[Gated] = &[
    gated(PROMPT, "image", Role::Agent, "/promptCapabilities/image", id!("CONT-02")),
    gated(PROMPT, "audio", Role::Agent, "/promptCapabilities/audio", id!("CONT-03")),
    gated(PROMPT, "resource", Role::Agent, "/promptCapabilities/embeddedContext", id!("CONT-04")),
    gated(OPENING, "additionalDirectories", Role::Agent, "/sessionCapabilities/additionalDirectories", id!("SESS-25")),
    gated(OPENING, "http", Role::Agent, "/mcpCapabilities/http", id!("SESS-55")),
    gated(OPENING, "sse", Role::Agent, "/mcpCapabilities/sse", id!("SESS-56")),
    gated(OPENING, "systemPrompt", Role::Agent, "/sessionCapabilities/systemPrompt", id!("SESS-68")),
    gated(
        OPENING,
        "systemPromptOverride",
        Role::Agent,
        "/sessionCapabilities/systemPrompt/mode/override",
        id!("SESS-69"),
    ),
    gated(OPENING, "configOptions", Role::Agent, "/sessionCapabilities/options", id!("CONF-18"))
        .draft("session_options"),
    gated(OPENING, "acp", Role::Agent, "/mcpCapabilities/acp", id!("MOA-01")).draft("mcp_over_acp"),
    gated(UPDATE, "notice", Role::Client, "/session/notices", id!("NOTE-06")),
    gated(UPDATE, "compaction_update", Role::Client, "/session/compaction", id!("NOTE-06")),
    gated(UPDATE, "compaction_summary_chunk", Role::Client, "/session/compaction", id!("NOTE-06")),
    gated(UPDATE, "plan_update", Role::Client, "/plan", id!("PLAN-10")).draft("plan_operations"),
    gated(UPDATE, "plan_removed", Role::Client, "/plan", id!("PLAN-10")).draft("plan_operations"),
    gated(UPDATE, "subagent_update", Role::Client, "/subagents", id!("SESS-71")),
    gated(UPDATE, "session_message", Role::Client, "/subagents", id!("SESS-71")),
    gated(UPDATE, "session_message_chunk", Role::Client, "/subagents", id!("SESS-71")),
    gated(UPDATE, "session", Role::Client, "/subagents", id!("TOOL-34")),
    gated(UPDATE, "prompt_suggestions_update", Role::Client, "/session/promptSuggestions", id!("NOTE-13"))
        .draft("prompt_suggestions"),
    gated(QUESTION, "form", Role::Client, "/elicitation/form", id!("ELIC-01")),
    gated(QUESTION, "url", Role::Client, "/elicitation/url", id!("ELIC-01")),
];

/// Why a parameter or value of a method cannot be sent to the peer: the rule, and what is missing.
pub(crate) fn withheld(state: &State, method: &str, name: &str) -> Option<(RuleId, String)> {
    let mut rows = GATED.iter().filter(|row| row.rule.is_on(Way::Send));
    let row = rows.find(|row| row.name == name && row.methods.contains(&method))?;
    if let Some(draft) = row.draft.filter(|name| !state.config.has_draft(name)) {
        return Some((row.rule, format!("{method} with {name} belongs to the draft {draft}, which is off")));
    }
    if state.tables.version > 1 || advertises(state, row.of, row.pointer) {
        return None;
    }
    let path = row.pointer.trim_start_matches('/').replace('/', ".");
    let of = row.of.name();
    Some((row.rule, format!("{method} with {name} needs the capability {path}, which the {of} did not advertise")))
}

/// Whether a side has advertised what stands at a pointer into its capabilities.
pub(super) fn advertises(state: &State, side: Role, pointer: &str) -> bool {
    let own = side == state.config.role;
    let capabilities = if own { &state.own.capabilities } else { &state.peer.capabilities };
    match json::pointer(capabilities, pointer) {
        Some(value) => value == "true" || (value.starts_with('{') && id!("CAP-04").is_on(Way::Track)),
        None => !id!("CAP-01").is_on(Way::Track),
    }
}

fn unknown(scene: &Scene<'_>) -> Option<Objection> {
    let code = scene.message.get("/code")?.parse().ok()?;
    if ErrorCode(code) != ErrorCode::METHOD_NOT_FOUND {
        return None;
    }
    Some(Objection::new(
        "/code",
        "this method is always served by a peer like this one; another error says what failed",
    ))
}

/// A list that is missing as a whole is plain; one that leaves something out may have forgotten it.
fn silent(scene: &Scene<'_>) -> Option<Objection> {
    let (member, groups): (&str, &[&str]) = match (scene.message.get("/protocolVersion")?, scene.sender) {
        ("1", Role::Client) => ("/clientCapabilities", &["fs", "terminal"]),
        ("1", Role::Agent) => ("/agentCapabilities", &["loadSession", "promptCapabilities", "mcpCapabilities"]),
        _ => return None,
    };
    let said = scene.message.get(member)?;
    let missing = groups.iter().find(|name| json::pointer(said, &format!("/{name}")).is_none())?;
    Some(Objection::new(format!("{member}/{missing}"), "left out; say what is supported, and false where it is not"))
}
