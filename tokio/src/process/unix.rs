//! Processes and process groups.
//!
//! A process id identifies a process only until the process is reaped; then another process may get it. So a process
//! that has ended is reaped only once nothing can signal it any more, and each signal first checks that it has not been
//! reaped. The id of its group stays reserved as long.

use std::future::pending;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{kill_process, kill_process_group, waitid, Pid, Signal, WaitId, WaitIdOptions};

use tokio::signal::unix::{signal, SignalKind};
use tokio::time::timeout;

use super::{Exit, Help, Orphaned, Pipes};
use crate::warden::{self, Lease};

/// How often to check whether a process has ended if no SIGCHLD is received.
const LOOK: Duration = Duration::from_millis(200);

pub(crate) struct Process {
    /// `None` once it has been reaped. Locked from the check that it exists until it was signalled.
    child: Mutex<Option<(Child, Lease)>>,
    pid: Pid,
    group: bool,
}

impl Process {
    /// Starts a command. With `group`, it gets a process group of its own, which is ended with it.
    pub(crate) fn start(command: &mut Command, group: bool, orphaned: Orphaned) -> io::Result<(Process, Pipes)> {
        if group {
            command.process_group(0);
        }
        warden::prepare();
        let mut child = command.spawn()?;
        let pid = Pid::from_child(&child);
        let lease = warden::watch(pid.as_raw_pid(), group, orphaned);
        let pipes = Pipes { stdin: child.stdin.take(), stdout: child.stdout.take(), stderr: child.stderr.take() };
        let process = Process { child: Mutex::new(Some((child, lease))), pid, group };
        Ok((process, pipes))
    }

    pub(crate) fn id(&self) -> u32 {
        self.pid.as_raw_pid().unsigned_abs()
    }

    fn child(&self) -> MutexGuard<'_, Option<(Child, Lease)>> {
        self.child.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How it ended, if it has. Does not reap it.
    pub(crate) fn exit(&self) -> Option<Exit> {
        let child = self.child();
        if child.is_none() {
            return Some(Exit::Unknown);
        }
        self.peek(WaitIdOptions::NOHANG)
    }

    fn peek(&self, options: WaitIdOptions) -> Option<Exit> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | options;
        let status = loop {
            match waitid(WaitId::Pid(self.pid), options) {
                Err(Errno::INTR) => {}
                Err(_) => return Some(Exit::Unknown),
                Ok(status) => break status?,
            }
        };
        let code = status.exit_status().map(Exit::Code);
        Some(code.or(status.terminating_signal().map(Exit::Signal)).unwrap_or(Exit::Unknown))
    }

    /// Waits until it has ended, without reaping it.
    pub(crate) async fn exited(&self) -> Exit {
        // Registered before the first check, so that no signal is missed.
        let mut children = signal(SignalKind::child()).ok();
        loop {
            if let Some(exit) = self.exit() {
                return exit;
            }
            let heard = async {
                match &mut children {
                    Some(children) => drop(children.recv().await),
                    None => pending().await,
                }
            };
            // The host may handle SIGCHLD itself.
            drop(timeout(LOOK, heard).await);
        }
    }

    /// Signals it and, if it has one, its process group.
    pub(crate) fn signal(&self, help: Help) -> io::Result<()> {
        let child = self.child();
        if child.is_none() {
            return Ok(());
        }
        let over = self.peek(WaitIdOptions::NOHANG);
        if over == Some(Exit::Unknown) {
            return Ok(());
        }
        let number = match help {
            Help::Terminate => Signal::TERM,
            Help::Kill => Signal::KILL,
        };
        let kill = if self.group { kill_process_group } else { kill_process };
        match kill(self.pid, number) {
            // The error of some systems for a group that has ended.
            Err(Errno::PERM) if over.is_some() => Ok(()),
            Ok(()) | Err(Errno::SRCH) => Ok(()),
            Err(problem) => Err(problem.into()),
        }
    }

    /// Reaps the process if it has ended. From then on, another process may get its id.
    pub(crate) fn let_go(&self) {
        let mut child = self.child();
        if self.peek(WaitIdOptions::NOHANG).is_some() {
            if let Some((mut child, lease)) = child.take() {
                drop(lease);
                drop(child.wait());
            }
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // A process that this one may not kill continues; a thread waits for its end.
        drop(self.signal(Help::Kill));
        self.let_go();
        let Some((mut child, lease)) = self.child().take() else { return };
        let pid = self.pid;
        let reap = move || {
            let _ = waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT);
            drop(lease);
            drop(child.wait());
        };
        drop(std::thread::Builder::new().name("acp-process".to_owned()).spawn(reap));
    }
}
