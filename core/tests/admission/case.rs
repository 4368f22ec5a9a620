//! One combination, and what the catalogue says to it.
//!
//! [`PRECEDENCE`] is the order in which the rules speak; the first that objects decides. Facts about methods come from
//! the model's files, and nothing comes from the core but the names of its kinds of misuse and codes.

use libacp::connection::{MisuseKind, Role, Versions};
use libacp::ErrorCode;
use serde_json::{json, Value};

use crate::model::Model;

/// How far the connection is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    Start,
    Initializing,
    /// `initialize` was answered, and nothing else asked.
    Agreed,
    Ready,
    ClosedByHost,
    /// The peer has stopped writing and may still read.
    ClosedByPeer,
}

pub(crate) const STAGES: &[Stage] =
    &[Stage::Start, Stage::Initializing, Stage::Agreed, Stage::Ready, Stage::ClosedByHost, Stage::ClosedByPeer];

/// What is known of the user's login.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Login {
    /// The agent has listed no way to log in.
    Unlisted,
    /// It has listed one, and nothing has said whether it is needed.
    Listed,
    /// A call was refused for want of a login.
    Required,
    Done,
}

pub(crate) const LOGINS: &[Login] = &[Login::Unlisted, Login::Listed, Login::Required, Login::Done];

/// What the receiver of a gated method says where the gate looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    Absent,
    /// The object that should hold it is null.
    NoParent,
    Null,
    False,
    True,
    Text,
    List,
    Object,
}

const MARKS: &[Mark] =
    &[Mark::Absent, Mark::NoParent, Mark::Null, Mark::False, Mark::True, Mark::Text, Mark::List, Mark::Object];

/// One combination.
#[derive(Debug, Clone)]
pub(crate) struct Case<'m> {
    /// The agreed version's; before there is one, version 1's, though only methods that both have count then.
    pub(crate) model: &'m Model,
    /// What the host allows.
    pub(crate) versions: Versions,
    pub(crate) method: &'m str,
    /// The side under test.
    pub(crate) role: Role,
    pub(crate) sends: bool,
    pub(crate) request: bool,
    pub(crate) stage: Stage,
    pub(crate) drafts: Vec<&'m str>,
    pub(crate) mark: Mark,
    pub(crate) login: Login,
}

