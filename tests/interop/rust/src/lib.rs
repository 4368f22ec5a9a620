//! The interop script on the official Rust SDK: what its client and its agent share.
//!
//! [`script`] reads and compares, [`player`] plays one role, [`tap`] counts, this file turns the SDK's typed messages into the JSON
//! of the script and back. Read next: `player.rs`, then `bin/client.rs` and `bin/agent.rs`. [`steps`] is what the two programs share
//! that play the catalogue of steps.

#![forbid(unsafe_code)]

pub mod player;
pub mod script;
pub mod steps;
pub mod tap;

use agent_client_protocol::role::{HasPeer, Role};
use agent_client_protocol::v1::{ConnectionTo, Responder};
use agent_client_protocol::{Error, JsonRpcNotification, JsonRpcRequest, JsonRpcResponse};
use futures::channel::mpsc::UnboundedSender;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use player::Event;

/// The extension request of the script.
#[derive(Debug, Clone, Serialize, Deserialize, JsonRpcRequest)]
#[request(method = "_libacp.dev/echo", response = Value)]
#[serde(transparent)]
pub struct Echo(pub Map<String, Value>);

/// Where a result that arrives later is reported, under the place of its request in the script.
#[derive(Clone)]
pub struct Outcome {
    pub at: String,
    pub queue: UnboundedSender<Event>,
}

/// Sends `params` as the SDK's request type `R`.
pub fn send<R, C>(connection: &ConnectionTo<C>, params: Value, outcome: Outcome) -> Result<(), Error>
where
    R: JsonRpcRequest<Response: Serialize> + DeserializeOwned,
    C: Role + HasPeer<C>,
{
    let request: R = serde_json::from_value(params)?;
    // Prepared, then sent: the result takes its place in the queue before any later message is dispatched.
    connection.prepare_request(request).on_receiving_result(async move |result| {
        let value = result.and_then(|value| Ok(serde_json::to_value(value)?));
        let _ = outcome.queue.unbounded_send(Event::Result(outcome.at, value));
        Ok(())
    })
}

/// Sends `params` as the SDK's notification type `N`.
pub fn notify<N, C>(connection: &ConnectionTo<C>, params: Value) -> Result<(), Error>
where
    N: JsonRpcNotification + DeserializeOwned,
    C: Role + HasPeer<C>,
{
    connection.send_notification(serde_json::from_value::<N>(params)?)
}

/// Queues a request that a typed handler got.
pub fn receive<R>(queue: &UnboundedSender<Event>, request: R, responder: Responder<R::Response>) -> Result<(), Error>
where
    R: JsonRpcRequest<Response: JsonRpcResponse> + Serialize,
{
    let method = request.method().to_owned();
    let params = serde_json::to_value(&request)?;
    let _ = queue.unbounded_send(Event::Request(method, params, responder.erase_to_json()));
    Ok(())
}

/// Queues a notification that a typed handler got.
pub fn observe<N: JsonRpcNotification + Serialize>(
    queue: &UnboundedSender<Event>,
    notification: &N,
) -> Result<(), Error> {
    let params = serde_json::to_value(notification)?;
    let _ = queue.unbounded_send(Event::Notification(notification.method().to_owned(), params));
    Ok(())
}

/// Queues the end of the stream, whenever it comes.
pub fn watch_end<C: Role>(connection: &ConnectionTo<C>, queue: UnboundedSender<Event>) -> Result<(), Error> {
    let watched = connection.clone();
    connection.spawn(async move {
        watched.incoming_closed().await;
        let _ = queue.unbounded_send(Event::End);
        Ok(())
    })
}

/// Adds to a connection builder a handler for each request type, which queues the request.
#[macro_export]
macro_rules! on_requests {
    ($builder:expr, $queue:expr, $($request:ty),+ $(,)?) => {{
        let builder = $builder;
        $(
            let queue = $queue.clone();
            let builder = builder.on_receive_request(
                async move |request: $request, responder, _cx| $crate::receive(&queue, request, responder),
                agent_client_protocol::on_receive_request!(),
            );
        )+
        builder
    }};
}

/// The same for one notification type.
#[macro_export]
macro_rules! on_notification {
    ($builder:expr, $queue:expr, $notification:ty) => {{
        let queue = $queue.clone();
        $builder.on_receive_notification(
            async move |notification: $notification, _cx| $crate::observe(&queue, &notification),
            agent_client_protocol::on_receive_notification!(),
        )
    }};
}
