//! What only version 2 has words for, between an agent and a client that know neither which version was agreed on: held
//! prompts, work without one, the background, plans, terminals, pieces of content, and cancelling single things.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use futures::channel::oneshot;
use futures::executor::LocalPool;
use futures::future::{join, select, Either};
use futures::task::LocalSpawnExt;
use libacp::aio::{
    streams, Agent, AgentPeer, AgentSession, Client, ClientSession, Error, Failure, Reply, RequestError, Turn,
};
use libacp::connection::Versions;
use libacp::schema::v1;
use libacp::view::View;
use libacp::ErrorCode;
use serde_json::{json, Value};

use crate::pipe::{pass, Pipe};

/// What a user sees: kinds, texts, and what a plan or a tool call has.
fn drawn(view: &View) -> Value {
    let entries = view.entries().map(|entry| {
        let get = |name: &str| entry.get(name).map(|value| serde_json::from_str::<Value>(value).unwrap());
        json!([format!("{:?}", entry.kind()), entry.text(), get("status"), get("entries")])
    });
    entries.collect()
}

/// Runs an agent with a client that has opened a session. Neither breaks a rule.
fn talk(
    version: u16,
    with: impl FnOnce(Agent<libacp::aio::Local>) -> Agent<libacp::aio::Local>,
    work: impl AsyncFnOnce(AgentPeer, ClientSession) -> Result<(), Failure>,
) {
    let agent = Agent::new("test", "1").versions(Versions::only(version));
    let agent = agent.on_violation(|broken| panic!("{broken:?}")).on_advice(|advice| panic!("{advice:?}")).local();
    let agent = with(agent);
    let client = Client::new("test", "1").versions(Versions::only(version)).views();
    let client = client.on_violation(|broken| panic!("{broken:?}")).on_advice(|advice| panic!("{advice:?}"));
    let (to_agent, to_client) = (Pipe::new(4096), Pipe::new(4096));
    let worked = client.run(streams(to_client.clone(), to_agent.clone()), async |agent: AgentPeer| {
        let session = agent.new_session("/work").await?;
        work(agent, session).await
    });
    let (served, worked) = futures::executor::block_on(join(agent.serve(streams(to_agent, to_client)), worked));
    served.unwrap();
    worked.unwrap();
}

/// Waits until what a client sees is so.
async fn until(session: &ClientSession, holds: impl Fn(&View) -> bool) {
    while !session.view(&holds).unwrap() {
        let now = session.view(View::revision).unwrap();
        session.changed(now).await;
    }
}

