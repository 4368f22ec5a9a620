//! Prompts that wait for the end of what their session works on, in both versions. The host has not seen them; each is
//! handed over in its turn, or refused.

use std::collections::VecDeque;

use crate::connection::Request;
use crate::{Connection, ErrorCode, Id};

/// Maximum number of prompts of a session that wait.
const MOST: usize = 64;
/// Why prompts are refused.
pub(super) const CANCELLED: &str = "the prompt was cancelled";
pub(super) const ENDED: &str = "the session has ended";
pub(super) const OVER: &str = "the connection is over";

/// Prompts of one session, in their order.
#[derive(Debug, Default)]
pub(super) struct Waiting(VecDeque<Request>);

impl Waiting {
    /// A prompt waits. One too many is refused.
    pub(super) fn push(&mut self, connection: &mut Connection, prompt: Request) {
        if self.0.len() < MOST {
            self.0.push_back(prompt);
        } else {
            let why = "too many prompts of this session wait";
            refuse(connection, prompt.serial, ErrorCode::INVALID_REQUEST, why);
        }
    }

    /// The next one, whose turn it is.
    pub(super) fn pop(&mut self) -> Option<Request> {
        self.0.pop_front()
    }

    /// Whether a request is one of them.
    pub(super) fn has(&self, id: &Id) -> bool {
        self.0.iter().any(|prompt| prompt.id == *id)
    }

    /// The client has cancelled a request: it is refused if it is one of them (LIFE-21). Returns whether it was.
    pub(super) fn cancel(&mut self, connection: &mut Connection, serial: u64) -> bool {
        let Some(at) = self.0.iter().position(|prompt| prompt.serial == serial) else { return false };
        self.0.remove(at);
        refuse(connection, serial, ErrorCode::REQUEST_CANCELLED, CANCELLED);
        true
    }

    /// Refuses all of them: none will become a message (LIFE-21). Version 1 sends the error as the stop reason `cancelled`
    /// of a turn that the client has cancelled.
    pub(super) fn refuse(&mut self, connection: &mut Connection, why: &str) {
        while let Some(prompt) = self.pop() {
            refuse(connection, prompt.serial, ErrorCode::REQUEST_CANCELLED, why);
        }
    }
}

/// Refuses a request; nobody waits for that where it fails.
pub(super) fn refuse(connection: &mut Connection, serial: u64, code: ErrorCode, message: &str) {
    let _ = connection.respond_error(serial, code, message, None);
}
