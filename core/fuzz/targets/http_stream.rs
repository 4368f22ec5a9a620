//! Event streams: bytes come to the same events however they are split, and what is written is read.
//!
//! An input is the limit, a seed for the split, and the stream.

use libacp::http::sse::{event, Item, Reader};

pub(crate) fn run(data: &[u8]) {
    let Some((&[limit, seed], stream)) = data.split_first_chunk::<2>() else { return };
    let limit = usize::from(limit);
    let whole = items(limit, stream, usize::MAX);
    for piece in [1, 2 + usize::from(seed)] {
        assert_eq!(items(limit, stream, piece), whole, "in pieces of {piece}");
    }
    for item in &whole.0 {
        let Item::Data(text) = item else { continue };
        assert!(text.len() <= limit, "{} bytes", text.len());
        // In JSON, a line end never stands where a blank would not do.
        let mut again = Vec::new();
        event(&mut again, Some(7), text);
        let text = text.replace(['\r', '\n'], " ");
        assert_eq!(items(limit, &again, 3), (vec![Item::Data(text)], Some("7".to_owned())));
    }
}

fn items(limit: usize, stream: &[u8], piece: usize) -> (Vec<Item>, Option<String>) {
    let mut reader = Reader::new(limit);
    let mut out = Vec::new();
    for mut bytes in stream.chunks(piece.min(stream.len()).max(1)) {
        while let Some(item) = reader.read(&mut bytes) {
            out.push(item);
        }
        assert!(bytes.is_empty(), "{} bytes were left", bytes.len());
    }
    (out, reader.last_id().map(str::to_owned))
}
