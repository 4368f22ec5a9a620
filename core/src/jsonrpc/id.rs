//! The id of a request.

use std::fmt;

/// The maximum length in bytes of whatever a peer names: a request, a session, a terminal, a tool call, a method
/// (LIMIT-07). Together with the limits on how many are remembered, this bounds memory.
pub(crate) const MAX_NAME_BYTES: usize = 4096;

/// The id of a request. Numbers are exact and never pass through a double (RPC-06, RPC-09).
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Id {
    /// `null`, which version 1 allows but advises against.
    Null,
    /// An integer.
    Number(i64),
    /// A string.
    String(Box<str>),
}

impl Id {
    /// The id in a JSON text; `None` if the text is not an id: a number with a fraction or an exponent, a number beyond
    /// 64 bits, a boolean, a list, an object.
    pub fn from_json(json: &str) -> Option<Self> {
        let json = json.trim();
        match json.as_bytes().first()? {
            b'n' if json == "null" => Some(Id::Null),
            b'"' => crate::json::unescape(json).map(|text| Id::String(text.into())),
            b'-' | b'0'..=b'9' => json.parse().ok().map(Id::Number),
            _ => None,
        }
    }

    /// The id as JSON text.
    pub fn to_json(&self) -> String {
        let mut out = String::new();
        self.write(&mut out);
        out
    }

    pub(crate) fn write(&self, out: &mut String) {
        match self {
            Id::Null => out.push_str("null"),
            Id::Number(number) => out.push_str(&number.to_string()),
            Id::String(text) => crate::json::quote(out, text),
        }
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_json())
    }
}

impl From<i64> for Id {
    fn from(number: i64) -> Self {
        Id::Number(number)
    }
}

impl From<&str> for Id {
    fn from(text: &str) -> Self {
        Id::String(text.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_exact_and_typed() {
        for json in ["0", "-1", "9007199254740993", "9223372036854775807", "\"1\"", "\"\"", "null", "\"é\\n\""] {
            assert_eq!(Id::from_json(json).unwrap().to_json(), json);
        }
        for json in ["1.5", "1.0", "1e3", "9223372036854775808", "true", "{}", "[]", "", "\"x", "nul", "+1"] {
            assert_eq!(Id::from_json(json), None, "{json}");
        }
        assert_ne!(Id::from(1), Id::from("1"));
    }
}
