//! The remote transports for JavaScript: [`HttpServer`] and [`HttpClient`] around the state machines of `libacp::http`, in a
//! module of their own, so that a page that opens no remote connection does not download them.
//!
//! The verbs are those of the core. What it has to say in more than one word is JSON with the names of the scenarios in
//! `tests/http`; what comes with each message is a number, and its text, which may be long, crosses as it is:
//! [`HttpServer::taken`]. Headers come in as one text, names and values in turn, separated by NUL, which no header has.
//! `wasm/js/httpcore.js` is the other side.
#![forbid(unsafe_code)]

mod client;
mod server;

pub use client::HttpClient;
pub use server::HttpServer;

use libacp::http::{Frame, Header};
use libacp::rules::RuleId;
use serde::Serialize;
use wasm_bindgen::{JsError, JsValue};

/// What is polled.
pub(crate) const NOTHING: u32 = 0;
pub(crate) const MESSAGE: u32 = 1;
pub(crate) const READY: u32 = 2;
pub(crate) const OTHER: u32 = 3;
pub(crate) const REPLAYED: u32 = 4;
pub(crate) const FRAME: u32 = 5;
pub(crate) const REQUEST: u32 = 6;

/// What [`HttpServer::frame`] has found, where it is no code with which a socket closes.
const NO_FRAME: u32 = 0;
const TEXT: u32 = 1;
const PING: u32 = 2;

/// A number of JavaScript's as one of the core's.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "what is no whole number saturates")]
pub(crate) fn whole(number: f64) -> u64 {
    number as u64
}

/// A number of the core's as one of JavaScript's.
#[allow(clippy::cast_precision_loss, reason = "milliseconds and counts stay below 2^53")]
pub(crate) fn double(number: u64) -> f64 {
    number as f64
}

/// Headers from one text.
pub(crate) fn with_headers<T>(text: &str, work: impl FnOnce(&[Header<'_>]) -> T) -> T {
    let mut parts = if text.is_empty() { "".split('\0').take(0) } else { text.split('\0').take(usize::MAX) };
    let mut names = Vec::new();
    let mut values: Vec<Vec<u8>> = Vec::new();
    while let Some((name, value)) = parts.next().zip(parts.next()) {
        names.push(name);
        // JavaScript has a header's bytes as characters of Latin-1.
        values.push(value.chars().map(|character| u8::try_from(character).unwrap_or(b'?')).collect());
    }
    let headers: Vec<Header<'_>> = names.into_iter().zip(values.iter().map(Vec::as_slice)).collect();
    work(&headers)
}

/// Text from UTF-8, which the platform has checked. What is none is no message either.
pub(crate) fn text_of(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap_or_default()
}

pub(crate) fn json<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// Why a message was not sent: `full`, `closed`, or a misuse as JSON.
pub(crate) fn misuse(rule: RuleId, message: &str) -> String {
    format!("{{\"rule\":\"{}\",\"message\":{}}}", rule.as_str(), json(&message))
}

/// What a frame is, and its text.
pub(crate) fn frame(frame: Option<Frame>) -> (u32, String) {
    match frame {
        None => (NO_FRAME, String::new()),
        Some(Frame::Text(text)) => (TEXT, text),
        Some(Frame::Ping) => (PING, String::new()),
        Some(Frame::Close(code, reason)) => (u32::from(code.number()), reason.to_owned()),
    }
}

pub(crate) fn refused(error: &libacp::http::OptionsError) -> JsValue {
    JsError::new(&error.to_string()).into()
}
