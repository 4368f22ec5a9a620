//! Conveniences of `libacp::aio`: hooks for the end of sessions and for all messages, data of extensions with short calls,
//! texts and titles.

use std::cell::RefCell;
use std::future::Future;

use futures::channel::mpsc;
use futures::executor::block_on;
use futures::future::join;
use futures::{FutureExt, StreamExt, TryStreamExt};
use libacp::aio::{messages, streams, Agent, AgentPeer, Client, Failure, Handlers, Reply, Transport};
use libacp::schema::v1::{self, SessionUpdate};
use libacp::schema::Raw;
use libacp::Role;

/// The two ends of a wire of messages.
fn wires() -> (impl Transport, impl Transport) {
    let (to_agent, from_client) = mpsc::channel::<String>(8);
    let (to_client, from_agent) = mpsc::channel::<String>(8);
    let end = |input: mpsc::Receiver<String>, output| messages(input.map(Ok::<_, std::io::Error>), output);
    (end(from_client, to_client), end(from_agent, to_agent))
}

/// An agent and a client in one program, until the work is done.
fn talk<R>(
    agent: &Agent<impl Handlers>,
    client: &Client<impl Handlers>,
    work: impl AsyncFnOnce(AgentPeer) -> Result<R, Failure>,
) -> R {
    let (theirs, ours) = wires();
    let (served, worked) = block_on(join(agent.serve(theirs), client.run(ours, work)));
    served.unwrap();
    worked.unwrap()
}

fn meta(json: &'static str) -> Raw<'static> {
    Raw::new(json).unwrap()
}

#[test]
fn both_sides_hear_of_the_end_of_a_session() {
    let (ours, theirs) = (RefCell::new(Vec::new()), RefCell::new(Vec::new()));
    let agent = Agent::new("test", "1")
        .new_session(async |received| {
            let session = received.session().unwrap();
            session.set_data(session.cwd().unwrap());
            Ok(Reply::default())
        })
        .on::<fn(v1::DeleteSessionRequest), _>(async |_| Ok(Reply::default()))
        .on_session_end(|session| {
            // What was kept is there once more, and the session is over.
            let data = session.data::<String>().unwrap();
            assert_eq!((session.cwd().as_ref(), session.is_open()), (Some(&*data), false));
            theirs.borrow_mut().push(session.id().to_owned());
        });
    let client = Client::new("test", "1").on_session_end(|session| {
        assert!(!session.is_open() && session.data::<u8>().as_deref() == Some(&7) && session.opened().is_some());
        ours.borrow_mut().push(session.id().to_owned());
    });
    let ids = talk(&agent, &client, async |agent| {
        let mut ids = Vec::new();
        for cwd in ["/a", "/b", "/c"] {
            let session = agent.new_session(cwd).await?;
            assert_eq!(session.cwd().as_deref(), Some(cwd));
            session.set_data(7_u8);
            ids.push(session.id().to_owned());
        }
        agent.session(&ids[0]).unwrap().close().await?;
        assert_eq!((&*ours.borrow(), &*theirs.borrow()), (&ids[..1].to_vec(), &ids[..1].to_vec()));
        agent.delete_session(&ids[1]).await?;
        assert_eq!(*ours.borrow(), ids[..2]);
        // One that was made in vain is none.
        assert!(agent.new_session("/d").now_or_never().is_none());
        Ok(ids)
    });
    assert_eq!(*ours.borrow(), ids);
    let mut theirs = theirs.borrow().clone();
    theirs.retain(|id| ids.contains(id));
    assert_eq!(theirs, ids);
}

#[test]
fn a_connection_that_is_dropped_ends_its_sessions() {
    let ended = RefCell::new(Vec::new());
    let agent = Agent::new("test", "1").on_session_end(|session| ended.borrow_mut().push(session.id().to_owned()));
    let (theirs, ours) = wires();
    let serving = Box::pin(agent.serve(theirs));
    let client = Client::new("test", "1");
    let work = client.run(ours, async |agent| Ok(agent.new_session("/").await?.id().to_owned()));
    let opening = futures::future::select(serving, Box::pin(work));
    let id = match block_on(opening) {
        futures::future::Either::Right((id, serving)) => {
            drop(serving);
            id.unwrap()
        }
        futures::future::Either::Left((served, _)) => panic!("{served:?}"),
    };
    assert_eq!(*ended.borrow(), [id]);
}

#[test]
fn all_messages_are_traced_on_both_sides() {
    let lines = |traced: &RefCell<Vec<String>>| traced.borrow().clone();
    let (ours, theirs) = (RefCell::default(), RefCell::default());
    let keep = |role: Role, to: &RefCell<Vec<String>>, message: &libacp::aio::Traced<'_>| {
        assert_eq!(message.role, role);
        to.borrow_mut().push(message.to_string());
    };
    let agent = Agent::new("test", "1").prompt(async |_| Ok(())).trace(|message| keep(Role::Agent, &theirs, message));
    let client = Client::new("test", "1").trace(|message| keep(Role::Client, &ours, message));
    talk(&agent, &client, async |agent| {
        agent.new_session("/").await?.prompt("hello").finish().await?;
        Ok(())
    });
    let turned = |line: &String| match line.split_at(2) {
        ("->", rest) => format!("<-{rest}"),
        (_, rest) => format!("->{rest}"),
    };
    assert_eq!(lines(&ours).len(), 6);
    assert!(lines(&ours)[0].starts_with("-> {") && lines(&ours)[0].contains("\"initialize\""), "{:?}", lines(&ours));
    assert_eq!(lines(&ours).iter().map(turned).collect::<Vec<_>>(), lines(&theirs));
}

