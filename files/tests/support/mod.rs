//! A folder for one test, with a root and what is outside of it.
#![allow(dead_code, reason = "each test uses some of it")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use libacp_files::{Error, Files, Options, Root};

pub(crate) struct Scene {
    /// Holds all of it, and is removed with all of it.
    pub(crate) top: PathBuf,
    pub(crate) root: PathBuf,
}

impl Scene {
    pub(crate) fn new(name: &str) -> Scene {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let top = std::env::temp_dir().canonicalize().unwrap();
        let top = top.join(format!("libacp-files-{name}-{}-{number}", std::process::id()));
        let root = top.join("root");
        fs::create_dir_all(&root).unwrap();
        Scene { top, root }
    }

    pub(crate) fn files(&self) -> Files {
        Files::new([&self.root]).unwrap()
    }

    pub(crate) fn of_most(&self, most: u64) -> Files {
        let mut options = Options::default();
        options.most = most;
        Files::with(vec![Root::open(&self.root).unwrap()], options)
    }

    /// A path below the root, as an agent sends it.
    pub(crate) fn at(&self, path: &str) -> String {
        text(&self.root.join(path))
    }

    /// Makes a file below the top.
    pub(crate) fn put(&self, path: &str, content: impl AsRef<[u8]>) -> String {
        let path = self.top.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        text(&path)
    }

    #[cfg(unix)]
    pub(crate) fn link(&self, path: &str, target: impl AsRef<Path>) {
        std::os::unix::fs::symlink(target, self.top.join(path)).unwrap();
    }

    /// All that is there, in order: folders, links with their targets, files with their content.
    pub(crate) fn all(&self) -> Vec<(PathBuf, String)> {
        let mut found = Vec::new();
        list(&self.top, &mut found);
        found.sort();
        found
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.top));
    }
}

fn list(folder: &Path, found: &mut Vec<(PathBuf, String)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let kind = path.symlink_metadata().unwrap().file_type();
        let what = if kind.is_symlink() {
            format!("-> {}", path.read_link().unwrap().display())
        } else if kind.is_dir() {
            list(&path, found);
            "folder".to_owned()
        } else {
            format!("= {}", String::from_utf8_lossy(&fs::read(&path).unwrap()))
        };
        found.push((path, what));
    }
}

pub(crate) fn text(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}

pub(crate) fn read(files: &Files, path: &str) -> Result<String, Error> {
    files.read_text_file(path, None, None)
}

/// The result of what must not hang.
pub(crate) fn in_time<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let (say, said) = std::sync::mpsc::channel();
    std::thread::spawn(move || say.send(work()));
    said.recv_timeout(Duration::from_secs(20)).expect("an answer in time")
}

/// Seconds that a race lasts: what the environment says, or so many.
pub(crate) fn seconds(usual: f64) -> Duration {
    let given = std::env::var("LIBACP_RACE_SECONDS").ok().and_then(|seconds| seconds.parse().ok());
    Duration::from_secs_f64(given.unwrap_or(usual))
}

/// Numbers without an end that are the same in each run.
pub(crate) struct Chance(pub(crate) u64);

impl Chance {
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end as u64) as usize
    }

    pub(crate) fn one<'l, T>(&mut self, list: &'l [T]) -> &'l T {
        &list[self.below(list.len())]
    }
}
