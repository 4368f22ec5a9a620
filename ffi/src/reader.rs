//! JSON for hosts that have no library for it: look-ups by pointer (RFC 6901) in JSON text.

use std::borrow::Cow;
use std::os::raw::c_char;

use libacp::json;

use crate::border::{
    acp_slice, acp_status, free, guard, make, output, read, Handle, ACP_INVALID_ARGUMENT, ACP_NONE, ACP_SHORT_BUFFER,
    ACP_WRONG_TYPE,
};
use crate::lists::item;
use crate::numbers::{
    ACP_JSON_ARRAY, ACP_JSON_BOOLEAN, ACP_JSON_NULL, ACP_JSON_NUMBER, ACP_JSON_OBJECT, ACP_JSON_STRING,
};

/// The value that a pointer names.
///
/// # Safety
/// As for [`acp_slice::text`].
unsafe fn find<'a>(text: acp_slice, pointer: acp_slice) -> Result<&'a str, acp_status> {
    // SAFETY: the caller's promise.
    let (text, pointer) = unsafe { (text.text()?, pointer.text()?) };
    json::pointer(text, pointer).ok_or(ACP_NONE)
}

/// What kind of value a text that is JSON holds.
fn kind(value: &str) -> i32 {
    match value.as_bytes().first() {
        Some(b'n') => ACP_JSON_NULL,
        Some(b't' | b'f') => ACP_JSON_BOOLEAN,
        Some(b'"') => ACP_JSON_STRING,
        Some(b'[') => ACP_JSON_ARRAY,
        Some(b'{') => ACP_JSON_OBJECT,
        _ => ACP_JSON_NUMBER,
    }
}

/// Finds a value and makes something of it.
///
/// # Safety
/// As for [`acp_slice::text`] and [`output`].
pub(crate) unsafe fn parse<'a, T>(
    text: acp_slice,
    pointer: acp_slice,
    out: *mut T,
    parse: impl FnOnce(&'a str) -> Option<T>,
) -> acp_status {
    guard(|| {
        // SAFETY: the caller's promise; the text is not used after this call but through what is written to `out`, which
        // the header says is valid as long as the text is.
        unsafe { output(out, || parse(find(text, pointer)?).ok_or(ACP_WRONG_TYPE)) }
    })
}

/// The value that a pointer names, as it stands in the text (strings with quotes and escapes), valid as long as the
/// text is; `ACP_NONE` when it names nothing. The empty pointer names the whole text.
#[no_mangle]
pub unsafe extern "C" fn acp_json_find(json: acp_slice, pointer: acp_slice, out: *mut acp_slice) -> acp_status {
    // SAFETY: the caller keeps what the header says of `json`, `pointer` and `out`.
    unsafe { parse(json, pointer, out, |value| Some(value.into())) }
}

/// The type (`ACP_JSON_…`) of the value that a pointer names; `ACP_NONE` when it names nothing.
#[no_mangle]
pub unsafe extern "C" fn acp_json_type(json: acp_slice, pointer: acp_slice, out: *mut i32) -> acp_status {
    // SAFETY: the caller keeps what the header says of `json`, `pointer` and `out`.
    unsafe { parse(json, pointer, out, |value| Some(kind(value))) }
}

/// Copies the string that a pointer names, without quotes and escapes, to `buffer`, which has room for `capacity`
/// bytes, and writes its length to `*out`; no NUL is added. `ACP_SHORT_BUFFER` when there is no room: then `*out` is the
/// room that is needed and `buffer` is untouched, so a first call may pass NULL and 0.
#[no_mangle]
pub unsafe extern "C" fn acp_json_string(
    json: acp_slice,
    pointer: acp_slice,
    buffer: *mut c_char,
    capacity: usize,
    out: *mut usize,
) -> acp_status {
    guard(|| {
        if out.is_null() || (buffer.is_null() && capacity > 0) {
            return Err(ACP_INVALID_ARGUMENT);
        }
        // SAFETY: the caller keeps what the header says of `json`, `pointer`, `buffer` and `out`.
        let value = unsafe { find(json, pointer) }?;
        let text = json::unescape(value).ok_or(ACP_WRONG_TYPE)?;
        // SAFETY: `out` is not NULL, and callers keep the promises of the header.
        unsafe { out.write(text.len()) };
        if text.len() > capacity {
            return Err(ACP_SHORT_BUFFER);
        }
        if !text.is_empty() {
            // SAFETY: `buffer` is not NULL, as `capacity` is not 0, and has the room; it is not part of the text, which
            // is borrowed.
            unsafe { std::ptr::copy_nonoverlapping(text.as_ptr(), buffer.cast::<u8>(), text.len()) };
        }
        Ok(())
    })
}

