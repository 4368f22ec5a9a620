//! Writing JSON text for hosts without a JSON library.

use libacp::json::Writer;

use crate::border::{acp_slice, acp_status, change, free, make, output, Handle, ACP_WRITER_MISUSE};

/// Writes one JSON value piece by piece, and adds commas and colons.
pub struct acp_writer {
    state: State,
}

impl Handle for acp_writer {
    const TAG: u64 = u64::from_le_bytes(*b"acpwrite");
}

enum State {
    Open(Writer),
    Done(String),
    /// The pieces did not fit together.
    Wrong,
}

/// Adds a piece to a writer that is not finished.
///
/// # Safety
/// As for [`change`].
pub(crate) unsafe fn write(
    writer: *mut acp_writer,
    piece: impl FnOnce(&mut Writer) -> Result<(), acp_status>,
) -> acp_status {
    // SAFETY: as `# Safety` requires.
    unsafe {
        change(writer, |writer| match &mut writer.state {
            State::Open(open) => piece(open),
            State::Done(_) | State::Wrong => Err(ACP_WRITER_MISUSE),
        })
    }
}

/// Creates an empty writer.
///
/// Pieces are checked at the end: the functions that add one accept it even if it does not belong there (a value where
/// a key is due, say), and `acp_writer_finish` reports the mistake. After `acp_writer_finish` they return
/// `ACP_WRITER_MISUSE`, until `acp_writer_reset`.
///
/// - `*out`: the writer; the caller owns it and frees it with `acp_writer_free`
/// - returns: `ACP_OK` or a general error
#[no_mangle]
#[must_use]
pub unsafe extern "C" fn acp_writer_new(out: *mut *mut acp_writer) -> acp_status {
    // SAFETY: `out` is as the header requires.
    unsafe { make(out, || Ok(acp_writer { state: State::Open(Writer::new()) })) }
}

/// Frees a writer, and with it the text that came from it.
///
/// - `writer`: the writer; NULL is ignored
#[no_mangle]
pub unsafe extern "C" fn acp_writer_free(writer: *mut acp_writer) {
    // SAFETY: `writer` is as the header requires.
    unsafe { free(writer) }
}

/// Makes a writer empty again, also after it was finished. The text that came from it is no longer valid.
///
/// - `writer`: the writer
/// - returns: `ACP_OK` or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_writer_reset(writer: *mut acp_writer) -> acp_status {
    // SAFETY: `writer` is as the header requires.
    unsafe {
        change(writer, |writer| {
            writer.state = State::Open(Writer::new());
            Ok(())
        })
    }
}

/// Begins an object.
///
/// - `writer`: the writer
/// - returns: `ACP_OK`; `ACP_WRITER_MISUSE` if the writer is finished; or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_writer_begin_object(writer: *mut acp_writer) -> acp_status {
    // SAFETY: `writer` is as the header requires.
    unsafe {
        write(writer, |writer| {
            writer.begin_object();
            Ok(())
        })
    }
}

/// Ends the innermost object.
///
/// - `writer`: the writer
/// - returns: `ACP_OK`; `ACP_WRITER_MISUSE` if the writer is finished; or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_writer_end_object(writer: *mut acp_writer) -> acp_status {
    // SAFETY: `writer` is as the header requires.
    unsafe {
        write(writer, |writer| {
            writer.end_object();
            Ok(())
        })
    }
}

/// Begins a list.
///
/// - `writer`: the writer
/// - returns: `ACP_OK`; `ACP_WRITER_MISUSE` if the writer is finished; or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_writer_begin_array(writer: *mut acp_writer) -> acp_status {
    // SAFETY: `writer` is as the header requires.
    unsafe {
        write(writer, |writer| {
            writer.begin_array();
            Ok(())
        })
    }
}

/// Ends the innermost list.
///
/// - `writer`: the writer
/// - returns: `ACP_OK`; `ACP_WRITER_MISUSE` if the writer is finished; or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_writer_end_array(writer: *mut acp_writer) -> acp_status {
    // SAFETY: `writer` is as the header requires.
    unsafe {
        write(writer, |writer| {
            writer.end_array();
            Ok(())
        })
    }
}

/// Writes the name of a member of the innermost object. Its value comes next.
///
/// - `writer`: the writer
/// - `name`: the name, without quotes and escapes
/// - returns: `ACP_OK`; `ACP_WRITER_MISUSE` if the writer is finished; or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_writer_key(writer: *mut acp_writer, name: acp_slice) -> acp_status {
    // SAFETY: `writer` and `name` are as the header requires.
    unsafe {
        write(writer, |writer| {
            writer.key(name.text()?);
            Ok(())
        })
    }
}

