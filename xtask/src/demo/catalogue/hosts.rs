//! Who plays the catalogue: the high-level APIs of libacp, and the official SDKs.

use std::fs;
use std::path::Path;
use std::sync::Mutex;

use anyhow::{Context, Result};

use crate::setup::steps::{NODE_HOSTS, PYTHON, PYTHON_MODULE, RUST_SDK, TYPESCRIPT_SDK, VENV};
use crate::setup::{cargo, run, Step};

const FOLDER: &str = "tests/interop/catalogue";
/// What agents say in turns that all play alike.
const TURNS: &str = "tests/interop/catalogue/turns.json";
const RUST: &str = "target/interop-catalogue/debug/libacp-catalogue";

/// A client and an agent that play the catalogue.
pub(super) struct Host {
    pub(super) name: &'static str,
    /// Whether it is on libacp. In each cell, one of the two is.
    pub(super) ours: bool,
    /// The SDK that it is on, if it is one that the book tells about.
    pub(super) sdk: Option<&'static str>,
    pub(super) versions: &'static [u8],
    /// Whether it waits for `--all`.
    pub(super) slow: bool,
    pub(super) step: &'static Step,
    /// What of it must be in the tree.
    pub(super) files: &'static [&'static str],
    /// What starts it in this role; nothing for a role that it does not have.
    pub(super) client: &'static [&'static str],
    pub(super) agent: &'static [&'static str],
}

pub(super) const ALL: &[Host] = &[
    Host {
        name: "rust-aio",
        ours: true,
        sdk: None,
        versions: &[1, 2],
        slow: false,
        step: &RUST_AIO,
        files: &["tests/interop/catalogue/rust"],
        client: &[RUST, "client"],
        agent: &[RUST, "agent"],
    },
    Host {
        name: "python-aio",
        ours: true,
        sdk: None,
        versions: &[1, 2],
        slow: false,
        step: &PYTHON_MODULE,
        files: &["tests/interop/catalogue/python"],
        client: &[PYTHON, "-B", "tests/interop/catalogue/python/client.py"],
        agent: &[PYTHON, "-B", "tests/interop/catalogue/python/agent.py"],
    },
    Host {
        name: "js-peers",
        ours: true,
        sdk: None,
        versions: &[1, 2],
        slow: false,
        step: &JS_PEERS,
        files: &["tests/interop/catalogue/node"],
        client: &["node", "target/node/catalogue-client.mjs"],
        agent: &["node", "target/node/catalogue-agent.mjs"],
    },
    Host {
        name: "ts-sdk",
        ours: false,
        sdk: Some("TypeScript"),
        versions: &[1, 2],
        slow: false,
        step: &TS_SDK,
        files: &["tests/interop/catalogue/typescript"],
        client: &["node", "target/interop-typescript/catalogue-client.mjs"],
        agent: &["node", "target/interop-typescript/catalogue-agent.mjs"],
    },
    Host {
        name: "py-sdk",
        ours: false,
        sdk: Some("Python"),
        versions: &[1],
        slow: false,
        step: &VENV,
        files: &["tests/interop/catalogue/python-sdk"],
        client: &[PYTHON, "-B", "tests/interop/catalogue/python-sdk/client.py"],
        agent: &[PYTHON, "-B", "tests/interop/catalogue/python-sdk/agent.py"],
    },
    Host {
        name: "rust-sdk",
        ours: false,
        sdk: Some("Rust"),
        versions: &[1, 2],
        slow: true,
        step: &RUST_SDK,
        files: &["tests/interop/rust/src/bin/steps-agent", "tests/interop/rust/src/bin/steps-client"],
        client: &["target/interop-rust/debug/steps-client"],
        agent: &["target/interop-rust/debug/steps-agent"],
    },
    // An agent that breaks a step: that it is found at that step proves that the others mean something.
    Host {
        name: "altered",
        ours: false,
        sdk: None,
        versions: &[1, 2],
        slow: false,
        step: &PYTHON_MODULE,
        files: &["tests/interop/catalogue/altered.py"],
        client: &[],
        agent: &[PYTHON, "-B", "tests/interop/catalogue/altered.py"],
    },
];

/// The one of this name.
pub(super) fn find(name: &str) -> Option<&'static Host> {
    ALL.iter().find(|host| host.name == name)
}

/// The pair of this name, if one of the two is on libacp.
pub(super) fn named(pair: &str) -> Option<(&'static Host, &'static Host)> {
    let (client, agent) = pair.split_once(':')?;
    let pair = (find(client)?, find(agent)?);
    (pair.0.ours || pair.1.ours).then_some(pair)
}

/// The Rust client and agent.
static RUST_AIO: Step = Step {
    name: "Rust steps",
    tools: &[],
    needs: &[],
    inputs: &["tests/interop/catalogue/rust", TURNS, "Cargo.toml", "rust-toolchain.toml", "core", "tokio", "files"],
    outputs: &[RUST],
    work: || {
        // A folder of its own: it is no member of the workspace, and builds while others hold the workspace's lock.
        let mut build = cargo();
        build.args(["build", "--quiet", "--locked", "--manifest-path", "tests/interop/catalogue/rust/Cargo.toml"]);
        run(build.args(["--target-dir", "target/interop-catalogue"]))
    },
    done: Mutex::new(None),
};

/// The JavaScript client and agent, beside the example hosts and their package.
static JS_PEERS: Step = Step {
    name: "JavaScript steps",
    tools: &["node"],
    needs: &[&NODE_HOSTS],
    inputs: &["tests/interop/catalogue/node", TURNS],
    outputs: &["target/node/catalogue-client.mjs"],
    work: || {
        place_turns("target/node")?;
        place("node", &["steps", "turns", "client", "agent"], "target/node")
    },
    done: Mutex::new(None),
};

/// Those on the official TypeScript SDK, beside its other hosts.
static TS_SDK: Step = Step {
    name: "steps on the official TypeScript SDK",
    tools: &["node"],
    needs: &[&TYPESCRIPT_SDK],
    inputs: &["tests/interop/catalogue/typescript", "tests/interop/catalogue/node", TURNS],
    outputs: &["target/interop-typescript/catalogue-client.mjs"],
    work: || {
        place_turns("target/interop-typescript")?;
        place("node", &["steps", "turns"], "target/interop-typescript")?;
        place("typescript", &["words", "fold", "client", "agent"], "target/interop-typescript")
    },
    done: Mutex::new(None),
};

/// Puts what agents say in turns that all play alike beside the modules that read it.
fn place_turns(to: &str) -> Result<()> {
    fs::copy(TURNS, Path::new(to).join("catalogue-turns.json")).map(drop).context(TURNS)
}

/// Puts modules beside the packages that they import.
fn place(from: &str, names: &[&str], to: &str) -> Result<()> {
    for name in names {
        let from = Path::new(FOLDER).join(from).join(format!("{name}.mjs"));
        let to = Path::new(to).join(format!("catalogue-{name}.mjs"));
        fs::copy(&from, to).with_context(|| from.display().to_string())?;
    }
    Ok(())
}
