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
    ACP_LIMIT_TERMINALS, ACP_NEVER, ACP_UNSET,
};

const POLICIES: &[Policy] = &[Policy::Tolerant, Policy::Strict, Policy::Off];
const SEVERITIES: &[Severity] = &[Severity::Note, Severity::Warning, Severity::Error];

/// What a host decides before a connection begins.
pub struct acp_config {
    pub(crate) core: Config,
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
        _ => return None,
    })
}

/// Milliseconds, unless the number says that there are none.
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
        _ => return Err(ACP_INVALID_ARGUMENT),
    }
    Ok(())
}

/// The defaults for a role (`ACP_ROLE_…`): lines, tolerant, version 1, no drafts, no time-out, ten seconds to
/// answer what was cancelled, no reminders. The caller owns `*out` and frees it with `acp_config_free`.
#[no_mangle]
#[must_use]
pub unsafe extern "C" fn acp_config_new(role: i32, out: *mut *mut acp_config) -> acp_status {
    // SAFETY: the caller keeps what the header says of `out`.
    unsafe { make(out, || Ok(acp_config { core: Config::new(known(&[Role::Client, Role::Agent], role)?) })) }
}

/// Frees a configuration. Connections that were made with it are not concerned.
#[no_mangle]
pub unsafe extern "C" fn acp_config_free(config: *mut acp_config) {
    // SAFETY: the caller keeps what the header says of `config`.
    unsafe { free(config) }
}

/// How messages are told apart on the transport (`ACP_FRAMING_…`).
#[no_mangle]
pub unsafe extern "C" fn acp_config_set_framing(config: *mut acp_config, framing: i32) -> acp_status {
    // SAFETY: the caller keeps what the header says of `config`.
    unsafe {
        change(config, |config| {
            config.core.framing = known(&[Framing::Lines, Framing::ContentLength, Framing::Messages], framing)?;
            Ok(())
        })
    }
}

/// What happens to messages that break a rule (`ACP_POLICY_…`).
#[no_mangle]
pub unsafe extern "C" fn acp_config_set_policy(config: *mut acp_config, policy: i32) -> acp_status {
    // SAFETY: the caller keeps what the header says of `config`.
    unsafe {
        change(config, |config| {
            config.core.policy = known(POLICIES, policy)?;
            Ok(())
        })
    }
}

/// Another policy (`ACP_POLICY_…`) for the rules of one severity (`ACP_SEVERITY_…`).
#[no_mangle]
pub unsafe extern "C" fn acp_config_set_policy_for(config: *mut acp_config, severity: i32, policy: i32) -> acp_status {
    // SAFETY: the caller keeps what the header says of `config`.
    unsafe {
        change(config, |config| {
            let severity = known(SEVERITIES, severity)?;
            config.core.policies[severity as usize] = Some(known(POLICIES, policy)?);
            Ok(())
        })
    }
}

/// Takes back what `acp_config_set_policy_for` set: the rules of this severity follow `acp_config_set_policy` again.
#[no_mangle]
pub unsafe extern "C" fn acp_config_clear_policy_for(config: *mut acp_config, severity: i32) -> acp_status {
    // SAFETY: the caller keeps what the header says of `config`.
    unsafe {
        change(config, |config| {
            config.core.policies[known(SEVERITIES, severity)? as usize] = None;
            Ok(())
        })
    }
}

/// A bound (`ACP_LIMIT_…`) that holds whatever the peer sends.
#[no_mangle]
pub unsafe extern "C" fn acp_config_set_limit(config: *mut acp_config, limit: i32, value: u64) -> acp_status {
    // SAFETY: the caller keeps what the header says of `config`.
    unsafe { change(config, |config| set_limit(&mut config.core.limits, limit, value)) }
}

/// The versions of the protocol that may be agreed on, in any order: 1 where nothing sets it. `ACP_INVALID_ARGUMENT` when
/// `count` is 0, and when a number is no version that the library speaks.
#[no_mangle]
pub unsafe extern "C" fn acp_config_set_versions(
    config: *mut acp_config,
    versions: *const u16,
    count: usize,
) -> acp_status {
    // SAFETY: the caller keeps what the header says of `config`, and `versions` points to `count` numbers.
    unsafe {
        change(config, |config| {
            let numbers = items(versions, count)?.iter().map(|&number| number.into());
            config.core.versions = Versions::of(numbers).map_err(|_| ACP_INVALID_ARGUMENT)?;
            Ok(())
        })
    }
}

