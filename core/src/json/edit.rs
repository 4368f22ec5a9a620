//! Changing a JSON text while keeping everything else as it is.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::ops::Range;

use super::read::MAX_DEPTH;
use super::scan::{Kind, Scanner};
use super::syntax::SyntaxError;
use crate::map::StringMap;

/// Replacements in a text. A replacement inside another one is dropped.
#[derive(Debug, Default)]
pub(crate) struct Edits {
    /// Ordered by start, longer ones first. A walk finds them almost in this order.
    list: Vec<(Range<usize>, Cow<'static, str>)>,
}

impl Edits {
    /// A text that replaces an empty one.
    pub(crate) fn replace_all(with: &'static str) -> Self {
        Edits { list: vec![(0..0, with.into())] }
    }

    pub(crate) fn push(&mut self, range: Range<usize>, with: impl Into<Cow<'static, str>>) {
        let order = |range: &Range<usize>| (range.start, Reverse(range.end));
        let at = self.list.partition_point(|(known, _)| order(known) <= order(&range));
        self.list.insert(at, (range, with.into()));
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub(crate) fn truncate(&mut self, len: usize) {
        self.list.truncate(len);
    }

    /// The text of `range` with the replacements made.
    pub(crate) fn apply(&self, text: &str, range: Range<usize>) -> String {
        let mut out = String::with_capacity(range.len());
        let mut done = range.start;
        for (place, with) in &self.list {
            if place.start < done || place.end > range.end {
                continue;
            }
            out.push_str(&text[done..place.start]);
            out.push_str(with);
            done = place.end;
        }
        out.push_str(&text[done..range.end]);
        out
    }
}

/// Removes elements from one list or object, together with their commas.
#[derive(Debug, Default)]
pub(crate) struct ListEditor {
    kept: bool,
    last_end: usize,
    from: Option<usize>,
}

impl ListEditor {
    pub(crate) fn keep(&mut self, element: Range<usize>, edits: &mut Edits) {
        if let Some(from) = self.from.take() {
            edits.push(from..element.start, "");
        }
        self.kept = true;
        self.last_end = element.end;
    }

    pub(crate) fn drop(&mut self, element: Range<usize>, edits: &mut Edits) {
        if self.kept {
            edits.push(self.last_end..element.end, "");
        } else {
            self.from.get_or_insert(element.start);
        }
        self.last_end = element.end;
    }

    /// Whether an element was kept so far.
    pub(crate) fn any_kept(&self) -> bool {
        self.kept
    }

    pub(crate) fn finish(self, edits: &mut Edits) {
        if let Some(from) = self.from {
            edits.push(from..self.last_end, "");
        }
    }
}

/// A JSON text without the members and items that these pointers name.
pub(crate) fn without(json: &str, places: &[String]) -> String {
    let mut targets = Targets::default();
    for place in places {
        targets.places.add(Cow::Borrowed(place));
        for (at, _) in place.match_indices('/') {
            targets.above.add(Cow::Borrowed(&place[..at]));
        }
    }
    let mut edits = Edits::default();
    match take_out(&mut Scanner::new(json, MAX_DEPTH), "", &targets, &mut edits) {
        Ok(()) => edits.apply(json, 0..json.len()),
        Err(_) => json.to_owned(),
    }
}

/// The pointers to remove, and all their prefixes.
#[derive(Debug, Default)]
struct Targets<'p> {
    places: StringMap<'p>,
    above: StringMap<'p>,
}

/// Processes the next value, which stands at the pointer `at`.
fn take_out(scanner: &mut Scanner<'_>, at: &str, targets: &Targets<'_>, edits: &mut Edits) -> Result<(), SyntaxError> {
    let kind = scanner.peek()?;
    if !targets.above.has(at) || !matches!(kind, Kind::Object | Kind::Array) {
        return scanner.skip().map(drop);
    }
    let mut trim = ListEditor::default();
    let mut index = 0usize;
    let mut more = scanner.enter(kind)?;
    while more {
        let start = scanner.checkpoint().offset();
        let step = match kind {
            Kind::Object => scanner.key()?.value().replace('~', "~0").replace('/', "~1"),
            _ => index.to_string(),
        };
        index += 1;
        let path = format!("{at}/{step}");
        if targets.places.has(&path) {
            scanner.skip()?;
            trim.drop(start..scanner.offset(), edits);
        } else {
            take_out(scanner, &path, targets, edits)?;
            trim.keep(start..scanner.offset(), edits);
        }
        more = scanner.more(kind)?;
    }
    trim.finish(edits);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_taken_out_wherever_they_are() {
        let text = r#"{"a":[1,{"b/c":2,"d":3},4],"e":{"f":5}}"#;
        let cases: [(&[&str], &str); 5] = [
            (&[], text),
            (&["/a/1/b~1c"], r#"{"a":[1,{"d":3},4],"e":{"f":5}}"#),
            (&["/a/0", "/a/2", "/e/f"], r#"{"a":[{"b/c":2,"d":3}],"e":{}}"#),
            (&["/e", "/e/f", "/a/1/d"], r#"{"a":[1,{"b/c":2},4]}"#),
            (&["/x", "/a/7", "/a/0/y"], text),
        ];
        for (places, expected) in cases {
            let places: Vec<String> = places.iter().map(|place| (*place).to_owned()).collect();
            assert_eq!(without(text, &places), expected, "{places:?}");
        }
        assert_eq!(without("{", &["/a".to_owned()]), "{");
    }

    #[test]
    fn any_elements_can_be_taken_out() {
        let text = "[ 10 , 11, 12 ,13 ]";
        let places = [2..4, 7..9, 11..13, 15..17];
        for mask in 0..16u32 {
            let (mut trim, mut edits) = (ListEditor::default(), Edits::default());
            let mut expected = Vec::new();
            for (index, place) in places.iter().enumerate() {
                if mask & (1 << index) == 0 {
                    expected.push(text[place.clone()].to_owned());
                    trim.keep(place.clone(), &mut edits);
                } else {
                    trim.drop(place.clone(), &mut edits);
                }
            }
            trim.finish(&mut edits);
            let out: String = edits.apply(text, 0..text.len()).split_whitespace().collect();
            assert_eq!(out, format!("[{}]", expected.join(",")), "{mask:04b}");
        }
    }
}
