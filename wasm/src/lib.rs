//! The border between the core and JavaScript: text and bytes go across, nothing else.
//!
//! [`Core`] is the connection with the types of the border. What it has to say in more than one word goes over as JSON
//! text (`events`, `state`), is made an object there (`js/events.js`), and gets its JavaScript manners in
//! `js/connection.js`. Read next: `config`, `events`, `state`.
#![forbid(unsafe_code)]

mod config;
mod events;
mod state;

use libacp::connection::{CallOptions, Connection, Misuse, MisuseKind, Timeout};
use libacp::{ErrorCode, Id};
use wasm_bindgen::prelude::*;

#[wasm_bindgen(raw_module = "./events.js")]
extern "C" {
    /// An event from its members as JSON text, and the JSON text that it carries.
    fn event(head: &str, text: Option<&str>) -> JsValue;
    /// An instance of the class `Misuse`.
    fn misuse(kind: &str, rule: &str, pointer: &str, message: &str) -> JsValue;
    #[wasm_bindgen(js_name = typeError)]
    fn type_error(message: &str) -> JsValue;
    /// A copy of bytes that stand in this module's memory.
    fn bytes(view: &[u8]) -> JsValue;
}

/// A connection; see `js/index.d.ts` for what each member does. Ids, params, results and data are JSON text.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Core {
    connection: Connection,
}

#[wasm_bindgen]
impl Core {
    /// A connection from its options as JSON text, whose types the caller has checked.
    #[wasm_bindgen(constructor)]
    pub fn new(options: &str) -> Result<Core, JsValue> {
        let config = config::read(options).map_err(|message| type_error(&message))?;
        Ok(Core { connection: Connection::new(config) })
    }

    /// Takes bytes from the peer.
    pub fn receive(&mut self, data: &[u8]) {
        self.connection.receive(data);
    }

    /// The peer has closed its side.
    #[wasm_bindgen(js_name = receiveEof)]
    pub fn receive_eof(&mut self) {
        self.connection.receive_eof();
    }

    /// Tells the time.
    #[wasm_bindgen(js_name = handleTimeout)]
    pub fn handle_timeout(&mut self, now: f64) {
        self.connection.handle_timeout(config::whole(now));
    }

    /// The next event, or undefined.
    #[wasm_bindgen(js_name = pollEvent)]
    pub fn poll_event(&mut self) -> JsValue {
        self.connection.poll_event().map_or(JsValue::UNDEFINED, |next| {
            let (head, text) = events::parts(&next);
            event(&head, text)
        })
    }

    /// When the time is wanted.
    #[wasm_bindgen(js_name = pollTimeout)]
    pub fn poll_timeout(&self) -> Option<f64> {
        self.connection.poll_timeout().map(config::double)
    }

    /// A copy of the bytes for the peer.
    pub fn transmit(&self) -> JsValue {
        bytes(self.connection.transmit())
    }

    /// Takes bytes as written.
    pub fn consume(&mut self, count: usize) {
        self.connection.consume(count);
    }

    /// Sends a request and returns its id; `forever` says that it has no time-out at all.
    pub fn request(
        &mut self,
        method: &str,
        params: &str,
        id: Option<String>,
        timeout: Option<f64>,
        forever: bool,
    ) -> Result<String, JsValue> {
        let id = id.map(|id| read_id(&id)).transpose()?;
        let otherwise = if forever { Timeout::Never } else { Timeout::Configured };
        let timeout = timeout.map_or(otherwise, |timeout| Timeout::After(config::whole(timeout)));
        let options = CallOptions { id, timeout };
        self.connection.request_with(method, params, options).map(|id| id.to_json()).map_err(thrown)
    }

    /// Sends a notification.
    pub fn notify(&mut self, method: &str, params: &str) -> Result<(), JsValue> {
        self.connection.notify(method, params).map_err(thrown)
    }

    /// Answers a request with a result.
    pub fn respond(&mut self, id: &str, serial: Option<f64>, result: &str) -> Result<(), JsValue> {
        let id = self.answerable(id, serial)?;
        self.connection.respond(&id, result).map_err(thrown)
    }

    /// Answers a request with an error.
    #[allow(clippy::needless_pass_by_value, reason = "the border has no optional text that is borrowed")]
    #[wasm_bindgen(js_name = respondError)]
    pub fn respond_error(
        &mut self,
        id: &str,
        serial: Option<f64>,
        code: i32,
        message: &str,
        data: Option<String>,
    ) -> Result<(), JsValue> {
        let id = self.answerable(id, serial)?;
        self.connection.respond_error(&id, ErrorCode(code), message, data.as_deref()).map_err(thrown)
    }

    /// Asks the peer to cancel an own request.
    pub fn cancel(&mut self, id: &str) -> Result<(), JsValue> {
        let id = read_id(id)?;
        self.connection.cancel(&id).map_err(thrown)
    }

