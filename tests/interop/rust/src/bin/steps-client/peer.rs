//! An agent: its process, and the connection to it in either version.

use std::sync::Arc;

use agent_client_protocol::v1::schema as one;
use agent_client_protocol::v2::schema as two;
use agent_client_protocol::{
    v1, v2, Agent, ByteStreams, Client, ConnectionTo, Error, JsonRpcNotification, JsonRpcRequest, JsonRpcResponse,
    Protocol, Responder,
};
use async_process::{Child, Command, Stdio};
use futures::channel::oneshot;
use futures::executor::LocalSpawner;
use futures::task::LocalSpawnExt;
use libacp_interop_rust::steps::checks::{text, Checked, Trouble};
use libacp_interop_rust::steps::{ask, tell, Answer, GivenUp, Note, Noted, Unknown};
use libacp_interop_rust::Echo;
use serde::Serialize;
use serde_json::{json, Value};

use crate::offers::Heard;

pub(crate) struct Peer {
    pub(crate) agent: ConnectionTo<Agent>,
    pub(crate) hello: Value,
    pub(crate) heard: Arc<Heard>,
    two: bool,
    child: Child,
    /// Ends the connection when it is dropped.
    open: oneshot::Sender<()>,
}

/// Serves a request beside the loop that reads.
fn serve<R, P>(
    heard: &Arc<Heard>,
    request: &R,
    responder: Responder<R::Response, P>,
    agent: &ConnectionTo<Agent>,
) -> Result<(), Error>
where
    R: JsonRpcRequest<Response: JsonRpcResponse> + Serialize,
    P: Protocol,
{
    let (method, params) = (request.method().to_owned(), serde_json::to_value(request)?);
    let (heard, stop, responder) = (Arc::clone(heard), responder.cancellation(), responder.erase_to_json());
    agent.spawn(async move { responder.respond_with_result(heard.answer(&method, params, stop).await) })
}

/// Takes an update.
fn observe<N: JsonRpcNotification + Serialize>(heard: &Heard, told: &N) -> Result<(), Error> {
    let told = serde_json::to_value(told)?;
    heard.fold(text(&told["sessionId"]), |fold| fold.take(&told["update"]));
    Ok(())
}

/// A connection of a version with all handlers, until its `open` is dropped.
macro_rules! connect {
    ($version:ident, $heard:expr, $child:expr, $spawner:expr, $update:ident, $($request:ident),+ $(,)?) => {{
        let builder = Client.$version().name("catalogue");
        $(
            let heard = Arc::clone(&$heard);
            let builder = builder.on_receive_request(
                async move |request: $version::schema::$request, responder, agent: $version::ConnectionTo<Agent>| {
                    serve(&heard, &request, responder, &agent.into_raw())
                },
                agent_client_protocol::on_receive_request!(),
            );
        )+
        let [echo, updated, noted, completed] = [(); 4].map(|()| Arc::clone(&$heard));
        let builder = builder
            .on_receive_request(
                async move |request: Echo, responder, agent: $version::ConnectionTo<Agent>| {
                    serve(&echo, &request, responder, &agent.into_raw())
                },
                agent_client_protocol::on_receive_request!(),
            )
            .on_receive_notification(
                async move |told: $version::schema::$update, _agent: $version::ConnectionTo<Agent>| {
                    observe(&updated, &told)
                },
                agent_client_protocol::on_receive_notification!(),
            )
            .on_receive_notification(
                async move |told: $version::schema::CompleteElicitationNotification, _: $version::ConnectionTo<Agent>| {
                    completed.complete(serde_json::to_value(told.elicitation_id)?);
                    Ok(())
                },
                agent_client_protocol::on_receive_notification!(),
            )
            .on_receive_notification(
                async move |note: Noted, _agent: $version::ConnectionTo<Agent>| {
                    let _ = noted.noted.unbounded_send(Value::Object(note.0));
                    Ok(())
                },
                agent_client_protocol::on_receive_notification!(),
            );
        let (Some(stdin), Some(stdout)) = ($child.stdin.take(), $child.stdout.take()) else {
            return Err(Trouble::Wrong("the agent has no pipes".to_owned()));
        };
        let (connected, connection) = oneshot::channel();
        let (open, closed) = oneshot::channel::<()>();
        let driving = async move {
            let ended = builder
                .connect_with(ByteStreams::new(stdin, stdout), async move |agent: $version::ConnectionTo<Agent>| {
                    let _ = connected.send(agent.into_raw());
                    let _ = closed.await;
                    Ok(())
                })
                .await;
            if let Err(error) = ended {
                eprintln!("rust client: {error}");
            }
        };
        $spawner.spawn_local(driving).map_err(wrong)?;
        (connection.await.map_err(wrong)?, open)
    }};
}

fn wrong(error: impl std::fmt::Display) -> Trouble {
    Trouble::Wrong(error.to_string())
}

