//! `dialect.json`: what code has to know of a version beside its types and methods.

use anyhow::{ensure, Context, Result};

use super::node::Node;
use super::{Shape, Version};

/// The file's name without `.json`.
pub(super) const FILE: &str = "dialect";

/// What else differs between versions.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "versions differ in as many independent ways")]
pub(crate) struct Dialect {
    /// The members of a client's `initialize`.
    pub(crate) client: Names,
    /// Those of an agent's answer to it.
    pub(crate) agent: Names,
    /// What ends a turn.
    pub(crate) turn_end: TurnEnd,
    /// The member of a config option that is its id.
    pub(crate) config_option_id: String,
    /// Calls that an agent serves where it lists ways to log in.
    pub(crate) listed_logins: Vec<String>,
    /// JSON pointer to the tool call that a request for permission may be about.
    pub(crate) permission_tool_call: String,
    /// A frame may be a list of messages.
    pub(crate) batches: bool,
    /// A request's id may be null.
    pub(crate) null_ids: bool,
    /// An error for want of a session names the session.
    pub(crate) names_missing_session: bool,
    /// `initialize` may be sent again until another request follows.
    pub(crate) initialize_again: bool,
    /// There is an error for clients that ask for too old a version.
    pub(crate) version_error: bool,
    /// A relative path outside of a request is delivered and reported.
    pub(crate) relative_paths: bool,
}

/// What the members of `initialize` are called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Names {
    pub(crate) capabilities: String,
    pub(crate) info: String,
}

/// What ends a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TurnEnd {
    /// The answer to its prompt.
    Answer,
    /// A state update.
    StateUpdate,
}

impl TurnEnd {
    const NAMES: &'static [&'static str] = &["answer", "state-update"];

    fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "answer" => Self::Answer,
            "state-update" => Self::StateUpdate,
            _ => return None,
        })
    }
}

/// Reads the file.
pub(super) fn read(node: &Node<'_>) -> Result<Dialect> {
    node.only(&[
        "initialize",
        "turn-end",
        "config-option-id",
        "listed-logins",
        "permission-tool-call",
        "batches",
        "null-ids",
        "names-missing-session",
        "initialize-again",
        "version-error",
        "relative-paths",
    ])?;
    let initialize = node.need("initialize")?;
    initialize.only(&["client", "agent"])?;
    let names = |side| {
        let node = initialize.need(side)?;
        node.only(&["capabilities", "info"])?;
        let name = |member| Ok::<_, anyhow::Error>(node.need(member)?.str()?.to_owned());
        Ok::<_, anyhow::Error>(Names { capabilities: name("capabilities")?, info: name("info")? })
    };
    Ok(Dialect {
        client: names("client")?,
        agent: names("agent")?,
        turn_end: node.need("turn-end")?.named(TurnEnd::NAMES, TurnEnd::parse)?,
        config_option_id: node.need("config-option-id")?.str()?.to_owned(),
        listed_logins: node.get("listed-logins").map_or(Ok(Vec::new()), |node| node.texts())?,
        permission_tool_call: node.need("permission-tool-call")?.str()?.to_owned(),
        batches: node.flag("batches")?,
        null_ids: node.flag("null-ids")?,
        names_missing_session: node.flag("names-missing-session")?,
        initialize_again: node.flag("initialize-again")?,
        version_error: node.flag("version-error")?,
        relative_paths: node.flag("relative-paths")?,
    })
}

/// Checks that each name is a member of the type that has it.
pub(super) fn check(version: &Version) -> Result<()> {
    let at = || format!("{}/{FILE}.json", version.folder());
    let dialect = version.dialect.as_ref().with_context(|| format!("{} is missing", at()))?;
    // What is behind the first name is a member of one of its variants.
    let pointer = dialect.permission_tool_call.strip_prefix('/').with_context(|| format!("{}: no pointer", at()))?;
    let subject = pointer.split('/').next().unwrap_or(pointer).to_owned();
    let named = [
        ("InitializeRequest", &dialect.client.capabilities),
        ("InitializeRequest", &dialect.client.info),
        ("InitializeResponse", &dialect.agent.capabilities),
        ("InitializeResponse", &dialect.agent.info),
        ("SessionConfigOption", &dialect.config_option_id),
        ("RequestPermissionRequest", &subject),
    ];
    for (ty, name) in named {
        let Some(Shape::Object { fields, .. }) = version.types.get(ty).map(|def| &def.shape) else {
            anyhow::bail!("{}: there is no object {ty}", at());
        };
        ensure!(fields.contains_key(name), "{}: {ty} has no member {name}", at());
    }
    for method in &dialect.listed_logins {
        ensure!(version.methods.contains_key(method), "{}: there is no method {method}", at());
    }
    Ok(())
}
