//! The steps themselves.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;

use anyhow::{bail, Context, Result};

use super::{cargo, run, Step, WASM};

/// The Python of the private environment.
pub(crate) const PYTHON: &str = if cfg!(windows) { "target/venv/Scripts/python.exe" } else { "target/venv/bin/python" };
/// `CMake`, in the private Python environment.
pub(crate) const CMAKE: &str = if cfg!(windows) { "target/venv/Scripts/cmake.exe" } else { "target/venv/bin/cmake" };
/// Where the JavaScript hosts are run, with the packed npm package installed.
const NODE: &str = "target/node";
/// Where the hosts on the official TypeScript SDK are run.
const TYPESCRIPT: &str = "target/interop-typescript";
/// Where the C hosts are compiled to.
const C: &str = "target/c";
/// Where the example page is built, and what it takes is installed.
const WEB_FOLDER: &str = "target/web";
const WHEELS: &str = "target/wheels";
pub(crate) const TARBALLS: &str = "target/npm";
/// The build tool of the wheel.
const MATURIN: &str = "maturin>=1.9,<2";
/// For the test of the installed C library.
const CMAKE_PACKAGE: &str = "cmake>=3.25,<5";

/// The Rust hosts.
pub(crate) static RUST_HOSTS: Step = Step {
    name: "Rust hosts",
    tools: &[],
    needs: &[],
    inputs: &["Cargo.toml", "Cargo.lock", "rust-toolchain.toml", "core", "examples/rust", "files"],
    outputs: &["target/release/acp-demo-client", "target/release/acp-demo-agent"],
    work: || run(cargo().args(["build", "--quiet", "--release", "-p", "libacp-examples"])),
    done: Mutex::new(None),
};

/// The tests of the workspace, and with them the programs that they start.
pub(crate) static RUST_TESTS: Step = Step {
    name: "Rust tests",
    tools: &[],
    // Both hold the folder of debug builds; what follows the short one takes long.
    needs: &[&NPM_BUILDER],
    inputs: &[
        "Cargo.toml",
        "Cargo.lock",
        "rust-toolchain.toml",
        "cli",
        "core",
        "examples/rust-async",
        "files",
        "tokio",
    ],
    outputs: &["target/debug/acp", "target/debug/acp-full-agent", "target/debug/acp-tokio-agent"],
    work: || run(cargo().args(["test", "--quiet", "--no-run"]).args(TESTED)),
    done: Mutex::new(None),
};
/// What the tests of the workspace are tests of. The builder of the book is tested as a program; here, all that it is made of
/// would be compiled once more.
pub(crate) const TESTED: [&str; 3] = ["--workspace", "--exclude", "xtask-book"];

/// The static library of files, as it can be linked beside the other.
pub(crate) const LIBACP_FILES: &str = "target/c/libacp_files.a";

/// The C libraries, static and shared.
pub(crate) static C_LIBRARY: Step = Step {
    name: "C library",
    tools: &[],
    needs: &[],
    inputs: &["Cargo.toml", "Cargo.lock", "rust-toolchain.toml", "core", "ffi", "ffi-files", "files", "include"],
    outputs: &["target/release/libacp.a", "target/release/libacp.so", LIBACP_FILES, "target/release/libacp_files.so"],
    work: || {
        run(cargo().args(["build", "--quiet", "--release", "-p", "libacp-ffi", "-p", "libacp-ffi-files"]))?;
        fs::create_dir_all(C)?;
        run(Command::new("ffi-files/prelink.sh").args(["target/release/libacp_files.a", LIBACP_FILES]))
    },
    done: Mutex::new(None),
};

/// The C hosts.
pub(crate) static C_HOSTS: Step = Step {
    name: "C hosts",
    tools: &["cc"],
    needs: &[&C_LIBRARY],
    inputs: &["examples/c", "include"],
    outputs: &["target/c/client", "target/c/agent"],
    work: compile_c,
    done: Mutex::new(None),
};

/// The private Python environment with the build tools and the official SDK.
pub(crate) static VENV: Step = Step {
    name: "Python environment",
    tools: &["python3"],
    needs: &[],
    inputs: REQUIREMENTS,
    outputs: &[PYTHON, CMAKE],
    work: || {
        run(Command::new("python3").args(["-m", "venv", "--clear", "target/venv"]))?;
        run(pip().args([MATURIN, CMAKE_PACKAGE]).args(REQUIREMENTS.iter().flat_map(|list| ["-r", list])))
    },
    done: Mutex::new(None),
};
const REQUIREMENTS: &[&str] = &[
    "tests/interop/python/requirements.txt",
    "tests/interop/remote/requirements.txt",
    "tests/conformance/requirements.txt",
];

