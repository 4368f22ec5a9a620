//! `initialize`: the version that is agreed on, and what each side can do.
//!
//! Its members have other names in other versions and on the other side: those are in `names`.

mod names;

use super::event::{Json, Outcome, ResultText};
use super::incoming::Message;
use super::judge::{Form, Verdict};
use super::misuse::{Misuse, MisuseKind};
use super::outgoing::Fitting;
use super::pending::OpenRequest;
use super::report::{Breach, Subject};
use super::rules::Gates;
use super::{CloseReason, Connection, Consequence, Event, Phase, Policy, Request, Role, Side};
use crate::json::{self, Kind};
use crate::jsonrpc::{ErrorCode, Id};
use crate::rules::scene::{Message as Said, On};
use crate::rules::{RuleId, Way};
use crate::schema::tables;
use crate::validation::table::Tables;
use crate::validation::{check, Checked, Part, Problem, Rejected, TWICE};
use names::{misnamed, names, secret};

/// What a `protocolVersion` member holds.
enum Requested {
    Version(u64),
    /// A string of digits, which some peers send.
    Text(u64),
    Nothing,
    Wrong,
    /// Twice, and not the same.
    Twice,
}

fn requested(hello: &str) -> Requested {
    let members = json::members(hello);
    let mut found = members.into_iter().filter(|(name, _)| name == "protocolVersion").map(|(_, value)| value);
    match found.next() {
        None => Requested::Nothing,
        Some(text) if found.any(|other| other != text) => Requested::Twice,
        Some(text) => match text.parse::<u16>() {
            Ok(version) => Requested::Version(version.into()),
            // "1.0.0" and the like name no version there is: as good as 0.
            Err(_) => match json::unescape(text) {
                Some(text) => Requested::Text(text.parse::<u16>().unwrap_or(0).into()),
                None => Requested::Wrong,
            },
        },
    }
}

/// The JSON of an object with `protocolVersion` set to this; any other text as it is, to be refused.
fn with_version(hello: &str, version: u16) -> String {
    if !hello.trim_start().starts_with('{') {
        return hello.to_owned();
    }
    let mut writer = json::Writer::new();
    writer.begin_object().key("protocolVersion").unsigned(version.into());
    for (name, value) in json::members(hello) {
        if name != "protocolVersion" {
            writer.key(&name).json(value);
        }
    }
    writer.end_object();
    writer.finish().unwrap_or_else(|_| hello.to_owned())
}

/// The JSON of an object with some of its members.
fn only(hello: &str, keep: impl Fn(&str) -> bool) -> String {
    let mut writer = json::Writer::new();
    writer.begin_object();
    for (name, value) in json::members(hello).into_iter().filter(|(name, _)| keep(name)) {
        writer.key(&name).json(value);
    }
    writer.end_object();
    writer.finish().unwrap_or_else(|_| hello.to_owned())
}

impl Side {
    /// What stands under `_meta` of its capabilities for one extension.
    pub(crate) fn extension(&self, name: &str) -> Option<&str> {
        let pointer = format!("/_meta/{}", name.replace('~', "~0").replace('/', "~1"));
        json::agreed(&self.capabilities, &pointer).filter(|_| id!("EXT-10").is_on(Way::Track))
    }

    fn new(tables: &'static Tables, side: Role, hello: String) -> Self {
        let [capabilities, _] = names(tables.version, side);
        let capabilities = json::pointer(&hello, &format!("/{capabilities}"))
            .filter(|value| value.starts_with('{'))
            .unwrap_or("{}")
            .to_owned();
        Side { gates: Gates::read(tables, side, &capabilities), capabilities, hello }
    }
}

