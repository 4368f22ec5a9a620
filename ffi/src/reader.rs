//! Reading JSON for hosts without a JSON library: values are looked up in JSON text by pointer (RFC 6901).

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
    // SAFETY: as `# Safety` requires.
    let (text, pointer) = unsafe { (text.text()?, pointer.text()?) };
    json::pointer(text, pointer).ok_or(ACP_NONE)
}

/// The type of the value in a text that is JSON.
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

/// Finds a value and converts it.
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
        // SAFETY: as `# Safety` requires; the text is not used after this call but through what is written to `out`,
        // which the header says is valid as long as the text is.
        unsafe { output(out, || parse(find(text, pointer)?).ok_or(ACP_WRONG_TYPE)) }
    })
}

/// Finds a value in JSON text.
///
/// - `json`: JSON text
/// - `pointer`: a JSON pointer such as `/update/entries/0`; empty for the whole text
/// - `*out`: the value as it stands in the text (a string with its quotes and escapes); a part of `json`, valid as long
///   as that
/// - returns: `ACP_OK`; `ACP_NONE` if the pointer names nothing or the text up to there is not JSON; or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_json_find(json: acp_slice, pointer: acp_slice, out: *mut acp_slice) -> acp_status {
    // SAFETY: `json`, `pointer` and `out` are as the header requires.
    unsafe { parse(json, pointer, out, |value| Some(value.into())) }
}

/// Gets the type of a value in JSON text.
///
/// - `json`: JSON text
/// - `pointer`: a JSON pointer; empty for the whole text
/// - `*out`: one of `ACP_JSON_…`
/// - returns: `ACP_OK`; `ACP_NONE` if the pointer names nothing; or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_json_type(json: acp_slice, pointer: acp_slice, out: *mut i32) -> acp_status {
    // SAFETY: `json`, `pointer` and `out` are as the header requires.
    unsafe { parse(json, pointer, out, |value| Some(kind(value))) }
}

/// Copies a string in JSON text to a buffer, without quotes and escapes. No NUL is added. Half a surrogate pair becomes
/// U+FFFD.
///
/// - `json`: JSON text
/// - `pointer`: a JSON pointer; empty for the whole text
/// - `buffer`: where to copy the string; may be NULL if `capacity` is 0
/// - `capacity`: the size of `buffer` in bytes
/// - `*out`: the length of the string in bytes; also written with `ACP_SHORT_BUFFER`
/// - returns: `ACP_OK`; `ACP_SHORT_BUFFER` if the string is longer than `capacity` (`buffer` is untouched); `ACP_NONE`
///   if the pointer names nothing; `ACP_WRONG_TYPE` if it names no string; or a general error
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
        // SAFETY: `json`, `pointer`, `buffer` and `out` are as the header requires.
        let value = unsafe { find(json, pointer) }?;
        let text = json::unescape(value).ok_or(ACP_WRONG_TYPE)?;
        // SAFETY: `out` is not NULL, and as the header requires.
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

/// Gets whether a value in JSON text is a string with a given content.
///
/// - `json`: JSON text
/// - `pointer`: a JSON pointer; empty for the whole text
/// - `text`: the content to compare with, without quotes and escapes
/// - `*out`: whether they are equal; false if the pointer names nothing or another type
/// - returns: `ACP_OK` or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_json_string_is(
    json: acp_slice,
    pointer: acp_slice,
    text: acp_slice,
    out: *mut bool,
) -> acp_status {
    guard(|| {
        // SAFETY: `json`, `pointer`, `text` and `out` are as the header requires.
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

/// Gets an integer in JSON text, exactly.
///
/// - `json`: JSON text
/// - `pointer`: a JSON pointer; empty for the whole text
/// - `*out`: the number
/// - returns: `ACP_OK`; `ACP_NONE` if the pointer names nothing; `ACP_WRONG_TYPE` if it names no number, a number with
///   a fraction or an exponent, or one that does not fit; or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_json_int64(json: acp_slice, pointer: acp_slice, out: *mut i64) -> acp_status {
    // SAFETY: `json`, `pointer` and `out` are as the header requires.
    unsafe { parse(json, pointer, out, |value| value.parse().ok()) }
}

/// Gets an unsigned integer in JSON text, exactly.
///
/// - `json`: JSON text
/// - `pointer`: a JSON pointer; empty for the whole text
/// - `*out`: the number
/// - returns: `ACP_OK`; `ACP_NONE` if the pointer names nothing; `ACP_WRONG_TYPE` if it names no number, a negative
///   number, a number with a fraction or an exponent, or one that does not fit; or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_json_uint64(json: acp_slice, pointer: acp_slice, out: *mut u64) -> acp_status {
    // SAFETY: `json`, `pointer` and `out` are as the header requires.
    unsafe { parse(json, pointer, out, |value| value.parse().ok()) }
}

/// Gets a number in JSON text as the nearest double.
///
/// - `json`: JSON text
/// - `pointer`: a JSON pointer; empty for the whole text
/// - `*out`: the number
/// - returns: `ACP_OK`; `ACP_NONE` if the pointer names nothing; `ACP_WRONG_TYPE` if it names no number or one that is
///   too large for a double; or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_json_double(json: acp_slice, pointer: acp_slice, out: *mut f64) -> acp_status {
    let number = |value: &str| if kind(value) == ACP_JSON_NUMBER { value.parse().ok() } else { None };
    // SAFETY: `json`, `pointer` and `out` are as the header requires.
    unsafe { parse(json, pointer, out, |value| number(value).filter(|number: &f64| number.is_finite())) }
}

