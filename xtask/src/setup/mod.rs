//! What the demo and the tests need beside the workspace: environments, builds, official SDKs.
//!
//! Everything is put under `target/`. A [`Step`] is done again only when something that it depends on has changed, says
//! so in one line when it has done something, and can be asked for from several threads. Read [`steps`] next.

pub(crate) mod bench;
mod optional;
pub(crate) mod remote;
pub(crate) mod sdks;
pub(crate) mod stamp;
pub(crate) mod steps;
mod toolchain;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, Once, PoisonError};
use std::time::Instant;

use anyhow::{bail, Context, Result};

/// Where the stamps of steps that are done lie.
const STAMPS: &str = "target/setup";
/// The target of everything that runs as WebAssembly.
pub(crate) const WASM: &str = "wasm32-unknown-unknown";
/// Lines of a failed command's output that are shown.
const SHOWN: usize = 40;

/// Before the first line that tells of something done, which may take a minute to come.
static BEGUN: Once = Once::new();

/// Programs that must be on the machine, and what brings them.
const TOOLS: &[(&str, &str)] = &[
    ("cc", "apt-get install build-essential"),
    ("node", "apt-get install nodejs"),
    ("npm", "apt-get install npm"),
    ("openssl", "apt-get install openssl"),
    ("pkg-config", "apt-get install pkg-config"),
    ("python3", "apt-get install python3 python3-venv"),
    ("valgrind", "apt-get install valgrind"),
];

/// Something that is set up once.
pub(crate) struct Step {
    /// What it is, as it is said to the user; also the name of its stamp.
    pub(crate) name: &'static str,
    /// Programs that it takes, and [`WASM`].
    pub(crate) tools: &'static [&'static str],
    /// Steps before it.
    pub(crate) needs: &'static [&'static Step],
    /// Files and folders that it is made from.
    pub(crate) inputs: &'static [&'static str],
    /// Files that it makes.
    pub(crate) outputs: &'static [&'static str],
    /// How it is made.
    pub(crate) work: fn() -> Result<()>,
    /// Held while it is made; the stamp, once that is known.
    pub(crate) done: Mutex<Option<String>>,
}

impl Step {
    /// What keeps this machine from making it, if that is a program that not every machine has to have.
    pub(crate) fn not_here(&self) -> Option<String> {
        self.tools.iter().find_map(|tool| optional::lacks(tool))
    }

    /// Makes it, and what it needs, unless that is done already; its stamp.
    pub(crate) fn bring(&self) -> Result<String> {
        let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(stamp) = &*done {
            return Ok(stamp.clone());
        }
        for &tool in self.tools {
            let found = if tool == WASM { toolchain::bring() } else { require(tool).map(drop) };
            found.with_context(|| self.name.to_owned())?;
        }
        let stamps = self.needs.iter().map(|step| step.bring()).collect::<Result<Vec<_>>>()?;
        let stamp = stamp::of(self.inputs, &stamps).with_context(|| self.name.to_owned())?;
        let file = Path::new(STAMPS).join(self.name.replace(' ', "-"));
        let made = self.outputs.iter().all(|output| Path::new(output).exists());
        if !made || fs::read_to_string(&file).ok().as_deref() != Some(&stamp) {
            // A step that fails half-way is not taken for done.
            let _ = fs::remove_file(&file);
            BEGUN.call_once(|| println!("setting up under target/, which takes minutes the first time"));
            let start = Instant::now();
            (self.work)().with_context(|| self.name.to_owned())?;
            if let Some(missing) = self.outputs.iter().find(|output| !Path::new(output).exists()) {
                bail!("{}: {missing} has not been made", self.name);
            }
            fs::create_dir_all(STAMPS)?;
            fs::write(&file, &stamp).with_context(|| file.display().to_string())?;
            println!("set up: {} ({:.1} s)", self.name, start.elapsed().as_secs_f64());
        }
        *done = Some(stamp.clone());
        Ok(stamp)
    }
}

/// Brings several steps side by side; all that went wrong, not only the first.
pub(crate) fn bring_all<'s>(steps: impl IntoIterator<Item = &'s Step>) -> Result<()> {
    let failures: Vec<String> = std::thread::scope(|scope| {
        let running: Vec<_> = steps.into_iter().map(|step| scope.spawn(|| step.bring())).collect();
        let ended = running.into_iter().map(|step| match step.join() {
            Ok(Ok(_)) => None,
            Ok(Err(error)) => Some(format!("{error:#}")),
            Err(_) => Some("a step of the set-up panicked".to_owned()),
        });
        ended.flatten().collect()
    });
    if failures.is_empty() {
        return Ok(());
    }
    bail!("the set-up failed:\n{}", failures.join("\n"))
}

/// Runs a command; what it prints is shown only when it fails.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    // Where the builds go is known here: a folder of the user's choice would hide them.
    command.env_remove("CARGO_TARGET_DIR");
    let output = command.output().with_context(|| format!("{command:?}"))?;
    if output.status.success() {
        return Ok(());
    }
    let printed = [output.stdout, output.stderr].concat();
    let printed = String::from_utf8_lossy(&printed);
    let lines: Vec<&str> = printed.lines().collect();
    bail!("{command:?} ended with {}\n{}", output.status, lines[lines.len().saturating_sub(SHOWN)..].join("\n"))
}

/// The cargo that runs this.
pub(crate) fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Fails, saying what brings it, when a program is not on the machine.
pub(crate) fn require(tool: &str) -> Result<PathBuf> {
    find(tool).with_context(|| {
        let brings = TOOLS.iter().find(|(name, _)| *name == tool).map_or("the system's package manager", |tool| tool.1);
        format!("{tool} is not on this machine; what brings it: {brings}")
    })
}

/// Whether a program is on the machine.
pub(crate) fn is_there(tool: &str) -> bool {
    find(tool).is_some()
}

fn find(tool: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).map(|folder| folder.join(tool)).find(|file| file.is_file())
}

/// How many suites or pairs run side by side: one per processor, at most four. Each starts processes and compilers of its
/// own, so more of them would compete for memory and slow down tests that wait for a process.
pub(crate) fn jobs() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from).min(4)
}
