//! What a host decides before a connection begins.

use libacp::connection::{Policy, Versions};
use libacp::framing::Framing;
use libacp::rules::Severity;
use libacp::Role;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyMapping, PyString, PyTuple};

use crate::value::{self, Reduced, Repr};

const ROLES: &[(&str, Role)] = &[("client", Role::Client), ("agent", Role::Agent)];
const POLICIES: &[(&str, Policy)] = &[("tolerant", Policy::Tolerant), ("strict", Policy::Strict), ("off", Policy::Off)];
const SEVERITIES: &[(&str, Severity)] =
    &[("note", Severity::Note), ("warning", Severity::Warning), ("error", Severity::Error)];
const FRAMINGS: &[(&str, Framing)] =
    &[("lines", Framing::Lines), ("content-length", Framing::ContentLength), ("messages", Framing::Messages)];

fn named<T: Copy>(what: &str, table: &[(&str, T)], name: &str) -> PyResult<T> {
    table.iter().find(|(known, _)| *known == name).map(|(_, value)| *value).ok_or_else(|| {
        let names: Vec<_> = table.iter().map(|(known, _)| format!("{known:?}")).collect();
        PyValueError::new_err(format!("{what}: expected one of {}, found {name:?}", names.join(", ")))
    })
}

/// The side of this name.
pub(crate) fn role(what: &str, name: &str) -> PyResult<Role> {
    named(what, ROLES, name)
}

