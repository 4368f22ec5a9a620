//! Types that can be written down, what sessions keep, and what handlers know.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use futures::executor::block_on;
use futures::future::join;
use libacp::aio::{streams, Agent, AgentPeer, Client, Failure, Local, Reply, RequestError};
use libacp::schema::{v1, Raw};
use libacp::ErrorCode;
use serde_json::json;

use crate::clients::text;
use crate::pipe::{pass, Pipe};

/// What a program has that decides at run time what its agent can do.
struct App {
    agent: Agent<Local>,
    client: Client<Local>,
}

impl App {
    fn new(stores: bool, log: &Rc<RefCell<Vec<String>>>) -> Self {
        let mut agent = Agent::new("test", "1").prompt(async |turn| Ok(turn.message(turn.text()).await?)).local();
        if stores {
            agent = agent.load_session(async |_| Ok(Reply::default())).local();
        }
        let log = Rc::clone(log);
        let client = Client::new("test", "1").on_update(async move |received| {
            log.borrow_mut().push(text((*received).clone()));
            Ok(())
        });
        App { agent, client: client.local() }
    }

    fn talk(&self, work: impl AsyncFnOnce(AgentPeer) -> Result<(), Failure>) {
        let (to_agent, to_client) = (Pipe::new(4096), Pipe::new(4096));
        let worked = self.client.run(streams(to_client.clone(), to_agent.clone()), work);
        let (served, worked) = block_on(join(self.agent.serve(streams(to_agent, to_client)), worked));
        served.unwrap();
        worked.unwrap();
    }
}

#[test]
fn handlers_are_decided_on_at_run_time() {
    let log = Rc::new(RefCell::new(Vec::new()));
    let hello = String::from("hello");
    for stores in [false, true] {
        App::new(stores, &log).talk(async |agent| {
            assert_eq!(agent.can("session/load"), stores);
            if stores {
                assert_eq!(agent.load_session("old", "/work").session().await?.id(), "old");
            }
            agent.new_session("/work").await?.prompt(&hello).finish().await?;
            pass().await;
            Ok(())
        });
    }
    assert_eq!(*log.borrow(), ["hello", "hello"]);
}

#[test]
fn what_a_dropped_turn_has_not_shown_goes_to_the_hook() {
    let log = Rc::new(RefCell::new(Vec::new()));
    let mut app = App::new(false, &log);
    app.agent = Agent::new("test", "1")
        .prompt(async |turn| {
            for word in ["a", "b", "c"] {
                turn.message(word).await?;
            }
            std::future::pending::<()>().await;
            Ok(())
        })
        .local();
    app.talk(async |agent| {
        let mut turn = agent.new_session("/work").await?.prompt("go");
        assert_eq!(turn.update().await?.map(text).as_deref(), Some("a"));
        for _ in 0..20 {
            pass().await;
        }
        drop(turn);
        for _ in 0..20 {
            pass().await;
        }
        Ok(())
    });
    assert_eq!(*log.borrow(), ["b", "c"]);
}

