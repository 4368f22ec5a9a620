//! JSON as text: a scanner that never builds a tree, and what hosts and the core need on top of it.
//!
//! Everything here works on text that is known to be UTF-8. Read [`scan`](self) for the grammar, then [`pointer()`] for
//! look-ups.

mod decimal;
mod dense;
mod edit;
mod read;
mod scan;
mod string_end;
mod syntax;
#[cfg(test)]
pub(crate) mod watch;
mod write;

pub(crate) use decimal::Decimal;
pub(crate) use edit::{without, Edits, ListEditor};
pub(crate) use read::{agreed, columns, items, member, members, mentions, push_unescaped, text};
pub use read::{pointer, unescape, unescape_at, MAX_DEPTH};
pub(crate) use scan::{Checkpoint, Kind, Scanner, Text};
pub use syntax::{SyntaxError, SyntaxKind};
pub use write::{list, quote, Unfinished, Writer};