/// What came of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Accepted,
    Misuse(MisuseKind, &'static str),
    Refused(ErrorCode, &'static str),
    Dropped(&'static str),
    /// Delivered, with a violation.
    Reported(&'static str),
    /// Nothing happens and nobody is told.
    Ignored,
}

/// A rule that objects: what it is on send, and what the answer is on receive.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Objection {
    rule: &'static str,
    kind: MisuseKind,
    code: ErrorCode,
}

/// The rules on method, side, form, phase and capability, the first that objects first.
const PRECEDENCE: &[fn(&Case<'_>) -> Option<Objection>] =
    &[over, early, unknown, wrong_side, again, wrong_form, gated, unlisted, unstarted];

fn objection(rule: &'static str, kind: MisuseKind, code: ErrorCode) -> Objection {
    Objection { rule, kind, code }
}

/// RPC-33: nothing is asked, or asked back, once there is nobody who could answer, and nothing at all is said after the
/// host's own close.
fn over(case: &Case<'_>) -> Option<Objection> {
    let asks = case.request || case.method == "$/cancel_request";
    let over = case.stage == Stage::ClosedByHost || (case.stage == Stage::ClosedByPeer && asks);
    over.then(|| objection("RPC-33", MisuseKind::Phase, ErrorCode::INVALID_REQUEST))
}

/// INIT-01 and INIT-02: before `initialize` is answered there is nothing but it, whatever the method, known or not.
fn early(case: &Case<'_>) -> Option<Objection> {
    let before = matches!(case.stage, Stage::Start | Stage::Initializing);
    let may = case.row().is_some_and(|row| row["phase"] != "ready");
    let rule = if case.sender() == Role::Client { "INIT-01" } else { "INIT-02" };
    (before && !may).then(|| objection(rule, MisuseKind::Phase, ErrorCode::INVALID_REQUEST))
}

/// EXT-07; RPC-17 and RPC-18 for the peer's: names that are not the version's begin with an underscore.
fn unknown(case: &Case<'_>) -> Option<Objection> {
    let unknown = case.row().is_none() && !case.method.starts_with('_');
    let rule = match (case.sends, case.request) {
        (true, _) => "EXT-07",
        (false, true) => "RPC-17",
        (false, false) => "RPC-18",
    };
    unknown.then(|| objection(rule, MisuseKind::Method, ErrorCode::METHOD_NOT_FOUND))
}

/// RPC-27.
fn wrong_side(case: &Case<'_>) -> Option<Objection> {
    let from = case.row()?["from"].as_str()?;
    let wrong = from != "both" && from != case.sender().name();
    wrong.then(|| objection("RPC-27", MisuseKind::Method, ErrorCode::METHOD_NOT_FOUND))
}

/// INIT-09; INIT-23: version 2 allows it until something else is asked.
fn again(case: &Case<'_>) -> Option<Objection> {
    let nothing_asked = case.model.version == 2 && case.stage == Stage::Agreed;
    let again = case.row()?["phase"] == "start" && case.stage != Stage::Start && !nothing_asked;
    again.then(|| objection("INIT-09", MisuseKind::Phase, ErrorCode::INVALID_REQUEST))
}

/// RPC-28 and RPC-29.
fn wrong_form(case: &Case<'_>) -> Option<Objection> {
    let rule = match (case.row()?["kind"].as_str()?, case.request) {
        ("request", false) => "RPC-28",
        ("notification", true) => "RPC-29",
        _ => return None,
    };
    Some(objection(rule, MisuseKind::Method, ErrorCode::INVALID_REQUEST))
}

/// CAP-15 and the rule of the gate.
fn gated(case: &Case<'_>) -> Option<Objection> {
    let row = case.row()?;
    let gate = row.get("gate")?;
    // CAP-03, CAP-04, CAP-06: a switch is `true`, a marker is any object, and everything else says no.
    let open = case.mark == if gate["form"] == "boolean" { Mark::True } else { Mark::Object };
    let rule = RULES.iter().find(|rule| row["gate-rule"] == **rule).expect("a rule of a gate");
    (!open).then(|| objection(rule, MisuseKind::Capability, ErrorCode::METHOD_NOT_FOUND))
}

/// AUTH-16: an agent of version 2 that lists no way to log in has neither of these calls.
fn unlisted(case: &Case<'_>) -> Option<Objection> {
    let logs = matches!(case.method, "auth/login" | "auth/logout") && case.login == Login::Unlisted;
    (logs && case.model.version == 2).then(|| objection("AUTH-16", MisuseKind::Capability, ErrorCode::METHOD_NOT_FOUND))
}

/// NES-02: in version 2 a session of suggestions is known once it was started, and here none is.
fn unstarted(case: &Case<'_>) -> Option<Objection> {
    let names = case.row()?["scope"] == "other-session" && case.model.version == 2;
    names.then(|| objection("NES-02", MisuseKind::Session, ErrorCode::RESOURCE_NOT_FOUND))
}

/// The rules that gates name.
const RULES: &[&str] = &[
    "AUTH-05", "AUTH-30", "CAP-10", "CAP-15", "ELIC-02", "FS-01", "FS-02", "NES-01", "NES-04", "PROV-01", "SESS-09",
    "SESS-10", "SESS-11", "SESS-12", "SESS-13", "SESS-14", "TERM-01",
];

/// What messages need beyond method, side, form, phase and capability, and no test has provided.
struct Premise {
    methods: &'static [&'static str],
    request: bool,
    /// Who must not send it; `None` for either.
    sender: Option<Role>,
    rule: &'static str,
    kind: MisuseKind,
    received: fn(&'static str) -> Outcome,
    /// The logins with which it is missing.
    logins: &'static [Login],
}

/// In the order in which they speak.
const PREMISES: &[Premise] = &[
    // There is nothing to log in by.
    Premise {
        methods: &["authenticate"],
        request: true,
        sender: None,
        rule: "AUTH-01",
        kind: MisuseKind::Params,
        received: |rule| Outcome::Refused(ErrorCode::INVALID_PARAMS, rule),
        logins: &[Login::Unlisted],
    },
    // Requests to an MCP server come from the agent, notifications from the client.
    Premise {
        methods: &["mcp/message"],
        request: true,
        sender: Some(Role::Client),
        rule: "MOA-08",
        kind: MisuseKind::Method,
        received: |rule| Outcome::Refused(ErrorCode::METHOD_NOT_FOUND, rule),
        logins: LOGINS,
    },
    Premise {
        methods: &["mcp/message"],
        request: false,
        sender: Some(Role::Agent),
        rule: "MOA-08",
        kind: MisuseKind::Method,
        received: Outcome::Dropped,
        logins: LOGINS,
    },
    // No session has declared a server.
    Premise {
        methods: &["mcp/message", "mcp/connect"],
        request: true,
        sender: None,
        rule: "MOA-03",
        kind: MisuseKind::Id,
        received: |rule| Outcome::Refused(ErrorCode::INVALID_PARAMS, rule),
        logins: LOGINS,
    },
    // And no request to one is open.
    Premise {
        methods: &["mcp/message"],
        request: false,
        sender: None,
        rule: "MOA-04",
        kind: MisuseKind::Id,
        received: Outcome::Dropped,
        logins: LOGINS,
    },
    Premise {
        methods: &["mcp/disconnect"],
        request: true,
        sender: None,
        rule: "MOA-07",
        kind: MisuseKind::Id,
        received: |rule| Outcome::Refused(ErrorCode::INVALID_PARAMS, rule),
        logins: LOGINS,
    },
    // The agent's own message, so it is no gate of the client's; the capability is never there.
    Premise {
        methods: &["auth/status_update"],
        request: false,
        sender: None,
        rule: "AUTH-30",
        kind: MisuseKind::Capability,
        received: Outcome::Reported,
        logins: LOGINS,
    },
];

impl Case<'_> {
    pub(crate) fn sender(&self) -> Role {
        if self.sends {
            self.role
        } else {
            self.role.other()
        }
    }

    /// The method's row, if there is such a method here.
    pub(crate) fn row(&self) -> Option<&Value> {
        let row = self.model.methods.get(self.method)?;
        row["draft"].as_str().is_none_or(|draft| self.drafts.contains(&draft)).then_some(row)
    }

    fn premise(&self) -> Option<&'static Premise> {
        let known = self.row().is_some();
        PREMISES.iter().find(|premise| {
            let sender = premise.sender.is_none_or(|sender| sender == self.sender());
            let login = premise.logins.contains(&self.login);
            known && premise.methods.contains(&self.method) && premise.request == self.request && sender && login
        })
    }

    fn objection(&self) -> Option<Objection> {
        PRECEDENCE.iter().find_map(|rule| rule(self))
    }

    /// What `why_not` says: the same as sending it in the form that it has.
    pub(crate) fn why_not(&self) -> Option<(MisuseKind, &'static str)> {
        let request = self.row().is_none_or(|row| row["kind"] != "notification");
        let asked = Case { sends: true, request, ..self.clone() };
        // It is about the method, whatever session its params name.
        let about_it = asked.objection().filter(|objection| objection.kind != MisuseKind::Session);
        about_it.map(|objection| (objection.kind, objection.rule))
    }

    /// What the catalogue says.
    pub(crate) fn expected(&self) -> Outcome {
        if !self.sends && matches!(self.stage, Stage::ClosedByHost | Stage::ClosedByPeer) {
            return Outcome::Ignored;
        }
        match self.objection() {
            Some(Objection { rule, kind, .. }) if self.sends => Outcome::Misuse(kind, rule),
            Some(Objection { rule, code, .. }) if self.request => Outcome::Refused(code, rule),
            // CANCEL-21.
            Some(_) if self.method.starts_with("$/") => Outcome::Ignored,
            Some(Objection { rule, .. }) => Outcome::Dropped(rule),
            None if self.premise().is_some() => {
                let Premise { rule, kind, received, .. } = self.premise().expect("what is missing");
                if self.sends {
                    Outcome::Misuse(*kind, rule)
                } else {
                    received(rule)
                }
            }
            // CANCEL-08, CANCEL-11: a cancel is about an open request of its sender's.
            None if self.method != "$/cancel_request" || self.sender_waits() => Outcome::Accepted,
            None if self.sends => Outcome::Misuse(MisuseKind::Id, "CANCEL-08"),
            None => Outcome::Ignored,
        }
    }

    /// Whether the sender has an open request: `initialize` until it is answered, then one that the test leaves open
    /// for as long as there is somebody to answer it.
    fn sender_waits(&self) -> bool {
        match self.stage {
            Stage::Initializing => self.sender() == Role::Client,
            stage => stage == Stage::Ready,
        }
    }

    /// The capabilities of one side, with the mark where the gate looks.
    pub(crate) fn capabilities(&self, of: Role) -> Value {
        let session = if self.model.version > 1 && of == Role::Agent { json!({"session": {}}) } else { json!({}) };
        let gate = self.row().and_then(|row| row.get("gate")).filter(|gate| gate["of"] == of.name());
        let Some(gate) = gate else { return session };
        let path = gate["path"].as_str().expect("a path");
        let mut all = session;
        let mut at = &mut all;
        let (parents, last) = path.rsplit_once('.').map_or((None, path), |(parents, last)| (Some(parents), last));
        let parents: Vec<&str> = parents.iter().flat_map(|parents| parents.split('.')).collect();
        for (index, parent) in parents.iter().enumerate() {
            at = &mut at[*parent];
            if self.mark == Mark::NoParent && index + 1 == parents.len() {
                *at = Value::Null;
                return all;
            }
            if at.is_null() {
                *at = json!({});
            }
        }
        match self.mark {
            Mark::Absent | Mark::NoParent => drop(at.as_object_mut().expect("an object").remove(last)),
            Mark::Null => at[last] = Value::Null,
            Mark::False => at[last] = json!(false),
            Mark::True => at[last] = json!(true),
            Mark::Text => at[last] = json!("true"),
            Mark::List => at[last] = json!([{}]),
            // Elicitation is asked for mode by mode (ELIC-01).
            Mark::Object if path == "elicitation" => at[last] = json!({"form": {}}),
            Mark::Object if gate["form"] == "presence" => at[last] = self.model.marker(of.name(), path),
            Mark::Object => at[last] = json!({}),
        }
        all
    }

    /// What the receiver of the method can have said where the gate looks.
    pub(crate) fn marks(&self) -> &'static [Mark] {
        let gate = self.row().and_then(|row| row.get("gate")).filter(|_| self.stage != Stage::Start);
        match gate {
            Some(gate) if !(self.falls_back() && gate["of"] == "client") => MARKS,
            _ => &[Mark::Absent],
        }
    }

    /// Whether a client that proposes version 2 gets an agent that has only version 1.
    pub(crate) fn falls_back(&self) -> bool {
        self.role == Role::Client && self.versions.contains(2) && self.model.version == 1
    }

    /// Whether a host may say that about itself; what a peer says is read as well as it goes (CAP-06).
    pub(crate) fn is_sayable(&self) -> bool {
        let silent = self.stage == Stage::Start || (self.stage == Stage::Initializing && self.role == Role::Agent);
        if silent {
            return true;
        }
        let Some(gate) = self.row().and_then(|row| row.get("gate")) else { return true };
        let (of, path) = (gate["of"].as_str(), gate["path"].as_str().unwrap_or_default());
        if of != Some(self.role.name()) {
            return true;
        }
        let may_be_null =
            |path| self.model.capability(self.role.name(), path).is_some_and(|field| field["null"] == true);
        match self.mark {
            Mark::Absent => true,
            Mark::NoParent => path.rsplit_once('.').is_none_or(|(parent, _)| may_be_null(parent)),
            Mark::Null => may_be_null(path),
            Mark::True | Mark::False => gate["form"] == "boolean",
            Mark::Object => gate["form"] == "presence",
            Mark::Text | Mark::List => false,
        }
    }
}
