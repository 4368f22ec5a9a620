//! The storyteller behind a server on a port of its own.

use std::sync::Arc;

use libacp_tokio::http::{serve, AgentService, ServerOptions};
use tokio::net::TcpListener;

use crate::storyteller::{self, storyteller};

/// The address, and what closes the server.
pub(crate) async fn served() -> (String, AgentService) {
    served_with(ServerOptions::default()).await
}

/// The same, with these options.
pub(crate) async fn served_with(options: ServerOptions) -> (String, AgentService) {
    let agent = Arc::new(storyteller!());
    let service = AgentService::new(options, move |pipe| {
        let agent = Arc::clone(&agent);
        async move { agent.serve(pipe).await }
    });
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    tokio::spawn(serve(listener, service.clone()));
    (address, service)
}
