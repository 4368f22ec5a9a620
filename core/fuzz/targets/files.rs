//! Files for an agent: paths and texts of any bytes, over a real folder with links that lead out of it. Nothing that is
//! outside may be read, written or made.
//!
//! An input is lines: the first byte says what is asked, the rest is its path. `^` in it stands for the root, `$` for the
//! folder beside it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process;

use libacp_files::Files;

/// Stands in all that is outside, and in nothing else.
const SECRET: &str = "a secret";
/// Lines of one input that are looked at.
const MOST: usize = 64;

/// A folder of this input's own, which goes with it.
struct Scene(PathBuf);

impl Scene {
    fn new() -> Self {
        let top = std::env::temp_dir().join(format!("libacp-fuzz-files-{}", process::id()));
        drop(fs::remove_dir_all(&top));
        for folder in ["root/a/b", "root/.git", "outside/c"] {
            fs::create_dir_all(top.join(folder)).expect("a folder");
        }
        for (path, text) in [("root/a/file", "one\ntwo\n"), ("root/.git/config", "x"), ("outside/c/file", SECRET)] {
            fs::write(top.join(path), text).expect("a file");
        }
        #[cfg(unix)]
        for (name, target) in [
            ("root/out", "../outside"),
            ("root/a/up", "../.."),
            ("root/a/in", "b"),
            ("root/loop", "loop"),
            ("root/gone", "../outside/none/file"),
            ("root/file", "../outside/c/file"),
            ("outside/back", "../root"),
        ] {
            std::os::unix::fs::symlink(target, top.join(name)).expect("a link");
        }
        Scene(top)
    }

    /// All that is outside, by its names and contents.
    fn outside(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut found = Vec::new();
        list(&self.0, 0, &mut found);
        found.sort();
        found
    }
}

/// What stands beside the root, and below that.
fn list(folder: &Path, depth: usize, found: &mut Vec<(PathBuf, Vec<u8>)>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let kind = path.symlink_metadata().expect("an entry").file_type();
        if kind.is_dir() && !(depth == 0 && path.ends_with("root")) {
            list(&path, depth + 1, found);
        }
        let content = if kind.is_file() { fs::read(&path).expect("a file") } else { Vec::new() };
        found.push((path, content));
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

pub(crate) fn run(data: &[u8]) {
    let scene = Scene::new();
    let files = Files::new([scene.0.join("root")]).expect("a root");
    let before = scene.outside();
    for line in data.split(|byte| *byte == b'\n').take(MOST) {
        let Some((&what, path)) = line.split_first() else { continue };
        let path = String::from_utf8_lossy(path);
        let top = scene.0.to_string_lossy();
        let path = path.replace('^', &format!("{top}/root")).replace('$', &format!("{top}/outside"));
        match what % 4 {
            0 => drop(files.write_text_file(&path, "written")),
            1 => {
                let part = files.read_text_file(&path, Some(u64::from(what)), Some(1));
                assert!(!part.is_ok_and(|text| text.contains(SECRET)), "{path} was read");
            }
            _ => {
                let text = files.read_text_file(&path, None, None);
                assert!(!text.is_ok_and(|text| text.contains(SECRET)), "{path} was read");
            }
        }
        assert_eq!(scene.outside(), before, "after {path}");
        let config = fs::read(scene.0.join("root/.git/config")).expect("what is guarded");
        assert_eq!(config, b"x", "after {path}");
    }
}
