//! The configuration of a connection.

use libacp::connection::{Limits, Policy, Role, Versions};
use libacp::framing::Framing;
use libacp::rules::Severity;
use libacp::schema::drafts::DRAFTS;
use libacp::Config;

use crate::border::{
    acp_slice, acp_status, change, free, guard, items, make, output, read, shared, Handle, ACP_INVALID_ARGUMENT,
    ACP_NONE,
};
use crate::numbers::{
    Number, ACP_LIMIT_DEPTH, ACP_LIMIT_FRAME, ACP_LIMIT_PENDING, ACP_LIMIT_REMEMBERED, ACP_LIMIT_SESSIONS,
    ACP_LIMIT_TERMINALS, ACP_LIMIT_VIEW_BYTES, ACP_LIMIT_VIEW_CONTENT, ACP_LIMIT_VIEW_ENTRIES, ACP_LIMIT_VIEW_OUTPUT,
    ACP_NEVER, ACP_UNSET,
};

const POLICIES: &[Policy] = &[Policy::Tolerant, Policy::Strict, Policy::Off];
const SEVERITIES: &[Severity] = &[Severity::Note, Severity::Warning, Severity::Error];

/// The settings that a connection starts with.
pub struct acp_config {
    pub(crate) core: Config,
    /// The methods that have handlers, if the connection is to speak the words of version 1 in both versions.
    pub(crate) handlers: Option<Vec<String>>,
}

impl acp_config {
    pub(crate) fn of(core: Config) -> Self {
        acp_config { core, handlers: None }
    }
}

impl Handle for acp_config {
    const TAG: u64 = u64::from_le_bytes(*b"acpconfi");
}

pub(crate) fn known<T: Number + Copy>(values: &[T], number: i32) -> Result<T, acp_status> {
    values.iter().copied().find(|value| value.number() == number).ok_or(ACP_INVALID_ARGUMENT)
}

fn limit(limits: &Limits, which: i32) -> Option<u64> {
    Some(match which {
        ACP_LIMIT_FRAME => limits.frame as u64,
        ACP_LIMIT_DEPTH => limits.depth.into(),
        ACP_LIMIT_PENDING => limits.pending as u64,
        ACP_LIMIT_SESSIONS => limits.sessions as u64,
        ACP_LIMIT_TERMINALS => limits.terminals as u64,
        ACP_LIMIT_REMEMBERED => limits.remembered as u64,
        ACP_LIMIT_VIEW_ENTRIES => limits.view_entries as u64,
        ACP_LIMIT_VIEW_BYTES => limits.view_bytes as u64,
        ACP_LIMIT_VIEW_CONTENT => limits.view_content as u64,
        ACP_LIMIT_VIEW_OUTPUT => limits.view_output as u64,
        _ => return None,
    })
}

/// `None` for the two numbers that stand for no time limit.
fn milliseconds(number: u64) -> Option<u64> {
    (number != ACP_UNSET && number != ACP_NEVER).then_some(number)
}

fn set_limit(limits: &mut Limits, which: i32, value: u64) -> Result<(), acp_status> {
    let count = || usize::try_from(value).map_err(|_| ACP_INVALID_ARGUMENT);
    match which {
        ACP_LIMIT_FRAME => limits.frame = count()?,
        ACP_LIMIT_DEPTH => limits.depth = u32::try_from(value).map_err(|_| ACP_INVALID_ARGUMENT)?,
        ACP_LIMIT_PENDING => limits.pending = count()?,
        ACP_LIMIT_SESSIONS => limits.sessions = count()?,
        ACP_LIMIT_TERMINALS => limits.terminals = count()?,
        ACP_LIMIT_REMEMBERED => limits.remembered = count()?,
        ACP_LIMIT_VIEW_ENTRIES => limits.view_entries = count()?,
        ACP_LIMIT_VIEW_BYTES => limits.view_bytes = count()?,
        ACP_LIMIT_VIEW_CONTENT => limits.view_content = count()?,
        ACP_LIMIT_VIEW_OUTPUT => limits.view_output = count()?,
        _ => return Err(ACP_INVALID_ARGUMENT),
    }
    Ok(())
}

