//! Config options in the words of version 2, and the modes that one of them stands for. They are made when they are read.

use std::borrow::Cow;

use crate::json::{self, Writer};

/// Config options with the names that version 2 has for their members.
pub(super) fn renamed<'a>(list: &'a str, id: &str) -> Cow<'a, str> {
    const ID: &str = "configId";
    if id == ID {
        return Cow::Borrowed(list);
    }
    let groups = |out: &mut Writer, value: &str| {
        out.begin_array();
        for item in json::items(value) {
            out.begin_object();
            for (name, value) in json::members(item) {
                out.key(if name == "group" { "groupId" } else { &name }).json(value);
            }
            out.end_object();
        }
        out.end_array();
    };
    let renamed = json::list(json::items(list).into_iter(), |out, option| {
        out.begin_object();
        for (name, value) in json::members(option) {
            match &*name {
                name if name == id => _ = out.key(ID).json(value),
                "options" if value.starts_with('[') => groups(out.key("options"), value),
                name => _ = out.key(name).json(value),
            }
        }
        out.end_object();
    });
    Cow::Owned(renamed)
}

/// The modes that the config option for them offers.
pub(super) fn modes_of(options: &str) -> Option<String> {
    let is_mode = |option: &&str| json::pointer(option, "/category") == Some("\"mode\"");
    let option = json::items(options).into_iter().find(is_mode)?;
    let values = json::items(json::pointer(option, "/options")?);
    let all = values.into_iter().flat_map(|value| match json::pointer(value, "/options") {
        Some(group) => json::items(group),
        None => vec![value],
    });
    Some(json::list(all, |out, value| {
        out.begin_object();
        for (name, member) in [("id", "/value"), ("name", "/name"), ("description", "/description")] {
            if let Some(member) = json::pointer(value, member) {
                out.key(name).json(member);
            }
        }
        out.end_object();
    }))
}

/// The value of the config option for modes, as JSON text.
pub(super) fn mode_of(options: &str) -> Option<&str> {
    let is_mode = |option: &&str| json::pointer(option, "/category") == Some("\"mode\"");
    json::pointer(json::items(options).into_iter().find(is_mode)?, "/currentValue")
}
