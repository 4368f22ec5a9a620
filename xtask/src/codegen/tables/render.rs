//! Writes collected tables as a Rust module.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::super::{screaming, MARK};
use super::shared::Shared;
use super::{draft, Id, Tables, ANY};
use crate::model::{Body, Dialect, GateForm, Kind, Method, Names, Phase, Sender, Shape};

/// Stands for the tag of a union where the index of a member is wanted.
const TAG: u8 = 254;

impl Tables<'_> {
    /// The file of the version, which is the one at this place of all.
    pub(super) fn render(&self, shared: &Shared, version: usize) -> String {
        let number = self.version.number;
        let place = |id: Id| shared.place(version, id);
        let mut out = format!(
            "//! {MARK}\n//!\n//! The methods of version {number} as static data, and what is written about its types.\n\
             #![allow(clippy::all, clippy::pedantic)]\n\n\
             use super::types::TYPES;\n\
             use crate::rules::RuleId;\n\
             use crate::validation::table::{{\n\
             Dialect, Effect, From, Gate, HelloNames, Kind, Method, Part, Phase, Retry, Scope, Tables, TurnEnd, TypeId,\n}};\n\n\
             /// Everything about version {number}.\n\
             pub static TABLES: Tables = Tables {{\n\
             version: {number}, types: TYPES, names: if cfg!(feature = \"words\") {{ NAMES }} else {{ &[] }}, methods: METHODS, parts: PARTS, rules: RULES, aliases: ALIASES, forwarded: FORWARDED,\ndialect: DIALECT,\n}};\n\n\
             static NAMES: &[(&str, TypeId)] = &[\n"
        );
        for (name, id) in &self.ids {
            let _ = writeln!(out, "({name:?}, {}),", place(*id));
        }
        out.push_str("];\n\nstatic METHODS: &[Method] = &[\n");
        let methods: BTreeMap<_, _> = self.version.methods.iter().collect();
        for (name, method) in methods {
            self.method(name, method, &place, &mut out);
        }
        out.push_str("];\n\nstatic PARTS: &[Part] = &[\n");
        for part in &self.version.parts {
            let (name, methods, rule, draft) = (&part.name, &part.methods, &part.rule, draft(part.draft.as_ref()));
            let needs = part.needs.as_ref().map_or_else(
                || "None".to_owned(),
                |(of, path)| {
                    let of = if *of == Sender::Client { "Client" } else { "Agent" };
                    format!("Some((From::{of}, \"/{}\"))", path.replace('.', "/"))
                },
            );
            let _ = writeln!(
                out,
                "Part {{ name: {name:?}, methods: &{methods:?}, needs: {needs}, rule: id!({rule:?}), draft: {draft} }},"
            );
        }
        out.push_str("];\n\nstatic RULES: &[(TypeId, u8, RuleId)] = &[\n");
        let entries = self.entries(shared, version);
        for (id, (entry, _)) in &entries {
            for (field, rule) in &entry.rules {
                let _ = writeln!(out, "({id}, {field}, id!({rule:?})),");
            }
        }
        out.push_str("];\n\nstatic ALIASES: &[(TypeId, u8, &str)] = &[\n");
        for (id, (entry, own)) in &entries {
            for (field, alias) in &entry.aliases {
                let _ = writeln!(out, "({id}, {field}, {alias:?}),");
            }
            let named = self.ids.iter().filter(|(_, id)| *id == own);
            for tag in named.filter_map(|(name, _)| self.spelled_out(name)) {
                let _ = writeln!(out, "({id}, {TAG}, {tag:?}),");
            }
        }
        let forwarded = self.ids.iter().filter(|(name, _)| self.version.types[**name].forwarded);
        let forwarded: BTreeSet<_> = forwarded.map(|(_, id)| place(*id)).collect();
        let _ = write!(out, "];\n\nstatic FORWARDED: &[TypeId] = &{:?};\n", Vec::from_iter(forwarded));
        self.dialect(&mut out);
        out.push_str("\n/// Places of the named types.\n#[allow(missing_docs)]\npub mod ids {\n");
        out.push_str("use crate::validation::table::TypeId;\n\n");
        for (name, id) in &self.ids {
            let _ = writeln!(out, "pub const {}: TypeId = {};", screaming(name), place(*id));
        }
        out.push_str("}\n");
        out
    }

    fn dialect(&self, out: &mut String) {
        let Some(Dialect {
            client,
            agent,
            turn_end,
            config_option_id,
            listed_logins,
            permission_tool_call,
            batches,
            null_ids,
            names_missing_session,
            initialize_again,
            version_error,
            relative_paths,
        }) = &self.version.dialect
        else {
            return;
        };
        let names =
            |names: &Names| format!("HelloNames {{ capabilities: {:?}, info: {:?} }}", names.capabilities, names.info);
        let _ = writeln!(
            out,
            "\nstatic DIALECT: Dialect = Dialect {{\nclient: {}, agent: {}, turn_end: TurnEnd::{turn_end:?}, \
             config_option_id: {config_option_id:?}, listed_logins: &{listed_logins:?}, permission_tool_call: {permission_tool_call:?}, batches: {batches}, null_ids: {null_ids}, names_missing_session: {names_missing_session}, \
             initialize_again: {initialize_again}, version_error: {version_error}, \
             relative_paths: {relative_paths},\n}};",
            names(client),
            names(agent),
        );
    }

    /// The tag that spells out which type is meant where the tag is absent: what the model says, or `agent` for
    /// `AuthMethodAgent`, which an `AuthMethod` without a type is. The schemas know these tags only by the names of the
    /// types.
    fn spelled_out(&self, owner: &str) -> Option<String> {
        let named = self.version.types[owner].untagged_tag.clone();
        if named.is_some() {
            return named;
        }
        let Shape::Union(union) = &self.version.types[owner].shape else { return None };
        let Some(Body::Named(name)) = &union.untagged else { return None };
        name.strip_prefix(owner).map(str::to_lowercase)
    }

    fn method(&self, name: &str, method: &Method, place: &impl Fn(Id) -> Id, out: &mut String) {
        let from = match method.from {
            Sender::Client => "Client",
            Sender::Agent => "Agent",
            Sender::Both => "Both",
        };
        let kind = match method.kind {
            Kind::Request => "Request",
            Kind::Notification => "Notification",
            Kind::Both => "Both",
        };
        let phase = match method.phase {
            Phase::Start => "Start",
            Phase::Ready => "Ready",
            Phase::Any => "Any",
        };
        let gate = method.gate.as_ref().map_or_else(
            || "None".to_owned(),
            |gate| {
                let path: Vec<_> = gate.path.split('.').collect();
                let boolean = gate.form == GateForm::Boolean;
                let rule = method.gate_rule.as_deref().unwrap_or_default();
                format!("Some(Gate {{ path: &{path:?}, boolean: {boolean}, rule: id!({rule:?}) }})")
            },
        );
        let null = |name: &String| self.version.types[name].null_default;
        let _ = writeln!(
            out,
            "Method {{ name: {name:?}, from: From::{from}, kind: Kind::{kind}, params: {}, result: {}, session: Scope::{:?}, effect: Effect::{}, retry: Retry::{}, \
             phase: Phase::{phase}, gate: {gate}, draft: {}, null_params: {}, null_result: {} }},",
            place(self.ids[method.params.as_str()]),
            place(method.result.as_ref().map_or(ANY, |name| self.ids[name.as_str()])),
            method.scope,
            method.effect.map_or("None".to_owned(), |effect| format!("{effect:?}")),
            method.retry.map_or("Never".to_owned(), |retry| format!("{retry:?}")),
            draft(method.draft.as_ref()),
            null(&method.params),
            method.result.as_ref().is_some_and(null),
        );
    }
}
