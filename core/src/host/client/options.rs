//! Config options in the shapes of version 1, and the modes that one of them stands for.

use super::shapes::{copy, object, rename, renamed, text};
use crate::json::{self, Writer};

/// The category of the option that stands for the modes of a session.
const MODE: &str = "mode";
/// The types of options that version 1 has (CONF-12).
const TYPES: [&str; 2] = ["select", "boolean"];

/// The option of a list that stands for the modes.
pub(super) fn mode_option(list: &str) -> Option<&str> {
    let is = |option: &&str, place, what| text(option, place).is_some_and(|value| value == what);
    json::items(list).into_iter().find(|option| is(option, "/category", MODE) && is(option, "/type", "select"))
}

/// An answer that lists options: with those that version 1 has, in its shapes.
pub(super) fn listed(answer: &str) -> String {
    object(answer, |writer| {
        copy(writer, answer, &["configOptions"]);
        if let Some(list) = json::pointer(answer, "/configOptions") {
            options(writer.key("configOptions"), list);
        }
    })
}

/// The answer to a call that opens a session: as [`listed`], with the modes.
pub(super) fn opened(answer: &str) -> String {
    let listed = listed(answer);
    let list = json::pointer(answer, "/configOptions").unwrap_or("[]");
    let Some(option) = mode_option(list).filter(|_| json::pointer(answer, "/modes").is_none()) else { return listed };
    object(answer, |writer| {
        copy(writer, &listed, &[]);
        modes(writer.key("modes").begin_object(), option);
        writer.end_object();
    })
}

fn options(writer: &mut Writer, list: &str) {
    writer.begin_array();
    let known = |option: &&str| text(option, "/type").is_some_and(|kind| TYPES.contains(&&*kind));
    for option in json::items(list).into_iter().filter(known) {
        writer.begin_object();
        renamed(option, &[("configId", "id")], |name, value| match name {
            "options" => values(writer.key(name), value),
            _ => _ = writer.key(name).json(value),
        });
        writer.end_object();
    }
    writer.end_array();
}

/// The values of a selection, plain or in groups.
fn values(writer: &mut Writer, list: &str) {
    writer.begin_array();
    for entry in json::items(list) {
        rename(writer.begin_object(), entry, &[("groupId", "group")]);
        writer.end_object();
    }
    writer.end_array();
}

fn modes(writer: &mut Writer, option: &str) {
    if let Some(current) = json::pointer(option, "/currentValue") {
        writer.key("currentModeId").json(current);
    }
    writer.key("availableModes").begin_array();
    for entry in json::items(json::pointer(option, "/options").unwrap_or("[]")) {
        match json::pointer(entry, "/options") {
            Some(group) => json::items(group).into_iter().for_each(|value| mode(writer, value)),
            None => mode(writer, entry),
        }
    }
    writer.end_array();
}

fn mode(writer: &mut Writer, value: &str) {
    rename(writer.begin_object(), value, &[("value", "id")]);
    writer.end_object();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_of_version_2_has_the_shape_of_version_1_and_stands_for_the_modes() {
        let answer = r#"{"sessionId":"s","configOptions":[
            {"configId":"m","name":"Mode","category":"mode","type":"select","currentValue":"b","_meta":{"x":1},
             "options":[{"groupId":"g","name":"G","options":[{"value":"a","name":"A"},{"value":"b","name":"B","description":"d"}]}]},
            {"configId":"t","name":"T","type":"_dial","currentValue":3},
            {"configId":"w","name":"W","type":"boolean","currentValue":true}]}"#;
        let expected = r#"{"sessionId":"s","configOptions":[
            {"id":"m","name":"Mode","category":"mode","type":"select","currentValue":"b","_meta":{"x":1},
             "options":[{"group":"g","name":"G","options":[{"value":"a","name":"A"},{"value":"b","name":"B","description":"d"}]}]},
            {"id":"w","name":"W","type":"boolean","currentValue":true}],
            "modes":{"currentModeId":"b","availableModes":[{"id":"a","name":"A"},{"id":"b","name":"B","description":"d"}]}}"#;
        let parsed = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
        assert_eq!(parsed(&opened(answer)), parsed(expected));
        assert_eq!(opened(r#"{"sessionId":"s"}"#), r#"{"sessionId":"s"}"#);
        let given = r#"{"modes":{"currentModeId":"x","availableModes":[]}}"#;
        assert_eq!(opened(given), given);
    }

    #[test]
    fn what_is_said_in_the_words_of_both_versions_is_said_once() {
        let answer = r#"{"configOptions":[{"id":"o","configId":"m","name":"M","category":"mode","type":"select","currentValue":"b",
            "options":[{"group":"h","groupId":"g","name":"G","options":[{"id":"c","value":"b","name":"B"}]}]}]}"#;
        let read = crate::schema::read::<crate::schema::v1::LoadSessionResponse<'_>>;
        let text = opened(answer);
        let opened = read(&text).unwrap();
        assert_eq!(opened.config_options.unwrap()[0].id.as_str(), "m");
        assert_eq!(opened.modes.unwrap().available_modes[0].id.as_str(), "b");
    }
}
