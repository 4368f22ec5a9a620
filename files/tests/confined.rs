//! What is inside of the roots, and what is not.
#![cfg(unix)]

mod support;

use std::fs;
use std::os::unix::fs::symlink;

use libacp_files::{Error, Files, Options, Root};
use support::{read, text, Scene};

#[test]
fn no_path_leads_out_of_the_root() {
    let scene = Scene::new("out");
    let secret = scene.put("secret", "secret");
    fs::create_dir(scene.top.join("rooted")).unwrap();
    scene.link("root/link", &secret);
    scene.link("root/up", &scene.top);
    scene.link("root/relative", "../secret");
    scene.link("root/dangling", scene.top.join("new"));
    scene.link("root/loop", "loop");
    scene.link("root/chain", "up/secret");
    scene.link("root/magic", "/proc/self/root/etc/hostname");
    scene.link("root/cwd", "/proc/self/cwd");
    let files = scene.files();
    let before = scene.all();
    for path in [
        secret.clone(),
        scene.at("../secret"),
        scene.at("link"),
        scene.at("up/secret"),
        scene.at("up/new/file"),
        scene.at("relative"),
        scene.at("dangling"),
        scene.at("loop"),
        scene.at("loop/x"),
        scene.at("chain"),
        scene.at("magic"),
        scene.at("cwd/Cargo.toml"),
        scene.at("../../../../../../etc/hostname"),
        format!("{}ed/x", text(&scene.root)),
        text(&scene.root),
        "/etc/hostname".to_owned(),
        "/".to_owned(),
        String::new(),
        "relative".to_owned(),
        scene.at("a\0b"),
        scene.at(&"n".repeat(5000)),
    ] {
        for result in [read(&files, &path).map(drop), files.write_text_file(&path, "owned")] {
            let problem = result.expect_err(&path);
            assert!(matches!(problem.code(), -32602 | -32002), "{path}: {problem}");
            assert!(!problem.to_string().contains("secret") && !problem.to_string().contains('/'), "{problem}");
        }
    }
    assert_eq!(scene.all(), before);
}

/// S2 and S3: a way up behind what is missing, and then through a link.
#[test]
fn nothing_is_made_behind_what_is_missing() {
    let scene = Scene::new("missing");
    fs::create_dir(scene.top.join("outside")).unwrap();
    scene.link("root/link", scene.top.join("outside"));
    scene.link("root/in", "nowhere/../link");
    let files = scene.files();
    let before = scene.all();
    for path in ["none/../link/a/b", "none/../link/a", "none/../x", "a/b/../../x", "in/a/b", "link/a", "none/.."] {
        let problem = files.write_text_file(&scene.at(path), "owned").expect_err(path);
        assert!(matches!(problem, Error::NotFound | Error::Outside), "{path}: {problem}");
    }
    assert_eq!(scene.all(), before);
}

#[test]
fn links_that_stay_inside_work() {
    let scene = Scene::new("inside");
    scene.put("root/real", "here");
    scene.put("root/a/b/c", "deep");
    scene.put("other/file", "there");
    scene.link("root/link", "real");
    scene.link("root/absolute", scene.root.join("real"));
    scene.link("root/a/up", "../real");
    scene.link("root/folder", "a/b");
    scene.link("root/new", "a/b/made");
    scene.link("root/to-other", scene.top.join("other"));
    scene.link("root/beside", "../other");
    scene.link("alias", scene.top.join("other"));
    let files = scene.files();
    for (path, there) in [
        ("link", "here"),
        ("absolute", "here"),
        ("a/up", "here"),
        ("folder/c", "deep"),
        ("a/../real", "here"),
        ("folder/../../real", "here"),
        ("./a/./b//c", "deep"),
        ("../root/real", "here"),
    ] {
        assert_eq!(read(&files, &scene.at(path)).as_deref(), Ok(there), "{path}");
    }
    files.write_text_file(&scene.at("new"), "made").unwrap();
    files.write_text_file(&scene.at("link"), "changed").unwrap();
    assert_eq!(fs::read_to_string(scene.root.join("a/b/made")).unwrap(), "made");
    assert_eq!(fs::read_to_string(scene.root.join("real")).unwrap(), "changed");
    assert!(scene.root.join("link").is_symlink());
    assert_eq!(read(&files, &scene.at("to-other/file")), Err(Error::Outside));
    // A second root; and one that is itself a link.
    for root in [scene.top.join("other"), scene.top.join("alias")] {
        let files = Files::new([&scene.root, &root]).unwrap();
        for path in [scene.root.join("to-other/file"), scene.root.join("beside/file"), root.join("file")] {
            assert_eq!(read(&files, &text(&path)).as_deref(), Ok("there"), "{}", path.display());
        }
    }
}

