//! The server.

use libacp::http::{ConnectionKey, Event, Request, SendError, Server, ServerOptions};
use wasm_bindgen::prelude::*;

use crate::{double, frame, json, misuse, refused, text_of, whole, with_headers, MESSAGE, NOTHING, OTHER, READY};

/// A server; see `js/http.d.ts` for what each member does.
#[wasm_bindgen]
#[derive(Debug)]
pub struct HttpServer {
    server: Server,
    text: String,
    number: f64,
}

#[wasm_bindgen]
impl HttpServer {
    /// A server from its options as JSON.
    #[wasm_bindgen(constructor)]
    pub fn new(options: &str) -> Result<HttpServer, JsValue> {
        let options = ServerOptions::from_json(options).map_err(|error| refused(&error))?;
        Ok(HttpServer { server: Server::new(options), text: String::new(), number: 0.0 })
    }

    /// Adds random bytes.
    #[wasm_bindgen(js_name = addEntropy)]
    pub fn add_entropy(&mut self, bytes: &[u8]) {
        self.server.add_entropy(bytes);
    }

    /// How many random bytes there is room for.
    #[wasm_bindgen(js_name = wantsEntropy)]
    pub fn wants_entropy(&self) -> usize {
        self.server.wants_entropy()
    }

    /// The number of open connections.
    pub fn connections(&self) -> usize {
        self.server.connections()
    }

    /// The id of a connection, or undefined.
    #[wasm_bindgen(js_name = connectionId)]
    pub fn connection_id(&self, connection: f64) -> Option<String> {
        self.server.connection_id(key(connection)).map(str::to_owned)
    }

    /// Takes the head of a request; what to do, as JSON.
    pub fn request(&mut self, exchange: f64, method: &str, target: &str, headers: &str) -> String {
        with_headers(headers, |headers| {
            json(&self.server.request(whole(exchange), &Request::new(method, target, headers)))
        })
    }

    /// Takes a piece of a body; what to do, as JSON.
    pub fn body(&mut self, exchange: f64, bytes: &[u8], end: bool) -> String {
        json(&self.server.body(whole(exchange), bytes, end))
    }

    /// Polls the next event: 0 for none; 1 for a message, whose connection is what `number` returns, and its text what `taken`
    /// returns; 2 for an exchange that is ready, which is what `number` returns; 3 for another, which `taken` returns as JSON.
    #[wasm_bindgen(js_name = pollEvent)]
    pub fn poll_event(&mut self) -> u32 {
        let (kind, number, text) = match self.server.poll_event() {
            None => return NOTHING,
            Some(Event::Message { connection, json }) => (MESSAGE, connection.number(), json),
            Some(Event::Ready { exchange }) => (READY, exchange, String::new()),
            Some(event) => (OTHER, 0, json(&event)),
        };
        (self.number, self.text) = (double(number), text);
        kind
    }

    /// The connection, or the exchange, of what was polled.
    pub fn number(&self) -> f64 {
        self.number
    }

    /// The text of what was polled, or of the frame.
    pub fn taken(&mut self) -> String {
        std::mem::take(&mut self.text)
    }

    /// The same in UTF-8.
    #[wasm_bindgen(js_name = takenBytes)]
    pub fn taken_bytes(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.text).into_bytes()
    }

    /// Sends a message of an agent; undefined if it was sent, otherwise `full`, `closed`, or a misuse as JSON.
    pub fn send(&mut self, connection: f64, message: &str) -> Option<String> {
        match self.server.send(key(connection), message) {
            Ok(()) => None,
            Err(SendError::Full) => Some("full".into()),
            Err(SendError::Misuse { rule, message }) => Some(misuse(rule, message)),
            Err(_) => Some("closed".into()),
        }
    }

    /// Sends a message in UTF-8; undefined if it was sent, otherwise as `send`.
    #[wasm_bindgen(js_name = sendBytes)]
    pub fn send_bytes(&mut self, connection: f64, message: &[u8]) -> Option<String> {
        self.send(connection, text_of(message))
    }

    /// Ends a connection.
    pub fn close(&mut self, connection: f64) {
        self.server.close(key(connection));
    }

    /// Ends a connection, because its agent has failed.
    pub fn fail(&mut self, connection: f64, why: &str) {
        self.server.fail(key(connection), why);
    }

    /// Holds back the messages of a client, or goes on with them.
    pub fn pause(&mut self, connection: f64, paused: bool) {
        self.server.pause(key(connection), paused);
    }

    /// Whether to read more from a socket.
    #[wasm_bindgen(js_name = isHungry)]
    pub fn is_hungry(&self, exchange: f64) -> bool {
        self.server.is_hungry(whole(exchange))
    }

    /// The bytes to write on a stream, at most so many.
    pub fn transmit(&self, exchange: f64, most: usize) -> Vec<u8> {
        let bytes = self.server.transmit(whole(exchange));
        bytes[..most.min(bytes.len())].to_vec()
    }

    /// Takes bytes as written.
    pub fn consume(&mut self, exchange: f64, count: usize) {
        self.server.consume(whole(exchange), count);
    }

    /// An exchange is over.
    pub fn closed(&mut self, exchange: f64) {
        self.server.closed(whole(exchange));
    }

    /// A text frame came.
    pub fn text(&mut self, exchange: f64, text: &str) {
        self.server.text(whole(exchange), text);
    }

    /// A text frame came, in UTF-8.
    #[wasm_bindgen(js_name = textBytes)]
    pub fn text_bytes(&mut self, exchange: f64, text: &[u8]) {
        self.server.text(whole(exchange), text_of(text));
    }

    /// A binary frame came.
    pub fn binary(&mut self, exchange: f64) {
        self.server.binary(whole(exchange));
    }

    /// A pong came.
    pub fn pong(&mut self, exchange: f64) {
        self.server.pong(whole(exchange));
    }

    /// The next frame to send on a socket: 0 for none, 1 for a text, 2 for a ping, or the code with which to close it. The
    /// text, or the reason, is what `taken` returns.
    pub fn frame(&mut self, exchange: f64) -> u32 {
        let (kind, text) = frame(self.server.frame(whole(exchange)));
        self.text = text;
        kind
    }

    /// Tells the time.
    #[wasm_bindgen(js_name = handleTimeout)]
    pub fn handle_timeout(&mut self, now: f64) {
        self.server.handle_timeout(whole(now));
    }

    /// When the time is wanted, or undefined.
    #[wasm_bindgen(js_name = pollTimeout)]
    pub fn poll_timeout(&self) -> Option<f64> {
        self.server.poll_timeout().map(double)
    }
}

fn key(connection: f64) -> ConnectionKey {
    ConnectionKey::from_number(whole(connection))
}
