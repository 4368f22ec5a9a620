//! The boundary between C and Rust: statuses, slices, handles, panics.
//!
//! [`guard`] is around everything. Inside it, [`read`] reads from a handle, [`change`] changes one and [`make`] creates
//! one. Each checks its pointers first and writes its output last, and only on success.
//!
//! The functions here that take pointers state in `# Safety` what their callers guarantee. Exported functions pass on
//! what the header requires of *their* callers (`acp.h`, "Conventions"); the comment at each of them names the
//! parameters in question.

use std::cell::UnsafeCell;
use std::os::raw::c_char;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicU8, Ordering};

/// The result of a call: `ACP_OK` is zero, a positive status is not an error, a negative status is an error.
pub type acp_status = i32;

/// Success.
pub const ACP_OK: acp_status = 0;
/// Success, but there is no value: no event is waiting, the event has no such field, the JSON pointer names nothing.
/// The outputs were not written.
pub const ACP_NONE: acp_status = 1;
/// The protocol does not allow the call now, or the arguments do not fit the protocol. Nothing was sent and nothing has
/// changed. `acp_connection_error_kind`, `_rule`, `_pointer` and `_message` say why.
pub const ACP_MISUSE: acp_status = -1;
/// An argument is NULL, is not UTF-8, or has a value that means nothing here. Nothing has changed.
pub const ACP_INVALID_ARGUMENT: acp_status = -2;
/// The JSON value has another type, or is a number that does not fit the output.
pub const ACP_WRONG_TYPE: acp_status = -3;
/// The buffer is too small. This is the only status besides `ACP_OK` with which an output is written: the length that
/// is needed.
pub const ACP_SHORT_BUFFER: acp_status = -4;
/// The calls to a writer did not produce one JSON value, or the writer is already finished.
pub const ACP_WRITER_MISUSE: acp_status = -5;
/// A defect in the library was caught. The handle can only be freed.
pub const ACP_PANIC: acp_status = -6;
/// The pointer is not a handle of this type: it was freed, or never was one. Detection is not guaranteed: it can fail
/// once the memory is in use again.
pub const ACP_BAD_HANDLE: acp_status = -7;
/// Another thread is inside a call that changes this handle. Nothing has changed. Detected only when both calls
/// overlap; a change that begins while another thread merely reads the handle is not detected.
pub const ACP_BUSY: acp_status = -8;

/// The version of the binary interface that this header describes. `acp_abi_version` must return the same number.
pub const ACP_ABI_VERSION: u32 = 1;

/// Borrowed bytes, usually UTF-8 text. Not terminated by NUL. `data` may be NULL if `len` is 0.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct acp_slice {
    /// The first byte.
    pub data: *const c_char,
    /// The number of bytes.
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
    /// `data` points to `len` bytes (or `len` is 0) that stay readable and unchanged for as long as the result is used.
    pub(crate) unsafe fn bytes<'a>(self) -> Result<&'a [u8], acp_status> {
        // SAFETY: the contract of this function is the same.
        unsafe { items(self.data.cast::<u8>(), self.len) }
    }

    /// The bytes as text; `ACP_INVALID_ARGUMENT` if they are not UTF-8.
    ///
    /// # Safety
    /// As for [`bytes`](Self::bytes).
    pub(crate) unsafe fn text<'a>(self) -> Result<&'a str, acp_status> {
        // SAFETY: the contract of this function is the same.
        let bytes = unsafe { self.bytes() }?;
        std::str::from_utf8(bytes).map_err(|_| ACP_INVALID_ARGUMENT)
    }
}

/// `count` consecutive items. `data` may be NULL if `count` is 0.
///
/// # Safety
/// `data` points to `count` items (or `count` is 0) that stay readable and unchanged for as long as the result is used.
pub(crate) unsafe fn items<'a, T>(data: *const T, count: usize) -> Result<&'a [T], acp_status> {
    if count == 0 {
        return Ok(&[]);
    }
    let size = count.checked_mul(size_of::<T>()).and_then(|size| isize::try_from(size).ok());
    if data.is_null() || !data.is_aligned() || size.is_none() {
        return Err(ACP_INVALID_ARGUMENT);
    }
    // SAFETY: not NULL, aligned, not too long, and the caller says that so many are there.
    Ok(unsafe { std::slice::from_raw_parts(data, count) })
}

