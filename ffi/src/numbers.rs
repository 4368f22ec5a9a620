//! The constants of the interface, the core's values that they stand for, and their names.
//!
//! A number that a newer core may add and this interface does not know yet is 0; no constant is.

use std::ffi::CStr;
use std::os::raw::c_char;

use libacp::connection::{
    CloseReason, Consequence, Event, Login, MisuseKind, Outcome, Phase, Policy, Role, SessionState, Timing, Turn,
};
use libacp::framing::Framing;
use libacp::rules::{Level, Severity};

use crate::border::{
    acp_status, ACP_BAD_HANDLE, ACP_BUSY, ACP_INVALID_ARGUMENT, ACP_MISUSE, ACP_NONE, ACP_OK, ACP_PANIC,
    ACP_SHORT_BUFFER, ACP_WRITER_MISUSE, ACP_WRONG_TYPE,
};

/// No number: no time-out and no reminders in a configuration, the configuration's time-out in a call.
pub const ACP_UNSET: u64 = u64::MAX;
/// Never: a time-out for a call that waits for ever, whatever the configuration says.
pub const ACP_NEVER: u64 = u64::MAX - 1;

/// The host is the client.
pub const ACP_ROLE_CLIENT: i32 = 1;
/// The host is the agent.
pub const ACP_ROLE_AGENT: i32 = 2;

/// Framing: one message per line, as on standard input and output.
pub const ACP_FRAMING_LINES: i32 = 1;
/// Framing: `Content-Length` headers before each message.
pub const ACP_FRAMING_CONTENT_LENGTH: i32 = 2;
/// Framing: the transport keeps messages apart, as a WebSocket does.
pub const ACP_FRAMING_MESSAGES: i32 = 3;

/// Policy: what the tolerance rules can repair is repaired, delivered and reported.
pub const ACP_POLICY_TOLERANT: i32 = 1;
/// Policy: what breaks a rule is refused and reported.
pub const ACP_POLICY_STRICT: i32 = 2;
/// Policy: what breaks a rule and can be let through is let through and not reported.
pub const ACP_POLICY_OFF: i32 = 3;

/// Severity: odd, and harmless.
pub const ACP_SEVERITY_NOTE: i32 = 1;
/// Severity: wrong, but what was meant is clear.
pub const ACP_SEVERITY_WARNING: i32 = 2;
/// Severity: the message cannot be taken as it is.
pub const ACP_SEVERITY_ERROR: i32 = 3;

/// Level: MUST.
pub const ACP_LEVEL_MUST: i32 = 1;
/// Level: MUST NOT.
pub const ACP_LEVEL_MUST_NOT: i32 = 2;
/// Level: SHOULD.
pub const ACP_LEVEL_SHOULD: i32 = 3;
/// Level: SHOULD NOT.
pub const ACP_LEVEL_SHOULD_NOT: i32 = 4;
/// Level: MAY.
pub const ACP_LEVEL_MAY: i32 = 5;

/// Limit: bytes of one frame.
pub const ACP_LIMIT_FRAME: i32 = 1;
/// Limit: nesting of one frame.
pub const ACP_LIMIT_DEPTH: i32 = 2;
/// Limit: open requests in each direction.
pub const ACP_LIMIT_PENDING: i32 = 3;
/// Limit: sessions.
pub const ACP_LIMIT_SESSIONS: i32 = 4;
/// Limit: terminals of one session.
pub const ACP_LIMIT_TERMINALS: i32 = 5;
/// Limit: things of one kind that are remembered of one session beside terminals: tool calls, plans, compactions, modes.
pub const ACP_LIMIT_REMEMBERED: i32 = 6;

/// Phase: `initialize` has not been sent.
pub const ACP_PHASE_START: i32 = 1;
/// Phase: `initialize` has not been answered.
pub const ACP_PHASE_INITIALIZING: i32 = 2;
/// Phase: open.
pub const ACP_PHASE_READY: i32 = 3;
/// Phase: over.
pub const ACP_PHASE_CLOSED: i32 = 4;

