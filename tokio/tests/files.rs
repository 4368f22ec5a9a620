//! What agents reach through the files of a client. The crate below has its own tests (files/tests).
#![cfg(unix)]

mod support;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use libacp::aio::Client;
use libacp_tokio::{ClientExt, Files, ReadOnlyFiles};
use serde_json::{json, Value};
use support::{opened, talk, Folder};

const INVALID: i64 = -32602;
const NOT_FOUND: i64 = -32002;

fn read(path: &str) -> Value {
    json!({"sessionId": "s", "path": path})
}

fn write(path: &str, content: &str) -> Value {
    json!({"sessionId": "s", "path": path, "content": content})
}

#[tokio::test]
async fn lines_and_what_is_missing_and_outside() {
    let folder = Folder::new();
    fs::create_dir(folder.0.join("root")).unwrap();
    fs::write(folder.0.join("secret"), "secret").unwrap();
    symlink(folder.0.join("secret"), folder.0.join("root/link")).unwrap();
    talk(&Client::new("test", "1").files(Files::new().most(100)), async |agent, raw| {
        assert!(agent.why_not("session/new").is_none());
        opened(&agent, raw, &folder.at("root"), "s").await;
        let path = folder.at("root/deep/er/a \u{e4}.txt");
        let missing = raw.ask("fs/read_text_file", read(&path)).await["error"].clone();
        assert_eq!((&missing["code"], &missing["message"]), (&json!(NOT_FOUND), &json!("There is no such file")));
        let uri = format!("file://{}", folder.at("root/deep/er/a%20%C3%A4.txt"));
        assert_eq!(missing["data"], json!({"uri": uri}));

        assert_eq!(raw.ask("fs/write_text_file", write(&path, "one\ntwo\nthree")).await["result"], json!({}));
        let mut lines = read(&path);
        (lines["line"], lines["limit"]) = (json!(2), json!(1));
        assert_eq!(raw.ask("fs/read_text_file", lines).await["result"]["content"], "two\n");
        for outside in
            [folder.at("secret"), folder.at("root/link"), folder.at("root/../secret"), "/etc/hostname".to_owned()]
        {
            for (method, params) in
                [("fs/read_text_file", read(&outside)), ("fs/write_text_file", write(&outside, "x"))]
            {
                assert_eq!(raw.ask(method, params).await["error"]["code"], INVALID, "{outside}");
            }
        }
        let long = write(&folder.at("root/long"), &"x".repeat(101));
        assert_eq!(raw.ask("fs/write_text_file", long).await["error"]["code"], INVALID);
        Ok(())
    })
    .await;
    assert_eq!(fs::read_to_string(folder.0.join("secret")).unwrap(), "secret");
}

