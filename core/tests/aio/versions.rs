//! One agent and one client with each other, in every pair of versions: neither knows which one was agreed on.

use std::borrow::Cow;
use std::cell::RefCell;

use futures::executor::block_on;
use futures::future::join;
use futures::{StreamExt, TryStreamExt};
use libacp::aio::{streams, Agent, AgentPeer, Client, Error, Failure, Handlers, Reply, RequestError, Turn, Update};
use libacp::connection::Versions;
use libacp::schema::v1;
use libacp::view::View;
use libacp::ErrorCode;
use serde_json::{json, Value};

use crate::pipe::Pipe;

const ONE: Versions = Versions::only(1);
const TWO: Versions = Versions::only(2);
const BOTH: Versions = Versions::ALL;
/// What the agent speaks, what the client speaks, and what they agree on.
const PAIRS: &[(Versions, Versions, u16)] =
    &[(ONE, ONE, 1), (TWO, TWO, 2), (ONE, BOTH, 1), (BOTH, ONE, 1), (BOTH, BOTH, 2), (TWO, BOTH, 2), (BOTH, TWO, 2)];

/// An agent that does what it is told, and writes down what it hears.
fn agent(log: &RefCell<Vec<String>>) -> Agent<impl Handlers + use<'_>> {
    let note = move |what: &str| log.borrow_mut().push(what.to_owned());
    let modes = || {
        let mode = |id: &'static str, name: &'static str| v1::SessionMode::new(id, name);
        v1::SessionModeState::new("ask", vec![mode("ask", "Ask"), mode("code", "Code")])
    };
    Agent::new("test", "1")
        .capabilities(v1::AgentCapabilities::new().prompt_capabilities(v1::PromptCapabilities::new().image(true)))
        .auth_methods(vec![v1::AuthMethodAgent::new("key", "Key").into()])
        .on::<fn(v1::AuthenticateRequest), _>(async move |received| {
            note(&format!("login {}", received.method_id));
            Ok(Reply::default())
        })
        .new_session(async move |received| {
            received.session().unwrap().set_data(String::from("ask"));
            Ok(v1::NewSessionResponse::new("").modes(modes()).into())
        })
        .load_session(async move |received| {
            let session = received.session().unwrap();
            for (user, text) in [(true, "Earlier"), (false, "Indeed")] {
                let chunk = v1::ContentChunk::new(text.into());
                let update = if user {
                    v1::SessionUpdate::UserMessageChunk(chunk)
                } else {
                    v1::SessionUpdate::AgentMessageChunk(chunk)
                };
                session.update(&update).await?;
            }
            let loaded = v1::LoadSessionResponse::new();
            Ok(loaded.modes(modes()).into())
        })
        .resume_session(async move |received| {
            note(&format!("resume {}", received.session_id));
            Ok(Reply::default())
        })
        .on::<fn(v1::ListSessionsRequest), _>(async move |received| {
            let all = ["a", "b"].map(|id| v1::SessionInfo::new(id, "/work"));
            let page = if received.cursor.is_none() { &all[..1] } else { &all[1..] };
            let mut answer = v1::ListSessionsResponse::new(page.to_vec());
            answer.next_cursor = received.cursor.is_none().then(|| "more".into());
            Ok(answer.into())
        })
        .on::<fn(v1::SetSessionModeRequest), _>(async move |received| {
            received.session().unwrap().set_data(received.mode_id.to_string());
            Ok(Reply::default())
        })
        .prompt(async move |turn| answer(&turn, &note).await)
        .on_violation(|violation| panic!("{violation:?}"))
        .on_advice(|advice| panic!("{advice:?}"))
}

async fn answer(turn: &Turn, note: &impl Fn(&str)) -> Result<v1::StopReason<'static>, Failure> {
    match &*turn.text() {
        "say" => {
            turn.thought("Hm.").await?;
            turn.message("Hello, ").await?;
            turn.message("world").await?;
            Ok(v1::StopReason::MaxTokens)
        }
        "plan" => {
            turn.plan(["Read", "Write"]).await?;
            Ok(v1::StopReason::EndTurn)
        }
        "edit" => {
            let mut call = turn.tool_call("Edit", v1::ToolKind::Edit).await?;
            call.diff("/work/a", "new\n", Some("old\n")).await?;
            let allowed = call.ask_permission().await?;
            note(&format!("allowed: {}", allowed.allowed));
            call.complete().await?;
            turn.message("Done").await?;
            Ok(v1::StopReason::EndTurn)
        }
        "mode" => {
            note(&format!("mode {}", turn.session().data::<String>().unwrap()));
            let update = v1::CurrentModeUpdate::new("ask");
            turn.update(&v1::SessionUpdate::CurrentModeUpdate(update)).await?;
            Ok(v1::StopReason::EndTurn)
        }
        "wait" => {
            turn.message("Waiting").await?;
            turn.cancelled().await;
            note("cancelled");
            Ok(v1::StopReason::EndTurn)
        }
        "fail" => Err(RequestError::new(ErrorCode(-32077), "No").into()),
        text => {
            turn.message(text).await?;
            Ok(v1::StopReason::EndTurn)
        }
    }
}

