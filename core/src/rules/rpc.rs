//! RPC: what the envelope reader and the connection do.
//!
//! `jsonrpc` reads and writes envelopes, so that no host can write a wrong one; `connection/incoming` and `answers` sort
//! what comes in, and `connection/rules` holds method, side and form against the tables. Here is what the host's own
//! errors should look like.

use super::catalogue::{rule, E, R, T};
use super::scene::{Action, Check, Objection, On, Scene};
use super::{Area, Level, Severity};
use crate::connection::Role;
use crate::jsonrpc::ErrorCode;
use Level::{May, Must, MustNot, Should, ShouldNot};
use Severity::{Error, Note, Warning};

pub(super) static AREA: Area = Area {
    name: "RPC",
    title: "JSON-RPC 2.0 envelope",
    rules: RULES,
    checks: &[
        Check::new(id!("RPC-05"), On::Error, &["*"], more_than_a_sentence).send(Action::Report).receive(Action::Pass),
        Check::new(id!("RPC-25"), On::Error, &["*"], taken_code).send(Action::Report).receive(Action::Pass),
    ],
    trackers: &[],
};

pub(super) static RULES: &[super::Rule] = &[
    rule("RPC-01", Must, Warning, R, "Every message says that it is JSON-RPC 2.0; one that does not is reported, and served unless the policy is strict."),
    rule("RPC-02", Must, Error, R, "A message is a request, a notification or a response, and nothing else."),
    rule("RPC-03", Must, Error, R, "A response has either a result or an error; with both or neither it fails its request."),
    rule("RPC-04", Must, Error, R, "An error has a whole code and a message; another one fails its request without them."),
    rule("RPC-05", Should, Note, E, "The message of an error is one short sentence."),
    rule("RPC-06", Must, Error, R, "The id of a request is a string, a whole number of 64 bits or null."),
    rule("RPC-07", ShouldNot, Warning, E | R, "The id of a request is not null; a peer's is served and answered with null."),
    rule("RPC-08", ShouldNot, Error, R, "The id of a request has no fraction, not even .0."),
    rule("RPC-09", Must, Error, R, "A response repeats the id of its request exactly: value, type and every digit.").reported_as(&["RPC-13"]),
    rule("RPC-10", Must, Error, E | R, "The ids of a sender's open requests differ; a second request with one is refused with the id null, since an answer with that id would end the first."),
    rule("RPC-12", MustNot, Error, R, "Notifications are never answered, whatever is wrong with them."),
    rule("RPC-13", Must, Error, R, "A response that fits no open request is dropped and not answered."),
    rule("RPC-14", Must, Note, R, "An error without an id is about something that could not be read; it ends no request."),
    rule("RPC-15", Must, Error, E | T, "Every request is answered exactly once; what is unanswered is listed."),
    rule("RPC-16", Must, Error, R, "A second response to one request is dropped."),
    rule("RPC-17", Must, Error, R, "A request of an unknown method is answered with method not found."),
    rule("RPC-18", Should, Note, R, "An unknown notification is ignored."),
    rule("RPC-19", Must, Error, E | R, "Params are an object, those of an extension also a list; a peer's that are absent or null are an empty object."),
    rule("RPC-20", Must, Error, E | R, "Params that do not fit are answered with invalid params, and with the place."),
    rule("RPC-21", Must, Error, R, "Text that is not JSON is answered with a parse error and the id null, unless it may be an answer itself."),
    rule("RPC-22", Must, Error, R, "JSON that is no object is an invalid request."),
    rule("RPC-24", Must, Error, R, "Error codes are whole numbers of 32 bits; those without a name are passed on as they are."),
    rule("RPC-25", Should, Note, E, "Own error codes are from -32099 to -32001, and codes with a meaning are used for that."),
    rule("RPC-26", Must, Error, E | R, "Methods that begin with rpc. belong to JSON-RPC."),
    rule("RPC-27", Must, Error, E | R, "Agents serve the agents' methods, clients the clients'."),
    rule("RPC-28", Must, Error, E | R, "A request has an id; without one it is not carried out."),
    rule("RPC-29", Must, Error, E | R, "A notification has no id; a cancel with one is refused and followed all the same."),
    rule("RPC-31", Must, Error, E | T, "An empty result is an object; a peer's null is read as one."),
    rule("RPC-33", Must, Note, E | T, "When the connection ends, all own requests have failed, and nothing is written for that."),
    rule("RPC-34", Must, Error, E | R, "Whole numbers keep within the widths of their members, and stay exact; one written as 100.0 or 1e2 is read, and reported."),
    rule("RPC-35", May, Note, T, "What an error says in its data is passed on as it is."),
];

/// Characters of a sentence that is short: two lines or three of a dialog or a log.
const SHORT: usize = 256;

fn more_than_a_sentence(scene: &Scene<'_>) -> Option<Objection> {
    let message = scene.message.text("/message")?;
    let lines = message.contains(['\n', '\r']);
    let sentences = message.match_indices(['.', '!', '?']).any(|(at, _)| {
        let mut next = message[at + 1..].chars();
        next.next() == Some(' ') && next.next().is_some_and(char::is_uppercase)
    });
    let short = message.chars().nth(SHORT).is_none();
    (lines || sentences || !short)
        .then(|| Objection::new("/message", "one short sentence is expected; the rest belongs in data"))
}

/// Whether a code is neither one that has a meaning nor in the range of own ones.
fn foreign(code: i32) -> bool {
    !matches!(code, -32700 | -32603..=-32600 | -32800 | -32099..=-32000)
}

fn taken_code(scene: &Scene<'_>) -> Option<Objection> {
    let code: i32 = scene.message.get("/code")?.parse().ok()?;
    let asks_for_login = code == ErrorCode::AUTH_REQUIRED.0 && scene.state.config.role == Role::Client;
    let why = if foreign(code) {
        "no code of the specification's; own codes are from -32099 to -32001"
    } else if code == ErrorCode::PARSE_ERROR.0 {
        "this code says that the request could not be read, but it was; say what did not work"
    } else if asks_for_login {
        "with this code an agent asks its client for a login; own codes are from -32099 to -32003"
    } else {
        return None;
    };
    Some(Objection::new("/code", why))
}

#[cfg(test)]
mod tests {
    use crate::schema::tables::{v1, v2};
    use crate::validation::table::{Tables, Type};

    /// What the specification writes otherwise.
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
