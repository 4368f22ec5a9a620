//! The suites.

use std::path::PathBuf;
use std::process::Command;
use std::sync::LazyLock;

use anyhow::{anyhow, Result};

use super::{asynchronous, book, msrv, packed, readme, supply, Log};
use crate::setup::{cargo, remote, require, sdks, steps, WASM};

/// A set of tests with a log of its own.
pub(super) struct Suite {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) run: fn(&Log<'_>) -> Result<()>,
}

/// Suites that run side by side, those that take longest first.
pub(super) const SUITES: &[Suite] = &[
    Suite {
        name: "c-valgrind",
        about: "the C interface and the vectors in C under valgrind",
        run: |log| {
            require("valgrind")?;
            c(log, &["--valgrind"])
        },
    },
    Suite { name: "book", about: "the book, its programs, its names", run: book::run },
    Suite { name: "web", about: "the example page in Chromium, with its server and its agent", run: web },
    Suite {
        name: "demo",
        about: "the conversation between every pair of hosts, official SDKs included, and the remote script",
        run: demo,
    },
    Suite {
        name: "rust",
        about: "unit, documentation, vector, recording and comparison tests of the crates",
        run: rust,
    },
    Suite {
        name: "node",
        about: "the installed npm package under Node, its types, the vectors in JavaScript",
        run: node,
    },
    Suite { name: "python", about: "the installed wheel, its types, the vectors in Python", run: python },
    Suite {
        name: "c-sanitized",
        about: "the same with address and undefined behaviour sanitizers",
        run: |log| c(log, &["--sanitize"]),
    },
    Suite { name: "cpp", about: "acp.hpp and the example hosts in C and C++", run: |log| cpp(log, &[]) },
    Suite {
        name: "cpp-valgrind",
        about: "the same under valgrind",
        run: |log| {
            require("valgrind")?;
            cpp(log, &["--valgrind"])
        },
    },
    Suite {
        name: "cpp-sanitized",
        about: "the same with address and undefined behaviour sanitizers",
        run: |log| cpp(log, &["--sanitize"]),
    },
    Suite {
        name: "conformance",
        about: "requirements of version 1 against the full agents and all that are shown; full hosts beside the SDK",
        run: conformance,
    },
    Suite {
        name: "rules",
        about: "each rule switched off in each of its directions: its own vectors fail",
        run: |log| this(log, &["rules", "--prove"]),
    },
    Suite { name: "c", about: "the C interface and the vectors in C", run: |log| c(log, &[]) },
    Suite {
        name: "install",
        about: "the installed C library, from programs outside of the tree, with pkg-config and CMake",
        run: install,
    },
    Suite {
        name: "reverse-proxies",
        about: "turns through nginx, caddy and haproxy, as far as they are here, with the book's configurations",
        run: reverse_proxies,
    },
    Suite { name: "browser", about: "the installed npm package in Chromium", run: browser },
    Suite { name: "wasm-plain", about: "the WebAssembly module without imports, under wasmtime", run: wasm_plain },
    Suite {
        name: "rust-async",
        about: "agents and clients in asynchronous Rust with each other: tokio, smol, WebAssembly",
        run: asynchronous::run,
    },
    Suite { name: "package", about: "the packed crate outside of the tree, and its documentation", run: packed::run },
    Suite { name: "wasm-proxy", about: "the example proxy in its sandboxes", run: wasm_proxy },
    Suite {
        name: "supply-chain",
        about: "what the crates depend on, how old it may be, and where unsafe code is",
        run: supply::run,
    },
    Suite { name: "generated", about: "nothing that is generated is stale", run: generated },
    Suite {
        name: "instructions",
        about: "decoding takes no more instructions than are kept in bench/instructions.json",
        run: |log| {
            require("valgrind")?;
            this(log, &["bench", "--instructions"])
        },
    },
    Suite { name: "portable", about: "the core builds for wasm32", run: portable },
    Suite {
        name: "msrv",
        about: "the core and the C library build with the oldest Rust that is declared",
        run: msrv::run,
    },
    Suite { name: "readme", about: "the README's examples", run: readme::run },
];

/// Those that measure time, which other suites would lengthen: they run after them, one by one.
pub(super) const ALONE: &[Suite] = &[Suite {
    name: "frames",
    about: "the longest frames of the example page while an agent streams",
    run: |log| pages(log, "takes no frame"),
}];

pub(super) fn all() -> impl Iterator<Item = &'static Suite> {
    SUITES.iter().chain(ALONE)
}

fn rust(log: &Log<'_>) -> Result<()> {
    log.run(cargo().args(["test", "--quiet", "--no-fail-fast"]).args(steps::TESTED))
}

fn python(log: &Log<'_>) -> Result<()> {
    require("openssl")?;
    // The set-up has built the wheel.
    log.run(Command::new("python3").args(["python/tests/run.py", "--types", "--keep-wheel"]))
}

