//! Strings with many escapes, such as code in a diff, read and written one block of bytes at a time.
//!
//! Theory of operation. Code has an escape about every ten bytes. A search that restarts after each escape has to wait
//! for the one before to finish, and copying the few bytes between two escapes costs little more than the call. Here
//! one pass marks the special bytes of a block, which compilers do with vector instructions. The marks are then visited
//! bit by bit, and what is between them is copied in pieces of a fixed size. A piece may copy more than needed; the
//! next one overwrites the surplus.
//!
//! Without vector instructions this is slower than the search of eight bytes at a time (`special`), and browsers would
//! download it for nothing. Callers check [`WORTH_IT`].

use std::ops::Range;

/// Whether the target has vector instructions.
pub(super) const WORTH_IT: bool = cfg!(any(not(target_family = "wasm"), target_feature = "simd128"));

/// How many bytes are marked at once, one bit each.
const BLOCK: usize = 64;
/// How many bytes are copied at once.
const PIECE: usize = 16;
/// A block, and what may be read after it: the rest of an escape or of a piece that begins in the last byte of the
/// block.
const WINDOW: usize = BLOCK + PIECE;
/// Shorter strings are handled without blocks.
pub(super) const LONG: usize = BLOCK;
/// The lengths of the longest escape that is written, `\u001f`, and of the longest that is read, `\ud83d\ude42`.
const WRITTEN: usize = 6;
const READ: usize = 12;
const _: () = assert!(BLOCK == u64::BITS as usize && READ < PIECE);
/// The largest initial capacity for an unescaped string.
const ROOM: usize = 16 * 1024;

/// The character of an escape of two bytes; 0 if there is no such escape.
const SIMPLE: [u8; 256] = {
    let (codes, values, mut simple, mut at) = (br#""\/bfnrt"#, b"\"\\/\x08\x0c\n\r\t", [0; 256], 0);
    while at < codes.len() {
        simple[codes[at] as usize] = values[at];
        at += 1;
    }
    simple
};

/// The second byte of the escape for a byte that must be escaped; 0 if the escape has six bytes.
const ESCAPED: [u8; 256] = {
    let (bytes, codes, mut escaped, mut at) = (b"\"\\\n\r\t", br#""\nrt"#, [0; 256], 0);
    while at < codes.len() {
        escaped[bytes[at] as usize] = codes[at];
        at += 1;
    }
    escaped
};

/// Where the inside of a string, from `at` on, has something that ends it or is not in JSON: a quote, a control
/// character, half a surrogate pair, an escape that is none, or the end of the text.
pub(super) fn skip(bytes: &[u8], mut at: usize) -> usize {
    let mut padded = [0; WINDOW];
    'blocks: loop {
        let window = window(bytes, at, &mut padded);
        let mut marks = marks(window);
        while marks != 0 {
            let here = marks.trailing_zeros() as usize;
            let Some((_, behind)) = escape(window, here) else { return at + here };
            // A branch rather than a sum, so that the processor can start the next block before this one is finished.
            if behind >= BLOCK {
                at += behind;
                continue 'blocks;
            }
            marks &= u64::MAX << behind;
        }
        at += BLOCK;
    }
}

/// The value of the string whose inside begins at `at`, and where it ends: the place of a quote, or the end of the
/// text. `None` where [`skip`] ends at something else. `room` may have been used before.
pub(crate) fn unescape<'r>(bytes: &[u8], mut at: usize, room: &'r mut Vec<u8>) -> Option<(&'r str, usize)> {
    let first = bytes.len().saturating_sub(at).min(ROOM) + WINDOW;
    if room.len() < first {
        *room = vec![0; first];
    }
    let (mut padded, mut done) = ([0; WINDOW], 0);
    let end = 'blocks: loop {
        if room.len() - done < WINDOW {
            room.resize(room.len() * 2, 0);
        }
        let out: &mut [u8; WINDOW] = room.get_mut(done..)?.first_chunk_mut()?;
        let window = window(bytes, at, &mut padded);
        let mut marks = marks(window);
        let (mut from, mut filled) = (0, 0);
        loop {
            let here = marks.trailing_zeros() as usize;
            copy(out, filled, window, from..here)?;
            filled += here - from;
            if marks == 0 {
                at += BLOCK;
                break;
            }
            if window[here] == b'"' {
                done += filled;
                break 'blocks at + here;
            }
            let Some((value, behind)) = escape(window, here) else {
                done += filled;
                break 'blocks (at + here == bytes.len()).then_some(at + here)?;
            };
            if value < 0x80 {
                *out.get_mut(filled)? = value as u8;
                filled += 1;
            } else {
                let character = char::from_u32(value)?;
                let length = character.len_utf8();
                character.encode_utf8(out.get_mut(filled..filled + length)?);
                filled += length;
            }
            if behind >= BLOCK {
                at += behind;
                break;
            }
            marks &= u64::MAX << behind;
            from = behind;
        }
        done += filled;
    };
    Some((simdutf8::basic::from_utf8(&room[..done]).ok()?, end))
}