/// S10: a root that is inside of another, and whose name leads elsewhere when it is used.
#[test]
fn roots_stay_what_they_were_when_they_were_opened() {
    let scene = Scene::new("roots");
    scene.put("root/ui/file", "inside");
    let secret = scene.put("outside/file", "secret");
    let files = Files::new([scene.root.clone(), scene.root.join("ui")]).unwrap();
    fs::rename(scene.root.join("ui"), scene.root.join("moved")).unwrap();
    symlink(scene.top.join("outside"), scene.root.join("ui")).unwrap();
    scene.link("root/by", "ui/file");
    for path in ["ui/file", "by"] {
        assert_eq!(read(&files, &scene.at(path)).as_deref(), Ok("inside"), "{path}");
        files.write_text_file(&scene.at(path), "inside").unwrap();
    }
    assert_eq!(fs::read_to_string(secret).unwrap(), "secret");
    // The same with the outer root, whose place is taken by another folder.
    fs::rename(&scene.root, scene.top.join("before")).unwrap();
    symlink(scene.top.join("outside"), &scene.root).unwrap();
    assert_eq!(read(&files, &scene.at("file")), Err(Error::NotFound));
    assert_eq!(read(&files, &scene.at("moved/file")).as_deref(), Ok("inside"));
}

/// S21: what is not made, and what is followed.
#[test]
fn folders_are_made_up_to_a_depth_and_hard_links_are_files() {
    let scene = Scene::new("deep");
    let files = scene.files();
    let before = scene.all();
    for count in [65, 500, 2000] {
        let path = scene.at(&format!("{}x", "d/".repeat(count)));
        assert!(matches!(files.write_text_file(&path, "x"), Err(Error::TooDeep { most: 64 } | Error::Open(_))));
    }
    assert_eq!(scene.all(), before);
    files.write_text_file(&scene.at(&format!("{}x", "d/".repeat(64))), "x").unwrap();
    let outside = scene.put("outside", "shared");
    fs::hard_link(&outside, scene.root.join("hard")).unwrap();
    assert_eq!(read(&files, &scene.at("hard")).as_deref(), Ok("shared"));
}

/// S12: what the default refuses to write, also through links; and a `may` of the host's.
#[test]
fn what_runs_unasked_is_not_written() {
    let scene = Scene::new("may");
    let config = scene.put("root/.git/config", "[core]\n");
    scene.link("root/notes", ".git/config");
    scene.link("root/hooks", ".git/hooks");
    let files = scene.files();
    let before = scene.all();
    for path in
        [".git/config", ".git/hooks/post-checkout", "notes", "hooks/x", ".vscode/tasks.json", ".envrc", "a/.git"]
    {
        assert_eq!(files.write_text_file(&scene.at(path), "[core]\nfsmonitor = sh\n"), Err(Error::Refused), "{path}");
    }
    assert_eq!(scene.all(), before);
    assert_eq!(read(&files, &config).as_deref(), Ok("[core]\n"));

    let mut options = Options::default();
    let root = scene.root.clone();
    options.may = std::sync::Arc::new(move |asked| {
        assert_eq!(asked.root, root);
        assert!([".git/config", "new/file"].map(std::ffi::OsStr::new).contains(&asked.path.as_os_str()), "{asked:?}");
        asked.writing && asked.path.ends_with("config")
    });
    let files = Files::with(vec![Root::open(&scene.root).unwrap()], options);
    assert_eq!(files.write_text_file(&scene.at("notes"), "mine"), Ok(()));
    assert_eq!(read(&files, &config), Err(Error::Refused));
    assert_eq!(files.write_text_file(&scene.at("new/file"), ""), Err(Error::Refused));
    assert!(!scene.root.join("new").exists());
}

#[test]
fn a_root_must_be_there() {
    let scene = Scene::new("there");
    let file = scene.put("file", "");
    assert_eq!(Root::open(&scene.top.join("none")).unwrap_err(), Error::NotFound);
    assert_eq!(Root::open(file.as_ref()).unwrap_err(), Error::NotAFolder);
    assert_eq!(Root::open("here".as_ref()).unwrap_err(), Error::NotAPath);
    let none = Files::with(Vec::new(), Options::default());
    assert_eq!(read(&none, "/etc/hostname"), Err(Error::Outside));
}
