//! For clients that run commands for an agent.

use libacp::terminal::cut_output;

use crate::border::{acp_slice, acp_status, guard, output, ACP_INVALID_ARGUMENT};

/// Cuts the output of a command to the `outputByteLimit` of `terminal/create`. It is cut at the front and never inside
/// a character, so up to three bytes fewer than the limit may remain. The results are `output` and `truncated` of the
/// answer to `terminal/output`.
///
/// - `text`: the output, which must be UTF-8: replace what is not
/// - `byte_limit`: the largest number of bytes to keep
/// - `*end`: the end of `text` that fits; a part of `text`, valid as long as that
/// - `*truncated`: whether anything was cut off
/// - returns: `ACP_OK` or a general error
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
        // SAFETY: `text`, `end` and `truncated` are as the header requires.
        let (rest, cut) = cut_output(unsafe { text.text() }?, byte_limit);
        // SAFETY: as above.
        unsafe {
            output(end, || Ok(rest.into()))?;
            output(truncated, || Ok(cut))
        }
    })
}