impl Connection {
    /// The agent's side: the peer's `initialize`, or what takes its place in a chain of proxies.
    pub(super) fn hello(&mut self, method: &str, text: &str, message: &Message, subject: &Subject) {
        let (kind, range) = message.params.clone().unwrap_or((Kind::Null, 0..0));
        let given = match kind {
            Kind::Object => &text[range],
            Kind::Null => "{}",
            _ => return self.scalar_params(subject, kind, true),
        };
        let wanted = match self.named_version(given, subject) {
            Requested::Version(version) => version,
            Requested::Nothing if id!("INIT-03").is_on(Way::Receive) => {
                return self.refuse_params(subject, &version_problem(id!("INIT-03"), "nothing"));
            }
            _ if !id!("INIT-04").is_on(Way::Receive) || !id!("INIT-03").is_on(Way::Receive) => 0,
            Requested::Twice => return self.refuse_params(subject, &version_problem(id!("INIT-04"), TWICE)),
            _ => return self.refuse_params(subject, &version_problem(id!("INIT-04"), "another kind of value")),
        };
        // INIT-05, INIT-06: the same if it is ours, the newest of ours if not.
        let version =
            if self.state.config.supports(wanted) { wanted as u16 } else { self.state.config.newest_version() };
        let params = with_version(given, wanted as u16);
        let Some(tables) = tables::version(version) else { return };
        let Some(row) = super::checker::find_method(tables, self.state.config.drafts, method) else { return };
        let checked = check(tables, self.state.config.drafts, row.params, &params, self.mode(), Part::Request);
        let params = match checked {
            Ok(checked) => {
                if u64::from(version) == wanted && !self.named_well(&checked.json, Role::Client, version, subject) {
                    return;
                }
                self.report_all(subject, &checked.problems);
                checked.json.into_owned()
            }
            Err(Rejected::Invalid(problem)) => return self.refuse_params(subject, &problem),
            Err(Rejected::Syntax(error)) => {
                return self.refuse(subject, ErrorCode::PARSE_ERROR, Breach::new(id!("RPC-21"), error.to_string()));
            }
        };
        self.agree_on(tables);
        self.state.version = Some(version);
        self.phase = Phase::Initializing;
        self.state.peer = Side::new(tables, Role::Client, params.clone());
        let serial = self.serial();
        let id = subject.id.clone().unwrap_or(Id::Null);
        self.state.inbound.insert(OpenRequest {
            id: id.clone(),
            serial,
            method: row.name.into(),
            session: None,
            cancelled: false,
            deadline: None,
            row: Some(row),
            life: None,
            note: None,
            grace: None,
            late: None,
        });
        self.events.push(Event::Request(Request {
            id,
            serial,
            method: row.name.into(),
            session: None,
            params: Json::whole(params),
        }));
    }

    /// The agent's side: the host's answer, with the version filled in. INIT-05: it cannot be another one.
    pub(super) fn welcome_text(&self, result: &str) -> Result<String, Misuse> {
        let version = self.state.version.unwrap_or(1);
        self.outgoing_value(None, None, result, Part::Response)?;
        own_names(result, version, Role::Agent)?;
        match requested(result) {
            Requested::Nothing if id!("INIT-10").is_on(Way::Track) => Ok(with_version(result, version)),
            Requested::Version(given) if given == u64::from(version) => Ok(result.to_owned()),
            _ if !id!("INIT-10").is_on(Way::Track) || !id!("INIT-05").is_on(Way::Send) => Ok(result.to_owned()),
            _ => Err(Misuse::new(
                MisuseKind::Params,
                id!("INIT-05"),
                format!("the agreed version is {version}; leave protocolVersion out and it is filled in"),
            )
            .at("/protocolVersion")),
        }
    }

    /// The agent's side: its answer has been written.
    pub(super) fn welcomed(&mut self, result: String) {
        self.state.own = Side::new(self.state.tables, Role::Agent, result);
        self.phase = Phase::Ready;
        self.opened = true;
    }

    fn agree_on(&mut self, tables: &'static Tables) {
        if id!("INIT-08").is_on(Way::Track) {
            self.state.tables = tables;
        }
        self.moulds.forget();
        self.own_moulds.forget();
    }

    /// `initialize` has failed, so it may be tried again.
    pub(super) fn hello_failed(&mut self) {
        self.phase = Phase::Start;
        self.state.version = None;
        self.agree_on(&tables::v1::TABLES);
    }

