//! The border between the core and JavaScript: text and bytes go across, nothing else.
//!
//! [`Core`] is the host, and the connection that it owns, with the types of the border, [`Watch`](observer::Watch) the observer. Texts and bytes cross through places that both sides know
//! (`shared`). What the core has to say in more than one word is JSON text (`events`, `state`) or, where there may be much
//! of it, a record (`shared`); it is made an object in `js/events.js`, and gets its JavaScript manners in
//! `js/connection.js`. What can be asked of a connection is generated from `core/protocol/getters.json`: `getters` here and
//! `js/getters.js` there count alike. Read next: `shared`, `config`, `events`, `getters`, `state`.
#![forbid(unsafe_code)]

mod budget;
mod config;
mod events;
#[cfg_attr(clients_only, allow(dead_code, reason = "observers are among what can be asked"))]
mod getters;
#[cfg(not(clients_only))]
mod observer;
#[cfg(feature = "policy")]
mod policy;
mod polled;
mod shared;
mod state;

use getters::{NUMBERS, NUMBERS_OF, TEXTS};
use libacp::connection::{CallOptions, Misuse, RequestKey, Timeout};
use libacp::host::{may_handle, Host};
use libacp::{ErrorCode, Id};
use polled::Polled;
use shared::with_texts;
use wasm_bindgen::prelude::*;

#[cfg(all(clients_only, target_family = "wasm"))]
#[global_allocator]
static ALLOCATOR: talc::wasm::WasmDynamicTalc = talc::wasm::new_wasm_dynamic_allocator();

#[wasm_bindgen(raw_module = "./events.js")]
extern "C" {
    /// An event from its members as JSON text, and the JSON text that it carries.
    fn event(head: &str, text: Option<&str>) -> JsValue;
}

#[wasm_bindgen(raw_module = "./mistakes.js")]
extern "C" {
    /// An instance of the class `Misuse`.
    fn misuse(kind: &str, rule: &str, pointer: &str, message: &str) -> JsValue;
    #[wasm_bindgen(js_name = typeError)]
    fn type_error(message: &str) -> JsValue;
}

/// A connection; see `js/index.d.ts` for what each member does. Ids, params, results and data are JSON text. Texts that a
/// call takes are in the room, in the order in which it names them.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Core {
    host: Host,
    polled: Polled,
}

#[wasm_bindgen]
impl Core {
    /// A connection from its options as JSON text, whose types the caller has checked.
    #[wasm_bindgen(constructor)]
    pub fn new() -> Result<Core, JsValue> {
        let host = with_texts(|[options, ..]| config::host(options)).map_err(|message| type_error(&message))?;
        Ok(Core { host, polled: Polled::default() })
    }

    /// Takes so many bytes from the peer, which stand in the room, and says whether it is clear that there is no event.
    pub fn receive(&mut self, size: usize) -> bool {
        let connection = self.host.connection_mut();
        shared::with_bytes(size, |data| connection.receive(data));
        connection.is_starved()
    }

    /// The peer has closed its side.
    #[wasm_bindgen(js_name = receiveEof)]
    pub fn receive_eof(&mut self) {
        self.host.connection_mut().receive_eof();
    }

    /// Tells the time.
    #[wasm_bindgen(js_name = handleTimeout)]
    pub fn handle_timeout(&mut self, now: f64) {
        self.host.handle_timeout(config::whole(now));
    }

    /// Goes to the next event, and says what it is; 0 when there is none, or when it is held back.
    #[wasm_bindgen(js_name = pollEvent)]
    pub fn poll_event(&mut self) -> u32 {
        let event = self.host.poll_event();
        self.polled.next(event, self.host.exchange())
    }

    /// Holds events back from now on while too much waits.
    pub fn pace(&mut self) {
        self.host.pace().start(usize::MAX);
    }

    /// Merges chunks from now on while they wait.
    #[wasm_bindgen(js_name = mergeChunks)]
    pub fn merge_chunks(&mut self, merges: bool) {
        self.host.merge_chunks(merges);
    }

    /// Whether a message can be sent at once.
    #[wasm_bindgen(js_name = hasRoom)]
    pub fn has_room(&self) -> bool {
        self.host.has_room()
    }

    /// Whether the last event was held back.
    #[wasm_bindgen(js_name = isPaused)]
    pub fn is_paused(&mut self) -> bool {
        self.host.pace().is_paused()
    }

    /// Counts something of this size that waits.
    pub fn keep(&mut self, size: usize) {
        self.host.pace().keep(size);
    }

    /// It was handed over, perhaps as the last of its place; whether it is time to poll again.
    pub fn take(&mut self, size: usize, is_last: bool) -> bool {
        self.host.pace().take(size, is_last)
    }

