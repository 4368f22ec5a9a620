//! Agents, and clients that are written by hand.

use std::cell::RefCell;
use std::future::pending;
use std::rc::Rc;

use futures::executor::block_on;
use futures::future::join;
use libacp::aio::{streams, Agent, Error, Failure, Handlers, Reply, RequestError};
use libacp::jsonrpc::ErrorCode;
use libacp::schema::{v1, Raw};
use serde_json::{json, Value};

use crate::pipe::{pass, ByHand, Pipe};

/// Serves a client that is written by hand, which closes the connection at its end.
fn with_client<H: Handlers>(agent: &Agent<H>, client: impl AsyncFnOnce(&mut ByHand)) {
    let (input, output) = (Pipe::new(4096), Pipe::new(4096));
    let mut by_hand = ByHand::new(&output, &input);
    let client = async {
        client(&mut by_hand).await;
        by_hand.close().await;
        while by_hand.hear().await != Value::Null {}
    };
    let (served, ()) = block_on(join(agent.serve(streams(input, output)), client));
    served.unwrap();
}

fn stop_reason(answer: &Value) -> &str {
    answer["result"]["stopReason"].as_str().unwrap_or_else(|| panic!("no stop reason: {answer}"))
}

#[test]
fn requests_begin_in_order_and_run_at_the_same_time() {
    let begun = RefCell::new(Vec::new());
    let agent = Agent::new("test", "1").on_extension("_test/wait", async |received| {
        begun.borrow_mut().push(received.as_str().to_owned());
        while begun.borrow().len() < 20 {
            // Each waits for all the others.
            pass().await;
        }
        Ok(received.into_params().into())
    });
    with_client(&agent, async |client| {
        client.open(json!({})).await;
        for number in 0..20 {
            client.ask(number, "_test/wait", json!({"n": number})).await;
        }
        for _ in 0..20 {
            assert!(client.hear().await["result"]["n"].is_number());
        }
    });
    let expected: Vec<_> = (0..20).map(|number| format!("{{\"n\":{number}}}")).collect();
    assert_eq!(*begun.borrow(), expected);
}