/// Event: the peer asks; answer with `acp_connection_respond` or `acp_connection_respond_error`.
pub const ACP_EVENT_REQUEST: i32 = 1;
/// Event: the peer tells.
pub const ACP_EVENT_NOTIFICATION: i32 = 2;
/// Event: a request of the host's has ended.
pub const ACP_EVENT_RESPONSE: i32 = 3;
/// Event: the peer no longer wants an answer, which it must get all the same.
pub const ACP_EVENT_CANCEL: i32 = 4;
/// Event: the library has answered a request of the peer's in the host's place.
pub const ACP_EVENT_ANSWERED: i32 = 5;
/// Event: the peer broke a rule.
pub const ACP_EVENT_VIOLATION: i32 = 6;
/// Event: the connection is over; the last one.
pub const ACP_EVENT_CLOSED: i32 = 7;
/// Event: the host's own message went out, but it is odd; or an answer of the host's is overdue.
pub const ACP_EVENT_ADVICE: i32 = 8;
/// Event: the peer has answered a request of the host's that had ended with `ACP_RESPONSE_TIMEOUT` or
/// `ACP_RESPONSE_CANCELLED`. It has the members of a response; what it opened is open.
pub const ACP_EVENT_LATE_RESPONSE: i32 = 9;

/// Timing: inside a prompt turn.
pub const ACP_TIMING_TURN: i32 = 1;
/// Timing: the past, told again while a session is loaded.
pub const ACP_TIMING_REPLAY: i32 = 2;
/// Timing: no turn is running.
pub const ACP_TIMING_IDLE: i32 = 3;
/// Timing: not about a session.
pub const ACP_TIMING_NONE: i32 = 4;

/// A request ended with a result.
pub const ACP_RESPONSE_RESULT: i32 = 1;
/// A request ended with an error of the peer's.
pub const ACP_RESPONSE_ERROR: i32 = 2;
/// A request ended with an answer that cannot be used; a violation before it says why.
pub const ACP_RESPONSE_INVALID: i32 = 3;
/// A request ended without an answer in time.
pub const ACP_RESPONSE_TIMEOUT: i32 = 4;
/// A request ended with the connection.
pub const ACP_RESPONSE_CLOSED: i32 = 5;
/// A request was cancelled, and not answered in the time that `acp_config_set_cancel_grace` leaves.
pub const ACP_RESPONSE_CANCELLED: i32 = 6;

/// The message was delivered, if need be repaired.
pub const ACP_CONSEQUENCE_DELIVERED: i32 = 1;
/// The message was not delivered.
pub const ACP_CONSEQUENCE_DROPPED: i32 = 2;
/// The message was answered with an error.
pub const ACP_CONSEQUENCE_REFUSED: i32 = 3;

/// The peer closed its side.
pub const ACP_CLOSE_END_OF_STREAM: i32 = 1;
/// The host closed the connection.
pub const ACP_CLOSE_HOST: i32 = 2;
/// There is no common version of the protocol.
pub const ACP_CLOSE_VERSION: i32 = 3;

/// Misuse: too early, too late, or twice.
pub const ACP_MISUSE_PHASE: i32 = 1;
/// Misuse: no such method, or not from this side, or not in this form.
pub const ACP_MISUSE_METHOD: i32 = 2;
/// Misuse: the peer did not say that it can do this.
pub const ACP_MISUSE_CAPABILITY: i32 = 3;
/// Misuse: params, a result or an error that do not fit.
pub const ACP_MISUSE_PARAMS: i32 = 4;
/// Misuse: a session that is not open here.
pub const ACP_MISUSE_SESSION: i32 = 5;
/// Misuse: no open request is meant by this number or id.
pub const ACP_MISUSE_ID: i32 = 6;
/// Misuse: a limit of the configuration.
pub const ACP_MISUSE_LIMIT: i32 = 7;

/// Session: being loaded.
pub const ACP_SESSION_LOADING: i32 = 1;
/// Session: being resumed.
pub const ACP_SESSION_RESUMING: i32 = 2;
/// Session: open.
pub const ACP_SESSION_READY: i32 = 3;

/// Turn: the agent waits for a prompt.
pub const ACP_TURN_IDLE: i32 = 1;
/// Turn: the agent works on a prompt.
pub const ACP_TURN_RUNNING: i32 = 2;
/// Turn: the agent works on a prompt that the client has cancelled.
pub const ACP_TURN_CANCELLING: i32 = 3;
/// Turn: the agent cannot go on until the user has done something (version 2).
pub const ACP_TURN_REQUIRES_ACTION: i32 = 4;

