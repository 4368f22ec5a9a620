//! Settings in, and what happens out, as JSON, for hosts in other languages: [`ServerOptions::from_json`],
//! [`ClientOptions::from_json`], and what [`Step`](super::Step), [`Event`](super::Event), [`Action`](super::Action) and
//! [`Frame`](super::Frame) serialize to.
//!
//! The names are those of the scenarios in `tests/http`, whose README describes them. Numbers are bytes and milliseconds.

use serde::de::DeserializeOwned;
use serde::ser::SerializeStruct;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

use super::tolerance::{Choice, Tolerance};
use super::{
    ClientLimits, ClientOptions, ClientTimes, Frame, ServerLimits, ServerOptions, ServerTimes, Token, Transport,
};
use crate::Id;

/// Settings that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{pointer}: {message}")]
#[non_exhaustive]
pub struct OptionsError {
    /// Where, as a JSON pointer; empty for the whole.
    pub pointer: String,
    /// What is wrong, and what was expected.
    pub message: String,
}

/// The members of the settings of a server, before what is nested is read.
#[derive(Deserialize)]
#[serde(default, deny_unknown_fields)]
struct ServerMembers {
    path: String,
    token: Option<String>,
    prefix: String,
    hosts: Vec<String>,
    any_host: bool,
    origins: Vec<String>,
    strict: bool,
    tolerates: Vec<String>,
    limits: Value,
    times: Value,
}

impl Default for ServerMembers {
    fn default() -> Self {
        ServerMembers {
            path: ServerOptions::default().path,
            token: None,
            prefix: String::new(),
            hosts: Vec::new(),
            any_host: false,
            origins: Vec::new(),
            strict: false,
            tolerates: Vec::new(),
            limits: Value::Null,
            times: Value::Null,
        }
    }
}

/// The members of the settings of a client, before what is nested is read.
#[derive(Deserialize)]
#[serde(default, deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "each is a setting of its own")]
struct ClientMembers {
    target: String,
    host: String,
    secure: bool,
    websocket: bool,
    reconnect: bool,
    resumable: bool,
    strict: bool,
    tolerates: Vec<String>,
    limits: Value,
    times: Value,
}

impl Default for ClientMembers {
    fn default() -> Self {
        let usual = ClientOptions::default();
        ClientMembers {
            target: usual.target,
            host: usual.host,
            secure: usual.secure,
            websocket: false,
            reconnect: usual.reconnect,
            resumable: usual.resumable,
            strict: false,
            tolerates: Vec::new(),
            limits: Value::Null,
            times: Value::Null,
        }
    }
}

impl ServerOptions {
    /// Reads settings: `{"path", "token", "prefix", "hosts": [], "any_host", "origins": [], "strict", "tolerates": [],
    /// "limits": {}, "times": {}}`, all of which may be absent. `limits` and `times` have the names of [`ServerLimits`] and
    /// [`ServerTimes`]; with `strict`, only what `tolerates` names is tolerated ([`Choice::name`]).
    ///
    /// # Errors
    /// An [`OptionsError`] says what cannot be used, and where.
    pub fn from_json(json: &str) -> Result<Self, OptionsError> {
        let members: ServerMembers = whole(json)?;
        let mut options = ServerOptions { path: members.path, prefix: members.prefix, ..ServerOptions::default() };
        if !options.path.is_empty() && !options.path.starts_with('/') || options.path.contains(['?', '#']) {
            return Err(wrong("/path".into(), "expected a path such as /acp, without a query"));
        }
        if let Some(token) = members.token {
            let what = "a token has 1 to 4,096 visible ASCII characters";
            options.token = Some(Token::new(&token).ok_or_else(|| wrong("/token".into(), what))?);
        }
        if !options.prefix.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(wrong("/prefix".into(), "a prefix has visible ASCII characters"));
        }
        for (at, host) in members.hosts.iter().enumerate() {
            let fits = options.allowed.host(host);
            fits.then_some(())
                .ok_or_else(|| wrong(format!("/hosts/{at}"), "expected a host such as agents.example.com"))?;
        }
        for (at, origin) in members.origins.iter().enumerate() {
            let fits = options.allowed.origin(origin);
            let what = "expected an origin such as https://editor.example.com";
            fits.then_some(()).ok_or_else(|| wrong(format!("/origins/{at}"), what))?;
        }
        if members.any_host {
            options.allowed.any_host();
        }
        options.tolerance = tolerance(members.strict, &members.tolerates)?;
        options.limits = part::<ServerLimits>("/limits", members.limits)?;
        options.times = part::<ServerTimes>("/times", members.times)?;
        Ok(options)
    }
}

impl ClientOptions {
    /// Reads settings: `{"target", "host", "secure", "websocket", "reconnect", "resumable", "strict", "tolerates": [],
    /// "limits": {}, "times": {}}`, all of which may be absent. `limits` and `times` have the names of [`ClientLimits`] and
    /// [`ClientTimes`]; with `strict`, only what `tolerates` names is tolerated ([`Choice::name`]).
    ///
    /// # Errors
    /// An [`OptionsError`] says what cannot be used, and where.
    pub fn from_json(json: &str) -> Result<Self, OptionsError> {
        let members: ClientMembers = whole(json)?;
        Ok(ClientOptions {
            target: members.target,
            host: members.host,
            secure: members.secure,
            transport: if members.websocket { Transport::WebSocket } else { Transport::Http },
            reconnect: members.reconnect,
            resumable: members.resumable,
            tolerance: tolerance(members.strict, &members.tolerates)?,
            limits: part::<ClientLimits>("/limits", members.limits)?,
            times: part::<ClientTimes>("/times", members.times)?,
        })
    }
}