/// Writes a string.
///
/// - `writer`: the writer
/// - `value`: the text, without quotes and escapes, which are added
/// - returns: `ACP_OK`; `ACP_WRITER_MISUSE` if the writer is finished; or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_writer_string(writer: *mut acp_writer, value: acp_slice) -> acp_status {
    // SAFETY: `writer` and `value` are as the header requires.
    unsafe {
        write(writer, |writer| {
            writer.string(value.text()?);
            Ok(())
        })
    }
}

/// Writes an integer.
///
/// - `writer`: the writer
/// - `value`: the number
/// - returns: `ACP_OK`; `ACP_WRITER_MISUSE` if the writer is finished; or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_writer_int64(writer: *mut acp_writer, value: i64) -> acp_status {
    // SAFETY: `writer` is as the header requires.
    unsafe {
        write(writer, |writer| {
            writer.integer(value);
            Ok(())
        })
    }
}

/// Writes an unsigned integer.
///
/// - `writer`: the writer
/// - `value`: the number
/// - returns: `ACP_OK`; `ACP_WRITER_MISUSE` if the writer is finished; or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_writer_uint64(writer: *mut acp_writer, value: u64) -> acp_status {
    // SAFETY: `writer` is as the header requires.
    unsafe {
        write(writer, |writer| {
            writer.unsigned(value);
            Ok(())
        })
    }
}

/// Writes a number.
///
/// - `writer`: the writer
/// - `value`: the number. Infinities and NaN do not exist in JSON: `acp_writer_finish` reports them
/// - returns: `ACP_OK`; `ACP_WRITER_MISUSE` if the writer is finished; or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_writer_double(writer: *mut acp_writer, value: f64) -> acp_status {
    // SAFETY: `writer` is as the header requires.
    unsafe {
        write(writer, |writer| {
            writer.number(value);
            Ok(())
        })
    }
}

/// Writes a boolean.
///
/// - `writer`: the writer
/// - `value`: the boolean
/// - returns: `ACP_OK`; `ACP_WRITER_MISUSE` if the writer is finished; or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_writer_bool(writer: *mut acp_writer, value: bool) -> acp_status {
    // SAFETY: `writer` is as the header requires.
    unsafe {
        write(writer, |writer| {
            writer.boolean(value);
            Ok(())
        })
    }
}

/// Writes null.
///
/// - `writer`: the writer
/// - returns: `ACP_OK`; `ACP_WRITER_MISUSE` if the writer is finished; or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_writer_null(writer: *mut acp_writer) -> acp_status {
    // SAFETY: `writer` is as the header requires.
    unsafe {
        write(writer, |writer| {
            writer.null();
            Ok(())
        })
    }
}

/// Writes a value that is JSON text already.
///
/// - `writer`: the writer
/// - `value`: JSON text. Text that is not JSON is reported by `acp_writer_finish`
/// - returns: `ACP_OK`; `ACP_WRITER_MISUSE` if the writer is finished; or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_writer_json(writer: *mut acp_writer, value: acp_slice) -> acp_status {
    // SAFETY: `writer` and `value` are as the header requires.
    unsafe {
        write(writer, |writer| {
            writer.json(value.text()?);
            Ok(())
        })
    }
}

/// Finishes the value and gets its text. Until it is reset, the writer accepts nothing more, and finishing again gives
/// the same text.
///
/// - `writer`: the writer
/// - `*out`: JSON text; valid until the writer is reset or freed
/// - returns: `ACP_OK`; `ACP_WRITER_MISUSE` if the pieces do not form exactly one value (reset the writer then);
///   or a general error
#[no_mangle]
#[must_use]
pub unsafe extern "C" fn acp_writer_finish(writer: *mut acp_writer, out: *mut acp_slice) -> acp_status {
    // SAFETY: `writer` and `out` are as the header requires.
    unsafe {
        change(writer, |writer| {
            output(out, || {
                if let State::Open(open) = &mut writer.state {
                    let open = std::mem::take(open);
                    writer.state = open.finish().map_or(State::Wrong, State::Done);
                }
                match &writer.state {
                    State::Done(text) => Ok(text.as_str().into()),
                    State::Open(_) | State::Wrong => Err(ACP_WRITER_MISUSE),
                }
            })
        })
    }
}