/// Login: nothing has said whether the agent works for this user.
pub const ACP_LOGIN_UNKNOWN: i32 = 1;
/// Login: a call was refused for want of a login, or the user has logged out.
pub const ACP_LOGIN_REQUIRED: i32 = 2;
/// Login: a login has succeeded.
pub const ACP_LOGIN_DONE: i32 = 3;

/// JSON: `null`.
pub const ACP_JSON_NULL: i32 = 1;
/// JSON: `true` or `false`.
pub const ACP_JSON_BOOLEAN: i32 = 2;
/// JSON: a number.
pub const ACP_JSON_NUMBER: i32 = 3;
/// JSON: a string.
pub const ACP_JSON_STRING: i32 = 4;
/// JSON: a list.
pub const ACP_JSON_ARRAY: i32 = 5;
/// JSON: an object.
pub const ACP_JSON_OBJECT: i32 = 6;

/// A value of the core's that has a constant.
pub(crate) trait Number {
    fn number(&self) -> i32;
}

macro_rules! number {
    ($($ty:ty { $($pattern:pat => $constant:ident,)* })*) => { $(
        impl Number for $ty {
            fn number(&self) -> i32 {
                // Not every type has values beyond those that are listed.
                #[allow(unreachable_patterns)]
                match self { $($pattern => $constant,)* _ => 0 }
            }
        }
    )* };
}

number! {
    Role { Role::Client => ACP_ROLE_CLIENT, Role::Agent => ACP_ROLE_AGENT, }
    Framing {
        Framing::Lines => ACP_FRAMING_LINES,
        Framing::ContentLength => ACP_FRAMING_CONTENT_LENGTH,
        Framing::Messages => ACP_FRAMING_MESSAGES,
    }
    Policy {
        Policy::Tolerant => ACP_POLICY_TOLERANT,
        Policy::Strict => ACP_POLICY_STRICT,
        Policy::Off => ACP_POLICY_OFF,
    }
    Severity {
        Severity::Note => ACP_SEVERITY_NOTE,
        Severity::Warning => ACP_SEVERITY_WARNING,
        Severity::Error => ACP_SEVERITY_ERROR,
    }
    Level {
        Level::Must => ACP_LEVEL_MUST,
        Level::MustNot => ACP_LEVEL_MUST_NOT,
        Level::Should => ACP_LEVEL_SHOULD,
        Level::ShouldNot => ACP_LEVEL_SHOULD_NOT,
        Level::May => ACP_LEVEL_MAY,
    }
    Phase {
        Phase::Start => ACP_PHASE_START,
        Phase::Initializing => ACP_PHASE_INITIALIZING,
        Phase::Ready => ACP_PHASE_READY,
        Phase::Closed => ACP_PHASE_CLOSED,
    }
    Event {
        Event::Request(_) => ACP_EVENT_REQUEST,
        Event::Notification(_) => ACP_EVENT_NOTIFICATION,
        Event::Response(_) => ACP_EVENT_RESPONSE,
        Event::Cancel(_) => ACP_EVENT_CANCEL,
        Event::Answered(_) => ACP_EVENT_ANSWERED,
        Event::Violation(_) => ACP_EVENT_VIOLATION,
        Event::Closed(_) => ACP_EVENT_CLOSED,
        Event::Advice(_) => ACP_EVENT_ADVICE,
        Event::LateResponse(_) => ACP_EVENT_LATE_RESPONSE,
    }
    Timing {
        Timing::Turn => ACP_TIMING_TURN,
        Timing::Replay => ACP_TIMING_REPLAY,
        Timing::Idle => ACP_TIMING_IDLE,
        Timing::None => ACP_TIMING_NONE,
    }
    Outcome {
        Outcome::Result(_) => ACP_RESPONSE_RESULT,
        Outcome::Error(_) => ACP_RESPONSE_ERROR,
        Outcome::Invalid => ACP_RESPONSE_INVALID,
        Outcome::Timeout => ACP_RESPONSE_TIMEOUT,
        Outcome::Closed => ACP_RESPONSE_CLOSED,
        Outcome::Cancelled => ACP_RESPONSE_CANCELLED,
    }
    Consequence {
        Consequence::Delivered => ACP_CONSEQUENCE_DELIVERED,
        Consequence::Dropped => ACP_CONSEQUENCE_DROPPED,
        Consequence::Refused(_) => ACP_CONSEQUENCE_REFUSED,
    }
    CloseReason {
        CloseReason::EndOfStream => ACP_CLOSE_END_OF_STREAM,
        CloseReason::Host => ACP_CLOSE_HOST,
        CloseReason::Version => ACP_CLOSE_VERSION,
    }
    MisuseKind {
        MisuseKind::Phase => ACP_MISUSE_PHASE,
        MisuseKind::Method => ACP_MISUSE_METHOD,
        MisuseKind::Capability => ACP_MISUSE_CAPABILITY,
        MisuseKind::Params => ACP_MISUSE_PARAMS,
        MisuseKind::Session => ACP_MISUSE_SESSION,
        MisuseKind::Id => ACP_MISUSE_ID,
        MisuseKind::Limit => ACP_MISUSE_LIMIT,
    }
    SessionState {
        SessionState::Loading => ACP_SESSION_LOADING,
        SessionState::Resuming => ACP_SESSION_RESUMING,
        SessionState::Ready => ACP_SESSION_READY,
    }
    Login {
        Login::Unknown => ACP_LOGIN_UNKNOWN,
        Login::Required => ACP_LOGIN_REQUIRED,
        Login::Done => ACP_LOGIN_DONE,
    }
    Turn {
        Turn::Idle => ACP_TURN_IDLE,
        Turn::Running => ACP_TURN_RUNNING,
        Turn::Cancelling => ACP_TURN_CANCELLING,
        Turn::RequiresAction => ACP_TURN_REQUIRES_ACTION,
    }
}

