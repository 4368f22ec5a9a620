//! No command outlives its session, its connection or its client; and what commands print.
#![cfg(target_os = "linux")]
#![allow(clippy::large_futures, reason = "each is there once")]

mod support;

use std::sync::{Arc, Mutex};

use libacp::aio::Client;
use libacp_tokio::{ClientExt, Terminals};
use serde_json::{json, Value};
use support::{alive, create, left, mark, opened, talk, terminal, until, SOON};

const INVALID: i64 = -32602;
const INTERNAL: i64 = -32603;
const NOT_FOUND: i64 = -32002;
const ROUNDS: usize = 10;

fn client() -> Client<impl libacp::aio::Handlers> {
    Client::new("test", "1").terminals(Terminals::new())
}

fn sh(session: &str, script: &str) -> Value {
    json!({"sessionId": session, "command": "sh", "args": ["-c", script]})
}

#[tokio::test]
async fn what_is_printed_and_how_it_ends() {
    talk(&client(), async |agent, raw| {
        opened(&agent, raw, "/usr", "s").await;
        let mut params = sh("s", "pwd; echo $WORD; echo $HOME >&2; read x; echo $?; exit 3");
        params["env"] = json!([{"name": "WORD", "value": "a \u{20ac}"}, {"name": "HOME", "value": "/h"}]);
        let id = raw.ask("terminal/create", params).await["result"]["terminalId"].clone();
        let exit = raw.ask("terminal/wait_for_exit", terminal("s", &id)).await;
        assert_eq!(exit["result"]["exitCode"], 3, "{exit}");
        let output = raw.ask("terminal/output", terminal("s", &id)).await["result"].clone();
        // There is no input.
        assert_eq!(output["output"], "/usr\na \u{20ac}\n/h\n1\n", "{output}");
        assert_eq!((&output["truncated"], &output["exitStatus"]["exitCode"]), (&json!(false), &json!(3)));
        assert!(raw.ask("terminal/release", terminal("s", &id)).await["error"].is_null());
        assert_eq!(raw.ask("terminal/output", terminal("s", &id)).await["error"]["code"], NOT_FOUND);
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn the_end_of_the_output_is_kept() {
    let heard = Arc::new(Mutex::new(String::new()));
    let hearing = Arc::clone(&heard);
    let terminals = Terminals::new().output_byte_limit(10).on_output(move |printed| {
        assert_eq!(printed.session.id(), "s");
        hearing.lock().unwrap().push_str(printed.text);
    });
    talk(&Client::new("test", "1").terminals(terminals), async |agent, raw| {
        opened(&agent, raw, "/", "s").await;
        for (limit, kept) in
            [(json!(5), "\u{20ac}z"), (json!(4), "\u{20ac}z"), (json!(3), "z"), (json!(1000), "zab\u{20ac}\u{20ac}z")]
        {
            let mut params = sh("s", "printf 'xyzab\u{20ac}\u{20ac}z'");
            params["outputByteLimit"] = limit;
            let id = raw.ask("terminal/create", params).await["result"]["terminalId"].clone();
            raw.ask("terminal/wait_for_exit", terminal("s", &id)).await;
            let output = raw.ask("terminal/output", terminal("s", &id)).await["result"].clone();
            assert_eq!((&output["output"], &output["truncated"]), (&json!(kept), &json!(true)));
        }
        Ok(())
    })
    .await;
    assert_eq!(*heard.lock().unwrap(), "xyzab\u{20ac}\u{20ac}z".repeat(4));
}

#[tokio::test]
async fn killed_with_its_children_and_read_after() {
    talk(&client(), async |agent, raw| {
        opened(&agent, raw, "/", "s").await;
        let mark = mark();
        let params = sh("s", &format!("echo begun; sleep {mark} & sleep {mark}"));
        let id = raw.ask("terminal/create", params).await["result"]["terminalId"].clone();
        until(|| alive(&mark).len() == 2).await;
        raw.ask("terminal/kill", terminal("s", &id)).await;
        let exit = raw.ask("terminal/wait_for_exit", terminal("s", &id)).await;
        assert_eq!(exit["result"]["signal"], "SIGKILL", "{exit}");
        assert!(left(&mark, SOON).await.is_empty());
        let output = raw.ask("terminal/output", terminal("s", &id)).await["result"].clone();
        assert_eq!((&output["output"], &output["exitStatus"]["signal"]), (&json!("begun\n"), &json!("SIGKILL")));
        // A child that goes on when the command has ended is killed by the release.
        let params = sh("s", &format!("sleep {mark} > /dev/null 2>&1 & exit 0"));
        let id = raw.ask("terminal/create", params).await["result"]["terminalId"].clone();
        assert_eq!(raw.ask("terminal/wait_for_exit", terminal("s", &id)).await["result"]["exitCode"], 0);
        until(|| alive(&mark).len() == 1).await;
        raw.ask("terminal/release", terminal("s", &id)).await;
        assert!(left(&mark, SOON).await.is_empty());
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn what_cannot_be_started() {
    let client = Client::new("test", "1").terminals(Terminals::new().most(1));
    talk(&client, async |agent, raw| {
        opened(&agent, raw, "/", "s").await;
        for params in [
            json!({"sessionId": "s", "command": "/nowhere/command"}),
            json!({"sessionId": "s", "command": "/"}),
            json!({"sessionId": "s", "command": "echo", "args": ["\0"]}),
            json!({"sessionId": "s", "command": "true", "cwd": "/nowhere"}),
        ] {
            assert_eq!(raw.ask("terminal/create", params).await["error"]["code"], INVALID);
        }
        for (name, value, what) in
            [("", "v", "name"), ("A=B", "v", "name"), ("=A", "v", "name"), ("A\0", "v", "name"), ("A", "v\0", "value")]
        {
            let variable = json!({"name": name, "value": value});
            let params = json!({"sessionId": "s", "command": "true", "env": [variable]});
            let refused = raw.ask("terminal/create", params).await;
            assert_eq!(refused["error"]["code"], INVALID, "{name} {value}");
            assert_eq!(refused["error"]["message"], format!("Not the {what} of an environment variable"));
        }
        let id = raw.ask("terminal/create", sh("s", "sleep 600")).await["result"]["terminalId"].clone();
        let refused = raw.ask("terminal/create", sh("s", "true")).await;
        assert_eq!(refused["error"]["code"], INTERNAL);
        assert_eq!(refused["error"]["message"], "There are 1 terminals already");
        raw.ask("terminal/release", terminal("s", &id)).await;
        assert!(raw.ask("terminal/create", sh("s", "true")).await["error"].is_null());
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn a_terminal_is_its_sessions_own() {
    let client = client();
    let talking = talk(&client, async |agent, raw| {
        opened(&agent, raw, "/", "s").await;
        opened(&agent, raw, "/", "other").await;
        let id = raw.ask("terminal/create", sh("s", "sleep 600")).await["result"]["terminalId"].clone();
        for method in ["terminal/output", "terminal/kill", "terminal/wait_for_exit", "terminal/release"] {
            assert!(raw.ask(method, terminal("other", &id)).await["error"].is_object(), "{method}");
        }
        // Another connection of the same client, with a session of the same name.
        talk(&client, async |agent, second| {
            opened(&agent, second, "/", "s").await;
            assert!(second.ask("terminal/kill", terminal("s", &id)).await["error"].is_object());
            Ok(())
        })
        .await;
        let output = raw.ask("terminal/output", terminal("s", &id)).await["result"].clone();
        assert!(output.is_object() && output["exitStatus"].is_null(), "{output}");
        Ok(())
    });
    Box::pin(talking).await;
}

#[tokio::test]
async fn it_comes_with_the_end_of_its_session() {
    for round in 0..ROUNDS {
        let mark = mark();
        talk(&client(), async |agent, raw| {
            let session = opened(&agent, raw, "/", "s").await;
            raw.send([create("before", "s", &mark)]).await;
            raw.answers(["before"]).await;
            until(|| alive(&mark).len() == 2).await;
            let (closed, ()) = tokio::join!(session.close(), async {
                let close = raw.until("session/close").await;
                let mut messages = [create("t", "s", &mark), json!({"id": close, "result": {}})];
                if round % 2 == 1 {
                    messages.reverse();
                }
                raw.send(messages).await;
                let [answer] = raw.answers(["t"]).await;
                assert_eq!(answer["error"]["code"], NOT_FOUND, "{answer}");
            });
            closed.unwrap();
            assert!(left(&mark, SOON).await.is_empty());
            Ok(())
        })
        .await;
    }
}

#[tokio::test]
async fn while_its_session_is_closing() {
    let mark = mark();
    talk(&client(), async |agent, raw| {
        let session = opened(&agent, raw, "/", "s").await;
        raw.send([create("before", "s", &mark)]).await;
        let [before] = raw.answers(["before"]).await;
        let (closed, ()) = tokio::join!(session.close(), async {
            let close = raw.until("session/close").await;
            let look = json!({"id": "o", "method": "terminal/output", "params": terminal("s", &before["result"]["terminalId"])});
            raw.send([create("t", "s", &mark), look]).await;
            let [refused, output] = raw.answers(["t", "o"]).await;
            assert_eq!(refused["error"]["code"], NOT_FOUND);
            assert!(output["result"].is_object(), "{output}");
            // A session that cannot be closed stays open.
            raw.send([json!({"id": close, "error": {"code": 1, "message": "no"}})]).await;
        });
        assert!(closed.is_err());
        raw.send([create("after", "s", &mark)]).await;
        let [after] = raw.answers(["after"]).await;
        assert!(after["result"].is_object(), "{after}");
        until(|| alive(&mark).len() == 4).await;
        Ok(())
    })
    .await;
    assert!(left(&mark, SOON).await.is_empty());
}

#[tokio::test]
async fn sessions_that_are_made_up_and_named_twice() {
    let mark = mark();
    talk(&client(), async |agent, raw| {
        raw.send([create("1", "none", &mark)]).await;
        let [refused] = raw.answers(["1"]).await;
        assert!(refused["error"].is_object());
        let first = opened(&agent, raw, "/usr", "s").await;
        raw.send([create("2", "none", &mark), create("t", "s", &mark)]).await;
        let [refused, begun] = raw.answers(["2", "t"]).await;
        assert!(refused["error"].is_object() && begun["result"].is_object());
        let answering = raw.answer("session/new", json!({"sessionId": "s"}));
        let (second, ()) = tokio::join!(agent.new_session("/etc"), answering);
        drop(second);
        // The first one keeps what it has.
        let id = &begun["result"]["terminalId"];
        assert!(raw.ask("terminal/output", terminal("s", id)).await["result"].is_object());
        until(|| alive(&mark).len() == 2).await;
        let (closed, ()) = tokio::join!(first.close(), raw.answer("session/close", json!({})));
        closed.unwrap();
        assert!(left(&mark, SOON).await.is_empty());
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn a_session_that_could_not_be_opened() {
    for way in ["load", "resume"] {
        let mark = mark();
        talk(&client(), async |agent, raw| {
            let opening = async {
                if way == "load" {
                    agent.load_session("s", "/").session().await
                } else {
                    agent.resume_session("s", "/").await
                }
            };
            let (opened, ()) = tokio::join!(opening, async {
                let id = raw.until(&format!("session/{way}")).await;
                raw.send([create("t", "s", &mark)]).await;
                let [begun] = raw.answers(["t"]).await;
                assert!(begun["result"].is_object(), "{begun}");
                until(|| alive(&mark).len() == 2).await;
                raw.send([json!({"id": id, "error": {"code": 1, "message": "no"}})]).await;
            });
            assert!(opened.is_err());
            assert!(left(&mark, SOON).await.is_empty(), "{way}");
            Ok(())
        })
        .await;
    }
}

#[tokio::test]
async fn a_session_that_is_opened_once_more_goes_on() {
    let mark = mark();
    talk(&client(), async |agent, raw| {
        opened(&agent, raw, "/", "s").await;
        raw.send([create("t", "s", &mark)]).await;
        raw.answers(["t"]).await;
        let (again, ()) = tokio::join!(agent.resume_session("s", "/"), raw.answer("session/resume", json!({})));
        let again = again.unwrap();
        until(|| alive(&mark).len() == 2).await;
        let (closed, ()) = tokio::join!(again.close(), raw.answer("session/close", json!({})));
        closed.unwrap();
        assert!(left(&mark, SOON).await.is_empty());
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn the_end_of_the_connection() {
    for by_agent in [true, false] {
        for _ in 0..ROUNDS {
            let mark = mark();
            talk(&client(), async |agent, raw| {
                opened(&agent, raw, "/", "s").await;
                raw.send([create("1", "s", &mark)]).await;
                raw.answers(["1"]).await;
                // One that comes with the end.
                raw.send([create("2", "s", &mark)]).await;
                if by_agent {
                    raw.close().await;
                    until(|| agent.is_closed()).await;
                    assert!(left(&mark, SOON).await.is_empty(), "the host has not returned");
                }
                Ok(())
            })
            .await;
            assert!(left(&mark, SOON).await.is_empty());
        }
    }
}

#[tokio::test]
async fn without_a_connection_of_this_crate_they_say_so() {
    let told = Arc::new(Mutex::new(String::new()));
    let telling = Arc::clone(&told);
    let client = client().on_error(move |method, failure| *telling.lock().unwrap() = format!("{method}: {failure}"));
    let (ours, theirs) = tokio::io::duplex(1024);
    let (agents, clients) = (tokio::io::split(ours), tokio::io::split(theirs));
    let agent = libacp::aio::Agent::new("test", "1").prompt(async |turn| {
        assert!(turn.terminal("true", []).await.is_err());
        Ok(())
    });
    let serving = agent.serve(libacp_tokio::streams(agents.0, agents.1));
    let running = client.run(libacp_tokio::streams(clients.0, clients.1), async |agent| {
        agent.new_session("/").await?.prompt("?").finish().await?;
        Ok(())
    });
    let (served, ran) = tokio::join!(serving, running);
    served.unwrap();
    ran.unwrap();
    let told = told.lock().unwrap();
    assert!(told.starts_with("terminal/create: Files and Terminals need a connection"), "{told}");
}
