//! What a client says that asks for a version above all of this agent's (INIT-20).

use std::borrow::Cow;

use crate::json::{self, Writer};
use crate::validation::table::{Field, Tables, Type, TypeId};
use crate::validation::{check, DraftSet, Mode, Part};

/// The params of its `initialize` as far as this version can read them.
///
/// What this version has and cannot read is left out, as nobody is to blame for it; a required object then stands there
/// with empty strings, as it does where a peer forgets it. What this version does not have is kept as it came.
pub(super) fn readable(tables: &'static Tables, drafts: DraftSet, ty: TypeId, given: &str) -> String {
    let Type::Object { fields } = tables.types[usize::from(ty)] else { return given.to_owned() };
    let mut writer = Writer::new();
    let mut there: Vec<Cow<'_, str>> = Vec::new();
    writer.begin_object();
    for (name, value) in json::members(given) {
        let known = fields.iter().find(|field| *field.name == name);
        let value = match known.map(|field| check(tables, drafts, field.ty, value, Mode::Tolerant, Part::Request)) {
            None => Cow::Borrowed(value),
            Some(Ok(checked)) => checked.json,
            Some(Err(_)) => continue,
        };
        if !there.contains(&name) {
            writer.key(&name).json(&value);
            there.push(name);
        }
    }
    let missing = |field: &&Field| field.has(Field::REQUIRED) && !there.iter().any(|name| name == field.name);
    for field in fields.iter().filter(missing) {
        if let Type::Object { fields } = tables.types[usize::from(field.ty)] {
            writer.key(field.name).begin_object();
            for inner in fields.iter().filter(|inner| inner.has(Field::REQUIRED)) {
                writer.key(inner.name).string("");
            }
            writer.end_object();
        }
    }
    writer.end_object();
    writer.finish().unwrap_or_else(|_| given.to_owned())
}
