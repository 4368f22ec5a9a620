//! The agent of the catalogue (`../../../../catalogue`) on the official Rust SDK: `steps-agent --version 1|2 [--login]`.
//!
//! A prompt whose first text is `step: ID` plays the turn of that step; `steps.json` there says what its client has to see.
//! The SDK's typed messages are turned into JSON and back, as in the script's agent. [`lab`] answers, [`turn`] plays, [`words`] has
//! what differs between the versions.

#![forbid(unsafe_code)]

mod lab;
mod turn;
mod words;

use std::process::ExitCode;
use std::sync::Arc;

use agent_client_protocol::{v1, v2, Agent, Client, Error, Stdio};
use futures::future::AbortHandle;
use lab::{serve, wait, Lab};
use libacp_interop_rust::steps::{GivenUp, Note, Noted, Wait};
use libacp_interop_rust::Echo;
use words::Words;

/// The connection of a version with all handlers, until its input ends.
macro_rules! serve {
    ($version:ident, $lab:expr, $cancel:ident, $($request:ident),+ $(,)?) => {{
        let builder = Agent.$version().name("catalogue");
        $(
            let lab = Arc::clone(&$lab);
            let builder = builder.on_receive_request(
                async move |request: $version::schema::$request, responder, client: $version::ConnectionTo<Client>| {
                    serve(&lab, &request, responder, &client.into_raw())
                },
                agent_client_protocol::on_receive_request!(),
            );
        )+
        let [echo, given_up, waiting, cancelled] = [(); 4].map(|()| Arc::clone(&$lab));
        let builder = builder
            .on_receive_request(
                async move |request: Echo, responder, client: $version::ConnectionTo<Client>| {
                    serve(&echo, &request, responder, &client.into_raw())
                },
                agent_client_protocol::on_receive_request!(),
            )
            .on_receive_request(
                async move |request: GivenUp, responder, client: $version::ConnectionTo<Client>| {
                    serve(&given_up, &request, responder, &client.into_raw())
                },
                agent_client_protocol::on_receive_request!(),
            )
            .on_receive_request(
                async move |_: Wait, responder, client: $version::ConnectionTo<Client>| {
                    wait(&waiting, responder, &client.into_raw())
                },
                agent_client_protocol::on_receive_request!(),
            )
            .on_receive_notification(
                async move |cancel: $version::schema::$cancel, _client: $version::ConnectionTo<Client>| {
                    cancelled.with(&cancel.session_id.0, |kept| kept.turn.as_ref().map(AbortHandle::abort)).map(drop)
                },
                agent_client_protocol::on_receive_notification!(),
            )
            .on_receive_notification(
                async move |note: Note, client: $version::ConnectionTo<Client>| client.send_notification(Noted(note.0)),
                agent_client_protocol::on_receive_notification!(),
            );
        builder
            .connect_with(Stdio::new(), async move |client: $version::ConnectionTo<Client>| {
                client.incoming_closed().await;
                Ok(())
            })
            .await
    }};
}

async fn run() -> Result<(), Error> {
    let arguments: Vec<String> = std::env::args().collect();
    let login = arguments.iter().any(|argument| argument == "--login");
    if arguments.windows(2).any(|pair| pair == ["--version", "2"]) {
        let lab = Arc::new(Lab::new(Words::Two, login));
        return serve!(
            v2,
            lab,
            CancelSessionNotification,
            InitializeRequest,
            LoginAuthRequest,
            LogoutAuthRequest,
            NewSessionRequest,
            ResumeSessionRequest,
            ListSessionsRequest,
            DeleteSessionRequest,
            CloseSessionRequest,
            SetSessionConfigOptionRequest,
            PromptRequest,
        );
    }
    let lab = Arc::new(Lab::new(Words::One, login));
    serve!(
        v1,
        lab,
        CancelNotification,
        InitializeRequest,
        AuthenticateRequest,
        LogoutRequest,
        NewSessionRequest,
        LoadSessionRequest,
        ResumeSessionRequest,
        ListSessionsRequest,
        DeleteSessionRequest,
        CloseSessionRequest,
        SetSessionModeRequest,
        SetSessionConfigOptionRequest,
        PromptRequest,
    )
}

fn main() -> ExitCode {
    match futures::executor::block_on(run()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("rust agent: {error}");
            ExitCode::FAILURE
        }
    }
}
