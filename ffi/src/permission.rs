//! Policies for requests for permission.

use std::os::raw::c_char;

use libacp::host::{Action, PermissionPolicy, PolicyError};
use libacp::json;

use crate::border::{
    acp_slice, acp_status, change, free, make, output, read, shared, Handle, ACP_INVALID_ARGUMENT, ACP_MISUSE, ACP_NONE,
};
use crate::connection::acp_connection;
use crate::numbers::{name, Names, Number};

/// Permission: the tool call may run, this once.
pub const ACP_PERMISSION_ALLOW: i32 = 1;
/// Permission: the tool call may not run.
pub const ACP_PERMISSION_DENY: i32 = 2;
/// Permission: the user decides.
pub const ACP_PERMISSION_ASK: i32 = 3;

const ACTIONS: Names = &[c"allow", c"deny", c"ask"];

impl Number for Action {
    fn number(&self) -> i32 {
        match self {
            Action::Allow => ACP_PERMISSION_ALLOW,
            Action::Deny => ACP_PERMISSION_DENY,
            Action::Ask => ACP_PERMISSION_ASK,
        }
    }
}

/// Returns the name of an `ACP_PERMISSION_…` constant as a static NUL-terminated string; "unknown" for any other number.
#[no_mangle]
pub extern "C" fn acp_permission_name(action: i32) -> *const c_char {
    name(ACTIONS, action)
}

/// Rules that decide requests for permission: allow, deny or ask.
pub struct acp_permission_policy {
    core: PermissionPolicy,
    /// What was wrong with the text that was read last.
    wrong: Option<PolicyError>,
    /// The decision, or the list of decisions, that is lent to the host.
    scratch: String,
    option: String,
}

impl Handle for acp_permission_policy {
    const TAG: u64 = u64::from_le_bytes(*b"acppolic");
}

/// Creates a policy that asks about everything.
///
/// - `*out`: the policy; the caller owns it and frees it with `acp_permission_policy_free`
/// - returns: `ACP_OK` or a general error
#[no_mangle]
#[must_use]
pub unsafe extern "C" fn acp_permission_policy_new(out: *mut *mut acp_permission_policy) -> acp_status {
    // SAFETY: `out` is as the header requires.
    unsafe {
        make(out, || {
            let core = PermissionPolicy::default();
            Ok(acp_permission_policy { core, wrong: None, scratch: String::new(), option: String::new() })
        })
    }
}

/// Frees a policy. Slices that came from it are not valid after that.
///
/// - `policy`: the policy; NULL is ignored
#[no_mangle]
pub unsafe extern "C" fn acp_permission_policy_free(policy: *mut acp_permission_policy) {
    // SAFETY: `policy` is as the header requires.
    unsafe { free(policy) }
}

/// Reads the rules of a policy. They take the place of those that it has, and decisions are forgotten.
///
/// The text is an object: `rules`, a list, of which the first rule that fits decides, and `otherwise`, the action if none
/// fits (`ask`). A rule has an `action` (`allow`, `deny` or `ask`) and, all of which must fit: `kind`, a kind of tools or a
/// list; `tool`, a pattern for the tool's name or a list, with `*` and `?`; `path`, a pattern for its paths or a list, whose
/// steps are compared one by one, with `**` for any number of them; `inRoots`, whether the paths are inside of the session's
/// directories. A rule that allows by path fits no command, and no tool call that tells no path.
///
/// - `policy`: the policy
/// - `json`: the JSON text
/// - returns: `ACP_OK`; `ACP_MISUSE` if it is no policy, and then `acp_permission_policy_error_pointer` and
///   `acp_permission_policy_error_message` say where and why; or a general error
#[no_mangle]
#[must_use]
pub unsafe extern "C" fn acp_permission_policy_read(policy: *mut acp_permission_policy, json: acp_slice) -> acp_status {
    // SAFETY: `policy` and `json` are as the header requires.
    unsafe {
        change(policy, |policy| {
            match PermissionPolicy::read(json.text()?) {
                Ok(core) => (policy.core, policy.wrong) = (core, None),
                Err(wrong) => {
                    policy.wrong = Some(wrong);
                    return Err(ACP_MISUSE);
                }
            }
            Ok(())
        })
    }
}

