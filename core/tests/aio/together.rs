//! Agents and clients of this crate with each other: where their futures can run, and a whole turn.

use std::cell::Cell;
use std::rc::Rc;

use futures::channel::mpsc;
use futures::executor::{block_on, LocalPool};
use futures::future::join;
use futures::task::LocalSpawnExt;
use futures::StreamExt;
use libacp::aio::{messages, streams, Agent, AgentPeer, Client, Permission, Reply};
use libacp::schema::v1;
use serde_json::json;

use crate::clients::text;
use crate::pipe::Pipe;

fn send<T: Send + 'static>(value: T) -> T {
    value
}

#[test]
fn everything_can_be_sent_where_the_handlers_can() {
    let (to_agent, to_client) = (Pipe::new(4096), Pipe::new(4096));
    let count = std::sync::atomic::AtomicUsize::new(0);
    let agent = Agent::new("test", "1")
        .new_session(async |_| Ok(Reply::default()))
        .prompt_with(async move |turn| {
            count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            let mut call = turn.tool_call("Read", v1::ToolKind::Read).await?;
            let permission = call.ask_permission().await?;
            call.text(&format!("{}", permission.allowed)).await?;
            let terminal = turn.terminal("ls", ["-l"]).await;
            assert!(terminal.is_err());
            call.complete().await?;
            turn.plan(["one", "two"]).await?;
            turn.thought("done").await?;
            Ok(v1::PromptResponse::new(v1::StopReason::Refusal).into())
        })
        .on::<fn(v1::SetSessionModeRequest), _>(async |_| Ok(v1::SetSessionModeResponse::default().into()))
        .on_notification::<fn(v1::CancelNotification), _>(async |_| Ok(()))
        .on_violation(|violation| panic!("{violation:?}"))
        .on_error(|method, failure| panic!("{method}: {failure}"));
    let serving = {
        let (input, output) = (to_agent.clone(), to_client.clone());
        send(async move { agent.serve(streams(input, output)).await })
    };
    let client = Client::new("test", "1")
        .permission(async |request| Ok(request.allow()))
        .on_update(async |_| Ok(()))
        .on_violation(|violation| panic!("{violation:?}"));
    let (connecting, driving) = client.connect(streams(to_client, to_agent));
    let driving = send(driving);
    let work = send(async move {
        let agent = connecting.open().await?;
        let session = agent.new_session("/work").await?;
        let mut turn = session.prompt("hello");
        let mut kinds = Vec::new();
        while let Some(update) = turn.update().await? {
            kinds.push(serde_json::to_value(update).unwrap()["sessionUpdate"].as_str().unwrap().to_owned());
        }
        let reason = turn.stop_reason().cloned();
        agent.close();
        Ok::<_, libacp::aio::Error>((kinds, reason))
    });
    let threads = [std::thread::spawn(|| block_on(serving)), std::thread::spawn(|| block_on(driving))];
    let (kinds, reason) = block_on(work).unwrap();
    for thread in threads {
        thread.join().unwrap().unwrap();
    }
    assert_eq!(kinds, ["tool_call", "tool_call_update", "tool_call_update", "plan", "agent_thought_chunk"]);
    assert_eq!(reason, Some(v1::StopReason::Refusal));
}

#[test]
fn handlers_that_cannot_be_sent_run_on_one_thread() {
    let (to_agent, from_client) = mpsc::channel::<String>(1);
    let (to_client, from_agent) = mpsc::channel::<String>(1);
    let prompts = Rc::new(Cell::new(0));
    let mut pool = LocalPool::new();
    let agent = Agent::new("test", "1").prompt({
        let prompts = Rc::clone(&prompts);
        async move |turn| {
            prompts.set(prompts.get() + 1);
            turn.message(turn.text()).await?;
            Ok(())
        }
    });
    let from_client = from_client.map(Ok::<_, std::io::Error>);
    let from_agent = from_agent.map(Ok::<_, std::io::Error>);
    pool.spawner().spawn_local(async move { agent.serve(messages(from_client, to_client)).await.unwrap() }).unwrap();
    let client = Client::new("test", "1");
    let said = pool.run_until(client.run(messages(from_agent, to_agent), async |agent: AgentPeer| {
        // Several sessions at once.
        let (one, two) = join(agent.new_session("/one"), agent.new_session("/two")).await;
        let (one, two) = (one?, two?);
        assert_ne!(one.id(), two.id());
        let (mut one, mut two) = (one.prompt("one"), two.prompt("two"));
        let (one, two) = join(one.update(), two.update()).await;
        Ok([one?.map(text), two?.map(text)])
    }));
    assert_eq!(said.unwrap(), [Some("one".to_owned()), Some("two".to_owned())]);
    pool.run();
    assert_eq!(prompts.get(), 2);
}

