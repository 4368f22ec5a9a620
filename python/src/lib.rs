//! The Python module `libacp._native`: the connection of the `libacp` crate as Python classes.
//!
//! What is pure Python (exceptions, the package's names) stands in `../libacp`. Read in this order: `connection` (the
//! class that hosts use), `verbs` (what agents say of work), `getters` (what it can be asked, generated from `core/protocol/getters.json`), `events`, `ended` and `rules` (what it hands out), `known` (what it knows), `observer` (both sides seen from outside), `permission` (policies), `budget`, `offers` (handlers and capabilities), `config`, `terminal`, `files` (the crate `libacp-files` for `libacp.aio.Files`), `http` (the remote transports), then
//! what all of them stand on: `json` (objects to text and back), `write`, `read`, `strings`, `value` (ids and
//! `repr`), `errors`.
#![allow(clippy::doc_markdown, reason = "doc comments become docstrings, which are no Markdown")]
#![forbid(unsafe_code)]

mod budget;
mod config;
mod connection;
mod ended;
mod errors;
mod events;
mod files;
mod getters;
mod http;
mod json;
mod known;
mod observer;
mod offers;
mod permission;
mod read;
mod rules;
mod strings;
mod terminal;
mod value;
mod verbs;
mod write;

use pyo3::prelude::*;

/// The part of libacp that is not written in Python. Use the package `libacp`.
// Every class is immutable or behind a lock that is tried and never waited for, so free-threaded Python needs no GIL.
#[pymodule(gil_used = false)]
mod _native {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::budget::Budget;
    #[pymodule_export]
    use crate::config::{Config, Limits};
    #[pymodule_export]
    use crate::connection::{Connection, Events};
    #[pymodule_export]
    use crate::ended::{Closed, LateResponse, Response};
    #[pymodule_export]
    use crate::errors::ErrorCode;
    #[pymodule_export]
    use crate::events::{Answered, Cancel, Notification, Request};
    #[pymodule_export]
    use crate::files::{FileOperation, Files};
    #[pymodule_export]
    use crate::http::{Client, Server};
    #[pymodule_export]
    use crate::json::RawJson;
    #[pymodule_export]
    use crate::known::{OpenRequest, Session, TerminalRef};
    #[pymodule_export]
    use crate::observer::{Observer, ObserverEvents};
    #[pymodule_export]
    use crate::offers::{offers, why_no_handler};
    #[pymodule_export]
    use crate::permission::PermissionPolicy;
    #[pymodule_export]
    use crate::rules::{rule, Advice, Rule, Violation};
    #[pymodule_export]
    use crate::terminal::cut_output;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("DRAFTS", pyo3::types::PyTuple::new(module.py(), libacp::schema::drafts::DRAFTS)?)?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
