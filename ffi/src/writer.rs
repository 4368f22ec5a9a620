//! Writing JSON text, for hosts that have no library for it.

use libacp::json::Writer;

use crate::border::{acp_slice, acp_status, change, free, make, output, Handle, ACP_WRITER_MISUSE};

/// Writes one JSON value piece by piece; commas and colons come by themselves.
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

/// Adds a piece to a writer.
///
/// # Safety
/// As for [`change`].
pub(crate) unsafe fn write(
    writer: *mut acp_writer,
    piece: impl FnOnce(&mut Writer) -> Result<(), acp_status>,
) -> acp_status {
    // SAFETY: the caller's promise.
    unsafe {
        change(writer, |writer| match &mut writer.state {
            State::Open(open) => piece(open),
            State::Done(_) | State::Wrong => Err(ACP_WRITER_MISUSE),
        })
    }
}

/// An empty writer. The caller owns `*out` and frees it with `acp_writer_free`.
#[no_mangle]
#[must_use]
pub unsafe extern "C" fn acp_writer_new(out: *mut *mut acp_writer) -> acp_status {
    // SAFETY: the caller keeps what the header says of `out`.
    unsafe { make(out, || Ok(acp_writer { state: State::Open(Writer::new()) })) }
}

/// Frees a writer.
#[no_mangle]
pub unsafe extern "C" fn acp_writer_free(writer: *mut acp_writer) {
    // SAFETY: the caller keeps what the header says of `writer`.
    unsafe { free(writer) }
}

/// Makes a writer empty again, whatever became of it.
#[no_mangle]
pub unsafe extern "C" fn acp_writer_reset(writer: *mut acp_writer) -> acp_status {
    // SAFETY: the caller keeps what the header says of `writer`.
    unsafe {
        change(writer, |writer| {
            writer.state = State::Open(Writer::new());
            Ok(())
        })
    }
}

/// Begins an object. This and the next ones accept pieces in any order and leave it to `acp_writer_finish` to say that
/// they do not fit together.
#[no_mangle]
pub unsafe extern "C" fn acp_writer_begin_object(writer: *mut acp_writer) -> acp_status {
    // SAFETY: the caller keeps what the header says of `writer`.
    unsafe {
        write(writer, |writer| {
            writer.begin_object();
            Ok(())
        })
    }
}

/// Ends the innermost object.
#[no_mangle]
pub unsafe extern "C" fn acp_writer_end_object(writer: *mut acp_writer) -> acp_status {
    // SAFETY: the caller keeps what the header says of `writer`.
    unsafe {
        write(writer, |writer| {
            writer.end_object();
            Ok(())
        })
    }
}

/// Begins a list.
#[no_mangle]
pub unsafe extern "C" fn acp_writer_begin_array(writer: *mut acp_writer) -> acp_status {
    // SAFETY: the caller keeps what the header says of `writer`.
    unsafe {
        write(writer, |writer| {
            writer.begin_array();
            Ok(())
        })
    }
}

/// Ends the innermost list.
#[no_mangle]
pub unsafe extern "C" fn acp_writer_end_array(writer: *mut acp_writer) -> acp_status {
    // SAFETY: the caller keeps what the header says of `writer`.
    unsafe {
        write(writer, |writer| {
            writer.end_array();
            Ok(())
        })
    }
}

/// The name of the member whose value comes next.
#[no_mangle]
pub unsafe extern "C" fn acp_writer_key(writer: *mut acp_writer, name: acp_slice) -> acp_status {
    // SAFETY: the caller keeps what the header says of `writer` and `name`.
    unsafe {
        write(writer, |writer| {
            writer.key(name.text()?);
            Ok(())
        })
    }
}

/// A string; quotes and escapes are added.
#[no_mangle]
pub unsafe extern "C" fn acp_writer_string(writer: *mut acp_writer, value: acp_slice) -> acp_status {
    // SAFETY: the caller keeps what the header says of `writer` and `value`.
    unsafe {
        write(writer, |writer| {
            writer.string(value.text()?);
            Ok(())
        })
    }
}

/// A whole number.
#[no_mangle]
pub unsafe extern "C" fn acp_writer_int64(writer: *mut acp_writer, value: i64) -> acp_status {
    // SAFETY: the caller keeps what the header says of `writer`.
    unsafe {
        write(writer, |writer| {
            writer.integer(value);
            Ok(())
        })
    }
}

/// A whole number without sign.
#[no_mangle]
pub unsafe extern "C" fn acp_writer_uint64(writer: *mut acp_writer, value: u64) -> acp_status {
    // SAFETY: the caller keeps what the header says of `writer`.
    unsafe {
        write(writer, |writer| {
            writer.unsigned(value);
            Ok(())
        })
    }
}

/// A number; JSON has no infinities and no NaN.
#[no_mangle]
pub unsafe extern "C" fn acp_writer_double(writer: *mut acp_writer, value: f64) -> acp_status {
    // SAFETY: the caller keeps what the header says of `writer`.
    unsafe {
        write(writer, |writer| {
            writer.number(value);
            Ok(())
        })
    }
}

/// `true` or `false`.
#[no_mangle]
pub unsafe extern "C" fn acp_writer_bool(writer: *mut acp_writer, value: bool) -> acp_status {
    // SAFETY: the caller keeps what the header says of `writer`.
    unsafe {
        write(writer, |writer| {
            writer.boolean(value);
            Ok(())
        })
    }
}

/// `null`.
#[no_mangle]
pub unsafe extern "C" fn acp_writer_null(writer: *mut acp_writer) -> acp_status {
    // SAFETY: the caller keeps what the header says of `writer`.
    unsafe {
        write(writer, |writer| {
            writer.null();
            Ok(())
        })
    }
}

/// A value that is JSON text already.
#[no_mangle]
pub unsafe extern "C" fn acp_writer_json(writer: *mut acp_writer, value: acp_slice) -> acp_status {
    // SAFETY: the caller keeps what the header says of `writer` and `value`.
    unsafe {
        write(writer, |writer| {
            writer.json(value.text()?);
            Ok(())
        })
    }
}

/// The text, valid until the writer is reset or freed; `ACP_WRITER_MISUSE` when the pieces did not make one whole value.
/// After it the writer takes nothing more until it is reset; finishing again gives the same.
#[no_mangle]
#[must_use]
pub unsafe extern "C" fn acp_writer_finish(writer: *mut acp_writer, out: *mut acp_slice) -> acp_status {
    // SAFETY: the caller keeps what the header says of `writer` and `out`.
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
