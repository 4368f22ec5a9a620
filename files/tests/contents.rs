//! What is read and written, and in which order.
#![cfg(unix)]

mod support;

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use libacp_files::{Error, Files};
use support::{in_time, read, Scene};

#[test]
fn lines_end_with_lf_and_keep_it() {
    let scene = Scene::new("lines");
    let path = scene.put("root/text", "eins\r\nzwei\u{2028}\ndrei\n\nletzte");
    let files = scene.files();
    for (line, limit, text) in [
        (None, None, "eins\r\nzwei\u{2028}\ndrei\n\nletzte"),
        (Some(2), None, "zwei\u{2028}\ndrei\n\nletzte"),
        (Some(2), Some(2), "zwei\u{2028}\ndrei\n"),
        (None, Some(1), "eins\r\n"),
        (Some(0), Some(1), "eins\r\n"),
        (Some(5), Some(10), "letzte"),
        (Some(6), None, ""),
        (Some(u64::MAX), Some(u64::MAX), ""),
        (None, Some(0), ""),
    ] {
        assert_eq!(files.read_text_file(&path, line, limit).as_deref(), Ok(text), "{line:?} {limit:?}");
    }
}

/// Windows of long files are the lines that a plain look at all of it finds.
#[test]
fn windows_are_right_wherever_chunks_end() {
    let scene = Scene::new("windows");
    let mut chance = support::Chance(7);
    for _ in 0..20 {
        let lines: Vec<String> = (0..200).map(|_| "\u{e9}".repeat(chance.below(3000)) + "\n").collect();
        let path = scene.put("root/long", lines.concat());
        for _ in 0..20 {
            let (line, limit) = (chance.below(220) + 1, chance.below(220));
            let expected: String = lines.iter().skip(line - 1).take(limit).map(String::as_str).collect();
            let found = scene.files().read_text_file(&path, Some(line as u64), Some(limit as u64));
            assert!(found == Ok(expected), "{line} {limit}");
        }
    }
}

#[test]
fn what_is_written_is_what_was_given() {
    let scene = Scene::new("written");
    let files = scene.files();
    let path = scene.at("a/b/neu\u{df}");
    for text in ["\u{feff}a\r\n\tb\u{2028}\u{1f980}\0", "short", "", "longer than before"] {
        files.write_text_file(&path, text).unwrap();
        assert_eq!(fs::read(&path).unwrap(), text.as_bytes());
        assert_eq!(read(&files, &path).as_deref(), Ok(text));
    }
}

/// S8: modes, owner, links, and the file itself stay.
#[test]
fn a_file_that_is_written_stays_the_same_file() {
    let scene = Scene::new("same");
    let path = scene.put("root/script", "#!/bin/sh\necho old\n");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o751)).unwrap();
    fs::hard_link(&path, scene.root.join("twin")).unwrap();
    let before = fs::metadata(&path).unwrap();
    scene.files().write_text_file(&path, "#!/bin/sh\n").unwrap();
    let after = fs::metadata(&path).unwrap();
    let of = |file: &fs::Metadata| (file.ino(), file.mode(), file.uid(), file.gid(), file.nlink());
    assert_eq!(of(&before), of(&after));
    assert_eq!(fs::read_to_string(scene.root.join("twin")).unwrap(), "#!/bin/sh\n");
}

/// S22 and S23: nothing that makes readers or writers wait is opened.
#[test]
fn what_is_no_file_is_refused_at_once() {
    let scene = Scene::new("kinds");
    let pipe = scene.root.join("pipe");
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(scene.root.join("socket")).unwrap();
    scene.link("root/link", "pipe");
    fs::create_dir(scene.root.join("folder")).unwrap();
    let files = scene.files();
    let devices = Files::new(["/dev"]).unwrap();
    for path in ["pipe", "socket", "link", "folder"] {
        let (files, path) = (files.clone(), scene.at(path));
        let (read, written) = in_time(move || (read(&files, &path), files.write_text_file(&path, "x")));
        assert_eq!((read, written), (Err(Error::NotAFile), Err(Error::NotAFile)));
    }
    for path in ["/dev/zero", "/dev/tty", "/dev/null"] {
        let devices = devices.clone();
        assert_eq!(in_time(move || read(&devices, path)), Err(Error::NotAFile), "{path}");
    }
}

