//! AUTH: ways to log in, and being logged in.
//!
//! The gates of `logout` and `auth/status` are in the model. A login is known by its traces alone: a call that was refused
//! for want of one, an answer to `authenticate` or `logout`, an agent's own word. No call waits for it: that there
//! are ways to log in does not mean that anybody has to.

use super::catalogue::{rule, E, R, T};
use super::scene::{Action, Check, Message, Objection, On, Scene, Tracker, OPENING};
use super::{cap, Area, Level, Severity};
use crate::connection::{MisuseKind, Role, State};
use crate::json;
use crate::jsonrpc::ErrorCode;
use crate::map::Names;
use Level::{May, Must, MustNot, Should};
use Severity::{Error, Note, Warning};

const INITIALIZE: &[&str] = &["initialize"];
const LOGIN: &[&str] = &["authenticate", "auth/login"];
const LOGOUT: &[&str] = &["logout", "auth/logout"];
const BOTH: &[&str] = &["authenticate", "auth/login", "logout", "auth/logout"];

/// Whether the agent works for this user, as far as anything has said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Login {
    /// Nothing has said.
    #[default]
    Unknown,
    /// A call was refused for want of a login, or the user has logged out.
    Required,
    /// A login has succeeded.
    Done,
}

impl Login {
    /// A name for it, the same in every language.
    pub const fn name(self) -> &'static str {
        match self {
            Login::Unknown => "unknown",
            Login::Required => "required",
            Login::Done => "done",
        }
    }
}

/// Who carries a login out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LoginKind {
    /// The agent, when it is asked to by `authenticate`.
    Agent,
    /// The user, in a terminal in which the client runs the agent's program once more (AUTH-10). Afterwards a new
    /// connection is needed (AUTH-13).
    Terminal,
}

impl LoginKind {
    /// A name for it, the same in every language.
    pub const fn name(self) -> &'static str {
        match self {
            LoginKind::Agent => "agent",
            LoginKind::Terminal => "terminal",
        }
    }
}

/// What is known of logging in.
#[derive(Debug, Default)]
pub(crate) struct Auth {
    pub(crate) login: Login,
    /// What `initialize` listed and may be used, in the agent's order.
    pub(crate) methods: Vec<(Box<str>, LoginKind)>,
    /// The number that the requests after a login are above, until one that may need a login has worked (AUTH-23).
    after: Option<u64>,
}

pub(super) static AREA: Area = Area {
    name: "AUTH",
    title: "Authentication",
    rules: RULES,
    checks: &[
        Check::new(id!("AUTH-07"), On::Call, LOGIN, terminal).kind(MisuseKind::Method),
        Check::new(id!("AUTH-01"), On::Call, LOGIN, not_listed),
        Check::new(id!("AUTH-27"), On::Call, LOGIN, secrets).receive(Action::Strip),
        Check::new(id!("AUTH-22"), On::Answer, BOTH, not_empty).receive(Action::Report),
        Check::new(id!("AUTH-28"), On::Answer, INITIALIZE, same_id).receive(Action::LeaveOut),
        Check::new(id!("AUTH-08"), On::Answer, INITIALIZE, no_terminal)
            .receive(Action::LeaveOut)
            .kind(MisuseKind::Capability),
        Check::new(id!("AUTH-11"), On::Answer, INITIALIZE, command).receive(Action::LeaveOut),
        Check::new(id!("AUTH-29"), On::Answer, INITIALIZE, outdated).send(Action::Pass).receive(Action::Tell),
        Check::new(id!("AUTH-30"), On::Call, &["auth/status_update"], unasked)
            .receive(Action::Report)
            .kind(MisuseKind::Capability),
        Check::new(id!("AUTH-31"), On::Error, &["auth/status"], wants_login).receive(Action::Tell),
        Check::new(id!("AUTH-23"), On::Error, &["*"], again).send(Action::Report).receive(Action::Tell),
        Check::new(id!("AUTH-03"), On::Error, &["*"], more_than_a_reason).send(Action::Report).receive(Action::Pass),
    ],
    trackers: &[
        Tracker { rules: &[id!("AUTH-06")], on: On::Answer, messages: INITIALIZE, track: listed },
        Tracker { rules: &[id!("AUTH-02"), id!("AUTH-23")], on: On::Answer, messages: LOGIN, track: logged_in },
        Tracker { rules: &[id!("AUTH-24"), id!("AUTH-25")], on: On::Answer, messages: LOGOUT, track: logged_out },
        Tracker { rules: &[id!("AUTH-02"), id!("AUTH-04")], on: On::Answer, messages: OPENING, track: worked },
        Tracker {
            rules: &[id!("AUTH-02"), id!("AUTH-04")],
            on: On::Answer,
            messages: &["session/prompt"],
            track: worked,
        },
        Tracker {
            rules: &[id!("AUTH-02"), id!("AUTH-03"), id!("AUTH-04")],
            on: On::Error,
            messages: &["*"],
            track: refused,
        },
        Tracker { rules: &[id!("AUTH-31")], on: On::Answer, messages: &["auth/status"], track: told },
        Tracker { rules: &[id!("AUTH-31")], on: On::Call, messages: &["auth/status_update"], track: told },
    ],
};

