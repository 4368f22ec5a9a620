// libacp for C++17: the numbers of acp.h as scoped enumerations, each with the name that every language shares.
//
// Part of acp.hpp, which is what a program includes. A value that is not listed may come from a newer library.

#ifndef ACP_ENUMS_HPP
#define ACP_ENUMS_HPP

#if (defined(_MSVC_LANG) ? _MSVC_LANG : __cplusplus) < 201703L
#error "the C++ headers of libacp need C++17: -std=c++17, or /std:c++17 with MSVC; acp.h is for all others"
#endif

#include <cstdint>
#include <string_view>

#include "acp.h"

namespace acp {

/// The two sides.
enum class Role : std::int32_t { client = ACP_ROLE_CLIENT, agent = ACP_ROLE_AGENT };

/// How messages are separated on the transport.
enum class Framing : std::int32_t {
    lines = ACP_FRAMING_LINES,
    content_length = ACP_FRAMING_CONTENT_LENGTH,
    messages = ACP_FRAMING_MESSAGES
};

/// What happens to messages that break a rule.
enum class Policy : std::int32_t { tolerant = ACP_POLICY_TOLERANT, strict = ACP_POLICY_STRICT, off = ACP_POLICY_OFF };

/// How bad it is to break a rule.
enum class Severity : std::int32_t {
    note = ACP_SEVERITY_NOTE,
    warning = ACP_SEVERITY_WARNING,
    error = ACP_SEVERITY_ERROR
};

/// How binding the specification makes a rule.
enum class Level : std::int32_t {
    must = ACP_LEVEL_MUST,
    must_not = ACP_LEVEL_MUST_NOT,
    should = ACP_LEVEL_SHOULD,
    should_not = ACP_LEVEL_SHOULD_NOT,
    may = ACP_LEVEL_MAY
};

/// A limit that holds whatever the peer sends. acp.h lists the units and the defaults.
enum class Limit : std::int32_t {
    frame = ACP_LIMIT_FRAME,
    depth = ACP_LIMIT_DEPTH,
    pending = ACP_LIMIT_PENDING,
    sessions = ACP_LIMIT_SESSIONS,
    terminals = ACP_LIMIT_TERMINALS,
    remembered = ACP_LIMIT_REMEMBERED,
    view_entries = ACP_LIMIT_VIEW_ENTRIES,
    view_bytes = ACP_LIMIT_VIEW_BYTES,
    view_content = ACP_LIMIT_VIEW_CONTENT,
    view_output = ACP_LIMIT_VIEW_OUTPUT
};

/// How far a connection is.
enum class Phase : std::int32_t {
    start = ACP_PHASE_START,
    initializing = ACP_PHASE_INITIALIZING,
    ready = ACP_PHASE_READY,
    closed = ACP_PHASE_CLOSED
};

/// What an event is about; the classes of acp_event.hpp have the same names.
enum class EventKind : std::int32_t {
    request = ACP_EVENT_REQUEST,
    notification = ACP_EVENT_NOTIFICATION,
    response = ACP_EVENT_RESPONSE,
    cancel = ACP_EVENT_CANCEL,
    answered = ACP_EVENT_ANSWERED,
    violation = ACP_EVENT_VIOLATION,
    closed = ACP_EVENT_CLOSED,
    advice = ACP_EVENT_ADVICE,
    late_response = ACP_EVENT_LATE_RESPONSE
};

/// Where a notification falls in the life of its session.
enum class Timing : std::int32_t {
    turn = ACP_TIMING_TURN,
    replay = ACP_TIMING_REPLAY,
    idle = ACP_TIMING_IDLE,
    none = ACP_TIMING_NONE
};

/// How one of the host's requests ended.
enum class Outcome : std::int32_t {
    result = ACP_RESPONSE_RESULT,
    error = ACP_RESPONSE_ERROR,
    invalid = ACP_RESPONSE_INVALID,
    timeout = ACP_RESPONSE_TIMEOUT,
    closed = ACP_RESPONSE_CLOSED,
    cancelled = ACP_RESPONSE_CANCELLED
};

/// What happened to a message that broke a rule.
enum class Consequence : std::int32_t {
    delivered = ACP_CONSEQUENCE_DELIVERED,
    dropped = ACP_CONSEQUENCE_DROPPED,
    refused = ACP_CONSEQUENCE_REFUSED
};

/// Why a connection has ended.
enum class CloseReason : std::int32_t {
    end_of_stream = ACP_CLOSE_END_OF_STREAM,
    host = ACP_CLOSE_HOST,
    version = ACP_CLOSE_VERSION
};

/// What kind of mistake a refused call was.
enum class MisuseKind : std::int32_t {
    none = 0,
    phase = ACP_MISUSE_PHASE,
    method = ACP_MISUSE_METHOD,
    capability = ACP_MISUSE_CAPABILITY,
    params = ACP_MISUSE_PARAMS,
    session = ACP_MISUSE_SESSION,
    id = ACP_MISUSE_ID,
    limit = ACP_MISUSE_LIMIT
};

/// Whether a session is open, or being loaded or resumed.
enum class SessionState : std::int32_t {
    loading = ACP_SESSION_LOADING,
    resuming = ACP_SESSION_RESUMING,
    ready = ACP_SESSION_READY
};

/// Whether the agent is working for a session.
enum class Turn : std::int32_t {
    idle = ACP_TURN_IDLE,
    running = ACP_TURN_RUNNING,
    cancelling = ACP_TURN_CANCELLING,
    requires_action = ACP_TURN_REQUIRES_ACTION
};

/// Whether the agent accepts this user, as far as is known.
enum class Login : std::int32_t {
    unknown = ACP_LOGIN_UNKNOWN,
    required = ACP_LOGIN_REQUIRED,
    done = ACP_LOGIN_DONE
};

/// The types of JSON values.
enum class JsonType : std::int32_t {
    null = ACP_JSON_NULL,
    boolean = ACP_JSON_BOOLEAN,
    number = ACP_JSON_NUMBER,
    string = ACP_JSON_STRING,
    array = ACP_JSON_ARRAY,
    object = ACP_JSON_OBJECT
};

namespace detail {
template <class Enum> constexpr std::int32_t number(Enum value) noexcept { return static_cast<std::int32_t>(value); }
} // namespace detail

/// The name of a value, the same in every language; `unknown` for what is not listed.
inline std::string_view name(Phase value) noexcept { return acp_phase_name(detail::number(value)); }
inline std::string_view name(EventKind value) noexcept { return acp_event_kind_name(detail::number(value)); }
inline std::string_view name(Severity value) noexcept { return acp_severity_name(detail::number(value)); }
inline std::string_view name(Level value) noexcept { return acp_level_name(detail::number(value)); }
inline std::string_view name(Timing value) noexcept { return acp_timing_name(detail::number(value)); }
inline std::string_view name(Outcome value) noexcept { return acp_outcome_name(detail::number(value)); }
inline std::string_view name(Consequence value) noexcept { return acp_consequence_name(detail::number(value)); }
inline std::string_view name(CloseReason value) noexcept { return acp_close_reason_name(detail::number(value)); }
inline std::string_view name(MisuseKind value) noexcept { return acp_misuse_kind_name(detail::number(value)); }
inline std::string_view name(SessionState value) noexcept { return acp_session_state_name(detail::number(value)); }
inline std::string_view name(Turn value) noexcept { return acp_turn_name(detail::number(value)); }
inline std::string_view name(Role value) noexcept { return acp_role_name(detail::number(value)); }
inline std::string_view name(Login value) noexcept { return acp_login_name(detail::number(value)); }

} // namespace acp

#endif // ACP_ENUMS_HPP
