//! The content of a message: its text in one piece, and the blocks that are no text between.

use std::borrow::Cow;
use std::ops::Range;

use super::body::Place;
use crate::json::{self, Kind, Scanner, Text, Writer, MAX_DEPTH};

/// What a block takes beside its bytes.
const BLOCK: usize = 64;

/// Room that the first block makes.
const FIRST: usize = 64;

/// A part of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Block<'a> {
    /// A run of text: what came as blocks of nothing but text, one behind the other.
    Text(&'a str),
    /// Any other block as JSON text, as it came; of text with annotations, say.
    Json(&'a str),
}

#[derive(Debug, Clone)]
struct Piece {
    /// The text of it, which may be empty.
    text: Range<usize>,
    /// The whole of it, where it is more than text.
    json: Option<Box<str>>,
}

/// The pieces in order, and what they take beside the text.
#[derive(Debug, Clone, Default)]
struct Pieces {
    list: Vec<Piece>,
    bytes: usize,
}

/// Blocks in order, of which adjacent ones of text are one.
#[derive(Debug, Clone, Default)]
pub(super) struct Content {
    text: String,
    /// `None` while the text is all there is, as in most contents: nothing has to be kept of it.
    pieces: Option<Box<Pieces>>,
}

impl Piece {
    /// What it takes beside its text.
    fn bytes(&self) -> usize {
        self.json.as_deref().map_or(0, str::len) + BLOCK
    }
}

impl Pieces {
    /// A run of text, where there is any.
    fn run(end: usize) -> Self {
        let mut pieces = Self::default();
        if end > 0 {
            pieces.push(0..end, None);
        }
        pieces
    }

    fn push(&mut self, text: Range<usize>, json: Option<&str>) {
        let piece = Piece { text, json: json.map(Into::into) };
        self.bytes += piece.bytes();
        self.list.push(piece);
    }
}

/// How most blocks begin, and those of text.
const TYPE: &str = r#"{"type":""#;
const TEXT: &str = r#"{"type":"text","text":"#;

/// Whether the first member of a block says that it is no text.
fn is_other(block: &str) -> bool {
    block.strip_prefix(TYPE).is_some_and(|rest| !rest.starts_with("text\""))
}

/// The text of a block that has nothing else in it.
pub(super) fn plain(block: &str) -> Option<Text<'_>> {
    if let Some(rest) = block.strip_prefix(TEXT) {
        let text = Scanner::new(rest, MAX_DEPTH).string().ok()?;
        if rest.len() == text.raw.len() + "\"\"}".len() {
            return Some(text);
        }
    }
    let mut scanner = Scanner::new(block, MAX_DEPTH);
    let (mut is_text, mut found) = (false, None);
    let mut more = scanner.enter(Kind::Object).ok()?;
    while more {
        match scanner.key().ok()?.raw {
            "type" => is_text = scanner.string().ok()?.raw == "text",
            "text" => {
                let text = scanner.string().ok()?;
                found.get_or_insert(text);
            }
            // Null says nothing.
            "annotations" | "_meta" if scanner.peek().ok()? == Kind::Null => _ = scanner.literal().ok()?,
            _ => return None,
        }
        more = scanner.more(Kind::Object).ok()?;
    }
    found.filter(|_| is_text)
}

