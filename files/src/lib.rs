//! Text files for agents: what a client needs for `fs/read_text_file` and `fs/write_text_file` of the Agent Client
//! Protocol.
//!
//! [`Files`] belong to one session. They are confined to its roots, folders that are opened once and stay the same even
//! if their names are given to other folders later:
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = std::env::temp_dir().join(format!("libacp-files-{}", std::process::id()));
//! # std::fs::create_dir_all(&folder)?;
//! # let path = |name: &str| folder.join(name).to_string_lossy().into_owned();
//! let files = libacp_files::Files::new([&folder])?;
//! files.write_text_file(&path("notes.txt"), "one\ntwo\nthree\n")?;
//! assert_eq!(files.read_text_file(&path("notes.txt"), Some(2), Some(1))?, "two\n");
//!
//! let refused = files.read_text_file("/etc/passwd", None, None).unwrap_err();
//! assert_eq!(refused, libacp_files::Error::Outside);
//! assert_eq!(refused.code(), -32602);
//! # std::fs::remove_dir_all(&folder)?;
//! # Ok(())
//! # }
//! ```
//!
//! * Paths are absolute. A path is opened below the longest root that contains it by its text, folder by folder, each
//!   relative to the one before. Links are followed as long as they stay inside a root. Nothing is opened by a name
//!   that could have come to mean something else.
//! * Hard links are ordinary files: one inside a root can be read and written, wherever its other names are.
//! * Only regular files are opened, and only UTF-8 text of at most [`Options::most`] bytes is read or written.
//! * The operations of one session take effect in the order of the calls: a read sees the writes before it. At most
//!   four reads run at once; a write runs alone. Sessions do not wait for each other, except that two never write to
//!   one file at the same time.
//! * Writing keeps a file's mode, owner and hard links. If writing fails, for example because the disk is full, the old
//!   text is restored. If the process or the machine stops in the middle of a write, the file can hold a mixture of the
//!   new text and the old one: it is overwritten in place, not replaced by a second file.
//! * [`Options::may`] decides on each file, by default by [`guarded`].
//!
//! Read in this order: `root` (roots and paths below them), `text` (reading and writing), `queue` and `pool` (order and
//! threads), `may`, `error`.
#![forbid(unsafe_code)]

mod error;
mod may;
mod pool;
mod queue;
mod root;
mod text;

use std::io::ErrorKind;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::path::Path;
use std::sync::{mpsc, Arc};

pub use error::Error;
pub use may::{guarded, runs_unasked, Asked, REPOSITORIES, RUNS_UNASKED};
use pool::Pool;
use queue::Queue;
pub use root::Root;

/// The type of [`Options::may`].
pub type May = dyn Fn(&Asked<'_>) -> bool + Send + Sync;

/// What the agent of a session may do with files.
#[derive(Clone)]
#[non_exhaustive]
pub struct Options {
    /// The largest size of a file, in bytes (10,000,000).
    pub most: u64,
    /// Decides whether a file may be read or written ([`guarded`]). Called after all links on the way to the file were
    /// followed, and before anything is opened or created.
    pub may: Arc<May>,
}

impl Default for Options {
    fn default() -> Self {
        Options { most: 10_000_000, may: Arc::new(guarded) }
    }
}

impl std::fmt::Debug for Options {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Options").field("most", &self.most).finish_non_exhaustive()
    }
}

/// The files of one session. A clone shares them.
#[derive(Debug, Clone)]
pub struct Files {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    roots: Vec<Root>,
    options: Options,
    queue: Arc<Queue>,
    pool: Arc<Pool>,
}

impl Files {
    /// The files below these folders, which must exist, with the default [`Options`].
    ///
    /// # Errors
    /// If a folder cannot be opened, or its path is not absolute.
    pub fn new(roots: impl IntoIterator<Item = impl AsRef<Path>>) -> Result<Files, Error> {
        let roots = roots.into_iter().map(|root| Root::open(root.as_ref())).collect::<Result<_, _>>()?;
        Ok(Files::with(roots, Options::default()))
    }

    /// The files below these roots.
    pub fn with(roots: Vec<Root>, options: Options) -> Files {
        let (queue, pool) = Default::default();
        Files { inner: Arc::new(Inner { roots, options, queue, pool }) }
    }

    /// The roots.
    pub fn roots(&self) -> &[Root] {
        &self.inner.roots
    }

    /// Reads a file: all of it, or at most `limit` lines from `line` on, counted from 1. Each line keeps its LF.
    ///
    /// Waits for the writes that were started before.
    ///
    /// # Errors
    /// [`Error`] says why, in words that may go to the agent.
    pub fn read_text_file(&self, path: &str, line: Option<u64>, limit: Option<u64>) -> Result<String, Error> {
        let granted = self.enter(false);
        let _pass = granted.recv();
        self.inner.read(path, line, limit)
    }

