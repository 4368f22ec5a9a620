//! Several values in one call: members of an object, a template. Strings that the host owns.

use std::os::raw::c_char;

use libacp::json::{quote, unescape, Writer};

use crate::border::{acp_slice, acp_status, guard, output, ACP_INVALID_ARGUMENT, ACP_WRITER_MISUSE};
use crate::reader::parse;
use crate::writer::{acp_writer, write};

/// Value type: a string, in `text`.
pub const ACP_VALUE_STRING: i32 = 1;
/// Value type: JSON text, in `text`.
pub const ACP_VALUE_JSON: i32 = 2;
/// Value type: an integer, in `whole`.
pub const ACP_VALUE_INT64: i32 = 3;
/// Value type: a number, in `real`.
pub const ACP_VALUE_DOUBLE: i32 = 4;
/// Value type: a boolean, false if `whole` is 0 and true otherwise.
pub const ACP_VALUE_BOOL: i32 = 5;
/// Value type: null.
pub const ACP_VALUE_NULL: i32 = 6;

/// A value to be written as JSON. `acp_string_value`, `acp_int64_value` and so on create one. The layout never changes.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct acp_value {
    /// One of `ACP_VALUE_…`. It determines which of the other fields is read.
    pub r#type: i32,
    /// The value of an integer or a boolean.
    pub whole: i64,
    /// The value of a number.
    pub real: f64,
    /// The string or the JSON text.
    pub text: acp_slice,
}

/// A member of an object to be written as JSON. The layout never changes.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct acp_member {
    /// The member's name.
    pub name: acp_slice,
    /// The member's value.
    pub value: acp_value,
}

/// A string that the host owns and frees with `acp_string_free`. A NUL follows it, which `len` does not count. All zero
/// is an empty string.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct acp_string {
    /// The first byte. NULL after `acp_string_free`, and in a string that was initialized with zeros.
    pub data: *mut c_char,
    /// The number of bytes.
    pub len: usize,
}

impl acp_value {
    /// Whether the value can be written: its type exists and its text is UTF-8.
    ///
    /// # Safety
    /// As for [`acp_slice::bytes`].
    unsafe fn check(&self) -> Result<(), acp_status> {
        match self.r#type {
            // SAFETY: as `# Safety` requires.
            ACP_VALUE_STRING | ACP_VALUE_JSON => unsafe { self.text.text() }.map(drop),
            ACP_VALUE_INT64 | ACP_VALUE_DOUBLE | ACP_VALUE_BOOL | ACP_VALUE_NULL => Ok(()),
            _ => Err(ACP_INVALID_ARGUMENT),
        }
    }

    /// Writes the value.
    ///
    /// # Safety
    /// As for [`acp_slice::bytes`].
    unsafe fn write(&self, writer: &mut Writer) -> Result<(), acp_status> {
        match self.r#type {
            // SAFETY: as `# Safety` requires.
            ACP_VALUE_STRING => writer.string(unsafe { self.text.text() }?),
            // SAFETY: as above.
            ACP_VALUE_JSON => writer.json(unsafe { self.text.text() }?),
            ACP_VALUE_INT64 => writer.integer(self.whole),
            ACP_VALUE_DOUBLE => writer.number(self.real),
            ACP_VALUE_BOOL => writer.boolean(self.whole != 0),
            ACP_VALUE_NULL => writer.null(),
            _ => return Err(ACP_INVALID_ARGUMENT),
        };
        Ok(())
    }
}

/// The `len` elements that begin at a pointer.
///
/// # Safety
/// `first` points to `len` elements (or `len` is 0) that stay readable and unchanged for as long as the result is used.
unsafe fn list<'a, T>(first: *const T, len: usize) -> Result<&'a [T], acp_status> {
    if len == 0 {
        return Ok(&[]);
    }
    let bytes = len.checked_mul(size_of::<T>()).and_then(|bytes| isize::try_from(bytes).ok());
    if first.is_null() || bytes.is_none() {
        return Err(ACP_INVALID_ARGUMENT);
    }
    // SAFETY: not NULL, not too long, and the caller says that so many are there.
    Ok(unsafe { std::slice::from_raw_parts(first, len) })
}

/// A template with its values filled in, as JSON text.
fn filled(form: &str, mut next: impl FnMut() -> Result<String, acp_status>) -> Result<String, acp_status> {
    let mut out = String::with_capacity(form.len() + 64);
    let mut rest = form;
    while let Some(at) = rest.find(['"', '\'', '?']) {
        let (before, found) = rest.split_at(at);
        out.push_str(before);
        let (sign, behind) = found.split_at(1);
        if sign == "?" {
            out.push_str(&next()?);
            rest = behind;
        } else if sign == "'" {
            let (text, behind) = behind.split_once('\'').ok_or(ACP_WRITER_MISUSE)?;
            quote(&mut out, text);
            rest = behind;
        } else {
            let mut escaped = false;
            let ends = |byte: u8| {
                byte == b'"' && !escaped || {
                    escaped = byte == b'\\' && !escaped;
                    false
                }
            };
            let end = behind.bytes().position(ends).ok_or(ACP_WRITER_MISUSE)?;
            out.push_str(&found[..end + 2]);
            rest = &behind[end + 1..];
        }
    }
    out.push_str(rest);
    Ok(out)
}