fn client(log: &RefCell<Vec<String>>) -> Client<impl Handlers + use<'_>> {
    Client::new("test", "1")
        .views()
        .permission(async move |request| {
            log.borrow_mut().push(format!("permission for {}", request.title()));
            Ok(request.allow())
        })
        .on_violation(|violation| panic!("{violation:?}"))
        .on_advice(|advice| panic!("{advice:?}"))
}

/// Runs both with each other; what both wrote down.
fn talk(
    (agents, clients): (Versions, Versions),
    work: impl AsyncFnOnce(AgentPeer) -> Result<(), Failure>,
) -> (Result<(), Failure>, Vec<String>) {
    let log = RefCell::default();
    let (to_agent, to_client) = (Pipe::new(4096), Pipe::new(4096));
    let (agent, client) = (agent(&log).versions(agents), client(&log).versions(clients));
    let worked = client.run(streams(to_client.clone(), to_agent.clone()), work);
    let (served, worked) = block_on(join(agent.serve(streams(to_agent, to_client)), worked));
    served.unwrap();
    (worked, log.take())
}

/// What a user sees of a session, without what differs between versions by their nature: ids, and the shape of diffs.
fn drawn(view: &View) -> Value {
    let entries = view.entries().map(|entry| {
        let status = entry.string("status").map(Cow::into_owned);
        let title = entry.string("title").map(Cow::into_owned);
        let steps = entry.get("entries").map(|steps| serde_json::from_str::<Value>(steps).unwrap());
        let kinds = entry.items().map(|item| serde_json::from_str::<Value>(item).unwrap()["type"].clone());
        json!([
            format!("{:?}", entry.kind()),
            format!("{:?}", entry.speaker()),
            entry.text(),
            status,
            title,
            steps,
            kinds.collect::<Vec<_>>()
        ])
    });
    let modes: Option<Value> = view.modes().map(|modes| serde_json::from_str(modes.to_json()).unwrap());
    json!({"entries": entries.collect::<Vec<_>>(), "modes": modes, "busy": view.is_busy()})
}

#[test]
fn an_agent_and_a_client_are_the_same_in_every_pair_of_versions() {
    let mut all = Vec::new();
    for (agents, clients, agreed) in PAIRS {
        let drawings = RefCell::new(Vec::new());
        let work = async |agent: AgentPeer| {
            assert_eq!(agent.version(), Some(*agreed));
            assert_eq!(agent.info().unwrap().name.as_str(), "test");
            assert!(agent.capabilities().prompt_capabilities.image && agent.capabilities().load_session);
            assert_eq!(agent.auth_methods().len(), 1);
            for method in ["session/load", "session/set_mode", "authenticate", "session/list", "session/close"] {
                assert!(agent.can(method), "{method}: {:?}", agent.why_not(method));
            }
            agent.authenticate("key").await?;
            let session = agent.new_session("/work").await?;
            assert_eq!(session.opened().unwrap().modes.as_ref().unwrap().current_mode_id.as_str(), "ask");

            let mut turn = session.prompt("say");
            assert_eq!(turn.read_text().await?, "Hello, world");
            assert_eq!(turn.stop_reason(), Some(&v1::StopReason::MaxTokens));
            assert_eq!(turn.message_id().is_some(), *agreed == 2);

            let mut turn = session.prompt("plan");
            let mut kinds = Vec::new();
            while let Some(update) = turn.update().await? {
                kinds.push(update.kind().to_owned());
                assert_eq!((update.v1().is_some(), update.v2().is_some()), (*agreed == 1, *agreed == 2));
            }
            assert_eq!(kinds.iter().filter(|kind| kind.starts_with("plan")).count(), 1, "{kinds:?}");
            assert_eq!(session.prompt("edit").read_text().await?, "Done");

            session.set_mode("code").await?;
            session.prompt("mode").finish().await?;

            let mut turn = session.prompt("wait");
            while turn.update().await?.is_none_or(|update| update.text() != Some("Waiting")) {}
            turn.cancel().await?;
            while turn.update().await?.is_some() {}
            assert_eq!(turn.stop_reason(), Some(&v1::StopReason::Cancelled));

            let failed = session.prompt("fail").finish().await.unwrap_err();
            assert!(matches!(&failed, Error::Peer { error, .. } if error.code.0 == -32077), "{failed:?}");
            assert_eq!(session.prompt("again").read_text().await?, "again");
            drawings.borrow_mut().push(session.view(drawn).unwrap());

            let sessions: Vec<_> =
                agent.list_sessions().map_ok(|info| info.session_id.to_string()).try_collect().await?;
            assert_eq!(sessions, ["a", "b"]);
            let mut loading = agent.load_session("old", "/work");
            let replay: Vec<_> = loading.by_ref().try_collect::<Vec<Update>>().await?;
            assert_eq!(replay.iter().filter_map(Update::text).collect::<String>(), "Indeed");
            let loaded = loading.session().await?;
            assert_eq!(loaded.opened().unwrap().modes.as_ref().unwrap().available_modes.len(), 2);
            assert_eq!(loaded.prompt("more").read_text().await?, "more");
            drawings.borrow_mut().push(loaded.view(drawn).unwrap());
            loaded.close().await?;
            assert!(agent.session("old").is_none());
            agent.resume_session("old", "/work").await?;
            assert!(agent.session("old").is_some());
            Ok(())
        };
        let (worked, log) = talk((*agents, *clients), work);
        worked.unwrap();
        let expected = ["login key", "permission for Edit", "allowed: true", "mode code", "cancelled", "resume old"];
        assert_eq!(log, expected, "{agents:?} with {clients:?}");
        all.push((agreed, drawings.into_inner()));
    }
    let (_, first) = all[0].clone();
    for (agreed, drawings) in all {
        assert_eq!(drawings, first, "in version {agreed}");
    }
}

