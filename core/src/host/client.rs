//! The client's side of a host.

use std::collections::VecDeque;

use super::stop;
use crate::connection::{CallOptions, Misuse, RequestKey};
use crate::{Connection, ErrorCode, Event, Id};

const LOAD: &str = "session/load";
const PROMPT: &str = "session/prompt";

/// What a client does with events and calls.
#[derive(Debug, Default)]
pub(super) struct ClientHost {}

impl ClientHost {
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

    pub(super) fn respond(
        &mut self,
        connection: &mut Connection,
        request: RequestKey<'_>,
        result: &str,
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
    ) -> Result<(), Misuse> {
        connection.respond_error(request, code, message, data)
    }

    pub(super) fn cancel(&mut self, connection: &mut Connection, request: RequestKey<'_>) -> Result<(), Misuse> {
        connection.cancel(request)
    }

    pub(super) fn abandon(&mut self, connection: &mut Connection, serial: u64) {
        stop::give_up(connection, serial);
    }

    pub(super) fn poll_timeout(&self) -> Option<u64> {
        None
    }

    pub(super) fn handle_timeout(&mut self, _connection: &mut Connection, _now: u64, _ready: &mut VecDeque<Event>) {}

    pub(super) fn why_not(&self, connection: &Connection, method: &str) -> Option<Misuse> {
        connection.why_not(method)
    }

    /// The open call that an event belongs to, if it is an update: a load whose replay it is, or the newest prompt.
    pub(super) fn exchange(&self, connection: &Connection, event: &Event) -> Option<u64> {
        let Event::Notification(update) = event else { return None };
        let session = update.session.as_ref().filter(|_| update.method == "session/update")?;
        let mut prompt = None;
        for open in connection.pending_of(session) {
            match &*open.method {
                LOAD => return Some(open.serial),
                PROMPT => prompt = Some(open.serial),
                _ => {}
            }
        }
        prompt
    }
}

#[cfg(test)]
mod tests;