    /// The peer's request with this serial number was served; whether it is time to poll again.
    pub fn served(&mut self, serial: f64) -> bool {
        self.host.pace().end(config::whole(serial))
    }

    /// The event, where it is not one of those that come often.
    pub fn event(&self) -> JsValue {
        self.polled.value()
    }

    /// When the time is wanted; -1 when it is not.
    #[wasm_bindgen(js_name = pollTimeout)]
    pub fn poll_timeout(&self) -> f64 {
        self.host.poll_timeout().map_or(-1.0, config::double)
    }

    /// Shows the bytes for the peer; how many there are.
    pub fn transmit(&self) -> usize {
        shared::show(self.host.connection().transmit())
    }

    /// Takes bytes as written.
    pub fn consume(&mut self, count: usize) {
        self.host.connection_mut().consume(count);
    }

    /// Sends a request with a method, params, and its id unless that is empty; the id that it has got otherwise. Its
    /// time-out is the configured one for NaN, and none where it is negative.
    pub fn request(&mut self, timeout: f64) -> Result<f64, JsValue> {
        let timeout = if timeout.is_nan() {
            Timeout::Configured
        } else if timeout < 0.0 {
            Timeout::Never
        } else {
            Timeout::After(config::whole(timeout))
        };
        with_texts(|[method, params, id]| {
            let id = if id.is_empty() { None } else { Some(read_id(id)?) };
            let options = CallOptions::default().id(id).timeout(timeout);
            let sent = self.host.request_with(method, params, options).map_err(thrown)?;
            Ok(if let Id::Number(id) = sent { config::double(id.unsigned_abs()) } else { 0.0 })
        })
    }

    /// Sends a notification with a method and params.
    pub fn notify(&mut self) -> Result<(), JsValue> {
        with_texts(|[method, params, _]| self.host.notify(method, params).map_err(thrown))
    }

    /// Sends a notification, as above, about the session that the peer's request with this serial number opens.
    #[wasm_bindgen(js_name = notifyOpened)]
    pub fn notify_opened(&mut self, serial: f64) -> Result<(), JsValue> {
        let opening = config::whole(serial);
        with_texts(|[method, params, _]| self.host.notify_opened(opening, method, params).map_err(thrown))
    }

    /// Answers the request with this id, and this serial number unless it is NaN, with a result.
    pub fn respond(&mut self, serial: f64) -> Result<(), JsValue> {
        with_texts(|[id, result, _]| self.host.respond(key(&read_id(id)?, serial), result).map_err(thrown))
    }

    /// Answers a request, as above, with an error: its message, and its data unless that is empty.
    #[wasm_bindgen(js_name = respondError)]
    pub fn respond_error(&mut self, serial: f64, code: i32) -> Result<(), JsValue> {
        with_texts(|[id, message, data]| {
            let data = Some(data).filter(|data| !data.is_empty());
            self.host.respond_error(key(&read_id(id)?, serial), ErrorCode(code), message, data).map_err(thrown)
        })
    }

    /// Asks the peer to cancel the own request with this id.
    pub fn cancel(&mut self) -> Result<(), JsValue> {
        with_texts(|[id, ..]| self.host.cancel(&read_id(id)?).map_err(thrown))
    }

    /// Gives up the own call with this serial number.
    pub fn abandon(&mut self, serial: f64) {
        self.host.abandon(config::whole(serial));
    }

    /// The handler of the prompt with this serial number says itself when it becomes a message.
    pub fn hold(&mut self, serial: f64) -> Result<(), JsValue> {
        self.host.hold(config::whole(serial)).map_err(thrown)
    }

    /// The handler of the prompt with this serial number has made its first step.
    pub fn stepped(&mut self, serial: f64) -> Result<(), JsValue> {
        self.host.stepped(config::whole(serial)).map_err(thrown)
    }

    /// The prompt with this serial number becomes a message.
    pub fn insert(&mut self, serial: f64) -> Result<(), JsValue> {
        self.host.insert(config::whole(serial)).map_err(thrown)
    }

    /// Begins work without a prompt in a session; its number.
    #[wasm_bindgen(js_name = beginWork)]
    pub fn begin_work(&mut self) -> Result<f64, JsValue> {
        with_texts(|[session, ..]| self.host.begin_work(session).map(config::double).map_err(thrown))
    }

    /// Ends work with a result.
    #[wasm_bindgen(js_name = endWork)]
    pub fn end_work(&mut self, work: f64) -> Result<(), JsValue> {
        with_texts(|[result, ..]| self.host.end_work(config::whole(work), result).map_err(thrown))
    }