/// Gets a boolean in JSON text.
///
/// - `json`: JSON text
/// - `pointer`: a JSON pointer; empty for the whole text
/// - `*out`: the boolean
/// - returns: `ACP_OK`; `ACP_NONE` if the pointer names nothing; `ACP_WRONG_TYPE` if it names no boolean; or a general
///   error
#[no_mangle]
pub unsafe extern "C" fn acp_json_bool(json: acp_slice, pointer: acp_slice, out: *mut bool) -> acp_status {
    // SAFETY: `json`, `pointer` and `out` are as the header requires.
    unsafe { parse(json, pointer, out, |value| value.parse().ok()) }
}

/// Gets how many items a list or members an object in JSON text has.
///
/// - `json`: JSON text
/// - `pointer`: a JSON pointer; empty for the whole text
/// - `*out`: the number
/// - returns: `ACP_OK`; `ACP_NONE` if the pointer names nothing; `ACP_WRONG_TYPE` if it names neither a list nor an
///   object; or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_json_len(json: acp_slice, pointer: acp_slice, out: *mut usize) -> acp_status {
    // SAFETY: `json`, `pointer` and `out` are as the header requires.
    unsafe { parse(json, pointer, out, |value| items(value).map(|items| items.len())) }
}

/// The items of a list or the members of an object, for iteration.
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

/// Takes the value at the beginning of a text, and the white space after it.
fn next<'a>(rest: &mut &'a str) -> Option<&'a str> {
    let value = json::pointer(rest, "")?;
    *rest = rest.get(value.len()..)?.trim_start();
    Some(value)
}

/// Gets the items of a list or the members of an object in JSON text, for iteration. The text is read only once, here.
///
/// - `json`: JSON text, which must not change or go away before the items are freed
/// - `pointer`: a JSON pointer; empty for the whole text
/// - `*out`: the items in order; the caller owns them and frees them with `acp_items_free`
/// - returns: `ACP_OK`; `ACP_NONE` if the pointer names nothing; `ACP_WRONG_TYPE` if it names neither a list nor an
///   object; or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_json_items(json: acp_slice, pointer: acp_slice, out: *mut *mut acp_items) -> acp_status {
    // SAFETY: `json`, `pointer` and `out` are as the header requires.
    unsafe {
        make(out, || {
            let rows = items(find(json, pointer)?).ok_or(ACP_WRONG_TYPE)?;
            Ok(acp_items { rows: rows.into_iter().map(|(key, value)| (key, value.into())).collect() })
        })
    }
}

/// Frees items, and with them the keys that came from them.
///
/// - `items`: the items; NULL is ignored
#[no_mangle]
pub unsafe extern "C" fn acp_items_free(items: *mut acp_items) {
    // SAFETY: `items` is as the header requires.
    unsafe { free(items) }
}

/// Gets the number of items or members.
///
/// - `items`: the items
/// - `*out`: the number
/// - returns: `ACP_OK` or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_items_len(items: *const acp_items, out: *mut usize) -> acp_status {
    // SAFETY: `items` and `out` are as the header requires.
    unsafe { read(items, out, |items| Some(items.rows.len())) }
}

/// Gets the name of a member of an object.
///
/// - `items`: the items
/// - `index`: from 0
/// - `*out`: the name without quotes and escapes; valid until the items are freed
/// - returns: `ACP_OK`; `ACP_NONE` for the items of a list; `ACP_INVALID_ARGUMENT` if `index` is out of range; or a
///   general error
#[no_mangle]
pub unsafe extern "C" fn acp_items_key(items: *const acp_items, index: usize, out: *mut acp_slice) -> acp_status {
    // SAFETY: `items` and `out` are as the header requires.
    unsafe { item(items, index, out, |items| &items.rows, |row| row.0.as_deref().map(Into::into)) }
}

/// Gets an item of a list or the value of a member.
///
/// - `items`: the items
/// - `index`: from 0
/// - `*out`: the value as it stands in the text; a part of the text, valid as long as that
/// - returns: `ACP_OK`; `ACP_INVALID_ARGUMENT` if `index` is out of range; or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_items_value(items: *const acp_items, index: usize, out: *mut acp_slice) -> acp_status {
    // SAFETY: `items` and `out` are as the header requires.
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
