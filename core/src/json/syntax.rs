//! Errors of JSON syntax.

use std::fmt;

/// Where and why text is not JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SyntaxError {
    /// The offset of the first byte that does not fit.
    pub offset: usize,
    /// What is wrong there.
    pub kind: SyntaxKind,
}

/// Why text is not JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SyntaxKind {
    /// The text ends inside a value.
    End,
    /// A byte that is not allowed here.
    Unexpected,
    /// An escape that JSON does not have.
    Escape,
    /// A control character inside a string.
    Control,
    /// More text after the value.
    Trailing,
    /// Nested more deeply than the limit.
    Depth,
    /// Bytes that are not UTF-8.
    Utf8,
    /// A lone surrogate, which is not a character.
    Surrogate,
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.kind {
            SyntaxKind::End => "the text ends inside a value",
            SyntaxKind::Unexpected => "this byte is not allowed here",
            SyntaxKind::Escape => "not an escape sequence of JSON",
            SyntaxKind::Control => "a control character inside a string",
            SyntaxKind::Trailing => "more text after the value",
            SyntaxKind::Depth => "nested too deeply",
            SyntaxKind::Utf8 => "not UTF-8",
            SyntaxKind::Surrogate => "half a surrogate pair",
        };
        write!(f, "{what}, at byte {}", self.offset)
    }
}

impl std::error::Error for SyntaxError {}
