//! `cargo xtask install`: lays out the C libraries, their headers, their pkg-config files and their `CMake` package under a
//! prefix, the same tree as `cargo cinstall` of cargo-c makes, without cargo-c.
//!
//! What goes where is read from `package.metadata.capi` in `ffi/Cargo.toml` and `ffi-files/Cargo.toml`, which is cargo-c's
//! own section.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{bail, ensure, Context, Result};
use serde_json::Value;

use crate::commands::Options;
use crate::setup::{cargo, steps};

pub(crate) const USAGE: &str = "--prefix DIR [--libdir DIR] [--destdir DIR]";
pub(crate) const OPTIONS: Options = &[
    ("--prefix DIR", "where programs find it later, as in /usr/local"),
    ("--libdir DIR", "where libraries go, below the prefix; lib without it"),
    ("--destdir DIR", "put in front of everything, for those who pack what was installed"),
];

/// Where things go.
struct Places {
    /// As programs see it later.
    prefix: PathBuf,
    /// Below the prefix.
    libdir: PathBuf,
    /// In front of everything, for those who pack what was installed.
    destdir: Option<PathBuf>,
}

/// The packages with a C library.
const PACKAGES: &[&str] = &["libacp-ffi", "libacp-ffi-files"];

/// What cargo knows of a package.
struct Package {
    version: String,
    /// The library: `acp` of `libacp.a`.
    library: String,
    folder: PathBuf,
    /// `package.metadata.capi`.
    capi: Value,
}

/// Builds the libraries, then installs them.
pub(crate) fn run(args: &[String]) -> Result<()> {
    // Other systems name shared libraries otherwise.
    ensure!(cfg!(target_os = "linux"), "this lays out libraries as Linux wants them; use `cargo cinstall` here");
    let places = Places::parse(args)?;
    steps::C_LIBRARY.bring()?;
    for name in PACKAGES {
        Package::read(name)?.install(&places)?;
    }
    Ok(())
}

impl Places {
    fn parse(args: &[String]) -> Result<Self> {
        let (mut prefix, mut libdir, mut destdir) = (None, PathBuf::from("lib"), None);
        for pair in args.chunks(2) {
            match pair {
                [option, value] if option == "--prefix" => prefix = Some(PathBuf::from(value)),
                [option, value] if option == "--libdir" => libdir = PathBuf::from(value),
                [option, value] if option == "--destdir" => destdir = Some(PathBuf::from(value)),
                _ => bail!("{}: unknown, or without a value; expected {USAGE}", pair[0]),
            }
        }
        let prefix = prefix.with_context(|| format!("expected {USAGE}"))?;
        // The pkg-config file names it, and is read from elsewhere.
        ensure!(prefix.is_absolute(), "--prefix {}: expected an absolute path", prefix.display());
        ensure!(libdir.is_relative(), "--libdir {}: expected a path below the prefix", libdir.display());
        Ok(Places { prefix, libdir, destdir })
    }

    /// A folder below the prefix, made.
    fn folder(&self, below: &Path) -> Result<PathBuf> {
        let prefix = match &self.destdir {
            Some(destdir) => destdir.join(self.prefix.strip_prefix("/").unwrap_or(&self.prefix)),
            None => self.prefix.clone(),
        };
        let folder = prefix.join(below);
        fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
        Ok(folder)
    }
}

impl Package {
    fn read(name: &str) -> Result<Self> {
        let output = cargo().args(["metadata", "--no-deps", "--format-version", "1"]).output()?;
        let all: Value = serde_json::from_slice(&output.stdout).context("cargo metadata")?;
        let packages = all["packages"].as_array().context("cargo metadata has no packages")?;
        let package = packages.iter().find(|package| package["name"] == name).with_context(|| format!("no {name}"))?;
        let text =
            |value: &Value, of: &str| value.as_str().map(str::to_owned).with_context(|| format!("{name} has no {of}"));
        let manifest = PathBuf::from(text(&package["manifest_path"], "manifest_path")?);
        let targets = package["targets"].as_array().into_iter().flatten();
        let library = targets.into_iter().find(|target| target["kind"][0] == "staticlib").context("no library")?;
        Ok(Package {
            version: text(&package["version"], "version")?,
            library: text(&library["name"], "library")?,
            folder: manifest.parent().context("a manifest without a folder")?.to_owned(),
            capi: package["metadata"]["capi"].clone(),
        })
    }

    fn install(&self, places: &Places) -> Result<()> {
        let (name, lib, built) = (&self.library, places.folder(&places.libdir)?, Path::new("target/release"));
        let archive = if name == "acp" { built.join("libacp.a") } else { steps::LIBACP_FILES.into() };
        put(&archive, &lib.join(format!("lib{name}.a")))?;
        let full = format!("lib{name}.so.{}", self.version);
        put(&built.join(format!("lib{name}.so")), &lib.join(&full))?;
        for link in [format!("lib{name}.so.{}", self.series()), format!("lib{name}.so")] {
            let link = lib.join(link);
            let _ = fs::remove_file(&link);
            symlink(&full, &link).with_context(|| link.display().to_string())?;
        }
        let pc = places.folder(&places.libdir.join("pkgconfig"))?.join(format!("{}.pc", self.pkg_config_name()));
        fs::write(&pc, self.pkg_config(places)?).with_context(|| pc.display().to_string())?;
        for (kind, folder) in [("include", "include"), ("data", "share")] {
            for (from, to) in self.assets(kind)? {
                let to = places.folder(&Path::new(folder).join(to))?;
                put(&from, &to.join(from.file_name().unwrap_or_default()))?;
            }
        }
        println!("installed lib{name} {} in {}", self.version, places.prefix.display());
        Ok(())
    }