/// Switches a draft of the protocol on (`ACP_DRAFT_…`); `ACP_INVALID_ARGUMENT` when there is none of this name.
#[no_mangle]
pub unsafe extern "C" fn acp_config_set_draft(config: *mut acp_config, name: acp_slice) -> acp_status {
    // SAFETY: the caller keeps what the header says of `config` and `name`.
    unsafe { change(config, |config| config.core.draft(name.text()?).map_err(|_| ACP_INVALID_ARGUMENT)) }
}

/// Milliseconds after which a request of the host's own fails, unless the call says otherwise; `ACP_UNSET` and
/// `ACP_NEVER` wait for ever.
#[no_mangle]
pub unsafe extern "C" fn acp_config_set_timeout(config: *mut acp_config, milliseconds: u64) -> acp_status {
    // SAFETY: the caller keeps what the header says of `config`.
    unsafe {
        change(config, |config| {
            config.core.timeout = self::milliseconds(milliseconds);
            Ok(())
        })
    }
}

/// Milliseconds that the peer has to answer a request after `acp_connection_cancel` (10,000 by default). Then the request
/// ends with `ACP_RESPONSE_CANCELLED`, and an answer that still comes is an `ACP_EVENT_LATE_RESPONSE`. `ACP_UNSET` and
/// `ACP_NEVER` wait for ever.
#[no_mangle]
pub unsafe extern "C" fn acp_config_set_cancel_grace(config: *mut acp_config, milliseconds: u64) -> acp_status {
    // SAFETY: the caller keeps what the header says of `config`.
    unsafe {
        change(config, |config| {
            config.core.cancel_grace = self::milliseconds(milliseconds);
            Ok(())
        })
    }
}

/// Milliseconds after which the host is reminded, once, of a request of the peer's that it has not answered: an
/// `ACP_EVENT_ADVICE` of the rule RPC-15 with the method and the id. `ACP_UNSET` and `ACP_NEVER` remind of nothing.
#[no_mangle]
pub unsafe extern "C" fn acp_config_set_reminder(config: *mut acp_config, milliseconds: u64) -> acp_status {
    // SAFETY: the caller keeps what the header says of `config`.
    unsafe {
        change(config, |config| {
            config.core.reminder = self::milliseconds(milliseconds);
            Ok(())
        })
    }
}

/// Whether a session may have several prompts at once (TURN-03), for agents that queue prompts: a client's further prompts
/// go out with an `ACP_EVENT_ADVICE` instead of misuse, an agent's are delivered without a violation. The turn ends with
/// the last answer.
#[no_mangle]
pub unsafe extern "C" fn acp_config_set_prompt_queueing(config: *mut acp_config, allowed: bool) -> acp_status {
    // SAFETY: the caller keeps what the header says of `config`.
    unsafe {
        change(config, |config| {
            config.core.prompt_queueing = allowed;
            Ok(())
        })
    }
}

/// Names a method that some peers have although it is neither the specification's nor begins with an underscore (EXT-07): it
/// is then sent and delivered like an extension's. `ACP_INVALID_ARGUMENT` when such a method can be no peer's own, or the
/// name is empty or longer than 4,096 bytes.
#[no_mangle]
pub unsafe extern "C" fn acp_config_set_foreign_method(config: *mut acp_config, name: acp_slice) -> acp_status {
    // SAFETY: the caller keeps what the header says of `config` and `name`.
    unsafe { change(config, |config| config.core.foreign_method(name.text()?).map_err(|_| ACP_INVALID_ARGUMENT)) }
}

/// The side that the host plays.
#[no_mangle]
pub unsafe extern "C" fn acp_config_role(config: *const acp_config, out: *mut i32) -> acp_status {
    // SAFETY: the caller keeps what the header says of `config` and `out`.
    unsafe { read(config, out, |config| Some(config.core.role.number())) }
}

/// What `acp_config_set_framing` set.
#[no_mangle]
pub unsafe extern "C" fn acp_config_framing(config: *const acp_config, out: *mut i32) -> acp_status {
    // SAFETY: the caller keeps what the header says of `config` and `out`.
    unsafe { read(config, out, |config| Some(config.core.framing.number())) }
}

/// What `acp_config_set_policy` set.
#[no_mangle]
pub unsafe extern "C" fn acp_config_policy(config: *const acp_config, out: *mut i32) -> acp_status {
    // SAFETY: the caller keeps what the header says of `config` and `out`.
    unsafe { read(config, out, |config| Some(config.core.policy.number())) }
}

