//! The constants of the interface, the values of the core that they stand for, and their names.
//!
//! A value that a newer core adds and that has no constant here yet is reported as 0. No constant is 0.

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

/// No value. In a configuration: no time-out, no grace period or no reminders. In a call: the time-out of the
/// configuration.
pub const ACP_UNSET: u64 = u64::MAX;
/// No time-out, whatever the configuration says.
pub const ACP_NEVER: u64 = u64::MAX - 1;

/// Role: client.
pub const ACP_ROLE_CLIENT: i32 = 1;
/// Role: agent.
pub const ACP_ROLE_AGENT: i32 = 2;

/// Framing: one message per line, as on standard input and output. The default.
pub const ACP_FRAMING_LINES: i32 = 1;
/// Framing: each message is preceded by a `Content-Length` header.
pub const ACP_FRAMING_CONTENT_LENGTH: i32 = 2;
/// Framing: the transport itself separates messages, as a WebSocket does.
pub const ACP_FRAMING_MESSAGES: i32 = 3;

/// Policy: repair what can be repaired, deliver it and report the violation. The default.
pub const ACP_POLICY_TOLERANT: i32 = 1;
/// Policy: refuse or drop messages that break a rule, and report the violation.
pub const ACP_POLICY_STRICT: i32 = 2;
/// Policy: deliver messages that break a rule without a report, if they can be used at all.
pub const ACP_POLICY_OFF: i32 = 3;

/// Severity: unusual, but harmless.
pub const ACP_SEVERITY_NOTE: i32 = 1;
/// Severity: wrong, but the intention is clear.
pub const ACP_SEVERITY_WARNING: i32 = 2;
/// Severity: wrong, and the message cannot be used as it is.
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

/// Limit: bytes per message, in both directions. Default: 33,554,432 (32 MiB).
pub const ACP_LIMIT_FRAME: i32 = 1;
/// Limit: nesting of lists and objects in a message. Default: 128; values above 1,024 count as 1,024.
pub const ACP_LIMIT_DEPTH: i32 = 2;
/// Limit: open requests in each direction, and messages in one batch. Default: 1,024.
pub const ACP_LIMIT_PENDING: i32 = 3;
/// Limit: sessions of the connection. Default: 10,000.
pub const ACP_LIMIT_SESSIONS: i32 = 4;
/// Limit: terminals per session. Default: 1,024.
pub const ACP_LIMIT_TERMINALS: i32 = 5;
/// Limit: other items of one kind that are remembered per session: tool calls, plans, compactions, modes. Default:
/// 4,096.
pub const ACP_LIMIT_REMEMBERED: i32 = 6;
/// Limit: complete entries in the view of a session, and as many stubs of older ones. Default: 4,096.
pub const ACP_LIMIT_VIEW_ENTRIES: i32 = 7;
/// Limit: the size of a session's view, in bytes; all views of a connection together may have 16 times as much. Default:
/// 16 MiB.
pub const ACP_LIMIT_VIEW_BYTES: i32 = 8;
/// Limit: the size of one content in a view, in bytes: the text of a message, the items of a tool call, its raw input.
/// Default: 4 MiB.
pub const ACP_LIMIT_VIEW_CONTENT: i32 = 9;
/// Limit: the size of a terminal's output in a view, in bytes; at least the last half of it is kept. Default: 1 MiB.
pub const ACP_LIMIT_VIEW_OUTPUT: i32 = 10;

/// Phase: `initialize` has not been sent.
pub const ACP_PHASE_START: i32 = 1;
/// Phase: `initialize` has been sent but not answered.
pub const ACP_PHASE_INITIALIZING: i32 = 2;
/// Phase: the connection is ready for other calls.
pub const ACP_PHASE_READY: i32 = 3;
/// Phase: the connection has ended.
pub const ACP_PHASE_CLOSED: i32 = 4;

/// Event: the peer sent a request. Answer it with `acp_connection_respond` or `acp_connection_respond_error`.
pub const ACP_EVENT_REQUEST: i32 = 1;
/// Event: the peer sent a notification.
pub const ACP_EVENT_NOTIFICATION: i32 = 2;
/// Event: one of the host's requests has ended. Exactly one such event for each request.
pub const ACP_EVENT_RESPONSE: i32 = 3;
/// Event: the peer cancelled one of its requests. The request must still be answered.
pub const ACP_EVENT_CANCEL: i32 = 4;
/// Event: the library answered one of the peer's requests on the host's behalf. The host must not answer it any more.
pub const ACP_EVENT_ANSWERED: i32 = 5;
/// Event: the peer broke a rule.
pub const ACP_EVENT_VIOLATION: i32 = 6;
/// Event: the connection has ended. The last event.
pub const ACP_EVENT_CLOSED: i32 = 7;
/// Event: a message of the host's was sent but goes against a recommendation, or an answer of the host's is overdue.
pub const ACP_EVENT_ADVICE: i32 = 8;
/// Event: the peer answered a request that had already ended with `ACP_RESPONSE_TIMEOUT` or `ACP_RESPONSE_CANCELLED`.
/// It has the fields of a response. A session or terminal that the answer opened is open.
pub const ACP_EVENT_LATE_RESPONSE: i32 = 9;

