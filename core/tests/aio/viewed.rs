//! Clients that draw their sessions from views.

use std::cell::RefCell;

use futures::future::{join, select, Either};
use libacp::aio::{AgentPeer, Client};
use libacp::host::{Action, PermissionPolicy};
use libacp::view::View;
use serde_json::json;

use crate::clients::{update, with_agent};
use crate::pipe::pass;

#[test]
fn a_view_is_drawn_while_the_turn_goes_on_until_the_session_ends() {
    let drawn = RefCell::new(Vec::new());
    let client = Client::new("test", "1").views();
    let work = async |agent: AgentPeer| {
        let session = agent.new_session("/work").await?;
        let drawing = async {
            let mut revision = 0;
            while let Some(now) = session.changed(revision).await {
                assert_ne!(now, revision);
                let texts = session.view(|view| {
                    let changes = view.since(revision);
                    changes.entries().map(|entry| entry.text().to_owned()).collect::<Vec<_>>()
                });
                drawn.borrow_mut().push((texts.unwrap(), session.view(View::is_busy).unwrap()));
                revision = now;
            }
        };
        let talking = async {
            session.prompt("Hello").finish().await.unwrap();
            session.close().await.unwrap();
        };
        join(drawing, talking).await;
        assert_eq!(session.view(View::is_frozen), Some(true));
        assert!(session.forget_view() && !session.forget_view());
        assert_eq!((session.view(View::revision), session.changed(0).await), (None, None));
        Ok(())
    };
    with_agent(&client, work, async |agent| {
        agent.welcome(json!({"sessionCapabilities": {"close": {}}})).await;
        let prompt = agent.hear().await;
        for text in ["Good ", "morning."] {
            agent.tell("session/update", update("s", text)).await;
            for _ in 0..20 {
                pass().await;
            }
        }
        agent.answer(&prompt, json!({"stopReason": "end_turn"})).await;
        let close = agent.hear().await;
        agent.answer(&close, json!({})).await;
    });
    let drawn = drawn.into_inner();
    assert!(drawn.contains(&(vec!["Good ".into()], true)), "{drawn:?}");
    assert!(drawn.contains(&(vec!["Good morning.".into()], true)), "{drawn:?}");
    assert!(!drawn.last().unwrap().1, "{drawn:?}");
}

#[test]
fn whoever_waits_for_a_change_hears_of_the_end_of_the_connection_and_may_stop_waiting() {
    let client = Client::new("test", "1").views();
    let work = async |agent: AgentPeer| {
        let session = agent.new_session("/work").await?;
        let revision = session.view(View::revision).unwrap();
        let waiting = Box::pin(session.changed(revision));
        let Either::Right(((), waiting)) = select(waiting, Box::pin(pass())).await else {
            panic!("nothing has changed")
        };
        drop(waiting);
        let closing = async {
            pass().await;
            agent.close();
        };
        let (changed, ()) = join(session.changed(revision), closing).await;
        // The end is a change itself, or there is none any more.
        if let Some(last) = changed {
            assert_eq!(session.changed(last).await, None);
        }
        Ok(())
    };
    with_agent(&client, work, async |agent| {
        agent.welcome(json!({})).await;
        while agent.hear().await != serde_json::Value::Null {}
    });
}

#[test]
fn without_views_there_is_nothing_to_wait_for() {
    let client = Client::new("test", "1");
    let work = async |agent: AgentPeer| {
        let session = agent.new_session("/work").await?;
        assert!(session.view(|_| ()).is_none() && session.changed(0).await.is_none() && !session.forget_view());
        Ok(())
    };
    with_agent(&client, work, async |agent| agent.welcome(json!({})).await);
}

#[test]
fn a_policy_answers_what_it_decides_and_leaves_the_rest_to_the_handler() {
    let (decisions, asked) = (RefCell::new(Vec::new()), RefCell::new(Vec::new()));
    let policy = r#"{"rules": [
        {"action": "deny", "path": "**/.env"},
        {"action": "allow", "kind": "read", "inRoots": true}
    ]}"#;
    let client = Client::new("test", "1")
        .permission_policy(PermissionPolicy::read(policy).unwrap())
        .on_decision(|decision| decisions.borrow_mut().push((decision.action, decision.rule)))
        .permission(async |request| {
            asked.borrow_mut().push(request.title().to_owned());
            Ok(request.allow_always())
        });
    let work = async |agent: AgentPeer| {
        agent.new_session("/work").await?.prompt("Hello").finish().await?;
        Ok(())
    };
    let option = |kind: &str| json!({"optionId": kind, "name": kind, "kind": kind});
    let options = ["allow_always", "allow_once", "reject_once"].map(option);
    with_agent(&client, work, async |agent| {
        agent.welcome(json!({})).await;
        let prompt = agent.hear().await;
        // What it does is told before the question, which names the call alone.
        let told = json!({"sessionUpdate": "tool_call", "toolCallId": "t", "title": "Look", "kind": "read",
            "locations": [{"path": "/work/a"}]});
        agent.tell("session/update", json!({"sessionId": "s", "update": told})).await;
        let calls = [
            (json!({"toolCallId": "t"}), "allow_once"),
            (json!({"toolCallId": "t", "locations": [{"path": "/work/.env"}]}), "reject_once"),
            (json!({"toolCallId": "u", "title": "Run", "kind": "execute"}), "allow_always"),
        ];
        for (number, (call, chosen)) in calls.into_iter().enumerate() {
            let params = json!({"sessionId": "s", "toolCall": call, "options": options});
            agent.ask(number as u64, "session/request_permission", params).await;
            assert_eq!(agent.hear().await["result"]["outcome"]["optionId"], chosen);
        }
        agent.answer(&prompt, json!({"stopReason": "end_turn"})).await;
    });
    let expected = [(Action::Deny, Some(0)), (Action::Ask, None)];
    assert_eq!(*decisions.borrow(), [(Action::Allow, Some(1)), expected[0], expected[1]]);
    assert_eq!(*asked.borrow(), ["Run"]);
}
