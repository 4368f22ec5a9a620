//! The steps of the benchmark.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;

use super::steps::{copy, npm, only_file, pip, C_LIBRARY, NPM_PACKAGE, PYTHON_MODULE, TARBALLS};
use super::{cargo, run, Step};

/// Where the JavaScript programs are run.
pub(crate) const NODE: &str = "target/bench/node";
/// The program on the official Rust SDK.
pub(crate) const OFFICIAL: &str = "target/bench/rust-official/release/libacp-bench-official";
/// The program in C.
pub(crate) const C: &str = "target/bench/c/bench";

/// The Rust programs on libacp.
pub(crate) static RUST: Step = Step {
    name: "benchmark in Rust",
    tools: &[],
    needs: &[],
    inputs: &["Cargo.toml", "Cargo.lock", "rust-toolchain.toml", "core", "bench/rust", "bench/rust-measure"],
    outputs: &["target/release/bench-libacp", "target/release/bench-memory"],
    work: || {
        let mut build = cargo();
        build.args(["build", "--quiet", "--release", "-p", "libacp-bench"]);
        run(build.args(["--bin", "bench-libacp", "--bin", "bench-memory"]))
    },
    done: Mutex::new(None),
};

/// The Rust programs over HTTP and WebSocket, and the server that is put under load.
pub(crate) static RUST_REMOTE: Step = Step {
    name: "benchmark of the remote transports in Rust",
    tools: &[],
    needs: &[],
    inputs: &[
        "Cargo.toml",
        "Cargo.lock",
        "rust-toolchain.toml",
        "core",
        "tokio",
        "files",
        "cli",
        "bench/rust-remote",
        "bench/rust-measure",
    ],
    outputs: &["target/release/bench-remote", "target/release/bench-load", "target/release/acp"],
    work: || {
        let mut build = cargo();
        build.args(["build", "--quiet", "--release", "-p", "libacp-bench-remote", "-p", "libacp-cli", "--bins"]);
        run(&mut build)
    },
    done: Mutex::new(None),
};

/// The program whose instructions are counted: on the plain core, as the example hosts are.
pub(crate) static COUNT: Step = Step {
    name: "benchmark of instructions",
    tools: &[],
    needs: &[],
    inputs: &["Cargo.toml", "Cargo.lock", "rust-toolchain.toml", "core", "bench/rust", "bench/rust-measure"],
    outputs: &["target/release/w4-count"],
    work: || {
        let mut build = cargo();
        build.args(["build", "--quiet", "--release", "-p", "libacp-bench"]);
        run(build.args(["--no-default-features", "--bin", "w4-count"]))
    },
    done: Mutex::new(None),
};

/// The Rust program on the official SDK.
pub(crate) static RUST_OFFICIAL: Step = Step {
    name: "benchmark on the official Rust SDK",
    tools: &[],
    needs: &[],
    inputs: &["bench/rust-official", "bench/rust-measure", "Cargo.toml", "rust-toolchain.toml"],
    outputs: &[OFFICIAL],
    work: || {
        // A folder of its own, as it is no member of the workspace.
        let mut build = cargo();
        build.args(["build", "--quiet", "--release", "--locked", "--manifest-path", "bench/rust-official/Cargo.toml"]);
        run(build.args(["--target-dir", "target/bench/rust-official"]))
    },
    done: Mutex::new(None),
};

/// The program in C.
pub(crate) static C_PROGRAM: Step = Step {
    name: "benchmark in C",
    tools: &["cc"],
    needs: &[&C_LIBRARY],
    inputs: &["bench/c", "include"],
    outputs: &[C],
    work: || {
        fs::create_dir_all("target/bench/c")?;
        let mut cc = Command::new("cc");
        cc.args(["-std=c11", "-O2", "-Wall", "-Wextra", "-Iinclude", "-o", C, "bench/c/bench.c"]);
        run(cc.args(["target/release/libacp.a", "-lpthread", "-ldl", "-lm"]))
    },
    done: Mutex::new(None),
};

/// What the Python programs need beside the module and the official SDK.
pub(crate) static PYTHON: Step = Step {
    name: "benchmark in Python",
    tools: &[],
    needs: &[&PYTHON_MODULE],
    inputs: &["bench/python/requirements.txt"],
    outputs: &[],
    work: || run(pip().args(["-r", "bench/python/requirements.txt"])),
    done: Mutex::new(None),
};

/// The JavaScript programs beside both packages.
pub(crate) static NODE_PROGRAMS: Step = Step {
    name: "benchmark in JavaScript",
    tools: &["node", "npm"],
    needs: &[&NPM_PACKAGE],
    inputs: &["bench/node"],
    outputs: &["target/bench/node/node_modules/libacp"],
    work: || {
        copy("bench/node", NODE)?;
        run(npm(NODE).arg("ci"))?;
        let package = Path::new("../..").join("npm").join(only_file(TARBALLS, ".tgz")?);
        run(npm(NODE).args(["install", "--no-save", "--no-package-lock"]).arg(package))
    },
    done: Mutex::new(None),
};
