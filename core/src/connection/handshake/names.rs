//! What the members of `initialize` are called: it depends on the version and, in some, on the side.

use std::borrow::Cow;

use crate::connection::Role;
use crate::json;
use crate::schema::tables;
use crate::validation::table::{HelloNames, Tables};

/// Names under which peers and hosts are known to hand over secrets, without underscores and capitals.
const SECRETS: &[&str] = &["credentials", "token", "accesstoken", "apikey", "password", "secret", "authorization"];

/// The members with the capabilities and the name of one side, as one version calls them.
pub(super) fn names(tables: &Tables, side: Role) -> [&'static str; 2] {
    let HelloNames { capabilities, info } = *tables.dialect.hello(side);
    [capabilities, info]
}

/// A member under a name that says nothing here, and the name that does (INIT-13).
///
/// Another version's name beside the right one is no mistake: who proposes a version may say the same in the words of
/// older ones, for peers that speak nothing newer. A name that only the other side has is one wherever it stands.
pub(super) fn misnamed(initialize: &str, tables: &Tables, side: Role) -> Option<(&'static str, &'static str)> {
    let has = |name: &str| json::pointer(initialize, &format!("/{name}")).is_some_and(|value| value != "null");
    let right = names(tables, side);
    let own = || tables::all().map(move |tables| names(tables, side));
    let others = || tables::all().map(move |tables| names(tables, side.other()));
    let of_others = |name: &&str| own().all(|own| !own.contains(name));
    let pairs = |wrong: [&'static str; 2]| wrong.into_iter().zip(right).filter(|(wrong, right)| wrong != right);
    own()
        .flat_map(pairs)
        .find(|(wrong, right)| has(wrong) && !has(right))
        .or_else(|| others().flat_map(pairs).find(|(wrong, _)| of_others(wrong) && has(wrong)))
}

/// A member of `initialize` that is a secret by its name (INIT-14).
pub(super) fn secret(initialize: &str) -> Option<Cow<'_, str>> {
    let names = json::members(initialize).into_iter().map(|(name, _)| name);
    names.into_iter().find(|name| SECRETS.contains(&&*name.replace(['_', '-'], "").to_ascii_lowercase()))
}
