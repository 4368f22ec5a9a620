//! The agent's side of a host.

use std::collections::VecDeque;

use crate::connection::{CallOptions, Misuse, RequestKey};
use crate::{Connection, ErrorCode, Event, Id};

/// What an agent does with events and calls.
#[derive(Debug)]
pub(super) struct AgentHost {
    /// The methods that have handlers.
    handlers: Vec<String>,
}

impl AgentHost {
    pub(super) fn new(handlers: Vec<String>) -> Self {
        AgentHost { handlers }
    }

    /// Takes an event of the connection, and says what the host sees of it.
    pub(super) fn event(&mut self, _connection: &mut Connection, event: Event, ready: &mut VecDeque<Event>) {
        ready.push_back(event);
    }

    pub(super) fn request(
        &mut self,
        connection: &mut Connection,
        method: &str,
        params: &str,
        options: CallOptions,
    ) -> Result<Id, Misuse> {
        connection.request_with(method, params, options)
    }

    pub(super) fn notify(&mut self, connection: &mut Connection, method: &str, params: &str) -> Result<(), Misuse> {
        connection.notify(method, params)
    }

    pub(super) fn notify_opened(
        &mut self,
        connection: &mut Connection,
        _opening: u64,
        method: &str,
        params: &str,
    ) -> Result<(), Misuse> {
        connection.notify(method, params)
    }

    pub(super) fn respond(
        &mut self,
        connection: &mut Connection,
        request: RequestKey<'_>,
        result: &str,
        _ready: &mut VecDeque<Event>,
    ) -> Result<(), Misuse> {
        connection.respond(request, result)
    }

    pub(super) fn respond_error(
        &mut self,
        connection: &mut Connection,
        request: RequestKey<'_>,
        code: ErrorCode,
        message: &str,
        data: Option<&str>,
        _ready: &mut VecDeque<Event>,
    ) -> Result<(), Misuse> {
        connection.respond_error(request, code, message, data)
    }

    pub(super) fn why_not(&self, connection: &Connection, method: &str) -> Option<Misuse> {
        let _ = &self.handlers;
        connection.why_not(method)
    }
}
