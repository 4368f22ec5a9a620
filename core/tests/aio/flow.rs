//! How much is taken from a peer that says more than is wanted.

use std::cell::Cell;
use std::time::{Duration, Instant};

use futures::channel::oneshot;
use futures::executor::block_on;
use futures::future::join;
use libacp::aio::{streams, timed, Agent, AgentPeer, Client};
use serde_json::{json, Value};

use crate::clients::text;
use crate::pipe::{pass, sleep, ByHand, Pipe};

const UPDATES: usize = 20_000;
/// What may have been read of a peer that is to wait: what waits in the stream, one read, and what was said before.
const MOST: usize = 256 * 300 + 16 * 1024 + 4096;

/// Lets everybody else run until nothing moves any more.
async fn settle(pipe: &Pipe) {
    let mut before = None;
    let mut still = 0;
    while still < 100 {
        let now = Some(pipe.taken());
        still = if before == now { still + 1 } else { 0 };
        before = now;
        pass().await;
    }
}

#[test]
fn a_loop_over_updates_that_takes_its_time_holds_the_agent_back() {
    let (to_agent, to_client) = (Pipe::new(4096), Pipe::new(4096));
    let said = Cell::new(0);
    let agent = Agent::new("test", "1").prompt(async |turn| {
        for number in 0..UPDATES {
            turn.message(number.to_string()).await?;
            said.set(number + 1);
        }
        Ok(())
    });
    let client = Client::new("test", "1");
    let watched = to_client.clone();
    let work = client.run(streams(to_client.clone(), to_agent.clone()), async |agent: AgentPeer| {
        let session = agent.new_session("/work").await?;
        let mut turn = session.prompt("go");
        assert_eq!(turn.update().await?.map(text).as_deref(), Some("0"));
        settle(&watched).await;
        assert!(watched.taken() < MOST, "{} bytes were read", watched.taken());
        // What waits in the agent's outbox and in the pipe is small as well.
        assert!(said.get() < UPDATES / 4, "{} updates were said", said.get());
        let mut next = 1;
        while let Some(update) = turn.update().await? {
            assert_eq!(text(update), next.to_string());
            next += 1;
        }
        assert_eq!(next, UPDATES);
        Ok(())
    });
    let (served, worked) = block_on(join(agent.serve(streams(to_agent, to_client)), work));
    served.unwrap();
    worked.unwrap();
}

#[test]
fn a_loop_over_updates_may_ask_the_agent_something() {
    let (to_agent, to_client) = (Pipe::new(4096), Pipe::new(4096));
    let agent = Agent::new("test", "1")
        .prompt(async |turn| {
            for number in 0..1000 {
                turn.message(number.to_string()).await?;
            }
            Ok(())
        })
        .on_extension("_test/ask", async |received| Ok(received.into_params().into()));
    let client = Client::new("test", "1");
    let work = client.run(streams(to_client.clone(), to_agent.clone()), async |agent: AgentPeer| {
        let session = agent.new_session("/work").await?;
        let mut turn = session.prompt("go");
        while turn.update().await?.is_some() {
            agent.request("_test/ask", &json!({})).await?;
        }
        Ok(())
    });
    let (served, worked) = block_on(join(agent.serve(streams(to_agent, to_client)), work));
    served.unwrap();
    worked.unwrap();
}

/// What a client hears of an agent that says numbers: how many chunks, and their text.
fn numbers_to_a_slow_client(agent: Agent) -> (usize, String) {
    let (to_agent, to_client) = (Pipe::new(4096), Pipe::new(4096));
    let agent = agent.prompt(async |turn| {
        for number in 0..1000 {
            turn.message(number.to_string()).await?;
        }
        Ok(())
    });
    let mut client = ByHand::new(&to_client, &to_agent);
    let watched = to_client.clone();
    let hearing = async {
        let session = client.open(json!({})).await;
        client.prompt(1, &session, "go").await;
        settle(&watched).await;
        let (mut count, mut text) = (0, String::new());
        loop {
            let message = client.hear().await;
            let Some(said) = message["params"]["update"]["content"]["text"].as_str() else { break };
            count += 1;
            text.push_str(said);
        }
        client.close().await;
        (count, text)
    };
    let (served, heard) = block_on(join(agent.serve(streams(to_agent, to_client)), hearing));
    served.unwrap();
    heard
}

#[test]
fn chunks_are_merged_while_a_client_is_slow_to_read_if_the_agent_wants_that() {
    let text: String = (0..1000).map(|number: i32| number.to_string()).collect();
    assert_eq!(numbers_to_a_slow_client(Agent::new("test", "1")), (1000, text.clone()));
    let (count, merged) = numbers_to_a_slow_client(Agent::new("test", "1").merge_chunks());
    assert!(count < 100 && merged == text, "{count} chunks");
}

