//! Builds the npm package `libacp` into `wasm/dist`: `cargo run -p libacp-npm`.
//!
//! Compiles the crates `libacp-wasm`, to be small for browsers, smaller for clients alone and fast for Node, and
//! `libacp-wasm-http`, to be small for browsers and fast for Node. It writes the glue, optimises them, and puts the hand-written
//! JavaScript and the types beside them. It is a package of its own because the tools for that take long to compile and no other task needs them. What it calls: cargo, npm and node.
#![forbid(unsafe_code)]

mod gather;
mod linker;
mod optimise;
mod order;
mod rules;
mod sweep;
mod traps;

use std::error::Error;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use optimise::{arrange, install, optimise};
use wasm_bindgen_cli_support::Bindgen;

type Outcome<T> = Result<T, Box<dyn Error>>;

const TARGET: &str = "wasm32-unknown-unknown";

fn main() -> ExitCode {
    match build() {
        Ok(dist) => {
            println!("built {}", dist.display());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn build() -> Outcome<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).ok_or("no workspace")?;
    let package = root.join("wasm");
    let dist = package.join("dist");
    if dist.exists() {
        fs::remove_dir_all(&dist)?;
    }
    fs::create_dir_all(&dist)?;
    install(&package)?;
    // The compiler uses one core at the end of each module, and the optimiser another one.
    std::thread::scope(|scope| {
        let finishing: Vec<_> = MODULES
            .iter()
            .map(|module| {
                let compiled = compile(root, module)?;
                let (package, dist) = (&package, &dist);
                Ok(scope.spawn(move || finish(package, dist, module, compiled).map_err(|error| error.to_string())))
            })
            .collect::<Outcome<_>>()?;
        finishing
            .into_iter()
            .try_for_each(|thread| thread.join().map_err(|_| "a module was not finished")?.map_err(Into::into))
    })
    .map_err(|error: Box<dyn Error>| error)?;
    fs::write(dist.join("rules.js"), rules::script())?;
    for entry in fs::read_dir(package.join("js"))? {
        let path = entry?.path();
        if matches!(path.extension().and_then(OsStr::to_str), Some("js" | "ts")) {
            fs::copy(&path, dist.join(path.file_name().unwrap_or_default()))?;
        }
    }
    for entry in fs::read_dir(root)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with("LICENSE-") {
            fs::copy(entry.path(), dist.join(entry.file_name()))?;
        }
    }
    Ok(dist)
}

/// One of the package's modules.
struct Module {
    name: &'static str,
    /// The crate, and its file.
    package: [&'static str; 2],
    profile: &'static str,
    /// What the compiler is told beside the profile.
    flags: &'static str,
    /// The features of the crate.
    features: &'static str,
    /// What the optimiser does.
    passes: &'static [&'static str],
    /// Whether its panics say nothing.
    traps: bool,
    /// Whether pages load it, so that it counts how well it compresses.
    is_downloaded: bool,
}

const CORE: [&str; 2] = ["libacp-wasm", "libacp_wasm.wasm"];
/// The remote transports, which most programs do without.
const HTTP: [&str; 2] = ["libacp-wasm-http", "libacp_wasm_http.wasm"];

const MODULES: [Module; 5] = [
    Module {
        name: "libacp_core",
        package: CORE,
        profile: "wasm",
        flags: "",
        features: "",
        passes: optimise::SMALL,
        traps: false,
        is_downloaded: true,
    },
    // What clients alone need.
    Module {
        name: "libacp_client",
        package: CORE,
        profile: "wasm",
        flags: "--cfg clients_only -Clink-arg=--emit-relocs -Cllvm-args=-simplifycfg-sink-common=false",
        features: "",
        passes: optimise::SMALL,
        traps: true,
        is_downloaded: true,
    },
    // Every Node that the package is for has these instructions.
    Module {
        name: "libacp_core_node",
        package: CORE,
        profile: "wasm-node",
        flags: "-Ctarget-feature=+simd128",
        features: "policy",
        passes: optimise::FAST,
        traps: false,
        is_downloaded: false,
    },
    Module {
        name: "libacp_http_node",
        package: HTTP,
        profile: "wasm-node",
        flags: "-Ctarget-feature=+simd128",
        features: "",
        passes: optimise::FAST,
        traps: false,
        is_downloaded: false,
    },
    Module {
        name: "libacp_http",
        package: HTTP,
        profile: "wasm",
        flags: "",
        features: "",
        passes: optimise::SMALL,
        traps: false,
        is_downloaded: true,
    },
];

/// Makes what the package has of a module.
fn finish(package: &Path, dist: &Path, module: &Module, mut compiled: Vec<u8>) -> Outcome<()> {
    if module.traps {
        let (trapped, trap) = traps::trapped(&compiled)?;
        let copy = dist.join(format!("{}.copy", module.name));
        compiled = sweep::swept(&trapped, trap, |bytes| {
            fs::write(&copy, bytes)?;
            optimise(package, &copy, module.passes)?;
            Ok(fs::read(&copy)?)
        })?;
        fs::remove_file(&copy)?;
    }
    // `web` serves every entry: it takes the module from a file, from a URL or from bytes.
    let mut output = Bindgen::new()
        .input_bytes(module.name, compiled)
        .out_name(module.name)
        .web(true)
        .and_then(|bindgen| {
            bindgen.typescript(false).omit_default_module_path(false).remove_name_section(true).generate_output()
        })
        .map_err(|error| format!("{error:#}"))?;
    output.emit(dist).map_err(|error| format!("{error:#}"))?;
    let path = dist.join(format!("{}_bg.wasm", module.name));
    optimise(package, &path, module.passes)?;
    if module.is_downloaded {
        arrange(package, &path)?;
    }
    Ok(fs::write(dist.join(format!("{}_inline.js", module.name)), inline(&fs::read(path)?))?)
}

/// Compiles the crate; the module, as the next one may be written to the same place.
fn compile(root: &Path, module: &Module) -> Outcome<Vec<u8>> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |dir| root.join(dir));
    let target = target.join("npm-build");
    run(Command::new(cargo)
        .args(["build", "--quiet", "--package", module.package[0], "--profile", module.profile, "--target", TARGET])
        .args(["--no-default-features", "--features", module.features])
        .env("RUSTFLAGS", module.flags)
        // Traps are put where names say so; they go later, as does what the linker says of addresses.
        .env("CARGO_PROFILE_WASM_STRIP", if module.traps { "debuginfo" } else { "symbols" })
        .env("CARGO_TARGET_DIR", &target)
        .current_dir(root))?;
    Ok(fs::read(target.join(TARGET).join(module.profile).join(module.package[1]))?)
}

/// The module as JavaScript, for what is bundled into one file.
fn inline(module: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::from("// The WebAssembly module in Base64.\nexport default \"");
    for piece in module.chunks(3) {
        let bits = piece.iter().fold(0, |bits, byte| (bits << 8) | u32::from(*byte)) << (8 * (3 - piece.len()));
        for digit in 0..4 {
            let value = (bits >> (18 - 6 * digit)) & 63;
            text.push(if digit > piece.len() { '=' } else { char::from(DIGITS[value as usize]) });
        }
    }
    text + "\";\n"
}

fn run(command: &mut Command) -> Outcome<()> {
    let name = command.get_program().to_string_lossy().into_owned();
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{name} ended with {status}: {command:?}").into()),
        Err(error) => Err(format!("{name} cannot be started ({error}); it must be installed").into()),
    }
}
