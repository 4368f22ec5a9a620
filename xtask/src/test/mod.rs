//! `cargo xtask test`: sets up what it needs, then runs everything, and ends with `N passed, N failed`.
//!
//! A suite is a row of [`suites::SUITES`]: a name and what to run. As many run at a time as there are processors, up to
//! four, and those of [`suites::ALONE`] after them; each writes its log to `target/test-logs/NAME.log` and is judged by
//! its exit status and by the counts in that log. Read [`suites`] next, then [`count`] and [`replayed`].

mod asynchronous;
mod book;
mod count;
mod msrv;
mod packed;
mod readme;
mod replayed;
mod suites;
mod supply;

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use anyhow::{bail, Context, Result};

use count::Count;
use replayed::Replayed;
use suites::Suite;

const LOGS: &str = "target/test-logs";
/// Lines of a failed suite's log that are shown.
const TAIL: usize = 60;
/// How long one command of a suite may take. One that stands still would otherwise keep everybody from the other results.
const LIMIT: Duration = Duration::from_mins(25);

/// Runs the suites that are named, or all.
pub(crate) fn run(args: &[String]) -> Result<()> {
    let names: Vec<&str> = args.iter().map(String::as_str).collect();
    if names == ["--list"] {
        for suite in suites::all() {
            println!("{:<12} {}", suite.name, suite.about);
        }
        return Ok(());
    }
    for name in &names {
        if !suites::all().any(|suite| suite.name == *name) {
            bail!("no suite {name}; `cargo xtask test --list` names them");
        }
    }
    let is_chosen = |suite: &&Suite| names.is_empty() || names.contains(&suite.name);
    let chosen_names: Vec<&str> = suites::all().filter(is_chosen).map(|suite| suite.name).collect();
    suites::set_up()?;
    std::fs::create_dir_all(LOGS).context(LOGS)?;
    let total = Mutex::new((Count::default(), Replayed::default()));
    for (suites, jobs) in [(suites::SUITES, crate::setup::jobs()), (suites::ALONE, 1)] {
        let queue: Mutex<VecDeque<&Suite>> = Mutex::new(suites.iter().filter(is_chosen).collect());
        std::thread::scope(|scope| {
            for _ in 0..jobs {
                scope.spawn(|| loop {
                    let next = queue.lock().ok().and_then(|mut queue| queue.pop_front());
                    let Some(suite) = next else { return };
                    let (count, log) = run_suite(suite);
                    if let Ok(mut total) = total.lock() {
                        total.0 = total.0 + count;
                        total.1.add(suite.name, &log);
                    }
                });
            }
        });
    }
    let (mut total, replayed) = total.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some((line, agree)) = replayed.summary(&chosen_names) {
        println!("{line}{}", if agree { "" } else { ": FAILED, the counts differ" });
        total.failed += u64::from(!agree);
    }
    println!("{} passed, {} failed", total.passed, total.failed);
    if total.failed > 0 {
        std::process::exit(1);
    }
    Ok(())
}

/// Runs one suite and says how it went, and with which log; a suite that ends badly without counting a failure counts as
/// one.
fn run_suite(suite: &Suite) -> (Count, String) {
    let started = Instant::now();
    let log = PathBuf::from(LOGS).join(format!("{}.log", suite.name));
    let outcome =
        std::fs::File::create(&log).map_err(Into::into).and_then(|file| (suite.run)(&Log { file, path: &log }));
    let text = std::fs::read_to_string(&log).unwrap_or_default();
    let mut count = count::read(&text);
    let problem = match &outcome {
        Err(error) => Some(format!("{error:#}")),
        Ok(()) if count.failed > 0 => Some("it counted failures".to_owned()),
        Ok(()) if count.passed == 0 => Some("it ran no test".to_owned()),
        Ok(()) => None,
    };
    if problem.is_some() && count.failed == 0 {
        count.failed = 1;
    }
    let seconds = started.elapsed().as_secs_f64();
    let head = format!("{:<12} {:>6} passed {:>4} failed {seconds:>7.1} s", suite.name, count.passed, count.failed);
    let mut report = vec![head];
    report.extend(count::notes(&text).map(str::to_owned));
    if let Some(problem) = problem {
        report.extend(count::panics(&text).take(TAIL).map(str::to_owned));
        let lines: Vec<&str> = text.lines().collect();
        report.extend(lines[lines.len().saturating_sub(TAIL)..].iter().map(|&line| line.to_owned()));
        report.push(format!("{}: {problem} (whole log: {})", suite.name, log.display()));
    }
    // One call, so that suites that end together do not mix.
    println!("{}", report.join("\n    "));
    (count, text)
}

/// Where a suite writes.
pub(crate) struct Log<'a> {
    file: std::fs::File,
    path: &'a Path,
}

impl Log<'_> {
    /// Runs a command with its output in the log; an exit status other than 0 is an error, and so is to take too long.
    pub(crate) fn run(&self, command: &mut std::process::Command) -> Result<()> {
        self.line(&format!("$ {command:?}"))?;
        let name = command.get_program().to_string_lossy().into_owned();
        let mut process = command
            .stdin(std::process::Stdio::null())
            .stdout(self.file.try_clone()?)
            .stderr(self.file.try_clone()?)
            .spawn()
            .with_context(|| format!("cannot run {name}"))?;
        let begun = Instant::now();
        let status = loop {
            if let Some(status) = process.try_wait()? {
                break status;
            }
            if begun.elapsed() > LIMIT {
                process.kill()?;
                process.wait()?;
                bail!("{name} was ended, as it took more than {} minutes", LIMIT.as_secs() / 60);
            }
            std::thread::sleep(Duration::from_millis(50));
        };
        if !status.success() {
            bail!("{name} ended with {status}");
        }
        Ok(())
    }

    /// Counts one check of the suite's own.
    pub(crate) fn passed(&self, what: &str) -> Result<()> {
        self.line(&format!("{what}: 1 passed, 0 failed"))
    }

    /// Says something that is shown below the suite's counts.
    pub(crate) fn note(&self, what: &str) -> Result<()> {
        self.line(&format!("note: {what}"))
    }

    fn line(&self, line: &str) -> Result<()> {
        use std::io::Write;
        let mut file = &self.file;
        writeln!(file, "{line}").with_context(|| self.path.display().to_string())
    }
}
