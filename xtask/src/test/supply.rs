//! What libacp is made of beside its own code: licences, sources, build scripts, doubles; and where its own is `unsafe`.
//!
//! What is allowed stands in the tables below and in `SECURITY.md`: what is not in them is looked at by a person first.
//! Known holes are not looked up: the list of them is not in the registry, where all else comes from.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use anyhow::{bail, ensure, Context, Result};
use serde_json::Value;

use super::Log;
use crate::codegen::MARK;
use crate::setup::{cargo, stamp};

const PAGE: &str = "SECURITY.md";
/// A package of the core's sources and of the oldest versions.
const OLDEST: &str = "target/oldest";
/// Where all crates come from.
const SOURCE: &str = "registry+https://github.com/rust-lang/crates.io-index";
/// Licences, as the crates' manifests have them.
const LICENCES: &[&str] = &[
    "(MIT OR Apache-2.0) AND Unicode-3.0",
    "Apache-2.0",
    "Apache-2.0 AND ISC",
    "Apache-2.0 OR ISC OR MIT",
    "Apache-2.0 OR MIT",
    "Apache-2.0 WITH LLVM-exception",
    "Apache-2.0/MIT",
    "Apache-2.0 WITH LLVM-exception OR Apache-2.0 OR MIT",
    "BSD-2-Clause OR Apache-2.0 OR MIT",
    "BSD-3-Clause",
    "ISC",
    "MIT",
    "MIT OR Apache-2.0",
    "MIT OR Apache-2.0 OR LGPL-2.1-or-later",
    "MIT/Apache-2.0",
    "Unlicense OR MIT",
    "Zlib",
    "Zlib OR Apache-2.0 OR MIT",
];
/// The same for programs that only run here, and of which nothing is in what users get.
const TOOLS: &[(&str, &str)] = &[
    ("cbindgen", "MPL-2.0"),
    ("ego-tree", "ISC"),
    ("elasticlunr-rs", "(MIT OR Apache-2.0) AND MIT"),
    ("fnv", "Apache-2.0 / MIT"),
    ("font-awesome-as-a-crate", "CC-BY-4.0 AND MIT"),
    ("matchit", "MIT AND BSD-3-Clause"),
    ("mdbook-core", "MPL-2.0"),
    ("mdbook-driver", "MPL-2.0"),
    ("mdbook-html", "MPL-2.0"),
    ("mdbook-markdown", "MPL-2.0"),
    ("mdbook-preprocessor", "MPL-2.0"),
    ("mdbook-renderer", "MPL-2.0"),
    ("mdbook-summary", "MPL-2.0"),
];
/// The crates that users get. None of them takes another crate in two versions.
const SHIPPED: &[&str] = &[
    "libacp",
    "libacp-ffi",
    "libacp-ffi-files",
    "libacp-files",
    "libacp-python",
    "libacp-tokio",
    "libacp-wasm",
    "libacp-wasm-http",
];
/// Everything that the core depends on, those included that only the compiler runs.
const CORE: &[&str] = &[
    "itoa",
    "libacp",
    "memchr",
    "proc-macro2",
    "quote",
    "serde",
    "serde_core",
    "serde_derive",
    "serde_json",
    "simdutf8",
    "syn",
    "thiserror",
    "thiserror-impl",
    "unicode-ident",
    "zmij",
];
/// What its feature `futures` adds: that crate, and what it is made of.
const FUTURES: &[&str] = &[
    "futures",
    "futures-channel",
    "futures-core",
    "futures-io",
    "futures-sink",
    "futures-task",
    "futures-util",
    "pin-project-lite",
    "slab",
];
/// Everything that the files for agents depend on, in Linux. Nothing of it is in the core, or in what depends on that alone.
const FILES: &[&str] = &[
    "ambient-authority",
    "bitflags",
    "cap-fs-ext",
    "cap-primitives",
    "cap-std",
    "fs-set-times",
    "io-extras",
    "io-lifetimes",
    "ipnet",
    "libacp-files",
    "linux-raw-sys",
    "maybe-owned",
    "memchr",
    "once_cell",
    "proc-macro2",
    "quote",
    "rustix",
    "rustix-linux-procfs",
    "syn",
    "thiserror",
    "thiserror-impl",
    "unicode-ident",
];
/// Those of the core that have a build script: it asks the compiler what it can.
const BUILD_SCRIPTS: &[&str] = &["proc-macro2", "quote", "serde", "serde_core", "serde_json", "thiserror", "zmij"];