/// Whether the string that a pointer names, without escapes, is this text; false for other values and for nothing.
#[no_mangle]
pub unsafe extern "C" fn acp_json_string_is(
    json: acp_slice,
    pointer: acp_slice,
    text: acp_slice,
    out: *mut bool,
) -> acp_status {
    guard(|| {
        // SAFETY: the caller keeps what the header says of `json`, `pointer`, `text` and `out`.
        unsafe {
            output(out, || {
                let wanted = text.text()?;
                match find(json, pointer) {
                    Ok(value) => Ok(json::unescape(value).is_some_and(|text| text == wanted)),
                    Err(ACP_NONE) => Ok(false),
                    Err(status) => Err(status),
                }
            })
        }
    })
}

/// The whole number that a pointer names, exactly; `ACP_WRONG_TYPE` for fractions, exponents and what does not fit.
#[no_mangle]
pub unsafe extern "C" fn acp_json_int64(json: acp_slice, pointer: acp_slice, out: *mut i64) -> acp_status {
    // SAFETY: the caller keeps what the header says of `json`, `pointer` and `out`.
    unsafe { parse(json, pointer, out, |value| value.parse().ok()) }
}

/// As `acp_json_int64`, without sign.
#[no_mangle]
pub unsafe extern "C" fn acp_json_uint64(json: acp_slice, pointer: acp_slice, out: *mut u64) -> acp_status {
    // SAFETY: the caller keeps what the header says of `json`, `pointer` and `out`.
    unsafe { parse(json, pointer, out, |value| value.parse().ok()) }
}

/// The number that a pointer names, as the nearest double; `ACP_WRONG_TYPE` when it is too large for one.
#[no_mangle]
pub unsafe extern "C" fn acp_json_double(json: acp_slice, pointer: acp_slice, out: *mut f64) -> acp_status {
    let number = |value: &str| if kind(value) == ACP_JSON_NUMBER { value.parse().ok() } else { None };
    // SAFETY: the caller keeps what the header says of `json`, `pointer` and `out`.
    unsafe { parse(json, pointer, out, |value| number(value).filter(|number: &f64| number.is_finite())) }
}

/// The boolean that a pointer names.
#[no_mangle]
pub unsafe extern "C" fn acp_json_bool(json: acp_slice, pointer: acp_slice, out: *mut bool) -> acp_status {
    // SAFETY: the caller keeps what the header says of `json`, `pointer` and `out`.
    unsafe { parse(json, pointer, out, |value| value.parse().ok()) }
}

/// How many items the list, or members the object, that a pointer names has.
#[no_mangle]
pub unsafe extern "C" fn acp_json_len(json: acp_slice, pointer: acp_slice, out: *mut usize) -> acp_status {
    // SAFETY: the caller keeps what the header says of `json`, `pointer` and `out`.
    unsafe { parse(json, pointer, out, |value| items(value).map(|items| items.len())) }
}

