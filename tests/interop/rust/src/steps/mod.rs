//! The catalogue of steps (`../../../catalogue`) on the SDK, in either version: its extensions, and typed messages from JSON and back.

#[path = "../../../catalogue/rust/src/checks.rs"]
pub mod checks;

use agent_client_protocol::role::{HasPeer, Role};
use agent_client_protocol::{ConnectionTo, Error, JsonRpcNotification, JsonRpcRequest};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub type Answer = Result<Value, Error>;

macro_rules! extensions {
    ($($derive:ident $kind:ident($($attribute:tt)*) $name:ident;)+) => {$(
        #[derive(Debug, Clone, Serialize, Deserialize, $derive)]
        #[$kind($($attribute)*)]
        #[serde(transparent)]
        pub struct $name(pub Map<String, Value>);
    )+};
}

extensions! {
    JsonRpcNotification notification(method = "_libacp.dev/note") Note;
    JsonRpcNotification notification(method = "_libacp.dev/noted") Noted;
    JsonRpcRequest request(method = "_libacp.dev/wait", response = Value) Wait;
    JsonRpcRequest request(method = "_libacp.dev/given-up", response = Value) GivenUp;
    JsonRpcRequest request(method = "_libacp.dev/none", response = Value) Unknown;
}

/// Sends `params` as the SDK's request type `R`; its answer as JSON.
pub async fn ask<R, C>(peer: &ConnectionTo<C>, params: Value) -> Answer
where
    R: JsonRpcRequest<Response: Serialize> + DeserializeOwned,
    C: Role + HasPeer<C>,
{
    let request: R = serde_json::from_value(params)?;
    Ok(serde_json::to_value(peer.send_request(request).block_task().await?)?)
}

/// Sends `params` as the SDK's notification type `N`.
pub fn tell<N, C>(peer: &ConnectionTo<C>, params: Value) -> Result<(), Error>
where
    N: JsonRpcNotification + DeserializeOwned,
    C: Role + HasPeer<C>,
{
    peer.send_notification(serde_json::from_value::<N>(params)?)
}
