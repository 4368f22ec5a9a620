//! Chunks of one message as one, while the transport is busy: a peer that handles message by message has fewer of them.
//!
//! Two chunks are merged if nothing but their text differs and the first has not been taken for writing. So text, order and
//! the message that they belong to stay, and whatever else a chunk says keeps it apart.

use crate::json;

/// Bytes that a merged message has at most.
const MOST: usize = 16 * 1024;
/// Kinds of updates that are merged. Two chunks of the user may be two prompts.
const KINDS: [&str; 2] = ["agent_message_chunk", "agent_thought_chunk"];
/// All members that a merged message may have, and where.
const MEMBERS: [(&str, &[&str]); 3] = [
    ("/params", &["sessionId", "update"]),
    ("/params/update", &["sessionUpdate", "messageId", "content"]),
    ("/params/update/content", &["type", "text"]),
];
const TEXT: &str = "/params/update/content/text";

/// How many bytes of a message stand before its text, and after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    before: usize,
    pub(super) after: usize,
}

/// Whether an update is of a kind that may be merged.
pub(super) fn is_chunk(update: Option<&str>) -> bool {
    update.is_some_and(|kind| KINDS.contains(&kind))
}

/// Where the text of a chunk stands that says nothing else.
pub(super) fn span(message: &[u8]) -> Option<Span> {
    let message = std::str::from_utf8(message).ok().filter(|message| message.len() <= MOST)?;
    let text_at = |pointer| json::unescape(json::pointer(message, pointer)?);
    let plain = MEMBERS.iter().all(|(pointer, known)| {
        json::pointer(message, pointer)
            .is_some_and(|object| json::members(object).iter().all(|(name, _)| known.contains(&&**name)))
    });
    let is_chunk = is_chunk(text_at("/params/update/sessionUpdate").as_deref());
    if !plain || !is_chunk || text_at("/params/update/content/type")? != "text" {
        return None;
    }
    let text = json::pointer(message, TEXT)?;
    let before = text.as_ptr() as usize - message.as_ptr() as usize + 1;
    Some(Span { before, after: message.len() - (before + text.len() - 2) })
}

/// The text of another message, escaped, where that may go on in the last one.
pub(super) fn more<'m>(last: &[u8], span: Span, message: &'m str) -> Option<&'m str> {
    let text = message.len().checked_sub(span.before + span.after)?;
    if last.len() + text > MOST || last.get(..span.before)? != message.as_bytes().get(..span.before)? {
        return None;
    }
    let end = span.before + text;
    let fits = last.get(last.len() - span.after..)? == message.as_bytes().get(end..)?;
    // A quote would begin further members.
    message.get(span.before..end).filter(|text| fits && !has_quote(text))
}

fn has_quote(escaped: &str) -> bool {
    let mut bytes = escaped.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => return true,
            b'\\' => drop(bytes.next()),
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunk(rest: &str, text: &str) -> String {
        format!(
            r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"s","update":{{"sessionUpdate":"agent_message_chunk"{rest},"content":{{"type":"text","text":"{text}"}}}}}}}}"#
        )
    }

    fn merged(last: &str, next: &str) -> Option<String> {
        let span = span(last.as_bytes())?;
        let text = more(last.as_bytes(), span, next)?;
        let mut whole = last.to_owned();
        whole.insert_str(last.len() - span.after, text);
        Some(whole)
    }

    #[test]
    fn text_is_joined_as_it_is_escaped() {
        let id = r#","messageId":"m""#;
        let [first, second] = [r#"a \"b\" 🙂"#, r"\\ c"];
        let whole = chunk(id, &format!("{first}{second}"));
        assert_eq!(merged(&chunk(id, first), &chunk(id, second)), Some(whole));
        assert_eq!(merged(&chunk("", ""), &chunk("", "a")), Some(chunk("", "a")));
    }

    #[test]
    fn whatever_else_differs_keeps_messages_apart() {
        let base = chunk("", "a");
        for other in [
            chunk(r#","messageId":"m""#, "b"),
            base.replace("agent_message", "agent_thought"),
            base.replace(r#""s""#, r#""t""#),
            base.replace(r#""text":"a""#, r#""text":"a","annotations":{"x":"y"}"#),
            base.replace("}}}}", r#"},"_meta":{}}}}"#),
        ] {
            assert_eq!(merged(&base, &other), None, "{other}");
            assert_eq!(merged(&other, &base), None, "{other}");
        }
        for alone in [
            base.replace("}}}}", r#"}},"_meta":{}}}"#),
            base.replace("agent_message", "user_message"),
            base.replace(r#""type":"text""#, r#""type":"other""#),
        ] {
            assert_eq!(merged(&alone, &alone), None, "{alone}");
        }
    }

    #[test]
    fn a_message_does_not_grow_without_end() {
        let long = chunk("", &"x".repeat(MOST / 2));
        assert_eq!(merged(&long, &long), None);
        assert_eq!(span(chunk("", &"x".repeat(MOST)).as_bytes()), None);
    }
}
