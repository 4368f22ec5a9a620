//! What a client needs that runs commands for an agent.

use libacp::terminal::cut_output;

use crate::border::{acp_slice, acp_status, guard, output, ACP_INVALID_ARGUMENT};

/// The end of a command's output that fits the `outputByteLimit` of `terminal/create`, and whether anything had to go:
/// the `output` and `truncated` of the answer to `terminal/output`. It is cut from the front, and never inside a
/// character. The text must be UTF-8: replace what is not before. `*end` points into `text` and is valid as long as that is.
#[no_mangle]
pub unsafe extern "C" fn acp_cut_output(
    text: acp_slice,
    byte_limit: u64,
    end: *mut acp_slice,
    truncated: *mut bool,
) -> acp_status {
    guard(|| {
        if truncated.is_null() {
            return Err(ACP_INVALID_ARGUMENT);
        }
        // SAFETY: the caller keeps what the header says of `text`, `end` and `truncated`.
        let (rest, cut) = cut_output(unsafe { text.text() }?, byte_limit);
        // SAFETY: as above.
        unsafe {
            output(end, || Ok(rest.into()))?;
            output(truncated, || Ok(cut))
        }
    })
}
