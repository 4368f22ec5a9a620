//! Options from JSON text and back, and numbers from and to JavaScript's.

use std::borrow::Cow;

use libacp::connection::{Config, Policy, Role, Versions};
use libacp::framing::Framing;
use libacp::host::Host;
use libacp::json::{pointer, unescape, Writer};
use libacp::rules::Severity;
use libacp::schema::drafts::DRAFTS;

const ROLES: [(&str, Role); 2] = [("client", Role::Client), ("agent", Role::Agent)];
const POLICIES: [(&str, Policy); 3] =
    [("tolerant", Policy::Tolerant), ("strict", Policy::Strict), ("off", Policy::Off)];
const SEVERITIES: [Severity; 3] = [Severity::Note, Severity::Warning, Severity::Error];
const FRAMINGS: [(&str, Framing); 3] =
    [("lines", Framing::Lines), ("content-length", Framing::ContentLength), ("messages", Framing::Messages)];

/// A host from the JSON text of its options: one with handlers where they are named, which hold prompts.
pub(crate) fn host(json: &str) -> Result<Host, String> {
    let (config, handlers) = of_host(json)?;
    if pointer(json, "/handlers").is_none() {
        return Ok(Host::plain(config));
    }
    let mut host = Host::new(config, handlers);
    host.hold_prompts();
    Ok(host)
}

/// A configuration and the methods that have handlers, from the same text.
pub(crate) fn of_host(json: &str) -> Result<(Config, Vec<String>), String> {
    Ok((read(json)?, list(json, "/handlers").map(Cow::into_owned).collect()))
}

/// A configuration from its JSON text. What is missing keeps its default.
pub(crate) fn read(json: &str) -> Result<Config, String> {
    let role = choice(json, "role", &ROLES)?.ok_or("role: expected \"client\" or \"agent\"")?;
    if cfg!(clients_only) && role == Role::Agent {
        return Err("role: the module for clients alone serves no agents".into());
    }
    let mut config = Config::new(role);
    config.framing = choice(json, "framing", &FRAMINGS)?.unwrap_or_default();
    config.policy = choice(json, "policy", &POLICIES)?.unwrap_or_default();
    for severity in SEVERITIES {
        config.policies[severity as usize] = choice(json, &format!("policies/{}", severity.name()), &POLICIES)?;
    }
    if pointer(json, "/versions").is_some() {
        let numbers = (0..).map_while(|index| pointer(json, &format!("/versions/{index}")));
        // JavaScript has looked at the list: what does not fit is a number that is too large for a version.
        let numbers = numbers.map(|number| number.parse().unwrap_or(i64::MAX));
        config.versions = Versions::of(numbers).map_err(|why| format!("versions: {why}"))?;
    }
    config.timeout = number(json, "timeout")?;
    if let Some(grace) = pointer(json, "/cancelGrace") {
        config.cancel_grace = if grace == "null" { None } else { number(json, "cancelGrace")? };
    }
    config.reminder = number(json, "reminder")?;
    config.prompt_queueing = pointer(json, "/promptQueueing") == Some("true");
    config.view = pointer(json, "/view") == Some("true");
    let limits = &mut config.limits;
    limits.depth = number(json, "limits/depth")?.unwrap_or(limits.depth);
    for (name, limit) in [
        ("frame", &mut limits.frame),
        ("pending", &mut limits.pending),
        ("sessions", &mut limits.sessions),
        ("terminals", &mut limits.terminals),
        ("remembered", &mut limits.remembered),
        ("viewEntries", &mut limits.view_entries),
        ("viewBytes", &mut limits.view_bytes),
        ("viewContent", &mut limits.view_content),
        ("viewOutput", &mut limits.view_output),
    ] {
        *limit = number(json, &format!("limits/{name}"))?.unwrap_or(*limit);
    }
    for method in list(json, "/foreignMethods") {
        config.foreign_method(&method).map_err(|why| format!("foreignMethods: \"{method}\": {why}"))?;
    }
    for draft in list(json, "/drafts") {
        if cfg!(clients_only) {
            return Err("drafts: the module for clients alone has none".into());
        }
        config.draft(&draft).map_err(|_| format!("drafts: no \"{draft}\", there are {}", DRAFTS.join(", ")))?;
    }
    Ok(config)
}