/// Writes several members of the innermost object, each as `acp_writer_key` and the function for its value would.
///
/// - `writer`: the writer
/// - `members`: `len` members; copied
/// - `len`: how many members there are
/// - returns: `ACP_OK`; `ACP_INVALID_ARGUMENT` if a type is not listed or a text is not UTF-8 (no member is written
///   then); `ACP_WRITER_MISUSE` if the writer is finished; or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_writer_members(
    writer: *mut acp_writer,
    members: *const acp_member,
    len: usize,
) -> acp_status {
    // SAFETY: `writer` and `members` are as the header requires.
    unsafe {
        write(writer, |writer| {
            let members = list(members, len)?;
            for member in members {
                member.name.text()?;
                member.value.check()?;
            }
            for member in members {
                writer.key(member.name.text()?);
                member.value.write(writer)?;
            }
            Ok(())
        })
    }
}

/// Writes one value from a template: JSON text in which each `?` outside strings stands for the next of the values.
/// Strings in the template may have single quotes, which C does not need to escape; nothing inside those is an escape.
///
///     acp_value values[] = {acp_string_value(session), acp_string_value(text)};
///     acp_writer_template(writer, acp_text("{'sessionId':?,'prompt':[{'type':'text','text':?}]}"), values, 2);
///
/// - `writer`: the writer
/// - `form`: the template
/// - `values`: `len` values; copied
/// - `len`: how many values there are
/// - returns: `ACP_OK`; `ACP_INVALID_ARGUMENT` if the type of a value is not listed; `ACP_WRITER_MISUSE` if the number
///   of values differs from the number of `?`, the result is not JSON, or the writer is finished (nothing is written
///   then); or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_writer_template(
    writer: *mut acp_writer,
    form: acp_slice,
    values: *const acp_value,
    len: usize,
) -> acp_status {
    // SAFETY: `writer`, `form` and `values` are as the header requires.
    unsafe {
        write(writer, |writer| {
            let mut values = list(values, len)?.iter();
            let whole = filled(form.text()?, || {
                let mut one = Writer::new();
                values.next().ok_or(ACP_WRITER_MISUSE)?.write(&mut one)?;
                one.finish().map_err(|_| ACP_WRITER_MISUSE)
            })?;
            let mut check = Writer::new();
            check.json(&whole);
            if values.next().is_some() || check.finish().is_err() {
                return Err(ACP_WRITER_MISUSE);
            }
            writer.json(&whole);
            Ok(())
        })
    }
}

/// Copies a text for the host, with a NUL after it.
pub(crate) fn own(text: &str) -> acp_string {
    let mut bytes = Vec::with_capacity(text.len() + 1);
    bytes.extend_from_slice(text.as_bytes());
    bytes.push(0);
    acp_string { data: Box::into_raw(bytes.into_boxed_slice()).cast(), len: text.len() }
}

/// Copies a text.
///
/// - `text`: the text
/// - `*out`: the copy; the caller owns it and frees it with `acp_string_free`
/// - returns: `ACP_OK` or a general error
#[no_mangle]
#[must_use]
pub unsafe extern "C" fn acp_string_copy(text: acp_slice, out: *mut acp_string) -> acp_status {
    // SAFETY: `text` and `out` are as the header requires.
    guard(|| unsafe { output(out, || Ok(own(text.text()?))) })
}

/// Copies a string in JSON text, without quotes and escapes.
///
/// - `json`: JSON text
/// - `pointer`: a JSON pointer; empty for the whole text
/// - `*out`: the string; the caller owns it and frees it with `acp_string_free`
/// - returns: `ACP_OK`; `ACP_NONE` if the pointer names nothing; `ACP_WRONG_TYPE` if it names no string; or a general
///   error
#[no_mangle]
#[must_use]
pub unsafe extern "C" fn acp_json_string_copy(json: acp_slice, pointer: acp_slice, out: *mut acp_string) -> acp_status {
    // SAFETY: `json`, `pointer` and `out` are as the header requires.
    unsafe { parse(json, pointer, out, |value| unescape(value).map(|text| own(&text))) }
}

/// Frees a string that a function gave to the caller, and makes it empty, so that freeing it again does no harm.
///
/// - `string`: the string; NULL is ignored
#[no_mangle]
pub unsafe extern "C" fn acp_string_free(string: *mut acp_string) {
    guard(|| {
        // SAFETY: `string` is as the header requires.
        let Some(string) = (unsafe { string.as_mut() }) else { return Ok(()) };
        let data = std::mem::replace(&mut string.data, std::ptr::null_mut());
        let len = std::mem::take(&mut string.len);
        if !data.is_null() {
            // SAFETY: it comes from `own`, which put a NUL behind the text, and the caller gives it up.
            drop(unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(data.cast::<u8>(), len + 1)) });
        }
        Ok(())
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_are_filled_in_outside_of_strings_only() {
        let fill = |form: &str| {
            let mut numbers = 0..;
            filled(form, || Ok(numbers.next().unwrap().to_string()))
        };
        assert_eq!(fill("{'a':?,\"b\":[?]}").unwrap(), r#"{"a":0,"b":[1]}"#);
        assert_eq!(fill(r#"["?'", '?"', "\"?", ?]"#).unwrap(), r#"["?'", "?\"", "\"?", 0]"#);
        assert_eq!(fill("").unwrap(), "");
        assert_eq!(fill("['a").unwrap_err(), ACP_WRITER_MISUSE);
        assert_eq!(fill(r#"["a\""#).unwrap_err(), ACP_WRITER_MISUSE);
        assert_eq!(fill(r#"["é\\", 'é']"#).unwrap(), r#"["é\\", "é"]"#);
    }
}
