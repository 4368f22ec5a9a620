//! How steps are compared, and why they do not pass.

use std::fmt::Display;

use libacp::aio::{Error, Failure};
use serde_json::{Map, Value};

/// Why a step does not pass.
pub(crate) enum Trouble {
    /// Something is not as it has to be.
    Wrong(String),
    /// One side does not have what the step takes.
    NotOffered(String),
}

pub(crate) type Checked<T = ()> = Result<T, Trouble>;

impl From<Error> for Trouble {
    fn from(error: Error) -> Self {
        Trouble::Wrong(error.to_string())
    }
}

impl From<Failure> for Trouble {
    fn from(failure: Failure) -> Self {
        Trouble::Wrong(failure.to_string())
    }
}

impl From<serde_json::Error> for Trouble {
    fn from(error: serde_json::Error) -> Self {
        Trouble::Wrong(error.to_string())
    }
}

impl From<std::io::Error> for Trouble {
    fn from(error: std::io::Error) -> Self {
        Trouble::Wrong(error.to_string())
    }
}

/// Objects that are expected ask for their members; null stands for what is not there.
pub(crate) fn same(what: impl Display, expected: &Value, got: &Value) -> Checked {
    match (expected, got) {
        (Value::Object(expected), Value::Object(got)) => {
            let mut members = expected.iter();
            members.try_for_each(|(name, value)| {
                same(format!("{what}/{name}"), value, got.get(name).unwrap_or(&Value::Null))
            })
        }
        (Value::Array(expected), Value::Array(got)) if expected.len() == got.len() => {
            let mut pairs = expected.iter().zip(got).enumerate();
            pairs.try_for_each(|(index, (expected, got))| same(format!("{what}/{index}"), expected, got))
        }
        _ if expected == got => Ok(()),
        _ => Err(Trouble::Wrong(format!("{what}: expected {}, got {}", short(expected), short(got)))),
    }
}

fn short(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(200) {
        None => text,
        Some((end, _)) => format!("{}... ({} bytes)", &text[..end], text.len()),
    }
}

/// A call has to be refused.
pub(crate) fn refused<T>(what: &str, code: i64, result: Result<T, Error>) -> Checked {
    match result {
        Err(Error::Peer { error, .. }) => {
            same(format!("code of {what}"), &code.into(), &i64::from(error.code.0).into())
        }
        Err(other) => Err(other.into()),
        Ok(_) => Err(Trouble::Wrong(format!("{what}: expected the error {code}, got a result"))),
    }
}

/// A value of the catalogue with its placeholders replaced.
pub(crate) fn fill(value: &Value, cwd: &str) -> Value {
    match value {
        Value::String(text) => text.replace("{cwd}", cwd).into(),
        Value::Array(all) => all.iter().map(|each| fill(each, cwd)).collect(),
        Value::Object(members) => match (members.get("repeat"), members.get("times")) {
            (Some(Value::String(text)), Some(times)) => {
                text.repeat(times.as_u64().and_then(|times| times.try_into().ok()).unwrap_or_default()).into()
            }
            _ => members.iter().map(|(name, each)| (name.clone(), fill(each, cwd))).collect::<Map<_, _>>().into(),
        },
        other => other.clone(),
    }
}
