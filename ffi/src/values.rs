//! Several values in one call: members of an object, a template, and texts of the host's own.

use std::os::raw::c_char;

use libacp::json::{quote, unescape, Writer};

use crate::border::{acp_slice, acp_status, guard, output, ACP_INVALID_ARGUMENT, ACP_WRITER_MISUSE};
use crate::reader::parse;
use crate::writer::{acp_writer, write};

/// Value: a string, in `text`.
pub const ACP_VALUE_STRING: i32 = 1;
/// Value: JSON text, in `text`.
pub const ACP_VALUE_JSON: i32 = 2;
/// Value: a whole number, in `whole`.
pub const ACP_VALUE_INT64: i32 = 3;
/// Value: a number, in `real`.
pub const ACP_VALUE_DOUBLE: i32 = 4;
/// Value: `true` or, where `whole` is 0, `false`.
pub const ACP_VALUE_BOOL: i32 = 5;
/// Value: `null`.
pub const ACP_VALUE_NULL: i32 = 6;

/// A value that goes into JSON; `acp_string_value` and its like make one. It never changes.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct acp_value {
    /// What it is (`ACP_VALUE_…`), which says what else is read.
    pub r#type: i32,
    /// A whole number.
    pub whole: i64,
    /// A number.
    pub real: f64,
    /// A string or JSON text.
    pub text: acp_slice,
}

/// A member of an object. It never changes.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct acp_member {
    /// Its name.
    pub name: acp_slice,
    /// Its value.
    pub value: acp_value,
}

/// A text of the host's own, with a NUL behind it that `len` does not count. All zero is empty.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct acp_string {
    /// The first byte; NULL in one that is empty for want of a text.
    pub data: *mut c_char,
    /// How many there are.
    pub len: usize,
}

impl acp_value {
    /// Whether it can be written.
    ///
    /// # Safety
    /// As for [`acp_slice::bytes`].
    unsafe fn check(&self) -> Result<(), acp_status> {
        match self.r#type {
            // SAFETY: the caller's promise.
            ACP_VALUE_STRING | ACP_VALUE_JSON => unsafe { self.text.text() }.map(drop),
            ACP_VALUE_INT64 | ACP_VALUE_DOUBLE | ACP_VALUE_BOOL | ACP_VALUE_NULL => Ok(()),
            _ => Err(ACP_INVALID_ARGUMENT),
        }
    }

    /// Writes it.
    ///
    /// # Safety
    /// As for [`acp_slice::bytes`].
    unsafe fn write(&self, writer: &mut Writer) -> Result<(), acp_status> {
        match self.r#type {
            // SAFETY: the caller's promise.
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

/// The elements that a pointer and a length name.
///
/// # Safety
/// So many are there.
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

/// A template with its values, as JSON text.
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

/// Writes members of the object that has been begun: the same as `acp_writer_key` and the value for each. Nothing is written
/// where one of them is no member.
#[no_mangle]
pub unsafe extern "C" fn acp_writer_members(
    writer: *mut acp_writer,
    members: *const acp_member,
    len: usize,
) -> acp_status {
    // SAFETY: the caller keeps what the header says of `writer` and `members`.
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

/// Writes one value by a template: JSON text in which each `?` outside of strings stands for the next of the values, and in
/// which strings may stand in single quotes, that C need not escape, as everything up to the next one:
///
///     acp_value values[] = {acp_string_value(session), acp_string_value(text)};
///     acp_writer_template(writer, acp_text("{'sessionId':?,'prompt':[{'type':'text','text':?}]}"), values, 2);
///
/// `ACP_WRITER_MISUSE` where there are not as many values as `?`, or what comes out is no JSON; nothing is written then.
#[no_mangle]
pub unsafe extern "C" fn acp_writer_template(
    writer: *mut acp_writer,
    form: acp_slice,
    values: *const acp_value,
    len: usize,
) -> acp_status {
    // SAFETY: the caller keeps what the header says of `writer`, `form` and `values`.
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

fn own(text: &str) -> acp_string {
    let mut bytes = Vec::with_capacity(text.len() + 1);
    bytes.extend_from_slice(text.as_bytes());
    bytes.push(0);
    acp_string { data: Box::into_raw(bytes.into_boxed_slice()).cast(), len: text.len() }
}

/// A copy of a text that the caller owns and frees with `acp_string_free`.
#[no_mangle]
#[must_use]
pub unsafe extern "C" fn acp_string_copy(text: acp_slice, out: *mut acp_string) -> acp_status {
    // SAFETY: the caller keeps what the header says of `text` and `out`.
    guard(|| unsafe { output(out, || Ok(own(text.text()?))) })
}

/// The string that a pointer names, without quotes and escapes, as a text that the caller owns and frees with
/// `acp_string_free`; `ACP_NONE` when the pointer names nothing, `ACP_WRONG_TYPE` when it names no string.
#[no_mangle]
#[must_use]
pub unsafe extern "C" fn acp_json_string_copy(json: acp_slice, pointer: acp_slice, out: *mut acp_string) -> acp_status {
    // SAFETY: the caller keeps what the header says of `json`, `pointer` and `out`.
    unsafe { parse(json, pointer, out, |value| unescape(value).map(|text| own(&text))) }
}

/// Frees a text of the host's own and makes it empty; NULL is fine, and one that is empty.
#[no_mangle]
pub unsafe extern "C" fn acp_string_free(string: *mut acp_string) {
    guard(|| {
        // SAFETY: the caller keeps what the header says of `string`.
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
