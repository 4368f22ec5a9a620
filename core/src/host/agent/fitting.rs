//! What a client does not take is left out of what its agent says: handlers are written once, for all clients.

use std::sync::Arc;

use super::object::{text, Object};
use super::opening::advice;
use crate::connection::Misuse;
use crate::json;
use crate::rules::RuleId;
use crate::Event;

/// A list with entries of a kind that not every client takes.
struct Row {
    /// The rule that forbids them for a client that does not.
    rule: RuleId,
    list: &'static str,
    kind: &'static str,
    told: &'static str,
}

const ROWS: [Row; 2] = [
    Row {
        rule: id!("AUTH-08"),
        list: "authMethods",
        kind: "terminal",
        told: "this client takes no logins in a terminal, which were left out",
    },
    Row {
        rule: id!("CONF-08"),
        list: "configOptions",
        kind: "boolean",
        told: "this client takes no options that are switches, which were left out",
    },
];

/// The rules of what is left out.
#[cfg(feature = "futures")]
pub(crate) const LEFT_OUT: [RuleId; ROWS.len()] = [ROWS[0].rule, ROWS[1].rule];

/// What the agent's author was told of already.
#[derive(Debug, Default)]
pub(super) struct Fitting([bool; ROWS.len()]);

impl Fitting {
    /// A result or params without what was refused because the client does not take it; `None` if that is not why. It is
    /// tried only then, so that what fits costs nothing.
    pub(super) fn without(misuse: &Misuse, said: &str) -> Option<String> {
        let row = ROWS.iter().find(|row| row.rule == misuse.rule)?;
        let mut whole = Object::of(said);
        if whole.has(row.list) {
            whole.change(row.list, |list| rest(list, row.kind));
        } else {
            whole.change("update", |update| {
                let mut update = Object::of(update);
                update.change(row.list, |list| rest(list, row.kind));
                update.write()
            });
        }
        Some(whole.write())
    }

    /// Tells the author, once for each kind.
    pub(super) fn tell(&mut self, misuse: Misuse, method: &str, session: Option<&Arc<str>>) -> Option<Event> {
        let at = ROWS.iter().position(|row| row.rule == misuse.rule)?;
        if std::mem::replace(&mut self.0[at], true) {
            return None;
        }
        Some(advice(Misuse { message: ROWS[at].told.into(), ..misuse }, method.to_owned(), session))
    }
}

fn rest(list: &str, kind: &str) -> String {
    let is = |entry: &&str| text(entry, "/type").is_none_or(|found| found != kind);
    format!("[{}]", json::items(list).into_iter().filter(is).collect::<Vec<_>>().join(","))
}
