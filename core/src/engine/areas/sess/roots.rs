//! The directories of a session, the files inside them, and its MCP servers.

use crate::engine::{Finding, RuleContext, RuleMessage, Session};
use crate::json;
use crate::map::StringMap;
use crate::path::Steps;
use crate::rules::Way;

/// The maximum total length of a session's directories, in bytes; longer lists are not kept.
const KEPT: usize = 16 * 1024;

/// The directories of a session, from the request that opened it or from a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SessionDirs {
    pub(super) cwd: Box<str>,
    /// The additional directories.
    pub(super) roots: Vec<Box<str>>,
}

impl SessionDirs {
    /// Reads an object with `cwd` and `additionalDirectories`.
    pub(super) fn read(object: &str) -> Option<SessionDirs> {
        let cwd = json::pointer(object, "/cwd")?;
        let roots = json::pointer(object, "/additionalDirectories").filter(|roots| roots.starts_with('['));
        if cwd.len() + roots.map_or(0, str::len) > KEPT {
            return None;
        }
        let cwd = json::unescape(cwd)?.into();
        let roots = roots.map(json::items).unwrap_or_default();
        Some(SessionDirs { cwd, roots: roots.into_iter().filter_map(json::unescape).map(Into::into).collect() })
    }

    /// The directories of a child after an update: absent members stay, null means those of the parent.
    pub(super) fn patch(
        own: Option<&SessionDirs>,
        parent: Option<&SessionDirs>,
        cwd: Option<&str>,
        roots: Option<&str>,
    ) -> Option<SessionDirs> {
        if cwd.map_or(0, str::len) + roots.map_or(0, str::len) > KEPT {
            return None;
        }
        let cwd = match cwd {
            None => own?.cwd.clone(),
            Some("null") => parent?.cwd.clone(),
            Some(cwd) => json::unescape(cwd)?.into(),
        };
        let roots = match roots {
            None => own.map(|place| place.roots.clone()).unwrap_or_default(),
            Some("null") => parent.map(|place| place.roots.clone()).unwrap_or_default(),
            Some(roots) => json::items(roots).into_iter().filter_map(json::unescape).map(Into::into).collect(),
        };
        Some(SessionDirs { cwd, roots })
    }

    /// The directories in a request as a note, for the answer.
    pub(super) fn note(call: &RuleMessage<'_>) -> Option<Box<str>> {
        let mut writer = json::Writer::new();
        writer.begin_object();
        let cwd = call.get("/cwd").unwrap_or("null");
        let roots = call.get("/additionalDirectories").unwrap_or("[]");
        if cwd.len() + roots.len() <= KEPT {
            writer.key("cwd").json(cwd).key("additionalDirectories").json(roots);
        }
        writer.end_object();
        writer.finish().ok().map(Into::into)
    }
}

impl Session {
    /// The session's working directory, if it is known (SESS-51): that of the request that opened it (protocol page
    /// "Session Setup").
    pub fn cwd(&self) -> Option<&str> {
        self.place.as_ref().map(|place| &*place.cwd)
    }

    /// The working directory, then the additional directories in their order (SESS-29), from the last request that
    /// opened the session. Empty if they have more than 16 KiB.
    pub fn roots(&self) -> impl Iterator<Item = &str> {
        self.place.iter().flat_map(|place| std::iter::once(&*place.cwd).chain(place.roots.iter().map(|root| &**root)))
    }

    /// Whether a path is inside one of the session's directories, by its text (SESS-06): `.` and `..` are resolved, but
    /// the host has to check links in the file system (SESS-34). `false` if the directories are not known.
    pub fn in_roots(&self, path: &str) -> bool {
        let Some(path) = Steps::of(path).filter(|_| id!("SESS-06").is_on(Way::Track)) else { return false };
        self.roots().filter_map(Steps::of).any(|root| path.starts_with(&root))
    }
}

pub(super) fn not_advertised(context: &RuleContext<'_>) -> Option<Finding> {
    // An empty list means the same as none.
    let given = !context.message.items("/additionalDirectories").is_empty();
    context.lacks("additionalDirectories").filter(|_| given)?;
    Some(Finding::new(
        "/additionalDirectories",
        "the agent did not advertise additionalDirectories; it accepts only the working directory",
    ))
}

pub(super) fn twice(context: &RuleContext<'_>) -> Option<Finding> {
    let mut seen: StringMap<'_> = context.message.text("/cwd").into_iter().collect();
    let mut roots = context.message.items("/additionalDirectories").into_iter().filter_map(json::unescape);
    let at = roots.position(|root| !seen.add(root))?;
    Some(Finding::new(format!("/additionalDirectories/{at}"), "this directory is given twice; leave it out here"))
}

pub(super) fn outside(context: &RuleContext<'_>) -> Option<Finding> {
    let session = context.session()?;
    let path = context.message.text("/path")?;
    if session.place.is_none() || session.in_roots(&path) {
        return None;
    }
    Some(Finding::new("/path", "outside of the directories of this session; serve it only if the user allows that"))
}

fn server(context: &RuleContext<'_>, kind: &str) -> Option<usize> {
    let is = |item: &str| json::pointer(item, "/type").and_then(json::unescape).is_some_and(|name| name == kind);
    context.message.items("/mcpServers").into_iter().position(is)
}

pub(super) fn server_not_reachable(context: &RuleContext<'_>, kind: &'static str) -> Option<Finding> {
    let at = server(context, kind)?;
    context.lacks(kind)?;
    let message = format!("the agent did not advertise MCP servers over {kind}");
    Some(Finding::new(format!("/mcpServers/{at}/type"), message))
}

pub(super) fn outdated(context: &RuleContext<'_>) -> Option<Finding> {
    let at = server(context, "sse")?;
    Some(Finding::new(format!("/mcpServers/{at}/type"), "SSE is deprecated; use http if the server supports it"))
}

/// With a duplicate name, the last value takes effect, or the agent refuses the request.
pub(super) fn same_variable(context: &RuleContext<'_>) -> Option<Finding> {
    for (at, server) in context.message.items("/mcpServers").into_iter().enumerate() {
        let variables = json::pointer(server, "/env").map(json::items).unwrap_or_default();
        let mut seen = StringMap::default();
        let names = variables.iter().map(|item| json::unescape(json::pointer(item, "/name")?));
        if let Some(twice) = names.flatten().position(|name| !seen.add(name)) {
            let message = "another variable of this server already has this name; agents may refuse that";
            return Some(Finding::new(format!("/mcpServers/{at}/env/{twice}/name"), message));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::SessionState;

    #[test]
    fn roots_bound_paths() {
        let mut session = Session::new(SessionState::Ready);
        assert!(!session.in_roots("/work/a"));
        session.place = SessionDirs::read(r#"{"cwd":"/work/a","additionalDirectories":["/lib","C:\\Data"]}"#);
        assert_eq!(session.roots().collect::<Vec<_>>(), ["/work/a", "/lib", "C:\\Data"]);
        for inside in ["/work/a", "/work/a/", "/work/a/b", "/work/./a/b", "/work/x/../a/b", "/lib/x", "c:/data/x"] {
            assert!(session.in_roots(inside), "{inside}");
        }
        for outside in
            ["/work", "/work/ab", "/work/a/../b", "/Lib/x", "/lib/../etc", "D:\\Data", "C:\\Data\\..\\x", "a", ""]
        {
            assert!(!session.in_roots(outside), "{outside}");
        }
        session.place = SessionDirs::read(r#"{"cwd":"/work/a"}"#);
        assert_eq!(session.roots().collect::<Vec<_>>(), ["/work/a"]);
    }
}
