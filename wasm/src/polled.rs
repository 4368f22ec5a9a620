//! The event that was polled last. JavaScript reads its text in this module's memory.

use std::sync::Arc;

use libacp::connection::Event;
use wasm_bindgen::JsValue;

use crate::{event, events, shared};

#[derive(Debug, Default)]
pub(crate) struct Polled {
    event: Option<Event>,
    /// The session of the last event in the record.
    session: Option<Arc<str>>,
}

impl Polled {
    /// Goes to an event, and to the call that it belongs to, and says what it is; 0 when there is none.
    pub(crate) fn next(&mut self, event: Option<Event>, exchange: Option<u64>) -> u32 {
        self.event = event;
        self.event.as_ref().map_or(0, |event| shared::describe(event, exchange, &mut self.session))
    }

    /// The event, where it is not one of those that come often.
    pub(crate) fn value(&self) -> JsValue {
        self.event.as_ref().map_or(JsValue::UNDEFINED, |next| {
            let (head, text) = events::parts(next);
            event(&head, text)
        })
    }
}