pub(super) fn run(log: &Log<'_>) -> Result<()> {
    let metadata = cargo().args(["metadata", "--format-version", "1", "--locked"]).output()?;
    ensure!(metadata.status.success(), "{}", String::from_utf8_lossy(&metadata.stderr));
    let metadata: Value = serde_json::from_slice(&metadata.stdout).context("what cargo metadata prints")?;
    let packages = metadata["packages"].as_array().context("cargo metadata prints no packages")?;
    let foreign: Vec<&Value> = packages.iter().filter(|package| !package["source"].is_null()).collect();
    ensure!(foreign.len() >= CORE.len(), "cargo metadata prints {} packages", foreign.len());
    licences(&foreign)?;
    log.passed("licences and sources")?;
    dependencies()?;
    log.passed("dependencies")?;
    build_scripts(packages)?;
    log.passed("build scripts")?;
    unsafe_code()?;
    log.passed("unsafe code")?;
    links()?;
    log.passed("links")?;
    oldest(log, packages)?;
    log.passed("the oldest dependencies")?;
    log.note("advisories are not looked up, as their list is not in the registry; `cargo audit` fetches it")
}

fn licences(foreign: &[&Value]) -> Result<()> {
    for package in foreign {
        let (name, licence) = (text(package, "name"), text(package, "license"));
        ensure!(package["source"] == SOURCE, "{name} comes from {}", package["source"]);
        let known = LICENCES.contains(&licence) || TOOLS.contains(&(name, licence));
        ensure!(known, "{name}: the licence {licence:?} is not on the list in {}", file!());
    }
    Ok(())
}

fn dependencies() -> Result<()> {
    for shipped in SHIPPED {
        let crates = tree(shipped, "")?;
        let bound = match *shipped {
            "libacp" => CORE,
            "libacp-files" => FILES,
            _ => continue,
        };
        ensure!(crates == bound, "{shipped} depends on {crates:?}, which is not the list in {}", file!());
    }
    let mut crates = tree("libacp", "futures")?;
    crates.retain(|name| !CORE.contains(&name.as_str()));
    ensure!(crates == FUTURES, "the core's futures depend on {crates:?}, which is not the list in {}", file!());
    let page = fs::read_to_string(PAGE).context(PAGE)?;
    // Each list has its own crate as well.
    let core = format!("the {} crates that the core depends", CORE.len() - 1);
    let files = format!("the {} of the files for agents", FILES.len() - 1);
    ensure!(page.contains(&core) && page.contains(&files), "{PAGE} does not say {core:?} and {files:?}");
    Ok(())
}

/// Everything that a crate depends on with these features, by name; nothing in two versions.
fn tree(shipped: &str, features: &str) -> Result<Vec<String>> {
    let tree = ["tree", "--locked", "-p", shipped, "--edges", "normal", "--prefix", "none", "--features", features];
    let tree = cargo().args(tree).output()?;
    let tree = String::from_utf8_lossy(&tree.stdout).into_owned();
    // `NAME vVERSION`, with where it is or that it stood before behind it.
    let crates: BTreeSet<(&str, &str)> = tree.lines().filter_map(|line| words(line)).collect();
    let names: Vec<String> = crates.iter().map(|(name, _)| (*name).to_owned()).collect();
    ensure!(names.iter().any(|name| name == shipped), "cargo tree prints no dependencies of {shipped}");
    if let Some([name, ..]) = names.windows(2).find(|pair| pair[0] == pair[1]) {
        bail!("{shipped} depends on two versions of {name}");
    }
    Ok(names)
}

fn words(line: &str) -> Option<(&str, &str)> {
    let mut words = line.split_whitespace();
    Some((words.next()?, words.next()?))
}

fn build_scripts(packages: &[Value]) -> Result<()> {
    let has_one = |package: &&Value| {
        let targets = package["targets"].as_array().into_iter().flatten();
        targets.into_iter().any(|target| target["kind"][0] == "custom-build")
    };
    let mut scripts: Vec<&str> = packages.iter().filter(has_one).map(|package| text(package, "name")).collect();
    scripts.retain(|name| CORE.contains(name));
    scripts.sort_unstable();
    scripts.dedup();
    ensure!(scripts == BUILD_SCRIPTS, "{scripts:?} have build scripts, which is not the list in {}", file!());
    Ok(())
}

/// The core compiles with the oldest version of each dependency that its manifest takes, as it may have to in a program
/// with a lock file of its own.
fn oldest(log: &Log<'_>, packages: &[Value]) -> Result<()> {
    let core = packages.iter().find(|package| text(package, "name") == "libacp").context("no package libacp")?;
    let mut manifest = format!(
        "[package]\nname = \"libacp\"\nversion = {}\nedition = {}\n\n[workspace]\n\n\
         [lib]\npath = \"../../core/src/lib.rs\"\n\n[features]\n",
        core["version"], core["edition"],
    );
    for (name, parts) in core["features"].as_object().into_iter().flatten() {
        writeln!(manifest, "{name} = {parts}")?;
    }
    manifest += "\n[dependencies]\n";
    let dependencies = core["dependencies"].as_array().into_iter().flatten();
    for dependency in dependencies.filter(|dependency| dependency["kind"].is_null()) {
        let (name, version, features) =
            (text(dependency, "name"), least(text(dependency, "req")), &dependency["features"]);
        let (defaults, optional) = (&dependency["uses_default_features"], &dependency["optional"]);
        writeln!(
            manifest,
            "{name} = {{ version = \"={version}\", features = {features}, default-features = {defaults}, \
             optional = {optional} }}"
        )?;
    }
    let file = Path::new(OLDEST).join("Cargo.toml");
    fs::create_dir_all(OLDEST)?;
    fs::write(&file, manifest)?;
    log.run(cargo().args(["check", "--quiet", "--all-features", "--manifest-path"]).arg(file))
}