/// Timing: during a prompt turn.
pub const ACP_TIMING_TURN: i32 = 1;
/// Timing: replayed history, while a session is being loaded or resumed.
pub const ACP_TIMING_REPLAY: i32 = 2;
/// Timing: no turn is running.
pub const ACP_TIMING_IDLE: i32 = 3;
/// Timing: the notification is not about a session.
pub const ACP_TIMING_NONE: i32 = 4;

/// The request ended with a result.
pub const ACP_RESPONSE_RESULT: i32 = 1;
/// The request ended with an error from the peer.
pub const ACP_RESPONSE_ERROR: i32 = 2;
/// The request ended with an answer that cannot be used. A violation event before this one says why.
pub const ACP_RESPONSE_INVALID: i32 = 3;
/// The request was not answered in time.
pub const ACP_RESPONSE_TIMEOUT: i32 = 4;
/// The connection ended before the request was answered.
pub const ACP_RESPONSE_CLOSED: i32 = 5;
/// The request was cancelled and not answered within the grace period (`acp_config_set_cancel_grace`).
pub const ACP_RESPONSE_CANCELLED: i32 = 6;

/// The message was delivered, repaired if necessary.
pub const ACP_CONSEQUENCE_DELIVERED: i32 = 1;
/// The message was not delivered.
pub const ACP_CONSEQUENCE_DROPPED: i32 = 2;
/// The message was not delivered but answered with an error.
pub const ACP_CONSEQUENCE_REFUSED: i32 = 3;

/// The peer closed its side.
pub const ACP_CLOSE_END_OF_STREAM: i32 = 1;
/// The host closed the connection.
pub const ACP_CLOSE_HOST: i32 = 2;
/// The two sides have no protocol version in common.
pub const ACP_CLOSE_VERSION: i32 = 3;

/// Misuse: too early, too late, or a second time.
pub const ACP_MISUSE_PHASE: i32 = 1;
/// Misuse: the method does not exist, belongs to the other side, or is a notification instead of a request (or the
/// reverse).
pub const ACP_MISUSE_METHOD: i32 = 2;
/// Misuse: the peer did not advertise the capability that this needs.
pub const ACP_MISUSE_CAPABILITY: i32 = 3;
/// Misuse: the params, the result or the error do not fit the protocol.
pub const ACP_MISUSE_PARAMS: i32 = 4;
/// Misuse: the session is not open on this connection.
pub const ACP_MISUSE_SESSION: i32 = 5;
/// Misuse: no open request has this serial number or id.
pub const ACP_MISUSE_ID: i32 = 6;
/// Misuse: a limit of the configuration is reached.
pub const ACP_MISUSE_LIMIT: i32 = 7;

/// Session state: being loaded. Updates are history.
pub const ACP_SESSION_LOADING: i32 = 1;
/// Session state: being resumed.
pub const ACP_SESSION_RESUMING: i32 = 2;
/// Session state: open.
pub const ACP_SESSION_READY: i32 = 3;

/// Turn: the agent is waiting for a prompt.
pub const ACP_TURN_IDLE: i32 = 1;
/// Turn: the agent is working on a prompt.
pub const ACP_TURN_RUNNING: i32 = 2;
/// Turn: the agent is working on a prompt that the client has cancelled.
pub const ACP_TURN_CANCELLING: i32 = 3;
/// Turn: the agent cannot continue until the user has acted (version 2 only).
pub const ACP_TURN_REQUIRES_ACTION: i32 = 4;

/// Login: not known yet whether the agent accepts this user.
pub const ACP_LOGIN_UNKNOWN: i32 = 1;
/// Login: a call was refused because a login is missing, or the user has logged out.
pub const ACP_LOGIN_REQUIRED: i32 = 2;
/// Login: a login has succeeded.
pub const ACP_LOGIN_DONE: i32 = 3;