    /// The client's side: the params of its `initialize`, with the version filled in (INIT-03).
    pub(super) fn hello_text(&self, params: &str) -> Result<(Fitting<'static>, &'static Tables), Misuse> {
        self.outgoing_value(None, None, params, Part::Request)?;
        if let Some(name) = secret(params).filter(|_| id!("INIT-14").is_on(Way::Send)) {
            let message =
                "no secrets in initialize; authenticate names a way to log in, and what it takes is the agent's";
            return Err(Misuse::new(MisuseKind::Params, id!("INIT-14"), message).at(format!("/{name}")));
        }
        let (version, text) = match requested(params) {
            Requested::Nothing => {
                let newest = self.state.config.newest_version();
                (newest, with_version(params, newest))
            }
            Requested::Version(given) if self.state.config.supports(given) || !id!("INIT-03").is_on(Way::Send) => {
                (given as u16, params.to_owned())
            }
            _ => {
                return Err(Misuse::new(
                    MisuseKind::Params,
                    id!("INIT-03"),
                    "not a version that this connection is configured for; leave protocolVersion out and it is filled in",
                )
                .at("/protocolVersion"));
            }
        };
        own_names(params, version, Role::Client)?;
        let tables = tables::version(version).unwrap_or(self.state.tables);
        Ok((self.fitting_hello(&text, tables)?, tables))
    }

    /// What a client says in an older version's words too, for agents that speak nothing newer, has to fit that version
    /// (INIT-16).
    fn fitting_hello(&self, text: &str, tables: &'static Tables) -> Result<Fitting<'static>, Misuse> {
        let fits = |tables: &'static Tables, text: &str| {
            let row = super::checker::find_method(tables, self.state.config.drafts, "initialize");
            let fitting = self.outgoing_value(Some(tables), row.map(|row| row.params), text, Part::Request)?;
            Ok(Fitting { text: fitting.text.into_owned().into(), own: fitting.own })
        };
        if tables.version == 1 {
            return fits(tables, text);
        }
        let older = |name: &str| names(1, Role::Client).contains(&name);
        let in_older = fits(&tables::v1::TABLES, &with_version(&only(text, older), 1))?;
        let in_own = fits(tables, &only(text, |name| !older(name)))?;
        let text = self.outgoing_value(None, None, text, Part::Request)?.text.into_owned().into();
        Ok(Fitting { text, own: if in_own.own.is_empty() { in_older.own } else { in_own.own } })
    }

    /// The client's side: its `initialize` has been written.
    pub(super) fn greeted(&mut self, tables: &'static Tables, params: String) {
        self.state.own = Side::new(tables, Role::Client, params);
        self.phase = Phase::Initializing;
    }

    /// Whether the peer's hello can be taken with the names that its members have; wrong ones are not read (INIT-13).
    fn named_well(&mut self, hello: &str, side: Role, version: u16, subject: &Subject) -> bool {
        let misnamed = misnamed(hello, version, side).filter(|_| id!("INIT-13").is_on(Way::Receive));
        let Some((wrong, right)) = misnamed else { return true };
        let mut breach =
            Breach::new(id!("INIT-13"), format!("this member is {right} in version {version}; it is not read"));
        breach.pointer = format!("/{wrong}");
        let strict = self.state.config.policy_for(id!("INIT-13")) == Policy::Strict;
        match (strict, side) {
            (false, _) => self.report(subject, breach, Consequence::Delivered),
            (true, Role::Client) => self.refuse(subject, ErrorCode::INVALID_PARAMS, breach),
            (true, Role::Agent) => self.drop_message(subject, breach),
        }
        !strict
    }

    /// The version that the peer's hello names; one in a string is read, and reported, where the policy is tolerant.
    fn named_version(&mut self, hello: &str, subject: &Subject) -> Requested {
        match requested(hello) {
            Requested::Text(version) if self.state.config.policy_for(id!("INIT-04")) != Policy::Strict => {
                let mut breach = Breach::new(id!("INIT-04"), "protocolVersion is a string instead of a whole number");
                breach.pointer = "/protocolVersion".into();
                self.report(subject, breach, Consequence::Delivered);
                Requested::Version(version)
            }
            other => other,
        }
    }

