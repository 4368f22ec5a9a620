//! Processes in job objects, which end when their last handle is closed: at the latest, when this process ends.

use std::io;
use std::process::Command;

use process_wrap::tokio::{JobObject, KillOnDrop, TokioChildWrapper, TokioCommandWrap};
use tokio::sync::{mpsc, watch};

use super::{Exit, Help, Orphaned, Pipes};

pub(crate) struct Process {
    id: u32,
    /// Whoever has the child; it lets go of it when this is dropped.
    kill: mpsc::UnboundedSender<()>,
    exit: watch::Receiver<Option<Exit>>,
}

impl Process {
    /// Starts a command; with `group` in a job object of its own, which is ended with it.
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

    /// Ends it, with all that is in its job. Nothing here asks a program to end.
    #[allow(clippy::unnecessary_wraps, reason = "as elsewhere")]
    pub(crate) fn signal(&self, _: Help) -> io::Result<()> {
        // Whoever had the child is gone, and so is it.
        let _ = self.kill.send(());
        Ok(())
    }

    /// A handle is nobody else's, however long it is kept.
    #[allow(clippy::unused_self, reason = "as elsewhere")]
    pub(crate) fn let_go(&self) {}
}

/// Has the child until nobody asks for its end any more.
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