    /// Writes a file. Creates it and missing folders.
    ///
    /// Waits for the operations that were started before.
    ///
    /// # Errors
    /// [`Error`] says why, in words that may go to the agent.
    pub fn write_text_file(&self, path: &str, text: &str) -> Result<(), Error> {
        let granted = self.enter(true);
        let _pass = granted.recv();
        self.inner.write(path, text)
    }

    /// Like [`read_text_file`](Self::read_text_file), but takes its place among the other operations now and waits only
    /// when the [`Operation`] is run, on a thread of the host's choice.
    pub fn reading(&self, path: String, line: Option<u64>, limit: Option<u64>) -> Operation<String> {
        self.operation(false, Box::new(move |files| files.read(&path, line, limit)))
    }

    /// Like [`write_text_file`](Self::write_text_file), but takes its place among the other operations now and waits
    /// only when the [`Operation`] is run, on a thread of the host's choice.
    pub fn writing(&self, path: String, text: String) -> Operation<()> {
        self.operation(true, Box::new(move |files| files.write(&path, &text)))
    }

    /// Like [`read_text_file`](Self::read_text_file), on a thread that these files provide. It calls `done` with the
    /// result. The operation takes its place among the others now.
    pub fn read_later(
        &self,
        path: String,
        line: Option<u64>,
        limit: Option<u64>,
        done: impl FnOnce(Result<String, Error>) + Send + 'static,
    ) {
        self.later(false, move |files| files.read(&path, line, limit), done);
    }

    /// Like [`write_text_file`](Self::write_text_file), on a thread that these files provide. It calls `done` with the
    /// result. The operation takes its place among the others now.
    pub fn write_later(&self, path: String, text: String, done: impl FnOnce(Result<(), Error>) + Send + 'static) {
        self.later(true, move |files| files.write(&path, &text), done);
    }

    fn enter(&self, writing: bool) -> mpsc::Receiver<queue::Pass> {
        let (say, granted) = mpsc::sync_channel(1);
        // If the receiver is gone, the send fails and drops the pass, which ends the operation.
        self.inner.queue.enter(writing, move |pass| drop(say.send(pass)));
        granted
    }

    fn operation<T>(&self, writing: bool, work: Work<T>) -> Operation<T> {
        Operation { granted: self.enter(writing), inner: self.inner.clone(), work }
    }

    fn later<T: 'static>(
        &self,
        writing: bool,
        work: impl FnOnce(&Inner) -> Result<T, Error> + Send + 'static,
        done: impl FnOnce(Result<T, Error>) + Send + 'static,
    ) {
        let inner = self.inner.clone();
        self.inner.queue.enter(writing, move |pass| {
            let pool = inner.pool.clone();
            pool.run(move || {
                // The host's `may` can panic, and `done` must be called all the same.
                let result = catch_unwind(AssertUnwindSafe(|| work(&inner))).unwrap_or(Err(Error::Defect));
                drop(pass);
                done(result);
            });
        });
    }
}

type Work<T> = Box<dyn FnOnce(&Inner) -> Result<T, Error> + Send>;

/// An operation that has its place among the others and was not run yet. Later operations wait until it was run or is
/// dropped.
#[must_use = "what comes after it waits for it"]
pub struct Operation<T> {
    granted: mpsc::Receiver<queue::Pass>,
    inner: Arc<Inner>,
    work: Work<T>,
}

impl<T> Operation<T> {
    /// Waits for its turn and carries out the operation.
    ///
    /// # Errors
    /// [`Error`] says why it failed, in words that may go to the agent.
    pub fn run(self) -> Result<T, Error> {
        let _pass = self.granted.recv();
        (self.work)(&self.inner)
    }
}

impl<T> std::fmt::Debug for Operation<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Operation").finish_non_exhaustive()
    }
}

impl Inner {
    fn read(&self, path: &str, line: Option<u64>, limit: Option<u64>) -> Result<String, Error> {
        let place = root::find(&self.roots, path, false)?;
        self.ask(&place, false)?;
        text::read(&place, self.options.most, line, limit)
    }

    fn write(&self, path: &str, text: &str) -> Result<(), Error> {
        let most = self.options.most;
        if text.len() as u64 > most {
            return Err(Error::TextTooLong { most });
        }
        let once = || {
            let place = root::find(&self.roots, path, true)?;
            self.ask(&place, true)?;
            text::write(&place, text)
        };
        match once() {
            // Another program created the file meanwhile; write to it like to any existing file.
            Err(Error::Open(ErrorKind::AlreadyExists)) => once(),
            result => result,
        }
    }

    fn ask(&self, place: &root::Place<'_>, writing: bool) -> Result<(), Error> {
        let asked = Asked { root: place.root.path(), path: &place.path, writing };
        (self.options.may)(&asked).then_some(()).ok_or(Error::Refused)
    }
}
