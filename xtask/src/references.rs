//! The references in HTML of the Python package, by pdoc, and of the npm package, by typedoc. The book takes them in and
//! links to them, so they are written before it is built.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;

use anyhow::{Context, Result};

use crate::setup::steps::{copy, npm, pip, PYTHON, PYTHON_MODULE};
use crate::setup::{bring_all, run, Step};

/// What the tools are, in which versions.
const TOOLS: &str = "docs/references";
const TYPEDOC: &str = "target/typedoc";
/// The modules that have names for users.
const MODULES: &[&str] =
    &["libacp", "libacp.aio", "libacp.names", "libacp.types.v1", "libacp.types.v2", "libacp.view", "libacp.views"];

/// Writes both, unless they are there already.
pub(crate) fn bring() -> Result<()> {
    bring_all([&PYTHON_REFERENCE, &JAVASCRIPT_REFERENCE])
}

static PYTHON_REFERENCE: Step = Step {
    name: "reference of the Python package",
    tools: &[],
    needs: &[&PYTHON_MODULE],
    inputs: &["docs/references"],
    outputs: &["target/references/python/index.html"],
    work: || {
        run(pip().arg("-r").arg(Path::new(TOOLS).join("requirements.txt")))?;
        let mut pdoc = Command::new(PYTHON);
        pdoc.args(["-m", "pdoc", "--no-show-source", "--output-directory", "target/references/python"]);
        run(pdoc.args(MODULES))
    },
    done: Mutex::new(None),
};

static JAVASCRIPT_REFERENCE: Step = Step {
    name: "reference of the npm package",
    tools: &["node", "npm"],
    needs: &[],
    inputs: &["docs/references", "wasm/js"],
    outputs: &["target/references/javascript/index.html"],
    work: || {
        copy(TOOLS, TYPEDOC)?;
        let types = Path::new(TYPEDOC).join("js");
        fs::create_dir_all(&types)?;
        for entry in fs::read_dir("wasm/js").context("wasm/js")? {
            let path = entry?.path();
            if path.to_string_lossy().ends_with(".d.ts") {
                fs::copy(&path, types.join(path.file_name().unwrap_or_default()))?;
            }
        }
        run(npm(TYPEDOC).arg("ci"))?;
        let mut typedoc = Command::new("node");
        run(typedoc.current_dir(TYPEDOC).args(["node_modules/typedoc/bin/typedoc", "--logLevel", "Error"]))
    },
    done: Mutex::new(None),
};