/// Creates a configuration with the defaults: framing `ACP_FRAMING_LINES`, policy `ACP_POLICY_TOLERANT`, protocol
/// version 1, no drafts, the default limits, no time-out, ten seconds of grace for cancelled requests, no reminders,
/// one prompt at a time.
///
/// - `role`: the host's side, one of `ACP_ROLE_…`
/// - `*out`: the configuration; the caller owns it and frees it with `acp_config_free`
/// - returns: `ACP_OK`; `ACP_INVALID_ARGUMENT` if `role` is not listed; or a general error
#[no_mangle]
#[must_use]
pub unsafe extern "C" fn acp_config_new(role: i32, out: *mut *mut acp_config) -> acp_status {
    // SAFETY: `out` is as the header requires.
    unsafe { make(out, || Ok(acp_config::of(Config::new(known(&[Role::Client, Role::Agent], role)?)))) }
}

/// Frees a configuration. Connections that were created from it are not affected.
///
/// - `config`: the configuration; NULL is ignored
#[no_mangle]
pub unsafe extern "C" fn acp_config_free(config: *mut acp_config) {
    // SAFETY: `config` is as the header requires.
    unsafe { free(config) }
}

/// Sets how messages are separated on the transport.
///
/// - `config`: the configuration
/// - `framing`: one of `ACP_FRAMING_…`
/// - returns: `ACP_OK`; `ACP_INVALID_ARGUMENT` if `framing` is not listed; or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_config_set_framing(config: *mut acp_config, framing: i32) -> acp_status {
    // SAFETY: `config` is as the header requires.
    unsafe {
        change(config, |config| {
            config.core.framing = known(&[Framing::Lines, Framing::ContentLength, Framing::Messages], framing)?;
            Ok(())
        })
    }
}

/// Sets what happens to a message of the peer that breaks a rule.
///
/// - `config`: the configuration
/// - `policy`: one of `ACP_POLICY_…`
/// - returns: `ACP_OK`; `ACP_INVALID_ARGUMENT` if `policy` is not listed; or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_config_set_policy(config: *mut acp_config, policy: i32) -> acp_status {
    // SAFETY: `config` is as the header requires.
    unsafe {
        change(config, |config| {
            config.core.policy = known(POLICIES, policy)?;
            Ok(())
        })
    }
}

/// Sets another policy for the rules of one severity.
///
/// The policy for notes also applies to the host: `ACP_POLICY_STRICT` reports what is merely recommended as
/// `ACP_EVENT_ADVICE`; `ACP_POLICY_OFF` lets the host send members that the specification does not have, as a proxy
/// must.
///
/// - `config`: the configuration
/// - `severity`: one of `ACP_SEVERITY_…`
/// - `policy`: one of `ACP_POLICY_…`
/// - returns: `ACP_OK`; `ACP_INVALID_ARGUMENT` if `severity` or `policy` is not listed; or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_config_set_policy_for(config: *mut acp_config, severity: i32, policy: i32) -> acp_status {
    // SAFETY: `config` is as the header requires.
    unsafe {
        change(config, |config| {
            let severity = known(SEVERITIES, severity)?;
            config.core.policies[severity as usize] = Some(known(POLICIES, policy)?);
            Ok(())
        })
    }
}

/// Undoes `acp_config_set_policy_for`: the rules of this severity follow `acp_config_set_policy` again.
///
/// - `config`: the configuration
/// - `severity`: one of `ACP_SEVERITY_…`
/// - returns: `ACP_OK`; `ACP_INVALID_ARGUMENT` if `severity` is not listed; or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_config_clear_policy_for(config: *mut acp_config, severity: i32) -> acp_status {
    // SAFETY: `config` is as the header requires.
    unsafe {
        change(config, |config| {
            config.core.policies[known(SEVERITIES, severity)? as usize] = None;
            Ok(())
        })
    }
}