/// What `acp_config_set_policy_for` set for this severity; `ACP_NONE` when its rules follow `acp_config_set_policy`.
#[no_mangle]
pub unsafe extern "C" fn acp_config_policy_for(config: *const acp_config, severity: i32, out: *mut i32) -> acp_status {
    guard(|| {
        // SAFETY: the caller keeps what the header says of `config` and `out`.
        let config = unsafe { shared(config) }?;
        let policy = config.core.policies[known(SEVERITIES, severity)? as usize];
        // SAFETY: as above.
        unsafe { output(out, || policy.map(|policy| policy.number()).ok_or(ACP_NONE)) }
    })
}

/// What `acp_config_set_limit` set, or the default.
#[no_mangle]
pub unsafe extern "C" fn acp_config_limit(config: *const acp_config, limit: i32, out: *mut u64) -> acp_status {
    guard(|| {
        // SAFETY: the caller keeps what the header says of `config` and `out`.
        let config = unsafe { shared(config) }?;
        // SAFETY: as above.
        unsafe { output(out, || self::limit(&config.core.limits, limit).ok_or(ACP_INVALID_ARGUMENT)) }
    })
}

/// Whether a version of the protocol may be agreed on; false for a number that is no version.
#[no_mangle]
pub unsafe extern "C" fn acp_config_version(config: *const acp_config, version: u16, out: *mut bool) -> acp_status {
    // SAFETY: the caller keeps what the header says of `config` and `out`.
    unsafe { read(config, out, |config| Some(config.core.versions.contains(version))) }
}

/// Whether a draft is switched on; `ACP_INVALID_ARGUMENT` when there is none of this name.
#[no_mangle]
pub unsafe extern "C" fn acp_config_draft(config: *const acp_config, name: acp_slice, out: *mut bool) -> acp_status {
    guard(|| {
        // SAFETY: the caller keeps what the header says of `config`, `name` and `out`.
        let (config, name) = unsafe { (shared(config)?, name.text()?) };
        let index = DRAFTS.iter().position(|&draft| draft == name).ok_or(ACP_INVALID_ARGUMENT)?;
        // SAFETY: as above.
        unsafe { output(out, || Ok(config.core.drafts & (1 << (index + 1)) != 0)) }
    })
}

/// What `acp_config_set_timeout` set; `ACP_NONE` when requests wait for ever.
#[no_mangle]
pub unsafe extern "C" fn acp_config_timeout(config: *const acp_config, out: *mut u64) -> acp_status {
    // SAFETY: the caller keeps what the header says of `config` and `out`.
    unsafe { read(config, out, |config| config.core.timeout) }
}

/// What `acp_config_set_cancel_grace` set, or the default; `ACP_NONE` when cancelled requests wait for ever.
#[no_mangle]
pub unsafe extern "C" fn acp_config_cancel_grace(config: *const acp_config, out: *mut u64) -> acp_status {
    // SAFETY: the caller keeps what the header says of `config` and `out`.
    unsafe { read(config, out, |config| config.core.cancel_grace) }
}

/// What `acp_config_set_reminder` set; `ACP_NONE` when the host is reminded of nothing.
#[no_mangle]
pub unsafe extern "C" fn acp_config_reminder(config: *const acp_config, out: *mut u64) -> acp_status {
    // SAFETY: the caller keeps what the header says of `config` and `out`.
    unsafe { read(config, out, |config| config.core.reminder) }
}

/// What `acp_config_set_prompt_queueing` set.
#[no_mangle]
pub unsafe extern "C" fn acp_config_prompt_queueing(config: *const acp_config, out: *mut bool) -> acp_status {
    // SAFETY: the caller keeps what the header says of `config` and `out`.
    unsafe { read(config, out, |config| Some(config.core.prompt_queueing)) }
}

/// Whether `acp_config_set_foreign_method` has named this method.
#[no_mangle]
pub unsafe extern "C" fn acp_config_foreign_method(
    config: *const acp_config,
    name: acp_slice,
    out: *mut bool,
) -> acp_status {
    guard(|| {
        // SAFETY: the caller keeps what the header says of `config`, `name` and `out`.
        let (config, name) = unsafe { (shared(config)?, name.text()?) };
        // SAFETY: as above.
        unsafe { output(out, || Ok(config.core.foreign_methods().any(|known| known == name))) }
    })
}
