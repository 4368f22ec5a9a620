//! Validation: a value that passes is JSON, and passes again as it is.
//!
//! An input is a method, whether its params or its result, the mode, and a value.

use libacp::validation::table::Tables;
use libacp::validation::{check, Mode, Part};
use serde::de::IgnoredAny;

const MODES: [Mode; 3] = [Mode::Send, Mode::Strict, Mode::Tolerant];

pub(crate) fn run(tables: &'static Tables, data: &[u8]) {
    let Some((&[method, how], value)) = data.split_first_chunk::<2>() else { return };
    let Ok(text) = std::str::from_utf8(value) else { return };
    let row = &tables.methods[usize::from(method) % tables.methods.len()];
    let (ty, part) = match how & 3 {
        0 => (row.params, Part::Request),
        1 => (row.params, Part::Notification),
        _ => (row.result, Part::Response),
    };
    let mode = MODES[usize::from(how >> 2) % MODES.len()];
    let drafts = if how & 64 == 0 { 0 } else { u32::MAX };
    let Ok(checked) = check(tables, drafts, ty, text, mode, part) else { return };
    let read: Result<IgnoredAny, _> = serde_json::from_str(&checked.json);
    assert!(read.is_ok(), "{}: {text} became {}", row.name, checked.json);
    let again = check(tables, drafts, ty, &checked.json, mode, part);
    let again = again.unwrap_or_else(|error| panic!("{}: {text} became {}: {error}", row.name, checked.json));
    assert_eq!(again.json, checked.json, "{}: repaired again, from {text}", row.name);
}
