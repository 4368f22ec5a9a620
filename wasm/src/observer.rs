//! The observer with the types of the border; see `js/observer.js`. Sides are counted as `ROLE` of `js/getters.js` does.

use libacp::connection::{Observer, Role};
use wasm_bindgen::prelude::*;

use crate::getters::{OBSERVER_NUMBERS_OF, OBSERVER_TEXTS};
use crate::polled::Polled;
use crate::shared::{self, with_texts};
use crate::{config, state, type_error};

/// An observer. Texts that a call takes are in the room.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Watch {
    observer: Observer,
    polled: Polled,
    from: Role,
}

fn side(number: usize) -> Role {
    if number == Role::Client as usize {
        Role::Client
    } else {
        Role::Agent
    }
}

#[wasm_bindgen]
impl Watch {
    /// An observer from the options of a connection as JSON text, whose types the caller has checked.
    #[wasm_bindgen(constructor)]
    pub fn new() -> Result<Watch, JsValue> {
        let config = with_texts(|[options, ..]| config::read(options)).map_err(|message| type_error(&message))?;
        Ok(Watch { observer: Observer::new(config), polled: Polled::default(), from: Role::Client })
    }

    /// Takes so many bytes that one side has sent, which stand in the room.
    pub fn receive(&mut self, from: usize, size: usize) {
        shared::with_bytes(size, |data| self.observer.receive(side(from), data));
    }

    /// One side has closed its stream.
    #[wasm_bindgen(js_name = receiveEof)]
    pub fn receive_eof(&mut self, from: usize) {
        self.observer.receive_eof(side(from));
    }

    /// Goes to the next event, and says what it is; 0 when there is none.
    #[wasm_bindgen(js_name = pollEvent)]
    pub fn poll_event(&mut self) -> u32 {
        let (from, event) = self.observer.poll_event().unzip();
        self.from = from.unwrap_or(self.from);
        self.polled.next(event, None)
    }

    /// Who has sent the event.
    pub fn from(&self) -> usize {
        self.from as usize
    }

    /// The event, where it is not one of those that come often.
    pub fn event(&self) -> JsValue {
        self.polled.value()
    }

    /// Bytes that have not been read, the phase, the version or NaN.
    pub fn number(&self, place: usize) -> f64 {
        match place {
            0 => config::double(self.observer.buffered() as u64),
            1 => config::double(self.observer.phase() as u64),
            _ => self.observer.version().map_or(f64::NAN, f64::from),
        }
    }

    /// Tells the text that stands at a place of the table of `getters`, about the texts, if there is such a thing.
    pub fn asked(&self, place: usize) -> bool {
        let text = OBSERVER_TEXTS.get(place);
        shared::tell(text.and_then(|text| with_texts(|texts| text(&self.observer, texts))))
    }

    /// The number that stands at a place of the table of `getters`, about the texts; NaN where there is none.
    #[wasm_bindgen(js_name = numberOf)]
    pub fn number_of(&mut self, place: usize) -> f64 {
        let number = OBSERVER_NUMBERS_OF.get(place);
        number.and_then(|number| with_texts(|texts| number(&mut self.observer, texts))).unwrap_or(f64::NAN)
    }

    /// Tells one of these texts, about a side or the session that is named, if there is such a thing.
    pub fn text(&self, place: usize, of: usize) -> bool {
        let observer = &self.observer;
        let session = || with_texts(|[id, ..]| observer.session(id));
        shared::tell(match place {
            0 => Some(observer.capabilities(side(of)).to_owned()),
            1 => Some(state::requests(observer.open_requests(side(of)))),
            2 => Some(state::sessions(observer.sessions())),
            3 => session().map(state::session),
            4 => session().map(libacp::connection::Session::snapshot),
            _ => Some(observer.snapshot()),
        })
    }
}
