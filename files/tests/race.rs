//! S1: a folder and a link, and a file and a link, that change places all the time while files are read and written.
//!
//! 15 seconds by default, half of them for reads; `LIBACP_RACE_SECONDS` says how long each half is.
#![cfg(target_os = "linux")]

mod support;

use std::fs;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use rustix::fs::{renameat_with, RenameFlags, CWD};
use support::{read, seconds, Scene};

/// Ends the exchanges, also when an attempt fails.
struct Stops<'a>(&'a AtomicBool);

impl Drop for Stops<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Runs `attempt` again and again while names change places; its count of successes.
fn raced(scene: &Scene, attempt: impl Fn(u64) -> bool) -> (u64, u64, u64) {
    let (stop, exchanged) = (AtomicBool::new(false), AtomicU64::new(0));
    let (mut tries, mut done) = (0, 0);
    std::thread::scope(|scope| {
        let _stops = Stops(&stop);
        for (one, other) in [("folder", "door"), ("file", "peephole")] {
            let (one, other) = (scene.root.join(one), scene.root.join(other));
            let (stop, exchanged) = (&stop, &exchanged);
            scope.spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    renameat_with(CWD, &one, CWD, &other, RenameFlags::EXCHANGE).unwrap();
                    exchanged.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        let (begun, length) = (Instant::now(), seconds(7.5));
        while begun.elapsed() < length {
            tries += 1;
            done += u64::from(attempt(tries));
        }
    });
    let exchanged = exchanged.load(Ordering::Relaxed);
    println!("{tries} tries, {done} done, {exchanged} exchanges");
    (tries, done, exchanged)
}

fn scene(name: &str) -> Scene {
    let scene = Scene::new(name);
    scene.put("root/folder/file", "inside");
    scene.put("root/file", "inside");
    scene.put("outside/file", "secret");
    scene.link("root/door", scene.top.join("outside"));
    scene.link("root/peephole", "../outside/file");
    scene
}

#[test]
fn nothing_outside_is_read() {
    let scene = scene("race-read");
    let files = scene.files();
    let paths = ["folder/file", "file", "door/file", "peephole"].map(|path| scene.at(path));
    let (tries, done, exchanged) = raced(&scene, |number| match read(&files, &paths[(number % 4) as usize]) {
        Ok(text) => {
            assert_eq!(text, "inside");
            true
        }
        Err(_) => false,
    });
    assert!(0 < done && done < tries && exchanged > 100, "{done} of {tries} were done");
}

#[test]
fn nothing_outside_is_written() {
    let scene = scene("race-write");
    let files = scene.files();
    let (tries, done, exchanged) = raced(&scene, |number| {
        let path = match number % 6 {
            0 => scene.at("folder/file"),
            1 => scene.at("file"),
            2 => scene.at("door/file"),
            3 => scene.at("peephole"),
            4 => scene.at(&format!("folder/new{number}")),
            _ => scene.at(&format!("door/deep{}/er/new", number % 1000)),
        };
        files.write_text_file(&path, "inside").is_ok()
    });
    assert!(0 < done && done < tries && exchanged > 100, "{done} of {tries} were done");
    let outside: Vec<_> =
        fs::read_dir(scene.top.join("outside")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(outside, ["file"]);
    assert_eq!(fs::read_to_string(scene.top.join("outside/file")).unwrap(), "secret");
}
