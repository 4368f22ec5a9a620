//! Looks over the shoulder of the rules: whether what they read in a text is what every reader of the text would.

use std::cell::RefCell;

use super::read::unescape;
use super::scan::{Kind, Scanner};
use super::MAX_DEPTH;

thread_local! {
    static FOUND: RefCell<Option<Vec<String>>> = const { RefCell::new(None) };
}

/// From now on the look-ups of this thread are watched.
pub(crate) fn start() {
    FOUND.set(Some(Vec::new()));
}

/// The pointers that readers disagreed on since the last call.
pub(crate) fn take() -> Vec<String> {
    FOUND.with_borrow_mut(|found| found.as_mut().map(std::mem::take).unwrap_or_default())
}

/// A look-up: notes it if the reader who takes the last of equal names sees something else.
pub(crate) fn look_up(json: &str, pointer: &str) {
    FOUND.with_borrow_mut(|found| {
        let Some(found) = found else { return };
        let (first, last) = (follow(json, pointer, false), follow(json, pointer, true));
        let same = match (first, last) {
            (Some(first), Some(last)) => first == last || unescape(first).is_some_and(|it| unescape(last) == Some(it)),
            (first, last) => first == last,
        };
        if !same {
            found.push(pointer.to_owned());
        }
    });
}

fn follow<'a>(json: &'a str, pointer: &str, last: bool) -> Option<&'a str> {
    pointer.split('/').skip(1).try_fold(json, |value, step| {
        let step = step.replace("~1", "/").replace("~0", "~");
        let mut scanner = Scanner::new(value, MAX_DEPTH);
        let kind = scanner.peek().ok()?;
        if !matches!(kind, Kind::Object | Kind::Array) {
            return None;
        }
        let (mut more, mut index, mut found) = (scanner.enter(kind).ok()?, 0usize, None);
        while more {
            let is = match kind {
                Kind::Object => scanner.key().ok()?.is(&step),
                _ => index.to_string() == step,
            };
            let place = scanner.skip().ok()?;
            if is && (last || found.is_none()) {
                found = Some(scanner.slice(place));
            }
            index += 1;
            more = scanner.more(kind).ok()?;
        }
        found
    })
}