/// Bytes come in any pieces, with other line ends, and the last line may have none; what has no end is not kept.
#[test]
fn messages_are_traced_one_by_one() {
    let traced = RefCell::new(Vec::new());
    let mut config = libacp::Config::agent();
    config.limits.frame = 64;
    let agent = Agent::new("test", "1").config(config).on_violation(|_| {}).trace(|message| {
        if !message.sent {
            traced.borrow_mut().push(String::from_utf8_lossy(message.message).into_owned());
        }
    });
    let long = "x".repeat(200);
    let pieces = ["[1]", "\r\n\n[2]\n[", "3", "]\n", &long, "\n[4]"].map(|piece| Ok(piece.as_bytes().to_vec()));
    let input = futures::stream::iter(pieces).into_async_read();
    block_on(agent.serve(streams(input, futures::io::sink()))).unwrap();
    let traced = traced.borrow();
    assert_eq!((&traced[..3], traced.last().unwrap().as_str()), (&["[1]", "[2]", "[3]"].map(String::from)[..], "[4]"));
    assert_eq!(traced.concat().matches('x').count(), 200);
}

#[test]
fn data_of_extensions_goes_with_short_calls() {
    let seen = RefCell::new(Vec::new());
    let see = |method: &str, meta: Option<&Raw<'_>>| {
        seen.borrow_mut().push(format!("{method} {}", meta.map_or("nothing", Raw::as_str)));
    };
    let agent = Agent::new("test", "1")
        .initialize(async |received| {
            see("initialize", received.meta.as_ref());
            Ok(Reply::default())
        })
        .new_session(async |received| {
            see("new", received.meta.as_ref());
            Ok(Reply::default())
        })
        .load_session(async |received| {
            see("load", received.meta.as_ref());
            Ok(Reply::default())
        })
        .on_notification::<fn(v1::CancelNotification), _>(async |received| {
            see("cancel", received.meta.as_ref());
            Ok(())
        })
        .prompt(async |turn| {
            see("prompt", turn.meta());
            turn.message("one").meta(meta(r#"{"n":1}"#)).await?;
            let allowed = turn.ask_permission(v1::ToolCallUpdate::new("call").title("Run")).await?;
            see("allowed", allowed.meta.as_ref());
            Ok(())
        });
    let client = Client::new("test", "1").meta(meta(r#"{"n":2}"#)).permission(async |request| {
        let outcome = v1::RequestPermissionOutcome::Selected(v1::SelectedPermissionOutcome::new(
            request.allow().unwrap_or_default(),
        ));
        Ok(v1::RequestPermissionResponse::new(outcome).meta(meta(r#"{"n":3}"#)))
    });
    talk(&agent, &client, async |agent| {
        let session = agent.new_session("/").meta(meta(r#"{"n":4}"#)).await?;
        let mut turn = session.prompt("go").meta(meta(r#"{"n":5}"#));
        let first = turn.update().await?.unwrap();
        assert_eq!(first.meta().map(Raw::as_str), Some(r#"{"n":1}"#));
        turn.finish().await?;
        session.cancel().meta(meta(r#"{"n":6}"#)).await?;
        agent.load_session(session.id(), "/").meta(meta(r#"{"n":7}"#)).session().await?;
        // What is no object has no place for it, and is not sent.
        let refused = agent.request("_list", &[1]).meta(meta("{}")).await.unwrap_err();
        assert_eq!(refused.to_string(), "_list: params with _meta have to be an object");
        let params = agent.request("_nothing", &()).meta(meta("{}")).await.unwrap_err();
        assert!(matches!(params, libacp::aio::Error::Peer { .. }), "{params}");
        Ok(())
    });
    let expected = [
        r#"initialize {"n":2}"#,
        r#"new {"n":4}"#,
        r#"prompt {"n":5}"#,
        r#"allowed {"n":3}"#,
        r#"cancel {"n":6}"#,
        r#"load {"n":7}"#,
    ];
    assert_eq!(*seen.borrow(), expected);
}

#[test]
fn texts_and_titles() {
    let seen = RefCell::new(Vec::new());
    let agent = Agent::new("test", "1").prompt(async |turn| {
        let piece = |text: &str| v1::ContentChunk::new(text.to_owned().into()).message_id("m");
        turn.message_with(piece("one, ")).await?;
        turn.thought_with(piece("hm")).await?;
        let call = v1::ToolCall::new("a", "Known before").status(v1::ToolCallStatus::Pending);
        let mut call = turn.tool_call_with(call).await?;
        assert_eq!((call.title(), call.status()), ("Known before", Some(&v1::ToolCallStatus::Pending)));
        for id in ["a", "b"] {
            turn.ask_permission(v1::ToolCallUpdate::new(id)).await?;
        }
        turn.ask_permission(v1::ToolCallUpdate::new("a").title("Named")).await?;
        let changes = call.changes().title("Later").status(v1::ToolCallStatus::InProgress);
        call.update(changes).await?;
        assert_eq!((call.title(), call.status()), ("Later", Some(&v1::ToolCallStatus::InProgress)));
        turn.ask_permission(call.changes()).await?;
        // One that is too long to be remembered.
        call.update(call.changes().title("x".repeat(2000))).await?;
        turn.ask_permission(v1::ToolCallUpdate::new("a")).await?;
        call.complete().await?;
        turn.ask_permission(v1::ToolCallUpdate::new("a")).await?;
        turn.message("two").await?;
        Ok(())
    });
    let client = Client::new("test", "1").permission(async |request| {
        seen.borrow_mut().push(request.title().to_owned());
        Ok(request.allow())
    });
    talk(&agent, &client, async |agent| {
        let session = agent.new_session("/").await?;
        let mut turn = session.prompt("go");
        let first = turn.update().await?.unwrap();
        let Some(SessionUpdate::AgentMessageChunk(first)) = first.v1() else { panic!("{first:?}") };
        assert_eq!(first.message_id.as_ref().map(v1::MessageId::as_str), Some("m"));
        assert_eq!(turn.read_text().await?, "two");
        assert_eq!(turn.stop_reason(), Some(&v1::StopReason::EndTurn));
        assert_eq!(agent.new_session("/").await?.prompt("again").read_text().await?, "one, two");
        Ok(())
    });
    let once = ["Known before", "b", "Named", "Later", "Later", "a"];
    assert_eq!(*seen.borrow(), [once, once].concat());
}

/// Calls can still be sent to other threads, with all hooks.
#[test]
fn futures_can_be_sent() {
    fn sent<T: Future + Send>(future: T) -> T {
        future
    }
    let agent = Agent::new("test", "1").on_session_end(|_| {}).trace(|_| {});
    let client = Client::new("test", "1").on_session_end(|_| {}).trace(|_| {});
    let (theirs, ours) = wires();
    let serving = sent(async move { agent.serve(theirs).await });
    let (connecting, driving) = client.connect(ours);
    let work = async {
        let agent = connecting.open().await.unwrap();
        sent(agent.new_session("/")).await.unwrap();
        agent.close();
    };
    let (served, driven, ()) = block_on(futures::future::join3(serving, sent(driving), work));
    served.and(driven).unwrap();
}
