//! What cannot work is refused before anything is read or written.

use std::io::ErrorKind;

use futures::executor::block_on;
use libacp::aio::{streams, Agent, Client, Handlers, Reply};
use libacp::schema::v1;
use libacp::Config;

use crate::pipe::Pipe;

fn why<H: Handlers>(agent: &Agent<H>) -> String {
    let (input, output) = (Pipe::new(64), Pipe::new(64));
    let error = block_on(agent.serve(streams(input.clone(), output))).unwrap_err();
    assert_eq!((error.kind(), input.taken()), (ErrorKind::InvalidInput, 0));
    error.to_string()
}

fn has(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part:?} is not in {text:?}");
    }
}

#[test]
fn two_handlers_of_one_method() {
    let agent = Agent::new("test", "1").prompt(async |_| Ok(()));
    has(&why(&agent.prompt(async |_| Ok(v1::StopReason::Refusal))), &["session/prompt", "two"]);
    let agent = Agent::new("test", "1").on_extension("_a", async |_| Ok(Reply::default()));
    // A request and a notification are not the same.
    let agent = agent.on_extension_notification("_a", async |_| Ok(()));
    has(&why(&agent.on_extension("_a", async |_| Ok(Reply::default()))), &["_a", "two"]);
    let client = Client::new("test", "1").on_update(async |_| Ok(())).on_update(async |_| Ok(()));
    let failed = block_on(client.run(streams(Pipe::new(64), Pipe::new(64)), async |_| Ok(())));
    has(&failed.unwrap_err().to_string(), &["on_update", "two"]);
}

#[test]
fn methods_that_are_never_called() {
    let fork = Agent::new("test", "1").on::<fn(v1::ForkSessionRequest), _>(async |_| Ok(Reply::default()));
    has(&why(&fork), &["session/fork", "session_fork"]);
    let nes = || Agent::new("test", "1").on::<fn(v1::StartNesRequest), _>(async |_| Ok(Reply::default()));
    let mut drafts = Config::agent();
    drafts.draft("nes").unwrap();
    has(&why(&nes().config(drafts.clone())), &["nes/start", "capabilities"]);
    let cancel = Agent::new("test", "1").on_notification::<fn(v1::CancelRequestNotification), _>(async |_| Ok(()));
    has(&why(&cancel), &["$/cancel_request"]);
    let near = Agent::new("test", "1").on_extension("session/setmode", async |_| Ok(Reply::default()));
    has(&why(&near), &["session/setmode", "session/set_mode"]);
    let far = Agent::new("test", "1").on_extension("weather/today", async |_| Ok(Reply::default()));
    assert!(!why(&far).contains("mean"), "{}", why(&far));
}

#[test]
fn options_that_cannot_work() {
    let mut config = Config::agent();
    config.timeout = Some(1000);
    has(&why(&Agent::new("test", "1").config(config)), &["timeout", "timed"]);
    let (connecting, driving) = Client::new("test", "1")
        .on::<fn(v1::CreateElicitationRequest), _>(async |_| Ok(Reply::default()))
        .connect(streams(Pipe::new(64), Pipe::new(64)));
    let (opened, driven) = block_on(futures::future::join(connecting.open(), driving));
    has(&driven.unwrap_err().to_string(), &["elicitation/create", "capabilities"]);
    assert!(matches!(opened, Err(libacp::aio::Error::Closed { .. })));
}

#[test]
fn capabilities_that_no_handler_serves() {
    let can = v1::AgentCapabilities::new().load_session(true);
    let agent = Agent::new("test", "1").capabilities(can);
    has(
        &why(&agent),
        &[
            "capabilities: loadSession says that session/load is served",
            "give its handler, or leave the capability out",
        ],
    );
    let mut can = v1::AgentCapabilities::new();
    can.providers = Some(v1::ProvidersCapabilities::new());
    // A draft counts where it is on, and with all its requests.
    let list = || {
        Agent::new("test", "1")
            .on::<fn(v1::ListProvidersRequest), _>(async |_| Ok(v1::ListProvidersResponse::new(vec![]).into()))
    };
    let mut drafts = Config::agent();
    drafts.draft("llm_providers").unwrap();
    has(&why(&list().capabilities(can).config(drafts)), &["providers", "providers/disable", "capabilities"]);
}
