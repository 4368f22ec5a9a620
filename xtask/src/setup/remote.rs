//! The hosts of the remote matrix.

use std::path::Path;
use std::sync::Mutex;

use super::steps::{copy, npm, only_file, NPM_PACKAGE, TARBALLS, TESTED};
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