pub(super) fn value(text: Text<'_>) -> Cow<'_, str> {
    text.value()
}

impl Content {
    /// The text of all blocks, one behind the other.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    #[inline]
    pub(super) fn bytes(&self) -> usize {
        let run = if self.text.is_empty() { 0 } else { BLOCK };
        self.text.len() + self.pieces.as_ref().map_or(run, |pieces| pieces.bytes)
    }

    pub(super) fn blocks(&self) -> impl Iterator<Item = Block<'_>> {
        self.blocks_from(Place::default())
    }

    /// How many pieces there are.
    fn count(&self) -> usize {
        self.pieces.as_ref().map_or(usize::from(!self.text.is_empty()), |pieces| pieces.list.len())
    }

    /// The text of a piece, and its JSON.
    fn piece(&self, number: usize) -> (Range<usize>, Option<&str>) {
        match &self.pieces {
            Some(pieces) => (pieces.list[number].text.clone(), pieces.list[number].json.as_deref()),
            None => (0..self.text.len(), None),
        }
    }

    /// How far it reaches: each block counts as one, and each byte of text.
    pub(super) fn reach(&self) -> usize {
        self.text.len() + self.count()
    }

    /// The place where it reached so far. It is looked for from the end, near which it is.
    pub(super) fn place(&self, at: usize) -> Option<Place> {
        let mut end = self.reach();
        for number in (0..self.count()).rev() {
            let (text, json) = self.piece(number);
            let begin = end - text.len() - 1;
            if at >= end {
                return (at == end).then_some(Place { skipped: number + 1, inside: 0 });
            }
            if at > begin {
                let inside = at - begin;
                let ended = json.is_none() && self.text.is_char_boundary(text.start + inside - 1);
                return ended.then_some(Place { skipped: number, inside });
            }
            end = begin;
        }
        (at == 0).then_some(Place::default())
    }

    pub(super) fn blocks_from(&self, place: Place) -> impl Iterator<Item = Block<'_>> + use<'_> {
        (place.skipped..self.count()).map(move |number| match self.piece(number) {
            (_, Some(json)) => Block::Json(json),
            (text, None) if number == place.skipped => {
                Block::Text(&self.text[text.start + place.inside.saturating_sub(1)..text.end])
            }
            (text, None) => Block::Text(&self.text[text]),
        })
    }

    pub(super) fn text_from(&self, place: Place) -> &str {
        if place.skipped >= self.count() {
            return "";
        }
        &self.text[self.piece(place.skipped).0.start + place.inside.saturating_sub(1)..]
    }

    /// Adds one block of JSON.
    pub(super) fn append(&mut self, block: &str) {
        // Most blocks are written like this.
        let inside = block.strip_prefix(TEXT).and_then(|rest| rest.strip_prefix('"')?.strip_suffix("\"}"));
        let start = self.text.len();
        if self.text.capacity() == 0 {
            // The first of many, most often, and all of them are one run.
            self.text.reserve(inside.map_or(0, |inside| inside.len().max(FIRST)));
        }
        let is_said = inside.is_some_and(|inside| json::push_unescaped(&mut self.text, inside));
        if is_said || self.read(block) {
            self.said(start);
        }
    }

    /// Adds a block that is written in another way; whether it is nothing but text.
    #[inline(never)]
    fn read(&mut self, block: &str) -> bool {
        let start = self.text.len();
        if !is_other(block) {
            if let Some(text) = plain(block) {
                text.push_to(&mut self.text);
                return true;
            }
            let text = json::member(block, "type").filter(|kind| *kind == "\"text\"");
            if let Some(text) = text.and_then(|_| json::unescape(json::member(block, "text")?)) {
                self.text.push_str(&text);
            }
        }
        let pieces = self.pieces.get_or_insert_with(|| Box::new(Pieces::run(start)));
        pieces.push(start..self.text.len(), Some(block));
        false
    }

    /// What the text has from here on is another block of text, or goes on with the one before.
    #[inline]
    fn said(&mut self, start: usize) {
        let end = self.text.len();
        match &mut self.pieces {
            None if end > 0 => {}
            // A block of nothing is one nevertheless.
            None => self.pieces.get_or_insert_default().push(0..0, None),
            Some(pieces) => match pieces.list.last_mut() {
                Some(Piece { text, json: None }) => text.end = end,
                _ => pieces.push(start..end, None),
            },
        }
    }

    /// Gives up what came first, if there is more than so much. It leaves half of that, so that what is kept of a content
    /// that grows and grows is moved rarely.
    #[inline]
    pub(super) fn cut(&mut self, most: usize) -> bool {
        let over = self.bytes() > most;
        if over {
            self.cut_to(most / 2);
        }
        over
    }

    #[inline(never)]
    fn cut_to(&mut self, most: usize) {
        let mut over = self.bytes() - most;
        let (mut gone, mut from) = (0, 0);
        for number in 0..self.count() {
            let (text, json) = self.piece(number);
            let all = text.len() + json.map_or(0, str::len) + BLOCK;
            if over == 0 {
                break;
            }
            if all > over + BLOCK && json.is_none() {
                from = text.start + over;
                while !self.text.is_char_boundary(from) {
                    from += 1;
                }
                break;
            }
            (gone, from, over) = (gone + 1, text.end, over.saturating_sub(all));
        }
        self.text.drain(..from);
        if let Some(pieces) = &mut self.pieces {
            pieces.list.drain(..gone);
            for piece in &mut pieces.list {
                piece.text = piece.text.start.saturating_sub(from)..piece.text.end - from;
            }
            pieces.bytes = pieces.list.iter().map(Piece::bytes).sum();
        }
        if self.text.capacity() > 4 * self.text.len() {
            self.text.shrink_to_fit();
        }
    }

    pub(super) fn write(&self, place: Place, out: &mut Writer) {
        out.begin_array();
        for block in self.blocks_from(place) {
            match block {
                Block::Text(text) => {
                    out.begin_object().key("type").string("text").key("text").string(text).end_object();
                }
                Block::Json(json) => _ = out.json(json),
            }
        }
        out.end_array();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(content: &Content) -> String {
        let mut out = Writer::new();
        content.write(Place::default(), &mut out);
        out.finish().unwrap()
    }

    #[test]
    fn adjacent_text_is_one_run() {
        let mut content = Content::default();
        content.append(r#"{"type":"text","text":"a\n"}"#);
        content.append(r#"{"text":"é","type":"text","annotations":null}"#);
        content.append(r#"{"type":"image","data":"","mimeType":"image/png"}"#);
        content.append(r#"{"type":"text","text":"b","annotations":{"priority":1}}"#);
        content.append(r#"{"type":"text","text":"c"}"#);
        assert_eq!(content.text(), "a\nébc");
        assert_eq!(content.blocks().count(), 4);
        assert_eq!(content.blocks().next(), Some(Block::Text("a\né")));
        assert_eq!(
            shown(&content),
            r#"[{"type":"text","text":"a\né"},{"type":"image","data":"","mimeType":"image/png"},{"type":"text","text":"b","annotations":{"priority":1}},{"type":"text","text":"c"}]"#
        );
    }

    #[test]
    fn what_is_too_much_loses_its_beginning() {
        let mut content = Content::default();
        for number in 0..10_000 {
            content.append(&format!(r#"{{"type":"text","text":"é{number}"}}"#));
            if number % 97 == 0 {
                content.append(r#"{"type":"image","data":"","mimeType":"image/png"}"#);
            }
            content.cut(5_000);
            assert!(content.bytes() <= 5_000, "{}", content.bytes());
            let counted: usize = (0..content.count()).map(|number| content.piece(number).0.len()).sum();
            assert_eq!(counted, content.text.len());
        }
        assert!(content.text().ends_with("é9998é9999") && content.bytes() > 1_000);
    }
}