/// Serves a client that says `message` as often as it can, until somebody lets the handlers go on.
fn held_back(message: &Value, answers: bool) -> usize {
    let (to_agent, to_client) = (Pipe::new(4096), Pipe::new(4096));
    let (go, gone) = oneshot::channel::<()>();
    let gone = futures::FutureExt::shared(gone);
    let handled = Cell::new(0);
    let agent = Agent::new("test", "1")
        .at_most(8)
        .on_extension("_test/slow", async |received| {
            let _ = gone.clone().await;
            handled.set(handled.get() + 1);
            Ok(received.into_params().into())
        })
        .on_extension_notification("_test/slow", async |_| {
            let _ = gone.clone().await;
            handled.set(handled.get() + 1);
            Ok(())
        });
    let mut client = ByHand::new(&to_client, &to_agent);
    let mut says = ByHand::new(&to_client, &to_agent);
    let watched = to_agent.clone();
    let total = 5000;
    let client = async {
        client.open(json!({})).await;
        let before = watched.taken();
        let saying = async {
            for number in 0..total {
                let mut message = message.clone();
                if answers {
                    message["id"] = json!(number);
                }
                says.say(message).await;
            }
            says.close().await;
        };
        let hearing = async {
            settle(&watched).await;
            let read = watched.taken() - before;
            go.send(()).unwrap();
            while client.hear().await != Value::Null {}
            read
        };
        join(saying, hearing).await.1
    };
    let (served, read) = block_on(join(agent.serve(streams(to_agent, to_client)), client));
    served.unwrap();
    assert!(handled.get() == total || answers);
    read
}

#[test]
fn a_slow_handler_of_notifications_holds_the_peer_back() {
    let message = json!({"jsonrpc": "2.0", "method": "_test/slow", "params": {"pad": "x".repeat(100)}});
    let read = held_back(&message, false);
    assert!(read > 0 && read < MOST, "{read} bytes were read");
}

#[test]
fn slow_handlers_of_requests_hold_the_peer_back() {
    let message = json!({"jsonrpc": "2.0", "method": "_test/slow", "params": {"pad": "x".repeat(100)}});
    let read = held_back(&message, true);
    assert!(read > 0 && read < 16 * 1024 + 4096 + 8 * 200, "{read} bytes were read");
}

#[test]
fn a_peer_that_reads_nothing_is_not_read_for_ever() {
    let (to_agent, to_client) = (Pipe::new(4096), Pipe::new(4096));
    let agent = Agent::new("test", "1");
    let mut client = ByHand::new(&to_client, &to_agent);
    let mut says = ByHand::new(&to_client, &to_agent);
    let watched = to_agent.clone();
    let client = async {
        client.open(json!({})).await;
        let saying = async {
            // Each is refused, and the refusals, which are longer, are not read.
            for number in 0..100_000 {
                says.ask(number, "session/prompt", json!({"sessionId": 1})).await;
            }
            says.close().await;
        };
        let hearing = async {
            settle(&watched).await;
            let read = watched.taken();
            while client.hear().await != Value::Null {}
            read
        };
        join(saying, hearing).await.1
    };
    let (served, read) = block_on(join(agent.serve(streams(to_agent, to_client)), client));
    served.unwrap();
    assert!(read < 1024 * 1024 + 64 * 1024, "{read} bytes were read");
}

#[test]
fn large_messages_pass_each_other() {
    const LARGE: usize = 3 << 20;
    let (to_agent, to_client) = (Pipe::new(4096), Pipe::new(4096));
    let agent = Agent::new("test", "1").on_extension("_test/large", async |received| {
        let large = "x".repeat(LARGE);
        received.client().notify("_test/large", &json!({"x": &large})).await?;
        Ok(libacp::schema::Raw::of(&json!({"x": large}))?.into())
    });
    let client = Client::new("test", "1");
    let work = client.run(streams(to_client.clone(), to_agent.clone()), async |agent: AgentPeer| {
        let large = json!({"x": "y".repeat(LARGE)});
        let ask = || agent.request("_test/large", &large);
        let (one, two) = join(ask(), ask()).await;
        assert!(one?.as_str().len() > LARGE && two?.as_str().len() > LARGE);
        Ok(())
    });
    let (served, worked) = block_on(join(agent.serve(streams(to_agent, to_client)), work));
    served.unwrap();
    worked.unwrap();
}

/// Otherwise the agent of an editor that has closed its own end only would stay for ever.
#[test]
fn a_client_that_reads_no_more_is_gone_once_it_has_said_nothing_for_a_second() {
    let (to_agent, to_client) = (Pipe::new(4096), Pipe::new(4096));
    let mut client = ByHand::new(&to_client, &to_agent);
    let heard = Cell::new(0);
    let agent = Agent::new("test", "1").on_extension("_test/count", async |received| {
        heard.set(heard.get() + 1);
        Ok(received.into_params().into())
    });
    let start = Instant::now();
    let transport = timed(streams(to_agent, to_client), move || start.elapsed(), sleep);
    let work = async {
        client.open(json!({})).await;
        client.turn_away().await;
        // What it says meanwhile is still served, and counts.
        for id in 0..3 {
            client.ask(id, "_test/count", json!({})).await;
            let _ = sleep(Duration::from_millis(600)).await;
        }
    };
    let (served, ()) = block_on(join(agent.serve(transport), work));
    served.unwrap();
    assert_eq!(heard.get(), 3);
    assert!(start.elapsed() >= Duration::from_millis(2200), "{:?}", start.elapsed());
}
