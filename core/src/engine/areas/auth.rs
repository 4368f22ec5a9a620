//! AUTH: authentication methods, and the state of the login.
//!
//! The gates of `logout` and `auth/status` are in the model. The state of the login follows from requests that were
//! refused because of a missing login, answers to `authenticate` and `logout`, and `auth/status_update`. No request is
//! refused here because of it: an agent that lists authentication methods need not require a login.

use crate::engine::{
    Action, Area, Check, Finding, MessageKind, MisuseKind, Role, RuleContext, RuleMessage, State, Tracker, OPENING,
};
use crate::json;
use crate::jsonrpc::ErrorCode;
use crate::map::StringMap;

const INITIALIZE: &[&str] = &["initialize"];
const LOGIN: &[&str] = &["authenticate", "auth/login"];
const LOGOUT: &[&str] = &["logout", "auth/logout"];
/// Methods that an agent of version 2 serves if it lists authentication methods.
const LISTED: &[&str] = &["auth/login", "auth/logout"];
const BOTH: &[&str] = &["authenticate", "auth/login", "logout", "auth/logout"];

/// Whether a login is needed, as far as the messages show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Login {
    /// Not known.
    #[default]
    Unknown,
    /// A request was refused because of a missing login, or the user has logged out.
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

/// Who performs a login.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LoginKind {
    /// The agent, on the request `authenticate` (`auth/login` in version 2).
    Agent,
    /// The user, in a terminal in which the client runs the agent's program again (AUTH-10). Afterwards a new
    /// connection is needed (AUTH-13).
    Terminal,
    /// The agent, with a custom type that begins with an underscore (version 2) and that both sides know.
    Custom,
    /// The type is not known to this library (version 2). The method cannot be used (AUTH-17).
    Unknown,
}

impl LoginKind {
    /// A name for it, the same in every language.
    pub const fn name(self) -> &'static str {
        match self {
            LoginKind::Agent => "agent",
            LoginKind::Terminal => "terminal",
            LoginKind::Custom => "custom",
            LoginKind::Unknown => "unknown",
        }
    }
}

/// The state of the login.
#[derive(Debug, Default)]
pub(crate) struct Auth {
    pub(crate) login: Login,
    /// The usable authentication methods of `initialize`, in the agent's order.
    pub(crate) methods: Vec<(Box<str>, LoginKind)>,
    /// There were more than the limit.
    more: bool,
    /// The highest serial before the login, until a later request that may need a login has succeeded (AUTH-23).
    after: Option<u64>,
}

impl Auth {
    /// Whether the agent has listed no authentication methods.
    pub(crate) fn is_without(&self) -> bool {
        self.methods.is_empty() && !self.more
    }
}

