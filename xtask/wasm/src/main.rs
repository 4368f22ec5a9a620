//! Builds the npm package `libacp` into `wasm/dist`: `cargo run -p libacp-npm`.
//!
//! Compiles the crates `libacp-wasm` and `libacp-wasm-http`, once to be small for browsers and once to be fast for Node,
//! writes the glue, optimises them, and puts the hand-written JavaScript and the types beside them. It is a package of its own because the
//! tools for that take long to compile and no other task needs them. What it calls: cargo, npm and node.
#![forbid(unsafe_code)]

mod optimise;
mod order;
mod rules;

use std::error::Error;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use optimise::{arrange, optimise};
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
    let compiled = MODULES.iter().map(|module| compile(root, module)).collect::<Outcome<Vec<_>>>()?;
    if dist.exists() {
        fs::remove_dir_all(&dist)?;
    }
    fs::create_dir_all(&dist)?;
    for (module, path) in MODULES.iter().zip(compiled) {
        // `web` serves every entry: it takes the module from a file, from a URL or from bytes.
        let mut output = Bindgen::new()
            .input_path(path)
            .out_name(module.name)
            .web(true)
            .and_then(|bindgen| {
                bindgen.typescript(false).omit_default_module_path(false).remove_name_section(true).generate_output()
            })
            .map_err(|error| format!("{error:#}"))?;
        output.emit(&dist).map_err(|error| format!("{error:#}"))?;
        let path = dist.join(format!("{}_bg.wasm", module.name));
        optimise(&package, &path, module.passes)?;
        if module.is_downloaded {
            arrange(&package, &path)?;
        }
        fs::write(dist.join(format!("{}_inline.js", module.name)), inline(&fs::read(path)?))?;
    }
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
    /// Whether pages load it, so that it counts how well it compresses.
    is_downloaded: bool,
}

const CORE: [&str; 2] = ["libacp-wasm", "libacp_wasm.wasm"];
/// The remote transports, which most programs do without.
const HTTP: [&str; 2] = ["libacp-wasm-http", "libacp_wasm_http.wasm"];

const MODULES: [Module; 4] = [
    Module {
        name: "libacp_core",
        package: CORE,
        profile: "wasm",
        flags: "",
        features: "",
        passes: optimise::SMALL,
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
        is_downloaded: false,
    },
    Module {
        name: "libacp_http",
        package: HTTP,
        profile: "wasm",
        flags: "",
        features: "",
        passes: optimise::SMALL,
        is_downloaded: true,
    },
    Module {
        name: "libacp_http_node",
        package: HTTP,
        profile: "wasm-node",
        flags: "-Ctarget-feature=+simd128",
        features: "",
        passes: optimise::FAST,
        is_downloaded: false,
    },
];

/// Compiles the crate; the path of the module.
fn compile(root: &Path, module: &Module) -> Outcome<PathBuf> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |dir| root.join(dir));
    let target = target.join("npm-build");
    run(Command::new(cargo)
        .args(["build", "--quiet", "--package", module.package[0], "--profile", module.profile, "--target", TARGET])
        .args(["--no-default-features", "--features", module.features])
        .env("RUSTFLAGS", module.flags)
        .env("CARGO_TARGET_DIR", &target)
        .current_dir(root))?;
    Ok(target.join(TARGET).join(module.profile).join(module.package[1]))
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
