//! Small changes to JSON objects as text. What is not changed stays as it was written.

use crate::json::{self, Writer};

pub(super) use crate::host::text;

/// The members of an object but for some, as members of the object that is being written.
pub(super) fn copy(writer: &mut Writer, object: &str, but: &[&str]) {
    for (name, value) in json::members(object) {
        if !but.contains(&&*name) {
            writer.key(&name).json(value);
        }
    }
}

/// The members of an object under other names, where `names` has them as pairs of the old name and the new one. Of what is
/// there under both names, as a peer may say it in the words of both versions, the one that is renamed counts.
pub(super) fn rename(writer: &mut Writer, object: &str, names: &[(&str, &str)]) {
    renamed(object, names, |name, value| _ = writer.key(name).json(value));
}

/// The same, each member for `write`.
pub(super) fn renamed(object: &str, names: &[(&str, &str)], mut write: impl FnMut(&str, &str)) {
    let members = json::members(object);
    let is_there = |name: &str| members.iter().any(|(other, _)| other == name);
    for (name, value) in &members {
        if names.iter().all(|(old, new)| new != name || !is_there(old)) {
            let new = names.iter().find(|(old, _)| old == name);
            write(new.map_or(&**name, |(_, new)| new), value);
        }
    }
}

/// An object that `write` writes the members of; `otherwise` if that is not JSON.
pub(super) fn object(otherwise: &str, write: impl FnOnce(&mut Writer)) -> String {
    let mut writer = Writer::new();
    writer.begin_object();
    write(&mut writer);
    writer.end_object();
    writer.finish().unwrap_or_else(|_| otherwise.to_owned())
}

/// An object with one member more, or with another value for it.
pub(in crate::host) fn with(object_: &str, name: &str, value: &str) -> String {
    object(object_, |writer| {
        copy(writer, object_, &[name]);
        writer.key(name).json(value);
    })
}

/// A member that is there, and not null.
pub(super) fn given<'a>(json: &'a str, pointer: &str) -> Option<&'a str> {
    json::pointer(json, pointer).filter(|value| *value != "null")
}