fn wrong(pointer: String, message: impl Into<String>) -> OptionsError {
    OptionsError { pointer, message: message.into() }
}

fn whole<T: DeserializeOwned>(json: &str) -> Result<T, OptionsError> {
    let error = |error: serde_json::Error| wrong(String::new(), error.to_string());
    let value: Value = serde_json::from_str(json).map_err(error)?;
    serde_json::from_value(object(value, "")?).map_err(error)
}

/// A nested group of settings, one by one, so that an error says which.
fn part<T: DeserializeOwned + Default>(pointer: &str, value: Value) -> Result<T, OptionsError> {
    if value.is_null() {
        return Ok(T::default());
    }
    let value = object(value, pointer)?;
    for (name, value) in value.as_object().into_iter().flatten() {
        let one = Value::Object([(name.clone(), value.clone())].into_iter().collect());
        let place = format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1"));
        serde_json::from_value::<T>(one).map_err(|error| wrong(place, error.to_string()))?;
    }
    serde_json::from_value(value).map_err(|error| wrong(pointer.into(), error.to_string()))
}

fn object(value: Value, pointer: &str) -> Result<Value, OptionsError> {
    value.is_object().then_some(value).ok_or_else(|| wrong(pointer.into(), "expected an object"))
}

fn tolerance(strict: bool, names: &[String]) -> Result<Tolerance, OptionsError> {
    let mut tolerance = if strict { Tolerance::strict() } else { Tolerance::default() };
    for (at, name) in names.iter().enumerate() {
        let choice = Choice::ALL.into_iter().find(|choice| choice.name() == name);
        let known = || Choice::ALL.map(Choice::name).join(", ");
        let choice = choice.ok_or_else(|| wrong(format!("/tolerates/{at}"), format!("expected one of {}", known())))?;
        tolerance = tolerance.with(choice, true);
    }
    Ok(tolerance)
}

impl Serialize for Frame {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut frame = serializer.serialize_struct("Frame", 3)?;
        match self {
            Frame::Text(text) => {
                frame.serialize_field("frame", "text")?;
                frame.serialize_field("text", text)?;
            }
            Frame::Ping => frame.serialize_field("frame", "ping")?,
            Frame::Close(code, reason) => {
                frame.serialize_field("frame", "close")?;
                frame.serialize_field("code", &code.number())?;
                frame.serialize_field("reason", reason)?;
            }
        }
        frame.end()
    }
}

/// Ids of calls, as they stand in messages.
pub(super) fn ids<S: Serializer>(ids: &[Id], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(ids.iter().map(|id| match id {
        Id::Null => Value::Null,
        Id::Number(number) => Value::from(*number),
        Id::String(text) => Value::from(&**text),
    }))
}

#[cfg(test)]
mod tests {
    use serde_json::{json, Value};

    use super::*;
    use crate::http::{Action, CloseCode, ClosedWhy, ConnectionKey, Event, Lost, Step};

    fn said<T: Serialize>(value: &T) -> Value {
        serde_json::to_value(value).expect("JSON")
    }

    #[test]
    fn what_happens_has_the_names_of_the_scenarios() {
        assert_eq!(said(&Step::Body { limit: 7 }), json!({"step": "body", "limit": 7}));
        assert_eq!(
            said(&Event::Opened { connection: ConnectionKey::from_number(3) }),
            json!({"event": "opened", "connection": 3})
        );
        let closed =
            Event::Closed { connection: ConnectionKey::from_number(3), why: crate::http::Closed::NotInitialized };
        assert_eq!(said(&closed), json!({"event": "closed", "connection": 3, "why": "not-initialized"}));
        let over = Action::Closed(ClosedWhy::NotServed { status: 405 });
        assert_eq!(said(&over), json!({"event": "closed", "why": "not-served", "status": 405}));
        let lost = Lost {
            calls: vec![Id::from(1), Id::from("a\"")],
            questions: vec![],
            sessions: vec!["s".into()],
            code: None,
        };
        let lost = said(&Action::Lost(lost));
        assert_eq!(lost, json!({"event": "lost", "calls": [1, "a\""], "questions": [], "sessions": ["s"]}));
        let frame = Frame::Close(CloseCode::Policy, "no");
        assert_eq!(said(&frame), json!({"frame": "close", "code": 1008, "reason": "no"}));
    }

    #[test]
    fn settings_that_cannot_be_used_are_named() {
        let server = |json: &str| ServerOptions::from_json(json).map(|_| ()).map_err(|error| error.pointer);
        assert_eq!(server("{}"), Ok(()));
        assert_eq!(server(r#"{"path":""}"#), Ok(()));
        for (json, pointer) in [
            ("[]", ""),
            ("{", ""),
            (r#"{"limit":1}"#, ""),
            (r#"{"token":"a b"}"#, "/token"),
            (r#"{"hosts":["localhost","a b"]}"#, "/hosts/1"),
            (r#"{"origins":["editor.example.com"]}"#, "/origins/0"),
            (r#"{"tolerates":["all"]}"#, "/tolerates/0"),
            (r#"{"limits":{"body":-1}}"#, "/limits/body"),
            (r#"{"times":{"idle":1,"ever":2}}"#, "/times/ever"),
            (r#"{"times":[]}"#, "/times"),
            (r#"{"prefix":"a b"}"#, "/prefix"),
            (r#"{"path":"acp"}"#, "/path"),
            (r#"{"path":"/acp?a=b"}"#, "/path"),
        ] {
            assert_eq!(server(json), Err(pointer.to_owned()), "{json}");
        }
        let error = ClientOptions::from_json(r#"{"limits":{"streams":"many"}}"#).expect_err("no number");
        assert!(error.to_string().starts_with("/limits/streams: "), "{error}");
    }
}