    /// Ends the connection.
    pub fn close(&mut self) {
        self.connection.close();
    }

    /// Whether a method could be sent now.
    pub fn can(&self, method: &str) -> bool {
        self.connection.can(method)
    }

    /// Why a method could not be sent now, or undefined.
    #[wasm_bindgen(js_name = whyNot)]
    pub fn why_not(&self, method: &str) -> JsValue {
        self.connection.why_not(method).map_or(JsValue::UNDEFINED, thrown)
    }

    /// The configuration.
    pub fn config(&self) -> String {
        config::write(self.connection.config())
    }

    /// How far the connection is.
    pub fn phase(&self) -> String {
        self.connection.phase().name().to_owned()
    }

    /// The agreed version.
    pub fn version(&self) -> Option<u16> {
        self.connection.version()
    }

    /// What the peer can do.
    pub fn capabilities(&self) -> String {
        self.connection.capabilities().to_owned()
    }

    /// What this side can do.
    #[wasm_bindgen(js_name = ownCapabilities)]
    pub fn own_capabilities(&self) -> String {
        self.connection.own_capabilities().to_owned()
    }

    /// The peer's side of `initialize`.
    #[wasm_bindgen(js_name = peerInfo)]
    pub fn peer_info(&self) -> String {
        self.connection.peer_info().to_owned()
    }

    /// What the peer says about one extension.
    #[wasm_bindgen(js_name = peerExtension)]
    pub fn peer_extension(&self, name: &str) -> Option<String> {
        self.connection.peer_extension(name).map(str::to_owned)
    }

    /// All that is known of the connection as a whole.
    pub fn snapshot(&self) -> String {
        self.connection.snapshot()
    }

    /// The sessions by id.
    pub fn sessions(&self) -> String {
        state::sessions(self.connection.sessions())
    }

    /// One session.
    pub fn session(&self, id: &str) -> Option<String> {
        self.connection.session(id).map(state::session)
    }

    /// All that is known of one session.
    #[wasm_bindgen(js_name = sessionSnapshot)]
    pub fn session_snapshot(&self, id: &str) -> Option<String> {
        self.connection.session(id).map(libacp::connection::Session::snapshot)
    }

    /// The text of a prompt that runs a command.
    #[wasm_bindgen(js_name = commandText)]
    pub fn command_text(&self, session: &str, name: &str, input: &str) -> Option<String> {
        self.connection.session(session)?.command_text(name, input)
    }

    /// Whether a path is inside of one of a session's directories.
    #[wasm_bindgen(js_name = inRoots)]
    pub fn in_roots(&self, session: &str, path: &str) -> bool {
        self.connection.session(session).is_some_and(|session| session.in_roots(path))
    }

    /// Own requests without an answer.
    pub fn pending(&self) -> String {
        state::requests(self.connection.pending())
    }

    /// The peer's requests without an answer.
    pub fn unanswered(&self) -> String {
        state::requests(self.connection.unanswered())
    }

    /// Terminals that were not released.
    #[wasm_bindgen(js_name = openTerminals)]
    pub fn open_terminals(&self) -> String {
        state::terminals(&self.connection.open_terminals())
    }

    /// Bytes that wait to be sent.
    pub fn unsent(&self) -> usize {
        self.connection.transmit().len()
    }

    /// Bytes that wait to be read.
    pub fn buffered(&self) -> usize {
        self.connection.buffered()
    }

    /// The id of a request to answer. Ids may be used again, so one that comes with its serial must still be that one.
    fn answerable(&self, id: &str, serial: Option<f64>) -> Result<Id, JsValue> {
        let id = read_id(id)?;
        let open = |serial| self.connection.unanswered_by_serial(serial).is_some_and(|open| open.id == id);
        if serial.is_none_or(|serial| open(config::whole(serial))) {
            return Ok(id);
        }
        let message = format!("the request with the id {id} has been answered already");
        Err(thrown(Misuse { kind: MisuseKind::Id, rule: "RPC-15", pointer: String::new(), message: message.into() }))
    }
}

/// The end of a command's output, if its beginning has to go.
#[wasm_bindgen(js_name = cutOutput)]
pub fn cut_output(output: &str, byte_limit: f64) -> Option<String> {
    let (rest, truncated) = libacp::terminal::cut_output(output, config::whole(byte_limit));
    truncated.then(|| rest.to_owned())
}

fn read_id(json: &str) -> Result<Id, JsValue> {
    Id::from_json(json)
        .ok_or_else(|| type_error(&format!("id: expected a string, null or a whole number of 64 bits, found {json}")))
}

#[allow(clippy::needless_pass_by_value, reason = "what `map_err` passes")]
fn thrown(error: Misuse) -> JsValue {
    misuse(error.kind.name(), error.rule, &error.pointer, &error.message)
}