/// Sets a limit that holds whatever the peer sends.
///
/// - `config`: the configuration
/// - `limit`: one of `ACP_LIMIT_…`
/// - `value`: the limit, in the unit that the constant names
/// - returns: `ACP_OK`; `ACP_INVALID_ARGUMENT` if `limit` is not listed, or `value` does not fit a `size_t` (for
///   `ACP_LIMIT_DEPTH`: a `uint32_t`); or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_config_set_limit(config: *mut acp_config, limit: i32, value: u64) -> acp_status {
    // SAFETY: `config` is as the header requires.
    unsafe { change(config, |config| set_limit(&mut config.core.limits, limit, value)) }
}

/// Sets the protocol versions that may be agreed on. Version 1 alone is the default.
///
/// - `config`: the configuration
/// - `versions`: `count` version numbers in any order; copied
/// - `count`: how many numbers there are
/// - returns: `ACP_OK`; `ACP_INVALID_ARGUMENT` if `count` is 0 or the library does not support one of the versions; or
///   a general error
#[no_mangle]
pub unsafe extern "C" fn acp_config_set_versions(
    config: *mut acp_config,
    versions: *const u16,
    count: usize,
) -> acp_status {
    // SAFETY: `config`, and `versions` points to `count` numbers are as the header requires.
    unsafe {
        change(config, |config| {
            let numbers = items(versions, count)?.iter().map(|&number| number.into());
            config.core.versions = Versions::of(numbers).map_err(|_| ACP_INVALID_ARGUMENT)?;
            Ok(())
        })
    }
}

/// Enables a draft of the protocol. There is no way to disable it again.
///
/// - `config`: the configuration
/// - `name`: the draft's name, one of `ACP_DRAFT_…`
/// - returns: `ACP_OK`; `ACP_INVALID_ARGUMENT` if no draft has this name; or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_config_set_draft(config: *mut acp_config, name: acp_slice) -> acp_status {
    // SAFETY: `config` and `name` are as the header requires.
    unsafe { change(config, |config| config.core.draft(name.text()?).map_err(|_| ACP_INVALID_ARGUMENT)) }
}

/// Sets after how long one of the host's requests ends with `ACP_RESPONSE_TIMEOUT`, unless the call sets its own
/// time-out.
///
/// - `config`: the configuration
/// - `milliseconds`: the time-out; `ACP_UNSET` or `ACP_NEVER` for none, which is the default
/// - returns: `ACP_OK` or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_config_set_timeout(config: *mut acp_config, milliseconds: u64) -> acp_status {
    // SAFETY: `config` is as the header requires.
    unsafe {
        change(config, |config| {
            config.core.timeout = self::milliseconds(milliseconds);
            Ok(())
        })
    }
}

/// Sets how long the peer has to answer a request after `acp_connection_cancel`. Then the request ends with
/// `ACP_RESPONSE_CANCELLED`, and an answer that still arrives is an `ACP_EVENT_LATE_RESPONSE`.
///
/// - `config`: the configuration
/// - `milliseconds`: the grace period, 10,000 by default; `ACP_UNSET` or `ACP_NEVER` to wait for the answer without a
///   limit
/// - returns: `ACP_OK` or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_config_set_cancel_grace(config: *mut acp_config, milliseconds: u64) -> acp_status {
    // SAFETY: `config` is as the header requires.
    unsafe {
        change(config, |config| {
            config.core.cancel_grace = self::milliseconds(milliseconds);
            Ok(())
        })
    }
}

/// Sets after how long the host is reminded, once, of a request of the peer that it has not answered: an
/// `ACP_EVENT_ADVICE` of the rule RPC-15 with the method and the id.
///
/// - `config`: the configuration
/// - `milliseconds`: the delay; `ACP_UNSET` or `ACP_NEVER` for no reminders, which is the default
/// - returns: `ACP_OK` or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_config_set_reminder(config: *mut acp_config, milliseconds: u64) -> acp_status {
    // SAFETY: `config` is as the header requires.
    unsafe {
        change(config, |config| {
            config.core.reminder = self::milliseconds(milliseconds);
            Ok(())
        })
    }
}