fn reverse_proxies(log: &Log<'_>) -> Result<()> {
    crate::setup::bring_all([&steps::REMOTE_MODULE])?;
    log.run(cargo().args(["build", "--quiet", "-p", "libacp-cli"]))?;
    log.run(Command::new(steps::REMOTE_PYTHON).args(["tests/reverse-proxies/run.py", "target/debug/acp"]))
}

fn demo(log: &Log<'_>) -> Result<()> {
    this(log, &["demo", "--all"])?;
    this(log, &["demo", "--remote"])
}

/// Where this program is. It is asked at the start: the suite `rust` builds the program anew, and then the system would
/// name a file that is gone.
static THIS: LazyLock<std::io::Result<PathBuf>> = LazyLock::new(std::env::current_exe);

/// Another command of this program.
fn this(log: &Log<'_>, args: &[&str]) -> Result<()> {
    let this = THIS.as_ref().map_err(|error| anyhow!("where this program is: {error}"))?;
    log.run(Command::new(this).args(args))
}

fn c(log: &Log<'_>, options: &[&str]) -> Result<()> {
    log.run(Command::new("tests/c/run.sh").args(options))
}

fn cpp(log: &Log<'_>, options: &[&str]) -> Result<()> {
    log.run(Command::new("tests/cpp/run.sh").args(options))
}

fn install(log: &Log<'_>) -> Result<()> {
    require("pkg-config")?;
    let cmake = std::path::absolute(steps::CMAKE)?;
    log.run(Command::new("tests/install/run.sh").env("CMAKE", cmake))
}

fn node(log: &Log<'_>) -> Result<()> {
    require("openssl")?;
    log.run(Command::new("npm").args(["ci", "--silent", "--no-audit", "--no-fund", "--prefix", "tests/node"]))?;
    log.run(Command::new("node").arg("tests/node/run.mjs"))?;
    log.run(Command::new("node").arg("tests/docs/typescript.mjs"))?;
    log.run(Command::new("node").arg("tests/node/vectors.mjs"))?;
    log.run(Command::new("node").args(["tests/node/vectors.mjs", "--clients"]))
}

fn conformance(log: &Log<'_>) -> Result<()> {
    crate::setup::bring_all([&steps::RUST_TESTS])?;
    log.run(Command::new(steps::PYTHON).arg("tests/conformance/run.py"))
}

fn browser(log: &Log<'_>) -> Result<()> {
    require("openssl")?;
    log.run(Command::new("npm").args(["ci", "--silent", "--no-audit", "--no-fund", "--prefix", "tests/browser"]))?;
    log.run(Command::new("node").arg("tests/browser/run.mjs"))
}

fn web(log: &Log<'_>) -> Result<()> {
    // The others are those of the suite `frames`.
    pages(log, "^(?!.*takes no frame)")
}

/// The tests of the example page whose names match a pattern.
fn pages(log: &Log<'_>, pattern: &str) -> Result<()> {
    crate::setup::bring_all([&steps::WEB])?;
    log.run(Command::new("npm").args(["ci", "--silent", "--no-audit", "--no-fund", "--prefix", "tests/browser"]))?;
    log.run(Command::new("node").args(["tests/browser/web.mjs", pattern]))
}

fn wasm_plain(log: &Log<'_>) -> Result<()> {
    log.run(&mut Command::new("tests/wasm-plain/run.sh"))
}

fn wasm_proxy(log: &Log<'_>) -> Result<()> {
    log.run(&mut Command::new("tests/wasm-proxy/run.sh"))?;
    book::programs(log, &["proxy"])
}

fn generated(log: &Log<'_>) -> Result<()> {
    this(log, &["codegen", "--check"])?;
    log.passed("what codegen writes")?;
    this(log, &["import", "--check"])?;
    log.passed("the model's structure and words")?;
    log.run(cargo().args(["run", "--quiet", "-p", "xtask-header", "--", "--check"]))?;
    log.passed("the C header")?;
    log.run(cargo().args(["run", "--quiet", "-p", "xtask-rules", "--", "--check"]))
}

fn portable(log: &Log<'_>) -> Result<()> {
    for features in ["", "futures"] {
        let target = ["check", "--quiet", "-p", "libacp", "--target", WASM, "--features", features];
        log.run(cargo().args(target))?;
        log.passed(&format!("the core for wasm32 {features}"))?;
    }
    Ok(())
}

/// What the suites share and would otherwise build at the same time.
pub(super) fn set_up() -> Result<()> {
    LazyLock::force(&THIS);
    let shared = [
        &steps::RUST_TESTS,
        &steps::RUST_HOSTS,
        &steps::C_HOSTS,
        &steps::PYTHON_MODULE,
        &steps::NODE_HOSTS,
        &steps::TYPESCRIPT_SDK,
        &steps::RUST_SDK,
        &remote::RUST,
        &remote::JAVASCRIPT,
        &crate::setup::bench::COUNT,
        &sdks::GO,
        &sdks::JAVA,
        &sdks::KOTLIN,
    ];
    crate::setup::bring_all(shared.into_iter().filter(|step| step.not_here().is_none()))
}
