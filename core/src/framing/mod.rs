//! Splitting bytes into frames, and back. A frame is the text of one message.
//!
//! One decoder handles both stream framings: a line is a frame, and an LSP header block announces a frame by its
//! length. The configured framing only decides which of the two is reported as a violation. The size limit applies
//! while bytes arrive: of a frame that is too long only the beginning is kept, and decoding continues with the next
//! frame.

mod decode;
mod encode;

pub use decode::{Decoder, Item};
pub use encode::Outbox;

/// How messages are separated on the transport.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Framing {
    /// One JSON text per line, as in the specification's stdio transport.
    #[default]
    Lines,
    /// A `Content-Length` header block before each JSON text, as one snapshot of the specification allows.
    ContentLength,
    /// The transport itself separates messages: WebSocket text frames, HTTP bodies, message ports.
    Messages,
}

/// The capacity that an empty buffer keeps.
const IDLE_CAPACITY: usize = 64 * 1024;
/// A buffer that never had this capacity is freed when it is empty, because most connections are idle most of the time.
const BUSY_CAPACITY: usize = 4 * 1024;

/// Empties a buffer, and frees what it should not keep.
fn empty(buffer: &mut Vec<u8>) {
    buffer.clear();
    buffer.shrink_to(if buffer.capacity() < BUSY_CAPACITY { 0 } else { IDLE_CAPACITY });
}