fn name_of<T: Copy + PartialEq>(table: &[(&'static str, T)], value: T) -> &'static str {
    table.iter().find(|(_, known)| *known == value).map_or("", |(name, _)| name)
}

/// The names that an argument lists.
pub(crate) fn names(what: &str, list: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<String>> {
    let Some(list) = list else { return Ok(Vec::new()) };
    if list.is_instance_of::<PyString>() {
        return Err(PyTypeError::new_err(format!("{what}: expected an iterable of names, found one str")));
    }
    list.try_iter()?.map(|name| name?.extract()).collect()
}

/// The policies of single severities, over what `config` has.
fn read_policies(config: &mut libacp::Config, policies: &Bound<'_, PyAny>) -> PyResult<()> {
    let wrong = |expected: &str, found: &Bound<'_, PyAny>| {
        PyTypeError::new_err(format!("policies: expected {expected}, found {}", value::type_name(found)))
    };
    for item in policies.cast::<PyMapping>().map_err(|_| wrong("a mapping", policies))?.items()? {
        let (severity, policy): (Bound<'_, PyAny>, Bound<'_, PyAny>) = item.extract()?;
        let severity = severity.cast::<PyString>().map_err(|_| wrong("str as key", &severity))?.to_string_lossy();
        let policy = policy.cast::<PyString>().map_err(|_| wrong("str as value", &policy))?.to_string_lossy();
        let index = named("policies", SEVERITIES, &severity)? as usize;
        config.policies[index] = Some(named(&format!("policies/{severity}"), POLICIES, &policy)?);
    }
    Ok(())
}

/// The versions that an argument lists.
fn read_versions(list: &Bound<'_, PyAny>) -> PyResult<Versions> {
    let wrong = |found: &Bound<'_, PyAny>| {
        PyTypeError::new_err(format!("versions: expected whole numbers, found {}", value::type_name(found)))
    };
    let mut numbers = Vec::new();
    for number in list.try_iter().map_err(|_| wrong(list))? {
        let number = number?;
        numbers.push(number.extract::<i64>().map_err(|_| wrong(&number))?);
    }
    Versions::of(numbers).map_err(|why| PyValueError::new_err(format!("versions: {why}")))
}

/// The core's configuration from the arguments of `Connection` that must be read.
#[allow(clippy::too_many_arguments)] // As `Connection` has.
pub(crate) fn read(
    role: &str,
    framing: &str,
    policy: &str,
    policies: Option<&Bound<'_, PyAny>>,
    limits: Option<&Limits>,
    versions: Option<&Bound<'_, PyAny>>,
    drafts: Option<&Bound<'_, PyAny>>,
    foreign_methods: Option<&Bound<'_, PyAny>>,
) -> PyResult<libacp::Config> {
    let mut config = libacp::Config::new(named("role", ROLES, role)?);
    config.framing = named("framing", FRAMINGS, framing)?;
    config.policy = named("policy", POLICIES, policy)?;
    if let Some(versions) = versions {
        config.versions = read_versions(versions)?;
    }
    if let Some(policies) = policies {
        read_policies(&mut config, policies)?;
    }
    if let Some(limits) = limits {
        config.limits = limits.0;
    }
    for name in names("foreign_methods", foreign_methods)? {
        let wrong = |why| PyValueError::new_err(format!("foreign_methods: {name:?}: {why}"));
        config.foreign_method(&name).map_err(wrong)?;
    }
    for name in names("drafts", drafts)? {
        config.draft(&name).map_err(|_| {
            let known = libacp::schema::drafts::DRAFTS.join(", ");
            PyValueError::new_err(format!("drafts: expected names from {known}; found {name:?}"))
        })?;
    }
    Ok(config)
}

/// The arguments of `Limits`.
type LimitNumbers = (usize, u32, usize, usize, usize, usize, usize, usize, usize, usize);

/// Limits on the resources that a peer can make a connection use.
#[pyclass(frozen, eq, hash, module = "libacp")]
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct Limits(libacp::connection::Limits);

#[pymethods]
impl Limits {
    #[new]
    #[pyo3(signature = (frame=33_554_432, depth=128, pending=1024, sessions=10_000, terminals=1024, remembered=4096,
        view_entries=4096, view_bytes=16_777_216, view_content=4_194_304, view_output=1_048_576))]
    #[allow(clippy::too_many_arguments)] // As many as there are limits.
    fn new(
        frame: usize,
        depth: u32,
        pending: usize,
        sessions: usize,
        terminals: usize,
        remembered: usize,
        view_entries: usize,
        view_bytes: usize,
        view_content: usize,
        view_output: usize,
    ) -> Self {
        let mut limits = libacp::connection::Limits::default();
        (limits.frame, limits.depth, limits.pending) = (frame, depth, pending);
        (limits.sessions, limits.terminals, limits.remembered) = (sessions, terminals, remembered);
        (limits.view_entries, limits.view_bytes) = (view_entries, view_bytes);
        (limits.view_content, limits.view_output) = (view_content, view_output);
        Limits(limits)
    }

    /// Maximum size of one frame, in bytes.
    #[getter]
    fn frame(&self) -> usize {
        self.0.frame
    }

    /// Maximum nesting depth of arrays and objects in one frame.
    #[getter]
    fn depth(&self) -> u32 {
        self.0.depth
    }

    /// Maximum number of open requests in each direction, and of entries in one batch.
    #[getter]
    fn pending(&self) -> usize {
        self.0.pending
    }

    /// Maximum number of sessions that are tracked at once.
    #[getter]
    fn sessions(&self) -> usize {
        self.0.sessions
    }

    /// Maximum number of terminals that are tracked per session.
    #[getter]
    fn terminals(&self) -> usize {
        self.0.terminals
    }

    /// Maximum number of other items of one kind that are tracked per session: tool calls, plans, compactions, modes.
    #[getter]
    fn remembered(&self) -> usize {
        self.0.remembered
    }

    /// Maximum number of complete entries in a view, and of stubs.
    #[getter]
    fn view_entries(&self) -> usize {
        self.0.view_entries
    }

    /// Maximum size of a session's view, in bytes. All views together may have 16 times as much.
    #[getter]
    fn view_bytes(&self) -> usize {
        self.0.view_bytes
    }

    /// Maximum size of one content in a view, in bytes: a message, the items of a tool call, its raw input.
    #[getter]
    fn view_content(&self) -> usize {
        self.0.view_content
    }

    /// Maximum size of a terminal's output in a view, in bytes; at least the last half of that is kept.
    #[getter]
    fn view_output(&self) -> usize {
        self.0.view_output
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let repr = Repr::new(py, "Limits").field("frame", self.0.frame)?.field("depth", self.0.depth)?;
        let repr = repr.field("pending", self.0.pending)?.field("sessions", self.0.sessions)?;
        let repr = repr.field("terminals", self.0.terminals)?.field("remembered", self.0.remembered)?;
        let repr = repr.field("view_entries", self.0.view_entries)?.field("view_bytes", self.0.view_bytes)?;
        let repr = repr.field("view_content", self.0.view_content)?.field("view_output", self.0.view_output)?;
        Ok(repr.finish())
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> Reduced<'py, LimitNumbers> {
        let limits = slf.get().0;
        let all = (limits.frame, limits.depth, limits.pending, limits.sessions, limits.terminals, limits.remembered);
        let views = (limits.view_entries, limits.view_bytes, limits.view_content, limits.view_output);
        (slf.get_type(), (all.0, all.1, all.2, all.3, all.4, all.5, views.0, views.1, views.2, views.3))
    }
}

