//! Agents as child processes: how they are started, and that they end, with what stands between.
#![cfg(target_os = "linux")]

mod support;

use std::fs;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use libacp::aio::{Client, Error, Failure};
use libacp::schema::v1::StopReason;
use libacp_tokio::{spawn, trace_to, AgentEnded, Exit, Files, Spawn, Terminals};
use support::{alive, example, left, mark, runs, until, within, SOON};

/// What an agent has to say to be opened: it answers with the id that it is asked with.
const HELLO: &str = r#"read first; id=${first#*\"id\":}; id=${id%%[,\}]*}
printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":1}}\n' "$id""#;

fn client() -> Client {
    Client::new("test", "1")
}

fn sh(script: &str) -> Spawn {
    spawn("sh").arg("-c").arg(script)
}

/// The agent of the examples behind a shell that does nothing but wait for it.
fn wrapped(mark: &str) -> Spawn {
    sh("\"$0\" \"$1\"; true").arg(example("agent")).arg(mark)
}

fn ended(failure: &Failure) -> &AgentEnded {
    failure.downcast_ref().unwrap_or_else(|| panic!("{failure}"))
}

#[tokio::test]
async fn two_sessions_and_an_agent_behind_a_shell_that_is_gone_after_close() {
    let mark = mark();
    let (starting, driving) = wrapped(&mark).on_stderr(|_| {}).connect(client()).unwrap();
    tokio::spawn(driving);
    let agent = starting.open().await.unwrap();
    for _ in 0..2 {
        let session = agent.new_session("/").await.unwrap();
        for _ in 0..2 {
            assert_eq!(session.prompt("hello").finish().await.unwrap().stop_reason, StopReason::EndTurn);
        }
    }
    assert_eq!(alive(&mark).len(), 2);
    let begun = Instant::now();
    let ended = agent.close().await;
    assert!(ended.exit.is_success() && begun.elapsed() < SOON, "{ended:?} after {:?}", begun.elapsed());
    assert_eq!(alive(&mark), Vec::<u32>::new());
}