/// Appends a text as the content of a string.
pub(super) fn quote(out: &mut String, text: &str) {
    /// Room for several blocks, and for one of which every byte becomes as long as it can.
    const ROOM: usize = 1024;
    const MOST: usize = WRITTEN * BLOCK + PIECE;
    let bytes = text.as_bytes();
    let (mut room, mut padded, mut done, mut at) = ([0; ROOM], [0; WINDOW], 0, 0);
    while at < bytes.len() {
        let window = window(bytes, at, &mut padded);
        // Only complete characters, so that the buffer stays valid UTF-8.
        let mut length = BLOCK.min(bytes.len() - at);
        while window[length] & 0xC0 == 0x80 {
            length -= 1;
        }
        if ROOM - done < MOST {
            flush(out, &room[..done]);
            done = 0;
        }
        let Some(written) = room[done..].first_chunk_mut::<MOST>() else { return };
        let mut marks = marks(window);
        let (mut from, mut filled) = (0, 0);
        loop {
            let here = length.min(marks.trailing_zeros() as usize);
            if copy(written, filled, window, from..here).is_none() {
                return;
            }
            filled += here - from;
            if here == length {
                break;
            }
            let byte = window[here];
            let code = ESCAPED[usize::from(byte)];
            if code == 0 {
                const HEX: &[u8; 16] = b"0123456789abcdef";
                let six = [b'\\', b'u', b'0', b'0', HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]];
                written[filled..filled + 6].copy_from_slice(&six);
                filled += 6;
            } else {
                written[filled..filled + 2].copy_from_slice(&[b'\\', code]);
                filled += 2;
            }
            marks &= marks - 1;
            from = here + 1;
        }
        done += filled;
        at += length;
    }
    flush(out, &room[..done]);
}

fn flush(out: &mut String, bytes: &[u8]) {
    let text = simdutf8::basic::from_utf8(bytes);
    debug_assert!(text.is_ok(), "whole characters");
    out.push_str(text.unwrap_or_default());
}

/// The bytes from a place on, with zeros behind the end of the text: they are control characters, and end any string.
#[inline]
fn window<'w>(bytes: &'w [u8], at: usize, padded: &'w mut [u8; WINDOW]) -> &'w [u8; WINDOW] {
    let rest = bytes.get(at..).unwrap_or_default();
    rest.first_chunk().unwrap_or_else(|| {
        *padded = [0; WINDOW];
        padded[..rest.len()].copy_from_slice(rest);
        padded
    })
}

/// A bit for each byte of a block that ends a string or is not itself in it: a quote, a backslash, a control character.
#[inline]
fn marks(window: &[u8; WINDOW]) -> u64 {
    // Each of eight bytes contributes another bit, so their sum is a byte of the result.
    let bits: [u8; BLOCK] = std::array::from_fn(|at| {
        let byte = window[at];
        let special = u8::from(byte < b' ') | u8::from(byte == b'"') | u8::from(byte == b'\\');
        0u8.wrapping_sub(special) & 1 << (at % 8)
    });
    u64::from_le_bytes(std::array::from_fn(|at| {
        // As a product, because WebAssembly has no instruction for the sum of bytes.
        let eight = u64::from_le_bytes(std::array::from_fn(|of| bits[8 * at + of]));
        (eight.wrapping_mul(u64::from_le_bytes([1; 8])) >> 56) as u8
    }))
}

/// Copies a range, and up to one piece more.
#[inline]
fn copy<const N: usize>(out: &mut [u8; N], to: usize, window: &[u8; WINDOW], range: Range<usize>) -> Option<()> {
    let (from, length) = (range.start, range.len());
    // Not a loop, which the compiler would turn into a call.
    piece(out, to, window, from)?;
    if length > PIECE {
        piece(out, to + PIECE, window, from + PIECE)?;
        if length > 2 * PIECE {
            piece(out, to + 2 * PIECE, window, from + 2 * PIECE)?;
            if length > 3 * PIECE {
                piece(out, to + 3 * PIECE, window, from + 3 * PIECE)?;
            }
        }
    }
    Some(())
}

#[inline]
fn piece<const N: usize>(out: &mut [u8; N], to: usize, window: &[u8; WINDOW], from: usize) -> Option<()> {
    let piece: &[u8; PIECE] = window.get(from..)?.first_chunk()?;
    *out.get_mut(to..)?.first_chunk_mut()? = *piece;
    Some(())
}

/// What the escape at a place of a block stands for, and the place behind it.
#[inline]
fn escape(window: &[u8; WINDOW], at: usize) -> Option<(u32, usize)> {
    let [b'\\', code] = *window.get(at..at + 2)? else { return None };
    match SIMPLE[usize::from(code)] {
        0 => unicode(window, at),
        value => Some((value.into(), at + 2)),
    }
}

/// The same for an escape of digits, or two that are one character.
#[cold]
#[inline(never)]
fn unicode(window: &[u8; WINDOW], at: usize) -> Option<(u32, usize)> {
    let unit = |at: usize| {
        let [b'\\', b'u', digits @ ..] = window.get(at..at + 6)? else { return None };
        digits.iter().try_fold(0, |unit, digit| Some(unit << 4 | char::from(*digit).to_digit(16)?))
    };
    match unit(at)? {
        high @ 0xD800..=0xDBFF => {
            let low = unit(at + 6).filter(|low| (0xDC00..=0xDFFF).contains(low))?;
            Some((0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00), at + READ))
        }
        0xDC00..=0xDFFF => None,
        unit => Some((unit, at + READ / 2)),
    }
}

#[cfg(test)]
mod tests;