pub(super) static AREA: Area = Area {
    checks: &[
        Check::new(id!("AUTH-07"), MessageKind::Call, LOGIN, terminal).kind(MisuseKind::Method),
        Check::new(id!("AUTH-17"), MessageKind::Call, &["auth/login"], not_driven)
            .receive(Action::Pass)
            .kind(MisuseKind::Method),
        Check::new(id!("AUTH-01"), MessageKind::Call, LOGIN, not_listed),
        Check::new(id!("AUTH-27"), MessageKind::Call, LOGIN, secrets).receive(Action::Strip),
        Check::new(id!("AUTH-15"), MessageKind::Error, LISTED, not_served)
            .send(Action::Report)
            .receive(Action::ReportAlways),
        Check::new(id!("AUTH-22"), MessageKind::Answer, BOTH, not_empty).receive(Action::Report),
        Check::new(id!("AUTH-28"), MessageKind::Answer, INITIALIZE, same_id).receive(Action::LeaveOut),
        Check::new(id!("AUTH-08"), MessageKind::Answer, INITIALIZE, no_terminal)
            .receive(Action::LeaveOut)
            .kind(MisuseKind::Capability),
        Check::new(id!("AUTH-11"), MessageKind::Answer, INITIALIZE, command).receive(Action::LeaveOut),
        Check::new(id!("AUTH-20"), MessageKind::Answer, INITIALIZE, same_variable).receive(Action::Report),
        Check::new(id!("AUTH-29"), MessageKind::Answer, INITIALIZE, outdated)
            .send(Action::Pass)
            .receive(Action::ReportAlways),
        Check::new(id!("AUTH-30"), MessageKind::Call, &["auth/status_update"], unasked)
            .receive(Action::Report)
            .kind(MisuseKind::Capability),
        Check::new(id!("AUTH-31"), MessageKind::Error, &["auth/status"], wants_login).receive(Action::ReportAlways),
        Check::new(id!("AUTH-23"), MessageKind::Error, &["*"], again)
            .send(Action::Report)
            .receive(Action::ReportAlways),
        Check::new(id!("AUTH-03"), MessageKind::Error, &["*"], more_than_a_reason)
            .send(Action::Report)
            .receive(Action::Pass),
    ],
    trackers: &[
        Tracker { rules: &[id!("AUTH-06")], on: MessageKind::Answer, messages: INITIALIZE, track: listed },
        Tracker { rules: &[id!("AUTH-16")], on: MessageKind::Answer, messages: INITIALIZE, track: listed },
        Tracker {
            rules: &[id!("AUTH-02"), id!("AUTH-23")],
            on: MessageKind::Answer,
            messages: LOGIN,
            track: logged_in,
        },
        Tracker {
            rules: &[id!("AUTH-24"), id!("AUTH-25")],
            on: MessageKind::Answer,
            messages: LOGOUT,
            track: logged_out,
        },
        Tracker { rules: &[id!("AUTH-02"), id!("AUTH-04")], on: MessageKind::Answer, messages: OPENING, track: worked },
        Tracker {
            rules: &[id!("AUTH-02"), id!("AUTH-04")],
            on: MessageKind::Answer,
            messages: &["session/prompt"],
            track: worked,
        },
        Tracker {
            rules: &[id!("AUTH-02"), id!("AUTH-03"), id!("AUTH-04")],
            on: MessageKind::Error,
            messages: &["*"],
            track: refused,
        },
        Tracker { rules: &[id!("AUTH-31")], on: MessageKind::Answer, messages: &["auth/status"], track: told },
        Tracker { rules: &[id!("AUTH-31")], on: MessageKind::Call, messages: &["auth/status_update"], track: told },
    ],
};

/// The entries of `authMethods` with their places.
fn entries<'a>(result: &RuleMessage<'a>) -> impl Iterator<Item = (usize, &'a str)> {
    result.items("/authMethods").into_iter().enumerate()
}

/// The pointers to a member of the entries for which this holds, or to the entries themselves.
fn places(result: &RuleMessage<'_>, member: &str, mut is_such: impl FnMut(&str) -> bool) -> Vec<String> {
    let such = entries(result).filter(|(_, entry)| is_such(entry));
    such.map(|(at, _)| format!("/authMethods/{at}{member}")).collect()
}

fn text(entry: &str, name: &str) -> Option<String> {
    json::pointer(entry, name).and_then(json::unescape).map(Into::into)
}

/// The id of an entry; in version 2 it is `methodId`.
fn id_of(entry: &str) -> Option<String> {
    text(entry, "/id").or_else(|| text(entry, "/methodId"))
}

fn is_terminal(entry: &str) -> bool {
    text(entry, "/type").is_some_and(|kind| kind == "terminal")
}

/// Who performs the login of an entry.
fn login_kind(state: &State, entry: &str) -> LoginKind {
    match text(entry, "/type").as_deref() {
        Some("terminal") => LoginKind::Terminal,
        None | Some("agent") => LoginKind::Agent,
        // Version 1 reads all others as the agent's (AUTH-06, AUTH-29).
        Some(_) if state.has_rule(id!("AUTH-06")) => LoginKind::Agent,
        Some(own) if own.starts_with('_') => LoginKind::Custom,
        Some(_) => LoginKind::Unknown,
    }
}

fn kind_of(context: &RuleContext<'_>) -> Option<LoginKind> {
    let id = context.message.text("/methodId")?;
    context.state.auth.methods.iter().find(|(known, _)| **known == *id).map(|(_, kind)| *kind)
}

