//! A relay, and a policy that decides on what passes it.

use libacp::connection::Request;
use libacp::relay::{Relay, Side};
use libacp::{ErrorCode, Event};

use crate::policy::Policy;

/// What the policy makes of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// The other side answers it, asked with these params.
    Ask(String),
    /// The proxy does, with this result.
    Result(String),
    /// The proxy does, with an error.
    Refuse(&'static str),
}

/// The proxy: bytes in, bytes out, for two sides.
#[derive(Debug)]
pub struct Proxy {
    relay: Relay,
    policy: Policy,
}

impl Proxy {
    /// A proxy between two sides that have said nothing yet.
    pub fn new(policy: Policy) -> Self {
        Proxy { relay: Relay::new(), policy }
    }

    /// Takes bytes from one side and passes on what they say; then both sides may have bytes waiting.
    pub fn receive(&mut self, from: Side, bytes: &[u8]) {
        self.relay.receive(from, bytes);
        self.pass(from);
    }

    /// One side has ended. What the other still waits for is answered with an error.
    pub fn receive_eof(&mut self, from: Side) {
        self.relay.receive_eof(from);
        self.pass(from);
    }

    /// Bytes for one side.
    #[must_use]
    pub fn transmit(&self, to: Side) -> &[u8] {
        self.relay.transmit(to)
    }

    /// Takes bytes as written.
    pub fn consume(&mut self, to: Side, count: usize) {
        self.relay.consume(to, count);
    }

    /// The policy, with what it has counted.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    // ANCHOR: pass
    fn pass(&mut self, from: Side) {
        while let Some(event) = self.relay.poll_event(from) {
            match &event {
                Event::Request(request) => self.request(from, request, &event),
                Event::Notification(notification) => {
                    for params in self.policy.notification(from, notification) {
                        self.pass_with(from, &event, &params);
                    }
                }
                Event::Response(response) => {
                    self.tell_held(from, response.session.as_deref());
                    // Who has asked learns of an answer that cannot be passed on; there is nobody here to tell.
                    drop(self.relay.pass(from, &event));
                }
                _ => drop(self.relay.pass(from, &event)),
            }
        }
    }
    // ANCHOR_END: pass

    fn request(&mut self, from: Side, request: &Request, event: &Event) {
        self.tell_held(from, request.session.as_deref());
        match self.policy.request(from, request) {
            Answer::Ask(params) => self.pass_with(from, event, &params),
            Answer::Result(result) => {
                // One that was cancelled meanwhile has been answered.
                drop(self.relay.connection_mut(from).respond(&request.id, &result));
            }
            Answer::Refuse(why) => {
                let asked = self.relay.connection_mut(from);
                drop(asked.respond_error(&request.id, ErrorCode::INVALID_PARAMS, why, None));
            }
        }
    }

    fn tell_held(&mut self, from: Side, session: Option<&str>) {
        if let Some(params) = self.policy.held_back(from, session) {
            // What the other side may not be told was odd here too, and has been reported.
            drop(self.relay.connection_mut(from.other()).notify("session/update", &params));
        }
    }

    fn pass_with(&mut self, from: Side, event: &Event, params: &str) {
        // As above.
        drop(self.relay.pass_with(from, event, params));
    }
}
