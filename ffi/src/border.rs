//! The border between C and Rust: statuses, slices, handles, panics.
//!
//! [`guard`] is around everything. Behind it, [`read`] looks into a handle, [`change`] changes one, [`make`] makes a new
//! one; each checks its pointers first and writes its output last, and only on success.

use std::os::raw::c_char;
use std::panic::{catch_unwind, AssertUnwindSafe};

/// What became of a call. `ACP_OK` is zero, a positive status is no error, a negative one is.
pub type acp_status = i32;

/// Done.
pub const ACP_OK: acp_status = 0;
/// Done, and there is no such value: no event waits, the event has no such member, the pointer names nothing. Nothing
/// was written.
pub const ACP_NONE: acp_status = 1;
/// The protocol forbids the call now, or what was passed does not fit it. Nothing was sent and nothing has changed;
/// `acp_connection_error_…` say more.
pub const ACP_MISUSE: acp_status = -1;
/// An argument is NULL, is not UTF-8, or is a number that has no meaning here. Nothing has changed.
pub const ACP_INVALID_ARGUMENT: acp_status = -2;
/// The JSON value is of another type, or a number that does not fit.
pub const ACP_WRONG_TYPE: acp_status = -3;
/// The buffer is too small. This is the one status other than `ACP_OK` with which an output is written: the length
/// that is needed.
pub const ACP_SHORT_BUFFER: acp_status = -4;
/// The calls to a writer did not make one JSON value, or it had been finished.
pub const ACP_WRITER_MISUSE: acp_status = -5;
/// A defect of the library was caught. The handle only serves to be freed.
pub const ACP_PANIC: acp_status = -6;

/// The version of the binary interface: what `acp_abi_version` returns must be equal to it.
pub const ACP_ABI_VERSION: u32 = 1;

/// Bytes of somebody else's, mostly UTF-8 text; never terminated by NUL. `data` may be NULL where `len` is 0.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct acp_slice {
    /// The first byte.
    pub data: *const c_char,
    /// How many there are.
    pub len: usize,
}

impl From<&[u8]> for acp_slice {
    fn from(bytes: &[u8]) -> Self {
        acp_slice { data: bytes.as_ptr().cast(), len: bytes.len() }
    }
}

impl From<&str> for acp_slice {
    fn from(text: &str) -> Self {
        text.as_bytes().into()
    }
}

impl acp_slice {
    /// The bytes.
    ///
    /// # Safety
    /// The slice is as the header says, for as long as the reference is used.
    pub(crate) unsafe fn bytes<'a>(self) -> Result<&'a [u8], acp_status> {
        if self.len == 0 {
            return Ok(&[]);
        }
        if self.data.is_null() || isize::try_from(self.len).is_err() {
            return Err(ACP_INVALID_ARGUMENT);
        }
        // SAFETY: not NULL, not too long, and the caller says that so many bytes are there.
        Ok(unsafe { std::slice::from_raw_parts(self.data.cast::<u8>(), self.len) })
    }

    /// The bytes as text.
    ///
    /// # Safety
    /// As for [`bytes`](Self::bytes).
    pub(crate) unsafe fn text<'a>(self) -> Result<&'a str, acp_status> {
        // SAFETY: the caller's promise is the same.
        let bytes = unsafe { self.bytes() }?;
        std::str::from_utf8(bytes).map_err(|_| ACP_INVALID_ARGUMENT)
    }
}

/// Runs what stands behind a function of the interface; no panic leaves it.
pub(crate) fn guard(work: impl FnOnce() -> Result<(), acp_status>) -> acp_status {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(())) => ACP_OK,
        Ok(Err(status)) => status,
        Err(payload) => {
            // Dropping a payload may panic again, with nobody left to catch it.
            std::mem::forget(payload);
            ACP_PANIC
        }
    }
}

/// A handle as a reference.
///
/// # Safety
/// The pointer is NULL or a live handle, and nobody changes it while the reference is used.
pub(crate) unsafe fn shared<'a, H>(handle: *const H) -> Result<&'a H, acp_status> {
    // SAFETY: the caller's promise.
    unsafe { handle.as_ref() }.ok_or(ACP_INVALID_ARGUMENT)
}