#[test]
fn notifications_are_handled_one_after_the_other_and_before_later_requests_begin() {
    let log = RefCell::new(Vec::new());
    let agent = Agent::new("test", "1")
        .on_extension_notification("_test/note", async |received| {
            log.borrow_mut().push(format!("begin {}", received.as_str()));
            received.client().request("_test/ask", &json!({})).await?;
            log.borrow_mut().push(format!("end {}", received.as_str()));
            Ok(())
        })
        .on_extension("_test/look", async |_| Ok(Raw::of(&*log.borrow())?.into()));
    with_client(&agent, async |client| {
        client.open(json!({})).await;
        client.tell("_test/note", json!({"n": 1})).await;
        client.tell("_test/note", json!({"n": 2})).await;
        let asked = client.hear().await;
        assert_eq!(asked["method"], "_test/ask");
        client.ask(7, "_test/look", json!({})).await;
        // The second one has not begun: the first waits.
        assert_eq!(client.hear().await["result"], json!([r#"begin {"n":1}"#]));
        client.answer(&asked, json!({})).await;
        let asked = client.hear().await;
        client.answer(&asked, json!({})).await;
    });
    assert_eq!(*log.borrow(), [r#"begin {"n":1}"#, r#"end {"n":1}"#, r#"begin {"n":2}"#, r#"end {"n":2}"#]);
}

#[test]
fn a_cancelled_turn_drops_its_handler_and_what_it_holds() {
    let agent = Agent::new("test", "1").prompt(async |turn| {
        let _terminal = turn.terminal("make", ["test"]).await?;
        let _call = turn.tool_call("Build", v1::ToolKind::Execute).await?;
        pending::<()>().await;
        Ok(())
    });
    with_client(&agent, async |client| {
        let session = client.open(json!({"terminal": true})).await;
        client.prompt(1, &session, "go").await;
        let create = client.hear().await;
        assert_eq!(create["params"]["args"], json!(["test"]));
        client.answer(&create, json!({"terminalId": "t"})).await;
        assert_eq!(client.hear().await["params"]["update"]["sessionUpdate"], "tool_call");
        client.tell("session/cancel", json!({"sessionId": session})).await;
        let failed = client.hear().await;
        assert_eq!(failed["params"]["update"]["status"], "failed", "{failed}");
        let release = client.hear().await;
        assert_eq!(release["method"], "terminal/release", "{release}");
        client.answer(&release, json!({})).await;
        assert_eq!(stop_reason(&client.hear().await), "cancelled");
    });
}

#[test]
fn a_turn_that_is_cancelled_before_its_terminal_is_there_releases_it_when_it_comes() {
    let agent = Agent::new("test", "1").prompt(async |turn| {
        turn.terminal("make", []).await?;
        Ok(())
    });
    with_client(&agent, async |client| {
        let session = client.open(json!({"terminal": true})).await;
        client.prompt(1, &session, "go").await;
        let create = client.hear().await;
        client.tell("session/cancel", json!({"sessionId": session})).await;
        let cancel = client.hear().await;
        assert_eq!((&cancel["method"], &cancel["params"]["requestId"]), (&json!("$/cancel_request"), &create["id"]));
        assert_eq!(stop_reason(&client.hear().await), "cancelled");
        client.answer(&create, json!({"terminalId": "t"})).await;
        let release = client.hear().await;
        assert_eq!(release["method"], "terminal/release");
        assert_eq!(release["params"]["terminalId"], "t");
        client.answer(&release, json!({})).await;
    });
}

#[test]
fn a_handler_that_asks_for_it_ends_a_cancelled_turn_by_itself() {
    let agent = Agent::new("test", "1").prompt(async |turn| {
        let cancelled = turn.cancelled();
        turn.thought("Let me see.").await?;
        cancelled.await;
        assert!(turn.is_cancelled());
        turn.message("Stopped.").await?;
        Ok(())
    });
    with_client(&agent, async |client| {
        let session = client.open(json!({})).await;
        client.prompt(1, &session, "go").await;
        client.hear().await;
        client.tell("session/cancel", json!({"sessionId": session})).await;
        assert_eq!(client.hear().await["params"]["update"]["content"]["text"], "Stopped.");
        assert_eq!(stop_reason(&client.hear().await), "cancelled");
        // The next turn is another one.
        client.prompt(2, &session, "go").await;
        client.hear().await;
        client.tell("$/cancel_request", json!({"requestId": 2})).await;
        client.hear().await;
        assert_eq!(stop_reason(&client.hear().await), "cancelled");
    });
}

#[test]
fn a_request_that_is_cancelled_drops_its_handler() {
    struct Dropped<'a>(&'a RefCell<bool>);
    impl Drop for Dropped<'_> {
        fn drop(&mut self) {
            *self.0.borrow_mut() = true;
        }
    }
    let dropped = RefCell::new(false);
    let agent = Agent::new("test", "1").on_extension("_test/wait", async |received| {
        let _dropped = Dropped(&dropped);
        received.client().notify("_test/begun", &json!({})).await?;
        pending::<()>().await;
        Ok(Reply::default())
    });
    with_client(&agent, async |client| {
        client.open(json!({})).await;
        client.ask(1, "_test/wait", json!({})).await;
        assert_eq!(client.hear().await["method"], "_test/begun");
        client.tell("$/cancel_request", json!({"requestId": 1})).await;
        assert_eq!(client.hear().await["error"]["code"], -32800);
        assert!(*dropped.borrow());
    });
}

#[test]
fn misuse_names_the_rule_and_the_place_and_sends_nothing() {
    let agent = Agent::new("test", "1").prompt(async |turn| {
        let Err(Error::Misuse(misuse)) = turn.read_text_file("/work/a").await else { panic!("it went through") };
        assert_eq!(misuse.kind, libacp::connection::MisuseKind::Capability);
        let Err(Error::Misuse(misuse)) = turn.write_text_file("a", "").await else { panic!("it went through") };
        assert_eq!(misuse.pointer, "/path");
        turn.message(format!("{} {}", misuse.rule, misuse.pointer)).await?;
        Ok(())
    });
    with_client(&agent, async |client| {
        let session = client.open(json!({"fs": {"writeTextFile": true}})).await;
        client.prompt(1, &session, "go").await;
        let said = client.hear().await;
        let text = said["params"]["update"]["content"]["text"].as_str().unwrap_or_default();
        assert!(text.ends_with(" /path"), "{said}");
        assert_eq!(stop_reason(&client.hear().await), "end_turn");
    });
}

#[test]
fn what_a_handler_fails_with_is_for_the_host_unless_it_is_meant_for_the_peer() {
    let heard = RefCell::new(Vec::new());
    let violations = RefCell::new(Vec::new());
    let agent = Agent::new("test", "1")
        .on_extension("_test/secret", async |_| Err(Failure::new("the password is wrong")))
        .on_extension("_test/told", async |_| {
            let mut error = RequestError::new(ErrorCode::RESOURCE_NOT_FOUND, "No such thing");
            error.data = Some(Raw::new("{\"thing\":1}")?);
            Err(error.into())
        })
        .on_error(|method, failure| heard.borrow_mut().push(format!("{method}: {failure}")))
        .on_violation(|violation| violations.borrow_mut().push(violation.rule.as_str()));
    with_client(&agent, async |client| {
        client.open(json!({})).await;
        client.ask(1, "_test/secret", json!({})).await;
        let answer = client.hear().await;
        assert_eq!(answer["error"], json!({"code": -32603, "message": "Internal error"}));
        client.ask(2, "_test/told", json!({})).await;
        let expected = json!({"code": -32002, "message": "No such thing", "data": {"thing": 1}});
        assert_eq!(client.hear().await["error"], expected);
        client.ask(3, "session/set_mode", json!({"sessionId": 5, "modeId": "a"})).await;
        assert_eq!(client.hear().await["error"]["code"], -32602);
        client.ask(4, "_test/nobody", json!({})).await;
        assert_eq!(client.hear().await["error"]["code"], -32601);
    });
    assert_eq!(*heard.borrow(), ["_test/secret: the password is wrong"]);
    assert_eq!(violations.borrow().len(), 1);
}

#[test]
fn the_handler_of_a_new_session_speaks_after_the_answer() {
    let agent = Agent::new("test", "1")
        .new_session(async |received| {
            assert_eq!(&*received.cwd, "/work");
            let commands = v1::AvailableCommandsUpdate::new(vec![]);
            received.session().unwrap().update(&v1::SessionUpdate::AvailableCommandsUpdate(commands)).await?;
            Ok(v1::NewSessionResponse::new("mine").into())
        })
        .load_session(async |received| {
            let said = v1::ContentChunk::new("before".into());
            received.session().unwrap().update(&v1::SessionUpdate::AgentMessageChunk(said)).await?;
            Ok(Reply::default())
        });
    with_client(&agent, async |client| {
        assert_eq!(client.open(json!({})).await, "mine");
        let update = client.hear().await;
        assert_eq!(update["params"]["sessionId"], "mine");
        assert_eq!(update["params"]["update"]["sessionUpdate"], "available_commands_update");
        client.ask(1, "session/load", json!({"sessionId": "old", "cwd": "/work", "mcpServers": []})).await;
        assert_eq!(client.hear().await["params"]["update"]["content"]["text"], "before");
        assert_eq!(client.hear().await["result"], json!({}));
        client.ask(2, "session/close", json!({"sessionId": "old"})).await;
        assert_eq!(client.hear().await["result"], json!({}));
    });
}

#[test]
fn the_end_of_the_stream_ends_turns_and_the_agent() {
    let ended = Rc::new(RefCell::new(Vec::new()));
    let agent = Agent::new("test", "1").prompt({
        let ended = Rc::clone(&ended);
        async move |turn| {
            let answer = turn.client().request("_test/never", &json!({}));
            let cancelled = turn.cancelled();
            let (answer, ()) = join(answer, cancelled).await;
            ended.borrow_mut().push(matches!(answer, Err(Error::Closed { .. })));
            let after = turn.client().request("_test/later", &json!({})).await;
            ended.borrow_mut().push(matches!(after, Err(Error::Closed { .. })));
            Ok(())
        }
    });
    with_client(&agent, async |client| {
        let session = client.open(json!({})).await;
        client.prompt(1, &session, "go").await;
        assert_eq!(client.hear().await["method"], "_test/never");
        // In the middle of a message.
        client.say(json!({})).await;
    });
    assert_eq!(*ended.borrow(), [true, true]);
}

#[test]
fn a_turn_that_is_cancelled_before_its_handler_begins_is_cancelled() {
    let begun = RefCell::new(0);
    let agent = Agent::new("test", "1").prompt(async |_| {
        *begun.borrow_mut() += 1;
        pending::<()>().await;
        Ok(())
    });
    with_client(&agent, async |client| {
        let session = client.open(json!({})).await;
        // Both are there when the agent looks.
        client.prompt(1, &session, "go").await;
        client.tell("session/cancel", json!({"sessionId": session})).await;
        assert_eq!(stop_reason(&client.hear().await), "cancelled");
    });
    assert_eq!(*begun.borrow(), 0);
}

#[test]
fn what_nobody_hears_does_not_keep_an_agent() {
    let agent = Agent::new("test", "1").prompt(async |turn| {
        for _ in 0..300 {
            turn.message("x".repeat(1000)).await?;
        }
        turn.message("y".repeat(1_000_000)).await?;
        turn.cancelled().await;
        Ok(())
    });
    with_client(&agent, async |client| {
        let session = client.open(json!({})).await;
        client.prompt(1, &session, "go").await;
        client.hear().await;
        client.turn_away().await;
    });
}

#[test]
fn a_tool_call_without_an_id_gets_one() {
    let agent = Agent::new("test", "1").prompt(async |turn| {
        let call = turn.tool_call_with(v1::ToolCall::new("", "Look")).await?;
        assert!(!call.id().is_empty());
        call.complete().await?;
        Ok(())
    });
    with_client(&agent, async |client| {
        let session = client.open(json!({})).await;
        client.prompt(1, &session, "go").await;
        let (begun, ended) = (client.hear().await, client.hear().await);
        let id = |update: &Value| update["params"]["update"]["toolCallId"].as_str().unwrap_or_default().to_owned();
        assert!(!id(&begun).is_empty(), "{begun}");
        assert_eq!(id(&begun), id(&ended));
        assert_eq!(stop_reason(&client.hear().await), "end_turn");
    });
}