/// JSON type: null.
pub const ACP_JSON_NULL: i32 = 1;
/// JSON type: boolean.
pub const ACP_JSON_BOOLEAN: i32 = 2;
/// JSON type: number.
pub const ACP_JSON_NUMBER: i32 = 3;
/// JSON type: string.
pub const ACP_JSON_STRING: i32 = 4;
/// JSON type: array.
pub const ACP_JSON_ARRAY: i32 = 5;
/// JSON type: object.
pub const ACP_JSON_OBJECT: i32 = 6;

/// A value of the core that has a constant here.
pub(crate) trait Number {
    fn number(&self) -> i32;
}

macro_rules! number {
    ($($ty:ty { $($pattern:pat => $constant:ident,)* })*) => { $(
        impl Number for $ty {
            fn number(&self) -> i32 {
                // Only some of the types are `non_exhaustive`.
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

pub(crate) type Names = &'static [&'static CStr];

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

pub(crate) fn name(names: Names, number: i32) -> *const c_char {
    let index = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
    index.and_then(|index| names.get(index)).unwrap_or(&c"unknown").as_ptr()
}

/// Returns the name of an `acp_status`, such as "misuse", as a static NUL-terminated string; "unknown" for any other
/// number.
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

/// Returns the name of an `ACP_PHASE_…` constant as a static NUL-terminated string; "unknown" for any other number. All
/// languages use the same names.
#[no_mangle]
pub extern "C" fn acp_phase_name(phase: i32) -> *const c_char {
    name(PHASES, phase)
}

/// Returns the name of an `ACP_EVENT_…` constant as a static NUL-terminated string; "unknown" for any other number.
#[no_mangle]
pub extern "C" fn acp_event_kind_name(kind: i32) -> *const c_char {
    name(EVENTS, kind)
}

/// Returns the name of an `ACP_SEVERITY_…` constant as a static NUL-terminated string; "unknown" for any other number.
#[no_mangle]
pub extern "C" fn acp_severity_name(severity: i32) -> *const c_char {
    name(SEVERITIES, severity)
}

/// Returns the name of an `ACP_LEVEL_…` constant as the specification writes it, such as "MUST NOT", as a static
/// NUL-terminated string; "unknown" for any other number.
#[no_mangle]
pub extern "C" fn acp_level_name(level: i32) -> *const c_char {
    name(LEVELS, level)
}

/// Returns the name of an `ACP_TIMING_…` constant as a static NUL-terminated string; "unknown" for any other number.
#[no_mangle]
pub extern "C" fn acp_timing_name(timing: i32) -> *const c_char {
    name(TIMINGS, timing)
}

/// Returns the name of an `ACP_RESPONSE_…` constant as a static NUL-terminated string; "unknown" for any other number.
#[no_mangle]
pub extern "C" fn acp_outcome_name(outcome: i32) -> *const c_char {
    name(RESPONSES, outcome)
}

/// Returns the name of an `ACP_CONSEQUENCE_…` constant as a static NUL-terminated string; "unknown" for any other
/// number.
#[no_mangle]
pub extern "C" fn acp_consequence_name(consequence: i32) -> *const c_char {
    name(CONSEQUENCES, consequence)
}

/// Returns the name of an `ACP_CLOSE_…` constant as a static NUL-terminated string; "unknown" for any other number.
#[no_mangle]
pub extern "C" fn acp_close_reason_name(reason: i32) -> *const c_char {
    name(CLOSINGS, reason)
}

/// Returns the name of an `ACP_MISUSE_…` constant (not of the status `ACP_MISUSE`) as a static NUL-terminated string;
/// "unknown" for any other number.
#[no_mangle]
pub extern "C" fn acp_misuse_kind_name(kind: i32) -> *const c_char {
    name(MISUSES, kind)
}

/// Returns the name of an `ACP_SESSION_…` constant as a static NUL-terminated string; "unknown" for any other number.
#[no_mangle]
pub extern "C" fn acp_session_state_name(state: i32) -> *const c_char {
    name(SESSIONS, state)
}

/// Returns the name of an `ACP_TURN_…` constant as a static NUL-terminated string; "unknown" for any other number.
#[no_mangle]
pub extern "C" fn acp_turn_name(turn: i32) -> *const c_char {
    name(TURNS, turn)
}

/// Returns the name of an `ACP_ROLE_…` constant as a static NUL-terminated string; "unknown" for any other number.
#[no_mangle]
pub extern "C" fn acp_role_name(role: i32) -> *const c_char {
    name(ROLES, role)
}

/// Returns the name of an `ACP_LOGIN_…` constant as a static NUL-terminated string; "unknown" for any other number, and
/// also for `ACP_LOGIN_UNKNOWN`.
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
