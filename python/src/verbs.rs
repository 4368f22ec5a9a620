//! What the agent of a `Connection` with handlers says of prompts, and of work that it does by itself.

use libacp::connection::MisuseKind;
use libacp::host::Host;
use libacp::ErrorCode;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::connection::Connection;
use crate::json;
use crate::value;

#[pymethods]
impl Connection {
    /// Lets the host see each prompt of version 2 before it is a message of the conversation, so that it can still be
    /// refused. It becomes one by `insert`, by `stepped`, by the first update about the work on it, or by its result. Until
    /// then `respond_error` answers the prompt with the error. In version 1, and without `handlers`, this changes nothing.
    fn hold_prompts(&self) -> PyResult<()> {
        self.host()?.hold_prompts();
        Ok(())
    }

    /// Says that the handler of a prompt calls `insert` itself, so that `stepped` does nothing. The prompt is named by
    /// the serial number of its request.
    ///
    /// Raises:
    ///     Misuse: if the prompt is a message already (`LIFE-24`), was cancelled (`LIFE-21`), or is not being served.
    fn hold(&self, py: Python<'_>, prompt: u64) -> PyResult<()> {
        self.call(py, 0, |host| host.hold(prompt))
    }

    /// Says that the handler of a prompt has made its first step: the prompt becomes a message, unless it is held, was
    /// cancelled, or is one already. Call it for each prompt, also when the first step was the last.
    ///
    /// Raises:
    ///     Misuse: if the connection is over.
    fn stepped(&self, py: Python<'_>, prompt: u64) -> PyResult<()> {
        self.call(py, 0, |host| host.stepped(prompt))
    }

    /// Makes a prompt a message of the conversation, which answers its request with the id of the message (`LIFE-01`).
    /// Nothing is done for one that is a message already.
    ///
    /// Raises:
    ///     Misuse: if the prompt was cancelled (`LIFE-21`), or is not being served.
    fn insert(&self, py: Python<'_>, prompt: u64) -> PyResult<()> {
        self.call(py, 0, |host| host.insert(prompt))
    }

    /// Begins work in a session that no prompt has asked for (`LIFE-25`), and returns its number. Prompts of the session
    /// wait for its end. A cancel is an event `Cancel` with this number as the serial number, and without a method.
    ///
    /// Raises:
    ///     Misuse: if the session works already (`LIFE-25`), or is not open.
    fn begin_work(&self, py: Python<'_>, session: &str) -> PyResult<u64> {
        self.call(py, 0, |host| host.begin_work(session))
    }

    /// Ends work with a result like that of a prompt.
    ///
    /// Raises:
    ///     Misuse: if the result is invalid, or no such work goes on.
    fn end_work(&self, py: Python<'_>, work: u64, result: &Bound<'_, PyAny>) -> PyResult<()> {
        let result = json::dumps(result)?;
        self.call(py, result.len(), |host| host.end_work(work, &result))
    }

    /// Ends work that has failed, with an error like that of `respond_error`.
    ///
    /// Raises:
    ///     Misuse: if the error is invalid, or no such work goes on.
    #[pyo3(signature = (work, code, message, data=None))]
    fn fail_work(
        &self,
        py: Python<'_>,
        work: u64,
        code: i32,
        message: &Bound<'_, PyString>,
        data: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let message = value::text(message, MisuseKind::Params, "")?;
        let data = data.map(json::dumps).transpose()?;
        let fail = |host: &mut Host| host.fail_work(work, ErrorCode(code), &message, data.as_deref());
        self.call(py, 0, fail)
    }

    /// Puts a tool call or a terminal that was shown into the background of a session, until an update tells its end.
    /// Nothing is done in version 1.
    ///
    /// Arguments:
    ///     `session`: the id of the session.
    ///     `item`: `{"type": "tool_call", "toolCallId": ...}` or `{"type": "terminal", "terminalId": ...}`.
    ///
    /// Raises:
    ///     Misuse: if it was not shown (`LIFE-32`), is no such object (`LIFE-36`), or the session is not open.
    fn background(&self, py: Python<'_>, session: &str, item: &Bound<'_, PyAny>) -> PyResult<()> {
        let item = json::dumps(item)?;
        self.call(py, 0, |host| host.background(session, &item))
    }
}
