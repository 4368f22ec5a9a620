//! The code of the rules, one file for each area of the catalogue that needs some.
//!
//! A file has the area's checks and trackers as rows, then their functions, and the types of the state that they keep.
//! The texts and versions of the rules are in `core/protocol/rules.json`. Areas without a file here are enforced by the
//! model's tables, by framing or by the connection.

mod auth;
mod cancel;
mod cap;
mod cmd;
mod conf;
mod cont;
mod dterm;
mod elic;
mod ext;
mod fs;
mod init;
mod life;
mod moa;
mod mode;
mod nes;
mod note;
mod offer;
mod perm;
mod plan;
mod prov;
mod recent;
mod rpc;
mod sess;
mod term;
mod tool;
mod turn;

pub(crate) use auth::Auth;
pub use auth::{Login, LoginKind};
pub(crate) use cap::withheld;
pub(crate) use cmd::Commands;
pub(crate) use conf::Options;
pub(crate) use dterm::Displays;
pub(crate) use elic::Elicitations;
pub(crate) use life::{key_of, Submitted, Work};
pub(crate) use moa::Mcp;
pub(crate) use mode::Modes;
pub(crate) use nes::Suggesting;
pub(crate) use note::Compactions;
pub(crate) use perm::PermissionState;
pub(crate) use plan::Plans;
pub(crate) use prov::Providers;
pub(crate) use recent::KEPT;
pub(crate) use sess::{Child, ClosedSessions, SessionDirs};
pub(crate) use term::Released;
pub(crate) use tool::Tools;
pub(crate) use turn::Turns;

use super::rows::Area;

/// In the order in which their checks and trackers run.
pub(super) static AREAS: &[&Area] = &[
    &rpc::AREA,
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
    // Drafts, which a build for clients alone does not have.
    #[cfg(not(clients_only))]
    &prov::AREA,
    #[cfg(not(clients_only))]
    &moa::AREA,
    #[cfg(not(clients_only))]
    &nes::AREA,
    &ext::AREA,
];
