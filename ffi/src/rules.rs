//! The rule catalogue: the meaning of the rule ids that events and refused calls carry.

use libacp::rules::{rule, Rule};

use crate::border::{acp_slice, acp_status, guard, output, ACP_NONE};
use crate::numbers::Number;

/// Looks up a rule, and reads from it with `look`.
///
/// # Safety
/// As for [`acp_slice::text`] and [`output`].
unsafe fn find<T>(id: acp_slice, out: *mut T, look: impl FnOnce(&'static Rule) -> T) -> acp_status {
    guard(|| {
        // SAFETY: as `# Safety` requires.
        let id = unsafe { id.text() }?;
        // SAFETY: as `# Safety` requires.
        unsafe { output(out, || rule(id).map(look).ok_or(ACP_NONE)) }
    })
}

/// Gets what a rule of the catalogue says, in one sentence.
///
/// - `id`: the rule's id, such as "SESS-01"
/// - `*out`: the sentence; always valid
/// - returns: `ACP_OK`; `ACP_NONE` if no rule has this id; or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_rule_text(id: acp_slice, out: *mut acp_slice) -> acp_status {
    // SAFETY: `id` and `out` are as the header requires.
    unsafe { find(id, out, |rule| rule.text.into()) }
}

/// Gets how binding the specification makes a rule.
///
/// - `id`: the rule's id
/// - `*out`: one of `ACP_LEVEL_…`
/// - returns: `ACP_OK`; `ACP_NONE` if no rule has this id; or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_rule_level(id: acp_slice, out: *mut i32) -> acp_status {
    // SAFETY: `id` and `out` are as the header requires.
    unsafe { find(id, out, |rule| rule.level.number()) }
}

/// Gets how bad it is to break a rule.
///
/// - `id`: the rule's id
/// - `*out`: one of `ACP_SEVERITY_…`
/// - returns: `ACP_OK`; `ACP_NONE` if no rule has this id; or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_rule_severity(id: acp_slice, out: *mut i32) -> acp_status {
    // SAFETY: `id` and `out` are as the header requires.
    unsafe { find(id, out, |rule| rule.severity.number()) }
}