/// The texts of a list, one by one: the first wrong one ends a list that may be long.
fn list<'j>(json: &'j str, at: &'static str) -> impl Iterator<Item = Cow<'j, str>> {
    (0..).map_while(move |index| pointer(json, &format!("{at}/{index}"))).filter_map(unescape)
}

/// A configuration as JSON text.
pub(crate) fn write(config: &Config) -> String {
    let mut out = Writer::new();
    out.begin_object();
    out.key("role").string(config.role.name());
    out.key("framing").string(name(&FRAMINGS, config.framing));
    out.key("policy").string(name(&POLICIES, config.policy));
    out.key("policies").begin_object();
    for severity in SEVERITIES {
        if let Some(policy) = config.policies[severity as usize] {
            out.key(severity.name()).string(name(&POLICIES, policy));
        }
    }
    out.end_object();
    out.key("versions").begin_array();
    for version in config.versions.iter() {
        out.unsigned(version.into());
    }
    out.end_array();
    out.key("drafts").begin_array();
    for (index, draft) in DRAFTS.iter().enumerate() {
        if config.drafts & (1 << (index + 1)) != 0 {
            out.string(draft);
        }
    }
    out.end_array();
    if let Some(timeout) = config.timeout {
        out.key("timeout").unsigned(timeout);
    }
    out.key("cancelGrace");
    match config.cancel_grace {
        Some(grace) => out.unsigned(grace),
        None => out.null(),
    };
    if let Some(reminder) = config.reminder {
        out.key("reminder").unsigned(reminder);
    }
    out.key("promptQueueing").boolean(config.prompt_queueing);
    out.key("foreignMethods").begin_array();
    for method in config.foreign_methods() {
        out.string(method);
    }
    out.end_array();
    out.key("view").boolean(config.view);
    let limits = &config.limits;
    out.key("limits").begin_object();
    for (name, limit) in [
        ("frame", limits.frame),
        ("depth", limits.depth as usize),
        ("pending", limits.pending),
        ("sessions", limits.sessions),
        ("terminals", limits.terminals),
        ("remembered", limits.remembered),
        ("viewEntries", limits.view_entries),
        ("viewBytes", limits.view_bytes),
        ("viewContent", limits.view_content),
        ("viewOutput", limits.view_output),
    ] {
        out.key(name).unsigned(limit as u64);
    }
    out.end_object().end_object();
    out.finish().unwrap_or_default()
}

fn choice<T: Copy>(json: &str, option: &str, names: &[(&str, T)]) -> Result<Option<T>, String> {
    let Some(text) = pointer(json, &format!("/{option}")).and_then(unescape) else { return Ok(None) };
    let found = names.iter().find(|(name, _)| *name == text);
    let Some(&(_, value)) = found else {
        let mut list = String::new();
        for (name, _) in names {
            list.extend([if list.is_empty() { "\"" } else { " or \"" }, name, "\""]);
        }
        return Err(format!("{option}: expected {list}, found \"{text}\""));
    };
    Ok(Some(value))
}