/// As the system itself has it: such a path can only lead to a folder.
#[test]
fn a_path_that_ends_like_that_of_a_folder_names_no_file() {
    let scene = Scene::new("slash");
    scene.put("root/there", "text");
    let files = scene.files();
    for name in ["there/", "there//", "there/.", "there/./", "new/", "new/."] {
        let path = scene.at(name);
        assert_eq!(read(&files, &path), Err(Error::NotAFile), "{name}");
        assert_eq!(files.write_text_file(&path, "x"), Err(Error::NotAFile), "{name}");
    }
    assert_eq!(read(&files, &scene.at("there")).as_deref(), Ok("text"));
    assert!(!scene.root.join("new").exists());
}

#[test]
fn sizes_and_bytes_are_checked() {
    let scene = Scene::new("sizes");
    scene.put("root/big", vec![b'x'; 1001]);
    scene.put("root/full", vec![b'x'; 1000]);
    scene.put("root/binary", b"ok\n\xff\x00\nok\n");
    File::create(scene.root.join("sparse")).unwrap().set_len(20 << 30).unwrap();
    let files = scene.of_most(1000);
    for path in ["big", "sparse"] {
        assert_eq!(read(&files, &scene.at(path)), Err(Error::TooLong { most: 1000 }));
    }
    assert_eq!(read(&files, &scene.at("full")).map(|text| text.len()), Ok(1000));
    assert_eq!(read(&files, &scene.at("binary")), Err(Error::NotUtf8));
    // What is not handed out is not looked at.
    assert_eq!(files.read_text_file(&scene.at("binary"), Some(3), None).as_deref(), Ok("ok\n"));
    assert_eq!(read(&files, &scene.at("missing")), Err(Error::NotFound));
    assert_eq!(read(&files, &scene.at("full/x")), Err(Error::NotAFolder));
    let refused = files.write_text_file(&scene.at("full"), &"\u{20ac}".repeat(334));
    assert_eq!(refused, Err(Error::TextTooLong { most: 1000 }));
    assert_eq!(fs::read(scene.at("full")).unwrap(), [b'x'; 1000]);
}

const LINE: &str = "\u{e4}\u{20ac}\u{1f600}\n";

/// S9: files that say they are empty, and files that grow, are read to their end.
#[test]
fn files_are_read_to_their_end_whatever_size_they_have() {
    if cfg!(target_os = "linux") {
        let files = Files::new(["/proc"]).unwrap();
        let text = read(&files, "/proc/cpuinfo").unwrap();
        assert_eq!(text.lines().count(), fs::read_to_string("/proc/cpuinfo").unwrap().lines().count());
    }
    let scene = Scene::new("grows");
    let path = scene.put("root/log", "");
    let files = scene.files();
    let (stop, stopped) = mpsc::channel::<()>();
    let mut log = File::options().append(true).open(&path).unwrap();
    let writer = std::thread::spawn(move || {
        // Not more than may be read.
        for _ in 0..200_000 {
            if stopped.try_recv() != Err(mpsc::TryRecvError::Empty) {
                break;
            }
            log.write_all(LINE.as_bytes()).unwrap();
        }
    });
    for _ in 0..300 {
        let size = fs::metadata(&path).unwrap().len();
        let text = read(&files, &path).unwrap();
        assert!(text.len() as u64 + 4 > size, "only a character that is not there yet is left out");
        assert!(text.chars().zip(LINE.chars().cycle()).all(|(found, written)| found == written));
    }
    drop(stop);
    writer.join().unwrap();
    assert_eq!(read(&files, &path).unwrap(), fs::read_to_string(&path).unwrap());
}

/// Whoever is writing has a moment for the other half of a character.
#[test]
fn half_a_character_is_waited_for() {
    let scene = Scene::new("half");
    for (line, limit) in [(None, None), (Some(2), None)] {
        let path = scene.put("root/log", "one\n\u{1f600}".as_bytes().split_last().unwrap().1);
        let files = scene.files();
        let begun = Instant::now();
        assert_eq!(files.read_text_file(&path, line, limit), Err(Error::NotUtf8), "nobody wrote it");
        assert!(begun.elapsed() >= Duration::from_millis(50));
        let mut log = File::options().append(true).open(&path).unwrap();
        let writer = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(10));
            log.write_all(b"\x80two\n\xf0").unwrap();
        });
        let text = files.read_text_file(&path, line, limit).unwrap();
        assert!(text.ends_with("\u{1f600}two\n"), "{text:?}");
        writer.join().unwrap();
    }
}

