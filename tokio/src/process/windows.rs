//! Processes in job objects, which end when their last handle is closed: at the latest, when this process ends.

use std::io;
use std::process::Command;

use process_wrap::tokio::{JobObject, KillOnDrop, TokioChildWrapper, TokioCommandWrap};
use tokio::sync::{mpsc, watch};

use super::{Exit, Help, Orphaned, Pipes};

pub(crate) struct Process {
    id: u32,
    /// To the task that owns the child, which kills it and ends when this is dropped.
    kill: mpsc::UnboundedSender<()>,
    exit: watch::Receiver<Option<Exit>>,
}

impl Process {
    /// Starts a command. With `group`, it gets a job object of its own, which is ended with it.
    pub(crate) fn start(command: &mut Command, group: bool, _: Orphaned) -> io::Result<(Process, Pipes)> {
        let taken = std::mem::replace(command, Command::new(""));
        let mut wrap = TokioCommandWrap::from(tokio::process::Command::from(taken));
        wrap.wrap(KillOnDrop);
        if group {
            wrap.wrap(JobObject);
        }
        let mut child = wrap.spawn()?;
        let inner = child.inner_mut();
        let (stdin, stdout, stderr) = (inner.stdin.take(), inner.stdout.take(), inner.stderr.take());
        let pipes = Pipes {
            stdin: stdin.map(|pipe| pipe.into_owned_handle()).transpose()?.map(Into::into),
            stdout: stdout.map(|pipe| pipe.into_owned_handle()).transpose()?.map(Into::into),
            stderr: stderr.map(|pipe| pipe.into_owned_handle()).transpose()?.map(Into::into),
        };
        let id = inner.id().unwrap_or_default();
        let ((kill, asked), (say, exit)) = (mpsc::unbounded_channel(), watch::channel(None));
        tokio::spawn(keep(child, asked, say));
        Ok((Process { id, kill, exit }, pipes))
    }

    pub(crate) fn id(&self) -> u32 {
        self.id
    }

    pub(crate) fn exit(&self) -> Option<Exit> {
        *self.exit.borrow()
    }

    pub(crate) async fn exited(&self) -> Exit {
        let mut exit = self.exit.clone();
        let exit = exit.wait_for(Option::is_some).await;
        exit.ok().and_then(|exit| *exit).unwrap_or(Exit::Unknown)
    }

    /// Kills it and everything in its job object, also for [`Help::Terminate`].
    #[allow(clippy::unnecessary_wraps, reason = "as elsewhere")]
    pub(crate) fn signal(&self, _: Help) -> io::Result<()> {
        // If the task is gone, so is the child.
        let _ = self.kill.send(());
        Ok(())
    }

    /// Nothing to do: unlike a process id, a handle is never reused while it is open.
    #[allow(clippy::unused_self, reason = "as elsewhere")]
    pub(crate) fn let_go(&self) {}
}

/// Owns the child until its [`Process`] is dropped.
async fn keep(
    mut child: Box<dyn TokioChildWrapper>,
    mut asked: mpsc::UnboundedReceiver<()>,
    say: watch::Sender<Option<Exit>>,
) {
    loop {
        let over = say.borrow().is_some();
        tokio::select! {
            status = child.inner_mut().wait(), if !over => {
                let code = status.ok().and_then(|status| status.code());
                say.send_replace(Some(code.map_or(Exit::Unknown, Exit::Code)));
            }
            asked = asked.recv() => {
                drop(child.start_kill());
                if asked.is_none() {
                    return;
                }
            }
        }
    }
}
