//! The commands that run for agents: each has a process group of its own, which ends with its page and with the server.
//!
//! Before a signal ends the server, the server passes it on to every group. A server that is killed cannot do so; on Linux
//! the kernel then kills the commands. To ask for that, the server starts each by way of this program ([`guard`]).

use std::collections::BTreeSet;
use std::error::Error;
use std::ffi::OsString;
use std::io;
use std::process::{Child, Command};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::site::Site;

/// Commands at a time.
const MOST: usize = 16;
/// How long a command may take to end after the server was asked to.
#[cfg(unix)]
const GRACE: Duration = Duration::from_secs(2);
/// How long it may take after a signal.
const GRACE_FOR_SIGNAL: Duration = Duration::from_millis(250);
/// How long to wait before looking again.
const PAUSE: Duration = Duration::from_millis(20);

/// The running commands, by the ids of their processes, which are also the ids of their groups.
#[derive(Default)]
pub(crate) struct Commands(Mutex<State>);

#[derive(Default)]
struct State {
    running: BTreeSet<u32>,
    /// Set when the server is ending: no command is started any more.
    closed: bool,
}

impl Commands {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a command.
    pub(crate) fn start(&self, command: &mut Command) -> io::Result<Child> {
        let mut state = self.state();
        if state.closed {
            return Err(io::Error::other("the server is ending"));
        }
        if state.running.len() >= MOST {
            return Err(io::Error::other(format!("{MOST} are running already")));
        }
        let child = command.spawn()?;
        state.running.insert(child.id());
        Ok(child)
    }

    /// Asks a command to end, and kills it after a while. Its children in its group go with it.
    fn end(&self, child: &mut Child) -> io::Result<()> {
        let began = Instant::now();
        let mut asked = false;
        loop {
            // Under the lock, so that the set never holds an id that the system may have given away.
            let mut state = self.state();
            if platform::has_ended(child)? {
                platform::kill(child.id());
                child.wait()?;
                state.running.remove(&child.id());
                return Ok(());
            }
            if began.elapsed() > GRACE_FOR_SIGNAL {
                platform::kill(child.id());
                child.kill()?;
            } else if !std::mem::replace(&mut asked, true) {
                platform::terminate(child.id());
            }
            drop(state);
            thread::sleep(PAUSE);
        }
    }

    /// Waits until a process has ended by itself, or is to end; then it is ended as above.
    pub(crate) fn wait(&self, child: &mut Child, ends: &AtomicBool) -> io::Result<()> {
        while !ends.load(Ordering::Relaxed) && !platform::has_ended(child)? {
            thread::sleep(PAUSE);
        }
        self.end(child)
    }

    /// Asks all commands to end, and kills those that do not.
    #[cfg(unix)]
    fn end_all(&self) {
        self.state().closed = true;
        self.state().running.iter().copied().for_each(platform::terminate);
        let began = Instant::now();
        while !self.state().running.is_empty() && began.elapsed() < GRACE {
            thread::sleep(PAUSE);
        }
        self.state().running.iter().copied().for_each(platform::kill);
    }
}

/// How a program with its arguments is started, so that it ends with the server.
pub(crate) fn command(line: &[String]) -> io::Result<Command> {
    let (program, arguments) = line.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    platform::command(program, arguments)
}

/// Becomes the command, if that is what this program was started for. Returns only if it was not, or if that failed.
pub(crate) fn guard(arguments: impl Iterator<Item = OsString>) -> Option<Box<dyn Error>> {
    platform::guard(&arguments.skip(1).collect::<Vec<_>>())
}

/// Ends the agents and the commands, then the server, when a signal asks for that.
pub(crate) fn end_on_signals(site: &'static Site) -> io::Result<()> {
    platform::end_on_signals(site)
}

#[cfg(unix)]
mod platform {
    use std::ffi::OsString;
    use std::os::unix::process::CommandExt;

