//! A request for permission of version 2 in the shape of version 1.

use super::shapes::{copy, given, object, text};
use crate::json::{self, Writer};

/// The kinds of options that version 1 has (PERM-17).
const KINDS: [&str; 4] = ["allow_once", "allow_always", "reject_once", "reject_always"];
/// The answer to a question without an option that the user could choose.
pub(super) const NOT_CHOSEN: &str = r#"{"outcome":{"outcome":"cancelled"}}"#;

/// The params with the tool call that they are about, and the options of known kinds; `None` if there are none. The title,
/// the description and the subject stand beside them. `serial` is the number of the request.
pub(super) fn permission(params: &str, serial: u64) -> Option<String> {
    let known = |option: &&str| text(option, "/kind").is_some_and(|kind| KINDS.contains(&&*kind));
    let options = json::items(json::pointer(params, "/options")?).into_iter().filter(known).collect::<Vec<_>>();
    if options.is_empty() {
        return None;
    }
    Some(object(params, |writer| {
        copy(writer, params, &["options", "toolCall"]);
        writer.key("options").begin_array();
        for option in options {
            writer.json(option);
        }
        writer.end_array();
        tool_call(writer.key("toolCall"), params, serial);
    }))
}

/// The tool call of the subject. For a command, and where there is none, one is made up that says what is asked.
fn tool_call(writer: &mut Writer, params: &str, serial: u64) {
    let subject = given(params, "/subject").unwrap_or("{}");
    let kind = text(subject, "/type");
    if let ("tool_call", Some(call)) = (kind.as_deref().unwrap_or_default(), given(subject, "/toolCall")) {
        writer.json(call);
        return;
    }
    writer.begin_object();
    match given(subject, "/toolCallId") {
        Some(id) => writer.key("toolCallId").json(id),
        None => writer.key("toolCallId").string(&format!("permission-{serial}")),
    };
    if let Some(title) = given(params, "/title") {
        writer.key("title").json(title);
    }
    writer.key("status").string("pending");
    if kind.as_deref() == Some("command") {
        writer.key("kind").string("execute").key("rawInput").begin_object();
        for name in ["command", "cwd"] {
            if let Some(value) = given(subject, &format!("/{name}")) {
                writer.key(name).json(value);
            }
        }
        writer.end_object();
    }
    writer.end_object();
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPTIONS: &str = r#""options":[{"optionId":"a","name":"Yes","kind":"allow_once"}]"#;

    fn call(subject: &str) -> serde_json::Value {
        let params = format!(r#"{{"sessionId":"s","title":"T","description":"D",{subject}{OPTIONS}}}"#);
        let all: serde_json::Value = serde_json::from_str(&permission(&params, 7).unwrap()).unwrap();
        let same = |name| all[name] == serde_json::from_str::<serde_json::Value>(&params).unwrap()[name];
        assert!(["sessionId", "title", "description", "subject", "options"].into_iter().all(same), "{all}");
        all["toolCall"].clone()
    }

    #[test]
    fn what_is_asked_becomes_a_tool_call() {
        let parsed = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
        let given = r#"{"toolCallId":"t","status":"pending","title":"x"}"#;
        assert_eq!(call(&format!(r#""subject":{{"type":"tool_call","toolCall":{given}}},"#)), parsed(given));
        let command = r#"{"toolCallId":"permission-7","title":"T","status":"pending","kind":"execute","rawInput":{"command":"ls","cwd":"/w"}}"#;
        assert_eq!(call(r#""subject":{"type":"command","command":"ls","cwd":"/w"},"#), parsed(command));
        let of_a_call = call(r#""subject":{"type":"command","command":"ls","cwd":"/w","toolCallId":"t"},"#);
        assert_eq!(of_a_call["toolCallId"], "t");
        let other = r#"{"toolCallId":"permission-7","title":"T","status":"pending"}"#;
        assert_eq!(call(r#""subject":{"type":"_x"},"#), parsed(other));
        assert_eq!(call(r#""subject":null,"#), parsed(other));
    }

    #[test]
    fn options_of_kinds_that_version_1_lacks_are_left_out() {
        let other = r#"{"optionId":"b","name":"B","kind":"_x"}"#;
        let both = format!(r#"{{"options":[{other},{}]}}"#, &OPTIONS[11..OPTIONS.len() - 1]);
        assert!(!permission(&both, 7).unwrap().contains("\"b\""));
        assert_eq!(permission(&format!(r#"{{"options":[{other}]}}"#), 7), None);
    }
}