/// A handle as an exclusive reference.
///
/// # Safety
/// The pointer is NULL or a live handle that nobody else uses meanwhile.
pub(crate) unsafe fn exclusive<'a, H>(handle: *mut H) -> Result<&'a mut H, acp_status> {
    // SAFETY: the caller's promise.
    unsafe { handle.as_mut() }.ok_or(ACP_INVALID_ARGUMENT)
}

/// Writes to an output what `work` returns, if it succeeds; a NULL output is refused before `work` runs.
///
/// # Safety
/// `out` is NULL or can be written.
pub(crate) unsafe fn output<T>(out: *mut T, work: impl FnOnce() -> Result<T, acp_status>) -> Result<(), acp_status> {
    if out.is_null() {
        return Err(ACP_INVALID_ARGUMENT);
    }
    let value = work()?;
    // SAFETY: not NULL, and the caller says that it can be written. `write` does not read what was there.
    unsafe { out.write(value) };
    Ok(())
}

/// Looks into a handle; nothing there is `ACP_NONE`.
///
/// # Safety
/// As for [`shared`] and [`output`].
pub(crate) unsafe fn read<'a, H: 'a, T>(
    handle: *const H,
    out: *mut T,
    look: impl FnOnce(&'a H) -> Option<T>,
) -> acp_status {
    guard(|| {
        // SAFETY: the caller's promise.
        let handle = unsafe { shared(handle) }?;
        // SAFETY: the caller's promise.
        unsafe { output(out, || look(handle).ok_or(ACP_NONE)) }
    })
}

/// Changes a handle.
///
/// # Safety
/// As for [`exclusive`].
pub(crate) unsafe fn change<'a, H: 'a>(
    handle: *mut H,
    work: impl FnOnce(&'a mut H) -> Result<(), acp_status>,
) -> acp_status {
    guard(|| {
        // SAFETY: the caller's promise.
        work(unsafe { exclusive(handle) }?)
    })
}

/// Makes a handle that the caller owns.
///
/// # Safety
/// As for [`output`].
pub(crate) unsafe fn make<H>(out: *mut *mut H, work: impl FnOnce() -> Result<H, acp_status>) -> acp_status {
    guard(|| {
        // SAFETY: the caller's promise.
        unsafe { output(out, || work().map(|handle| Box::into_raw(Box::new(handle)))) }
    })
}

/// Frees a handle; NULL is fine.
///
/// # Safety
/// The pointer is NULL or comes from [`make`], and is not used again.
pub(crate) unsafe fn free<H>(handle: *mut H) {
    if !handle.is_null() {
        guard(|| {
            // SAFETY: it comes from `Box::into_raw` and the caller gives it up.
            drop(unsafe { Box::from_raw(handle) });
            Ok(())
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panics_become_a_status() {
        assert_eq!(guard(|| panic!("caught at the border")), ACP_PANIC);
        assert_eq!(guard(|| Err(ACP_NONE)), ACP_NONE);
        assert_eq!(guard(|| Ok(())), ACP_OK);
    }

    #[test]
    fn outputs_are_written_on_success_alone() {
        let mut out = 7;
        // SAFETY: `out` is a variable of this function.
        let mut attempt = |result| unsafe { output(&raw mut out, || result) };
        assert_eq!(attempt(Err(ACP_NONE)), Err(ACP_NONE));
        assert_eq!(attempt(Ok(9)), Ok(()));
        assert_eq!(out, 9);
        let mut ran = false;
        // SAFETY: NULL is allowed.
        let refused = unsafe {
            output(std::ptr::null_mut(), || {
                ran = true;
                Ok(1)
            })
        };
        assert_eq!((refused, ran), (Err(ACP_INVALID_ARGUMENT), false));
    }

    #[test]
    fn slices_are_checked() {
        let null = acp_slice { data: std::ptr::null(), len: 0 };
        // SAFETY: empty slices may be NULL, and NULL with a length is refused unread.
        unsafe {
            assert_eq!(null.text(), Ok(""));
            assert_eq!(acp_slice { len: 1, ..null }.text(), Err(ACP_INVALID_ARGUMENT));
            assert_eq!(acp_slice::from("é").text(), Ok("é"));
            assert_eq!(acp_slice::from(&b"\xff"[..]).text(), Err(ACP_INVALID_ARGUMENT));
            assert_eq!(acp_slice { len: usize::MAX, ..acp_slice::from("x") }.bytes(), Err(ACP_INVALID_ARGUMENT));
        }
    }
}
