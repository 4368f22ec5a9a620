//! For tests: finds look-ups whose result depends on how a reader treats duplicate names.

use std::cell::RefCell;

use super::read::unescape;
use super::scan::{Kind, Scanner};
use super::MAX_DEPTH;

thread_local! {
    static FOUND: RefCell<Option<Vec<String>>> = const { RefCell::new(None) };
}

/// Watches the look-ups of this thread from now on.
pub(crate) fn start() {
    FOUND.set(Some(Vec::new()));
}

/// The pointers since the last call for which readers differ.
pub(crate) fn take() -> Vec<String> {
    FOUND.with_borrow_mut(|found| found.as_mut().map(std::mem::take).unwrap_or_default())
}

/// Notes a look-up if a reader that takes the last of equal names finds something else.
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