pub(super) static RULES: &[super::Rule] = &[
    rule("AUTH-01", Must, Error, E | R, "A client logs in by an id that the answer to initialize listed."),
    rule("AUTH-02", Must, Note, T, "Where the agent wants a login, it comes before the calls that need it; whether it does is followed, and nothing waits for it."),
    rule("AUTH-03", May, Note, E | T, "An agent may refuse a call for want of a login, with a reason at most; the ways to log in are those of initialize."),
    rule("AUTH-04", Should, Note, T, "After such a refusal the client offers the login and calls again; the login is listed as required until then."),
    rule("AUTH-05", MustNot, Error, E | R, "Logging out is called only where the agent advertises it."),
    rule("AUTH-06", Must, Note, T, "A way to log in without a type is one that the agent runs itself; the type may also be spelled out."),
    rule("AUTH-07", MustNot, Error, E | R, "A login in a terminal is never asked of the agent."),
    rule("AUTH-08", Must, Warning, E | R, "Logins in a terminal are listed only for clients that can run one; others are delivered a list without them."),
    rule("AUTH-11", MustNot, Warning, E | R, "A login in a terminal names no program; it is always the agent's own, and another one is left out."),
    rule("AUTH-18", Must, Warning, E | R, "A way to log in has an id, a name and a type (v2)."),
    rule("AUTH-20", Must, Warning, E | R, "The environment of a terminal login is a list of names and values (v2)."),
    rule("AUTH-22", Must, Warning, E | R, "A login or logout that succeeds is answered with an empty object."),
    rule("AUTH-23", Must, Warning, E | R | T, "After a login, calls are not refused for want of one."),
    rule("AUTH-24", Must, Note, T, "After a logout, new calls that need a login need it again."),
    rule("AUTH-25", Should, Note, T, "Sessions that are open at a logout may fail from then on, and are marked."),
    rule("AUTH-27", Must, Warning, E | R, "A call to log in names the way and nothing else, least of all a secret; what else a peer sends is taken out and not shown."),
    rule("AUTH-28", Must, Warning, E | R, "The ids of the ways to log in are unique; all but the first of equal ones are left out."),
    rule("AUTH-29", Must, Note, R, "A login by environment variables, which is outdated, is read as one that the agent runs itself."),
    rule("AUTH-30", Must, Error, E | R, "The state of the login is asked for only where the agent advertises that (draft)."),
    rule("AUTH-31", Must, Error, E | R | T, "The state of the login can be asked for at any time, and the answer names it (draft)."),
];

/// The entries of `authMethods` with their places.
fn entries<'a>(result: &Message<'a>) -> impl Iterator<Item = (usize, &'a str)> {
    result.items("/authMethods").into_iter().enumerate()
}

