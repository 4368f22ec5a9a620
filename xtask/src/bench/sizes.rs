//! What is not a matter of speed: bytes, allocations, crates, distributions, and how long an import takes.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use anyhow::{ensure, Context, Result};

use super::rounds::output;
use super::works::Language;
use super::{Figure, Plan};
use crate::setup::cargo;
use crate::setup::steps::PYTHON;

/// What there is, and what it is counted in.
pub(super) const ABOUT: &[(&str, &str)] = &[
    ("allocations", "allocations for one small update, from bytes to event, Rust"),
    ("view", "the view of a session of 10,000 messages of 40 bytes, KiB"),
    ("view-official", "what Python's `SessionAccumulator` holds of the same, KiB"),
    ("idle-client", "an idle client with one session, KiB"),
    ("idle-agent", "an idle agent with one session, KiB"),
    ("crates", "crates in `cargo tree -p libacp`, with libacp"),
    ("import", "Python: import of libacp, ms"),
    ("import-aio", "Python: import of libacp.aio, with asyncio, ms"),
    ("import-official", "Python: import of the official SDK, ms"),
    ("installed", "Python: libacp as installed, MB"),
    ("installed-official", "Python: the official SDK and what it requires, MB"),
    ("distributions", "Python: distributions of libacp"),
    ("distributions-official", "Python: distributions of the official SDK"),
    ("npm", "npm: a page's download with `libacp`, gzipped, KiB"),
    ("npm-official", "npm: a page's download with the official SDK, gzipped, KiB"),
];

/// Imports that are timed of each module.
const IMPORTS: usize = 11;
const KIB: f64 = 1024.0;

pub(super) fn measure(plan: &Plan) -> Result<BTreeMap<&'static str, Figure>> {
    let mut sizes = BTreeMap::new();
    if plan.wants_language(Language::Rust) {
        for name in ["allocations", "view", "idle-client", "idle-agent"] {
            let line = output(Command::new("target/release/bench-memory").arg(name))?;
            let value = line["value"].as_f64().with_context(|| format!("no value for {name}"))?;
            sizes.insert(name, Figure::exactly(if name == "allocations" { value } else { value / KIB }));
        }
        sizes.insert("crates", crates()?);
    }
    if plan.wants_language(Language::Python) {
        python(&mut sizes)?;
    }
    if plan.wants_language(Language::Node) {
        let line = output(Command::new("node").arg("target/bench/node/size.mjs"))?;
        for (name, member) in [("npm", "libacp"), ("npm-official", "official")] {
            sizes.insert(name, Figure::exactly(line[member].as_f64().context("no size of the package")? / KIB));
        }
    }
    Ok(sizes)
}

/// Crates that a program gets with libacp, and libacp.
#[allow(clippy::cast_precision_loss, reason = "small numbers")]
fn crates() -> Result<Figure> {
    let tree = cargo().args(["tree", "-p", "libacp", "--edges", "normal,build", "--prefix", "none"]).output()?;
    ensure!(tree.status.success(), "cargo tree failed: {}", String::from_utf8_lossy(&tree.stderr));
    let text = String::from_utf8(tree.stdout)?;
    let names: BTreeSet<&str> = text.lines().filter_map(|line| line.split_whitespace().next()).collect();
    Ok(Figure::exactly(names.len() as f64))
}

/// Times the import in an interpreter that has imported nothing else.
const IMPORT: &str = r#"import sys, time
begun = time.perf_counter()
__import__(sys.argv[1])
print('{"milliseconds": %f}' % ((time.perf_counter() - begun) * 1000))"#;

fn python(sizes: &mut BTreeMap<&'static str, Figure>) -> Result<()> {
    let modules = [("libacp", "import"), ("libacp.aio", "import-aio"), ("acp", "import-official")];
    let mut times = modules.map(|_| Vec::new());
    // One more, which compiles them.
    for round in 0..=IMPORTS {
        for (times, (module, _)) in times.iter_mut().zip(modules) {
            let line = output(Command::new(PYTHON).args(["-c", IMPORT, module]))?;
            let time = line["milliseconds"].as_f64().context("no time")?;
            if round > 0 {
                times.push(time);
            }
        }
    }
    for (times, (_, name)) in times.into_iter().zip(modules) {
        sizes.insert(name, Figure::of(times).context("no times")?);
    }
    let line = output(Command::new(PYTHON).arg("bench/python/accumulated.py"))?;
    sizes.insert("view-official", Figure::exactly(line["bytes"].as_f64().context("no size")? / KIB));
    let modules = [("libacp", "installed", "distributions"), ("acp", "installed-official", "distributions-official")];
    for (module, installed, distributions) in modules {
        let line = output(Command::new(PYTHON).args(["bench/python/sizes.py", module]))?;
        let number = |name: &str| line[name].as_f64().with_context(|| format!("no {name}"));
        sizes.insert(installed, Figure::exactly(number("bytes")? / 1e6));
        sizes.insert(distributions, Figure::exactly(number("distributions")?));
    }
    Ok(())
}