impl Peer {
    /// Starts an agent, and says hello.
    pub(crate) async fn start(
        spawner: &LocalSpawner,
        version: u16,
        argv: &[String],
        heard: Arc<Heard>,
    ) -> Checked<Peer> {
        let (program, arguments) = argv.split_first().ok_or_else(|| wrong("no agent"))?;
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn()?;
        let (agent, open) = if version == 2 {
            connect!(
                v2,
                heard,
                child,
                spawner,
                UpdateSessionNotification,
                RequestPermissionRequest,
                CreateElicitationRequest,
            )
        } else {
            connect!(
                v1,
                heard,
                child,
                spawner,
                SessionNotification,
                RequestPermissionRequest,
                CreateElicitationRequest,
                ReadTextFileRequest,
                WriteTextFileRequest,
                CreateTerminalRequest,
                KillTerminalRequest,
                WaitForTerminalExitRequest,
                TerminalOutputRequest,
                ReleaseTerminalRequest,
            )
        };
        let mut peer = Peer { agent, hello: Value::Null, heard, two: version == 2, child, open };
        let info = json!({"name": "catalogue", "version": "1.0"});
        let hello = if peer.two {
            json!({"protocolVersion": 2, "info": info, "capabilities": {"elicitation": {"form": {}, "url": {}}}})
        } else {
            let files = json!({"readTextFile": true, "writeTextFile": true});
            let switches = json!({"configOptions": {"boolean": {}}});
            let can =
                json!({"fs": files, "terminal": true, "elicitation": {"form": {}, "url": {}}, "session": switches});
            json!({"protocolVersion": 1, "clientInfo": info, "clientCapabilities": can})
        };
        peer.hello = peer.ask("initialize", hello).await.map_err(wrong)?;
        Ok(peer)
    }

    /// Closes the connection, and with it the agent's input; the code that the agent ends with.
    pub(crate) async fn end(mut self) -> Checked<Option<i32>> {
        drop(self.open);
        Ok(self.child.status().await?.code())
    }

    pub(crate) async fn ask(&self, method: &str, params: Value) -> Answer {
        let agent = &self.agent;
        match (method, self.two) {
            ("initialize", false) => ask::<one::InitializeRequest, _>(agent, params).await,
            ("initialize", true) => ask::<two::InitializeRequest, _>(agent, params).await,
            ("login", false) => ask::<one::AuthenticateRequest, _>(agent, params).await,
            ("login", true) => ask::<two::LoginAuthRequest, _>(agent, params).await,
            ("logout", false) => ask::<one::LogoutRequest, _>(agent, params).await,
            ("logout", true) => ask::<two::LogoutAuthRequest, _>(agent, params).await,
            ("session/new", false) => ask::<one::NewSessionRequest, _>(agent, params).await,
            ("session/new", true) => ask::<two::NewSessionRequest, _>(agent, params).await,
            ("session/load", _) => ask::<one::LoadSessionRequest, _>(agent, params).await,
            ("session/resume", false) => ask::<one::ResumeSessionRequest, _>(agent, params).await,
            ("session/resume", true) => ask::<two::ResumeSessionRequest, _>(agent, params).await,
            ("session/list", false) => ask::<one::ListSessionsRequest, _>(agent, params).await,
            ("session/list", true) => ask::<two::ListSessionsRequest, _>(agent, params).await,
            ("session/delete", false) => ask::<one::DeleteSessionRequest, _>(agent, params).await,
            ("session/delete", true) => ask::<two::DeleteSessionRequest, _>(agent, params).await,
            ("session/close", false) => ask::<one::CloseSessionRequest, _>(agent, params).await,
            ("session/close", true) => ask::<two::CloseSessionRequest, _>(agent, params).await,
            ("session/set_mode", _) => ask::<one::SetSessionModeRequest, _>(agent, params).await,
            ("session/set_config_option", false) => ask::<one::SetSessionConfigOptionRequest, _>(agent, params).await,
            ("session/set_config_option", true) => ask::<two::SetSessionConfigOptionRequest, _>(agent, params).await,
            ("session/prompt", false) => ask::<one::PromptRequest, _>(agent, params).await,
            ("session/prompt", true) => ask::<two::PromptRequest, _>(agent, params).await,
            ("_libacp.dev/echo", _) => ask::<Echo, _>(agent, params).await,
            ("_libacp.dev/given-up", _) => ask::<GivenUp, _>(agent, params).await,
            _ => ask::<Unknown, _>(agent, params).await,
        }
    }

    pub(crate) fn tell(&self, method: &str, params: Value) -> Result<(), Error> {
        match (method, self.two) {
            ("session/cancel", false) => tell::<one::CancelNotification, _>(&self.agent, params),
            ("session/cancel", true) => tell::<two::CancelSessionNotification, _>(&self.agent, params),
            ("$/cancel_request", _) => tell::<one::CancelRequestNotification, _>(&self.agent, params),
            _ => tell::<Note, _>(&self.agent, params),
        }
    }
}