/// The Python module, installed from its wheel.
pub(crate) static PYTHON_MODULE: Step = Step {
    name: "Python module",
    tools: &[],
    needs: &[&VENV],
    inputs: &["Cargo.toml", "Cargo.lock", "rust-toolchain.toml", "core", "files", "python"],
    outputs: &[],
    work: build_wheel,
    done: Mutex::new(None),
};

/// A Python with the module and what remote clients are made of.
pub(crate) const REMOTE_PYTHON: &str = "target/venv-proxies/bin/python";

/// The environment of that Python.
pub(crate) static REMOTE_MODULE: Step = Step {
    name: "Python environment of remote clients",
    tools: &["python3"],
    needs: &[&PYTHON_MODULE],
    inputs: &["Cargo.toml", "Cargo.lock", "core", "files", "python", "tests/interop/remote/requirements.txt"],
    outputs: &[REMOTE_PYTHON],
    work: || {
        run(Command::new("python3").args(["-m", "venv", "--clear", "target/venv-proxies"]))?;
        let wheel = Path::new(WHEELS).join(only_file(WHEELS, ".whl")?);
        let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
        run(Command::new(REMOTE_PYTHON).args(install).args(["-r", "tests/interop/remote/requirements.txt"]).arg(wheel))
    },
    done: Mutex::new(None),
};

/// What builds the npm package.
static NPM_BUILDER: Step = Step {
    name: "builder of the npm package",
    tools: &[],
    needs: &[],
    inputs: &["Cargo.toml", "Cargo.lock", "rust-toolchain.toml", "core", "xtask/wasm"],
    outputs: &["target/debug/libacp-npm"],
    work: || run(cargo().args(["build", "--quiet", "-p", "libacp-npm"])),
    done: Mutex::new(None),
};

/// The npm package, packed.
pub(crate) static NPM_PACKAGE: Step = Step {
    name: "npm package",
    tools: &["node", "npm", WASM],
    needs: &[&NPM_BUILDER],
    inputs: &["Cargo.toml", "Cargo.lock", "rust-toolchain.toml", "core", "wasm", "wasm-http", "xtask/wasm"],
    outputs: &[TARBALLS],
    work: || {
        run(cargo().args(["run", "--quiet", "-p", "libacp-npm"]))?;
        fresh(TARBALLS)?;
        run(Command::new("npm").args(["pack", "./wasm", "--silent", "--pack-destination", TARBALLS]))
    },
    done: Mutex::new(None),
};

/// The JavaScript hosts beside an installed npm package.
pub(crate) static NODE_HOSTS: Step = Step {
    name: "JavaScript hosts",
    tools: &["node"],
    needs: &[&NPM_PACKAGE],
    inputs: &["examples/node"],
    outputs: &["target/node/node_modules/libacp"],
    work: || {
        copy("examples/node", NODE)?;
        let package = Path::new("..").join("npm").join(only_file(TARBALLS, ".tgz")?);
        run(npm(NODE).args(["install", "--no-save", "--no-package-lock"]).arg(package))
    },
    done: Mutex::new(None),
};

/// What the example page is made of and with.
static WEB_PACKAGES: Step = Step {
    name: "packages of the example page",
    tools: &["node", "npm"],
    needs: &[&NPM_PACKAGE],
    inputs: &["examples/web/package.json", "examples/web/package-lock.json"],
    outputs: &["target/web/node_modules/libacp"],
    work: || {
        fresh(WEB_FOLDER)?;
        for name in ["package.json", "package-lock.json", ".npmrc"] {
            fs::copy(Path::new("examples/web").join(name), Path::new(WEB_FOLDER).join(name))?;
        }
        run(npm(WEB_FOLDER).arg("ci"))?;
        let package = Path::new("..").join("npm").join(only_file(TARBALLS, ".tgz")?);
        run(npm(WEB_FOLDER).args(["install", "--no-save", "--no-package-lock"]).arg(package))
    },
    done: Mutex::new(None),
};

/// The example page as it is served, its agent and its server.
pub(crate) static WEB: Step = Step {
    name: "example page",
    tools: &["node"],
    needs: &[&WEB_PACKAGES],
    inputs: &["Cargo.toml", "Cargo.lock", "core", "examples/rust", "examples/web", "files", "tokio", "xtask/web"],
    outputs: &["target/web/site/app.js.br", "target/debug/acp-chat-agent", "target/debug/xtask-web"],
    work: || {
        run(Command::new("node").args(["examples/web/build.mjs", WEB_FOLDER]))?;
        run(cargo().args(["build", "--quiet", "-p", "libacp-examples", "-p", "xtask-web"]))
    },
    done: Mutex::new(None),
};

