//! Which files an agent may read and write, beyond being inside of a root.

use std::path::Path;

/// A file that is to be read or written, as [`Options::may`](crate::Options::may) is asked about it.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Asked<'a> {
    /// The root that it is in.
    pub root: &'a Path,
    /// Where it is, from there; all links on the way are followed.
    pub path: &'a Path,
    /// Whether it is to be written.
    pub writing: bool,
}

impl<'a> Asked<'a> {
    /// A question, for those who ask [`guarded`] themselves.
    pub fn new(root: &'a Path, path: &'a Path, writing: bool) -> Self {
        Asked { root, path, writing }
    }
}

/// Folders of version control. What is written there runs with the next command: hooks, and settings that name programs.
pub const REPOSITORIES: &[&str] = &[".git", ".hg", ".jj", ".svn"];

/// Files, and folders with all that is in them, that editors, their extensions and the shell in them run without asking
/// again, wherever they are in a root; `*` stands for any beginning.
///
/// The list is not complete, and cannot be: build files, package scripts and tests run as soon as somebody builds.
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

/// What holds without a `may` of the host's: all may be read; nothing may be written below [`REPOSITORIES`], or where
/// [`runs_unasked`].
pub fn guarded(asked: &Asked<'_>) -> bool {
    !asked.writing || !(named(asked.path, REPOSITORIES) || runs_unasked(asked.path))
}

/// Whether a path, from its root on, is that of something on the list [`RUNS_UNASKED`]: what to ask the user about.
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

/// A name as the file systems see it that see the least: without case, without what is invisible, without the end that
/// Windows drops, and by its long name.
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
