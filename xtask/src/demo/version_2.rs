//! The hosts of version 2, and what sets them up.
//!
//! Those on libacp play any script of `tests/interop/version-2`, also those in which they speak version 1 to a router. Their
//! peers each have one: the hosts on the TypeScript SDK the whole tour, the two programs that the Rust SDK publishes as its
//! examples what these do, and a router of each of the two SDKs a short conversation in the version that it is asked for.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use anyhow::{ensure, Context, Result};
use serde_json::Value;

use super::hosts::Host;
use crate::setup::steps::{C_LIBRARY, LIBACP_FILES, NODE_HOSTS, PYTHON, PYTHON_MODULE, TYPESCRIPT_SDK};
use crate::setup::{cargo, run, Step};

const TOUR: &str = "tests/interop/version-2/tour.json";
const ROUTER: [&str; 2] = ["tests/interop/version-2/router-1.json", "tests/interop/version-2/router-2.json"];
const RUST: &str = "target/interop-version-2/debug/libacp-interop-version-2";
const C: &str = "target/c/version-2";
const JS: &str = "target/node/version-2.mjs";
/// The Rust SDK's examples, as they are published, and our router among them.
const SDK: &str = "target/interop-rust-2/sdk";
const BUILD: &str = "target/interop-rust-2/build";
const ECHO: &str = "target/interop-rust-2/build/debug/examples/simple_agent_v2";
const ONCE: &str = "target/interop-rust-2/build/debug/examples/v2_one_shot_client";
const BOTH: &str = "target/interop-rust-2/build/debug/examples/router";
const TS_BOTH: &[&str] = &["node", "target/interop-typescript/v2-router.mjs"];

/// The Rust host.
static RUST_HOST: Step = Step {
    name: "Rust host of version 2",
    tools: &[],
    needs: &[],
    inputs: &["tests/interop/version-2/rust", "Cargo.toml", "rust-toolchain.toml", "core", "examples/rust", "files"],
    outputs: &[RUST],
    work: || {
        // A folder of its own: it is no member of the workspace, and builds while others hold the workspace's lock.
        let mut build = cargo();
        build.args(["build", "--quiet", "--locked", "--manifest-path", "tests/interop/version-2/rust/Cargo.toml"]);
        run(build.args(["--target-dir", "target/interop-version-2"]))
    },
    done: Mutex::new(None),
};

/// The C host, with the files of the example hosts that both their roles share.
static C_HOST: Step = Step {
    name: "C host of version 2",
    tools: &["cc"],
    needs: &[&C_LIBRARY],
    inputs: &["tests/interop/version-2/c", "examples/c", "include"],
    outputs: &[C],
    work: || {
        let shared = ["compare", "host", "player", "script", "workspace"].map(|name| format!("examples/c/{name}.c"));
        let mut cc = Command::new("cc");
        cc.args(["-std=c11", "-O2", "-Wall", "-Wextra", "-Iinclude", "-Iexamples/c", "-o", C]);
        cc.arg("tests/interop/version-2/c/host.c").args(shared);
        run(cc.args(["target/release/libacp.a", LIBACP_FILES, "-lpthread", "-ldl", "-lm"]))
    },
    done: Mutex::new(None),
};

/// The JavaScript host, beside the example hosts and their package.
static JS_HOST: Step = Step {
    name: "JavaScript host of version 2",
    tools: &["node"],
    needs: &[&NODE_HOSTS],
    inputs: &["tests/interop/version-2/node"],
    outputs: &[JS],
    work: || fs::copy("tests/interop/version-2/node/version-2.mjs", JS).map(drop).context(JS),
    done: Mutex::new(None),
};

/// The Rust SDK's examples, from the source that cargo has, as that of an edition that the lock file names.
static RUST_SDK: Step = Step {
    name: "examples of the official Rust SDK",
    tools: &[],
    needs: &[],
    inputs: &["tests/interop/version-2/router.rs", "tests/interop/rust/Cargo.lock", "rust-toolchain.toml"],
    outputs: &[ECHO, ONCE, BOTH],
    work: build_examples,
    done: Mutex::new(None),
};

fn build_examples() -> Result<()> {
    let source = source()?;
    if Path::new(SDK).exists() {
        fs::remove_dir_all(SDK).context(SDK)?;
    }
    copy(&source, Path::new(SDK))?;
    // The router is one more example, so that all is compiled once; nothing else of the published package is touched. It
    // stands below this project, and is no member of its workspace.
    fs::copy("tests/interop/version-2/router.rs", Path::new(SDK).join("examples/router.rs"))?;
    let mut manifest = OpenOptions::new().append(true).open(Path::new(SDK).join("Cargo.toml"))?;
    manifest.write_all(b"\n[[example]]\nname = \"router\"\npath = \"examples/router.rs\"\n\n[workspace]\n")?;
    let mut build = cargo();
    build.env("CARGO_PROFILE_DEV_DEBUG", "false").args(["build", "--quiet", "--locked", "--target-dir", BUILD]);
    build.args(["--manifest-path", "target/interop-rust-2/sdk/Cargo.toml"]);
    build.args(["--features", "process,stdio,unstable_protocol_v2", "--example", "simple_agent_v2"]);
    run(build.args(["--example", "v2_one_shot_client", "--example", "router"]))
}