/// The oldest version that a requirement like `^1.2` takes.
fn least(requirement: &str) -> String {
    let given = requirement.trim_start_matches('^');
    format!("{given}{}", ".0".repeat(2 - given.matches('.').count().min(2)))
}

/// The table in `SECURITY.md` has all files with unsafe code, and no others.
fn unsafe_code() -> Result<()> {
    let mut found = Vec::new();
    stamp::each_file(Path::new("."), &mut |path| {
        if path.extension().is_some_and(|ending| ending == "rs") {
            let source = fs::read_to_string(path)?;
            let count = unsafe_places(&source);
            if count > 0 {
                let path = path.strip_prefix(".").unwrap_or(path).display();
                let said = unsafe_in_generated(&source).unwrap_or_else(|| count.to_string());
                found.push(format!("| `{path}` | {said} |"));
            }
        }
        Ok(())
    })?;
    let page = fs::read_to_string(PAGE).context(PAGE)?;
    let listed: Vec<&str> = page.lines().filter(|line| line.starts_with("| `") && line.contains(".rs` |")).collect();
    ensure!(found == listed, "{PAGE} does not say where unsafe code is; that is\n{}", found.join("\n"));
    Ok(())
}

/// How often code says that it is unsafe: blocks, functions, implementations. The formatter puts each on one line.
fn unsafe_places(source: &str) -> usize {
    const WORD: &str = "unsafe ";
    let begins = |rest: &str| ["{", "fn ", "impl", "extern ", "trait "].iter().any(|what| rest.starts_with(what));
    let code = source.lines().filter_map(|line| line.split("//").next());
    code.flat_map(|line| line.match_indices(WORD).filter(move |(at, _)| begins(&line[at + WORD.len()..]))).count()
}

/// What is said of a generated file: it gets a function more with each line of what it is made from, and all of its functions
/// are unsafe in the same two places. Nothing, where it is none, or has another form.
fn unsafe_in_generated(source: &str) -> Option<String> {
    let generated = source.lines().next().is_some_and(|line| line.ends_with(MARK));
    let functions = source.lines().filter(|line| *line == "#[no_mangle]").count();
    (generated && unsafe_places(source) == 2 * functions).then(|| "2 in each function, generated".to_owned())
}

/// The pages outside of the book, whose links it checks itself, name files that are there.
fn links() -> Result<()> {
    stamp::each_file(Path::new("."), &mut |path| {
        if path.extension().is_none_or(|ending| ending != "md") || path.starts_with("./docs/src") {
            return Ok(());
        }
        let page = fs::read_to_string(path)?;
        let targets = page.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next());
        for target in targets.filter(|it| !it.is_empty() && !it.contains([' ', ':'])) {
            let file = path.with_file_name(target);
            ensure!(file.exists(), "{} links to {target}, which is not there", path.display());
        }
        Ok(())
    })
}

fn text<'v>(package: &'v Value, member: &str) -> &'v str {
    package[member].as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_requirement_has_an_oldest_version() {
        assert_eq!(["^1.0.200", "^2.7", "^2"].map(least), ["1.0.200", "2.7.0", "2.0.0"]);
    }

    #[test]
    fn unsafe_code_is_counted_and_talk_of_it_is_not() {
        let source = "// unsafe { x }\nlet a = unsafe { unsafe { b } };\npub unsafe extern \"C\" fn c() {}\nunsafe impl<T> D {}\n\
                      #![forbid(unsafe_code)]\nlet e = \"unsafe code\"; // unsafe fn\n";
        assert_eq!(unsafe_places(source), 4);
    }

    #[test]
    fn generated_functions_are_unsafe_in_two_places() {
        let function = "#[no_mangle]\npub unsafe extern \"C\" fn a() {\n    unsafe { b() }\n}\n";
        let generated = format!("// {MARK}\n{function}{function}");
        assert_eq!(unsafe_in_generated(&generated).as_deref(), Some("2 in each function, generated"));
        assert_eq!(unsafe_in_generated(&format!("{generated}unsafe {{ c() }}\n")), None);
        assert_eq!(unsafe_in_generated(function), None);
    }
}
