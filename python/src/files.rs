//! Text files for agents, confined to the roots of a session: the crate `libacp-files` under `libacp.aio.Files`.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use libacp_files::{guarded, Asked, Operation, Options, Root, REPOSITORIES, RUNS_UNASKED};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// The text files of one session, confined to its roots. Internal: clients use `libacp.aio.Files`, which is built on
/// it.
///
/// The roots are opened now and keep referring to the same directories even if they are renamed; a root that does not
/// exist allows nothing. `read` and `write` return an operation immediately; run it on another thread.
///
/// Arguments:
///     `roots`: absolute paths of directories.
///     `most`: maximum size of a file, in bytes.
///     `may`: called on the thread that runs an operation, once per file, with the path relative to its root,
///         whether it is to be written, and the root; returns whether that is allowed. By default `guarded`.
#[pyclass(frozen, module = "libacp._native")]
pub(crate) struct Files(libacp_files::Files);

#[pymethods]
impl Files {
    #[new]
    #[pyo3(signature = (roots, *, most, may=None))]
    // They are extracted, and so owned.
    #[allow(clippy::needless_pass_by_value)]
    fn new(py: Python<'_>, roots: Vec<PathBuf>, most: u64, may: Option<Py<PyAny>>) -> Self {
        let mut options = Options::default();
        options.most = most;
        if let Some(may) = may {
            options.may = Arc::new(move |asked| ask(&may, asked));
        }
        let opened = py.detach(|| roots.iter().filter_map(|root| Root::open(root).ok()).collect());
        Files(libacp_files::Files::with(opened, options))
    }

    /// The roots that exist, with all links resolved.
    #[getter]
    fn roots(&self) -> Vec<&Path> {
        self.0.roots().iter().map(Root::path).collect()
    }

    /// Returns an operation that reads a file, from `line` (from 1) and at most `limit` lines; `None` for the whole
    /// file.
    fn read(&self, path: String, line: Option<u64>, limit: Option<u64>) -> FileOperation {
        FileOperation::new(Kind::Read(self.0.reading(path, line, limit)))
    }

    /// Returns an operation that writes a file.
    fn write(&self, path: String, text: String) -> FileOperation {
        FileOperation::new(Kind::Write(self.0.writing(path, text)))
    }

    /// The default for `may`: whether a path may be read or written.
    #[staticmethod]
    // They are extracted, and so owned.
    #[allow(clippy::needless_pass_by_value)]
    fn guarded(path: PathBuf, writing: bool, root: PathBuf) -> bool {
        guarded(&Asked::new(&root, &path, writing))
    }

    /// The names of directories that `guarded` does not allow to be written into, and the names of files that editors
    /// run.
    #[classattr]
    fn guards(py: Python<'_>) -> PyResult<Bound<'_, PyTuple>> {
        PyTuple::new(py, [PyTuple::new(py, REPOSITORIES)?, PyTuple::new(py, RUNS_UNASKED)?])
    }
}

fn ask(may: &Py<PyAny>, asked: &Asked<'_>) -> bool {
    Python::attach(|py| {
        let answer = may.call1(py, (asked.path.as_os_str(), asked.writing, asked.root.as_os_str()));
        answer.and_then(|answer| answer.is_truthy(py)).unwrap_or_else(|problem| {
            problem.write_unraisable(py, Some(may.bind(py)));
            false
        })
    })
}

enum Kind {
    Read(Operation<String>),
    Write(Operation<()>),
}

/// An operation of `Files.read` or `Files.write`, which runs once.
#[pyclass(frozen, module = "libacp._native")]
pub(crate) struct FileOperation(Mutex<Option<Kind>>);

impl FileOperation {
    fn new(kind: Kind) -> Self {
        FileOperation(Mutex::new(Some(kind)))
    }
}

type Outcome = (Option<String>, Option<i32>, Option<String>);

#[pymethods]
impl FileOperation {
    /// Waits for earlier operations (a read for writes, a write for reads and writes), then runs this one.
    ///
    /// Returns the text of the file, the error code and the error message; each is `None` if there is none.
    fn run(&self, py: Python<'_>) -> PyResult<Outcome> {
        let kind = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let kind = kind.ok_or_else(|| PyRuntimeError::new_err("this operation was done before"))?;
        let result = py.detach(|| match kind {
            Kind::Read(operation) => operation.run().map(Some),
            Kind::Write(operation) => operation.run().map(|()| None),
        });
        Ok(match result {
            Ok(text) => (text, None, None),
            Err(problem) => (None, Some(problem.code()), Some(problem.to_string())),
        })
    }

    /// Gives up the operation if it has not begun. Later ones wait for it otherwise, for as long as this object lives.
    fn forget(&self) {
        drop(self.0.lock().unwrap_or_else(PoisonError::into_inner).take());
    }
}