type Names = &'static [&'static CStr];

/// The names of constants, from 1 on.
const ROLES: Names = &[c"client", c"agent"];
const PHASES: Names = &[c"start", c"initializing", c"ready", c"closed"];
const SEVERITIES: Names = &[c"note", c"warning", c"error"];
const LEVELS: Names = &[c"MUST", c"MUST NOT", c"SHOULD", c"SHOULD NOT", c"MAY"];
const EVENTS: Names = &[
    c"request",
    c"notification",
    c"response",
    c"cancel",
    c"answered",
    c"violation",
    c"closed",
    c"advice",
    c"late_response",
];
const TIMINGS: Names = &[c"turn", c"replay", c"idle", c"none"];
const RESPONSES: Names = &[c"result", c"error", c"invalid", c"timeout", c"closed", c"cancelled"];
const CONSEQUENCES: Names = &[c"delivered", c"dropped", c"refused"];
const CLOSINGS: Names = &[c"end_of_stream", c"host", c"version"];
const MISUSES: Names = &[c"phase", c"method", c"capability", c"params", c"session", c"id", c"limit"];
const SESSIONS: Names = &[c"loading", c"resuming", c"ready"];
const TURNS: Names = &[c"idle", c"running", c"cancelling", c"requires_action"];
const LOGINS: Names = &[c"unknown", c"required", c"done"];

fn name(names: Names, number: i32) -> *const c_char {
    let index = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
    index.and_then(|index| names.get(index)).unwrap_or(&c"unknown").as_ptr()
}

/// The name of a status, as a C string that is always there; `unknown` for what is none.
#[no_mangle]
pub extern "C" fn acp_status_name(status: acp_status) -> *const c_char {
    let name = match status {
        ACP_OK => c"ok",
        ACP_NONE => c"none",
        ACP_MISUSE => c"misuse",
        ACP_INVALID_ARGUMENT => c"invalid argument",
        ACP_WRONG_TYPE => c"wrong type",
        ACP_SHORT_BUFFER => c"short buffer",
        ACP_WRITER_MISUSE => c"writer misuse",
        ACP_PANIC => c"panic",
        ACP_BAD_HANDLE => c"bad handle",
        ACP_BUSY => c"busy",
        _ => c"unknown",
    };
    name.as_ptr()
}

/// The name of an `ACP_PHASE_…`, the same in every language; as above.
#[no_mangle]
pub extern "C" fn acp_phase_name(phase: i32) -> *const c_char {
    name(PHASES, phase)
}

/// The name of an `ACP_EVENT_…`; as above.
#[no_mangle]
pub extern "C" fn acp_event_kind_name(kind: i32) -> *const c_char {
    name(EVENTS, kind)
}

/// The name of an `ACP_SEVERITY_…`; as above.
#[no_mangle]
pub extern "C" fn acp_severity_name(severity: i32) -> *const c_char {
    name(SEVERITIES, severity)
}

