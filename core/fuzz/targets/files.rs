//! Files for an agent: paths and texts of any bytes, over a real folder with links that lead out of it. Nothing that is
//! outside may be read, written or made.
//!
//! An input is lines: the first byte says what is asked, the rest is its path. `^` in it stands for the root, `$` for the
//! folder beside it.

use std::fs;
use std::path::PathBuf;

#[path = "../../../files/tests/support/mod.rs"]
mod support;

use support::Scene;

/// Stands in all that is outside, and in nothing else.
const SECRET: &str = "a secret";
/// Lines of one input that are looked at.
const MOST: usize = 64;

fn scene() -> Scene {
    let scene = Scene::new("fuzz");
    fs::create_dir_all(scene.root.join("a/b")).expect("a folder");
    for (path, content) in [("root/a/file", "one\ntwo\n"), ("root/.git/config", "x"), ("outside/c/file", SECRET)] {
        scene.put(path, content);
    }
    #[cfg(unix)]
    for (path, target) in [
        ("root/out", "../outside"),
        ("root/a/up", "../.."),
        ("root/a/in", "b"),
        ("root/loop", "loop"),
        ("root/gone", "../outside/none/file"),
        ("root/file", "../outside/c/file"),
        ("outside/back", "../root"),
    ] {
        scene.link(path, target);
    }
    scene
}

/// The root, and all that is beside it.
fn outside(scene: &Scene) -> Vec<(PathBuf, String)> {
    let mut found = scene.all();
    found.retain(|(path, _)| *path == scene.root || !path.starts_with(&scene.root));
    found
}

pub(crate) fn run(data: &[u8]) {
    let scene = scene();
    let files = scene.files();
    let before = outside(&scene);
    for line in data.split(|byte| *byte == b'\n').take(MOST) {
        let Some((&what, path)) = line.split_first() else { continue };
        let path = String::from_utf8_lossy(path);
        let path =
            path.replace('^', &support::text(&scene.root)).replace('$', &support::text(&scene.top.join("outside")));
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
        assert_eq!(outside(&scene), before, "after {path}");
        let config = fs::read(scene.at(".git/config")).expect("what is guarded");
        assert_eq!(config, b"x", "after {path}");
    }
}