/// The items of a list or the members of an object.
pub struct acp_items {
    rows: Vec<(Option<Cow<'static, str>>, acp_slice)>,
}

impl Handle for acp_items {
    const TAG: u64 = u64::from_le_bytes(*b"acpitems");
}

/// A member's name, without escapes, and a value.
type Row<'a> = (Option<Cow<'a, str>>, &'a str);

/// What a container holds, in order; `None` for any other value.
fn items(value: &str) -> Option<Vec<Row<'_>>> {
    let object = match kind(value) {
        ACP_JSON_OBJECT => true,
        ACP_JSON_ARRAY => false,
        _ => return None,
    };
    let mut rows = Vec::new();
    let mut rest = value.get(1..)?.trim_start();
    while !rest.starts_with(['}', ']']) {
        let key = if object {
            let key = next(&mut rest)?;
            rest = rest.strip_prefix(':')?.trim_start();
            Some(json::unescape(key)?)
        } else {
            None
        };
        rows.push((key, next(&mut rest)?));
        rest = rest.strip_prefix(',').unwrap_or(rest).trim_start();
    }
    Some(rows)
}

/// Takes the value that a text begins with, and the blanks after it.
fn next<'a>(rest: &mut &'a str) -> Option<&'a str> {
    let value = json::pointer(rest, "")?;
    *rest = rest.get(value.len()..)?.trim_start();
    Some(value)
}

/// The items of the list, or the members of the object, that a pointer names. They are read once, so going through them
/// takes no longer than the text is long. The caller owns `*out` and frees it with `acp_items_free`; the text must stay
/// as it is until then.
#[no_mangle]
pub unsafe extern "C" fn acp_json_items(json: acp_slice, pointer: acp_slice, out: *mut *mut acp_items) -> acp_status {
    // SAFETY: the caller keeps what the header says of `json`, `pointer` and `out`.
    unsafe {
        make(out, || {
            let rows = items(find(json, pointer)?).ok_or(ACP_WRONG_TYPE)?;
            Ok(acp_items { rows: rows.into_iter().map(|(key, value)| (key, value.into())).collect() })
        })
    }
}

/// Frees items.
#[no_mangle]
pub unsafe extern "C" fn acp_items_free(items: *mut acp_items) {
    // SAFETY: the caller keeps what the header says of `items`.
    unsafe { free(items) }
}

/// How many there are.
#[no_mangle]
pub unsafe extern "C" fn acp_items_len(items: *const acp_items, out: *mut usize) -> acp_status {
    // SAFETY: the caller keeps what the header says of `items` and `out`.
    unsafe { read(items, out, |items| Some(items.rows.len())) }
}

/// The name of a member, without quotes and escapes, valid until the items are freed; `ACP_NONE` in a list.
#[no_mangle]
pub unsafe extern "C" fn acp_items_key(items: *const acp_items, index: usize, out: *mut acp_slice) -> acp_status {
    // SAFETY: the caller keeps what the header says of `items` and `out`.
    unsafe { item(items, index, out, |items| &items.rows, |row| row.0.as_deref().map(Into::into)) }
}

/// An item, or the value of a member, as it stands in the text, valid as long as the text is.
#[no_mangle]
pub unsafe extern "C" fn acp_items_value(items: *const acp_items, index: usize, out: *mut acp_slice) -> acp_status {
    // SAFETY: the caller keeps what the header says of `items` and `out`.
    unsafe { item(items, index, out, |items| &items.rows, |row| Some(row.1)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn containers_are_read_in_order() {
        let rows = items(r#"{ "a" : [1 , {"b": "]}"}] ,"c\n":null , "" : {} }"#).unwrap();
        let rows: Vec<_> = rows.iter().map(|(key, value)| (key.as_deref().unwrap(), *value)).collect();
        assert_eq!(rows, [("a", r#"[1 , {"b": "]}"}]"#), ("c\n", "null"), ("", "{}")]);
        let values: Vec<_> = items("[ 1,[ ],\"x,y\" ,-2e3]").unwrap().into_iter().map(|row| row.1).collect();
        assert_eq!(values, ["1", "[ ]", "\"x,y\"", "-2e3"]);
        assert_eq!(items("[ ]").unwrap(), []);
        assert_eq!(items("{}").unwrap(), []);
        assert_eq!(items("7"), None);
    }
}