/// The name of an `ACP_LEVEL_…`, as the specification writes it; as above.
#[no_mangle]
pub extern "C" fn acp_level_name(level: i32) -> *const c_char {
    name(LEVELS, level)
}

/// The name of an `ACP_TIMING_…`; as above.
#[no_mangle]
pub extern "C" fn acp_timing_name(timing: i32) -> *const c_char {
    name(TIMINGS, timing)
}

/// The name of an `ACP_RESPONSE_…`; as above.
#[no_mangle]
pub extern "C" fn acp_outcome_name(outcome: i32) -> *const c_char {
    name(RESPONSES, outcome)
}

/// The name of an `ACP_CONSEQUENCE_…`; as above.
#[no_mangle]
pub extern "C" fn acp_consequence_name(consequence: i32) -> *const c_char {
    name(CONSEQUENCES, consequence)
}

/// The name of an `ACP_CLOSE_…`; as above.
#[no_mangle]
pub extern "C" fn acp_close_reason_name(reason: i32) -> *const c_char {
    name(CLOSINGS, reason)
}

/// The name of an `ACP_MISUSE_…` (1 and up); as above.
#[no_mangle]
pub extern "C" fn acp_misuse_kind_name(kind: i32) -> *const c_char {
    name(MISUSES, kind)
}

/// The name of an `ACP_SESSION_…`; as above.
#[no_mangle]
pub extern "C" fn acp_session_state_name(state: i32) -> *const c_char {
    name(SESSIONS, state)
}

/// The name of an `ACP_TURN_…`; as above.
#[no_mangle]
pub extern "C" fn acp_turn_name(turn: i32) -> *const c_char {
    name(TURNS, turn)
}

/// The name of an `ACP_ROLE_…`; as above.
#[no_mangle]
pub extern "C" fn acp_role_name(role: i32) -> *const c_char {
    name(ROLES, role)
}

/// The name of an `ACP_LOGIN_…`; as above. One of them is `unknown` as well.
#[no_mangle]
pub extern "C" fn acp_login_name(login: i32) -> *const c_char {
    name(LOGINS, login)
}

#[cfg(test)]
mod tests {
    use super::*;
    use libacp::ErrorCode;
    use MisuseKind::{Capability, Id, Limit, Method, Params, Phase as TooEarly, Session};

    fn same<T: Number>(names: Names, values: &[(T, &str)]) {
        assert_eq!(names.len(), values.len());
        for (index, (value, name)) in values.iter().enumerate() {
            assert_eq!(value.number(), i32::try_from(index).unwrap() + 1, "{name}");
            assert_eq!(names[index].to_str().unwrap(), *name);
        }
    }

    macro_rules! named {
        ($($value:expr),* $(,)?) => { &[$(($value, $value.name())),*] };
    }

    #[test]
    fn names_are_the_cores() {
        same(PHASES, named![Phase::Start, Phase::Initializing, Phase::Ready, Phase::Closed]);
        same(SEVERITIES, named![Severity::Note, Severity::Warning, Severity::Error]);
        same(LEVELS, named![Level::Must, Level::MustNot, Level::Should, Level::ShouldNot, Level::May]);
        same(TIMINGS, named![Timing::Turn, Timing::Replay, Timing::Idle, Timing::None]);
        let refused = Consequence::Refused(ErrorCode::PARSE_ERROR);
        same(CONSEQUENCES, named![Consequence::Delivered, Consequence::Dropped, refused]);
        same(CLOSINGS, named![CloseReason::EndOfStream, CloseReason::Host, CloseReason::Version]);
        same(MISUSES, named![TooEarly, Method, Capability, Params, Session, Id, Limit]);
        same(SESSIONS, named![SessionState::Loading, SessionState::Resuming, SessionState::Ready]);
        same(ROLES, named![Role::Client, Role::Agent]);
        same(LOGINS, named![Login::Unknown, Login::Required, Login::Done]);
        same(TURNS, named![Turn::Idle, Turn::Running, Turn::Cancelling, Turn::RequiresAction]);
        // Results and errors of peers come from inside the core; the vectors check their names.
        let outcomes = named![Outcome::Invalid, Outcome::Timeout, Outcome::Closed, Outcome::Cancelled];
        assert!(outcomes.iter().all(|(outcome, name)| {
            let index = usize::try_from(outcome.number()).unwrap() - 1;
            RESPONSES[index].to_str() == Ok(name)
        }));
    }
}
