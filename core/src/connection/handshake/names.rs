//! What the members of `initialize` are called: it depends on the version, and in version 1 on the side.

use std::borrow::Cow;

use crate::connection::Role;
use crate::json;

/// Names under which peers and hosts are known to hand over secrets, without underscores and capitals.
const SECRETS: &[&str] = &["credentials", "token", "accesstoken", "apikey", "password", "secret", "authorization"];

/// The members with the capabilities and the name of one side, as one version calls them.
pub(super) fn names(version: u16, side: Role) -> [&'static str; 2] {
    match (version, side) {
        (1, Role::Client) => ["clientCapabilities", "clientInfo"],
        (1, Role::Agent) => ["agentCapabilities", "agentInfo"],
        _ => ["capabilities", "info"],
    }
}

/// A member under a name that says nothing here, and the name that does (INIT-13).
///
/// The other version's name beside the right one is no mistake: who proposes version 2 may say the same in version 1's
/// words, for peers that speak nothing newer.
pub(super) fn misnamed(hello: &str, version: u16, side: Role) -> Option<(&'static str, &'static str)> {
    let has = |name: &str| json::pointer(hello, &format!("/{name}")).is_some_and(|value| value != "null");
    let right = names(version, side);
    let others = [names(3 - version, side), names(1, side.other())];
    let all = others
        .into_iter()
        .enumerate()
        .flat_map(|(from, wrong)| wrong.into_iter().zip(right).map(move |(wrong, right)| (from, wrong, right)));
    let mut wrong = all.filter(|(_, wrong, right)| wrong != right);
    let found = wrong.find(|(from, wrong, right)| has(wrong) && (*from > 0 || !has(right)))?;
    Some((found.1, found.2))
}

/// A member of `initialize` that is a secret by its name (INIT-14).
pub(super) fn secret(hello: &str) -> Option<Cow<'_, str>> {
    let names = json::members(hello).into_iter().map(|(name, _)| name);
    names.into_iter().find(|name| SECRETS.contains(&&*name.replace(['_', '-'], "").to_ascii_lowercase()))
}