#[test]
fn a_session_that_is_being_opened_knows_what_it_was_asked_for_with() {
    let (to_agent, to_client) = (Pipe::new(4096), Pipe::new(4096));
    let session =
        v1::SessionCapabilities::new().additional_directories(v1::SessionAdditionalDirectoriesCapabilities::default());
    let capabilities = v1::AgentCapabilities::new().session_capabilities(session);
    let agent = Agent::new("test", "1")
        .capabilities(capabilities)
        .new_session(async |received| {
            let session = received.session().unwrap();
            assert_eq!((session.cwd().as_deref(), session.is_open()), (Some("/work"), false));
            assert_eq!(session.roots(), ["/work", "/more"]);
            assert_eq!(session.mcp_servers().len(), 1);
            session.set_data(String::from("kept"));
            assert!(received.id().is_some());
            Ok(Reply::default())
        })
        .prompt(async |turn| {
            let session = turn.session();
            assert_eq!(session.data::<String>().as_deref().map(String::as_str), Some("kept"));
            assert!(session.data::<u8>().is_none());
            assert_eq!((session.is_open(), session.mcp_servers().len()), (true, 1));
            assert_eq!(turn.meta().map(Raw::as_str), Some(r#"{"trace":1}"#));
            Ok(v1::StopReason::Refusal)
        })
        .on_error(|method, failure| panic!("{method}: {failure}"));
    let client = Client::new("test", "1");
    let work = client.run(streams(to_client.clone(), to_agent.clone()), async |agent: AgentPeer| {
        let server = v1::McpServerStdio::new("tools", "/bin/tools", vec![], vec![]);
        let request = v1::NewSessionRequest::new("/work", vec![server.into()]);
        let request = request.additional_directories(vec!["/more".into()]);
        let session = agent.new_session_with(&request).await?;
        session.set_data(7_u8);
        let same = agent.session(session.id()).expect("it is open");
        assert_eq!((same.data::<u8>().as_deref(), same.opened().is_some()), (Some(&7), true));
        let mut turn = session.prompt("go").meta(Raw::of(&json!({"trace": 1}))?);
        assert!(turn.update().await?.is_none());
        assert_eq!(turn.stop_reason(), Some(&v1::StopReason::Refusal));
        session.close().await?;
        assert!(!session.is_open() && session.data::<u8>().is_none());
        Ok(())
    });
    let (served, worked) = block_on(join(agent.serve(streams(to_agent, to_client)), work));
    served.unwrap();
    worked.unwrap();
}

/// More handlers than types may be nested, without a word to the compiler.
#[test]
fn there_is_no_limit_to_handlers() {
    macro_rules! with {
        ($agent:expr;) => { $agent };
        ($agent:expr; $name:literal $($rest:literal)*) => {
            with!($agent.on_extension(concat!("_", $name), async |received| Ok(received.into_params().into())); $($rest)*)
        };
    }
    let agent = Agent::new("test", "1");
    let agent = with!(agent; "01" "02" "03" "04" "05" "06" "07" "08" "09" "10" "11" "12" "13" "14" "15" "16" "17" "18" "19" "20").local();
    let agent = with!(agent; "21" "22" "23" "24" "25" "26" "27" "28" "29" "30" "31" "32" "33" "34" "35" "36" "37" "38" "39" "40");
    let app = App { agent: agent.local(), client: Client::new("test", "1").local() };
    app.talk(async |agent| {
        for name in ["_01", "_20", "_21", "_40"] {
            assert_eq!(agent.request(name, &json!({"n": 1})).await?.as_str(), r#"{"n":1}"#);
        }
        Ok(())
    });
}

#[test]
fn a_session_that_a_load_replaces_has_ended() {
    let (to_agent, to_client) = (Pipe::new(4096), Pipe::new(4096));
    let (log, count) = (Rc::new(RefCell::new(Vec::new())), Cell::new(0));
    let said = Rc::clone(&log);
    let session = v1::SessionCapabilities::new().close(v1::SessionCloseCapabilities::new());
    let agent = Agent::new("test", "1")
        .capabilities(v1::AgentCapabilities::new().session_capabilities(session))
        .load_session(async |received| {
            count.set(count.get() + 1);
            match count.get() {
                3 => Err(RequestError::new(ErrorCode::RESOURCE_NOT_FOUND, "gone").into()),
                number => {
                    received.session().unwrap().set_data::<u32>(number);
                    Ok(Reply::default())
                }
            }
        })
        .prompt(async |turn| {
            log.borrow_mut().push((turn.session().is_open(), turn.session().data::<u32>().map(|data| *data)));
            Ok(v1::StopReason::EndTurn)
        })
        .on_session_end(move |session| {
            said.borrow_mut().push((session.is_open(), session.data::<u32>().map(|data| *data)));
        });
    let client = Client::new("test", "1");
    let work = client.run(streams(to_client.clone(), to_agent.clone()), async |agent: AgentPeer| {
        let load = || async { agent.load_session("s", "/work").session().await };
        load().await?;
        let session = load().await?;
        session.prompt("?").finish().await?;
        assert!(load().await.is_err());
        session.close().await?;
        Ok(())
    });
    let (served, worked) = block_on(join(agent.serve(streams(to_agent, to_client)), work));
    served.unwrap();
    worked.unwrap();
    assert_eq!(*log.borrow(), [(false, Some(1)), (true, Some(2)), (false, Some(2))]);
}
