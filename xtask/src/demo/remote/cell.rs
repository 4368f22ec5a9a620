//! One cell of the remote matrix: a server is started, a client plays the script with it, and what both said is read.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{bail, Context, Result};
use serde_json::Value;

use super::hosts::{Host, Way};

/// Where what hosts print lies.
const FOLDER: &str = "target/demo/remote";
/// How long a server may take until it listens.
const STARTED: Duration = Duration::from_secs(30);
/// How long a client may take: more than all its steps together.
const PLAYED: Duration = Duration::from_secs(90);
/// How long a server may take to end.
const ENDED: Duration = Duration::from_secs(10);
/// Between two looks at whether something is done.
const PAUSE: Duration = Duration::from_millis(5);
/// Bytes of what a host printed that are shown.
const SHOWN: usize = 2000;

/// A client and a server, and the way between them.
#[derive(Clone, Copy)]
pub(super) struct Cell {
    pub(super) client: &'static Host,
    pub(super) server: &'static Host,
    pub(super) way: Way,
}

/// What came of it.
pub(super) struct Played {
    /// What was found by each step, or why there is nothing.
    pub(super) found: BTreeMap<String, Result<Value, String>>,
    /// The rules that a side has broken, as the other one told.
    pub(super) broken: BTreeSet<(&'static str, String)>,
    pub(super) ms: u128,
    /// What both printed besides.
    pub(super) said: String,
}

impl Cell {
    pub(super) fn name(&self) -> String {
        format!("{}:{}:{}", self.client.name, self.server.name, self.way.name())
    }

    /// Plays the script.
    pub(super) fn play(&self) -> Result<Played> {
        fs::create_dir_all(FOLDER)?;
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let way = self.way.name();
        let mut server = Process::start(&self.file("server"), self.server.command, &[&port.to_string(), way])?;
        server.listens(port).with_context(|| format!("the server {}", self.server.name))?;
        let start = Instant::now();
        let address = format!("{}://127.0.0.1:{port}/acp", self.way.scheme());
        let mut client = Process::start(&self.file("client"), self.client.command, &[&address, way])?;
        let in_time = client.ends_within(PLAYED)?;
        let ms = start.elapsed().as_millis();
        drop(server.child.stdin.take());
        server.ends_within(ENDED)?;

        let mut played = Played { found: BTreeMap::new(), broken: BTreeSet::new(), ms, said: String::new() };
        played.read("client", "server", &client)?;
        played.read("server", "client", &server)?;
        if !in_time {
            played.said.push_str("client: it did not end\n");
        }
        Ok(played)
    }

    fn file(&self, side: &str) -> PathBuf {
        Path::new(FOLDER).join(format!("{}.{side}", self.name().replace([':', '/'], "-")))
    }
}

impl Played {
    /// Takes what a side printed: its steps, and the rules that the other side has broken.
    fn read(&mut self, side: &str, other: &'static str, process: &Process) -> Result<()> {
        for line in fs::read_to_string(&process.out)?.lines() {
            let Ok(told) = serde_json::from_str::<Value>(line) else { continue };
            if let Some(rule) = told["violation"].as_str() {
                self.broken.insert((other, rule.to_owned()));
            } else if let Some(step) = told["step"].as_str() {
                let found = match told["cannot"].as_str() {
                    Some(why) => Err(why.to_owned()),
                    None => Ok(told["found"].clone()),
                };
                self.found.insert(step.to_owned(), found);
            }
        }
        let said = fs::read(&process.err)?;
        let said = String::from_utf8_lossy(&said[said.len().saturating_sub(SHOWN)..]);
        self.said.extend(said.lines().map(|line| format!("{side}: {line}\n")));
        Ok(())
    }
}

/// A host that runs. It is ended when it is dropped.
struct Process {
    child: Child,
    out: PathBuf,
    err: PathBuf,
}

impl Process {
    fn start(file: &Path, command: &[&str], more: &[&str]) -> Result<Self> {
        let (out, err) =
            (file.with_extension(format!("{}.out", end(file))), file.with_extension(format!("{}.err", end(file))));
        let (program, arguments) = command.split_first().context("a host without a command")?;
        let child = Command::new(program)
            .args(arguments)
            .args(more)
            .stdin(Stdio::piped())
            .stdout(File::create(&out)?)
            .stderr(File::create(&err)?)
            .spawn()
            .with_context(|| (*program).to_owned())?;
        Ok(Process { child, out, err })
    }

    /// Waits until something listens on the port.
    fn listens(&mut self, port: u16) -> Result<()> {
        let start = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            if let Some(status) = self.child.try_wait()? {
                bail!("it ended with {status}: {}", fs::read_to_string(&self.err)?);
            }
            if start.elapsed() > STARTED {
                bail!("it does not listen within {STARTED:?}");
            }
            sleep(PAUSE);
        }
        Ok(())
    }

    /// Whether it ends in time; it is killed if it does not.
    fn ends_within(&mut self, limit: Duration) -> Result<bool> {
        let start = Instant::now();
        while self.child.try_wait()?.is_none() {
            if start.elapsed() > limit {
                self.child.kill()?;
                self.child.wait()?;
                return Ok(false);
            }
            sleep(PAUSE);
        }
        Ok(true)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn end(file: &Path) -> &str {
    file.extension().and_then(|end| end.to_str()).unwrap_or_default()
}