#[test]
fn permissions_files_and_terminals_go_round() {
    let (to_agent, to_client) = (Pipe::new(64), Pipe::new(64));
    let agent = Agent::new("test", "1").prompt(async |turn| {
        let mut call = v1::ToolCall::new("mine", "Build");
        call.status = Some(v1::ToolCallStatus::Pending);
        let mut call = turn.tool_call_with(call).await?;
        let Permission { allowed, .. } = call.ask_permission().await?;
        assert!(allowed);
        let text = turn.read_text_file("/work/a").await?;
        turn.write_text_file("/work/b", &text.to_uppercase()).await?;
        call.diff("/work/b", &text.to_uppercase(), None).await?;
        let terminal = turn.terminal("make", ["test"]).await?;
        call.show(&terminal).await?;
        assert_eq!(terminal.wait().await?.exit_code, Some(0));
        assert_eq!(&*terminal.output().await?.output, "ok");
        terminal.kill().await?;
        terminal.release().await?;
        call.fail("no reason").await?;
        Ok(())
    });
    let agent = agent.on_error(|method, failure| panic!("{method}: {failure}"));
    let written = Cell::new(String::new());
    let open = Cell::new(0);
    let client = Client::new("test", "1")
        .permission(async |request| Ok(request.allow()))
        .on::<fn(v1::ReadTextFileRequest), _>(async |_| Ok(v1::ReadTextFileResponse::new("text").into()))
        .on::<fn(v1::WriteTextFileRequest), _>(async |params| {
            written.set(params.content.to_string());
            Ok(Reply::default())
        })
        .on::<fn(v1::CreateTerminalRequest), _>(async |params| {
            assert_eq!(params.args, ["test"]);
            open.set(open.get() + 1);
            Ok(v1::CreateTerminalResponse::new("t").into())
        })
        .on::<fn(v1::WaitForTerminalExitRequest), _>(async |_| {
            let mut status = v1::WaitForTerminalExitResponse::default();
            status.exit_code = Some(0);
            Ok(status.into())
        })
        .on::<fn(v1::TerminalOutputRequest), _>(async |_| {
            let mut output = v1::TerminalOutputResponse::new("ok", false);
            output.exit_status = Some(v1::TerminalExitStatus::default());
            Ok(output.into())
        })
        .on::<fn(v1::KillTerminalRequest), _>(async |_| Ok(Reply::default()))
        .on::<fn(v1::ReleaseTerminalRequest), _>(async |_| {
            open.set(open.get() - 1);
            Ok(Reply::default())
        })
        .on_error(|method, failure| panic!("{method}: {failure}"));
    let work = client.run(streams(to_client.clone(), to_agent.clone()), async |agent: AgentPeer| {
        let session = agent.new_session("/work").await?;
        let mut turn = session.prompt("go");
        let mut last = json!(null);
        while let Some(update) = turn.update().await? {
            last = serde_json::to_value(update)?;
        }
        let kinds: Vec<_> = last["content"].as_array().unwrap().iter().map(|item| item["type"].clone()).collect();
        assert_eq!(kinds, ["diff", "terminal", "content"]);
        assert_eq!(last["status"], "failed");
        session.close().await?;
        assert!(agent.session(session.id()).is_none());
        Ok(())
    });
    let (served, worked) = block_on(join(agent.serve(streams(to_agent, to_client)), work));
    served.unwrap();
    worked.unwrap();
    assert_eq!((written.take().as_str(), open.get()), ("TEXT", 0));
}