    /// The client's side: the peer's answer to `initialize`.
    pub(super) fn welcome(&mut self, result: &str, request: OpenRequest, subject: &Subject) {
        let answered = match self.named_version(result, subject) {
            Requested::Version(version) => version,
            Requested::Nothing if !id!("INIT-10").is_on(Way::Receive) => self.state.config.newest_version().into(),
            other => {
                let (rule, message) = match other {
                    Requested::Nothing => (id!("INIT-10"), "no protocolVersion in the answer to initialize"),
                    Requested::Twice => (id!("INIT-04"), "protocolVersion twice, with different values"),
                    _ => (id!("INIT-04"), "protocolVersion is not a whole number from 0 to 65535"),
                };
                let mut breach = Breach::new(rule, message);
                breach.pointer = "/protocolVersion".into();
                return self.unusable(request, subject, breach);
            }
        };
        if !self.state.config.supports(answered) && id!("INIT-07").is_on(Way::Receive) {
            let mut breach =
                Breach::new(id!("INIT-07"), format!("the agent speaks version {answered}, which this client does not"));
            breach.pointer = "/protocolVersion".into();
            self.unusable(request, subject, breach);
            return self.end(CloseReason::Version);
        }
        let version = answered as u16;
        let Some(tables) = tables::version(version) else { return };
        let Some(row) = super::checker::find_method(tables, self.state.config.drafts, &request.method) else { return };
        let text = with_version(result, version);
        match check(tables, self.state.config.drafts, row.result, &text, self.mode(), Part::Response) {
            Ok(Checked { json, problems }) => {
                let json = json.into_owned();
                if !self.named_well(&json, Role::Agent, version, subject) {
                    return self.end_request(request, Outcome::Invalid);
                }
                self.report_all(subject, &problems);
                self.agree_on(tables);
                self.state.version = Some(version);
                self.state.peer = Side::new(tables, Role::Agent, json.clone());
                if id!("INIT-16").is_on(Way::Track) {
                    let hello = std::mem::take(&mut self.state.own.hello);
                    self.state.own = Side::new(tables, Role::Client, hello);
                }
                let said = Said::end(On::Answer, &request, &self.state.sessions, Some(&json));
                let mut json = Json::whole(json.clone());
                match self.judge_peer(Form::Answer, &said, subject) {
                    Verdict::Stop => {
                        self.hello_failed();
                        return self.end_request(request, Outcome::Invalid);
                    }
                    Verdict::Without(places) => {
                        json = json.without(&places);
                        json.as_str().clone_into(&mut self.state.peer.hello);
                    }
                    Verdict::Deliver => {}
                }
                self.phase = Phase::Ready;
                self.opened = true;
                self.end_request(request, Outcome::Result(ResultText(json)));
            }
            Err(Rejected::Invalid(problem)) => self.unusable(request, subject, problem.as_ref().into()),
            Err(Rejected::Syntax(error)) => {
                self.unusable(request, subject, Breach::new(id!("RPC-21"), error.to_string()));
            }
        }
    }
}

/// The host's own names are those of the version (INIT-13).
fn own_names(hello: &str, version: u16, side: Role) -> Result<(), Misuse> {
    let misnamed = misnamed(hello, version, side).filter(|_| id!("INIT-13").is_on(Way::Send));
    misnamed.map_or(Ok(()), |(wrong, right)| {
        let message = format!("version {version} calls this member of the {} {right}", side.name());
        Err(Misuse::new(MisuseKind::Params, id!("INIT-13"), message).at(format!("/{wrong}")))
    })
}

fn version_problem(rule: RuleId, found: &'static str) -> Problem {
    let mut problem = Problem::new(rule, "a whole number from 0 to 65535", found);
    problem.within(crate::validation::Segment::Name("protocolVersion"));
    problem
}
