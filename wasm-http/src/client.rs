//! The client.

use libacp::http::{Action, Client, ClientOptions, ClientSendError, Frame};
use wasm_bindgen::prelude::*;

use crate::{double, json, misuse, refused, whole, with_headers};

/// A client; see `js/http.d.ts` for what each member does.
#[wasm_bindgen]
#[derive(Debug)]
pub struct HttpClient {
    client: Client,
    text: String,
}

#[wasm_bindgen]
impl HttpClient {
    /// A client from its options as JSON, and any number that differs between clients.
    #[wasm_bindgen(constructor)]
    pub fn new(options: &str, seed: f64) -> Result<HttpClient, JsValue> {
        let options = ClientOptions::from_json(options).map_err(|error| refused(&error))?;
        Ok(HttpClient { client: Client::new(options, whole(seed)), text: String::new() })
    }

    /// Sets a header of all requests; false if it cannot be one.
    #[wasm_bindgen(js_name = setHeader)]
    pub fn set_header(&mut self, name: &str, value: &str) -> bool {
        self.client.set_header(name, value)
    }

    /// The next action as JSON, or undefined. The text of a message, of a frame or of a body is what `taken` returns.
    #[wasm_bindgen(js_name = pollAction)]
    pub fn poll_action(&mut self) -> Option<String> {
        let mut action = self.client.poll_action()?;
        match &mut action {
            Action::Message { json, .. } => self.text = std::mem::take(json),
            Action::Frame { frame: Frame::Text(text), .. } => self.text = std::mem::take(text),
            Action::Request(request) => self.text = std::mem::take(&mut request.body),
            _ => {}
        }
        Some(json(&action))
    }

    /// The text of what was polled.
    pub fn taken(&mut self) -> String {
        std::mem::take(&mut self.text)
    }

    /// Whether `send` takes more.
    #[wasm_bindgen(js_name = isHungry)]
    pub fn is_hungry(&self) -> bool {
        self.client.is_hungry()
    }

    /// The id of the connection, or undefined.
    #[wasm_bindgen(js_name = connectionId)]
    pub fn connection_id(&self) -> Option<String> {
        self.client.connection_id().map(str::to_owned)
    }

    /// Sends a message of the host; undefined if it was taken, otherwise `full`, `closed`, or a misuse as JSON.
    pub fn send(&mut self, message: &str) -> Option<String> {
        match self.client.send(message) {
            Ok(()) => None,
            Err(ClientSendError::Full) => Some("full".into()),
            Err(ClientSendError::Misuse { rule, message }) => Some(misuse(rule, message)),
            Err(_) => Some("closed".into()),
        }
    }

    /// The head of a response came.
    pub fn response(&mut self, exchange: f64, status: u16, headers: &str) {
        with_headers(headers, |headers| self.client.response(whole(exchange), status, headers));
    }

    /// Bytes of a body came.
    pub fn data(&mut self, exchange: f64, bytes: &[u8]) {
        self.client.data(whole(exchange), bytes);
    }

    /// The end of a response, or of a socket, came.
    pub fn end(&mut self, exchange: f64) {
        self.client.end(whole(exchange));
    }

    /// A request came to nothing.
    pub fn failed(&mut self, exchange: f64, sent: bool) {
        self.client.failed(whole(exchange), sent);
    }

    /// A text frame came.
    pub fn text(&mut self, exchange: f64, text: &str) {
        self.client.text(whole(exchange), text);
    }

    /// A binary frame came.
    pub fn binary(&mut self, exchange: f64) {
        self.client.binary(whole(exchange));
    }

    /// Ends the conversation.
    pub fn close(&mut self) {
        self.client.close();
    }

    /// Goes on with other headers.
    pub fn retry(&mut self) {
        self.client.retry();
    }

    /// Tells the time.
    #[wasm_bindgen(js_name = handleTimeout)]
    pub fn handle_timeout(&mut self, now: f64) {
        self.client.handle_timeout(whole(now));
    }

    /// When the time is wanted, or undefined.
    #[wasm_bindgen(js_name = pollTimeout)]
    pub fn poll_timeout(&self) -> Option<f64> {
        self.client.poll_timeout().map(double)
    }
}
