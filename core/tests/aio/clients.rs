//! Clients, and agents that are written by hand.

use std::cell::RefCell;
use std::time::Duration;

use futures::executor::block_on;
use futures::future::{join, select, Either};
use futures::{StreamExt, TryStreamExt};
use libacp::aio::{streams, timed, AgentPeer, Client, Error, Failure, Handlers, Update};
use libacp::connection::MisuseKind;
use libacp::schema::v1;
use libacp::Config;
use serde_json::{json, Value};

use crate::pipe::{sleep, ByHand, Pipe};

/// Runs a client beside an agent that is written by hand.
pub(crate) fn with_agent<H: Handlers>(
    client: &Client<H>,
    work: impl AsyncFnOnce(AgentPeer) -> Result<(), Failure>,
    agent: impl AsyncFnOnce(&mut ByHand),
) {
    let (input, output) = (Pipe::new(4096), Pipe::new(4096));
    let mut by_hand = ByHand::new(&output, &input);
    let (worked, ()) = block_on(join(client.run(streams(input, output), work), agent(&mut by_hand)));
    worked.unwrap();
}

pub(crate) fn update(session: &str, text: &str) -> Value {
    let content = json!({"type": "text", "text": text});
    json!({"sessionId": session, "update": {"sessionUpdate": "agent_message_chunk", "content": content}})
}

/// The text of an update that has one.
#[expect(clippy::needless_pass_by_value, reason = "streams of updates are mapped with it")]
pub(crate) fn text(update: Update) -> String {
    update.text().unwrap_or_else(|| panic!("{update:?}")).to_owned()
}

#[test]
fn updates_come_before_the_end_of_their_turn() {
    let between = RefCell::new(Vec::new());
    let client = Client::new("test", "1").on_update(async |received| {
        between.borrow_mut().push((received.session().unwrap().id().to_owned(), text((*received).clone())));
        Ok(())
    });
    let work = async |agent: AgentPeer| {
        let session = agent.new_session("/work").await?;
        let mut turn = session.prompt("one");
        let updates: Vec<_> = turn.by_ref().map_ok(text).try_collect().await?;
        assert_eq!(updates, ["a", "b"]);
        assert_eq!(turn.stop_reason(), Some(&v1::StopReason::MaxTokens));
        assert!(turn.update().await?.is_none());
        let answer = session.prompt("two").finish().await?;
        assert_eq!(answer.stop_reason, v1::StopReason::EndTurn);
        // Its updates were there before it, and are handled by now or soon.
        agent.request("_test/wait", &json!({})).await?;
        Ok(())
    };
    with_agent(&client, work, async |agent| {
        agent.welcome(json!({})).await;
        for (texts, reason) in [(["a", "b"], "max_tokens"), (["c", "d"], "end_turn")] {
            let prompt = agent.hear().await;
            for text in texts {
                agent.tell("session/update", update("s", text)).await;
            }
            agent.answer(&prompt, json!({"stopReason": reason})).await;
        }
        let wait = agent.hear().await;
        agent.answer(&wait, json!({})).await;
    });
    let of_s = |text: &str| ("s".to_owned(), text.to_owned());
    assert_eq!(*between.borrow(), [of_s("c"), of_s("d")]);
}

#[test]
fn dropping_a_call_or_a_turn_cancels_it() {
    let work = async |agent: AgentPeer| {
        let session = agent.new_session("/work").await?;
        // Long enough for the call to be sent.
        let call = agent.request("_test/slow", &json!({}));
        match select(call, Box::pin(agent.request("_test/quick", &json!({})))).await {
            Either::Left(_) => panic!("the slow one was answered"),
            Either::Right((quick, slow)) => {
                quick?;
                drop(slow);
            }
        }
        let mut turn = session.prompt("one");
        turn.update().await?;
        drop(turn);
        // It waits for the end of the one before.
        let mut turn = session.prompt("two");
        assert_eq!(turn.update().await?.map(text).as_deref(), Some("three"));
        // One that was never polled was never sent.
        drop(agent.request("_test/never", &json!({})));
        turn.finish().await?;
        Ok(())
    };
    with_agent(&Client::new("test", "1"), work, async |agent| {
        agent.welcome(json!({})).await;
        let (slow, quick) = (agent.hear().await, agent.hear().await);
        assert_eq!(slow["method"], "_test/slow");
        agent.answer(&quick, json!({})).await;
        let cancel = agent.hear().await;
        assert_eq!(cancel["method"], "$/cancel_request", "{cancel}");
        assert_eq!(cancel["params"]["requestId"], slow["id"]);
        agent.answer(&slow, json!({"too": "late"})).await;

        let prompt = agent.hear().await;
        agent.tell("session/update", update("s", "one")).await;
        let cancel = agent.hear().await;
        assert_eq!(cancel["method"], "session/cancel", "{cancel}");
        assert_eq!(cancel["params"]["sessionId"], "s");
        agent.tell("session/update", update("s", "two")).await;
        agent.answer(&prompt, json!({"stopReason": "cancelled"})).await;

        let prompt = agent.hear().await;
        assert_eq!(prompt["params"]["prompt"][0]["text"], "two", "{prompt}");
        agent.tell("session/update", update("s", "three")).await;
        agent.answer(&prompt, json!({"stopReason": "end_turn"})).await;
        assert_eq!(agent.hear().await, Value::Null);
    });
}