/// Runs the body of an exported function. No panic gets past it.
pub(crate) fn guard(work: impl FnOnce() -> Result<(), acp_status>) -> acp_status {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(())) => ACP_OK,
        Ok(Err(status)) => status,
        Err(payload) => {
            // Dropping the payload could panic again, and nothing would catch that.
            std::mem::forget(payload);
            ACP_PANIC
        }
    }
}

/// What a pointer to a handle points to. The tag comes first, so that a freed handle is recognized; then whether a call
/// is inside.
#[repr(C)]
struct Held<H> {
    tag: u64,
    state: AtomicU8,
    value: UnsafeCell<H>,
}

/// A type of handles.
pub(crate) trait Handle {
    /// The first eight bytes of every live handle of this type, different for each type.
    const TAG: u64;
}

/// The tag of a handle that was freed.
const FREED: u64 = 0;

const IDLE: u8 = 0;
/// A call changes the handle.
const BUSY: u8 = 1;
/// A call has panicked. The value may be half changed, so it is not used again.
const PANICKED: u8 = 2;

fn status_of(state: u8) -> acp_status {
    if state == BUSY {
        ACP_BUSY
    } else {
        ACP_PANIC
    }
}

/// What a pointer points to, if it is a handle of this type as far as can be seen.
///
/// # Safety
/// The pointer is NULL or a live handle. (A pointer that is neither is usually recognized if it points to readable
/// memory.)
unsafe fn held<H: Handle>(handle: *const H) -> Result<*mut Held<H>, acp_status> {
    let held = handle.cast_mut().cast::<Held<H>>();
    if held.is_null() {
        return Err(ACP_INVALID_ARGUMENT);
    }
    // SAFETY: the pointer is as `# Safety` requires. Volatile, because the compiler must not infer the tag from earlier
    // writes: whether the handle was freed in between is what this read finds out.
    if !held.is_aligned() || unsafe { (&raw const (*held).tag).read_volatile() } != H::TAG {
        return Err(ACP_BAD_HANDLE);
    }
    Ok(held)
}

/// Gives a new handle to the caller, who owns it.
pub(crate) fn hand_out<H: Handle>(value: H) -> *mut H {
    let held = Held { tag: H::TAG, state: AtomicU8::new(IDLE), value: UnsafeCell::new(value) };
    Box::into_raw(Box::new(held)).cast()
}

/// A handle as a reference.
///
/// # Safety
/// The pointer is NULL or a live handle, and nothing changes or frees it while the reference is used.
pub(crate) unsafe fn shared<'a, H: Handle + 'a>(handle: *const H) -> Result<&'a H, acp_status> {
    // SAFETY: as `# Safety` requires.
    let held = unsafe { &*self::held(handle)? };
    match held.state.load(Ordering::Acquire) {
        // SAFETY: the caller says that nobody changes it.
        IDLE => Ok(unsafe { &*held.value.get() }),
        state => Err(status_of(state)),
    }
}

/// Restores the state of a handle when a call ends, even by a panic.
struct Using<'a> {
    state: &'a AtomicU8,
    left: u8,
}

impl Drop for Using<'_> {
    fn drop(&mut self) {
        self.state.store(self.left, Ordering::Release);
    }
}

/// Writes what `work` returns to an output, if it succeeds. A NULL output is refused before `work` runs.
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

