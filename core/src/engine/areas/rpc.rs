//! RPC: JSON-RPC.
//!
//! `jsonrpc` reads and writes envelopes, so a host cannot write an invalid one. `connection/incoming` and `answers`
//! dispatch incoming messages, and `admission` checks method, side and form against the tables. The checks here are
//! about the host's own errors.

use crate::engine::{Action, Area, Check, Finding, MessageKind, Role, RuleContext};
use crate::jsonrpc::ErrorCode;

pub(super) static AREA: Area = Area {
    checks: &[
        Check::new(id!("RPC-05"), MessageKind::Error, &["*"], more_than_a_sentence)
            .send(Action::Report)
            .receive(Action::Pass),
        Check::new(id!("RPC-25"), MessageKind::Error, &["*"], taken_code).send(Action::Report).receive(Action::Pass),
    ],
    trackers: &[],
};

/// The maximum length of a short sentence in characters: two or three lines of a dialog or a log.
const SHORT: usize = 256;

fn more_than_a_sentence(context: &RuleContext<'_>) -> Option<Finding> {
    let message = context.message.text("/message")?;
    let lines = message.contains(['\n', '\r']);
    let sentences = message.match_indices(['.', '!', '?']).any(|(at, _)| {
        let mut next = message[at + 1..].chars();
        next.next() == Some(' ') && next.next().is_some_and(char::is_uppercase)
    });
    let short = message.chars().nth(SHORT).is_none();
    (lines || sentences || !short)
        .then(|| Finding::new("/message", "expected one short sentence; details belong in data"))
}

/// Whether a code is neither a standard one nor in the range for custom ones.
fn foreign(code: i32) -> bool {
    !matches!(code, -32700 | -32603..=-32600 | -32800 | -32099..=-32000)
}

fn taken_code(context: &RuleContext<'_>) -> Option<Finding> {
    let code: i32 = context.message.get("/code")?.parse().ok()?;
    let asks_for_login = code == ErrorCode::AUTH_REQUIRED.0 && context.state.config.role() == Role::Client;
    let why = if foreign(code) {
        "not a code of the specification; custom codes are from -32099 to -32001"
    } else if code == ErrorCode::PARSE_ERROR.0 {
        "this code means that the request could not be read, but it was; use a code for what failed"
    } else if asks_for_login {
        "this code means that an agent requires a login; custom codes are from -32099 to -32003"
    } else {
        return None;
    };
    Some(Finding::new("/code", why))
}

#[cfg(test)]
mod tests {
    use crate::schema::tables::{v1, v2};
    use crate::validation::table::{Tables, Type};

    /// Members of JSON-RPC messages that the specification does not have.
    const OTHER_MEMBERS: &[&str] = &["_meta"];
    const OTHER_TAGS: &[&str] = &["searchAndReplace"];

    fn is_camel(name: &str) -> bool {
        name.starts_with(|c: char| c.is_ascii_lowercase()) && name.bytes().all(|b| b.is_ascii_alphanumeric())
    }

    fn is_snake(name: &str) -> bool {
        name.starts_with(|c: char| c.is_ascii_lowercase())
            && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
    }

    #[test]
    fn members_are_camel_case_and_tags_snake_case() {
        let mut wrong = Vec::new();
        let mut seen = 0;
        for Tables { types, .. } in [&v1::TABLES, &v2::TABLES] {
            for ty in *types {
                match ty {
                    Type::Object { fields } => {
                        seen += fields.len();
                        let names = fields.iter().map(|field| field.name);
                        wrong.extend(names.filter(|name| !is_camel(name) && !OTHER_MEMBERS.contains(name)));
                    }
                    Type::Union { tag, variants, .. } => {
                        assert!(is_camel(tag), "{tag}");
                        let tags = variants.iter().map(|variant| variant.tag);
                        wrong.extend(tags.filter(|tag| !is_snake(tag) && !OTHER_TAGS.contains(tag)));
                    }
                    _ => {}
                }
            }
        }
        assert!(seen > 500, "{seen} members");
        assert_eq!(wrong, [""; 0]);
    }
}
