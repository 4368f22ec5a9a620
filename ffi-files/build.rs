//! Gives the shared library the name that programs look for when they start: two versions that do not fit together have
//! different ones.

use std::env::var;

fn main() {
    let part = |name: &str| var(format!("CARGO_PKG_VERSION_{name}")).unwrap_or_default();
    // Semantic versioning: below 1.0, each minor version is one of its own.
    let series = if part("MAJOR") == "0" { format!("0.{}", part("MINOR")) } else { part("MAJOR") };
    // Elsewhere the linker has another option for it, or none.
    if matches!(var("CARGO_CFG_TARGET_OS").as_deref(), Ok("linux" | "freebsd" | "netbsd" | "openbsd" | "dragonfly")) {
        println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libacp_files.so.{series}");
    }
    println!("cargo:rerun-if-changed=build.rs");
}