fn name<T: Copy + PartialEq>(names: &[(&'static str, T)], value: T) -> &'static str {
    names.iter().find(|(_, known)| *known == value).map_or("", |(name, _)| name)
}

fn number<T: std::str::FromStr>(json: &str, option: &str) -> Result<Option<T>, String> {
    let text = pointer(json, &format!("/{option}"));
    text.map(|text| text.parse().map_err(|_| format!("{option}: {text} is out of range"))).transpose()
}

/// A time or a serial number of JavaScript's, which has no fraction worth keeping.
#[allow(clippy::cast_sign_loss, reason = "the cast saturates, and nothing is negative here")]
pub(crate) fn whole(number: f64) -> u64 {
    number as u64
}

/// A time for JavaScript.
#[allow(clippy::cast_precision_loss, reason = "it came from a double, plus a double")]
pub(crate) fn double(number: u64) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_come_back_as_they_went_in() {
        let text = concat!(
            r#"{"role":"agent","framing":"content-length","policy":"strict","policies":{"note":"off","error":"tolerant"},"#,
            r#""versions":[1,2],"#,
            r#""drafts":["session_fork","nes"],"timeout":90000,"cancelGrace":null,"reminder":8000,"#,
            r#""promptQueueing":true,"foreignMethods":["vendor/x","y"],"view":true,"#,
            r#""limits":{"frame":1000,"depth":9,"pending":8,"sessions":7,"terminals":6,"remembered":5,"#,
            r#""viewEntries":4,"viewBytes":3,"viewContent":2,"viewOutput":1}}"#,
        );
        assert_eq!(write(&read(text).unwrap()), text);
    }

    #[test]
    fn defaults_are_the_cores() {
        assert_eq!(read(r#"{"role":"client"}"#).unwrap(), Config::client());
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (options, name) in [
            ("{}", "role"),
            (r#"{"role":"editor"}"#, "role"),
            (r#"{"role":"client","framing":"tcp"}"#, "framing"),
            (r#"{"role":"client","policies":{"note":"lax"}}"#, "policies/note"),
            (r#"{"role":"client","drafts":["no_such"]}"#, "drafts"),
            (r#"{"role":"client","foreignMethods":["session/new"]}"#, "foreignMethods"),
            (r#"{"role":"client","versions":[]}"#, "versions"),
            (r#"{"role":"client","versions":[1,3]}"#, "versions"),
            (r#"{"role":"client","limits":{"depth":4294967296}}"#, "limits/depth"),
        ] {
            let message = read(options).unwrap_err();
            assert!(message.starts_with(&format!("{name}: ")), "{message}");
        }
    }

    #[test]
    fn the_declared_drafts_are_the_cores() {
        let declared = include_str!("../js/index.d.ts");
        let list = declared.split("export type Draft =").nth(1).and_then(|rest| rest.split(';').next()).unwrap();
        let names: Vec<_> = list.split('"').skip(1).step_by(2).collect();
        assert_eq!(names, DRAFTS);
    }

    #[test]
    fn javascript_counts_values_as_the_core_does() {
        use libacp::connection::{Login, Phase, SessionState, Timing, Turn};
        macro_rules! counted {
            ($script:literal: $($value:expr),*) => {
                assert!([$($value as usize),*].iter().enumerate().all(|(place, value)| *value == place));
                let list = format!("[\"{}\"]", [$($value.name()),*].join("\", \""));
                assert!(include_str!($script).contains(&list), "{list}");
            };
        }
        counted!("../js/border.js": Timing::Turn, Timing::Replay, Timing::Idle, Timing::None);
        counted!("../js/getters.js": Role::Client, Role::Agent);
        counted!("../js/getters.js": Phase::Start, Phase::Initializing, Phase::Ready, Phase::Closed);
        counted!("../js/getters.js": Login::Unknown, Login::Required, Login::Done);
        counted!("../js/getters.js": SessionState::Loading, SessionState::Resuming, SessionState::Ready);
        counted!("../js/getters.js": Turn::Idle, Turn::Running, Turn::Cancelling, Turn::RequiresAction);
    }

    #[test]
    fn the_declared_error_codes_are_the_cores() {
        use libacp::ErrorCode as Code;
        let script = include_str!("../js/codes.js");
        for (name, code) in [
            ("PARSE_ERROR", Code::PARSE_ERROR),
            ("INVALID_REQUEST", Code::INVALID_REQUEST),
            ("METHOD_NOT_FOUND", Code::METHOD_NOT_FOUND),
            ("INVALID_PARAMS", Code::INVALID_PARAMS),
            ("INTERNAL_ERROR", Code::INTERNAL_ERROR),
            ("REQUEST_CANCELLED", Code::REQUEST_CANCELLED),
            ("AUTH_REQUIRED", Code::AUTH_REQUIRED),
            ("RESOURCE_NOT_FOUND", Code::RESOURCE_NOT_FOUND),
            ("UNSUPPORTED_PROTOCOL_VERSION", Code::UNSUPPORTED_PROTOCOL_VERSION),
        ] {
            assert!(script.contains(&format!("{name}: {code},")), "{name}");
            assert!(include_str!("../js/index.d.ts").contains(&format!("{name}: {code};")), "{name}");
        }
    }
}
