//! Duplicate names in an object.
//!
//! Of two members with the same name, some readers take the first and some the last. So a value was checked for all
//! readers only if both are equal.

use super::Seen;
use crate::json::{unescape, Scanner};
use crate::map::StringMap;

/// `found` of a duplicate name.
pub(crate) const TWICE: &str = "it twice";

/// The members of one object that are not among the fields of its type: tags of unions, and what only the sender knows.
#[derive(Debug, Default)]
pub(super) struct Others<'a> {
    /// Most objects have no more than this one.
    first: Option<Seen>,
    /// All of them, once there are two.
    all: Option<Box<StringMap<'a>>>,
}

impl<'a> Others<'a> {
    pub(super) fn new(first: Option<Seen>) -> Self {
        Others { first, all: None }
    }

    /// Notes a member; `false` where one of the same name says something else.
    pub(super) fn agree(&mut self, scanner: &Scanner<'a>, member: Seen) -> bool {
        let Some(first) = &self.first else {
            self.first = Some(member);
            return true;
        };
        let all = self.all.get_or_insert_with(|| {
            let mut all = StringMap::default();
            all.put(first.text(scanner).value(), scanner.slice(first.value.clone()));
            Box::new(all)
        });
        let (name, value) = (member.text(scanner).value(), scanner.slice(member.value));
        if let Some(known) = all.get(&name) {
            return same(known, value);
        }
        all.put(name, value);
        true
    }
}

/// Whether two JSON values are the same, as far as can be seen without reading them: byte by byte, or as strings.
pub(super) fn same(one: &str, other: &str) -> bool {
    one == other || matches!((unescape(one), unescape(other)), (Some(one), Some(other)) if one == other)
}
