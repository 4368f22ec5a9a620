//! The remote transports: Streamable HTTP and WebSocket on one endpoint, as state machines that do no I/O.
//!
//! A real library speaks HTTP/1.1, HTTP/2, TLS and the frames of WebSocket. What is left is the protocol: which request
//! gets which status, which message goes to which stream, in which order, what is kept while nobody reads, and what ends
//! when. That is here, once for every language. The state machines carry JSON texts, so that a server can stand in front of
//! a [`Connection`](crate::Connection), of a program that speaks over its standard streams, or of a machine elsewhere.
//!
//! The specification of this transport is a draft, and its implementations differ; [`tolerance`] lists where, and what is
//! done about it.

mod client;
pub mod cookie;
mod head;
mod json;
mod methods;
mod origin;
mod route;
mod server;
pub mod sse;
pub mod tolerance;
mod ws;

pub use client::{
    Action, Client, ClientLimits, ClientOptions, ClientReport, ClientSendError, ClientTimes, ClosedWhy, Lost, Outgoing,
    Silence, Transport,
};
pub use head::{Header, Headers, Request, Response, CONNECTION_ID, PROTOCOL_VERSION, SESSION_ID};
pub use json::OptionsError;
pub use origin::{Allowed, Token};
pub use server::{
    Closed, ConnectionKey, Event, Report, SendError, Server, ServerLimits, ServerOptions, ServerTimes, Step,
};
pub use ws::{close_reason, CloseCode, Frame};
