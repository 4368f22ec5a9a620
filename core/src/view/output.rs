//! What a terminal has printed: bytes, of which the last ones are kept, and the text that they are.

use std::borrow::Cow;

/// The end of a terminal's output.
#[derive(Debug, Clone, Default)]
pub(crate) struct Output {
    bytes: Vec<u8>,
    /// How many there were before these.
    before: u64,
}

/// The bytes of a base64 text, appended; what is none is left out, as the model has checked it.
fn decode(text: &str, out: &mut Vec<u8>) {
    let (mut bits, mut count) = (0u32, 0);
    out.reserve(text.len() / 4 * 3);
    for byte in text.bytes() {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => continue,
        };
        bits = bits << 6 | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push((bits >> count) as u8);
        }
    }
}

impl Output {
    /// All of an output, which is text.
    pub(super) fn of(text: &str, most: usize) -> Self {
        let mut output = Output { bytes: text.into(), before: 0 };
        output.cut(most);
        output
    }

    /// Whether it is this text, as far as it is kept.
    pub(super) fn is(&self, text: &str) -> bool {
        text.len() as u64 == self.before + self.bytes.len() as u64 && text.as_bytes().ends_with(&self.bytes)
    }

    /// The last bytes.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// How many bytes came before those that are kept.
    pub(crate) fn before(&self) -> u64 {
        self.before
    }

    /// The bytes of a chunk are decoded by themselves (DTERM-08), and a character may be cut by its end (DTERM-09).
    pub(crate) fn append(&mut self, base64: &str, most: usize) {
        decode(base64, &mut self.bytes);
        self.cut(most);
    }

    /// Gives up what came first, if there is more than so much. It leaves half of that, so that bytes are moved rarely.
    fn cut(&mut self, most: usize) {
        if self.bytes.len() > most {
            self.keep(most / 2);
        }
    }

    pub(super) fn keep(&mut self, most: usize) {
        let over = self.bytes.len().saturating_sub(most);
        self.bytes.drain(..over);
        self.before += over as u64;
    }

    /// The bytes as text, without the part of a character that may stand at either end; what is no UTF-8 is U+FFFD.
    pub(crate) fn text(&self) -> Cow<'_, str> {
        self.text_from(0)
    }

    /// How many bytes the text is of, with those that it leaves out at its beginning.
    pub(super) fn reach(&self) -> usize {
        self.whole().1
    }

    /// Whether the text may have reached to this byte once: not beyond its end, and not within a character.
    pub(super) fn reached(&self, at: usize) -> bool {
        let end = self.reach();
        let within = |back: usize| {
            let begin = at - back;
            let first = self.bytes[begin..end.min(begin + 4)].utf8_chunks().next();
            first.and_then(|chunk| chunk.valid().chars().next()).is_some_and(|char| char.len_utf8() > back)
        };
        at <= end && !(1..=at.min(3)).any(within)
    }

    /// The text from a byte on that it has reached once.
    pub(super) fn text_from(&self, at: usize) -> Cow<'_, str> {
        let (start, end) = self.whole();
        String::from_utf8_lossy(&self.bytes[at.clamp(start, end)..end])
    }

    /// Where the text begins and ends.
    fn whole(&self) -> (usize, usize) {
        let continues = |byte: &&u8| **byte & 0xC0 == 0x80;
        let cut = if self.before > 0 { self.bytes.iter().take(3).take_while(continues).count() } else { 0 };
        let whole = &self.bytes[cut..];
        let open = (1..=whole.len().min(3)).find(|back| {
            let lead = whole[whole.len() - back];
            lead >= 0xC0 && std::str::from_utf8(&whole[whole.len() - back..]).is_err_and(|e| e.error_len().is_none())
        });
        (cut, self.bytes.len() - open.unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_whole_or_not_there() {
        let mut output = Output::default();
        output.append("w6k=", 100);
        output.append("8J8=", 100);
        assert_eq!((output.text(), output.bytes().len()), ("é".into(), 4));
        output.append("mYI=", 100);
        assert_eq!(output.text(), "é🙂");
        output.append("/w==", 100);
        assert_eq!(output.text(), "é🙂\u{fffd}");
        output = Output::default();
        output.append("YWI=", 100);
        assert_eq!((output.text(), output.before()), ("ab".into(), 0));
    }

    #[test]
    fn the_last_bytes_are_kept() {
        let mut output = Output::default();
        for _ in 0..1000 {
            // "é" twice and "x".
            output.append("w6nDqXg=", 20);
            assert!(output.bytes().len() <= 20);
            assert!(output.text().ends_with("ééx") && !output.text().contains('\u{fffd}'));
        }
        assert_eq!(output.before() + output.bytes().len() as u64, 5000);
        output.keep(0);
        assert_eq!((output.text(), output.before()), ("".into(), 5000));
    }
}
