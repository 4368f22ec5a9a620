//! Text that is short most often: a status, a kind, a title.

/// What fits beside its length into three words, which is what a box and a mark for its absence take up as well.
const ROOM: usize = 22;

/// A text that is not allocated where it is short.
#[derive(Debug, Clone)]
pub(super) enum Short {
    Here { len: u8, bytes: [u8; ROOM] },
    Away(Box<str>),
}

impl Short {
    pub(super) fn len(&self) -> usize {
        match self {
            Short::Here { len, .. } => usize::from(*len),
            Short::Away(text) => text.len(),
        }
    }

    fn bytes(&self) -> &[u8] {
        match self {
            Short::Here { len, bytes } => &bytes[..usize::from(*len)],
            Short::Away(text) => text.as_bytes(),
        }
    }

    pub(super) fn is(&self, text: &str) -> bool {
        self.bytes() == text.as_bytes()
    }

    pub(super) fn text(&self) -> &str {
        match self {
            Short::Here { .. } => std::str::from_utf8(self.bytes()).unwrap_or_default(),
            Short::Away(text) => text,
        }
    }
}

impl From<&str> for Short {
    fn from(text: &str) -> Self {
        match u8::try_from(text.len()) {
            Ok(len) if text.len() <= ROOM => {
                let mut bytes = [0; ROOM];
                bytes[..text.len()].copy_from_slice(text.as_bytes());
                Short::Here { len, bytes }
            }
            _ => Short::Away(text.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_the_same_here_and_away() {
        let whole = "\"é in a text of thirty bytes\"";
        for end in (0..=whole.len()).filter(|end| whole.is_char_boundary(*end)) {
            let (text, short) = (&whole[..end], Short::from(&whole[..end]));
            assert_eq!((short.text(), short.len()), (text, end));
            assert_eq!(matches!(short, Short::Here { .. }), end <= ROOM, "{end}");
            assert!(short.is(text) && !short.is("another"));
        }
        assert_eq!(size_of::<Option<Short>>(), 24);
    }
}
