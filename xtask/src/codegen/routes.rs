//! The methods as the remote transport sees them: which belong to a session, and what a call makes of one.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::MARK;
use crate::model::{Effect, GateForm, Method, Model, Retry, Scope};

/// Notifications that ask to stop something. To ask twice is to ask once.
const STOPS: [&str; 2] = ["$/cancel_request", "session/cancel"];

/// What the versions say together about one method.
#[derive(Debug, Clone, Copy)]
struct Row {
    scoped: bool,
    effect: Option<Effect>,
    again: bool,
}

impl Row {
    fn of(name: &str, method: &Method) -> Self {
        let scoped = matches!(method.scope, Scope::Session | Scope::ReadySession | Scope::AnySession);
        let again = matches!(method.retry, Some(Retry::Safe | Retry::Key)) || STOPS.contains(&name);
        Row { scoped, effect: method.effect, again }
    }

    /// Both of two versions; what one of them does not allow twice is not sent twice.
    fn and(self, other: Self) -> Self {
        Row {
            scoped: self.scoped || other.scoped,
            effect: self.effect.or(other.effect),
            again: self.again && other.again,
        }
    }
}

/// `core/src/http/methods.rs`.
pub(super) fn file(model: &Model) -> String {
    let mut rows: BTreeMap<&str, Row> = BTreeMap::new();
    for (name, method) in model.versions.iter().flat_map(|version| &version.methods) {
        let row = Row::of(name, method);
        rows.entry(name).and_modify(|known| *known = known.and(row)).or_insert(row);
    }
    let mut out = format!(
        "//! {MARK}\n//!\n//! Every method of all versions and drafts, sorted by name.\n\n\
         use super::route::{{opens, row, Effect, Opens, Row}};\n\n\
         /// The name, whether its params name a session, what it does to that session, and whether it may be sent again.\n\
         pub(super) const METHODS: &[Row] = &[\n"
    );
    for (name, Row { scoped, effect, again }) in rows {
        let effect = match effect {
            Some(Effect::Makes) => "Makes",
            Some(Effect::Attaches) => "Attaches",
            Some(Effect::Ends | Effect::Deletes) => "Ends",
            None => "None",
        };
        let _ = writeln!(out, "row({name:?}, {scoped}, Effect::{effect}, {again}),");
    }
    out.push_str(
        "];\n\n/// How a session is opened again, by version: the method, and the capability for it in the answer to \
         `initialize`, which has to be true or only to be there. The best way first.\n\
         pub(super) const OPENS: &[Opens] = &[\n",
    );
    for version in &model.versions {
        let mut ways: Vec<_> =
            version.methods.iter().filter(|(_, method)| method.effect == Some(Effect::Attaches)).collect();
        // `session/resume` repeats no history, `session/load` does.
        ways.sort_by(|one, other| other.0.cmp(one.0));
        for (name, gate) in ways.into_iter().filter_map(|(name, method)| Some((name, method.gate.as_ref()?))) {
            let inside = version.dialect.as_ref().map_or("", |dialect| dialect.agent.capabilities.as_str());
            let pointer = format!("/{inside}/{}", gate.path.replace('.', "/"));
            let boolean = gate.form == GateForm::Boolean;
            let _ = writeln!(out, "opens({}, {name:?}, {pointer:?}, {boolean}),", version.number);
        }
    }
    out.push_str("];\n");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_version_forbids_twice_is_not_repeated() {
        let row = |scoped, again| Row { scoped, effect: None, again };
        let both = row(false, true).and(row(true, false));
        assert!(both.scoped && !both.again);
        assert!(row(true, true).and(row(true, true)).again);
    }
}
