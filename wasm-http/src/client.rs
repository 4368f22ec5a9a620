//! The client.

use libacp::http::{Action, Client, ClientOptions, ClientSendError, Frame};
use wasm_bindgen::prelude::*;

use crate::{
    double, json, misuse, refused, text_of, whole, with_headers, FRAME, MESSAGE, NOTHING, OTHER, REPLAYED, REQUEST,
};

/// A client; see `js/http.d.ts` for what each member does.
#[wasm_bindgen]
#[derive(Debug)]
pub struct HttpClient {
    client: Client,
    text: String,
    body: String,
    number: f64,
}

#[wasm_bindgen]
impl HttpClient {
    /// A client from its options as JSON, and any number that differs between clients.
    #[wasm_bindgen(constructor)]
    pub fn new(options: &str, seed: f64) -> Result<HttpClient, JsValue> {
        let options = ClientOptions::from_json(options).map_err(|error| refused(&error))?;
        Ok(HttpClient {
            client: Client::new(options, whole(seed)),
            text: String::new(),
            body: String::new(),
            number: 0.0,
        })
    }

    /// Sets a header of all requests; false if it cannot be one.
    #[wasm_bindgen(js_name = setHeader)]
    pub fn set_header(&mut self, name: &str, value: &str) -> bool {
        self.client.set_header(name, value)
    }

    /// Polls the next action: 0 for none; 1 for a message, and 4 for one that is told again, whose text is what `taken`
    /// returns; 5 for a text frame, whose exchange is what `number` returns, and its text what `taken` returns; 6 for a
    /// request, whose body `body` returns, and 3 for another, both of which `taken` returns as JSON.
    #[wasm_bindgen(js_name = pollAction)]
    pub fn poll_action(&mut self) -> u32 {
        let (kind, number, text) = match self.client.poll_action() {
            None => return NOTHING,
            Some(Action::Message { json, replayed }) => (if replayed { REPLAYED } else { MESSAGE }, 0, json),
            Some(Action::Frame { exchange, frame: Frame::Text(text) }) => (FRAME, exchange, text),
            Some(Action::Request(mut request)) => {
                self.body = std::mem::take(&mut request.body);
                (REQUEST, 0, json(&Action::Request(request)))
            }
            Some(action) => (OTHER, 0, json(&action)),
        };
        (self.number, self.text) = (double(number), text);
        kind
    }

    /// The exchange of the frame that was polled.
    pub fn number(&self) -> f64 {
        self.number
    }

    /// The text of what was polled.
    pub fn taken(&mut self) -> String {
        std::mem::take(&mut self.text)
    }

    /// The same in UTF-8.
    #[wasm_bindgen(js_name = takenBytes)]
    pub fn taken_bytes(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.text).into_bytes()
    }

    /// The body of the request that was polled.
    pub fn body(&mut self) -> String {
        std::mem::take(&mut self.body)
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

    /// Sends a message in UTF-8; undefined if it was taken, otherwise as `send`.
    #[wasm_bindgen(js_name = sendBytes)]
    pub fn send_bytes(&mut self, message: &[u8]) -> Option<String> {
        self.send(text_of(message))
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

    /// A text frame came, in UTF-8.
    #[wasm_bindgen(js_name = textBytes)]
    pub fn text_bytes(&mut self, exchange: f64, text: &[u8]) {
        self.client.text(whole(exchange), text_of(text));
    }

    /// A binary frame came.
    pub fn binary(&mut self, exchange: f64) {
        self.client.binary(whole(exchange));
    }

    /// The server closed the socket with this code.
    pub fn closed(&mut self, exchange: f64, code: u16) {
        self.client.closed(whole(exchange), code);
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
