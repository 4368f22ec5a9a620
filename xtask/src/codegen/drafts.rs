//! The drafts as a type of the core; their numbers are what the tables refer to.

use std::fmt::Write as _;

use super::{pascal, MARK};
use crate::model::{Model, DRAFTS};

/// `core/src/schema/drafts.rs`.
pub(super) fn file(_: &Model) -> String {
    let mut out = format!(
        "//! {MARK}\n//!\n//! The drafts of the protocol, each of which a host switches on by itself.\n\n\
         /// Names of the drafts; the place in this list plus one is what tables hold.\n\
         pub const DRAFTS: &[&str] = &{DRAFTS:?};\n\n\
         /// A part of the protocol that may still change.\n\
         #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]\n#[repr(u8)]\npub enum Draft {{\n"
    );
    for (i, name) in DRAFTS.iter().enumerate() {
        let _ = writeln!(out, "/// The draft `{name}`.\n{} = {},", pascal(name), i + 1);
    }
    let all: Vec<_> = DRAFTS.iter().map(|name| format!("Self::{}", pascal(name))).collect();
    let _ = write!(
        out,
        "}}\n\nimpl Draft {{\n/// Every draft, in order.\npub const ALL: &'static [Self] = &[{}];\n\n\
         /// Its name.\npub const fn name(self) -> &'static str {{ DRAFTS[self as usize - 1] }}\n\n\
         /// The draft with this name.\npub fn from_name(name: &str) -> Option<Self> {{\n\
         Self::ALL.iter().copied().find(|draft| draft.name() == name)\n}}\n}}\n",
        all.join(", ")
    );
    out
}