/// Sets whether a session may have several prompts at once (rule TURN-03), for agents that queue prompts. If so, a
/// client's further prompts are sent, with an `ACP_EVENT_ADVICE` instead of a misuse, and an agent receives them
/// without a violation. The turn ends with the last answer.
///
/// - `config`: the configuration
/// - `allowed`: whether to allow it; false is the default
/// - returns: `ACP_OK` or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_config_set_prompt_queueing(config: *mut acp_config, allowed: bool) -> acp_status {
    // SAFETY: `config` is as the header requires.
    unsafe {
        change(config, |config| {
            config.core.prompt_queueing = allowed;
            Ok(())
        })
    }
}

/// Sets whether the connection, or the observer, keeps a view of each session: the conversation as a client shows it, for
/// `acp_connection_view` and `acp_observer_view`.
///
/// - `config`: the configuration
/// - `kept`: whether to keep views; false is the default, and costs nothing
/// - returns: `ACP_OK` or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_config_set_view(config: *mut acp_config, kept: bool) -> acp_status {
    // SAFETY: `config` is as the header requires.
    unsafe {
        change(config, |config| {
            config.core.view = kept;
            Ok(())
        })
    }
}

/// Allows a method that neither the specification defines nor begins with an underscore (rule EXT-07). It is then sent
/// and delivered like an extension's method. Can be called for several methods.
///
/// - `config`: the configuration
/// - `name`: the method's name, 1 to 4,096 bytes
/// - returns: `ACP_OK`; `ACP_INVALID_ARGUMENT` if the length is wrong, or the name begins with "_", "rpc." or "$/", or
///   belongs to the specification or a draft; or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_config_set_foreign_method(config: *mut acp_config, name: acp_slice) -> acp_status {
    // SAFETY: `config` and `name` are as the header requires.
    unsafe { change(config, |config| config.core.foreign_method(name.text()?).map_err(|_| ACP_INVALID_ARGUMENT)) }
}

/// Gets the side that the host plays.
///
/// - `config`: the configuration
/// - `*out`: one of `ACP_ROLE_…`
/// - returns: `ACP_OK` or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_config_role(config: *const acp_config, out: *mut i32) -> acp_status {
    // SAFETY: `config` and `out` are as the header requires.
    unsafe { read(config, out, |config| Some(config.core.role.number())) }
}

/// Gets how messages are separated on the transport.
///
/// - `config`: the configuration
/// - `*out`: one of `ACP_FRAMING_…`
/// - returns: `ACP_OK` or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_config_framing(config: *const acp_config, out: *mut i32) -> acp_status {
    // SAFETY: `config` and `out` are as the header requires.
    unsafe { read(config, out, |config| Some(config.core.framing.number())) }
}

/// Gets the policy for rules of severities that have no policy of their own.
///
/// - `config`: the configuration
/// - `*out`: one of `ACP_POLICY_…`
/// - returns: `ACP_OK` or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_config_policy(config: *const acp_config, out: *mut i32) -> acp_status {
    // SAFETY: `config` and `out` are as the header requires.
    unsafe { read(config, out, |config| Some(config.core.policy.number())) }
}

/// Gets the policy that `acp_config_set_policy_for` set for one severity.
///
/// - `config`: the configuration
/// - `severity`: one of `ACP_SEVERITY_…`
/// - `*out`: one of `ACP_POLICY_…`
/// - returns: `ACP_OK`; `ACP_NONE` if the severity has no policy of its own; `ACP_INVALID_ARGUMENT` if `severity` is
///   not listed; or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_config_policy_for(config: *const acp_config, severity: i32, out: *mut i32) -> acp_status {
    guard(|| {
        // SAFETY: `config` and `out` are as the header requires.
        let config = unsafe { shared(config) }?;
        let policy = config.core.policies[known(SEVERITIES, severity)? as usize];
        // SAFETY: as above.
        unsafe { output(out, || policy.map(|policy| policy.number()).ok_or(ACP_NONE)) }
    })
}

/// Gets a limit.
///
/// - `config`: the configuration
/// - `limit`: one of `ACP_LIMIT_…`
/// - `*out`: the limit that was set, or the default
/// - returns: `ACP_OK`; `ACP_INVALID_ARGUMENT` if `limit` is not listed; or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_config_limit(config: *const acp_config, limit: i32, out: *mut u64) -> acp_status {
    guard(|| {
        // SAFETY: `config` and `out` are as the header requires.
        let config = unsafe { shared(config) }?;
        // SAFETY: as above.
        unsafe { output(out, || self::limit(&config.core.limits, limit).ok_or(ACP_INVALID_ARGUMENT)) }
    })
}