    use rustix::process::{kill_process_group, waitid, Pid, Signal, WaitId, WaitIdOptions};
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;
    use tokio::runtime::Handle;

    use super::{io, thread, Child, Command, Error, Site};

    /// The first argument of a process that is to become a command. Behind it: the server's id, the command, its arguments.
    const GUARD: &str = "--become-command";

    fn signal(group: u32, signal: Signal) {
        if let Some(group) = i32::try_from(group).ok().and_then(Pid::from_raw) {
            // It may have ended just now.
            let _ = kill_process_group(group, signal);
        }
    }

    pub(super) fn terminate(group: u32) {
        signal(group, Signal::TERM);
    }

    pub(super) fn kill(group: u32) {
        signal(group, Signal::KILL);
    }

    /// Whether it has ended, which its group's id outlives until it is waited for.
    pub(super) fn has_ended(child: &mut Child) -> io::Result<bool> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        Ok(waitid(WaitId::Pid(Pid::from_child(child)), options)?.is_some())
    }

    pub(super) fn command(program: &str, arguments: &[String]) -> io::Result<Command> {
        let mut command = if cfg!(target_os = "linux") {
            look_for(program)?;
            let mut command = Command::new(std::env::current_exe()?);
            command.args([GUARD, &std::process::id().to_string(), program]);
            command
        } else {
            Command::new(program)
        };
        command.args(arguments).process_group(0);
        Ok(command)
    }

    /// Fails for a program that the system would not find. [`guard`] reports other reasons not to start it.
    fn look_for(program: &str) -> io::Result<()> {
        let path = std::env::var_os("PATH").filter(|_| !program.contains('/')).unwrap_or_default();
        let found = std::env::split_paths(&path).any(|folder| folder.join(program).is_file());
        if found {
            return Ok(());
        }
        std::fs::metadata(program).map(drop)
    }

    pub(super) fn guard(arguments: &[OsString]) -> Option<Box<dyn Error>> {
        let [guard, server, program, arguments @ ..] = arguments else { return None };
        if guard != GUARD {
            return None;
        }
        #[cfg(target_os = "linux")]
        {
            let server = server.to_str().and_then(|id| id.parse().ok()).and_then(Pid::from_raw);
            let asked = rustix::process::set_parent_process_death_signal(Some(Signal::KILL));
            // The server may have been killed before that.
            if asked.is_err() || rustix::process::getppid() != server {
                return Some("the server has ended".into());
            }
        }
        let error = Command::new(program).args(arguments).exec();
        Some(format!("{}: {error}", program.to_string_lossy()).into())
    }

    pub(super) fn end_on_signals(site: &'static Site) -> io::Result<()> {
        let mut signals = Signals::new([SIGHUP, SIGINT, SIGTERM])?;
        let runtime = Handle::current();
        thread::spawn(move || {
            for signal in signals.forever() {
                thread::scope(|scope| {
                    scope.spawn(|| site.commands.end_all());
                    runtime.block_on(site.agent.close());
                });
                // Ends the process by the signal itself, as a shell expects.
                let _ = signal_hook::low_level::emulate_default_handler(signal);
            }
        });
        Ok(())
    }
}

#[cfg(not(unix))]
mod platform {
    use std::ffi::OsString;

    use super::{io, Child, Command, Error, Site};

    pub(super) fn terminate(_: u32) {}

    pub(super) fn kill(_: u32) {}

    pub(super) fn has_ended(child: &mut Child) -> io::Result<bool> {
        Ok(child.try_wait()?.is_some())
    }

    pub(super) fn command(program: &str, arguments: &[String]) -> io::Result<Command> {
        let mut command = Command::new(program);
        command.args(arguments);
        Ok(command)
    }

    pub(super) fn guard(_: &[OsString]) -> Option<Box<dyn Error>> {
        None
    }

    #[allow(clippy::unnecessary_wraps, reason = "as on other systems")]
    pub(super) fn end_on_signals(_: &'static Site) -> io::Result<()> {
        Ok(())
    }
}
