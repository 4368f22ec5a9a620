//! S8: what a write leaves that fails. In programs of their own, under a limit for files, and on a small disk.
#![cfg(target_os = "linux")]

mod support;

use std::fs;
use std::process::Command;

use libacp_files::Error;
use support::{text, Scene};

/// This test once more, behind these shell commands; `None` where they fail.
fn again(name: &str, before: &str, folder: &str) -> Option<String> {
    let script = format!("set -e\n{before}\nexec \"$0\" --exact {name} --ignored --nocapture");
    let this = std::env::current_exe().unwrap();
    let mut shell = Command::new("sh");
    shell.args(["-c", &script]).arg(this).env("LIBACP_FOLDER", folder);
    let output = shell.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    if output.status.success() && said.contains("1 passed") {
        return None;
    }
    Some(said)
}

#[test]
fn a_limit_leaves_the_old_text() {
    let scene = Scene::new("limit");
    // Blocks of 512 bytes: 1 MiB.
    let problem = again("inner_limit", "trap '' XFSZ\nulimit -f 2048", &text(&scene.root));
    assert_eq!(problem, None);
}

#[test]
#[ignore = "run by a_limit_leaves_the_old_text"]
fn inner_limit() {
    writes_that_fail(Error::Write(std::io::ErrorKind::FileTooLarge));
}

#[test]
fn a_full_disk_leaves_the_old_text() {
    let scene = Scene::new("disk");
    let folder = text(&scene.root);
    // A name space of its own, as only there everybody may mount.
    let may = Command::new("unshare").args(["-rm", "mount", "-t", "tmpfs", "-o", "size=1m", "disk", &folder]).output();
    if !may.is_ok_and(|output| output.status.success()) {
        println!("not run: nothing may be mounted here");
        return;
    }
    let this = text(&std::env::current_exe().unwrap());
    let inner = format!("mount -t tmpfs -o size=1m disk '{folder}' && exec '{this}' --exact inner_disk --ignored");
    let output =
        Command::new("unshare").args(["-rm", "sh", "-c", &inner]).env("LIBACP_FOLDER", &folder).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}

#[test]
#[ignore = "run by a_full_disk_leaves_the_old_text"]
fn inner_disk() {
    writes_that_fail(Error::Write(std::io::ErrorKind::StorageFull));
}

fn writes_that_fail(expected: Error) {
    let folder = std::path::PathBuf::from(std::env::var_os("LIBACP_FOLDER").unwrap());
    let files = libacp_files::Files::new([&folder]).unwrap();
    let path = text(&folder.join("file"));
    let old = "the user's own\n".repeat(600);
    fs::write(&path, &old).unwrap();
    assert_eq!(files.write_text_file(&path, &"x".repeat(3_000_000)), Err(expected.clone()));
    assert_eq!(fs::read_to_string(&path).unwrap(), old);
    let new = text(&folder.join("new"));
    assert_eq!(files.write_text_file(&new, &"x".repeat(3_000_000)), Err(expected));
    assert!(!folder.join("new").exists());
    // What fits is written.
    files.write_text_file(&path, &"y".repeat(900_000)).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "y".repeat(900_000));
    files.write_text_file(&path, "z").unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "z");
}