/// Gets whether a protocol version may be agreed on.
///
/// - `config`: the configuration
/// - `version`: the version number
/// - `*out`: whether it may; false for a version that the library does not support
/// - returns: `ACP_OK` or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_config_version(config: *const acp_config, version: u16, out: *mut bool) -> acp_status {
    // SAFETY: `config` and `out` are as the header requires.
    unsafe { read(config, out, |config| Some(config.core.versions.contains(version))) }
}

/// Gets whether a draft is enabled.
///
/// - `config`: the configuration
/// - `name`: the draft's name, one of `ACP_DRAFT_…`
/// - `*out`: whether it is enabled
/// - returns: `ACP_OK`; `ACP_INVALID_ARGUMENT` if no draft has this name; or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_config_draft(config: *const acp_config, name: acp_slice, out: *mut bool) -> acp_status {
    guard(|| {
        // SAFETY: `config`, `name` and `out` are as the header requires.
        let (config, name) = unsafe { (shared(config)?, name.text()?) };
        let index = DRAFTS.iter().position(|&draft| draft == name).ok_or(ACP_INVALID_ARGUMENT)?;
        // SAFETY: as above.
        unsafe { output(out, || Ok(config.core.drafts & (1 << (index + 1)) != 0)) }
    })
}

/// Gets the time-out of the host's requests.
///
/// - `config`: the configuration
/// - `*out`: milliseconds
/// - returns: `ACP_OK`; `ACP_NONE` if there is no time-out; or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_config_timeout(config: *const acp_config, out: *mut u64) -> acp_status {
    // SAFETY: `config` and `out` are as the header requires.
    unsafe { read(config, out, |config| config.core.timeout) }
}

/// Gets how long the peer has to answer a cancelled request.
///
/// - `config`: the configuration
/// - `*out`: milliseconds
/// - returns: `ACP_OK`; `ACP_NONE` if there is no limit; or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_config_cancel_grace(config: *const acp_config, out: *mut u64) -> acp_status {
    // SAFETY: `config` and `out` are as the header requires.
    unsafe { read(config, out, |config| config.core.cancel_grace) }
}

/// Gets after how long the host is reminded of a request that it has not answered.
///
/// - `config`: the configuration
/// - `*out`: milliseconds
/// - returns: `ACP_OK`; `ACP_NONE` if there are no reminders; or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_config_reminder(config: *const acp_config, out: *mut u64) -> acp_status {
    // SAFETY: `config` and `out` are as the header requires.
    unsafe { read(config, out, |config| config.core.reminder) }
}

/// Gets whether a session may have several prompts at once.
///
/// - `config`: the configuration
/// - `*out`: whether it may
/// - returns: `ACP_OK` or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_config_prompt_queueing(config: *const acp_config, out: *mut bool) -> acp_status {
    // SAFETY: `config` and `out` are as the header requires.
    unsafe { read(config, out, |config| Some(config.core.prompt_queueing)) }
}

/// Gets whether views are kept.
///
/// - `config`: the configuration
/// - `*out`: whether they are
/// - returns: `ACP_OK` or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_config_view(config: *const acp_config, out: *mut bool) -> acp_status {
    // SAFETY: `config` and `out` are as the header requires.
    unsafe { read(config, out, |config| Some(config.core.view)) }
}

/// Gets whether `acp_config_set_foreign_method` has allowed a method.
///
/// - `config`: the configuration
/// - `name`: the method's name
/// - `*out`: whether it is allowed
/// - returns: `ACP_OK` or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_config_foreign_method(
    config: *const acp_config,
    name: acp_slice,
    out: *mut bool,
) -> acp_status {
    guard(|| {
        // SAFETY: `config`, `name` and `out` are as the header requires.
        let (config, name) = unsafe { (shared(config)?, name.text()?) };
        // SAFETY: as above.
        unsafe { output(out, || Ok(config.core.foreign_methods().any(|known| known == name))) }
    })
}
