//! The SDKs that hosts of the demo are built on, and their versions, which stand in the manifests of those hosts.

use std::fs;

use anyhow::{Context, Result};

/// An SDK under test.
pub(crate) struct Sdk {
    /// Its language, as the book calls it.
    pub(crate) name: &'static str,
    pub(crate) package: &'static str,
    /// The manifest of its hosts, and what stands there before the version.
    manifest: (&'static str, &'static str),
}

pub(crate) const ALL: &[Sdk] = &[
    Sdk {
        name: "Rust",
        package: "agent-client-protocol",
        manifest: ("tests/interop/rust/Cargo.toml", "agent-client-protocol = { version = \"="),
    },
    Sdk {
        name: "TypeScript",
        package: "@agentclientprotocol/sdk",
        manifest: ("tests/interop/typescript/package.json", "\"@agentclientprotocol/sdk\": \""),
    },
    Sdk {
        name: "Python",
        package: "agent-client-protocol",
        manifest: ("tests/interop/python/requirements.txt", "agent-client-protocol=="),
    },
    Sdk {
        name: "Go",
        package: "github.com/coder/acp-go-sdk",
        manifest: ("tests/interop/go/go.mod", "github.com/coder/acp-go-sdk v"),
    },
    Sdk {
        name: "Java",
        package: "com.agentclientprotocol:acp-core",
        manifest: ("tests/interop/java/pom.xml", "<artifactId>acp-core</artifactId>\n      <version>"),
    },
    Sdk {
        name: "Kotlin",
        package: "com.agentclientprotocol:acp-jvm",
        manifest: ("tests/interop/kotlin/pom.xml", "<artifactId>acp-jvm</artifactId>\n      <version>"),
    },
];

impl Sdk {
    pub(crate) fn find(name: &str) -> Option<&'static Sdk> {
        ALL.iter().find(|sdk| sdk.name == name)
    }

    /// The version that its hosts are built with.
    pub(crate) fn version(&self) -> Result<String> {
        let (file, before) = self.manifest;
        let text = fs::read_to_string(file).context(file)?;
        let (_, after) = text.split_once(before).with_context(|| format!("{file}: there is no {before}"))?;
        Ok(after.chars().take_while(|each| each.is_ascii_digit() || *each == '.').collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What people have written about peers says the versions that were tested.
    #[test]
    fn the_book_says_the_tested_versions() {
        std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).unwrap();
        let page = fs::read_to_string("docs/src/peers.md").unwrap();
        for sdk in ALL {
            let (name, package, version) = (sdk.name, sdk.package, sdk.version().unwrap());
            assert!(version.split('.').count() == 3, "{name}: {version}");
            let row = format!("| {name}, `{package}` | {version} |");
            assert!(page.contains(&row), "docs/src/peers.md lacks {row}");
        }
    }
}
