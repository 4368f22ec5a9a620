//! The rule catalogue: every rule of the protocol that this library enforces or follows, by area.
//!
//! An [`Area`] lists its rules in words and brings their code: checks that object to a message, and trackers that
//! remember what was said. Most rules need no code of their own: the model's tables hold types, gates, phases and
//! directions, and `rules` on a field names the rule that a wrong value breaks. A rule says how it is enforced, so that
//! `cargo xtask rules` can hold it against the tests.
//!
//! Read [`catalogue`](self) for the words, `scene` for what a check sees, and one file per area for the rest.

#[macro_use]
mod catalogue;

mod auth;
mod batch;
mod cancel;
mod cap;
mod cmd;
mod conf;
mod cont;
mod dterm;
mod elic;
mod enums;
mod ext;
#[cfg(test)]
mod followed;
mod frame;
mod fs;
mod init;
#[cfg(test)]
mod known;
mod life;
mod limit;
mod moa;
mod mode;
mod nes;
mod note;
mod perm;
mod plan;
mod prov;
mod prox;
mod recent;
mod rpc;
pub(crate) mod scene;
mod sess;
mod switch;
mod term;
mod tool;
mod turn;

pub(crate) use auth::Auth;
pub use auth::{Login, LoginKind};
pub(crate) use cap::withheld;
pub use catalogue::{Level, Rule, RuleId, Severity};
pub(crate) use cmd::Commands;
pub(crate) use conf::Options;
pub(crate) use elic::Elicitations;
pub(crate) use moa::Mcp;
pub(crate) use mode::Modes;
pub(crate) use note::Compactions;
pub(crate) use perm::Permits;
pub(crate) use plan::Plans;
pub(crate) use prov::Providers;
pub(crate) use recent::KEPT;
pub(crate) use sess::{Child, Place, Shelf};
#[doc(hidden)]
pub use switch::Way;
#[cfg(feature = "prove")]
#[doc(hidden)]
pub use switch::{asked, without};
pub(crate) use term::Released;
pub(crate) use tool::Tools;
pub(crate) use turn::Turns;

/// One area of the catalogue.
#[derive(Debug)]
#[non_exhaustive]
pub struct Area {
    /// The prefix of its rules' ids.
    pub name: &'static str,
    /// What it is about.
    pub title: &'static str,
    /// Its rules, in order.
    pub rules: &'static [Rule],
    pub(crate) checks: &'static [scene::Check],
    pub(crate) trackers: &'static [scene::Tracker],
}

/// Every area, in the order of the catalogue.
pub static AREAS: &[&Area] = &[
    &frame::AREA,
    &rpc::AREA,
    &batch::AREA,
    &init::AREA,
    &cap::AREA,
    &auth::AREA,
    &sess::AREA,
    &turn::AREA,
    &life::AREA,
    &cancel::AREA,
    &perm::AREA,
    &tool::AREA,
    &dterm::AREA,
    &plan::AREA,
    &cont::AREA,
    &fs::AREA,
    &term::AREA,
    &mode::AREA,
    &conf::AREA,
    &cmd::AREA,
    &elic::AREA,
    &note::AREA,
    &nes::AREA,
    &prov::AREA,
    &moa::AREA,
    &prox::AREA,
    &ext::AREA,
    &enums::AREA,
    &limit::AREA,
];

/// The rows of every area, apart from its code, which names them.
static RULES: &[&[Rule]] = &[
    frame::RULES,
    rpc::RULES,
    batch::RULES,
    init::RULES,
    cap::RULES,
    auth::RULES,
    sess::RULES,
    turn::RULES,
    life::RULES,
    cancel::RULES,
    perm::RULES,
    tool::RULES,
    dterm::RULES,
    plan::RULES,
    cont::RULES,
    fs::RULES,
    term::RULES,
    mode::RULES,
    conf::RULES,
    cmd::RULES,
    elic::RULES,
    note::RULES,
    nes::RULES,
    prov::RULES,
    moa::RULES,
    prox::RULES,
    ext::RULES,
    enums::RULES,
    limit::RULES,
];

/// The rule with this id.
pub fn rule(id: &str) -> Option<&'static Rule> {
    let area = id.split('-').next()?;
    let area = AREAS.iter().find(|known| known.name == area)?;
    area.rules.iter().find(|rule| rule.id == id)
}
