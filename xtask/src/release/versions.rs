//! One version everywhere: what is published together says that it belongs together.

use std::fs;

use anyhow::{ensure, Context, Result};
use serde_json::Value;

/// Where the version stands, and how.
const PLACES: &[(&str, &str, &str)] = &[
    ("Cargo.toml", "version = \"", "\""),
    ("wasm/package.json", "\"version\": \"", "\""),
    ("wasm/package-lock.json", "\"version\": \"", "\""),
    ("CHANGELOG.md", "## ", ","),
];

/// Where the project is, for those who can inherit it: `repository` of the workspace.
const REPOSITORY: &str = env!("CARGO_PKG_REPOSITORY");
/// Who cannot. Whatever these name of the project must lie there.
const ADDRESSES: &[&str] = &["python/pyproject.toml", "wasm/package.json"];

/// The version that all places name, and the tag too, where there is one.
pub(super) fn agreed(tag: Option<&str>) -> Result<String> {
    let version = env!("CARGO_PKG_VERSION");
    for (file, before, behind) in PLACES {
        let text = fs::read_to_string(file).with_context(|| (*file).to_owned())?;
        let named = first(&text, before, behind).with_context(|| format!("{file} names no version"))?;
        ensure!(named == version, "{file} is about version {named}, the workspace about {version}");
    }
    let project = fs::read_to_string("python/pyproject.toml")?;
    ensure!(project.contains("dynamic = [\"version\"]"), "python/pyproject.toml has a version of its own");
    for file in ADDRESSES {
        let text = fs::read_to_string(file).with_context(|| (*file).to_owned())?;
        let wrong: Vec<&str> = elsewhere(&text, REPOSITORY).collect();
        ensure!(wrong.is_empty(), "{file} names {}; the workspace's repository is {REPOSITORY}", wrong.join(", "));
    }
    if let Some(tag) = tag {
        ensure!(tag.strip_prefix('v') == Some(version), "the tag {tag} is not v{version}");
        let place = std::env::var("GITHUB_REPOSITORY").map(|name| format!("https://github.com/{name}"));
        let here = place.is_err() || place.as_deref() == Ok(REPOSITORY);
        ensure!(here, "the manifests name {REPOSITORY}, and this is {place:?}");
        let changes = fs::read_to_string("CHANGELOG.md")?;
        ensure!(!changes.contains(&format!("## {version}, unreleased")), "CHANGELOG.md calls {version} unreleased");
    }
    Ok(version.to_owned())
}

/// What stands between two texts where they first come.
fn first<'t>(text: &'t str, before: &str, behind: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(before)?;
    rest.split([behind.chars().next()?, '\n']).next().map(str::trim)
}

/// The addresses in a manifest that are neither a repository nor below it.
fn elsewhere<'t>(text: &'t str, repository: &'t str) -> impl Iterator<Item = &'t str> {
    let addresses =
        text.match_indices("https://").map(|(at, _)| text[at..].split(['"', '\n']).next().unwrap_or_default());
    addresses.filter(move |address| match address.strip_prefix(repository) {
        Some(rest) => !["", ".git"].contains(&rest) && !rest.starts_with(['/', '#']),
        None => true,
    })
}

/// The names of the crates that are published: those that say nothing else.
pub(super) fn published() -> Result<Vec<String>> {
    let output = crate::setup::cargo().args(["metadata", "--no-deps", "--format-version", "1"]).output()?;
    let metadata: Value = serde_json::from_slice(&output.stdout).context("what cargo metadata prints")?;
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let open = packages.filter(|package| package["publish"].is_null());
    Ok(open.filter_map(|package| package["name"].as_str().map(str::to_owned)).collect())
}

#[cfg(test)]
mod tests {
    use super::{elsewhere, first};

    #[test]
    fn addresses_lie_in_the_repository() {
        let of = |text: &'static str| elsewhere(text, "https://forge.test/a/b").collect::<Vec<_>>();
        let good = "Homepage = \"https://forge.test/a/b#readme\"\nIssues = \"https://forge.test/a/b/issues\"\n\
                    { \"type\": \"git\", \"url\": \"git+https://forge.test/a/b.git\" }";
        assert!(of(good).is_empty());
        assert_eq!(
            of("\"https://forge.test/a/bc\" \"https://forge.test/a\""),
            ["https://forge.test/a/bc", "https://forge.test/a"]
        );
    }

    #[test]
    fn a_version_is_found() {
        assert_eq!(first("a\n## 0.1.0, unreleased\n## 0.0.9, May", "## ", ","), Some("0.1.0"));
        assert_eq!(first("## 0.1.0\n", "## ", ","), Some("0.1.0"));
        assert_eq!(first("none", "## ", ","), None);
    }
}