    /// What pkg-config calls it.
    fn pkg_config_name(&self) -> &str {
        self.capi["pkg_config"]["name"].as_str().unwrap_or(&self.library)
    }

    /// Versions of one series replace one another: below 1.0 a minor version is one, as in `ffi/build.rs`.
    fn series(&self) -> String {
        let parts: Vec<&str> = self.version.split('.').collect();
        if parts[0] == "0" {
            parts[..2].join(".")
        } else {
            parts[0].to_owned()
        }
    }

    fn pkg_config(&self, places: &Places) -> Result<String> {
        let description = self.capi["pkg_config"]["description"].as_str().context("no description for pkg-config")?;
        Ok(format!(
            "prefix={}\nexec_prefix=${{prefix}}\nlibdir=${{prefix}}/{}\nincludedir=${{prefix}}/include\n\n\
             Name: {}\nDescription: {description}\nVersion: {}\nLibs: -L${{libdir}} -l{}\n\
             Cflags: -I${{includedir}}\nLibs.private: {}\n",
            places.prefix.display(),
            places.libdir.display(),
            self.pkg_config_name(),
            self.version,
            self.library,
            system_libraries()?
        ))
    }

    /// The files that a list of assets names, each with the folder it goes to.
    fn assets(&self, kind: &str) -> Result<Vec<(PathBuf, PathBuf)>> {
        let assets = &self.capi["install"][kind]["asset"];
        let mut files = Vec::new();
        for asset in assets.as_array().into_iter().flatten() {
            let part = |name: &str| asset[name].as_str().with_context(|| format!("{kind}: an asset without {name}"));
            let pattern = self.folder.join(part("from")?);
            let name = pattern.file_name().and_then(|name| name.to_str()).context("an asset without a name")?;
            let folder = pattern.parent().context("an asset without a folder")?;
            let before = files.len();
            for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
                let path = entry?.path();
                if path.file_name().and_then(|file| file.to_str()).is_some_and(|file| fits(name, file)) {
                    files.push((path, part("to")?.into()));
                }
            }
            ensure!(files.len() > before, "{}: no such file", pattern.display());
        }
        Ok(files)
    }
}

/// Whether a name fits a pattern in which `*` stands for anything.
fn fits(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((start, rest)) => name.strip_prefix(start).is_some_and(|name| {
            name.char_indices().map(|(at, _)| at).chain([name.len()]).any(|at| fits(rest, &name[at..]))
        }),
    }
}

/// What a program that links the static library takes from the system: the same for every crate that adds nothing to
/// what Rust's standard library needs.
fn system_libraries() -> Result<String> {
    const PROBE: &str = "target/setup/probe.a";
    fs::create_dir_all("target/setup")?;
    let mut rustc = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    rustc.args(["--crate-type=staticlib", "--crate-name=probe", "--print=native-static-libs", "-o", PROBE, "-"]);
    let output = rustc.stdin(std::process::Stdio::null()).output().context("rustc")?;
    let _ = fs::remove_file(PROBE);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let list = said.lines().find_map(|line| line.split_once("native-static-libs: "));
    let list = list.with_context(|| format!("rustc names no libraries: {said}"))?.1;
    // Compilers add what unwinds by themselves, and know which form of it a static program takes: this one has no static form.
    Ok(list.split_whitespace().filter(|&library| library != "-lgcc_s").collect::<Vec<_>>().join(" "))
}

#[cfg(unix)]
fn symlink(name: &str, link: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(name, link)
}

/// Nothing is laid out here, but everything else compiles.
#[cfg(not(unix))]
fn symlink(_: &str, _: &Path) -> std::io::Result<()> {
    Err(std::io::ErrorKind::Unsupported.into())
}

/// Copies a file.
fn put(from: &Path, to: &Path) -> Result<()> {
    // A library that programs run with is replaced, not written into.
    let _ = fs::remove_file(to);
    fs::copy(from, to).with_context(|| format!("{} to {}", from.display(), to.display()))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_anything() {
        for (pattern, name, fit) in [
            ("acp*.h*", "acp.h", true),
            ("acp*.h*", "acp_json.hpp", true),
            ("acp*.h*", "other.h", false),
            ("acp*.h*", "acp.c", false),
            ("*.cmake", "acp-config.cmake", true),
            ("acp.h", "acp.hpp", false),
        ] {
            assert_eq!(fits(pattern, name), fit, "{pattern} {name}");
        }
    }

    #[test]
    fn options_are_checked() {
        let parse = |args: &[&str]| Places::parse(&args.iter().map(|&arg| arg.to_owned()).collect::<Vec<_>>());
        assert!(parse(&["--prefix", "/usr", "--libdir", "lib64"]).is_ok());
        for wrong in [&[][..], &["--prefix"], &["--prefix", "here"], &["--prefix", "/a", "--libdir", "/b"], &["x", "y"]]
        {
            assert!(parse(wrong).is_err(), "{wrong:?}");
        }
    }
}
