//! `initialize`: the version that is agreed on, and what each side can do.
//!
//! Its members have other names in other versions and on the other side: those are in `names`. What a newer client says is
//! read by `newer`, and `again` has how it is repeated.

mod again;
mod names;
mod newer;

use super::error_data::ErrorData;
use super::event::{Json, Outcome, ResultText};
use super::judge::{Form, Verdict};
use super::misuse::Misuse;
use super::outgoing::ValidatedJson;
use super::parse::Message;
use super::report::{Breach, Subject};
use super::{CloseReason, Connection, Consequence, Event, Policy, Request, Role};
use crate::engine::{rows, Gates, MessageKind, MisuseKind, OpenRequest, RuleMessage, Side};
use crate::json::{self, Kind};
use crate::jsonrpc::{ErrorCode, Id};
use crate::rules::{RuleId, Way};
use crate::schema::tables;
use crate::validation::table::Tables;
use crate::validation::{check, Checked, Part, Problem, Rejected, TWICE};
pub(super) use again::Earlier;
use names::{misnamed, names, secret};
use newer::readable;

/// What a `protocolVersion` member holds.
enum Requested {
    Version(u16),
    /// A string of digits, which some peers send.
    Text(u16),
    Nothing,
    Wrong,
    /// Twice, and not the same.
    Twice,
}

fn requested(initialize: &str) -> Requested {
    let members = json::members(initialize);
    let mut found = members.into_iter().filter(|(name, _)| name == "protocolVersion").map(|(_, value)| value);
    match found.next() {
        None => Requested::Nothing,
        Some(text) if found.any(|other| other != text) => Requested::Twice,
        Some(text) => match text.parse::<u16>() {
            Ok(version) => Requested::Version(version),
            // "1.0.0" and the like name no version there is: as good as 0.
            Err(_) => match json::unescape(text) {
                Some(text) => Requested::Text(text.parse::<u16>().unwrap_or(0)),
                None => Requested::Wrong,
            },
        },
    }
}

/// The JSON of an object with `protocolVersion` set to this; any other text as it is, to be refused.
fn with_version(initialize: &str, version: u16) -> String {
    if !initialize.trim_start().starts_with('{') {
        return initialize.to_owned();
    }
    let mut writer = json::Writer::new();
    writer.begin_object().key("protocolVersion").unsigned(version.into());
    for (name, value) in json::members(initialize) {
        if name != "protocolVersion" {
            writer.key(&name).json(value);
        }
    }
    writer.end_object();
    writer.finish().unwrap_or_else(|_| initialize.to_owned())
}

/// The JSON of an object with some of its members.
fn only(initialize: &str, keep: impl Fn(&str) -> bool) -> String {
    let mut writer = json::Writer::new();
    writer.begin_object();
    for (name, value) in json::members(initialize).into_iter().filter(|(name, _)| keep(name)) {
        writer.key(&name).json(value);
    }
    writer.end_object();
    writer.finish().unwrap_or_else(|_| initialize.to_owned())
}

impl Side {
    fn new(tables: &'static Tables, side: Role, initialize: String) -> Self {
        let [capabilities, _] = names(tables, side);
        let capabilities = json::pointer(&initialize, &format!("/{capabilities}"))
            .filter(|value| value.starts_with('{'))
            .unwrap_or("{}")
            .to_owned();
        Side { gates: Gates::read(tables, side, &capabilities), capabilities, initialize }
    }
}