fn terminal(context: &RuleContext<'_>) -> Option<Finding> {
    (kind_of(context)? == LoginKind::Terminal).then(|| {
        Finding::new(
            "/methodId",
            "a login in a terminal: run the agent's program there with the method's args and env, then open a new \
             connection",
        )
    })
}

fn not_driven(context: &RuleContext<'_>) -> Option<Finding> {
    (kind_of(context)? == LoginKind::Unknown)
        .then(|| Finding::new("/methodId", "the type of this login method is unknown; use another login method"))
}

/// AUTH-15. If no method was listed, AUTH-16 has refused the request already.
fn not_served(context: &RuleContext<'_>) -> Option<Finding> {
    let code = context.message.get("/code")?.parse().ok()?;
    let unserved = ErrorCode(code) == ErrorCode::METHOD_NOT_FOUND;
    unserved.then(|| Finding::new("/code", "an agent that lists login methods serves auth/login and auth/logout"))
}

/// AUTH-20. In version 1, `env` is an object, which has each name once.
fn same_variable(context: &RuleContext<'_>) -> Option<Finding> {
    let mut places = Vec::new();
    for (at, entry) in entries(&context.message).filter(|(_, entry)| is_terminal(entry)) {
        let mut seen = StringMap::default();
        let list = json::pointer(entry, "/env").filter(|env| env.starts_with('[')).unwrap_or("[]");
        for (index, [name]) in json::columns(list, ["name"]).into_iter().enumerate() {
            if name.and_then(json::unescape).is_some_and(|name| !seen.add(name)) {
                places.push(format!("/authMethods/{at}/env/{index}/name"));
            }
        }
    }
    Finding::at_all(places, "another variable already has this name; the last one is used")
}

fn not_listed(context: &RuleContext<'_>) -> Option<Finding> {
    if kind_of(context).is_some() || context.state.auth.more {
        return None;
    }
    Some(Finding::new("/methodId", "not an id in the agent's authMethods; use one that the agent listed"))
}

fn others(body: Option<&str>, known: &[&str]) -> Vec<String> {
    let members = json::members(body.unwrap_or("{}")).into_iter();
    let others = members.filter(|(name, _)| !known.contains(&&**name));
    others.map(|(name, _)| format!("/{}", name.replace('~', "~0").replace('/', "~1"))).collect()
}

fn secrets(context: &RuleContext<'_>) -> Option<Finding> {
    let places = others(context.message.body, &["methodId", "_meta"]);
    let message = "a login call has the id of a login method and nothing else, least of all a secret";
    Finding::at_all(places, message).map(Finding::made_up)
}

fn not_empty(context: &RuleContext<'_>) -> Option<Finding> {
    let places = others(context.message.body, &["_meta"]);
    Finding::at_all(places, "success is an empty object; leave this out")
}

fn same_id(context: &RuleContext<'_>) -> Option<Finding> {
    let mut seen = StringMap::default();
    let again = |entry: &str| id_of(entry).is_some_and(|id| !seen.add(id.into()));
    let places = places(&context.message, "", again);
    Finding::at_all(places, "an earlier login method has the same id, and is the one that is used")
}

fn no_terminal(context: &RuleContext<'_>) -> Option<Finding> {
    if context.state.advertises(Role::Client, "/auth/terminal") {
        return None;
    }
    Finding::at_all(
        places(&context.message, "", is_terminal),
        "the client did not advertise auth.terminal, so it cannot run this login; list it only for clients that advertise it",
    )
}

fn command(context: &RuleContext<'_>) -> Option<Finding> {
    let names = |entry: &str| is_terminal(entry) && json::pointer(entry, "/command").is_some();
    Finding::at_all(
        places(&context.message, "/command", names),
        "a terminal login always runs the agent's own program; it may add only args and env",
    )
}

fn outdated(context: &RuleContext<'_>) -> Option<Finding> {
    let old = |entry: &str| text(entry, "/type").is_some_and(|kind| kind == "env_var");
    let (at, _) = entries(&context.message).find(|(_, entry)| old(entry))?;
    let pointer = format!("/authMethods/{at}/type");
    Some(Finding::new(pointer, "an obsolete type, read as a login method that the agent performs itself"))
}

