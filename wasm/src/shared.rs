//! Places in this module's memory that JavaScript reads and writes by itself, so that text and bytes cross the border
//! without allocations for each. `js/border.js` is the other side.
//!
//! What goes in stands in the *room*, one text behind the other, with their sizes in the *record*. What comes out stays
//! where it is, and the record says where that is.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::sync::Arc;

use libacp::connection::Event;
use libacp::Id;

/// Bytes that the room always has.
const ROOM: usize = 64 * 1024;
/// Texts that go in with one call, at most.
const TEXTS: usize = 3;

thread_local! {
    static IN: RefCell<Vec<u8>> = RefCell::default();
    static OUT: RefCell<String> = RefCell::default();
    static RECORD: Cell<[usize; 10]> = const { Cell::new([0; 10]) };
}

/// Where the room is; it has so many bytes, or 64 KiB if that is more.
pub(crate) fn room(size: usize) -> usize {
    IN.with_borrow_mut(|room| {
        let size = size.max(ROOM);
        if room.len() != size {
            *room = vec![0; size];
        }
        address(room)
    })
}

/// Where the record is.
pub(crate) fn record() -> usize {
    RECORD.with(|record| record.as_ptr() as usize)
}

/// Does something with the first bytes in the room.
pub(crate) fn with_bytes<T>(size: usize, work: impl FnOnce(&[u8]) -> T) -> T {
    IN.with_borrow(|room| work(room.get(..size).unwrap_or_default()))
}

/// Does something with the texts in the room; one that was not given is empty.
pub(crate) fn with_texts<T>(work: impl FnOnce([&str; TEXTS]) -> T) -> T {
    let sizes = RECORD.get();
    IN.with_borrow(|room| {
        let mut rest = &room[..];
        work(std::array::from_fn(|place| {
            let (text, more) = rest.split_at_checked(sizes[place]).unwrap_or_default();
            rest = more;
            simdutf8::basic::from_utf8(text).unwrap_or_default()
        }))
    })
}

/// Says where some bytes are; how many.
pub(crate) fn show(bytes: &[u8]) -> usize {
    let mut record = RECORD.get();
    (record[0], record[1]) = (address(bytes), bytes.len());
    RECORD.set(record);
    bytes.len()
}

/// Keeps a text, and says where it is; whether there is one.
pub(crate) fn tell(text: Option<String>) -> bool {
    let told = text.is_some();
    OUT.with_borrow_mut(|out| {
        *out = text.unwrap_or_default();
        show(out.as_bytes());
    });
    told
}

/// What [`describe`] has found: an event of another kind, a notification, a request, a response with a result.
const OTHER: u32 = 1;
const NOTIFICATION: u32 = 2;
const REQUEST: u32 = 3;
const RESPONSE: u32 = 4;
/// Beside that: the text is ASCII, the method stays where it is, the session is the last one; above them, the timing.
const ASCII: u32 = 8;
const STATIC: u32 = 16;
const SAME: u32 = 32;
const TIMING: u32 = 64;

/// Writes down the parts of an event that comes often, and says the rest in bits.
pub(crate) fn describe(event: &Event, last: &mut Option<Arc<str>>) -> u32 {
    let (kind, text, method, session, update, id, serial) = match event {
        Event::Notification(told) => {
            let kind = NOTIFICATION | (told.timing as u32 * TIMING);
            (kind, told.params(), &told.method, &told.session, told.update, &Id::Number(0), 0)
        }
        Event::Request(asked) => {
            (REQUEST, asked.params(), &asked.method, &asked.session, None, &asked.id, asked.serial)
        }
        Event::Response(response) => {
            let Some(text) = response.outcome.result() else { return OTHER };
            (RESPONSE, text, &response.method, &response.session, None, &response.id, response.serial)
        }
        _ => return OTHER,
    };
    let (Id::Number(id), Ok(serial)) = (id, usize::try_from(serial)) else { return OTHER };
    let Ok(id) = usize::try_from(*id) else { return OTHER };
    let mut bits = kind;
    if text.is_ascii() {
        bits |= ASCII;
    }
    if matches!(method, Cow::Borrowed(_)) {
        bits |= STATIC;
    }
    if session == last {
        bits |= SAME;
    } else {
        last.clone_from(session);
    }
    let mut record = [0; 10];
    let texts = [Some(text), Some(&**method), update, session.as_deref()];
    for (place, text) in texts.iter().enumerate() {
        let Some(text) = text else { continue };
        record[2 * place] = address(text.as_bytes());
        record[2 * place + 1] = text.len();
    }
    (record[8], record[9]) = (id, serial);
    RECORD.set(record);
    bits
}

fn address(bytes: &[u8]) -> usize {
    bytes.as_ptr() as usize
}
