//! The budget of what the peer may make a host hold at a time, for `libacp.aio`.

use std::sync::Mutex;

use libacp::host::Budget as Core;
use pyo3::prelude::*;

use crate::connection::locked;

/// So much may be taken at a time; who wants more waits, in order. What is more than all of it goes alone.
#[pyclass(frozen, module = "libacp")]
pub(crate) struct Budget {
    core: Mutex<Core>,
}

#[pymethods]
impl Budget {
    #[new]
    #[pyo3(signature = (most=None, /))]
    fn new(most: Option<usize>) -> Self {
        Budget { core: Mutex::new(most.map_or_else(Core::default, Core::new)) }
    }

    /// Asks for a share for the request with this number. Returns whether it is there; if not, the request waits for `poll`.
    #[pyo3(signature = (request, amount, /))]
    fn ask(&self, request: u64, amount: usize) -> PyResult<bool> {
        Ok(locked(&self.core, "Budget")?.ask(request, amount))
    }

    /// Gives a share back, or stops waiting for one.
    #[pyo3(signature = (request, /))]
    fn release(&self, request: u64) -> PyResult<()> {
        locked(&self.core, "Budget")?.release(request);
        Ok(())
    }

    /// The number of the next request that waited and has its share now; `None` if there is none. Ask until there is none.
    fn poll(&self) -> PyResult<Option<u64>> {
        Ok(locked(&self.core, "Budget")?.poll())
    }
}