#[test]
fn two_sessions_work_at_once_in_every_pair_of_versions() {
    for (agents, clients, _) in PAIRS {
        let work = async |agent: AgentPeer| {
            let (one, two) = join(agent.new_session("/one"), agent.new_session("/two")).await;
            let (one, two) = (one?, two?);
            assert_ne!(one.id(), two.id());
            let waiting = async {
                let mut turn = one.prompt("wait");
                while turn.update().await?.is_none_or(|update| update.text() != Some("Waiting")) {}
                assert_eq!(two.prompt("second").read_text().await?, "second");
                turn.cancel().await?;
                while turn.update().await?.is_some() {}
                Ok::<_, Error>(turn.stop_reason().cloned())
            };
            assert_eq!(waiting.await?, Some(v1::StopReason::Cancelled));
            let texts = join(async { one.prompt("x").read_text().await }, async { two.prompt("y").read_text().await });
            let (x, y) = texts.await;
            assert_eq!((x?.as_str(), y?.as_str()), ("x", "y"));
            Ok(())
        };
        let (worked, log) = talk((*agents, *clients), work);
        worked.unwrap();
        assert_eq!(log, ["cancelled"]);
    }
}

#[test]
fn a_turn_that_is_dropped_is_cancelled_in_every_pair_of_versions() {
    for (agents, clients, _) in PAIRS {
        let work = async |agent: AgentPeer| {
            let session = agent.new_session("/work").await?;
            let mut turn = session.prompt("wait");
            while turn.update().await?.is_none_or(|update| update.text() != Some("Waiting")) {}
            drop(turn);
            assert_eq!(session.prompt("next").read_text().await?, "next");
            Ok(())
        };
        let (worked, log) = talk((*agents, *clients), work);
        worked.unwrap();
        assert_eq!(log, ["cancelled"], "{agents:?} with {clients:?}");
    }
}

#[test]
fn in_version_2_a_prompt_may_follow_while_the_work_goes_on() {
    let work = async |agent: AgentPeer| {
        let session = agent.new_session("/work").await?;
        let mut one = session.prompt("say");
        // It is sent now, and waits at the agent.
        let first = one.update().await?;
        let mut two = session.prompt("later");
        let rest = async {
            let mut text = first.and_then(|update| update.text().map(str::to_owned)).unwrap_or_default();
            text += &one.read_text().await?;
            Ok::<_, Error>(text)
        };
        let (one, two) = join(rest, two.read_text()).await;
        // What is told meanwhile may be for either.
        assert_eq!(one? + &two?, "Hello, worldlater");
        Ok(())
    };
    talk((TWO, TWO), work).0.unwrap();
}

#[test]
fn versions_that_do_not_meet_are_an_error() {
    for (agents, clients) in [(ONE, TWO), (TWO, ONE)] {
        let agent = Agent::new("test", "1").versions(agents);
        let client = Client::new("test", "1").versions(clients);
        let (to_agent, to_client) = (Pipe::new(4096), Pipe::new(4096));
        let none = client.run(streams(to_client.clone(), to_agent.clone()), async |_| Ok(()));
        let (served, worked) = block_on(join(agent.serve(streams(to_agent, to_client)), none));
        served.unwrap();
        let error = worked.unwrap_err();
        assert!(error.downcast_ref::<Error>().is_some(), "{error:?}");
    }
}