fn code(error: &Error) -> i32 {
    match error {
        Error::Peer { error, .. } => error.code.0,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_prompt_that_is_held_can_be_refused_and_leaves_nothing() {
    for version in [1, 2] {
        let handler = async |turn: Turn| {
            turn.hold()?;
            pass().await;
            match &*turn.text() {
                "no" => return Err(RequestError::new(ErrorCode(-32099), "No").into()),
                "ask" => pass().await,
                _ => {
                    turn.insert().await?;
                    turn.insert().await?;
                }
            }
            turn.message("Yes").await?;
            assert_eq!(turn.hold().is_err(), turn.client().version() == Some(2));
            Ok(())
        };
        talk(
            version,
            |agent| agent.prompt(handler).local(),
            async |_, session| {
                for (said, answer) in [("yes", Ok("Yes")), ("no", Err(-32099)), ("ask", Ok("Yes"))] {
                    let mut turn = session.prompt(said);
                    let read = turn.read_text().await;
                    assert_eq!(read.as_deref().map_err(code), answer);
                }
                // Of the refused prompt the client has what it sent, and no message.
                let users = session
                    .view(|view| view.entries().filter(|entry| entry.text() == "no" && entry.id().is_some()).count());
                assert_eq!(users, Some(0), "in version {version}");
                Ok(())
            },
        );
    }
}

#[test]
fn a_cancel_before_the_message_refuses_the_prompt() {
    let inserted = Rc::new(Cell::new(true));
    let seen = Rc::clone(&inserted);
    let handler = async move |turn: Turn| {
        turn.hold()?;
        turn.cancelled().await;
        seen.set(turn.insert().await.is_ok());
        Ok(())
    };
    talk(
        2,
        |agent| agent.prompt(handler).local(),
        async |_, session| {
            let mut turn = session.prompt("hi");
            let Either::Right(((), update)) = select(
                Box::pin(turn.update()),
                Box::pin(async {
                    for _ in 0..50 {
                        pass().await;
                    }
                }),
            )
            .await
            else {
                panic!()
            };
            drop(update);
            turn.cancel().await?;
            while turn.update().await?.is_some() {}
            assert_eq!(turn.stop_reason(), Some(&v1::StopReason::Cancelled));
            Ok(())
        },
    );
    assert!(!inserted.get());
}

#[test]
fn an_agent_works_without_a_prompt() {
    let mut drawings = Vec::new();
    for version in [1, 2] {
        let mut pool = LocalPool::new();
        let (log, spawner) = (Rc::new(RefCell::new(Vec::new())), pool.spawner());
        let noted = Rc::clone(&log);
        // Its work is begun by the first prompt, and goes on behind it.
        let handler = async move |turn: Turn| {
            let (session, log) = (turn.session().clone(), Rc::clone(&noted));
            match &*turn.text() {
                "work" => {
                    let inner = session.work(async |_| Ok(())).await.unwrap_err();
                    let misuse = matches!(inner.downcast_ref::<Error>(), Some(Error::Misuse(misuse)) if misuse.rule.as_str() == "LIFE-25");
                    assert!(misuse, "{inner}");
                    spawner.spawn_local(async move { works(session, log).await }).unwrap();
                }
                text => turn.message(format!("{text}!")).await?,
            }
            Ok(())
        };
        let drawing = Rc::new(RefCell::new(Value::Null));
        let drawn_by = Rc::clone(&drawing);
        let work = async move {
            let agent = Agent::new("test", "1").versions(Versions::only(version)).prompt(handler).local();
            let agent = agent.on_violation(|broken| panic!("{broken:?}")).on_advice(|advice| panic!("{advice:?}"));
            let client = Client::new("test", "1").versions(Versions::only(version)).views();
            let client = client.on_violation(|broken| panic!("{broken:?}"));
            let client = client.permission(async |request| Ok(request.allow()));
            let (to_agent, to_client) = (Pipe::new(4096), Pipe::new(4096));
            let worked = client.run(streams(to_client.clone(), to_agent.clone()), async |agent: AgentPeer| {
                let session = agent.new_session("/work").await?;
                session.prompt("work").finish().await?;
                until(&session, |view| view.entries().any(|entry| entry.text() == "Working")).await;
                assert_eq!(session.view(View::is_busy), Some(version == 2));
                // It waits for the end of the work.
                assert!(session.prompt("then").read_text().await?.ends_with("then!"));
                *drawn_by.borrow_mut() = session.view(drawn).unwrap();
                session.prompt("work").finish().await?;
                until(&session, |view| view.entries().filter(|entry| entry.text() == "Working").count() == 2).await;
                session.cancel().await?;
                session.prompt("last").finish().await?;
                Ok(())
            });
            let (served, worked) = join(agent.serve(streams(to_agent, to_client)), worked).await;
            served.unwrap();
            worked.unwrap();
        };
        pool.run_until(work);
        pool.run_until_stalled();
        assert_eq!(*log.borrow(), ["true", "done", "true", "cancelled"], "in version {version}");
        drawings.push(drawing.take());
    }
    assert_eq!(drawings[0], drawings[1]);
}

/// Says something, asks, and waits; the second time it is cancelled.
async fn works(session: AgentSession, log: Rc<RefCell<Vec<&'static str>>>) {
    // Until the prompt that has begun it is over.
    while session.work(async |_| Ok(())).await.is_err() {
        pass().await;
    }
    let again = !log.borrow().is_empty();
    let worked = session.work(async |turn: Turn| {
        assert!(turn.text().is_empty() && turn.blocks().is_empty());
        turn.message("Working").await?;
        let asked = turn.ask_permission(v1::ToolCallUpdate::new(if again { "u" } else { "t" })).await?;
        log.borrow_mut().push(if asked.allowed { "true" } else { "false" });
        if again {
            std::future::pending::<()>().await;
        }
        for _ in 0..100 {
            pass().await;
        }
        Ok(v1::StopReason::EndTurn)
    });
    let ended = match worked.await {
        Ok(ended) if ended.stop_reason == v1::StopReason::EndTurn => "done",
        Ok(ended) if ended.stop_reason == v1::StopReason::Cancelled => "cancelled",
        _ => "failed",
    };
    log.borrow_mut().push(ended);
}

/// The steps of a plan.
fn steps(entry: &str) -> Value {
    serde_json::from_str::<Value>(entry).unwrap()["plan"]["entries"].clone()
}

#[test]
fn what_an_agent_shows_piece_by_piece_is_the_same_in_both_versions() {
    let mut drawings = Vec::new();
    for version in [1, 2] {
        let handler = async |turn: Turn| {
            let plans = ["a", "b"].map(|id| turn.session().plan(id));
            plans[0].set(["Read"]).await?;
            plans[1].set(["Write", "Test"]).await?;
            plans[0].remove().await?;
            let mut call = turn.tool_call("Make", v1::ToolKind::Execute).await?;
            call.append(v1::ToolCallContent::from(v1::Content::new("one".into()))).await?;
            call.append(v1::ToolCallContent::from(v1::Content::new("two".into()))).await?;
            call.complete().await?;
            let terminal = turn.display_terminal("make").await?;
            let mut shows = turn.tool_call("Show", v1::ToolKind::Execute).await?;
            shows.show(&terminal).await?;
            terminal.write("ok ").await?;
            terminal.write([0xc3]).await?;
            terminal.write([0xa9]).await?;
            terminal.exit(0).await?;
            shows.complete().await?;
            Ok(())
        };
        talk(
            version,
            |agent| agent.prompt(handler).local(),
            async |_, session| {
                session.prompt("go").finish().await?;
                let seen = session.view(|view| {
                    let plan: Vec<Value> = view
                        .entries()
                        .filter(|entry| format!("{:?}", entry.kind()) == "Plan")
                        .map(|entry| steps(&entry.to_json()))
                        .filter(|entries| *entries != json!([]))
                        .collect();
                    let calls: Vec<Value> = view
                        .entries()
                        .filter(|entry| format!("{:?}", entry.kind()) == "ToolCall")
                        .map(|entry| entry.items().map(|item| serde_json::from_str::<Value>(item).unwrap()).collect())
                        .collect();
                    let printed: Vec<String> =
                        view.terminals().map(|terminal| terminal.output_text().into_owned()).collect();
                    (plan, calls, printed)
                });
                let (plan, calls, printed) = seen.unwrap();
                assert_eq!(calls[1][0]["type"], if version == 1 { "content" } else { "terminal" });
                let text = calls[1][0]["content"]["text"].as_str().map(str::to_owned);
                let text = text.unwrap_or_else(|| format!("```\n$ make\n{}\n[exited with 0]\n```", printed[0]));
                drawings.push(json!([plan, calls[0], text]));
                Ok(())
            },
        );
    }
    assert_eq!(drawings[0], drawings[1]);
    // Version 1 has one plan, which is the last.
    assert_eq!((drawings[0][0].as_array().unwrap().len(), drawings[0][1].as_array().unwrap().len()), (1, 2));
    assert_eq!(drawings[0][2], "```\n$ make\nok é\n[exited with 0]\n```");
}

#[test]
fn what_runs_in_the_background_is_seen_and_cancelled_alone() {
    let (cancel, cancelled) = oneshot::channel::<String>();
    let (cancel, cancelled) = (RefCell::new(Some(cancel)), RefCell::new(Some(cancelled)));
    let handler = async move |turn: Turn| {
        if turn.text() == "next" {
            return Ok(());
        }
        let call = turn.tool_call("Build", v1::ToolKind::Execute).await?;
        turn.session().background(&call).await?;
        let terminal = turn.display_terminal("sleep").await?;
        turn.session().background(&terminal).await?;
        let asked = cancelled.borrow_mut().take().unwrap();
        let asked = asked.await.unwrap();
        assert_eq!(asked, call.id());
        call.cancelled().await?;
        drop(terminal);
        Ok(())
    };
    let cancels = async move |received: libacp::aio::Received<_, fn(libacp::schema::v2::CancelToolCallRequest)>| {
        cancel.borrow_mut().take().unwrap().send(received.tool_call_id.to_string()).unwrap();
        Ok(Reply::default())
    };
    talk(
        2,
        |agent| agent.prompt(handler).on_cancel_tool(cancels).local(),
        async |_, session| {
            let turn = async { session.prompt("go").finish().await };
            let cancelling = async {
                let listed = |view: &View| {
                    view.background().map_or(0, |list| serde_json::from_str::<Vec<Value>>(list).unwrap().len())
                };
                until(&session, |view| listed(view) == 2).await;
                let id = session
                    .view(|view| {
                        view.entries()
                            .find(|entry| format!("{:?}", entry.kind()) == "ToolCall")
                            .unwrap()
                            .id()
                            .unwrap()
                            .to_owned()
                    })
                    .unwrap();
                // There is no handler for those of terminals.
                assert!(matches!(session.cancel_terminal("x").await, Err(Error::Misuse(_))));
                session.cancel_tool_call(&id).await.unwrap();
                until(&session, |view| listed(view) == 0).await;
                assert!(matches!(session.cancel_tool_call(&id).await, Err(Error::Misuse(_))));
            };
            let (ended, ()) = join(turn, cancelling).await;
            ended?;
            session.prompt("next").finish().await?;
            Ok(())
        },
    );
}