    /// Ends work with an error: its message, and its data unless that is empty.
    #[wasm_bindgen(js_name = failWork)]
    pub fn fail_work(&mut self, work: f64, code: i32) -> Result<(), JsValue> {
        with_texts(|[message, data, _]| {
            let data = Some(data).filter(|data| !data.is_empty());
            self.host.fail_work(config::whole(work), ErrorCode(code), message, data).map_err(thrown)
        })
    }

    /// Puts something into the background of a session.
    pub fn background(&mut self) -> Result<(), JsValue> {
        with_texts(|[session, item, _]| self.host.background(session, item).map_err(thrown))
    }

    /// Whether the next prompt of a session has to wait.
    #[wasm_bindgen(js_name = holdsBack)]
    pub fn holds_back(&self) -> bool {
        with_texts(|[session, ..]| self.host.holds_back(session))
    }

    /// Ends the connection.
    pub fn close(&mut self) {
        self.host.close();
    }

    /// Whether a method could be sent now.
    pub fn can(&self) -> bool {
        with_texts(|[method, ..]| self.host.can(method))
    }

    /// Why a method could not be sent now, or undefined.
    #[wasm_bindgen(js_name = whyNot)]
    pub fn why_not(&self) -> JsValue {
        with_texts(|[method, ..]| self.host.why_not(method)).map_or(JsValue::UNDEFINED, thrown)
    }

    /// Tells the text that stands at a place of the table, about the connection and the texts, if there is such a thing.
    pub fn text(&self, place: usize) -> bool {
        shared::tell(TEXTS.get(place).and_then(|text| with_texts(|texts| text(self.host.connection(), texts))))
    }

    /// The number that stands at a place of the table; NaN where there is none.
    pub fn number(&mut self, place: usize) -> f64 {
        NUMBERS.get(place).and_then(|number| number(self.host.connection_mut())).unwrap_or(f64::NAN)
    }

    /// The same for a number about the texts.
    #[wasm_bindgen(js_name = numberOf)]
    pub fn number_of(&mut self, place: usize) -> f64 {
        let found =
            NUMBERS_OF.get(place).and_then(|number| with_texts(|texts| number(self.host.connection_mut(), texts)));
        found.unwrap_or(f64::NAN)
    }
}

/// The request with this id, and this serial number unless it is NaN.
fn key(id: &Id, serial: f64) -> RequestKey<'_> {
    if serial.is_nan() {
        id.into()
    } else {
        (id, config::whole(serial)).into()
    }
}

/// Where JavaScript writes what goes in; it has so many bytes, or 64 KiB if that is more. 0 where there is no memory for it.
#[wasm_bindgen]
pub fn room(size: usize) -> usize {
    shared::room(size)
}

/// Where it is 1 when the call before has not ended, and the room is lost.
#[wasm_bindgen]
pub fn busy() -> usize {
    shared::busy()
}

/// Where JavaScript writes how long that is, and reads where things are.
#[wasm_bindgen]
pub fn record() -> usize {
    shared::record()
}

/// Tells the capabilities of a host with these options, its handlers among them, and the capabilities that it states. With a
/// method, only refuses what could be no handler of it.
#[wasm_bindgen]
pub fn offers() -> Result<(), JsValue> {
    let offered = with_texts(|[options, stated, method]| {
        let (config, handlers) = config::of_host(options)?;
        if !method.is_empty() {
            return may_handle(&config, method, stated).map(|()| None).map_err(|refused| refused.message);
        }
        let handlers: Vec<&str> = handlers.iter().map(String::as_str).collect();
        libacp::host::offers(&config, &handlers, stated).map(Some).map_err(|refused| refused.message)
    });
    shared::tell(offered.map_err(|message| type_error(&message))?);
    Ok(())
}

/// Tells the end of a command's output, if its beginning has to go.
#[wasm_bindgen(js_name = cutOutput)]
pub fn cut_output(byte_limit: f64) -> bool {
    shared::tell(with_texts(|[output, ..]| {
        let (rest, truncated) = libacp::terminal::cut_output(output, config::whole(byte_limit));
        truncated.then(|| rest.to_owned())
    }))
}

fn read_id(json: &str) -> Result<Id, JsValue> {
    Id::from_json(json)
        .ok_or_else(|| type_error(&format!("id: expected a string, null or a whole number of 64 bits, found {json}")))
}

#[allow(clippy::needless_pass_by_value, reason = "what `map_err` passes")]
fn thrown(error: Misuse) -> JsValue {
    misuse(error.kind.name(), error.rule.as_str(), &error.pointer, &error.message)
}