/// Where cargo keeps the SDK's source; this makes it bring that.
fn source() -> Result<PathBuf> {
    let mut metadata = cargo();
    metadata.args([
        "metadata",
        "--locked",
        "--format-version",
        "1",
        "--manifest-path",
        "tests/interop/rust/Cargo.toml",
    ]);
    let output = metadata.output()?;
    ensure!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout)?;
    let packages = metadata["packages"].as_array().context("cargo metadata names no packages")?;
    let sdk = packages.iter().find(|package| package["name"] == "agent-client-protocol");
    let manifest = sdk.and_then(|sdk| sdk["manifest_path"].as_str()).context("the SDK is in no lock file")?;
    Ok(Path::new(manifest).parent().context("a manifest without a folder")?.to_owned())
}

/// Copies a folder with all that is in it.
fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to).with_context(|| to.display().to_string())?;
    for entry in fs::read_dir(from).with_context(|| from.display().to_string())? {
        let (entry, to) = (entry?, to);
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            // The content without the permissions: a registry's files may be read-only.
            fs::write(&target, fs::read(entry.path())?)?;
        }
    }
    Ok(())
}

/// All of them, in the order of the matrix.
pub(super) const VERSION_2: &[Host] = &[
    ours("rust-2", &RUST_HOST, &[RUST, "client"], &[RUST, "agent"]),
    ours("c-2", &C_HOST, &[C, "client"], &[C, "agent"]),
    ours(
        "python-2",
        &PYTHON_MODULE,
        &[PYTHON, "-B", "tests/interop/version-2/python/host.py", "client"],
        &[PYTHON, "-B", "tests/interop/version-2/python/host.py", "agent"],
    ),
    ours("js-2", &JS_HOST, &["node", JS, "client"], &["node", JS, "agent"]),
    peer(
        "ts-sdk-2",
        TOUR,
        &TYPESCRIPT_SDK,
        &["node", "target/interop-typescript/v2-client.mjs"],
        &["node", "target/interop-typescript/v2-agent.mjs"],
    ),
    peer("ts-both-1", ROUTER[0], &TYPESCRIPT_SDK, &[], TS_BOTH),
    peer("ts-both-2", ROUTER[1], &TYPESCRIPT_SDK, &[], TS_BOTH),
    slow(&peer("rs-echo-2", "tests/interop/version-2/echo.json", &RUST_SDK, &[], &[ECHO])),
    slow(&peer(
        "rs-once-2",
        "tests/interop/version-2/one-shot.json",
        &RUST_SDK,
        &["node", "tests/interop/version-2/one-shot.mjs", ONCE],
        &[],
    )),
    slow(&peer("rs-both-1", ROUTER[0], &RUST_SDK, &[], &[BOTH])),
    slow(&peer("rs-both-2", ROUTER[1], &RUST_SDK, &[], &[BOTH])),
    // The Rust host behind a byte order mark, as in version 1.
    peer(
        "marked-2",
        TOUR,
        &RUST_HOST,
        &["tests/interop/marked/client.sh", RUST, "client"],
        &["tests/interop/marked/agent.sh", RUST, "agent"],
    ),
    // A client that misspells a word, and an agent that ends in the middle.
    peer(
        "altered-2",
        TOUR,
        &RUST_HOST,
        &["tests/interop/altered/client-2.sh", RUST, "client"],
        &["tests/interop/altered/agent-2.sh", RUST, "agent"],
    ),
];

/// A host on libacp.
const fn ours(
    name: &'static str,
    step: &'static Step,
    client: &'static [&'static str],
    agent: &'static [&'static str],
) -> Host {
    Host { ours: true, ..peer(name, TOUR, step, client, agent) }
}

/// Another host, which knows one script.
const fn peer(
    name: &'static str,
    script: &'static str,
    step: &'static Step,
    client: &'static [&'static str],
    agent: &'static [&'static str],
) -> Host {
    let files =
        &["tests/interop/version-2", "tests/interop/typescript", "tests/interop/marked", "tests/interop/altered"];
    Host { name, version: 2, script, ours: false, slow: false, exact: false, step, files, client, agent }
}

/// One that takes long to set up.
const fn slow(host: &Host) -> Host {
    Host { slow: true, ..*host }
}
