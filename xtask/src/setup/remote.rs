//! The hosts of the remote matrix.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;

use super::steps::{copy, npm, only_file, C_LIBRARY, NPM_PACKAGE, TARBALLS, TESTED};
use super::{cargo, run, Step};

/// Where the JavaScript hosts are run, with the packed npm package and the official SDK installed.
const NODE: &str = "target/interop-remote";

/// The Rust hosts. They are built as the tests are, so that these have them already.
pub(crate) static RUST: Step = Step {
    name: "remote Rust hosts",
    tools: &[],
    needs: &[],
    inputs: &["Cargo.toml", "Cargo.lock", "rust-toolchain.toml", "core", "files", "tokio"],
    outputs: &["target/debug/examples/acp-remote-client", "target/debug/examples/acp-remote-server"],
    work: || run(cargo().args(["build", "--quiet", "--examples"]).args(TESTED)),
    done: Mutex::new(None),
};

/// The JavaScript hosts, ours and those on the official TypeScript SDK.
pub(crate) static JAVASCRIPT: Step = Step {
    name: "remote JavaScript hosts",
    tools: &["node", "npm"],
    needs: &[&NPM_PACKAGE],
    inputs: &["tests/interop/remote/node"],
    outputs: &["target/interop-remote/node_modules/libacp"],
    work: || {
        copy("tests/interop/remote/node", NODE)?;
        run(npm(NODE).arg("ci"))?;
        let package = Path::new("..").join("npm").join(only_file(TARBALLS, ".tgz")?);
        run(npm(NODE).args(["install", "--no-save", "--no-package-lock"]).arg(package))
    },
    done: Mutex::new(None),
};

/// The client in C++. It links with libcurl, of which the system has to have the headers.
pub(crate) static CPP: Step = Step {
    name: "remote C++ host",
    tools: &["c++"],
    needs: &[&C_LIBRARY],
    inputs: &["tests/interop/remote/cpp", "include"],
    outputs: &["target/interop-remote-cpp/client"],
    work: || {
        fs::create_dir_all("target/interop-remote-cpp")?;
        let mut build = Command::new("c++");
        build.args(["-std=c++17", "-O1", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror"]);
        build.args(["-Iinclude", "tests/interop/remote/cpp/client.cpp", "-o", "target/interop-remote-cpp/client"]);
        run(build.args(["target/release/libacp.a", "-lcurl", "-lpthread", "-ldl", "-lm"]))
    },
    done: Mutex::new(None),
};

/// The hosts on the official Rust SDK. Apart from the others on it, as its transports take minutes to build.
pub(crate) static RUST_SDK: Step = Step {
    name: "remote transports of the official Rust SDK",
    tools: &["cc"],
    needs: &[],
    inputs: &["tests/interop/remote/rust", "rust-toolchain.toml"],
    outputs: &["target/interop-remote-rust/debug/client", "target/interop-remote-rust/debug/server"],
    work: || {
        let mut build = cargo();
        build.args(["build", "--quiet", "--locked", "--manifest-path", "tests/interop/remote/rust/Cargo.toml"]);
        run(build.args(["--target-dir", "target/interop-remote-rust"]))
    },
    done: Mutex::new(None),
};