/// Reads from a handle; `None` becomes `ACP_NONE`.
///
/// # Safety
/// As for [`shared`] and [`output`].
pub(crate) unsafe fn read<'a, H: Handle + 'a, T>(
    handle: *const H,
    out: *mut T,
    look: impl FnOnce(&'a H) -> Option<T>,
) -> acp_status {
    guard(|| {
        // SAFETY: as `# Safety` requires.
        let handle = unsafe { shared(handle) }?;
        // SAFETY: as `# Safety` requires.
        unsafe { output(out, || look(handle).ok_or(ACP_NONE)) }
    })
}

/// Changes a handle.
///
/// # Safety
/// The pointer is NULL or a live handle.
pub(crate) unsafe fn change<'a, H: Handle + 'a>(
    handle: *mut H,
    work: impl FnOnce(&'a mut H) -> Result<(), acp_status>,
) -> acp_status {
    guard(|| {
        // SAFETY: as `# Safety` requires.
        let held = unsafe { &*self::held(handle)? };
        held.state.compare_exchange(IDLE, BUSY, Ordering::Acquire, Ordering::Relaxed).map_err(status_of)?;
        let mut using = Using { state: &held.state, left: PANICKED };
        // SAFETY: of those who change it, this one alone is inside.
        let done = work(unsafe { &mut *held.value.get() });
        using.left = IDLE;
        done
    })
}

/// Creates a handle that the caller owns.
///
/// # Safety
/// As for [`output`].
pub(crate) unsafe fn make<H: Handle>(out: *mut *mut H, work: impl FnOnce() -> Result<H, acp_status>) -> acp_status {
    guard(|| {
        // SAFETY: as `# Safety` requires.
        unsafe { output(out, || work().map(hand_out)) }
    })
}

/// Frees a handle. NULL is ignored, and so is a pointer that is recognized as no handle, or a handle that another
/// thread is using.
///
/// # Safety
/// The pointer is NULL or comes from [`make`], and is not used again.
pub(crate) unsafe fn free<H: Handle>(handle: *mut H) {
    guard(|| {
        // SAFETY: as `# Safety` requires.
        let held = unsafe { self::held(handle)? };
        // SAFETY: as above.
        if unsafe { (*held).state.swap(BUSY, Ordering::Acquire) } == BUSY {
            return Err(ACP_BUSY);
        }
        // SAFETY: it comes from `hand_out` and the caller gives it up. Volatile, as nobody else reads what is freed.
        unsafe {
            (&raw mut (*held).tag).write_volatile(FREED);
            drop(Box::from_raw(held));
        }
        Ok(())
    });
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

    /// A handle of this test's.
    struct Count(u32);

    impl Handle for Count {
        const TAG: u64 = u64::from_le_bytes(*b"acpcount");
    }

    fn add(handle: *mut Count) -> acp_status {
        // SAFETY: the tests pass handles that live, or memory that does.
        unsafe {
            change(handle, |count| {
                count.0 += 1;
                Ok(())
            })
        }
    }

    #[test]
    fn handles_of_another_type_are_seen() {
        let other = [u64::from_le_bytes(*b"acpother"); 8];
        assert_eq!(add(other.as_ptr().cast_mut().cast()), ACP_BAD_HANDLE);
        assert_eq!(add(other.as_ptr().cast_mut().cast::<u8>().wrapping_add(1).cast()), ACP_BAD_HANDLE);
        assert_eq!(add(std::ptr::null_mut()), ACP_INVALID_ARGUMENT);
    }

    #[test]
    fn who_is_inside_is_alone() {
        let handle = hand_out(Count(0));
        // SAFETY: the handle lives, and the references of the calls inside are not made.
        unsafe {
            assert_eq!(
                change(handle, |_| {
                    assert_eq!(add(handle), ACP_BUSY);
                    assert_eq!(shared(handle).err(), Some(ACP_BUSY));
                    free(handle);
                    Ok(())
                }),
                ACP_OK
            );
            assert_eq!(add(handle), ACP_OK);
            assert_eq!(shared(handle).map(|count| count.0), Ok(1));
            free(handle);
        }
    }

    #[test]
    fn after_a_panic_a_handle_only_serves_to_be_freed() {
        let handle = hand_out(Count(0));
        // SAFETY: the handle lives.
        unsafe {
            assert_eq!(change(handle, |_| panic!("caught at the border")), ACP_PANIC);
            assert_eq!(add(handle), ACP_PANIC);
            assert_eq!(shared(handle).err(), Some(ACP_PANIC));
            free(handle);
        }
    }
}