/// S7: what was asked for later sees what was asked for before, under each of a file's names.
#[test]
fn operations_take_effect_in_their_order() {
    let scene = Scene::new("order");
    scene.put("root/file", "");
    scene.link("root/link", "file");
    fs::hard_link(scene.root.join("file"), scene.root.join("hard")).unwrap();
    let (long, short) = ("A".repeat(3_000_000), "B".repeat(1000));
    let files = scene.files();
    for round in 0..50 {
        let (say, said) = mpsc::channel();
        let reader = |path: &'static str| {
            let say = say.clone();
            files.read_later(scene.at(path), None, None, move |text| say.send((path, text.unwrap())).unwrap());
        };
        files.write_later(scene.at("file"), long.clone(), |result| result.unwrap());
        reader("link");
        files.write_later(scene.at("link"), short.clone(), |result| result.unwrap());
        reader("hard");
        files.write_later(scene.at("new/file"), format!("{round}"), |result| result.unwrap());
        reader("new/file");
        drop(say);
        let texts: HashMap<_, _> = in_time(move || said.iter().collect());
        let expected = [("link", long.clone()), ("hard", short.clone()), ("new/file", format!("{round}"))];
        assert!(texts == HashMap::from(expected), "round {round}");
    }
}

/// The same where the host has the threads; and an operation that is given up holds up nobody.
#[test]
fn operations_run_in_their_order_on_threads_of_the_host() {
    let scene = Scene::new("threads");
    let files = scene.files();
    for round in 0..50 {
        let given_up = files.writing(scene.at("file"), "given up".to_owned());
        let operations: Vec<_> = (0..3)
            .map(|number| {
                let text = format!("{round} {number} ").repeat(10_000);
                let write = files.writing(scene.at("file"), text.clone());
                (text, write, files.reading(scene.at("file"), None, None))
            })
            .collect();
        drop(given_up);
        std::thread::scope(|scope| {
            for (text, write, read) in operations.into_iter().rev() {
                scope.spawn(move || assert!(read.run() == Ok(text)));
                scope.spawn(move || write.run().unwrap());
            }
        });
    }
}

/// Two sessions do not mix their texts in one file, and do not wait for each other's.
#[test]
fn sessions_do_not_write_into_one_file_at_once() {
    let scene = Scene::new("sessions");
    let path = scene.at("file");
    let texts = ["A".repeat(2_000_000), "B".repeat(1_500_000), "C".repeat(900_000)];
    for round in 0..100 {
        if round % 2 == 0 {
            fs::write(&path, "D".repeat(1_000_000)).unwrap();
        }
        let writers: Vec<_> = texts
            .iter()
            .cloned()
            .map(|text| {
                let (files, path) = (scene.files(), path.clone());
                std::thread::spawn(move || files.write_text_file(&path, &text))
            })
            .collect();
        for writer in writers {
            writer.join().unwrap().unwrap();
        }
        assert!(texts.contains(&fs::read_to_string(&path).unwrap()));
        fs::remove_file(&path).unwrap();
    }
}

/// A `may` that fails is an answer too.
#[test]
fn a_hook_that_panics_is_an_error() {
    let scene = Scene::new("panic");
    let path = scene.put("root/file", "text");
    let mut options = libacp_files::Options::default();
    options.may = std::sync::Arc::new(|asked| !asked.writing || panic!("a defect of the host"));
    let files = Files::with(vec![libacp_files::Root::open(&scene.root).unwrap()], options);
    let (say, said) = mpsc::channel();
    files.write_later(path.clone(), String::new(), move |result| say.send(result).unwrap());
    assert_eq!(in_time(move || said.recv().unwrap()), Err(Error::Defect));
    assert_eq!(read(&files, &path).as_deref(), Ok("text"));
}
