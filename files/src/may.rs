//! Which files an agent may read and write, apart from being inside a root.

use std::path::Path;

/// A file that is about to be read or written, as passed to [`Options::may`](crate::Options::may).
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Asked<'a> {
    /// The path of the root that holds it.
    pub root: &'a Path,
    /// The path from the root to the file, with all links followed.
    pub path: &'a Path,
    /// Whether it is about to be written.
    pub writing: bool,
}

impl<'a> Asked<'a> {
    /// For callers that call [`guarded`] themselves.
    pub fn new(root: &'a Path, path: &'a Path, writing: bool) -> Self {
        Asked { root, path, writing }
    }
}

/// Folders of version control. Files in them can run with the next command: hooks, and settings that name programs.
pub const REPOSITORIES: &[&str] = &[".git", ".hg", ".jj", ".svn"];

/// Names of files, and of folders with everything inside them, that editors, their extensions or shells run without
/// asking, anywhere in a root. `*` stands for any beginning.
///
/// The list cannot be complete: build files, package scripts and tests run as soon as somebody builds.
pub const RUNS_UNASKED: &[&str] = &[
    "*.code-workspace",
    ".cargo",
    ".claude",
    ".codex",
    ".cursor",
    ".devcontainer",
    ".devcontainer.json",
    ".dir-locals-2.el",
    ".dir-locals.el",
    ".envrc",
    ".exrc",
    ".fleet",
    ".gemini",
    ".husky",
    ".idea",
    ".lvimrc",
    ".mcp.json",
    ".mise.toml",
    ".nvim.lua",
    ".nvimrc",
    ".vimrc",
    ".vscode",
    ".zed",
    "_vimrc",
    "mise.toml",
];

/// The default of [`Options::may`](crate::Options::may): everything may be read; nothing may be written inside
/// [`REPOSITORIES`], or where [`runs_unasked`] is true.
pub fn guarded(asked: &Asked<'_>) -> bool {
    !asked.writing || !(named(asked.path, REPOSITORIES) || runs_unasked(asked.path))
}

/// Whether a path, relative to its root, contains a name from the list [`RUNS_UNASKED`]. A host can ask the user about
/// such a file.
pub fn runs_unasked(path: &Path) -> bool {
    named(path, RUNS_UNASKED)
}

fn named(path: &Path, names: &[&str]) -> bool {
    path.iter().any(|step| {
        let step = plain(&step.to_string_lossy());
        names.iter().any(|name| match name.strip_prefix('*') {
            Some(end) => step.ends_with(end),
            None => step == *name,
        })
    })
}

/// A name as the least exact file systems see it: without case, without invisible characters, without the trailing dots
/// and spaces that Windows drops, and with a short name (`GIT~1`) replaced by the long one.
fn plain(step: &str) -> String {
    let invisible =
        |c: char| matches!(c, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}');
    let seen: String = step.chars().filter(|&c| !invisible(c)).flat_map(char::to_lowercase).collect();
    // What is behind a colon is a stream of the file before it.
    let name = seen.split(':').next().unwrap_or_default().trim_end_matches(['.', ' ']);
    match name.split_once('~') {
        Some(("git", number)) if number.bytes().all(|b| b.is_ascii_digit()) => ".git".to_owned(),
        _ => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_run_are_known_however_they_are_spelt() {
        let ask = |path: &str, writing| guarded(&Asked { root: Path::new("/"), path: Path::new(path), writing });
        for path in [
            ".git",
            ".git/config",
            "sub/.git/hooks/pre-commit",
            ".GIT/config",
            ".g\u{200c}it/config",
            ".git./config",
            ".git ::$INDEX_ALLOCATION/config",
            "GIT~1/config",
            ".hg/hgrc",
            ".vscode/tasks.json",
            "a/.VSCode/settings.json",
            ".envrc",
            "x.code-workspace",
            ".mcp.json",
        ] {
            assert!(!ask(path, true), "{path}");
            assert!(ask(path, false), "{path}");
        }
        for path in ["git", "src/main.rs", ".gitignore", ".github/CODEOWNERS", "envrc", ".gitx/config", "~", "git~x"] {
            assert!(ask(path, true), "{path}");
        }
    }
}