/// Gets the place of what was wrong with the text that was read last, as a JSON pointer.
///
/// - `policy`: the policy
/// - `*out`: the place; valid until the next call that changes the policy
/// - returns: `ACP_OK`; `ACP_NONE` if nothing was wrong; or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_permission_policy_error_pointer(
    policy: *const acp_permission_policy,
    out: *mut acp_slice,
) -> acp_status {
    // SAFETY: `policy` and `out` are as the header requires.
    unsafe { read(policy, out, |policy| policy.wrong.as_ref().map(|wrong| wrong.pointer.as_str().into())) }
}

/// Gets what was expected in place of what was wrong with the text that was read last.
///
/// - `policy`: the policy
/// - `*out`: one sentence; valid until the next call that changes the policy
/// - returns: `ACP_OK`; `ACP_NONE` if nothing was wrong; or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_permission_policy_error_message(
    policy: *const acp_permission_policy,
    out: *mut acp_slice,
) -> acp_status {
    // SAFETY: `policy` and `out` are as the header requires.
    unsafe { read(policy, out, |policy| policy.wrong.as_ref().map(|wrong| wrong.message.as_str().into())) }
}

/// Decides a `session/request_permission` that a client's connection has received. It sends nothing: answer with the
/// option, which may be empty (`acp_client_answer_permission`). An action that is
/// `ACP_PERMISSION_ASK` leaves the request to the user; without anybody to ask, reject it.
///
/// Only an option for this one call is chosen to allow it (`allow_once`); to deny it, `reject_once` before `reject_always`.
/// With a view (`acp_config_set_view`), the policy knows what was told of the tool call before; without one, it knows the
/// request alone. The paths are what the agent says: a policy saves the user questions, and holds no malicious agent.
///
/// - `policy`: the policy; it remembers its last 256 decisions
/// - `connection`: the client's connection; not changed
/// - `params`: the params of the request as JSON text
/// - `*action`: one of `ACP_PERMISSION_…`
/// - `*option`: the id of the option; empty where there is none
/// - `*decision`: the decision as JSON text: an object with `action`, `optionId` or null, `rule` (a JSON pointer into the
///   policy) or null, `reason`, `sessionId` and `toolCallId` or null. Both texts are valid until the next call that
///   changes the policy
/// - returns: `ACP_OK` or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_permission_policy_decide(
    policy: *mut acp_permission_policy,
    connection: *const acp_connection,
    params: acp_slice,
    action: *mut i32,
    option: *mut acp_slice,
    decision: *mut acp_slice,
) -> acp_status {
    // SAFETY: `policy`, `connection`, `params` and the outputs are as the header requires.
    unsafe {
        change(policy, |policy| {
            if action.is_null() || option.is_null() {
                return Err(ACP_INVALID_ARGUMENT);
            }
            let mut decided = None;
            output(decision, || {
                let found = policy.core.decide(shared(connection)?.core(), params.text()?);
                policy.scratch = found.to_json();
                policy.option = found.option.unwrap_or_default();
                decided = Some(found.action);
                Ok(policy.scratch.as_str().into())
            })?;
            output(action, || decided.map(|action| action.number()).ok_or(ACP_NONE))?;
            output(option, || Ok(policy.option.as_str().into()))
        })
    }
}

/// Gets the last 256 decisions, oldest first.
///
/// - `policy`: the policy
/// - `*out`: a JSON list of decisions as `acp_permission_policy_decide` has them; valid until the next call that changes
///   the policy, this one included
/// - returns: `ACP_OK` or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_permission_policy_decisions(
    policy: *mut acp_permission_policy,
    out: *mut acp_slice,
) -> acp_status {
    // SAFETY: `policy` and `out` are as the header requires.
    unsafe {
        change(policy, |policy| {
            output(out, || {
                policy.scratch = json::list(policy.core.decisions(), |out, decision| {
                    out.json(&decision.to_json());
                });
                Ok(policy.scratch.as_str().into())
            })
        })
    }
}
