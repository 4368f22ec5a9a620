//! What a host of `libacp.aio` offers: the handlers that may be there, and the capabilities that they show.

use libacp::host;
use pyo3::prelude::*;
use pyo3::types::PyMapping;

use crate::config::{names, Config};
use crate::json;
use crate::write;

/// What is wrong: the method that it is about, and what to do.
type Wrong = (String, String);

/// Returns why a handler of a method would never be called, whatever other handlers there are, by a host that states
/// these capabilities; `None` if it may be.
#[pyfunction]
#[pyo3(signature = (config, method, stated, /))]
pub(crate) fn why_no_handler(
    config: &Bound<'_, Config>,
    method: &str,
    stated: &Bound<'_, PyMapping>,
) -> PyResult<Option<String>> {
    let may = host::may_handle(&config.get().0, method, &write::text(stated)?);
    Ok(may.err().map(|wrong| wrong.message))
}

/// Returns the capabilities, in the form of version 1, of a host with handlers for these methods that states these
/// capabilities; and what is wrong with them in place of that: a method and a message.
#[pyfunction]
#[pyo3(signature = (config, handlers, stated, /))]
pub(crate) fn offers(
    config: &Bound<'_, Config>,
    handlers: &Bound<'_, PyAny>,
    stated: &Bound<'_, PyMapping>,
) -> PyResult<(Option<Py<PyAny>>, Option<Wrong>)> {
    let handlers = names("handlers", Some(handlers))?;
    let handlers: Vec<&str> = handlers.iter().map(String::as_str).collect();
    match host::offers(&config.get().0, &handlers, &write::text(stated)?) {
        Ok(capabilities) => Ok((Some(json::loads(config.py(), &capabilities)?), None)),
        Err(wrong) => Ok((None, Some((wrong.method, wrong.message)))),
    }
}