/// The configuration of a connection, as `Connection.config` returns it.
#[pyclass(frozen, eq, module = "libacp")]
#[derive(PartialEq)]
pub(crate) struct Config(pub(crate) libacp::Config);

impl Config {
    fn draft_names(&self) -> Vec<&'static str> {
        let on = |(index, name): (usize, &&'static str)| (self.0.drafts >> (index + 1) & 1 == 1).then_some(*name);
        libacp::schema::drafts::DRAFTS.iter().enumerate().filter_map(on).collect()
    }
}

#[pymethods]
impl Config {
    /// The role of the host: `client` or `agent`.
    #[getter]
    fn role(&self) -> &'static str {
        self.0.role.name()
    }

    /// How messages are separated: `lines`, `content-length` or `messages`.
    #[getter]
    fn framing(&self) -> &'static str {
        name_of(FRAMINGS, self.0.framing)
    }

    /// How messages of the peer that break a rule are handled: `tolerant`, `strict` or `off`.
    #[getter]
    fn policy(&self) -> &'static str {
        name_of(POLICIES, self.0.policy)
    }

    /// The policies that replace `policy` for rules of one severity (`note`, `warning` or `error`); see
    /// `Rule.severity`.
    #[getter]
    fn policies<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let policies = PyDict::new(py);
        for (name, severity) in SEVERITIES {
            if let Some(policy) = self.0.policies[*severity as usize] {
                policies.set_item(name, name_of(POLICIES, policy))?;
            }
        }
        Ok(policies)
    }

    /// The limits of the connection.
    #[getter]
    fn limits(&self) -> Limits {
        Limits(self.0.limits)
    }

    /// The protocol versions that may be agreed on, oldest first.
    #[getter]
    fn versions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.0.versions.iter().collect::<Vec<_>>())
    }

    /// The names of the enabled drafts.
    #[getter]
    fn drafts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.draft_names())
    }

    /// Milliseconds after which a request that the host sends fails, unless the call gives its own timeout; `None` for
    /// no timeout.
    #[getter]
    fn timeout(&self) -> Option<u64> {
        self.0.timeout
    }

    /// Milliseconds that the peer has to answer a request after it was cancelled; `None` for no limit.
    #[getter]
    fn cancel_grace(&self) -> Option<u64> {
        self.0.cancel_grace
    }

    /// Milliseconds after which an `Advice` reminds the host, once, of a request that it has not answered; `None` for
    /// no reminders.
    #[getter]
    fn reminder(&self) -> Option<u64> {
        self.0.reminder
    }

    /// Whether a session may have several open prompts, for agents that queue prompts (`TURN-03`).
    #[getter]
    fn prompt_queueing(&self) -> bool {
        self.0.prompt_queueing
    }

    /// Methods that are sent and delivered although the specification does not define them and they do not begin with
    /// an underscore (`EXT-07`).
    #[getter]
    fn foreign_methods<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.0.foreign_methods().collect::<Vec<_>>())
    }

    /// Whether a view of each session is kept.
    #[getter]
    fn view(&self) -> bool {
        self.0.view
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let repr = Repr::new(py, "Config").field("role", self.role())?.field("framing", self.framing())?;
        let repr = repr.field("policy", self.policy())?.field("policies", self.policies(py)?)?;
        let repr = repr
            .field("limits", self.limits())?
            .field("versions", self.versions(py)?)?
            .field("drafts", self.drafts(py)?)?;
        let repr = repr.field("timeout", self.timeout())?.field("cancel_grace", self.cancel_grace())?;
        let repr = repr.field("reminder", self.reminder())?.field("prompt_queueing", self.prompt_queueing())?;
        Ok(repr.field("foreign_methods", self.foreign_methods(py)?)?.field("view", self.view())?.finish())
    }
}