#[tokio::test]
async fn a_folder_that_is_not_there_is_told_apart_from_one_that_is_not_the_sessions() {
    let folder = Folder::new();
    talk(&Client::new("test", "1").files(Files::new()), async |agent, raw| {
        opened(&agent, raw, &folder.at("none"), "s").await;
        let file = folder.at("none/file");
        for (method, params) in [("fs/read_text_file", read(&file)), ("fs/write_text_file", write(&file, "x"))] {
            let error = raw.ask(method, params).await["error"].clone();
            assert_eq!(error["code"], INVALID);
            assert_eq!(error["message"], "The folder of the session is not there, or cannot be opened");
        }
        let outside = raw.ask("fs/read_text_file", read(&folder.at("nonesuch"))).await["error"]["message"].clone();
        assert_eq!(outside, "The path is outside of the session's roots");
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn roots_are_those_of_the_opening() {
    let folder = Folder::new();
    for name in ["first", "second", "elsewhere"] {
        fs::create_dir(folder.0.join(name)).unwrap();
        fs::write(folder.0.join(name).join("file"), name).unwrap();
    }
    fs::rename(folder.0.join("first"), folder.0.join("root")).unwrap();
    talk(&Client::new("test", "1").files(Files::new()), async |agent, raw| {
        let root = folder.at("root");
        let (session, ()) = tokio::join!(agent.new_session(&root), async {
            let id = raw.until("session/new").await;
            // As soon as the agent hears of the session, another folder is put in the place of its root.
            fs::rename(folder.0.join("root"), folder.0.join("gone")).unwrap();
            symlink(folder.0.join("elsewhere"), folder.0.join("root")).unwrap();
            let asking = json!({"id": "r", "method": "fs/read_text_file", "params": read(&folder.at("root/file"))});
            raw.send([json!({"id": id, "result": {"sessionId": "s"}}), asking]).await;
            let [answer] = raw.answers(["r"]).await;
            assert_eq!(answer["result"]["content"], "first", "{answer}");
        });
        let session = session.unwrap();
        let asked = raw.ask("fs/write_text_file", write(&folder.at("root/file"), "written")).await;
        assert!(asked["error"].is_null());
        // Opened again, with what is there now.
        let (again, ()) = tokio::join!(agent.resume_session("s", &root), raw.answer("session/resume", json!({})));
        again.unwrap();
        let answer = raw.ask("fs/read_text_file", read(&folder.at("root/file"))).await;
        assert_eq!(answer["result"]["content"], "elsewhere", "{answer}");
        let (closed, ()) = tokio::join!(session.close(), raw.answer("session/close", json!({})));
        closed.unwrap();
        assert!(raw.ask("fs/read_text_file", read(&folder.at("root/file"))).await["error"].is_object());
        Ok(())
    })
    .await;
    assert_eq!(fs::read_to_string(folder.0.join("gone/file")).unwrap(), "written");
    assert_eq!(fs::read_to_string(folder.0.join("elsewhere/file")).unwrap(), "elsewhere");
}

#[tokio::test]
async fn agents_take_effect_in_order_and_sessions_have_their_own_roots() {
    let folder = Folder::new();
    for name in ["one", "two"] {
        fs::create_dir(folder.0.join(name)).unwrap();
    }
    talk(&Client::new("test", "1").files(Files::new()), async |agent, raw| {
        opened(&agent, raw, &folder.at("one"), "s").await;
        opened(&agent, raw, &folder.at("two"), "t").await;
        assert_eq!(raw.ask("fs/write_text_file", write(&folder.at("two/x"), "")).await["error"]["code"], INVALID);
        let path = folder.at("one/file");
        for round in 0..50 {
            let (long, short) = ("x".repeat(300_000), format!("short {round}"));
            let ask = |id: &str, method: &str, params: Value| json!({"id": id, "method": method, "params": params});
            raw.send([
                ask("a", "fs/write_text_file", write(&path, &long)),
                ask("b", "fs/write_text_file", write(&path, &short)),
                ask("c", "fs/read_text_file", read(&path)),
            ])
            .await;
            let [_, _, answer] = raw.answers(["a", "b", "c"]).await;
            assert_eq!(answer["result"]["content"], short);
        }
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn the_host_decides() {
    let folder = Folder::new();
    fs::create_dir(folder.0.join(".git")).unwrap();
    fs::write(folder.0.join("a"), "a").unwrap();
    let usual = Client::new("test", "1").files(Files::new());
    talk(&usual, async |agent, raw| {
        opened(&agent, raw, &folder.at(""), "s").await;
        let hook = write(&folder.at(".git/config"), "x");
        assert_eq!(raw.ask("fs/write_text_file", hook).await["error"]["code"], INVALID);
        Ok(())
    })
    .await;
    let asked = Arc::new(Mutex::new(Vec::new()));
    let asking = Arc::clone(&asked);
    let own = Client::new("test", "1").files(Files::new().may(move |file| {
        asking.lock().unwrap().push((file.path.to_owned(), file.writing));
        !file.writing
    }));
    talk(&own, async |agent, raw| {
        opened(&agent, raw, &folder.at(""), "s").await;
        assert_eq!(raw.ask("fs/read_text_file", read(&folder.at("a"))).await["result"]["content"], "a");
        assert_eq!(raw.ask("fs/write_text_file", write(&folder.at("a"), "b")).await["error"]["code"], INVALID);
        Ok(())
    })
    .await;
    assert_eq!(*asked.lock().unwrap(), [(PathBuf::from("a"), false), (PathBuf::from("a"), true)]);
}

#[tokio::test]
async fn files_that_are_only_read() {
    let folder = Folder::new();
    fs::write(folder.0.join("a"), "a").unwrap();
    let client = Client::new("test", "1").read_only_files(ReadOnlyFiles::new());
    talk(&client, async |agent, raw| {
        opened(&agent, raw, &folder.at(""), "s").await;
        assert_eq!(raw.ask("fs/read_text_file", read(&folder.at("a"))).await["result"]["content"], "a");
        // The agent was told that there is no writing.
        assert!(raw.ask("fs/write_text_file", write(&folder.at("a"), "b")).await["error"].is_object());
        Ok(())
    })
    .await;
    assert_eq!(fs::read_to_string(folder.0.join("a")).unwrap(), "a");
}
