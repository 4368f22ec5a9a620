//! Policies for requests for permission.

use std::sync::Mutex;

use libacp::host::PermissionPolicy as Core;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};

use crate::connection::{locked, Connection};
use crate::json;
use crate::write;

/// Rules that decide requests for permission (PERM-06): allow, deny or ask, by the kind of the tool, its name and its paths.
/// The first rule that fits decides.
///
/// A rule has an `action` (`allow`, `deny` or `ask`) and, all of which must fit: `kind`, a kind of tools or a list; `tool`, a
/// pattern for the tool's name or a list, with `*` and `?`; `path`, a pattern for its paths or a list, whose steps are compared
/// one by one, with `**` for any number of them; `inRoots`, whether the paths are inside of the session's directories. A
/// rule that allows by path fits no command, and no tool call that tells no path.
///
/// The paths are what the agent says. So a policy saves the user questions, and holds no malicious agent.
///
/// Arguments:
///     `policy`: a dict, or JSON text, with `rules`, a list, and `otherwise`, the action if no rule fits (`ask`).
///
/// Raises:
///     ValueError: for what is no policy, with the place and what was expected there.
#[pyclass(frozen, module = "libacp")]
pub(crate) struct PermissionPolicy {
    core: Mutex<Core>,
}

#[pymethods]
impl PermissionPolicy {
    #[new]
    #[pyo3(signature = (policy, /))]
    fn new(policy: &Bound<'_, PyAny>) -> PyResult<Self> {
        let text = match policy.cast::<PyString>() {
            Ok(text) => text.to_cow()?.into_owned(),
            Err(_) => write::text(policy)?,
        };
        let core = Core::read(&text).map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(PermissionPolicy { core: Mutex::new(core) })
    }

    /// Decides a `session/request_permission` that a client's connection has received. It sends nothing.
    ///
    /// Only an option for this one call is chosen to allow it (`allow_once`); to deny it, `reject_once` before `reject_always`.
    /// With a view (`Connection(view=True)`), the policy knows what was told of the tool call before; without one, it knows
    /// the request alone.
    ///
    /// Arguments:
    ///     `connection`: the connection of the client.
    ///     `params`: the params of the request.
    ///
    /// Returns:
    ///     what to do, and why. Without an `optionId`, a request that is denied is answered with the outcome `cancelled`,
    ///     and one that is to be asked about is for the user.
    #[pyo3(signature = (connection, params, /))]
    fn decide(
        &self,
        py: Python<'_>,
        connection: &Bound<'_, Connection>,
        params: &Bound<'_, PyAny>,
    ) -> PyResult<Py<PyAny>> {
        let params = write::text(params)?;
        let decision = {
            let connection = connection.get().core()?;
            locked(&self.core, "PermissionPolicy")?.decide(&connection, &params)
        };
        json::loads(py, &decision.to_json())
    }

    /// The last 256 decisions, oldest first.
    #[getter]
    fn decisions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let texts: Vec<String> =
            locked(&self.core, "PermissionPolicy")?.decisions().map(libacp::host::Decision::to_json).collect();
        let decisions = texts.iter().map(|text| json::loads(py, text)).collect::<PyResult<Vec<_>>>()?;
        PyList::new(py, decisions)
    }
}
