//! The part of a command's output that is kept.

use libacp::terminal::cut_output;

/// The end of the output, as text. Bytes that are not UTF-8 are replaced; an incomplete character waits for the rest.
#[derive(Debug, Default)]
pub(crate) struct Output {
    limit: usize,
    text: String,
    truncated: bool,
    half: Vec<u8>,
}

impl Output {
    /// Keeps at most `limit` bytes.
    pub(crate) fn new(limit: usize) -> Self {
        Output { limit, ..Output::default() }
    }

    /// Adds output. Returns the new text.
    pub(crate) fn add(&mut self, data: &[u8]) -> String {
        let mut bytes = std::mem::take(&mut self.half);
        bytes.extend_from_slice(data);
        let whole = bytes.len() - unfinished(&bytes);
        self.half = bytes.split_off(whole);
        self.push(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Ends the output. An incomplete character is replaced.
    pub(crate) fn finish(&mut self) -> String {
        let half = std::mem::take(&mut self.half);
        self.push(String::from_utf8_lossy(&half).into_owned())
    }

    fn push(&mut self, new: String) -> String {
        self.text.push_str(&new);
        // Cut rarely, because cutting moves the rest.
        if self.text.len() / 2 > self.limit.max(32 * 1024) {
            self.cut();
        }
        new
    }

    fn cut(&mut self) {
        let (rest, truncated) = cut_output(&self.text, self.limit as u64);
        let gone = self.text.len() - rest.len();
        self.truncated |= truncated;
        self.text.drain(..gone);
    }

    /// What is kept, and whether anything was cut off.
    pub(crate) fn shown(&mut self) -> (&str, bool) {
        self.cut();
        (&self.text, self.truncated)
    }
}

/// How many bytes at the end are the beginning of a character.
fn unfinished(bytes: &[u8]) -> usize {
    let tail = bytes.len().saturating_sub(3);
    let begin = bytes[tail..].iter().rposition(|byte| byte & 0xc0 != 0x80).map(|at| tail + at);
    let Some(rest) = begin.map(|begin| &bytes[begin..]) else { return 0 };
    match std::str::from_utf8(rest) {
        Err(problem) if problem.error_len().is_none() => rest.len(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_stay_whole_however_they_come() {
        let text = "a\u{e4}\u{20ac}\u{1f980}z";
        for size in 1..5 {
            let mut output = Output::new(100);
            let heard: String = text.as_bytes().chunks(size).map(|piece| output.add(piece)).collect();
            assert_eq!((heard.as_str(), output.shown()), (text, (text, false)));
        }
        let mut output = Output::new(100);
        output.add(b"\xff\xe2\x82");
        output.finish();
        assert_eq!(output.shown(), ("\u{fffd}\u{fffd}", false));
    }

    #[test]
    fn the_end_is_kept() {
        for limit in [0, 1, 5, 40_000] {
            let mut output = Output::new(limit);
            for _ in 0..30_000 {
                output.add("\u{20ac}123".as_bytes());
            }
            let (text, truncated) = output.shown();
            assert!(truncated && text.len() <= limit && text.len() + 3 >= limit, "{limit}: {}", text.len());
        }
    }
}