fn unasked(context: &RuleContext<'_>) -> Option<Finding> {
    let known = context.state.advertises(Role::Agent, "/auth/status");
    (!known).then(|| Finding::new("", "the agent did not advertise auth.status, to which this belongs"))
}

fn wants_a_login(error: &RuleMessage<'_>) -> bool {
    error.get("/code").and_then(|code| code.parse().ok()).map(ErrorCode) == Some(ErrorCode::AUTH_REQUIRED)
}

fn wants_login(context: &RuleContext<'_>) -> Option<Finding> {
    let wrong = wants_a_login(&context.message);
    wrong.then(|| Finding::new("/code", "the login status does not require a login; answer with the status"))
}

fn again(context: &RuleContext<'_>) -> Option<Finding> {
    let later = context.message.request?.serial > context.state.auth.after?;
    if !later || !wants_a_login(&context.message) || LOGIN.contains(&context.message.method) {
        return None;
    }
    Some(Finding::new("/code", "a login has just succeeded; asking for another one would be an endless loop"))
}

fn more_than_a_reason(context: &RuleContext<'_>) -> Option<Finding> {
    if !wants_a_login(&context.message) {
        return None;
    }
    let more = others(context.message.get("/data"), &["reason"]);
    let places = more.into_iter().map(|place| format!("/data{place}")).collect();
    Finding::at_all(places, "only a reason belongs here; the login methods are those of initialize")
}

/// Keeps the usable methods: no terminal logins that the client cannot run, and only the first of each id.
fn listed(state: &mut State, result: &RuleMessage<'_>) -> Option<Box<str>> {
    result.body?;
    let terminals = state.advertises(Role::Client, "/auth/terminal");
    let mut seen = StringMap::default();
    let (mut methods, mut more) = (Vec::new(), false);
    for (_, entry) in entries(result) {
        let kind = login_kind(state, entry);
        let Some(id) = id_of(entry).filter(|id| seen.add(id.clone().into())) else { continue };
        if !terminals && kind == LoginKind::Terminal {
            continue;
        }
        if methods.len() < state.config.limits.remembered {
            methods.push((id.into(), kind));
        } else {
            more = true;
        }
    }
    (state.auth.methods, state.auth.more) = (methods, more);
    None
}

fn logged_in(state: &mut State, answer: &RuleMessage<'_>) -> Option<Box<str>> {
    answer.body?;
    state.auth.login = Login::Done;
    let open = match state.config.role() {
        Role::Client => state.outbound.iter().last(),
        Role::Agent => state.inbound.iter().last(),
    };
    let open = open.into_iter().chain(state.late.iter());
    let last = answer.request.into_iter().chain(open).map(|request| request.serial).max();
    state.auth.after = last;
    state.sessions.known.values_mut().for_each(|session| session.auth_uncertain = false);
    None
}

fn logged_out(state: &mut State, answer: &RuleMessage<'_>) -> Option<Box<str>> {
    answer.body?;
    state.auth.login = Login::Required;
    state.auth.after = None;
    state.sessions.known.values_mut().for_each(|session| session.auth_uncertain = true);
    None
}

/// A request that may need a login has succeeded.
fn worked(state: &mut State, answer: &RuleMessage<'_>) -> Option<Box<str>> {
    answer.body?;
    state.auth.after = None;
    if state.auth.login == Login::Required {
        state.auth.login = Login::Unknown;
    }
    None
}

fn refused(state: &mut State, error: &RuleMessage<'_>) -> Option<Box<str>> {
    if wants_a_login(error) {
        state.auth.login = Login::Required;
        state.auth.after = None;
    }
    None
}

/// `auth/status_update` (draft).
fn told(state: &mut State, status: &RuleMessage<'_>) -> Option<Box<str>> {
    match &*status.text("/state")? {
        "authenticated" | "not_required" => state.auth.login = Login::Done,
        "unauthenticated" => state.auth.login = Login::Required,
        // Clients read other states like `unknown`.
        _ => {}
    }
    None
}
