//! The `data` of the errors that the connection answers with. All of it is written here.

use crate::json::Writer;
use crate::rules::RuleId;
use crate::versions::Versions;

/// A name longer than this many bytes is not repeated in an answer.
pub(super) const MAX_ECHOED_BYTES: usize = 128;

/// What an error says beside its code and message. Members that are `None` are left out.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ErrorData<'a> {
    /// The rule that the request breaks; every refusal of the connection's own has one.
    pub(super) rule: Option<RuleId>,
    /// The method that is not served.
    pub(super) method: Option<&'a str>,
    /// JSON pointer to what is wrong.
    pub(super) pointer: Option<&'a str>,
    /// What was expected there.
    pub(super) expected: Option<&'a str>,
    /// The session that does not exist.
    pub(super) session: Option<&'a str>,
    /// The protocol version that the client asked for, and those that it may ask for (INIT-21).
    pub(super) versions: Option<(u16, Versions)>,
}

impl ErrorData<'_> {
    pub(super) fn of(rule: RuleId) -> Self {
        ErrorData { rule: Some(rule), ..ErrorData::default() }
    }

    /// The object as JSON text. Long names are left out: the peer knows what it sent, and an answer stays short.
    pub(super) fn json(self) -> String {
        let short = |name: &&str| name.len() <= MAX_ECHOED_BYTES;
        let members = [
            ("rule", self.rule.as_ref().map(|rule| rule.as_str())),
            ("method", self.method.filter(short)),
            ("pointer", self.pointer),
            ("expected", self.expected),
            ("sessionId", self.session.filter(short)),
        ];
        let mut data = Writer::new();
        data.begin_object();
        for (name, text) in members {
            if let Some(text) = text {
                data.key(name).string(text);
            }
        }
        if let Some((requested, supported)) = self.versions {
            data.key("requested").unsigned(requested.into()).key("supported").begin_array();
            for version in supported.iter() {
                data.unsigned(version.into());
            }
            data.end_array();
        }
        data.end_object();
        data.finish().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_is_left_out() {
        let data = ErrorData { pointer: Some("/a\"b"), ..ErrorData::of(id!("RPC-20")) };
        assert_eq!(data.json(), r#"{"rule":"RPC-20","pointer":"/a\"b"}"#);
        let data = ErrorData { versions: Some((9, Versions::ALL)), ..ErrorData::default() };
        assert_eq!(data.json(), r#"{"requested":9,"supported":[1,2]}"#);
    }

    #[test]
    fn long_names_are_not_repeated() {
        let (long, short) = ("x".repeat(MAX_ECHOED_BYTES + 1), "x".repeat(MAX_ECHOED_BYTES));
        let data = |method, session| ErrorData { method, session, ..ErrorData::of(id!("RPC-17")) }.json();
        assert_eq!(data(Some(&*long), Some(&*long)), r#"{"rule":"RPC-17"}"#);
        assert_eq!(data(None, Some(&*short)), format!(r#"{{"rule":"RPC-17","sessionId":"{short}"}}"#));
    }
}