/// Where a member, or the whole, of each entry stands that is such.
fn places(result: &Message<'_>, member: &str, mut is_such: impl FnMut(&str) -> bool) -> Vec<String> {
    let such = entries(result).filter(|(_, entry)| is_such(entry));
    such.map(|(at, _)| format!("/authMethods/{at}{member}")).collect()
}

fn text(entry: &str, name: &str) -> Option<String> {
    json::pointer(entry, name).and_then(json::unescape).map(Into::into)
}

/// Version 2 says `methodId`.
fn id_of(entry: &str) -> Option<String> {
    text(entry, "/id").or_else(|| text(entry, "/methodId"))
}

fn is_terminal(entry: &str) -> bool {
    text(entry, "/type").is_some_and(|kind| kind == "terminal")
}

fn kind_of(scene: &Scene<'_>) -> Option<LoginKind> {
    let id = scene.message.text("/methodId")?;
    scene.state.auth.methods.iter().find(|(known, _)| **known == *id).map(|(_, kind)| *kind)
}

fn terminal(scene: &Scene<'_>) -> Option<Objection> {
    (kind_of(scene)? == LoginKind::Terminal).then(|| {
        Objection::new(
            "/methodId",
            "a login in a terminal: run the agent's program there with the method's args and env, then open a new \
             connection",
        )
    })
}

fn not_listed(scene: &Scene<'_>) -> Option<Objection> {
    if kind_of(scene).is_some() || scene.state.auth.methods.len() >= scene.state.config.limits.remembered {
        return None;
    }
    Some(Objection::new(
        "/methodId",
        "not one of the ids in the agent's authMethods; take the id of one that the agent listed",
    ))
}

fn others(body: Option<&str>, known: &[&str]) -> Vec<String> {
    let members = json::members(body.unwrap_or("{}")).into_iter();
    let others = members.filter(|(name, _)| !known.contains(&&**name));
    others.map(|(name, _)| format!("/{}", name.replace('~', "~0").replace('/', "~1"))).collect()
}

fn secrets(scene: &Scene<'_>) -> Option<Objection> {
    let places = others(scene.message.body, &["methodId", "_meta"]);
    Objection::at_all(places, "a login names its method and nothing else; secrets never travel in it")
}

fn not_empty(scene: &Scene<'_>) -> Option<Objection> {
    let places = others(scene.message.body, &["_meta"]);
    Objection::at_all(places, "success is an empty object; leave this out")
}

fn same_id(scene: &Scene<'_>) -> Option<Objection> {
    let mut seen = Names::default();
    let again = |entry: &str| id_of(entry).is_some_and(|id| !seen.add(id.into()));
    let places = places(&scene.message, "", again);
    Objection::at_all(places, "another method has this id already, and is the one that counts")
}

fn no_terminal(scene: &Scene<'_>) -> Option<Objection> {
    if cap::advertises(scene.state, Role::Client, "/auth/terminal") {
        return None;
    }
    Objection::at_all(
        places(&scene.message, "", is_terminal),
        "the client did not advertise auth.terminal, so it cannot run this login; list it only for clients that did",
    )
}

fn command(scene: &Scene<'_>) -> Option<Objection> {
    let names = |entry: &str| is_terminal(entry) && json::pointer(entry, "/command").is_some();
    Objection::at_all(
        places(&scene.message, "/command", names),
        "a login in a terminal runs the agent's own program and no other; args and env are what it may add",
    )
}

fn outdated(scene: &Scene<'_>) -> Option<Objection> {
    let old = |entry: &str| text(entry, "/type").is_some_and(|kind| kind == "env_var");
    let (at, _) = entries(&scene.message).find(|(_, entry)| old(entry))?;
    let found = scene.state.tables.version == 1;
    found.then(|| {
        Objection::new(format!("/authMethods/{at}/type"), "an outdated kind, read as a login that the agent runs")
    })
}

