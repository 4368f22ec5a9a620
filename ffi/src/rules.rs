//! The rule catalogue: what the ids of rules mean that events and refused calls carry.

use libacp::rules::{rule, Rule};

use crate::border::{acp_slice, acp_status, guard, output, ACP_NONE};
use crate::numbers::Number;

/// Looks up one rule and what `look` wants of it.
///
/// # Safety
/// As for [`acp_slice::text`] and [`output`].
unsafe fn find<T>(id: acp_slice, out: *mut T, look: impl FnOnce(&'static Rule) -> T) -> acp_status {
    guard(|| {
        // SAFETY: the caller's promise.
        let id = unsafe { id.text() }?;
        // SAFETY: the caller's promise.
        unsafe { output(out, || rule(id).map(look).ok_or(ACP_NONE)) }
    })
}

/// What the rule with this id says, in one sentence that is always there; `ACP_NONE` when there is no such rule, here
/// and below.
#[no_mangle]
pub unsafe extern "C" fn acp_rule_text(id: acp_slice, out: *mut acp_slice) -> acp_status {
    // SAFETY: the caller keeps what the header says of `id` and `out`.
    unsafe { find(id, out, |rule| rule.text.into()) }
}

/// How binding the specification makes a rule (`ACP_LEVEL_…`).
#[no_mangle]
pub unsafe extern "C" fn acp_rule_level(id: acp_slice, out: *mut i32) -> acp_status {
    // SAFETY: the caller keeps what the header says of `id` and `out`.
    unsafe { find(id, out, |rule| rule.level.number()) }
}

/// How bad it is when a peer breaks a rule (`ACP_SEVERITY_…`).
#[no_mangle]
pub unsafe extern "C" fn acp_rule_severity(id: acp_slice, out: *mut i32) -> acp_status {
    // SAFETY: the caller keeps what the header says of `id` and `out`.
    unsafe { find(id, out, |rule| rule.severity.number()) }
}
