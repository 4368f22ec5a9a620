//! Bytes to frames and back. A frame is the text of one message.
//!
//! One decoder serves all stream framings: a line is a frame, and an LSP header block announces a frame by length.
//! What the connection was set up for decides only which of the two is worth a report. The frame limit holds while
//! bytes arrive: of a frame that is too long only the head is kept, and the next frame is found all the same.

mod decode;
mod encode;

pub use decode::{Decoder, Item};
pub use encode::Outbox;

/// How messages are told apart on the transport.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Framing {
    /// One JSON text per line, as the specification's stdio transport has it.
    #[default]
    Lines,
    /// `Content-Length` headers before each JSON text, as one snapshot of the specification allows.
    ContentLength,
    /// The transport keeps messages apart by itself: WebSocket text frames, HTTP bodies, message ports.
    Messages,
}

/// Capacity that an empty buffer keeps, in bytes.
const IDLE_CAPACITY: usize = 64 * 1024;
/// Buffers that stayed below this are freed when they are empty: most connections are idle most of the time.
const BUSY_CAPACITY: usize = 4 * 1024;

/// Empties a buffer.
fn empty(buffer: &mut Vec<u8>) {
    buffer.clear();
    buffer.shrink_to(if buffer.capacity() < BUSY_CAPACITY { 0 } else { IDLE_CAPACITY });
}
