//! The configuration of a scenario.

use libacp::connection::{Limits, Policy, Versions};
use libacp::framing::Framing;
use libacp::Config;
use serde_json::Value;

/// The severities, in the order of [`Config::policies`].
const SEVERITIES: [&str; 3] = ["note", "warning", "error"];

/// The configuration that a scenario gives.
pub(crate) fn read(value: &Value) -> Config {
    let mut config = match value["role"].as_str() {
        Some("client") => Config::client(),
        Some("agent") => Config::agent(),
        other => panic!("role {other:?}"),
    };
    for (name, value) in value.as_object().unwrap() {
        match (name.as_str(), value.as_str()) {
            ("role", _) => {}
            ("policy", Some(word)) => config.policy = policy(word),
            ("policies", _) => {
                for (severity, word) in value.as_object().unwrap() {
                    let index = SEVERITIES.iter().position(|known| known == severity).expect("a severity");
                    config.policies[index] = Some(policy(word.as_str().expect("a policy")));
                }
            }
            ("framing", Some("lines")) => config.framing = Framing::Lines,
            ("framing", Some("content-length")) => config.framing = Framing::ContentLength,
            ("framing", Some("messages")) => config.framing = Framing::Messages,
            ("versions", _) => {
                let numbers = value.as_array().unwrap().iter().map(|number| number.as_i64().unwrap());
                config.versions = Versions::of(numbers).unwrap();
            }
            ("timeout", _) => config.timeout = value.as_u64(),
            ("cancel_grace", _) => config.cancel_grace = value.as_u64(),
            ("reminder", _) => config.reminder = value.as_u64(),
            ("view", _) => config.view = value.as_bool().unwrap(),
            ("prompt_queueing", _) => config.prompt_queueing = value.as_bool().unwrap(),
            ("foreign_methods", _) => {
                for name in value.as_array().unwrap() {
                    config.foreign_method(name.as_str().unwrap()).unwrap();
                }
            }
            ("drafts", _) => {
                for name in value.as_array().unwrap() {
                    config.draft(name.as_str().unwrap()).unwrap();
                }
            }
            ("limits", _) => limits(&mut config.limits, value),
            _ => panic!("config {name}: {value}"),
        }
    }
    config
}

fn policy(word: &str) -> Policy {
    match word {
        "tolerant" => Policy::Tolerant,
        "strict" => Policy::Strict,
        "off" => Policy::Off,
        _ => panic!("policy {word}"),
    }
}

fn limits(limits: &mut Limits, value: &Value) {
    for (name, value) in value.as_object().unwrap() {
        let value = usize::try_from(value.as_u64().unwrap()).unwrap();
        match name.as_str() {
            "frame" => limits.frame = value,
            "depth" => limits.depth = u32::try_from(value).unwrap(),
            "pending" => limits.pending = value,
            "sessions" => limits.sessions = value,
            "terminals" => limits.terminals = value,
            "remembered" => limits.remembered = value,
            "view_entries" => limits.view_entries = value,
            "view_bytes" => limits.view_bytes = value,
            "view_content" => limits.view_content = value,
            "view_output" => limits.view_output = value,
            _ => panic!("limit {name}"),
        }
    }
}
