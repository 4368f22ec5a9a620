//! Text files for agents: what a client needs for `fs/read_text_file` and `fs/write_text_file` of the Agent Client Protocol.
//!
//! [`Files`] are those of one session. They are confined to its roots, which are opened when it is, and stay what they
//! were then, whatever is put in the place of their names later:
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
//! * A path is absolute. The longest root that holds it by its text is the one that it is opened below, folder by folder,
//!   each from the one before. A link is read and followed while it stays inside of a root. Nothing is opened by a name
//!   that could lead somewhere else meanwhile.
//! * Hard links are files like all others: one that is inside of a root is read and written, wherever its other names are.
//! * Only regular files are opened, and only text in UTF-8 of at most [`Options::most`] bytes is handed out or taken.
//! * Operations of one session take effect in the order in which they were asked for: a read sees the writes before it. At
//!   most four reads run at once; a write runs alone. Sessions do not wait for each other, but two do not write into one
//!   file at once.
//! * A file keeps its mode, its owner and its links when it is written. A write that fails, as on a full disk, leaves the
//!   text that was there. A process or a machine that is stopped in mid write can leave the new text with an end of the old
//!   one, or its beginning: there is no second file that would take the first one's place.
//! * [`Options::may`] decides on each file, by default by [`guarded`].
//!
//! Read in this order: `root` (roots, and ways below them), `text` (reading and writing), `queue` and `pool` (in order,
//! and a few at once), `may`, `error`.
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

/// What is asked on each file: whether it may be read or written.
pub type May = dyn Fn(&Asked<'_>) -> bool + Send + Sync;

/// What [`Files`] allow.
#[derive(Clone)]
#[non_exhaustive]
pub struct Options {
    /// Bytes that a file may have.
    pub most: u64,
    /// Decides on each file, when all links on the way to it were followed and before anything is opened or made.
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

/// The files of one session. A clone is a second handle of the same.
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
    /// The files below these folders, which must be there; with the default [`Options`].
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

    /// The text of a file: from this line on, counted from 1, and so many lines of it. They end with LF, and keep it.
    ///
    /// This waits for the writes that were asked for before.
    pub fn read_text_file(&self, path: &str, line: Option<u64>, limit: Option<u64>) -> Result<String, Error> {
        let granted = self.enter(false);
        let _pass = granted.recv();
        self.inner.read(path, line, limit)
    }

    /// Writes a file; folders that are missing are made.
    ///
    /// This waits for all that was asked for before.
    pub fn write_text_file(&self, path: &str, text: &str) -> Result<(), Error> {
        let granted = self.enter(true);
        let _pass = granted.recv();
        self.inner.write(path, text)
    }

    /// [`read_text_file`](Self::read_text_file) for a thread of the host's: its place among the other operations is that
    /// of this call, which waits for nothing.
    pub fn reading(&self, path: String, line: Option<u64>, limit: Option<u64>) -> Operation<String> {
        self.operation(false, Box::new(move |files| files.read(&path, line, limit)))
    }

    /// [`write_text_file`](Self::write_text_file) for a thread of the host's: its place among the other operations is that
    /// of this call, which waits for nothing.
    pub fn writing(&self, path: String, text: String) -> Operation<()> {
        self.operation(true, Box::new(move |files| files.write(&path, &text)))
    }

    /// [`read_text_file`](Self::read_text_file) on a thread of these files' own, which calls `done` in the end.
    ///
    /// Its place among the other operations is that of this call.
    pub fn read_later(
        &self,
        path: String,
        line: Option<u64>,
        limit: Option<u64>,
        done: impl FnOnce(Result<String, Error>) + Send + 'static,
    ) {
        self.later(false, move |files| files.read(&path, line, limit), done);
    }

    /// [`write_text_file`](Self::write_text_file) on a thread of these files' own, which calls `done` in the end.
    ///
    /// Its place among the other operations is that of this call.
    pub fn write_later(&self, path: String, text: String, done: impl FnOnce(Result<(), Error>) + Send + 'static) {
        self.later(true, move |files| files.write(&path, &text), done);
    }

    fn enter(&self, writing: bool) -> mpsc::Receiver<queue::Pass> {
        let (say, granted) = mpsc::sync_channel(1);
        // Where nobody waits any more, the pass goes back at once.
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
                // A `may` of the host's can panic; whoever waits for `done` must not wait for ever.
                let result = catch_unwind(AssertUnwindSafe(|| work(&inner))).unwrap_or(Err(Error::Defect));
                drop(pass);
                done(result);
            });
        });
    }
}

type Work<T> = Box<dyn FnOnce(&Inner) -> Result<T, Error> + Send>;

/// An operation that has its place among the others, and is not done yet. What comes after it waits until it is done or
/// dropped.
#[must_use = "what comes after it waits for it"]
pub struct Operation<T> {
    granted: mpsc::Receiver<queue::Pass>,
    inner: Arc<Inner>,
    work: Work<T>,
}

impl<T> Operation<T> {
    /// Waits until it is its turn, and does it.
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
            // Somebody else made it meanwhile, so now it is one that is there.
            Err(Error::Open(ErrorKind::AlreadyExists)) => once(),
            result => result,
        }
    }

    fn ask(&self, place: &root::Place<'_>, writing: bool) -> Result<(), Error> {
        let asked = Asked { root: place.root.path(), path: &place.path, writing };
        (self.options.may)(&asked).then_some(()).ok_or(Error::Refused)
    }
}
