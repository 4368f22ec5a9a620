//! S11: a window of lines costs its own size. Alone in its program, as it looks at that program's memory.
#![cfg(target_os = "linux")]

mod support;

use std::fs;

use support::Scene;

fn figure(file: &str, name: &str) -> u64 {
    let text = fs::read_to_string(file).unwrap();
    let line = text.lines().find(|line| line.starts_with(name)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
fn a_window_costs_its_own_size() {
    let scene = Scene::new("window");
    let path = scene.at("lines");
    let mut file = fs::File::create(&path).unwrap();
    for _ in 0..100 {
        std::io::Write::write_all(&mut file, "a\n".repeat(50_000).as_bytes()).unwrap();
    }
    let files = scene.files();
    let before = figure("/proc/thread-self/io", "rchar:");
    assert_eq!(files.read_text_file(&path, Some(1000), Some(1)).as_deref(), Ok("a\n"));
    let read = figure("/proc/thread-self/io", "rchar:") - before;
    assert!(read < 100_000, "{read} bytes were read for one line near the beginning");
    let before = figure("/proc/self/status", "VmHWM:");
    assert_eq!(files.read_text_file(&path, Some(4_999_999), Some(1)).as_deref(), Ok("a\n"));
    assert_eq!(files.read_text_file(&path, Some(4_000_000), Some(2)).as_deref(), Ok("a\na\n"));
    let grown = figure("/proc/self/status", "VmHWM:") - before;
    assert!(grown < 1024, "{grown} KiB were needed for one line near the end");
}
