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

/// Whether this is the module for Node, which has vectors, and whose engine reads Latin-1 sixty times as fast as UTF-8.
const FOR_NODE: bool = cfg!(target_feature = "simd128");
/// Longer texts stay UTF-8, as a copy would double what they take.
const COPIED: usize = 1 << 20;

thread_local! {
    static IN: RefCell<Vec<u8>> = RefCell::default();
    static OUT: RefCell<String> = RefCell::default();
    static LATIN1_OUT: RefCell<Vec<u8>> = RefCell::default();
    static RECORD: Cell<[usize; 10]> = const { Cell::new([0; 10]) };
    static BUSY: Cell<u32> = const { Cell::new(0) };
}

/// Where the room is; it has so many bytes, or 64 KiB if that is more. 0 where there is no memory for it; then it stays
/// what it was.
pub(crate) fn room(size: usize) -> usize {
    let size = size.max(ROOM);
    let mut room = IN.take();
    if room.len() != size {
        let mut other = Vec::new();
        if other.try_reserve_exact(size).is_err() {
            IN.set(room);
            return 0;
        }
        other.resize(size, 0);
        room = other;
    }
    let place = address(&room);
    IN.set(room);
    BUSY.set(0);
    place
}

/// Where it says that a call began which has not ended: one that found no memory never does, and the room is lost with it.
pub(crate) fn busy() -> usize {
    BUSY.with(|busy| busy.as_ptr() as usize)
}

/// Does something with the room. It is nobody else's meanwhile, so that a call that never ends keeps nothing borrowed.
fn with_room<T>(work: impl FnOnce(&[u8]) -> T) -> T {
    BUSY.set(1);
    let room = IN.take();
    let done = work(&room);
    IN.set(room);
    BUSY.set(0);
    done
}

/// Where the record is.
pub(crate) fn record() -> usize {
    RECORD.with(|record| record.as_ptr() as usize)
}

/// Does something with the first bytes in the room.
pub(crate) fn with_bytes<T>(size: usize, work: impl FnOnce(&[u8]) -> T) -> T {
    with_room(|room| work(room.get(..size).unwrap_or_default()))
}

/// Does something with the texts in the room; one that was not given is empty.
pub(crate) fn with_texts<T>(work: impl FnOnce([&str; TEXTS]) -> T) -> T {
    let sizes = RECORD.get();
    with_room(|room| {
        let mut rest = room;
        work(std::array::from_fn(|place| {
            let (text, more) = rest.split_at_checked(sizes[place]).unwrap_or_default();
            rest = more;
            read(text)
        }))
    })
}

/// A text in the room; nothing where it is none.
fn read(text: &[u8]) -> &str {
    // Without vectors, one check is as good as the other, and smaller.
    if FOR_NODE {
        simdutf8::basic::from_utf8(text).unwrap_or_default()
    } else {
        std::str::from_utf8(text).unwrap_or_default()
    }
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
/// Beside that: the text is Latin-1, the method stays where it is, the session is the last one; above them, the timing.
const LATIN1: u32 = 8;
const STATIC: u32 = 16;
const SAME: u32 = 32;
const TIMING: u32 = 64;

/// Writes down the parts of an event that comes often, and says the rest in bits.
/// A notification has no number, so the serial number of the call that it belongs to stands there, plus one.
pub(crate) fn describe(event: &Event, exchange: Option<u64>, last: &mut Option<Arc<str>>) -> u32 {
    let (kind, text, method, session, update, id, serial) = match event {
        Event::Notification(told) => {
            let kind = NOTIFICATION | (told.timing as u32 * TIMING);
            let call = exchange.and_then(|serial| u32::try_from(serial).ok()?.checked_add(1)).unwrap_or_default();
            (kind, told.params(), &told.method, &told.session, told.update, &Id::Number(0), call.into())
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
    if text.is_ascii() {
        bits |= LATIN1;
    } else if FOR_NODE && text.len() <= COPIED {
        LATIN1_OUT.with_borrow_mut(|out| {
            if write_latin1(out, text) {
                bits |= LATIN1;
                (record[0], record[1]) = (address(out), out.len());
            }
        });
    }
    RECORD.set(record);
    bits
}

/// Puts a text into bytes as Latin-1; whether Latin-1 has all of its characters.
fn write_latin1(out: &mut Vec<u8>, text: &str) -> bool {
    let (bytes, mut at, mut done) = (text.as_bytes(), 0, 0);
    out.clear();
    out.resize(bytes.len(), 0);
    while at < bytes.len() {
        let eight = bytes.get(at..).and_then(<[u8]>::first_chunk::<8>);
        if let Some((eight, place)) = eight.zip(out.get_mut(done..).and_then(<[u8]>::first_chunk_mut::<8>)) {
            // What is copied too much is written over.
            *place = *eight;
            let others = u64::from_le_bytes(*eight) & u64::from_le_bytes([0x80; 8]);
            // A sum of what was found would do for both, but make the next piece wait for it.
            if others == 0 {
                at += 8;
                done += 8;
                continue;
            }
            let ascii = others.trailing_zeros() as usize / 8;
            at += ascii;
            done += ascii;
        }
        let Some((&byte, place)) = bytes.get(at).zip(out.get_mut(done)) else { return false };
        (*place, at) = match (byte, bytes.get(at + 1)) {
            (..0x80, _) => (byte, at + 1),
            (0xC2 | 0xC3, Some(second)) => (byte << 6 | second & 0x3F, at + 2),
            _ => return false,
        };
        done += 1;
    }
    out.truncate(done);
    true
}

fn address(bytes: &[u8]) -> usize {
    bytes.as_ptr() as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_latin1_if_all_of_their_characters_are() {
        let all: String = ('\0'..='\u{ff}').collect();
        for before in 0..40 {
            let text = "x".repeat(before) + &all;
            let mut out = b"from before".to_vec();
            assert!(write_latin1(&mut out, &text));
            assert_eq!(out.iter().copied().map(char::from).collect::<String>(), text);
            for other in ["\u{100}", "\u{7ff}", "中", "🙂"] {
                assert!(!write_latin1(&mut out, &(text.clone() + other)));
                assert!(!write_latin1(&mut out, &(other.to_owned() + &text)));
            }
        }
        assert!(write_latin1(&mut Vec::new(), ""));
    }
}