/// The hosts on the official TypeScript SDK.
pub(crate) static TYPESCRIPT_SDK: Step = Step {
    name: "official TypeScript SDK",
    tools: &["node", "npm"],
    needs: &[],
    inputs: &["tests/interop/typescript"],
    outputs: &["target/interop-typescript/node_modules"],
    work: || {
        copy("tests/interop/typescript", TYPESCRIPT)?;
        run(npm(TYPESCRIPT).arg("ci"))
    },
    done: Mutex::new(None),
};

/// The hosts on the official Rust SDK.
pub(crate) static RUST_SDK: Step = Step {
    name: "official Rust SDK",
    tools: &[],
    needs: &[],
    inputs: &["tests/interop/rust", "tests/interop/catalogue", "rust-toolchain.toml"],
    outputs: &[
        "target/interop-rust/debug/client",
        "target/interop-rust/debug/agent",
        "target/interop-rust/debug/steps-agent",
        "target/interop-rust/debug/steps-client",
    ],
    work: || {
        // A folder of its own: it is no member of the workspace, and builds while others hold the workspace's lock.
        let mut build = cargo();
        build.args(["build", "--quiet", "--locked", "--manifest-path", "tests/interop/rust/Cargo.toml"]);
        run(build.args(["--target-dir", "target/interop-rust"]))
    },
    done: Mutex::new(None),
};

pub(crate) fn pip() -> Command {
    let mut command = Command::new(PYTHON);
    command.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
    command
}

pub(crate) fn npm(folder: &str) -> Command {
    let mut command = Command::new("npm");
    command.current_dir(folder).args(["--silent", "--no-audit", "--no-fund"]);
    command
}

fn compile_c() -> Result<()> {
    fs::create_dir_all(C)?;
    let mut shared = Vec::new();
    for entry in fs::read_dir("examples/c")? {
        let file = entry?.path();
        let is_c = file.extension().is_some_and(|end| end == "c");
        if is_c && !["client", "agent"].iter().any(|host| file.file_stem().is_some_and(|stem| stem == *host)) {
            shared.push(file);
        }
    }
    for host in ["client", "agent"] {
        let mut cc = Command::new("cc");
        cc.args(["-std=c11", "-O2", "-Wall", "-Wextra", "-Iinclude", "-o"]).arg(format!("{C}/{host}"));
        cc.arg(format!("examples/c/{host}.c")).args(&shared);
        // What Rust's standard library takes from the system.
        run(cc.args(["target/release/libacp.a", LIBACP_FILES, "-lpthread", "-ldl", "-lm"]))?;
    }
    Ok(())
}

fn build_wheel() -> Result<()> {
    fresh(WHEELS)?;
    let mut maturin = Command::new(PYTHON);
    maturin.args(["-m", "maturin", "build", "--quiet", "--release", "--manifest-path", "python/Cargo.toml"]);
    run(maturin.args(["--interpreter", PYTHON, "--out", WHEELS]))?;
    let wheel = Path::new(WHEELS).join(only_file(WHEELS, ".whl")?);
    run(pip().args(["--force-reinstall", "--no-deps"]).arg(wheel))
}

/// Makes a folder that is empty.
pub(super) fn fresh(folder: &str) -> Result<()> {
    if Path::new(folder).exists() {
        fs::remove_dir_all(folder).with_context(|| folder.to_owned())?;
    }
    fs::create_dir_all(folder).with_context(|| folder.to_owned())
}

/// Makes a folder that has the files of another.
pub(crate) fn copy(from: &str, to: &str) -> Result<()> {
    fresh(to)?;
    for entry in fs::read_dir(from).with_context(|| from.to_owned())? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            fs::copy(entry.path(), Path::new(to).join(entry.file_name()))?;
        }
    }
    Ok(())
}

/// The name of the file with this end.
pub(super) fn only_file(folder: &str, end: &str) -> Result<String> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| folder.to_owned())? {
        names.extend(entry?.file_name().into_string().ok().filter(|name| name.ends_with(end)));
    }
    match names.as_slice() {
        [name] => Ok(name.clone()),
        _ => bail!("{folder}: expected one file *{end}, found {}", names.len()),
    }
}