#[test]
fn the_end_of_the_stream_ends_calls_and_turns() {
    let work = async |agent: AgentPeer| {
        let session = agent.new_session("/work").await?;
        let mut turn = session.prompt("one");
        let call = agent.request("_test/slow", &json!({}));
        let (updates, call) = join(turn.by_ref().collect::<Vec<_>>(), call).await;
        assert!(matches!(call, Err(Error::Closed { .. })));
        assert!(matches!(&updates[..], [Ok(_), Err(Error::Closed { .. })]), "{updates:?}");
        assert!(agent.is_closed());
        assert!(!session.is_open() && agent.session("s").is_none(), "sessions end with the connection");
        assert!(matches!(agent.new_session("/work").await, Err(Error::Closed { .. })));
        assert!(matches!(session.cancel().await, Err(Error::Closed { .. })), "a notification is not sent either");
        Ok(())
    };
    with_agent(&Client::new("test", "1"), work, async |agent| {
        agent.welcome(json!({})).await;
        let _ = (agent.hear().await, agent.hear().await);
        agent.tell("session/update", update("s", "one")).await;
        agent.close().await;
    });
}

#[test]
fn a_connection_that_nobody_drives_any_more_is_over() {
    let (input, output) = (Pipe::new(4096), Pipe::new(4096));
    let mut by_hand = ByHand::new(&output, &input);
    let (connecting, driving) = Client::new("test", "1").connect(streams(input, output));
    let (mut driving, mut opening) = (Box::pin(driving), Box::pin(connecting.open()));
    block_on(async {
        let hello = Box::pin(by_hand.hear());
        let Either::Left((hello, _)) = select(hello, select(&mut opening, &mut driving)).await else {
            panic!("it has ended")
        };
        assert_eq!(hello["method"], "initialize");
        drop(driving);
        assert!(matches!(opening.await, Err(Error::Closed { .. })));
    });
}

#[test]
fn permission_is_refused_where_nobody_decides() {
    let decided = Client::new("test", "1").permission(async |request| Ok(request.allow()));
    let work = async |agent: AgentPeer| {
        agent.new_session("/work").await?.prompt("go").finish().await?;
        Ok(())
    };
    let asked = |expected: &'static str| {
        async move |agent: &mut ByHand| {
            agent.welcome(json!({})).await;
            let prompt = agent.hear().await;
            let option = |id, kind| json!({"optionId": id, "name": id, "kind": kind});
            let options = json!([option("y", "allow_once"), option("n", "reject_once")]);
            let call = json!({"toolCallId": "c", "title": "Do it"});
            agent.tell("session/update", json!({"sessionId": "s", "update": {"sessionUpdate": "tool_call", "toolCallId": "c", "title": "Do it"}})).await;
            let params = json!({"sessionId": "s", "toolCall": call, "options": options});
            agent.ask(5, "session/request_permission", params).await;
            let answer = agent.hear().await;
            assert_eq!(answer["result"]["outcome"]["optionId"], expected, "{answer}");
            agent.answer(&prompt, json!({"stopReason": "end_turn"})).await;
        }
    };
    with_agent(&Client::new("test", "1"), work, asked("n"));
    with_agent(&decided, work, asked("y"));
}

#[test]
fn what_allows_for_good_is_not_what_allows_this_time() {
    let decided = Client::new("test", "1").permission(async |request| {
        assert_eq!((request.allow(), request.allow_always().as_deref()), (None, Some("always")));
        Ok(request.allow())
    });
    let work = async |agent: AgentPeer| {
        agent.new_session("/work").await?.prompt("go").finish().await?;
        Ok(())
    };
    with_agent(&decided, work, async |agent| {
        agent.welcome(json!({})).await;
        let prompt = agent.hear().await;
        let options = json!([{"optionId": "always", "name": "Always", "kind": "allow_always"}]);
        let call = json!({"toolCallId": "c", "title": "Do it"});
        agent
            .ask(5, "session/request_permission", json!({"sessionId": "s", "toolCall": call, "options": options}))
            .await;
        assert_eq!(agent.hear().await["result"]["outcome"], json!({"outcome": "cancelled"}));
        agent.answer(&prompt, json!({"stopReason": "end_turn"})).await;
    });
}

