//! Framing: bytes come to the same frames however they are split, and no more of them wait than the limit says.
//!
//! An input is the framing, the limit, a seed for the split, and the stream.

use libacp::framing::{Decoder, Framing, Item};

pub(crate) fn run(data: &[u8]) {
    let Some((&[framing, limit, seed], stream)) = data.split_first_chunk::<3>() else { return };
    let framing = if framing % 2 == 0 { Framing::Lines } else { Framing::ContentLength };
    let limit = usize::from(limit);
    let whole = items(framing, limit, stream, usize::MAX);
    for piece in [1, 2 + usize::from(seed)] {
        assert_eq!(items(framing, limit, stream, piece), whole, "in pieces of {piece}");
    }
}

fn items(framing: Framing, limit: usize, stream: &[u8], piece: usize) -> Vec<Item> {
    let mut decoder = Decoder::new(framing, limit);
    let mut out = Vec::new();
    for bytes in stream.chunks(piece.min(stream.len()).max(1)) {
        decoder.push(bytes);
        while let Some(item) = decoder.poll() {
            // How much of a head had come by then is up to the split.
            out.push(if let Item::TooLong { .. } = item { Item::TooLong { head: Vec::new() } } else { item });
        }
        assert!(decoder.buffered() <= limit + 2, "{} bytes wait", decoder.buffered());
    }
    out.extend(decoder.finish());
    assert_eq!(decoder.finish(), None);
    out
}