impl Connection {
    /// The agent's side: the peer's `initialize`, or what takes its place in a chain of proxies.
    pub(super) fn on_initialize_request(&mut self, method: &str, text: &str, message: &Message, subject: &Subject) {
        let (kind, range) = message.params.clone().unwrap_or((Kind::Null, 0..0));
        let given = match kind {
            Kind::Object => &text[range],
            Kind::Null => "{}",
            _ => return self.refuse_scalar_params(subject, kind, true),
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
        let Some(version) = self.version_for(wanted) else { return self.no_version_for(wanted, subject) };
        let params = with_version(given, wanted);
        let Some(tables) = tables::version(version) else { return };
        let Some(row) = crate::engine::find_method(tables, self.state.config.drafts, method) else { return };
        let drafts = self.state.config.drafts;
        let newer = wanted > self.state.config.versions.newest() && id!("INIT-20").is_on(Way::Track);
        let checked = if newer {
            let json = readable(tables, drafts, row.params, &params).into();
            Ok(Checked { json, problems: Vec::new() })
        } else {
            check(tables, drafts, row.params, &params, self.state.mode(), Part::Request)
        };
        let params = match checked {
            Ok(checked) => {
                if version == wanted && !self.check_member_names(&checked.json, Role::Client, tables, subject) {
                    return;
                }
                self.report_all(subject, &checked.problems);
                let json = checked.json.into_owned();
                if version == wanted {
                    let rows = rows(tables.version, MessageKind::Call, row.name, None);
                    let said = RuleMessage {
                        method: row.name,
                        session: None,
                        body: Some(&json),
                        field_index: None,
                        rows,
                        operation: None,
                        request: None,
                    };
                    if self.judge_incoming(Form::Request, &said, subject) == Verdict::Stop {
                        return;
                    }
                }
                json
            }
            Err(Rejected::Invalid(problem)) => return self.refuse_params(subject, &problem),
            Err(Rejected::Syntax(error)) => {
                return self.refuse(subject, ErrorCode::PARSE_ERROR, Breach::new(id!("RPC-21"), error.to_string()));
            }
        };
        self.lifecycle.initialize(&self.state);
        self.agree_on(tables);
        self.state.version = Some(version);
        self.state.peer = Side::new(tables, Role::Client, params.clone());
        let serial = self.next_serial();
        let id = subject.id.clone().unwrap_or(Id::Null);
        self.take_on(OpenRequest {
            id: id.clone(),
            serial,
            method: row.name.into(),
            session: None,
            cancelled: false,
            deadline: None,
            row: Some(row),
            generation: None,
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

    /// The version that is agreed on where this one is asked for: the highest own one that is not above it (INIT-05,
    /// INIT-06). Where all are above it, an agent of a version that has no error for that answers with its newest; for
    /// others there is none (INIT-21).
    fn version_for(&self, wanted: u16) -> Option<u16> {
        let versions = self.state.config.versions;
        versions.up_to(wanted).or_else(|| {
            let refuses = versions.iter().filter_map(tables::version).any(|tables| tables.dialect.version_error);
            (!refuses).then(|| versions.newest())
        })
    }

    /// INIT-21: the client may ask again for one of those that are named.
    fn no_version_for(&mut self, wanted: u16, subject: &Subject) {
        let versions = self.state.config.versions;
        let message = format!("the client requests version {wanted}, but this agent supports {versions:?}");
        let breach = Breach { pointer: "/protocolVersion".into(), ..Breach::new(id!("INIT-21"), message) };
        let code = ErrorCode::UNSUPPORTED_PROTOCOL_VERSION;
        // The specification says what stands in this error, and no more.
        let data = ErrorData { versions: Some((wanted, versions)), ..ErrorData::default() };
        self.refuse_with(subject, code, breach, &data.json());
    }

    /// The agent's side: the host's answer, with the version filled in. INIT-05: it cannot be another one.
    pub(super) fn initialize_result(&self, result: &str) -> Result<String, Misuse> {
        let version = self.state.version.unwrap_or(self.state.tables.version);
        self.outgoing_value(None, None, result, Part::Response)?;
        check_own_names(result, self.state.tables, Role::Agent)?;
        match requested(result) {
            Requested::Nothing if id!("INIT-10").is_on(Way::Track) => Ok(with_version(result, version)),
            Requested::Version(given) if given == version => Ok(result.to_owned()),
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
    pub(super) fn initialize_answered(&mut self, result: String) {
        self.state.own = Side::new(self.state.tables, Role::Agent, result);
        self.lifecycle.initialized();
    }

    fn agree_on(&mut self, tables: &'static Tables) {
        if id!("INIT-08").is_on(Way::Track) {
            self.state.tables = tables;
        }
        self.receiving.templates.clear();
        self.sending.templates.clear();
    }

    /// The client's side: the params of its `initialize`, with the version filled in (INIT-03).
    pub(super) fn initialize_params(&self, params: &str) -> Result<(ValidatedJson<'static>, &'static Tables), Misuse> {
        self.outgoing_value(None, None, params, Part::Request)?;
        if let Some(name) = secret(params).filter(|_| id!("INIT-14").is_on(Way::Send)) {
            let message =
                "no secrets in initialize; authenticate names a login method, and the agent obtains the credentials";
            return Err(Misuse::new(MisuseKind::Params, id!("INIT-14"), message).at(format!("/{name}")));
        }
        let (version, text) = match requested(params) {
            Requested::Nothing => {
                let newest = self.state.config.versions.newest();
                (newest, with_version(params, newest))
            }
            Requested::Version(given)
                if self.state.config.versions.contains(given) || !id!("INIT-03").is_on(Way::Send) =>
            {
                (given, params.to_owned())
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
        let tables = tables::version(version).unwrap_or(self.state.tables);
        check_own_names(params, tables, Role::Client)?;
        Ok((self.validate_initialize(&text, tables)?, tables))
    }

    /// What a client says in the words of an older version that it speaks too, for agents that speak nothing newer, has to
    /// fit that version (INIT-16).
    fn validate_initialize(&self, text: &str, tables: &'static Tables) -> Result<ValidatedJson<'static>, Misuse> {
        let fits = |tables: &'static Tables, text: &str| -> Result<_, Misuse> {
            let row = crate::engine::find_method(tables, self.state.config.drafts, "initialize");
            Ok(self.outgoing_value(Some(tables), row.map(|row| row.params), text, Part::Request)?.own)
        };
        let older = || tables::all().filter(|other| other.version < tables.version);
        let spoken = |other: &&Tables| self.state.config.versions.contains(other.version);
        let words = |of: &Tables, name: &str| names(of, Role::Client).contains(&name);
        let mut own = Vec::new();
        for other in older().filter(spoken) {
            let said = only(text, |name| words(other, name) && !words(tables, name));
            own.push(fits(other, &with_version(&said, other.version))?);
        }
        let of_older = |name: &str| older().any(|other| words(other, name)) && !words(tables, name);
        own.push(fits(tables, &only(text, |name| !of_older(name)))?);
        let text = self.outgoing_value(None, None, text, Part::Request)?.text.into_owned().into();
        Ok(ValidatedJson { text, own: own.into_iter().rfind(|own| !own.is_empty()).unwrap_or_default() })
    }

    /// The client's side: its `initialize` has been written.
    pub(super) fn initialize_sent(&mut self, tables: &'static Tables, params: String) {
        self.lifecycle.initialize(&self.state);
        let own = Side::new(tables, Role::Client, params);
        match self.lifecycle.earlier() {
            Some(earlier) => earlier.offered = Some(own),
            None => self.state.own = own,
        }
    }

    /// Whether the peer's `initialize` can be taken with the names that its members have; wrong ones are not read (INIT-13).
    fn check_member_names(&mut self, initialize: &str, side: Role, tables: &Tables, subject: &Subject) -> bool {
        let misnamed = misnamed(initialize, tables, side).filter(|_| id!("INIT-13").is_on(Way::Receive));
        let Some((wrong, right)) = misnamed else { return true };
        let version = tables.version;
        let mut breach =
            Breach::new(id!("INIT-13"), format!("this member is `{right}` in version {version}; it is not read"));
        breach.pointer = format!("/{wrong}");
        let strict = self.state.config.policy_for(id!("INIT-13")) == Policy::Strict;
        match (strict, side) {
            (false, _) => self.report(subject, breach, Consequence::Delivered),
            (true, Role::Client) => self.refuse(subject, ErrorCode::INVALID_PARAMS, breach),
            (true, Role::Agent) => self.drop_message(subject, breach),
        }
        !strict
    }

    /// The version that the peer's `initialize` names; one in a string is read, and reported, where the policy is tolerant.
    fn named_version(&mut self, initialize: &str, subject: &Subject) -> Requested {
        match requested(initialize) {
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
    pub(super) fn on_initialize_response(&mut self, result: &str, request: OpenRequest, subject: &Subject) {
        let answered = match self.named_version(result, subject) {
            Requested::Version(version) => version,
            Requested::Nothing if !id!("INIT-10").is_on(Way::Receive) => self.state.config.versions.newest(),
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
        if !self.state.config.versions.contains(answered) && id!("INIT-07").is_on(Way::Receive) {
            let mut breach = Breach::new(
                id!("INIT-07"),
                format!("the agent answered with version {answered}, which this client does not support"),
            );
            breach.pointer = "/protocolVersion".into();
            self.unusable(request, subject, breach);
            return self.end(CloseReason::Version);
        }
        let Some(tables) = tables::version(answered) else { return };
        let Some(row) = crate::engine::find_method(tables, self.state.config.drafts, &request.method) else { return };
        let text = with_version(result, answered);
        match check(tables, self.state.config.drafts, row.result, &text, self.state.mode(), Part::Response) {
            Ok(Checked { json, problems }) => {
                let json = json.into_owned();
                if !self.check_member_names(&json, Role::Agent, tables, subject) {
                    return self.end_request(request, Outcome::Invalid);
                }
                self.report_all(subject, &problems);
                self.agree_on(tables);
                self.state.version = Some(answered);
                self.state.peer = Side::new(tables, Role::Agent, json.clone());
                if let Some(offered) = self.lifecycle.earlier().and_then(|earlier| earlier.offered.take()) {
                    self.state.own = offered;
                }
                if id!("INIT-16").is_on(Way::Track) {
                    let initialize = std::mem::take(&mut self.state.own.initialize);
                    self.state.own = Side::new(tables, Role::Client, initialize);
                }
                let said = RuleMessage::end(MessageKind::Answer, &request, &self.state, Some(&json));
                let mut json = Json::whole(json.clone());
                match self.judge_incoming(Form::Answer, &said, subject) {
                    Verdict::Stop => {
                        self.initialize_failed();
                        return self.end_request(request, Outcome::Invalid);
                    }
                    Verdict::Without(places) => {
                        json = json.without(&places);
                        json.as_str().clone_into(&mut self.state.peer.initialize);
                    }
                    Verdict::Deliver => {}
                }
                self.lifecycle.initialized();
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
fn check_own_names(initialize: &str, tables: &Tables, side: Role) -> Result<(), Misuse> {
    let misnamed = misnamed(initialize, tables, side).filter(|_| id!("INIT-13").is_on(Way::Send));
    misnamed.map_or(Ok(()), |(wrong, right)| {
        let message = format!("version {} calls this member of the {} `{right}`", tables.version, side.name());
        Err(Misuse::new(MisuseKind::Params, id!("INIT-13"), message).at(format!("/{wrong}")))
    })
}

fn version_problem(rule: RuleId, found: &'static str) -> Problem {
    let mut problem = Problem::new(rule, "a whole number from 0 to 65535", found);
    problem.within(crate::validation::Segment::Name("protocolVersion"));
    problem
}