fn unasked(scene: &Scene<'_>) -> Option<Objection> {
    let known = cap::advertises(scene.state, Role::Agent, "/auth/status");
    (!known).then(|| Objection::new("", "the agent did not advertise auth.status, which this belongs to"))
}

fn wants_a_login(error: &Message<'_>) -> bool {
    error.get("/code").and_then(|code| code.parse().ok()).map(ErrorCode) == Some(ErrorCode::AUTH_REQUIRED)
}

fn wants_login(scene: &Scene<'_>) -> Option<Objection> {
    let wrong = wants_a_login(&scene.message);
    wrong.then(|| Objection::new("/code", "the state of the login is told without one; answer with the state"))
}

fn again(scene: &Scene<'_>) -> Option<Objection> {
    let later = scene.message.request?.serial > scene.state.auth.after?;
    if !later || !wants_a_login(&scene.message) || LOGIN.contains(&scene.message.method) {
        return None;
    }
    Some(Objection::new("/code", "the login has just succeeded; to log in once more would go round in circles"))
}

fn more_than_a_reason(scene: &Scene<'_>) -> Option<Objection> {
    if !wants_a_login(&scene.message) {
        return None;
    }
    let more = others(scene.message.get("/data"), &["reason"]);
    let places = more.into_iter().map(|place| format!("/data{place}")).collect();
    Objection::at_all(places, "a reason is all that belongs here; the ways to log in are those of initialize")
}

/// Methods that cannot be used are left out: terminal logins that the client cannot run, and all but the first of an id.
fn listed(state: &mut State, result: &Message<'_>) -> Option<Box<str>> {
    result.body?;
    let terminals = cap::advertises(state, Role::Client, "/auth/terminal");
    let mut seen = Names::default();
    let mut methods = Vec::new();
    for (_, entry) in entries(result) {
        let kind = if is_terminal(entry) { LoginKind::Terminal } else { LoginKind::Agent };
        let Some(id) = id_of(entry).filter(|id| seen.add(id.clone().into())) else { continue };
        if methods.len() < state.config.limits.remembered && (terminals || kind == LoginKind::Agent) {
            methods.push((id.into(), kind));
        }
    }
    state.auth.methods = methods;
    None
}

fn logged_in(state: &mut State, answer: &Message<'_>) -> Option<Box<str>> {
    answer.body?;
    state.auth.login = Login::Done;
    let open = match state.config.role {
        Role::Client => state.outbound.iter().last(),
        Role::Agent => state.inbound.iter().last(),
    };
    let open = open.into_iter().chain(state.late.iter());
    let last = answer.request.into_iter().chain(open).map(|request| request.serial).max();
    state.auth.after = last;
    state.sessions.known.values_mut().for_each(|session| session.auth_uncertain = false);
    None
}

fn logged_out(state: &mut State, answer: &Message<'_>) -> Option<Box<str>> {
    answer.body?;
    state.auth.login = Login::Required;
    state.auth.after = None;
    state.sessions.known.values_mut().for_each(|session| session.auth_uncertain = true);
    None
}

/// A call that may need a login has worked.
fn worked(state: &mut State, answer: &Message<'_>) -> Option<Box<str>> {
    answer.body?;
    state.auth.after = None;
    if state.auth.login == Login::Required {
        state.auth.login = Login::Unknown;
    }
    None
}

fn refused(state: &mut State, error: &Message<'_>) -> Option<Box<str>> {
    if wants_a_login(error) {
        state.auth.login = Login::Required;
        state.auth.after = None;
    }
    None
}

/// The agent's own word (draft).
fn told(state: &mut State, status: &Message<'_>) -> Option<Box<str>> {
    match &*status.text("/state")? {
        "authenticated" | "not_required" => state.auth.login = Login::Done,
        "unauthenticated" => state.auth.login = Login::Required,
        // Clients read other states like `unknown`.
        _ => {}
    }
    None
}