/// A package of that name, whose program is a script of the shell's, as `npm install` leaves it.
fn install(folder: &support::Folder, name: &str, script: &str) {
    use std::os::unix::fs::{symlink, PermissionsExt};
    let (package, programs) = (folder.at(&format!("node_modules/{name}")), folder.at("node_modules/.bin"));
    fs::create_dir_all(&package).unwrap();
    fs::create_dir_all(&programs).unwrap();
    let depends = format!(r#"{{"name":"host","dependencies":{{"{name}":"1.0.0"}}}}"#);
    fs::write(folder.at("package.json"), depends).unwrap();
    let about = format!(r#"{{"name":"{name}","version":"1.0.0","bin":{{"{name}":"agent.sh"}}}}"#);
    fs::write(format!("{package}/package.json"), about).unwrap();
    let program = format!("{package}/agent.sh");
    fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    symlink(&program, format!("{programs}/{name}")).unwrap();
}

#[tokio::test]
async fn what_npx_has_started_is_gone_after_close() {
    if std::process::Command::new("npx").arg("--version").output().is_err() {
        println!("note: npx is not here");
        return;
    }
    for stubborn in ["", "trap '' TERM;"] {
        let (mark, folder) = (mark(), support::Folder::new());
        install(&folder, "libacp-agent", &format!("{HELLO}; {stubborn} sleep {mark} & {stubborn} sleep {mark}"));
        let agent = spawn("npx").args(["--offline", "--no-install", "libacp-agent"]).current_dir(folder.at(""));
        let begun = agent
            .grace(Duration::from_millis(100))
            .on_stderr(|_| {})
            .run(&client(), async |_| {
                until(|| alive(&mark).len() >= 2).await;
                Ok(Instant::now())
            })
            .await
            .unwrap();
        assert!(left(&mark, SOON).await.is_empty() && begun.elapsed() < SOON, "{:?}", begun.elapsed());
    }
}

#[tokio::test]
async fn agents_that_stay_are_told_to_end_and_killed() {
    for stubborn in ["", "trap '' TERM;"] {
        let mark = mark();
        let agent = sh(&format!("{HELLO}; ({stubborn} sleep {mark} & exec sleep {mark}) & {stubborn} sleep {mark}"));
        let begun = agent
            .grace(Duration::from_millis(100))
            .run(&client(), async |_| {
                until(|| alive(&mark).len() >= 3).await;
                Ok(Instant::now())
            })
            .await
            .unwrap();
        assert!(left(&mark, SOON).await.is_empty() && begun.elapsed() < SOON, "{:?}", begun.elapsed());
    }
}

#[tokio::test]
async fn children_that_an_agent_leaves_behind() {
    let mark = mark();
    // One that holds the output, and one that has its own.
    let agent = sh(&format!("{HELLO}; sleep {mark} & sleep {mark} > /dev/null 2>&1 & read end"));
    let begun = agent
        .run(&client(), async |_| {
            until(|| alive(&mark).len() == 2).await;
            Ok(Instant::now())
        })
        .await
        .unwrap();
    assert!(left(&mark, SOON).await.is_empty() && begun.elapsed() < SOON);
}

#[tokio::test]
async fn how_an_agent_ended_too_early() {
    // Before it was opened.
    let agent = sh("printf 'one\\ntwo\\033[2J\\n' >&2; exit 3").on_stderr(|_| {});
    let failure = agent.run(&client(), async |_| Ok(())).await.unwrap_err();
    let said = ended(&failure);
    assert_eq!(
        (said.exit, said.stderr.as_slice()),
        (Exit::Code(3), &["one".to_owned(), "two\u{1b}[2J".to_owned()][..])
    );
    assert_eq!(
        failure.to_string(),
        "the agent has ended: exit code 3; its last lines on standard error:\n  one\n  two\\x1b[2J"
    );
    let (starting, driving) = agent.connect(client()).unwrap();
    tokio::spawn(driving);
    assert_eq!(ended(&starting.open().await.unwrap_err()).exit, Exit::Code(3));

    // In the middle.
    let agent = sh(&format!("{HELLO}; read second; kill -9 $$"));
    let failure = agent.run(&client(), async |agent| Ok(agent.new_session("/").await?)).await.unwrap_err();
    assert_eq!(failure.to_string(), "the agent has ended: signal SIGKILL");

    // The same with a handle, which knows how.
    let (starting, driving) = sh(&format!("{HELLO}; read second; exit 4")).connect(client()).unwrap();
    tokio::spawn(driving);
    let agent = starting.open().await.unwrap();
    let failed = agent.new_session("/").await.unwrap_err();
    assert!(matches!(failed, Error::Closed { .. }), "{failed}");
    assert_eq!(agent.ended().await.exit, Exit::Code(4));

    // Work that fails for another reason has that one, and work that succeeds has succeeded.
    let agent = sh(&format!("{HELLO}; exit 1"));
    let own = |agent: &Spawn| agent.clone();
    let failure = own(&agent).run(&client(), async |_| Err::<(), _>(Failure::new("own"))).await.unwrap_err();
    assert_eq!(failure.to_string(), "own");
    assert_eq!(own(&agent).run(&client(), async |_| Ok(5)).await.unwrap(), 5);
}

#[tokio::test]
async fn what_cannot_be_started_and_what_does_not_answer() {
    let failure = spawn("/nowhere/agent").run(&client(), async |_| Ok(())).await.unwrap_err();
    assert!(failure.to_string().starts_with("cannot start `/nowhere/agent`: No such file"), "{failure}");
    let mark = mark();
    let mute = spawn("sleep").arg(&mark).timeout(Duration::from_millis(200)).grace(Duration::from_millis(50));
    let failure = mute.run(&client(), async |_| Ok(())).await.unwrap_err();
    assert_eq!(failure.to_string(), "the agent has not answered `initialize` after 200ms");
    assert!(left(&mark, SOON).await.is_empty());
}

#[tokio::test]
async fn what_an_agent_is_started_with() {
    let said = Arc::new(Mutex::new(Vec::new()));
    let hearing = Arc::clone(&said);
    let script = "pwd >&2; echo \"$WORD ${HOME-none} $1 $2\" >&2; printf half >&2";
    let agent = sh(script).args(["zero", "a b", "c"]).env("WORD", "x y").env_remove("HOME").current_dir("/usr");
    let failure = agent
        .on_stderr(move |line| hearing.lock().unwrap().push(line.to_owned()))
        .run(&client(), async |_| Ok(()))
        .await
        .unwrap_err();
    assert_eq!(ended(&failure).stderr, ["/usr", "x y none a b c", "half"]);
    assert_eq!(*said.lock().unwrap(), ended(&failure).stderr);
    let failure =
        sh("/usr/bin/env >&2").env("GONE", "1").env_clear().env("KEPT", "2").run(&client(), async |_| Ok(())).await;
    let lines = ended(failure.as_ref().unwrap_err()).stderr.clone();
    assert!(lines.contains(&"KEPT=2".to_owned()) && !lines.iter().any(|line| line.starts_with("GONE")), "{lines:?}");
}

/// The process group of a process.
fn group(number: u32) -> String {
    let status = fs::read_to_string(format!("/proc/{number}/stat")).unwrap();
    status.rsplit(") ").next().unwrap().split(' ').nth(2).unwrap().to_owned()
}

#[tokio::test]
async fn a_group_of_its_own_or_not() {
    for own in [true, false] {
        let (starting, driving) = spawn(example("agent")).group(own).on_stderr(|_| {}).connect(client()).unwrap();
        tokio::spawn(driving);
        let agent = starting.open().await.unwrap();
        assert_eq!(group(agent.id()) == group(std::process::id()), !own);
        let number = agent.id();
        agent.close().await;
        assert!(!runs(number));
    }
}

#[tokio::test]
async fn dropping_what_drives_it_kills_the_agent() {
    let mark = mark();
    let (starting, driving) = wrapped(&mark).on_stderr(|_| {}).connect(client()).unwrap();
    let driving = tokio::spawn(driving);
    let agent = starting.open().await.unwrap();
    assert_eq!(alive(&mark).len(), 2);
    driving.abort();
    assert_eq!(agent.ended().await.exit, Exit::Unknown);
    assert!(agent.new_session("/").await.is_err());
    assert!(left(&mark, SOON).await.is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn several_threads_and_agents_with_all_that_a_client_has() {
    let client = libacp_tokio::files!(client(), Files::new());
    let client = Arc::new(libacp_tokio::terminals!(client, Terminals::new()));
    let talks = (0..3).map(|number| {
        let client = Arc::clone(&client);
        tokio::spawn(async move {
            let agent = spawn(example("agent")).on_stderr(|_| {});
            agent
                .run(&client, async move |agent| {
                    let session = agent.new_session("/usr").await?;
                    let mut turn = session.prompt(format!("!pwd; echo {number}\n</usr/none"));
                    let mut said = String::new();
                    while let Some(update) = turn.update().await? {
                        said += update.text().unwrap_or_default();
                    }
                    Ok(said)
                })
                .await
        })
    });
    for (number, talk) in talks.collect::<Vec<_>>().into_iter().enumerate() {
        let said = talk.await.unwrap().unwrap();
        assert!(said.starts_with(&format!("/usr\n{number}\n")) && said.contains("There is no such file"), "{said}");
    }
}

#[tokio::test]
async fn a_client_that_offers_nothing() {
    let said = Arc::new(Mutex::new(String::new()));
    let hearing = Arc::clone(&said);
    let client = client().on_update(async move |received| {
        hearing.lock().unwrap().push_str(received.text().unwrap_or_default());
        Ok(())
    });
    let agent = spawn(example("agent")).on_stderr(|_| {});
    agent
        .run(&client, async |agent| {
            agent.new_session("/").await?.prompt("!pwd\n</x\nhello").finish().await?;
            Ok(())
        })
        .await
        .unwrap();
    within(SOON, || said.lock().unwrap().len() > 80).await;
    assert_eq!(*said.lock().unwrap(), "This client runs no commands.\nThis client reads no files.\nYou said: hello\n");
}

#[tokio::test]
async fn a_trace_in_a_file() {
    let folder = support::Folder::new();
    let path = folder.at("wire.log");
    for _ in 0..2 {
        let client = client().trace(trace_to(&path).unwrap());
        let agent = spawn(example("agent")).on_stderr(|_| {});
        let said = agent
            .run(&client, async |agent| Ok(agent.new_session("/").await?.prompt("hello").read_text().await?))
            .await
            .unwrap();
        assert_eq!(said, "You said: hello\n");
    }
    #[cfg(unix)]
    assert_eq!(std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&path).unwrap().permissions()) & 0o777, 0o600);
    let written = fs::read_to_string(&path).unwrap();
    let number = std::process::id();
    let lines: Vec<_> = written.lines().collect();
    // Three requests and their answers, and one update, twice.
    assert_eq!(lines.len(), 14, "{written}");
    assert!(lines[0].starts_with(&format!("{number} client -> {{")) && lines[0].contains("\"initialize\""));
    assert!(lines[13].starts_with(&format!("{number} client <- {{")) && lines[13].contains("end_turn"));
    assert!(trace_to(folder.at("none/wire.log")).is_err());
}