#[test]
fn files_are_offered_by_their_handler() {
    let client = Client::new("test", "1").on::<fn(v1::ReadTextFileRequest), _>(async |received| {
        assert_eq!(received.session().unwrap().roots(), ["/work"]);
        Ok(v1::ReadTextFileResponse::new(format!("text of {}", received.path)).into())
    });
    let work = async |agent: AgentPeer| {
        agent.new_session("/work").await?.prompt("go").finish().await?;
        Ok(())
    };
    with_agent(&client, work, async |agent| {
        let hello = agent.hear().await;
        assert_eq!(hello["params"]["clientCapabilities"]["fs"], json!({"readTextFile": true}));
        assert_eq!(hello["params"]["clientInfo"]["name"], "test");
        agent.answer(&hello, json!({"protocolVersion": 1})).await;
        let new = agent.hear().await;
        agent.answer(&new, json!({"sessionId": "s"})).await;
        let prompt = agent.hear().await;
        agent.ask(1, "fs/read_text_file", json!({"sessionId": "s", "path": "/work/a"})).await;
        assert_eq!(agent.hear().await["result"]["content"], "text of /work/a");
        agent.answer(&prompt, json!({"stopReason": "end_turn"})).await;
    });
}

#[test]
fn misuse_is_told_before_anything_is_sent() {
    let work = async |agent: AgentPeer| {
        let Err(Error::Misuse(misuse)) = agent.new_session("work").await else { panic!("it went through") };
        assert_eq!((misuse.kind, &*misuse.pointer), (MisuseKind::Params, "/cwd"));
        let Err(Error::Misuse(misuse)) = agent.delete_session("s").await else { panic!("it went through") };
        assert_eq!(misuse.kind, MisuseKind::Capability);
        agent.new_session("/work").await?;
        Ok(())
    };
    // The first that the agent hears after `initialize` is the call that was right.
    with_agent(&Client::new("test", "1"), work, async |agent| agent.welcome(json!({})).await);
}

#[test]
fn a_session_is_loaded_after_its_replay() {
    let work = async |agent: AgentPeer| {
        agent.new_session("/work").await?;
        let mut loading = agent.load_session("old", "/work");
        let mut replay = Vec::new();
        while let Some(update) = loading.update().await? {
            replay.push(text(update));
        }
        assert_eq!(replay, ["a", "b"]);
        assert_eq!(loading.session().await?.id(), "old");
        let sessions: Vec<_> = agent.list_sessions().map_ok(|info| info.session_id.to_string()).try_collect().await?;
        assert_eq!(sessions, ["s", "old"]);
        Ok(())
    };
    with_agent(&Client::new("test", "1"), work, async |agent| {
        agent.welcome(json!({"loadSession": true, "sessionCapabilities": {"list": {}}})).await;
        let load = agent.hear().await;
        for text in ["a", "b"] {
            agent.tell("session/update", update("old", text)).await;
        }
        agent.answer(&load, json!({})).await;
        for (id, cursor) in [("s", json!("next")), ("old", Value::Null)] {
            let list = agent.hear().await;
            let sessions = json!([{"sessionId": id, "cwd": "/work"}]);
            agent.answer(&list, json!({"sessions": sessions, "nextCursor": cursor})).await;
        }
    });
}

#[test]
fn a_clock_ends_calls_that_take_too_long() {
    let mut config = Config::client();
    // Long enough for requests that are answered at once, even on a busy machine.
    config.timeout = Some(1000);
    let client = Client::new("test", "1").config(config);
    let (input, output) = (Pipe::new(4096), Pipe::new(4096));
    let mut by_hand = ByHand::new(&output, &input);
    let start = std::time::Instant::now();
    let transport = timed(streams(input, output), move || start.elapsed(), sleep);
    let work = client.run(transport, async |agent| {
        agent.new_session("/work").await?;
        std::thread::sleep(Duration::from_millis(50));
        let answer = agent.request("_test/slow", &json!({})).await;
        assert!(matches!(answer, Err(Error::Timeout { .. })), "{answer:?}");
        Ok(())
    });
    let before = std::time::Instant::now();
    let (worked, ()) = block_on(join(work, async { by_hand.welcome(json!({})).await }));
    worked.unwrap();
    assert!(before.elapsed() >= Duration::from_millis(1050));
}

#[test]
fn an_answer_that_cannot_be_used_is_told_with_its_rule() {
    let work = async |agent: AgentPeer| {
        let session = agent.new_session("/work").await?;
        let wrong = session.prompt("go").finish().await.unwrap_err();
        assert!(matches!(wrong, Error::Invalid { .. }));
        let text = wrong.to_string();
        assert!(text.starts_with("session/prompt: the peer's answer cannot be used: "), "{text}");
        assert!(text.contains(": /stopReason: "), "{text}");
        // That session is there still.
        let wrong = agent.new_session("/work").await.unwrap_err();
        let text = wrong.to_string();
        assert!(text.starts_with("session/new: the peer's answer cannot be used: SESS-"), "{text}");
        Ok(())
    };
    with_agent(&Client::new("test", "1"), work, async |agent| {
        agent.welcome(json!({})).await;
        for answer in [json!({"stopReason": 1}), json!({"sessionId": "s"})] {
            let request = agent.hear().await;
            agent.answer(&request, answer).await;
        }
    });
}
