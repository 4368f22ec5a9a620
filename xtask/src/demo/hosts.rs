//! The hosts: how each is set up and started. The whole of what the demo knows about a language is in this table.

use crate::setup::sdks::{GO, JAVA, KOTLIN};
use crate::setup::steps::{C_HOSTS, NODE_HOSTS, PYTHON, PYTHON_MODULE, RUST_HOSTS, RUST_SDK, TYPESCRIPT_SDK, VENV};
use crate::setup::Step;

use super::version_2::VERSION_2;

/// Starts a program that Maven has built. A virtual machine that lives for a second does without its later stages, and
/// it reads and writes UTF-8 whatever the locale says.
macro_rules! jvm {
    ($out:literal, $main:literal, $role:literal) => {
        &[
            "java",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-XX:-UsePerfData",
            "-Dfile.encoding=UTF-8",
            "-Dsun.jnu.encoding=UTF-8",
            "-cp",
            concat!($out, "/classes:", $out, "/lib/*"),
            $main,
            $role,
        ]
    };
}

/// The conversation of version 1.
pub(super) const SCRIPT: &str = "tests/interop/script.json";

/// A client and an agent in one language.
pub(super) struct Host {
    pub(super) name: &'static str,
    /// 1 or 2: the matrix in which it stands. Hosts meet those of their own matrix.
    pub(super) version: u8,
    /// What it plays; a host of ours plays whatever its peer does.
    pub(super) script: &'static str,
    /// Whether it tells the violations of its peer; an official SDK does not.
    pub(super) ours: bool,
    /// Whether it waits for `--all`: it takes long to set up, or is only about the demo itself.
    pub(super) slow: bool,
    /// Whether its `initialize` carries a number that no double holds, as `examples/rust/src/player.rs` says: between
    /// two such hosts it must come back as it was sent.
    pub(super) exact: bool,
    pub(super) step: &'static Step,
    /// What of it must be in the tree.
    pub(super) files: &'static [&'static str],
    /// What starts it in this role; nothing for a role that it does not have.
    pub(super) client: &'static [&'static str],
    pub(super) agent: &'static [&'static str],
}

impl Host {
    /// The one of this name.
    pub(super) fn find(name: &str) -> Option<&'static Host> {
        all().find(|host| host.name == name)
    }
}

/// All of them, in the order of the matrices.
pub(super) fn all() -> impl Iterator<Item = &'static Host> + Clone {
    VERSION_1.iter().chain(VERSION_2)
}

const VERSION_1: &[Host] = &[
    Host {
        name: "rust",
        version: 1,
        script: SCRIPT,
        ours: true,
        slow: false,
        exact: true,
        step: &RUST_HOSTS,
        files: &["examples/rust"],
        client: &["target/release/acp-demo-client"],
        agent: &["target/release/acp-demo-agent"],
    },
    Host {
        name: "c",
        version: 1,
        script: SCRIPT,
        ours: true,
        slow: false,
        exact: true,
        step: &C_HOSTS,
        files: &["ffi/Cargo.toml", "include/acp.h", "examples/c/client.c", "examples/c/agent.c"],
        client: &["target/c/client"],
        agent: &["target/c/agent"],
    },
    Host {
        name: "python",
        version: 1,
        script: SCRIPT,
        ours: true,
        slow: false,
        exact: true,
        step: &PYTHON_MODULE,
        files: &["python/Cargo.toml", "examples/python/client.py", "examples/python/agent.py"],
        client: &[PYTHON, "-B", "examples/python/client.py"],
        agent: &[PYTHON, "-B", "examples/python/agent.py"],
    },
    Host {
        name: "js",
        version: 1,
        script: SCRIPT,
        ours: true,
        slow: false,
        exact: true,
        step: &NODE_HOSTS,
        files: &["wasm/Cargo.toml", "examples/node/client.mjs", "examples/node/agent.mjs"],
        client: &["node", "target/node/client.mjs"],
        agent: &["node", "target/node/agent.mjs"],
    },
    Host {
        name: "ts-sdk",
        version: 1,
        script: SCRIPT,
        ours: false,
        slow: false,
        exact: false,
        step: &TYPESCRIPT_SDK,
        files: &["tests/interop/typescript"],
        client: &["node", "target/interop-typescript/client.mjs"],
        agent: &["node", "target/interop-typescript/agent.mjs"],
    },
    Host {
        name: "py-sdk",
        version: 1,
        script: SCRIPT,
        ours: false,
        slow: false,
        exact: false,
        step: &VENV,
        files: &["tests/interop/python"],
        client: &[PYTHON, "-B", "tests/interop/python/client.py"],
        agent: &[PYTHON, "-B", "tests/interop/python/agent.py"],
    },
    Host {
        name: "rust-sdk",
        version: 1,
        script: SCRIPT,
        ours: false,
        slow: true,
        exact: false,
        step: &RUST_SDK,
        files: &["tests/interop/rust"],
        client: &["target/interop-rust/debug/client"],
        agent: &["target/interop-rust/debug/agent"],
    },
    Host {
        name: "go-sdk",
        version: 1,
        script: SCRIPT,
        ours: false,
        slow: true,
        exact: false,
        step: &GO,
        files: &["tests/interop/go"],
        client: &["target/interop-go/peer", "client"],
        agent: &["target/interop-go/peer", "agent"],
    },
    Host {
        name: "java-sdk",
        version: 1,
        script: SCRIPT,
        ours: false,
        slow: true,
        exact: false,
        step: &JAVA,
        files: &["tests/interop/java"],
        client: jvm!("target/interop-java", "Peer", "client"),
        agent: jvm!("target/interop-java", "Peer", "agent"),
    },
    Host {
        name: "kotlin-sdk",
        version: 1,
        script: SCRIPT,
        ours: false,
        slow: true,
        exact: false,
        step: &KOTLIN,
        files: &["tests/interop/kotlin"],
        client: jvm!("target/interop-kotlin", "PeerKt", "client"),
        agent: jvm!("target/interop-kotlin", "PeerKt", "agent"),
    },
    // The Rust hosts behind a byte order mark, which breaks a rule and loses nothing: that each host tells it proves that
    // silence about the others means something.
    Host {
        name: "marked",
        version: 1,
        script: SCRIPT,
        ours: false,
        slow: false,
        exact: false,
        step: &RUST_HOSTS,
        files: &["tests/interop/marked"],
        client: &["tests/interop/marked/client.sh", "target/release/acp-demo-client"],
        agent: &["tests/interop/marked/agent.sh", "target/release/acp-demo-agent"],
    },
    // The same with a misspelled word: that each host finds it where it is proves that their silence about the others means
    // something too, and that what is declared is held.
    Host {
        name: "altered",
        version: 1,
        script: SCRIPT,
        ours: false,
        slow: true,
        exact: false,
        step: &RUST_HOSTS,
        files: &["tests/interop/altered"],
        client: &["tests/interop/altered/client.sh", "target/release/acp-demo-client"],
        agent: &["tests/interop/altered/agent.sh", "target/release/acp-demo-agent"],
    },
];
