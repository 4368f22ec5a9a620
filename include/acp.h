/* libacp: the Agent Client Protocol (ACP) as a state machine without I/O.
 *
 * Generated from ffi/src by `cargo run -p xtask-header`. Do not edit.
 *
 * The host is the program that uses this library; the peer is the other side of the connection. The host does all reading
 * and writing. It passes bytes that it has read to acp_connection_receive, takes events from acp_connection_poll_event
 * until there are none, and writes what acp_connection_transmit holds. acp_constants.h has the names and numbers of the
 * protocol. acp.hpp wraps this header for C++.
 *
 * The functions acp_http_... are not there in a library that was built without the feature `http`, which is on by default.
 *
 * Conventions, which hold for every function:
 *
 * Handles
 * - Handles (acp_connection *, acp_event *, ...) are opaque. The caller owns each handle that a function returns, and frees
 *   it with the function that is named after its type. Freeing NULL does nothing. A freed handle must not be used again.
 * - A call changes a handle if it takes it as a pointer to non-const. Freeing a handle changes it too.
 *
 * Statuses
 * - A function that can fail returns an acp_status: ACP_OK (0), ACP_NONE (positive: there is no value), or an error
 *   (negative). A call that returns anything but ACP_OK has changed nothing, with three exceptions: ACP_MISUSE keeps its
 *   reason for acp_connection_error_kind and the others, a failed acp_writer_finish leaves a writer that must be reset, and
 *   ACP_PANIC (see below).
 * - Every function that returns a status can return these general errors; the comments of functions do not list them again:
 *   ACP_INVALID_ARGUMENT (a pointer is NULL that must not be, or a text is not UTF-8), ACP_BAD_HANDLE (a handle was freed
 *   or has another type), ACP_BUSY (another thread is inside a call with the same handle), ACP_PANIC (a defect of the
 *   library: from then on every call with the handle that was being changed returns ACP_PANIC, and it can only be freed).
 *   ACP_BAD_HANDLE and ACP_BUSY are aids for finding mistakes, not guarantees: do not rely on them.
 * - Compilers warn if the status of a function is ignored that can be refused for reasons of the protocol.
 *
 * Parameters
 * - Outputs are the last parameters, written here as `*out`. They must not be NULL, and are written only with ACP_OK.
 *   Exceptions: acp_json_string also writes its output with ACP_SHORT_BUFFER, and `out` may be NULL in functions that send
 *   a request.
 * - Text and bytes are acp_slices: a pointer and a length. Input need not end with NUL, and output does not. Input is copied
 *   or only read during the call. Text must be UTF-8. The pointer of an empty slice may be NULL.
 * - Enumerations are int32_t with constants from 1 on. A newer library may return numbers that are not listed here.
 * - Times are milliseconds on a clock of the host's choice that does not run backwards. The library reads no clock.
 *
 * Lifetime of slices that functions return
 * - From an event, a list, items or a writer: until that handle is freed (or the writer is reset).
 * - From a connection, an observer, or a server or a client of the remote transports: until the next call that changes it.
 *   Do not pass such a slice to a call that changes the same handle; copy it first.
 * - From a look-up in JSON text or from acp_cut_output: as long as the text that was passed in.
 * - From the rule catalogue, and names of constants: always.
 *
 * Threads
 * - Only one thread at a time may use a handle. Handles may be passed between threads. Different handles are independent of
 *   each other, even an event and the connection that it came from.
 * - The library has no mutable global state, starts no threads, and never calls back.
 *
 * Compatibility
 * - acp_slice, acp_value, acp_member and acp_header are the only structs that are passed by value or in arrays; their layout never
 *   changes.
 * - Functions and constants may be added without a change of ACP_ABI_VERSION. What exists stays the same as long as that
 *   number and the name of the shared library do. Before 1.0, both may change with the second number of the version
 *   (libacp.so.0.1, libacp.so.0.2), afterwards only with the first. Programs have to be recompiled then.
 */

#ifndef ACP_H
#define ACP_H

/* Marks functions whose status must not be ignored. */
#if defined(__GNUC__) || defined(__clang__)
#define ACP_MUST_USE __attribute__((warn_unused_result))
#else
#define ACP_MUST_USE
#endif


#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "acp_constants.h"

// The version of the binary interface that this header describes. `acp_abi_version` must return the same number.
#define ACP_ABI_VERSION 1

// No value. In a configuration: no time-out, no grace period or no reminders. In a call: the time-out of the
// configuration.
#define ACP_UNSET UINT64_MAX

// No time-out, whatever the configuration says.
#define ACP_NEVER (UINT64_MAX - 1)

// Role: client.
#define ACP_ROLE_CLIENT 1

// Role: agent.
#define ACP_ROLE_AGENT 2

// Framing: one message per line, as on standard input and output. The default.
#define ACP_FRAMING_LINES 1

// Framing: each message is preceded by a `Content-Length` header.
#define ACP_FRAMING_CONTENT_LENGTH 2

// Framing: the transport itself separates messages, as a WebSocket does.
#define ACP_FRAMING_MESSAGES 3

// Policy: repair what can be repaired, deliver it and report the violation. The default.
#define ACP_POLICY_TOLERANT 1

// Policy: refuse or drop messages that break a rule, and report the violation.
#define ACP_POLICY_STRICT 2

// Policy: deliver messages that break a rule without a report, if they can be used at all.
#define ACP_POLICY_OFF 3

// Severity: unusual, but harmless.
#define ACP_SEVERITY_NOTE 1

// Severity: wrong, but the intention is clear.
#define ACP_SEVERITY_WARNING 2

// Severity: wrong, and the message cannot be used as it is.
#define ACP_SEVERITY_ERROR 3

// Level: MUST.
#define ACP_LEVEL_MUST 1

// Level: MUST NOT.
#define ACP_LEVEL_MUST_NOT 2

// Level: SHOULD.
#define ACP_LEVEL_SHOULD 3

// Level: SHOULD NOT.
#define ACP_LEVEL_SHOULD_NOT 4

// Level: MAY.
#define ACP_LEVEL_MAY 5

// Limit: bytes per message, in both directions. Default: 33,554,432 (32 MiB).
#define ACP_LIMIT_FRAME 1

// Limit: nesting of lists and objects in a message. Default: 128; values above 1,024 count as 1,024.
#define ACP_LIMIT_DEPTH 2

// Limit: open requests in each direction, and messages in one batch. Default: 1,024.
#define ACP_LIMIT_PENDING 3

// Limit: sessions of the connection. Default: 10,000.
#define ACP_LIMIT_SESSIONS 4

// Limit: terminals per session. Default: 1,024.
#define ACP_LIMIT_TERMINALS 5

// Limit: other items of one kind that are remembered per session: tool calls, plans, compactions, modes. Default:
// 4,096.
#define ACP_LIMIT_REMEMBERED 6

// Limit: complete entries in the view of a session, and as many stubs of older ones. Default: 4,096.
#define ACP_LIMIT_VIEW_ENTRIES 7

// Limit: the size of a session's view, in bytes; all views of a connection together may have 16 times as much. Default:
// 16 MiB.
#define ACP_LIMIT_VIEW_BYTES 8

// Limit: the size of one content in a view, in bytes: the text of a message, the items of a tool call, its raw input.
// Default: 4 MiB.
#define ACP_LIMIT_VIEW_CONTENT 9

// Limit: the size of a terminal's output in a view, in bytes; at least the last half of it is kept. Default: 1 MiB.
#define ACP_LIMIT_VIEW_OUTPUT 10

// Phase: `initialize` has not been sent.
#define ACP_PHASE_START 1

// Phase: `initialize` has been sent but not answered.
#define ACP_PHASE_INITIALIZING 2

// Phase: the connection is ready for other calls.
#define ACP_PHASE_READY 3

// Phase: the connection has ended.
#define ACP_PHASE_CLOSED 4

// Event: the peer sent a request. Answer it with `acp_connection_respond` or `acp_connection_respond_error`.
#define ACP_EVENT_REQUEST 1

// Event: the peer sent a notification.
#define ACP_EVENT_NOTIFICATION 2

// Event: one of the host's requests has ended. Exactly one such event for each request.
#define ACP_EVENT_RESPONSE 3

// Event: the peer cancelled one of its requests. The request must still be answered.
#define ACP_EVENT_CANCEL 4

// Event: the library answered one of the peer's requests on the host's behalf. The host must not answer it any more.
#define ACP_EVENT_ANSWERED 5

// Event: the peer broke a rule.
#define ACP_EVENT_VIOLATION 6

// Event: the connection has ended. The last event.
#define ACP_EVENT_CLOSED 7

// Event: a message of the host's was sent but goes against a recommendation, or an answer of the host's is overdue.
#define ACP_EVENT_ADVICE 8

// Event: the peer answered a request that had already ended with `ACP_RESPONSE_TIMEOUT` or `ACP_RESPONSE_CANCELLED`.
// It has the fields of a response. A session or terminal that the answer opened is open.
#define ACP_EVENT_LATE_RESPONSE 9

// Timing: during a prompt turn.
#define ACP_TIMING_TURN 1

// Timing: replayed history, while a session is being loaded or resumed.
#define ACP_TIMING_REPLAY 2

// Timing: no turn is running.
#define ACP_TIMING_IDLE 3

// Timing: the notification is not about a session.
#define ACP_TIMING_NONE 4

// The request ended with a result.
#define ACP_RESPONSE_RESULT 1

// The request ended with an error from the peer.
#define ACP_RESPONSE_ERROR 2

// The request ended with an answer that cannot be used. A violation event before this one says why.
#define ACP_RESPONSE_INVALID 3

// The request was not answered in time.
#define ACP_RESPONSE_TIMEOUT 4

// The connection ended before the request was answered.
#define ACP_RESPONSE_CLOSED 5

// The request was cancelled and not answered within the grace period (`acp_config_set_cancel_grace`).
#define ACP_RESPONSE_CANCELLED 6

// The message was delivered, repaired if necessary.
#define ACP_CONSEQUENCE_DELIVERED 1

// The message was not delivered.
#define ACP_CONSEQUENCE_DROPPED 2

// The message was not delivered but answered with an error.
#define ACP_CONSEQUENCE_REFUSED 3

// The peer closed its side.
#define ACP_CLOSE_END_OF_STREAM 1

// The host closed the connection.
#define ACP_CLOSE_HOST 2

// The two sides have no protocol version in common.
#define ACP_CLOSE_VERSION 3

// Misuse: too early, too late, or a second time.
#define ACP_MISUSE_PHASE 1

// Misuse: the method does not exist, belongs to the other side, or is a notification instead of a request (or the
// reverse).
#define ACP_MISUSE_METHOD 2

// Misuse: the peer did not advertise the capability that this needs.
#define ACP_MISUSE_CAPABILITY 3

// Misuse: the params, the result or the error do not fit the protocol.
#define ACP_MISUSE_PARAMS 4

// Misuse: the session is not open on this connection.
#define ACP_MISUSE_SESSION 5

// Misuse: no open request has this serial number or id.
#define ACP_MISUSE_ID 6

// Misuse: a limit of the configuration is reached.
#define ACP_MISUSE_LIMIT 7

// Session state: being loaded. Updates are history.
#define ACP_SESSION_LOADING 1

// Session state: being resumed.
#define ACP_SESSION_RESUMING 2

// Session state: open.
#define ACP_SESSION_READY 3

// Turn: the agent is waiting for a prompt.
#define ACP_TURN_IDLE 1

// Turn: the agent is working on a prompt.
#define ACP_TURN_RUNNING 2

// Turn: the agent is working on a prompt that the client has cancelled.
#define ACP_TURN_CANCELLING 3

// Turn: the agent cannot continue until the user has acted (version 2 only).
#define ACP_TURN_REQUIRES_ACTION 4

// Login: not known yet whether the agent accepts this user.
#define ACP_LOGIN_UNKNOWN 1

// Login: a call was refused because a login is missing, or the user has logged out.
#define ACP_LOGIN_REQUIRED 2

// Login: a login has succeeded.
#define ACP_LOGIN_DONE 3

// JSON type: null.
#define ACP_JSON_NULL 1

// JSON type: boolean.
#define ACP_JSON_BOOLEAN 2

// JSON type: number.
#define ACP_JSON_NUMBER 3

// JSON type: string.
#define ACP_JSON_STRING 4

// JSON type: array.
#define ACP_JSON_ARRAY 5

// JSON type: object.
#define ACP_JSON_OBJECT 6

// The library version that this header belongs to, first of three numbers: major.minor.patch.
#define ACP_VERSION_MAJOR 0

// The second number of the library version.
#define ACP_VERSION_MINOR 1

// The third number of the library version.
#define ACP_VERSION_PATCH 0

// Value type: a string, in `text`.
#define ACP_VALUE_STRING 1

// Value type: JSON text, in `text`.
#define ACP_VALUE_JSON 2

// Value type: an integer, in `whole`.
#define ACP_VALUE_INT64 3

// Value type: a number, in `real`.
#define ACP_VALUE_DOUBLE 4

// Value type: a boolean, false if `whole` is 0 and true otherwise.
#define ACP_VALUE_BOOL 5

// Value type: null.
#define ACP_VALUE_NULL 6

// Permission: the tool call may run, this once.
#define ACP_PERMISSION_ALLOW 1

// Permission: the tool call may not run.
#define ACP_PERMISSION_DENY 2

// Permission: the user decides.
#define ACP_PERMISSION_ASK 3

// Sending: the message was taken.
#define ACP_HTTP_SENT 1

// Sending: too much waits already; the message was not taken.
#define ACP_HTTP_FULL 2

// Sending: the connection, or the conversation, is over; the message was not taken.
#define ACP_HTTP_CLOSED 3

// The settings that a connection starts with.
typedef struct acp_config acp_config;

// One side of a connection: the state of the conversation with one peer.
typedef struct acp_connection acp_connection;

// Something that happened on a connection or that an observer saw. It owns its text and does not depend on where it
// came from.
typedef struct acp_event acp_event;

// A client of the remote transports, Streamable HTTP and WebSocket, a draft of the specification, for one server. It does
// no I/O: the host makes the requests that `acp_http_client_poll_action` asks for with a library of its choice, and
// passes in what comes of them.
//
// The host sends messages as to an agent on a pipe, beginning with `initialize`. After each call, take actions until
// there are none, then ask `acp_http_client_poll_timeout` when to call `acp_http_client_handle_timeout`.
typedef struct acp_http_client acp_http_client;

// A server of the remote transports, Streamable HTTP and WebSocket, a draft of the specification, for any number of
// connections. It does no I/O: the host speaks HTTP with a library of its choice, passes in heads, bodies, frames and the
// time, and takes out responses, streams, frames and events.
//
// The host gives each request and each WebSocket a number of its choice, the exchange. Each connection has an agent, which
// the host starts when it is opened. After each call that passes something in, take events with
// `acp_http_server_poll_event` until there are none, then ask `acp_http_server_poll_timeout` when to call
// `acp_http_server_handle_timeout`.
typedef struct acp_http_server acp_http_server;

// The items of a list or the members of an object, for iteration.
typedef struct acp_items acp_items;

// Follows a conversation between a client and an agent from outside.
typedef struct acp_observer acp_observer;

// Rules that decide requests for permission: allow, deny or ask.
typedef struct acp_permission_policy acp_permission_policy;

// A list of open requests, oldest first. A copy: it does not change with the connection that it came from.
typedef struct acp_requests acp_requests;

// A list of sessions, sorted by id. A copy: it does not change with the connection that it came from.
typedef struct acp_sessions acp_sessions;

// A list of terminals that were created and not released. A copy: it does not change with the connection that it came
// from.
typedef struct acp_terminals acp_terminals;

// Writes one JSON value piece by piece, and adds commas and colons.
typedef struct acp_writer acp_writer;

// The result of a call: `ACP_OK` is zero, a positive status is not an error, a negative status is an error.
typedef int32_t acp_status;

// Borrowed bytes, usually UTF-8 text. Not terminated by NUL. `data` may be NULL if `len` is 0.
typedef struct {
    // The first byte.
    const char *data;
    // The number of bytes.
    size_t len;
} acp_slice;

// A value to be written as JSON. `acp_string_value`, `acp_int64_value` and so on create one. The layout never changes.
typedef struct {
    // One of `ACP_VALUE_…`. It determines which of the other fields is read.
    int32_t type;
    // The value of an integer or a boolean.
    int64_t whole;
    // The value of a number.
    double real;
    // The string or the JSON text.
    acp_slice text;
} acp_value;

// A member of an object to be written as JSON. The layout never changes.
typedef struct {
    // The member's name.
    acp_slice name;
    // The member's value.
    acp_value value;
} acp_member;

// A string that the host owns and frees with `acp_string_free`. A NUL follows it, which `len` does not count. All zero
// is an empty string.
typedef struct {
    // The first byte. NULL after `acp_string_free`, and in a string that was initialized with zeros.
    char *data;
    // The number of bytes.
    size_t len;
} acp_string;

// A header of a request or a response. Neither part has to be UTF-8. The layout never changes.
typedef struct {
    // The name, in any case.
    acp_slice name;
    // The value, without the space around it.
    acp_slice value;
} acp_header;

// Success.
#define ACP_OK 0

// Success, but there is no value: no event is waiting, the event has no such field, the JSON pointer names nothing.
// The outputs were not written.
#define ACP_NONE 1

// The protocol does not allow the call now, or the arguments do not fit the protocol. Nothing was sent and nothing has
// changed. `acp_connection_error_kind`, `_rule`, `_pointer` and `_message` say why.
#define ACP_MISUSE (-1)

// An argument is NULL, is not UTF-8, or has a value that means nothing here. Nothing has changed.
#define ACP_INVALID_ARGUMENT (-2)

// The JSON value has another type, or is a number that does not fit the output.
#define ACP_WRONG_TYPE (-3)

// The buffer is too small. This is the only status besides `ACP_OK` with which an output is written: the length that
// is needed.
#define ACP_SHORT_BUFFER (-4)

// The calls to a writer did not produce one JSON value, or the writer is already finished.
#define ACP_WRITER_MISUSE (-5)

// A defect in the library was caught. The handle can only be freed.
#define ACP_PANIC (-6)

// The pointer is not a handle of this type: it was freed, or never was one. Detection is not guaranteed: it can fail
// once the memory is in use again.
#define ACP_BAD_HANDLE (-7)

// Another thread is inside a call that changes this handle. Nothing has changed. Detected only when both calls
// overlap; a change that begins while another thread merely reads the handle is not detected.
#define ACP_BUSY (-8)

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Returns the name of an `acp_status`, such as "misuse", as a static NUL-terminated string; "unknown" for any other
// number.
const char *acp_status_name(acp_status status);

// Returns the name of an `ACP_PHASE_…` constant as a static NUL-terminated string; "unknown" for any other number. All
// languages use the same names.
const char *acp_phase_name(int32_t phase);

// Returns the name of an `ACP_EVENT_…` constant as a static NUL-terminated string; "unknown" for any other number.
const char *acp_event_kind_name(int32_t kind);

// Returns the name of an `ACP_SEVERITY_…` constant as a static NUL-terminated string; "unknown" for any other number.
const char *acp_severity_name(int32_t severity);

// Returns the name of an `ACP_LEVEL_…` constant as the specification writes it, such as "MUST NOT", as a static
// NUL-terminated string; "unknown" for any other number.
const char *acp_level_name(int32_t level);

// Returns the name of an `ACP_TIMING_…` constant as a static NUL-terminated string; "unknown" for any other number.
const char *acp_timing_name(int32_t timing);

// Returns the name of an `ACP_RESPONSE_…` constant as a static NUL-terminated string; "unknown" for any other number.
const char *acp_outcome_name(int32_t outcome);

// Returns the name of an `ACP_CONSEQUENCE_…` constant as a static NUL-terminated string; "unknown" for any other
// number.
const char *acp_consequence_name(int32_t consequence);

// Returns the name of an `ACP_CLOSE_…` constant as a static NUL-terminated string; "unknown" for any other number.
const char *acp_close_reason_name(int32_t reason);

// Returns the name of an `ACP_MISUSE_…` constant (not of the status `ACP_MISUSE`) as a static NUL-terminated string;
// "unknown" for any other number.
const char *acp_misuse_kind_name(int32_t kind);

// Returns the name of an `ACP_SESSION_…` constant as a static NUL-terminated string; "unknown" for any other number.
const char *acp_session_state_name(int32_t state);

// Returns the name of an `ACP_TURN_…` constant as a static NUL-terminated string; "unknown" for any other number.
const char *acp_turn_name(int32_t turn);

// Returns the name of an `ACP_ROLE_…` constant as a static NUL-terminated string; "unknown" for any other number.
const char *acp_role_name(int32_t role);

// Returns the name of an `ACP_LOGIN_…` constant as a static NUL-terminated string; "unknown" for any other number, and
// also for `ACP_LOGIN_UNKNOWN`.
const char *acp_login_name(int32_t login);

// Returns the version of the binary interface of the linked library. Compare it with `ACP_ABI_VERSION` at start-up if
// the library is linked dynamically.
uint32_t acp_abi_version(void);

// Returns the version of the linked library, such as "0.1.0", as a static NUL-terminated string.
const char *acp_library_version(void);

// Creates a configuration with the defaults: framing `ACP_FRAMING_LINES`, policy `ACP_POLICY_TOLERANT`, protocol
// version 1, no drafts, the default limits, no time-out, ten seconds of grace for cancelled requests, no reminders,
// one prompt at a time.
//
// - `role`: the host's side, one of `ACP_ROLE_…`
// - `*out`: the configuration; the caller owns it and frees it with `acp_config_free`
// - returns: `ACP_OK`; `ACP_INVALID_ARGUMENT` if `role` is not listed; or a general error
ACP_MUST_USE acp_status acp_config_new(int32_t role, acp_config **out);

// Frees a configuration. Connections that were created from it are not affected.
//
// - `config`: the configuration; NULL is ignored
void acp_config_free(acp_config *config);

// Sets how messages are separated on the transport.
//
// - `config`: the configuration
// - `framing`: one of `ACP_FRAMING_…`
// - returns: `ACP_OK`; `ACP_INVALID_ARGUMENT` if `framing` is not listed; or a general error
acp_status acp_config_set_framing(acp_config *config, int32_t framing);

// Sets what happens to a message of the peer that breaks a rule.
//
// - `config`: the configuration
// - `policy`: one of `ACP_POLICY_…`
// - returns: `ACP_OK`; `ACP_INVALID_ARGUMENT` if `policy` is not listed; or a general error
acp_status acp_config_set_policy(acp_config *config, int32_t policy);

// Sets another policy for the rules of one severity.
//
// The policy for notes also applies to the host: `ACP_POLICY_STRICT` reports what is merely recommended as
// `ACP_EVENT_ADVICE`; `ACP_POLICY_OFF` lets the host send members that the specification does not have, as a proxy
// must.
//
// - `config`: the configuration
// - `severity`: one of `ACP_SEVERITY_…`
// - `policy`: one of `ACP_POLICY_…`
// - returns: `ACP_OK`; `ACP_INVALID_ARGUMENT` if `severity` or `policy` is not listed; or a general error
acp_status acp_config_set_policy_for(acp_config *config, int32_t severity, int32_t policy);

// Undoes `acp_config_set_policy_for`: the rules of this severity follow `acp_config_set_policy` again.
//
// - `config`: the configuration
// - `severity`: one of `ACP_SEVERITY_…`
// - returns: `ACP_OK`; `ACP_INVALID_ARGUMENT` if `severity` is not listed; or a general error
acp_status acp_config_clear_policy_for(acp_config *config, int32_t severity);

// Sets a limit that holds whatever the peer sends.
//
// - `config`: the configuration
// - `limit`: one of `ACP_LIMIT_…`
// - `value`: the limit, in the unit that the constant names
// - returns: `ACP_OK`; `ACP_INVALID_ARGUMENT` if `limit` is not listed, or `value` does not fit a `size_t` (for
//   `ACP_LIMIT_DEPTH`: a `uint32_t`); or a general error
acp_status acp_config_set_limit(acp_config *config, int32_t limit, uint64_t value);

// Sets the protocol versions that may be agreed on. Version 1 alone is the default.
//
// - `config`: the configuration
// - `versions`: `count` version numbers in any order; copied
// - `count`: how many numbers there are
// - returns: `ACP_OK`; `ACP_INVALID_ARGUMENT` if `count` is 0 or the library does not support one of the versions; or
//   a general error
acp_status acp_config_set_versions(acp_config *config, const uint16_t *versions, size_t count);

// Enables a draft of the protocol. There is no way to disable it again.
//
// - `config`: the configuration
// - `name`: the draft's name, one of `ACP_DRAFT_…`
// - returns: `ACP_OK`; `ACP_INVALID_ARGUMENT` if no draft has this name; or a general error
acp_status acp_config_set_draft(acp_config *config, acp_slice name);

// Sets after how long one of the host's requests ends with `ACP_RESPONSE_TIMEOUT`, unless the call sets its own
// time-out.
//
// - `config`: the configuration
// - `milliseconds`: the time-out; `ACP_UNSET` or `ACP_NEVER` for none, which is the default
// - returns: `ACP_OK` or a general error
acp_status acp_config_set_timeout(acp_config *config, uint64_t milliseconds);

// Sets how long the peer has to answer a request after `acp_connection_cancel`. Then the request ends with
// `ACP_RESPONSE_CANCELLED`, and an answer that still arrives is an `ACP_EVENT_LATE_RESPONSE`.
//
// - `config`: the configuration
// - `milliseconds`: the grace period, 10,000 by default; `ACP_UNSET` or `ACP_NEVER` to wait for the answer without a
//   limit
// - returns: `ACP_OK` or a general error
acp_status acp_config_set_cancel_grace(acp_config *config, uint64_t milliseconds);

// Sets after how long the host is reminded, once, of a request of the peer that it has not answered: an
// `ACP_EVENT_ADVICE` of the rule RPC-15 with the method and the id.
//
// - `config`: the configuration
// - `milliseconds`: the delay; `ACP_UNSET` or `ACP_NEVER` for no reminders, which is the default
// - returns: `ACP_OK` or a general error
acp_status acp_config_set_reminder(acp_config *config, uint64_t milliseconds);

// Sets whether a session may have several prompts at once (rule TURN-03), for agents that queue prompts. If so, a
// client's further prompts are sent, with an `ACP_EVENT_ADVICE` instead of a misuse, and an agent receives them
// without a violation. The turn ends with the last answer.
//
// - `config`: the configuration
// - `allowed`: whether to allow it; false is the default
// - returns: `ACP_OK` or a general error
acp_status acp_config_set_prompt_queueing(acp_config *config, bool allowed);

// Sets whether the connection, or the observer, keeps a view of each session: the conversation as a client shows it, for
// `acp_connection_view` and `acp_observer_view`.
//
// - `config`: the configuration
// - `kept`: whether to keep views; false is the default, and costs nothing
// - returns: `ACP_OK` or a general error
acp_status acp_config_set_view(acp_config *config,
                               bool kept);

// Allows a method that neither the specification defines nor begins with an underscore (rule EXT-07). It is then sent
// and delivered like an extension's method. Can be called for several methods.
//
// - `config`: the configuration
// - `name`: the method's name, 1 to 4,096 bytes
// - returns: `ACP_OK`; `ACP_INVALID_ARGUMENT` if the length is wrong, or the name begins with "_", "rpc." or "$/", or
//   belongs to the specification or a draft; or a general error
acp_status acp_config_set_foreign_method(acp_config *config, acp_slice name);

// Gets the side that the host plays.
//
// - `config`: the configuration
// - `*out`: one of `ACP_ROLE_…`
// - returns: `ACP_OK` or a general error
acp_status acp_config_role(const acp_config *config, int32_t *out);

// Gets how messages are separated on the transport.
//
// - `config`: the configuration
// - `*out`: one of `ACP_FRAMING_…`
// - returns: `ACP_OK` or a general error
acp_status acp_config_framing(const acp_config *config, int32_t *out);

// Gets the policy for rules of severities that have no policy of their own.
//
// - `config`: the configuration
// - `*out`: one of `ACP_POLICY_…`
// - returns: `ACP_OK` or a general error
acp_status acp_config_policy(const acp_config *config, int32_t *out);

// Gets the policy that `acp_config_set_policy_for` set for one severity.
//
// - `config`: the configuration
// - `severity`: one of `ACP_SEVERITY_…`
// - `*out`: one of `ACP_POLICY_…`
// - returns: `ACP_OK`; `ACP_NONE` if the severity has no policy of its own; `ACP_INVALID_ARGUMENT` if `severity` is
//   not listed; or a general error
acp_status acp_config_policy_for(const acp_config *config, int32_t severity, int32_t *out);

// Gets a limit.
//
// - `config`: the configuration
// - `limit`: one of `ACP_LIMIT_…`
// - `*out`: the limit that was set, or the default
// - returns: `ACP_OK`; `ACP_INVALID_ARGUMENT` if `limit` is not listed; or a general error
acp_status acp_config_limit(const acp_config *config, int32_t limit, uint64_t *out);

// Gets whether a protocol version may be agreed on.
//
// - `config`: the configuration
// - `version`: the version number
// - `*out`: whether it may; false for a version that the library does not support
// - returns: `ACP_OK` or a general error
acp_status acp_config_version(const acp_config *config, uint16_t version, bool *out);

// Gets whether a draft is enabled.
//
// - `config`: the configuration
// - `name`: the draft's name, one of `ACP_DRAFT_…`
// - `*out`: whether it is enabled
// - returns: `ACP_OK`; `ACP_INVALID_ARGUMENT` if no draft has this name; or a general error
acp_status acp_config_draft(const acp_config *config, acp_slice name, bool *out);

// Gets the time-out of the host's requests.
//
// - `config`: the configuration
// - `*out`: milliseconds
// - returns: `ACP_OK`; `ACP_NONE` if there is no time-out; or a general error
acp_status acp_config_timeout(const acp_config *config, uint64_t *out);

// Gets how long the peer has to answer a cancelled request.
//
// - `config`: the configuration
// - `*out`: milliseconds
// - returns: `ACP_OK`; `ACP_NONE` if there is no limit; or a general error
acp_status acp_config_cancel_grace(const acp_config *config, uint64_t *out);

// Gets after how long the host is reminded of a request that it has not answered.
//
// - `config`: the configuration
// - `*out`: milliseconds
// - returns: `ACP_OK`; `ACP_NONE` if there are no reminders; or a general error
acp_status acp_config_reminder(const acp_config *config, uint64_t *out);

// Gets whether a session may have several prompts at once.
//
// - `config`: the configuration
// - `*out`: whether it may
// - returns: `ACP_OK` or a general error
acp_status acp_config_prompt_queueing(const acp_config *config, bool *out);

// Gets whether views are kept.
//
// - `config`: the configuration
// - `*out`: whether they are
// - returns: `ACP_OK` or a general error
acp_status acp_config_view(const acp_config *config, bool *out);

// Gets whether `acp_config_set_foreign_method` has allowed a method.
//
// - `config`: the configuration
// - `name`: the method's name
// - `*out`: whether it is allowed
// - returns: `ACP_OK` or a general error
acp_status acp_config_foreign_method(const acp_config *config, acp_slice name, bool *out);

// Sets whether the connection speaks the words of version 1, whichever version is agreed. If so, the host sends and
// receives the methods and shapes of version 1 with the functions of a connection, and in version 2 the library turns
// them into that version's: `session/load` into `session/resume` with a replay, `session/set_mode` into a config option,
// and so on. A `session/prompt` is one request from its beginning to the end of the work on it, on both sides: an agent
// answers it with a stop reason, and gets one prompt of a session at a time. Notifications that a client receives are left
// as they are; a view (`acp_config_set_view`) shows both versions alike.
//
// - `config`: the configuration
// - `hosted`: whether to do so; false is the default. It matters only where `acp_config_set_versions` allows version 2
// - returns: `ACP_OK` or a general error
acp_status acp_config_set_hosted(acp_config *config,
                                 bool hosted);

// Says that an agent that speaks the words of version 1 (`acp_config_set_hosted`, which this includes) serves a method,
// named as in version 1. In version 2 every agent has to list and to resume sessions (rule CAP-09): for one that does not
// serve `session/list`, `session/resume` or `session/load`, the library answers with the sessions that are open. Can be
// called for several methods.
//
// - `config`: the configuration
// - `method`: the method's name
// - returns: `ACP_OK` or a general error
acp_status acp_config_set_served(acp_config *config,
                                 acp_slice method);

// Gets whether the connection speaks the words of version 1 in both versions.
//
// - `config`: the configuration
// - `*out`: whether it does
// - returns: `ACP_OK` or a general error
acp_status acp_config_hosted(const acp_config *config, bool *out);

// Creates a connection in the phase `ACP_PHASE_START`. Nothing is sent: a client begins with the request `initialize`.
//
// - `config`: the configuration; copied
// - `*out`: the connection; the caller owns it and frees it with `acp_connection_free`
// - returns: `ACP_OK` or a general error
ACP_MUST_USE acp_status acp_connection_new(const acp_config *config, acp_connection **out);

// Frees a connection. Events and lists that came from it stay valid; slices that came from it do not.
//
// - `connection`: the connection; NULL is ignored
void acp_connection_free(acp_connection *connection);

// Passes in bytes that were read from the peer, in chunks of any size (with `ACP_FRAMING_MESSAGES`: exactly one
// message). They are decoded by `acp_connection_poll_event`, which also reports whatever is wrong with them. Bytes
// that arrive after the end of the stream or of the connection are ignored.
//
// - `connection`: the connection
// - `bytes`: the bytes; copied
// - returns: `ACP_OK` or a general error
acp_status acp_connection_receive(acp_connection *connection, acp_slice bytes);

// Reports that the peer has closed its side. What was received before is still delivered; then the host's open
// requests end with `ACP_RESPONSE_CLOSED`, and `ACP_EVENT_CLOSED` is the last event.
//
// - `connection`: the connection
// - returns: `ACP_OK` or a general error
acp_status acp_connection_receive_eof(acp_connection *connection);

// Sets the current time, and does what is due: the host's requests whose time-out has passed end with
// `ACP_RESPONSE_TIMEOUT` (the peer is sent `$/cancel_request`), cancelled requests end after the grace period, and the
// host is reminded of requests that it has not answered. Poll for events and transmit afterwards. Time-outs are
// measured from the time of the last call of this function, 0 before the first.
//
// - `connection`: the connection
// - `now`: milliseconds on any monotonic clock of the host; a time earlier than the last one has no effect on the
//   clock
// - returns: `ACP_OK` or a general error
acp_status acp_connection_handle_timeout(acp_connection *connection, uint64_t now);

// Takes the next event. Call it until it returns `ACP_NONE` after every other call that changes the connection; then
// write what `acp_connection_transmit` holds.
//
// While the library's own answers to the peer wait to be written and exceed `ACP_LIMIT_FRAME` or 1 MiB, whichever is
// larger, no further message is decoded. Once they are written, `acp_connection_poll_timeout` says that it is time to
// continue.
//
// - `connection`: the connection
// - `*out`: the event; the caller owns it and frees it with `acp_event_free`. It does not depend on the connection
// - returns: `ACP_OK`; `ACP_NONE` if there is no event now; or a general error
acp_status acp_connection_poll_event(acp_connection *connection, acp_event **out);

// Gets when to call `acp_connection_handle_timeout` next.
//
// - `connection`: the connection
// - `*out`: milliseconds on the host's clock; may be in the past
// - returns: `ACP_OK`; `ACP_NONE` if nothing is scheduled; or a general error
acp_status acp_connection_poll_timeout(const acp_connection *connection, uint64_t *out);

// Gets the bytes to write to the peer (with `ACP_FRAMING_MESSAGES`: the rest of one message). They stay there until
// `acp_connection_consume` removes them. If they pile up, stop reading from the peer.
//
// - `connection`: the connection
// - `*out`: the bytes, empty if there are none; valid until the next call that changes the connection
// - returns: `ACP_OK` or a general error
acp_status acp_connection_transmit(const acp_connection *connection, acp_slice *out);

// Removes bytes from the front of `acp_connection_transmit` after they were written. Partial writes are normal.
//
// - `connection`: the connection
// - `count`: how many bytes were written; more than there are counts as all of them
// - returns: `ACP_OK` or a general error
acp_status acp_connection_consume(acp_connection *connection, size_t count);

// Ends the connection from this side. The peer's open permission requests are answered with `cancelled` and its
// elicitations with `cancel`; the host's open requests end with `ACP_RESPONSE_CLOSED`. What `acp_connection_transmit`
// holds can still be written. Closing a connection that has already ended does no harm.
//
// - `connection`: the connection
// - returns: `ACP_OK` or a general error
acp_status acp_connection_close(acp_connection *connection);

// How much data was received and not decoded yet. Stop reading from the transport while it is large. In bytes.
//
// - `connection`: the connection
// - `*out`: bytes
// - returns: `ACP_OK` or a general error
acp_status acp_connection_buffered(const acp_connection *connection, size_t *out);

// How much data waits to be written: the length of what `transmit` holds or, with the framing `messages`, of all
// messages. Stop reading from the transport while it is large. In bytes.
//
// - `connection`: the connection
// - `*out`: bytes
// - returns: `ACP_OK` or a general error
acp_status acp_connection_unsent(const acp_connection *connection, size_t *out);

// A cheap check: true means that polling would certainly find no event now. A host that receives many small chunks
// can skip polling then.
//
// - `connection`: the connection
// - `*out`: true or false
// - returns: `ACP_OK` or a general error
acp_status acp_connection_needs_input(acp_connection *connection, bool *out);

// Sends a request. Its answer arrives as exactly one `ACP_EVENT_RESPONSE`.
//
// - `connection`: the connection
// - `method`: the method's name (`ACP_METHOD_…`, or an extension's)
// - `params`: JSON text of an object; an extension's method may have a list instead. `initialize` is given its
//   `protocolVersion` if it has none
// - `*out`: the request's serial number, which its response event carries as well; `out` may be NULL
// - returns: `ACP_OK`; `ACP_MISUSE` if the protocol does not allow the request now or `params` does not fit; or a
//   general error
ACP_MUST_USE
acp_status acp_connection_request(acp_connection *connection,
                                  acp_slice method,
                                  acp_slice params,
                                  uint64_t *out);

// Sends a request like `acp_connection_request`, with an id and a time-out of the host's choice.
//
// - `connection`: the connection
// - `method`: the method's name
// - `params`: JSON text of an object; see `acp_connection_request`
// - `id`: the id as JSON text, a string or an integer; empty to use the next free number
// - `timeout`: milliseconds from the last `acp_connection_handle_timeout`; `ACP_UNSET` for the configuration's
//   time-out, `ACP_NEVER` for none
// - `*out`: the request's serial number; `out` may be NULL
// - returns: `ACP_OK`; `ACP_MISUSE` if the protocol does not allow the request now, `params` does not fit, or `id` is
//   null or in use; `ACP_INVALID_ARGUMENT` if `id` cannot be an id; or a general error
ACP_MUST_USE
acp_status acp_connection_request_with(acp_connection *connection,
                                       acp_slice method,
                                       acp_slice params,
                                       acp_slice id,
                                       uint64_t timeout,
                                       uint64_t *out);

// Sends a notification. `session/cancel` also answers the peer's open permission requests of the session with
// `cancelled`.
//
// - `connection`: the connection
// - `method`: the method's name (`ACP_METHOD_…`, or an extension's)
// - `params`: JSON text of an object; an extension's method may have a list instead
// - returns: `ACP_OK`; `ACP_MISUSE` if the protocol does not allow the notification now or `params` does not fit; or a
//   general error
ACP_MUST_USE acp_status acp_connection_notify(acp_connection *connection, acp_slice method, acp_slice params);

// Answers one of the peer's requests with a result.
//
// If the client has cancelled a prompt, the stop reason `cancelled` is sent in place of any other, with an
// `ACP_EVENT_ADVICE`.
//
// - `connection`: the connection
// - `serial`: the request's serial number, from its event
// - `result`: JSON text. The answer to `initialize` is given its `protocolVersion` if it has none
// - returns: `ACP_OK`; `ACP_MISUSE` if no such request is open or `result` does not fit; or a general error
ACP_MUST_USE acp_status acp_connection_respond(acp_connection *connection, uint64_t serial, acp_slice result);

// Answers one of the peer's requests with an error.
//
// Where the protocol asks for a result instead, that is sent: the stop reason `cancelled` for a prompt that the client
// has cancelled, and `cancelled` or `cancel` for a permission request or an elicitation that is answered with
// `ACP_CODE_REQUEST_CANCELLED`.
//
// - `connection`: the connection
// - `serial`: the request's serial number, from its event
// - `code`: the error's code (`ACP_CODE_…`, or one of the host's)
// - `message`: the error's message
// - `data`: the error's data as JSON text; empty for none
// - returns: `ACP_OK`; `ACP_MISUSE` if no such request is open, `data` is not JSON, or the protocol does not allow the
//   error; or a general error
ACP_MUST_USE
acp_status acp_connection_respond_error(acp_connection *connection,
                                        uint64_t serial,
                                        int32_t code,
                                        acp_slice message,
                                        acp_slice data);

// Asks the peer to cancel one of the host's requests (`$/cancel_request`). The request still ends with one
// `ACP_EVENT_RESPONSE`, with whatever the peer answers or after the grace period. Cancelling twice sends nothing more.
//
// - `connection`: the connection
// - `serial`: the request's serial number
// - returns: `ACP_OK`; `ACP_MISUSE` if the request cannot be cancelled, usually because it is no longer open; or a
//   general error
acp_status acp_connection_cancel(acp_connection *connection, uint64_t serial);

// Gets whether a method could be sent now, as far as the version, the side, the phase and the capabilities go. Params
// are not checked.
//
// - `connection`: the connection
// - `method`: the method's name. An optional part follows a colon: `session/prompt:image`, `session/new:http`,
//   `session/update:plan`
// - `*out`: whether it could
// - returns: `ACP_OK` or a general error
acp_status acp_connection_can(const acp_connection *connection, acp_slice method, bool *out);

// Returns `ACP_OK` if a method could be sent now. Otherwise keeps the reason for `acp_connection_error_…`. Nothing is
// sent.
//
// - `connection`: the connection
// - `method`: the method's name, with an optional part as for `acp_connection_can`
// - returns: `ACP_OK`; `ACP_MISUSE` if it could not be sent; or a general error
acp_status acp_connection_why_not(acp_connection *connection, acp_slice method);

// Gets what kind of mistake the last call that returned `ACP_MISUSE` was.
//
// - `connection`: the connection
// - `*out`: one of `ACP_MISUSE_…`
// - returns: `ACP_OK`; `ACP_NONE` if no call has returned `ACP_MISUSE`; or a general error
acp_status acp_connection_error_kind(const acp_connection *connection, int32_t *out);

// Gets the rule that the last call that returned `ACP_MISUSE` would have broken.
//
// - `connection`: the connection
// - `*out`: the rule's id, for `acp_rule_text`; valid until the next call that changes the connection
// - returns: `ACP_OK`; `ACP_NONE` if no call has returned `ACP_MISUSE`; or a general error
acp_status acp_connection_error_rule(const acp_connection *connection, acp_slice *out);

// Gets where the mistake is in the params or the result that were passed to the last call that returned `ACP_MISUSE`.
//
// - `connection`: the connection
// - `*out`: a JSON pointer, empty if the call as a whole is meant; valid until the next call that changes the
//   connection
// - returns: `ACP_OK`; `ACP_NONE` if no call has returned `ACP_MISUSE`; or a general error
acp_status acp_connection_error_pointer(const acp_connection *connection, acp_slice *out);

// Gets what was wrong with the last call that returned `ACP_MISUSE`, what was expected, and what to do instead.
//
// - `connection`: the connection
// - `*out`: the message; valid until the next call that changes the connection
// - returns: `ACP_OK`; `ACP_NONE` if no call has returned `ACP_MISUSE`; or a general error
acp_status acp_connection_error_message(const acp_connection *connection, acp_slice *out);

// The side that the host plays.
//
// - `connection`: the connection
// - `*out`: one of `ACP_ROLE_…`
// - returns: `ACP_OK` or a general error
acp_status acp_connection_role(const acp_connection *connection, int32_t *out);

// A copy of the configuration, including the defaults.
//
// - `connection`: the connection
// - `*out`: a copy; the caller owns it and frees it with `acp_config_free`
// - returns: `ACP_OK` or a general error
acp_status acp_connection_config(const acp_connection *connection, acp_config **out);

// How far the connection is.
//
// - `connection`: the connection
// - `*out`: one of `ACP_PHASE_…`
// - returns: `ACP_OK` or a general error
// - see https://agentclientprotocol.com/protocol/v1/initialization
acp_status acp_connection_phase(const acp_connection *connection, int32_t *out);

// The agreed protocol version.
//
// - `connection`: the connection
// - `*out`: the number
// - returns: `ACP_OK`; `ACP_NONE` before it is agreed on: for a client, until `initialize` has been answered; for
//   an agent, until `initialize` has arrived; or a general error
// - see https://agentclientprotocol.com/protocol/v1/initialization
acp_status acp_connection_version(const acp_connection *connection, uint16_t *out);

// The capabilities object that the peer advertised; `{}` before `initialize`. To ask about one method, use `can`.
//
// - `connection`: the connection
// - `*out`: JSON text; valid until the next call that changes the connection
// - returns: `ACP_OK` or a general error
// - see https://agentclientprotocol.com/protocol/v1/initialization
acp_status acp_connection_capabilities(const acp_connection *connection, acp_slice *out);

// The capabilities object that the host advertised; `{}` before `initialize`.
//
// - `connection`: the connection
// - `*out`: JSON text; valid until the next call that changes the connection
// - returns: `ACP_OK` or a general error
// - see https://agentclientprotocol.com/protocol/v1/initialization
acp_status acp_connection_own_capabilities(const acp_connection *connection, acp_slice *out);

// The peer's complete params or result of `initialize`, including its name and its login methods; `{}` before
// `initialize`.
//
// - `connection`: the connection
// - `*out`: JSON text; valid until the next call that changes the connection
// - returns: `ACP_OK` or a general error
// - see https://agentclientprotocol.com/protocol/v1/initialization
acp_status acp_connection_peer_info(const acp_connection *connection, acp_slice *out);

// The name of the peer's program, for logs and messages. Rule INIT-11.
//
// - `connection`: the connection
// - `*out`: the text; valid until the next call that changes the connection, this function included
// - returns: `ACP_OK`; `ACP_NONE` before `initialize`, and if the peer does not give its name; or a general error
// - see https://agentclientprotocol.com/protocol/v1/initialization
acp_status acp_connection_peer_name(acp_connection *connection, acp_slice *out);

// What the peer advertises for one extension under `_meta` of its capabilities. Rule EXT-10.
//
// - `connection`: the connection
// - `name`: the extension's name
// - `*out`: JSON text; valid until the next call that changes the connection
// - returns: `ACP_OK`; `ACP_NONE` if the peer does not advertise the extension, and before `initialize`; or a
//   general error
// - see https://agentclientprotocol.com/protocol/v1/extensibility
acp_status acp_connection_peer_extension(const acp_connection *connection, acp_slice name, acp_slice *out);

// Whether the agent accepts this user, as far as is known.
//
// - `connection`: the connection
// - `*out`: one of `ACP_LOGIN_…`
// - returns: `ACP_OK` or a general error
// - see https://agentclientprotocol.com/protocol/v1/authentication
acp_status acp_connection_login(const acp_connection *connection, int32_t *out);

// The agent's login methods that can be used, in the agent's order. The kind is `agent` if `authenticate` (version
// 2: `auth/login`) asks the agent to log in and `terminal` if the client runs the login in a terminal. Version 2
// adds `custom` for a type that the two sides have agreed on themselves and `unknown` for a type that this library
// does not know.
//
// - `connection`: the connection
// - `*out`: JSON text, a list of objects `{"methodId", "kind"}`; valid until the next call that changes the
//   connection, this function included
// - returns: `ACP_OK` or a general error
// - see https://agentclientprotocol.com/protocol/v1/authentication
acp_status acp_connection_login_methods(acp_connection *connection, acp_slice *out);

// Whether a request may be sent again when its outcome is unknown because it timed out or the connection was lost:
// `safe` means unchanged, `key` means with the same `idempotencyKey` as the first time, `never` means not at all
// because it might be carried out twice. Also available after the connection has ended.
//
// - `connection`: the connection
// - `method`: the method's name
// - `*out`: the text; valid until the next call that changes the connection
// - returns: `ACP_OK`; `ACP_NONE` before the version is agreed on, and if the method is not a request of that
//   version; or a general error
// - see https://agentclientprotocol.com/rfds/v2/idempotency-keys
acp_status acp_connection_retry_class(const acp_connection *connection, acp_slice method, acp_slice *out);

// The ids of the elicitations that are answered on a web page and not completed yet, in alphabetical order. Rule
// ELIC-20.
//
// - `connection`: the connection
// - `*out`: JSON text, a list of strings; valid until the next call that changes the connection, this function
//   included
// - returns: `ACP_OK` or a general error
// - see https://agentclientprotocol.com/rfds/elicitation
acp_status acp_connection_open_elicitations(acp_connection *connection, acp_slice *out);

// The model providers that the agent listed last, ordered by id, and whether each is enabled. Draft
// `llm_providers`. Rule PROV-04.
//
// - `connection`: the connection
// - `*out`: JSON text, a list of objects `{"providerId", "enabled"}`; valid until the next call that changes the
//   connection, this function included
// - returns: `ACP_OK` or a general error
// - see https://agentclientprotocol.com/rfds/custom-llm-endpoint
acp_status acp_connection_providers(acp_connection *connection, acp_slice *out);

// The state of the connection as one object. All of its members are always present.
//
// - `phase`: `start`, `initializing`, `ready` or `closed`; `version`: the agreed version, or null before it is
//   agreed on
// - `login`: whether the agent accepts this user, as far as is known: `unknown`, `required` or `done`
// - `loginMethods`: a list of `{"methodId", "kind"}`, the login methods that can be used, in the agent's order;
//   the kind is `agent`, `terminal`, `custom` or `unknown`
// - `openElicitations`: the ids of the elicitations that are answered on a web page and not completed yet
// - `providers` (draft): a list of `{"providerId", "enabled"}`, the model providers that the agent listed last
//
// - `connection`: the connection
// - `*out`: JSON text; valid until the next call that changes the connection, this function included
// - returns: `ACP_OK` or a general error
acp_status acp_connection_snapshot(acp_connection *connection, acp_slice *out);

// Whether a session is open, or being loaded or resumed.
//
// - `connection`: the connection
// - `id`: the session's id
// - `*out`: one of `ACP_SESSION_…`
// - returns: `ACP_OK`; `ACP_NONE` when the session is not known; or a general error
// - see https://agentclientprotocol.com/protocol/v1/session-setup
acp_status acp_connection_session_state(const acp_connection *connection, acp_slice id, int32_t *out);

// Whether the agent is working for a session.
//
// - `connection`: the connection
// - `id`: the session's id
// - `*out`: one of `ACP_TURN_…`
// - returns: `ACP_OK`; `ACP_NONE` when the session is not known; or a general error
// - see https://agentclientprotocol.com/protocol/v1/prompt-turn
acp_status acp_connection_session_turn(const acp_connection *connection, acp_slice id, int32_t *out);

// The working directory of a session.
//
// - `connection`: the connection
// - `id`: the session's id
// - `*out`: the text; valid until the next call that changes the connection
// - returns: `ACP_OK`; `ACP_NONE` when the session is not known, or its directory is not known; or a general error
// - see https://agentclientprotocol.com/protocol/v1/session-setup
acp_status acp_connection_session_cwd(const acp_connection *connection, acp_slice id, acp_slice *out);

// All directories of a session: the working directory, then the additional ones.
//
// - `connection`: the connection
// - `id`: the session's id
// - `*out`: JSON text, a list of strings; valid until the next call that changes the connection, this function
//   included
// - returns: `ACP_OK`; `ACP_NONE` when the session is not known; or a general error
// - see https://agentclientprotocol.com/protocol/v1/session-setup
acp_status acp_connection_session_roots(acp_connection *connection, acp_slice id, acp_slice *out);

// The id of a session's current mode.
//
// - `connection`: the connection
// - `id`: the session's id
// - `*out`: the text; valid until the next call that changes the connection, this function included
// - returns: `ACP_OK`; `ACP_NONE` when the session is not known, or it has no modes; or a general error
// - see https://agentclientprotocol.com/protocol/v1/session-modes
acp_status acp_connection_session_mode(acp_connection *connection, acp_slice id, acp_slice *out);

// The modes that a session offers, as the agent listed them.
//
// - `connection`: the connection
// - `id`: the session's id
// - `*out`: JSON text; valid until the next call that changes the connection
// - returns: `ACP_OK`; `ACP_NONE` when the session is not known, or the agent has not sent the list, or it is too
//   long to be kept (256 KiB, or the limit `remembered`); or a general error
// - see https://agentclientprotocol.com/protocol/v1/session-modes
acp_status acp_connection_session_available_modes(const acp_connection *connection, acp_slice id, acp_slice *out);

// The config options of a session and their values, as the agent listed them last.
//
// - `connection`: the connection
// - `id`: the session's id
// - `*out`: JSON text; valid until the next call that changes the connection
// - returns: `ACP_OK`; `ACP_NONE` when the session is not known, or the agent has not sent the list, or it is too
//   long to be kept (256 KiB); or a general error
// - see https://agentclientprotocol.com/protocol/v1/session-config-options
acp_status acp_connection_session_config_options(const acp_connection *connection, acp_slice id, acp_slice *out);

// The tool calls of a session and the status of each, oldest first.
//
// - `connection`: the connection
// - `id`: the session's id
// - `*out`: JSON text, a list of objects `{"toolCallId", "status"}`; valid until the next call that changes the
//   connection, this function included
// - returns: `ACP_OK`; `ACP_NONE` when the session is not known; or a general error
// - see https://agentclientprotocol.com/protocol/v1/tool-calls
acp_status acp_connection_session_tool_calls(acp_connection *connection, acp_slice id, acp_slice *out);

// The entries of a session's plan, as the agent listed them last.
//
// - `connection`: the connection
// - `id`: the session's id
// - `*out`: JSON text; valid until the next call that changes the connection
// - returns: `ACP_OK`; `ACP_NONE` when the session is not known, or the agent has not sent the list, or it is too
//   long to be kept (256 KiB); or a general error
// - see https://agentclientprotocol.com/protocol/v1/agent-plan
acp_status acp_connection_session_plan(const acp_connection *connection, acp_slice id, acp_slice *out);

// The ids of a session's plans that have an id, in alphabetical order.
//
// - `connection`: the connection
// - `id`: the session's id
// - `*out`: JSON text, a list of strings; valid until the next call that changes the connection, this function
//   included
// - returns: `ACP_OK`; `ACP_NONE` when the session is not known; or a general error
// - see https://agentclientprotocol.com/rfds/plan-operations
acp_status acp_connection_session_plan_ids(acp_connection *connection, acp_slice id, acp_slice *out);

// The commands that a user can type in a session, as the agent listed them last.
//
// - `connection`: the connection
// - `id`: the session's id
// - `*out`: JSON text; valid until the next call that changes the connection
// - returns: `ACP_OK`; `ACP_NONE` when the session is not known, or the agent has not sent the list, or it is too
//   long to be kept (256 KiB); or a general error
// - see https://agentclientprotocol.com/protocol/v1/slash-commands
acp_status acp_connection_session_commands(const acp_connection *connection, acp_slice id, acp_slice *out);

// The ids of a session's compactions that have not ended, oldest first. Rule NOTE-09.
//
// - `connection`: the connection
// - `id`: the session's id
// - `*out`: JSON text, a list of strings; valid until the next call that changes the connection, this function
//   included
// - returns: `ACP_OK`; `ACP_NONE` when the session is not known; or a general error
acp_status acp_connection_session_open_compactions(acp_connection *connection, acp_slice id, acp_slice *out);

// Why the foreground work of a session ended, as the agent reported it last: `end_turn`, `cancelled`, `error` and
// so on. Rule LIFE-05.
//
// - `connection`: the connection
// - `id`: the session's id
// - `*out`: the text; valid until the next call that changes the connection
// - returns: `ACP_OK`; `ACP_NONE` when the session is not known, or the agent works, or gave no reason, or the
//   version is 1, where the response to the prompt has it; or a general error
// - see https://agentclientprotocol.com/protocol/v2/prompt-lifecycle
acp_status acp_connection_session_stop_reason(const acp_connection *connection, acp_slice id, acp_slice *out);

// The JSON-RPC error object that came with the stop reason `error`. Rule LIFE-29.
//
// - `connection`: the connection
// - `id`: the session's id
// - `*out`: JSON text; valid until the next call that changes the connection
// - returns: `ACP_OK`; `ACP_NONE` when the session is not known, or the stop reason is not `error`, or no error
//   came with it; or a general error
// - see https://agentclientprotocol.com/protocol/v2/prompt-lifecycle
acp_status acp_connection_session_stop_error(const acp_connection *connection, acp_slice id, acp_slice *out);

// The background work of a session, as the agent listed it last. Rule LIFE-35.
//
// - `connection`: the connection
// - `id`: the session's id
// - `*out`: JSON text; valid until the next call that changes the connection
// - returns: `ACP_OK`; `ACP_NONE` when the session is not known, or the agent does not report background work, or
//   the list is longer than what is kept; or a general error
// - see https://agentclientprotocol.com/protocol/v2/prompt-lifecycle
acp_status acp_connection_session_background(const acp_connection *connection, acp_slice id, acp_slice *out);

// Whether the user has logged out since a session was opened. If so, the session may fail because a login is
// missing. Rule AUTH-25.
//
// - `connection`: the connection
// - `id`: the session's id
// - `*out`: true or false
// - returns: `ACP_OK`; `ACP_NONE` when the session is not known; or a general error
// - see https://agentclientprotocol.com/protocol/v1/authentication
acp_status acp_connection_session_auth_uncertain(const acp_connection *connection, acp_slice id, bool *out);

// The id of a session's parent session.
//
// - `connection`: the connection
// - `id`: the session's id
// - `*out`: the text; valid until the next call that changes the connection
// - returns: `ACP_OK`; `ACP_NONE` when the session is not known, or the client opened it; or a general error
// - see https://agentclientprotocol.com/protocol/v1/subagents
acp_status acp_connection_session_parent(const acp_connection *connection, acp_slice id, acp_slice *out);

// Whether the client may cancel the work of a session. False only for a child session that does not allow it.
//
// - `connection`: the connection
// - `id`: the session's id
// - `*out`: true or false
// - returns: `ACP_OK`; `ACP_NONE` when the session is not known; or a general error
// - see https://agentclientprotocol.com/protocol/v1/subagents
acp_status acp_connection_session_may_cancel(const acp_connection *connection, acp_slice id, bool *out);

// The state of a session as one object. All of its members are always present. A member that lists something is
// null if the agent has not sent the list, or if it is too long to be kept (256 KiB, or the limit `remembered`).
// The cost grows with the length of the text.
//
// - `state`: `loading`, `resuming` or `ready`; `turn`: `idle`, `running`, `requires_action` or `cancelling`
// - `stopReason`: why the agent's work ended last, or null; `error`: the error that it ended with, or null;
//   `background`: the list of what runs in the background, or null (version 2)
// - `terminals`: an object that maps the id of each open terminal to whether its command has ended
// - `cwd`: the working directory, or null; `roots`: the list of all directories
// - `modes`: `{"currentModeId", "availableModes"}`, the second a list or null; null if there are no modes
// - `configOptions`, `commands`: lists as the agent sent them last, or null
// - `toolCalls`: a list of `{"toolCallId", "status"}`, oldest first
// - `displayTerminals`: a list of `{"terminalId", "exited"}`, oldest first; `cancellable`: `{"toolCalls",
//   "terminals"}`, lists of the ids of those that the client may cancel (version 2)
// - `plan`: the list of its entries, or null; `planIds`: the ids of the plans that have an id
// - `openCompactions`: the ids of the compactions that have not ended
// - `authUncertain`: whether the user has logged out since the session was opened, so that it may fail because a
//   login is missing
// - `parent`: the id of its parent session, or null; `mayCancel`: whether the client may cancel its work
//
// - `connection`: the connection
// - `id`: the session's id
// - `*out`: JSON text; valid until the next call that changes the connection, this function included
// - returns: `ACP_OK`; `ACP_NONE` when the session is not known; or a general error
acp_status acp_connection_session_snapshot(acp_connection *connection, acp_slice id, acp_slice *out);

// The text of a prompt that runs one of a session's commands: `/name`, or `/name input`. Rule CMD-05.
//
// - `connection`: the connection
// - `session`: the session's id
// - `name`: the command's name
// - `input`: the text that follows the name; empty for none
// - `*out`: the text; valid until the next call that changes the connection, this function included
// - returns: `ACP_OK`; `ACP_NONE` when the session is not known, or it has not listed the command; or a general
//   error
// - see https://agentclientprotocol.com/protocol/v1/slash-commands
acp_status acp_connection_command_text(acp_connection *connection,
                                       acp_slice session,
                                       acp_slice name,
                                       acp_slice input,
                                       acp_slice *out);

// Whether a path lies inside one of a session's directories. Only the text of the path is examined: `.` and `..`
// are resolved, but the host has to check links in the file system. False if the session or its directories are
// not known. Rule SESS-06.
//
// - `connection`: the connection
// - `session`: the session's id
// - `path`: an absolute path
// - `*out`: true or false
// - returns: `ACP_OK` or a general error
// - see https://agentclientprotocol.com/protocol/v1/session-setup
acp_status acp_connection_in_roots(const acp_connection *connection, acp_slice session, acp_slice path, bool *out);

// The sessions of the connection, sorted by id.
//
// - `connection`: the connection
// - `*out`: a list; the caller owns it and frees it with `acp_sessions_free`
// - returns: `ACP_OK` or a general error
// - see https://agentclientprotocol.com/protocol/v1/session-setup
acp_status acp_connection_sessions(const acp_connection *connection, acp_sessions **out);

// The host's own requests that have no answer yet, oldest first.
//
// - `connection`: the connection
// - `*out`: a list; the caller owns it and frees it with `acp_requests_free`
// - returns: `ACP_OK` or a general error
acp_status acp_connection_pending(const acp_connection *connection, acp_requests **out);

// The peer's requests that the host has not answered yet, oldest first. Rule RPC-15.
//
// - `connection`: the connection
// - `*out`: a list; the caller owns it and frees it with `acp_requests_free`
// - returns: `ACP_OK` or a general error
acp_status acp_connection_unanswered(const acp_connection *connection, acp_requests **out);

// The terminals that were created and not released, grouped by session. Rule TERM-04.
//
// - `connection`: the connection
// - `*out`: a list; the caller owns it and frees it with `acp_terminals_free`
// - returns: `ACP_OK` or a general error
// - see https://agentclientprotocol.com/protocol/v1/terminals
acp_status acp_connection_open_terminals(const acp_connection *connection, acp_terminals **out);

// Finds the host's own open request with this id.
//
// - `connection`: the connection
// - `id`: the request's id as JSON text
// - `*out`: the request's serial number on this connection
// - returns: `ACP_OK`; `ACP_NONE` when no such request is open; `ACP_INVALID_ARGUMENT` if `id` cannot be an id; or
//   a general error
acp_status acp_connection_pending_by_id(const acp_connection *connection, acp_slice id, uint64_t *out);

// Finds the peer's open request with this id.
//
// - `connection`: the connection
// - `id`: the request's id as JSON text
// - `*out`: the request's serial number on this connection
// - returns: `ACP_OK`; `ACP_NONE` when no such request is open; `ACP_INVALID_ARGUMENT` if `id` cannot be an id; or
//   a general error
acp_status acp_connection_unanswered_by_id(const acp_connection *connection, acp_slice id, uint64_t *out);

// The id of the host's own open request with this serial number.
//
// - `connection`: the connection
// - `serial`: the request's serial number on this connection
// - `*out`: the id as JSON text; valid until the next call that changes the connection, this function included
// - returns: `ACP_OK`; `ACP_NONE` when no such request is open; or a general error
acp_status acp_connection_pending_id(acp_connection *connection, uint64_t serial, acp_slice *out);

// The id of the peer's open request with this serial number.
//
// - `connection`: the connection
// - `serial`: the request's serial number on this connection
// - `*out`: the id as JSON text; valid until the next call that changes the connection, this function included
// - returns: `ACP_OK`; `ACP_NONE` when no such request is open; or a general error
acp_status acp_connection_unanswered_id(acp_connection *connection, uint64_t serial, acp_slice *out);

// Frees a list of sessions, and with it all slices that came from it.
//
// - `list`: the list; NULL is ignored
void acp_sessions_free(acp_sessions *list);

// Gets the number of sessions in a list.
//
// - `list`: the list
// - `*out`: the number
// - returns: `ACP_OK` or a general error
acp_status acp_sessions_len(const acp_sessions *list, size_t *out);

// Gets the id of a session in a list.
//
// - `list`: the list
// - `index`: from 0
// - `*out`: the session's id; valid until the list is freed
// - returns: `ACP_OK`; `ACP_INVALID_ARGUMENT` if `index` is out of range; or a general error
acp_status acp_sessions_id(const acp_sessions *list, size_t index, acp_slice *out);

// Gets the state of a session in a list.
//
// - `list`: the list
// - `index`: from 0
// - `*out`: one of `ACP_SESSION_…`
// - returns: `ACP_OK`; `ACP_INVALID_ARGUMENT` if `index` is out of range; or a general error
acp_status acp_sessions_state(const acp_sessions *list, size_t index, int32_t *out);

// Gets whether the agent is working for a session in a list.
//
// - `list`: the list
// - `index`: from 0
// - `*out`: one of `ACP_TURN_…`
// - returns: `ACP_OK`; `ACP_INVALID_ARGUMENT` if `index` is out of range; or a general error
acp_status acp_sessions_turn(const acp_sessions *list, size_t index, int32_t *out);

// Frees a list of requests, and with it all slices that came from it.
//
// - `list`: the list; NULL is ignored
void acp_requests_free(acp_requests *list);

// Gets the number of requests in a list.
//
// - `list`: the list
// - `*out`: the number
// - returns: `ACP_OK` or a general error
acp_status acp_requests_len(const acp_requests *list, size_t *out);

// Gets the id of a request in a list.
//
// - `list`: the list
// - `index`: from 0
// - `*out`: the id as JSON text; valid until the list is freed
// - returns: `ACP_OK`; `ACP_INVALID_ARGUMENT` if `index` is out of range; or a general error
acp_status acp_requests_id(const acp_requests *list, size_t index, acp_slice *out);

// Gets the serial number of a request in a list.
//
// - `list`: the list
// - `index`: from 0
// - `*out`: the serial number, as passed to `acp_connection_respond` or `acp_connection_cancel`
// - returns: `ACP_OK`; `ACP_INVALID_ARGUMENT` if `index` is out of range; or a general error
acp_status acp_requests_serial(const acp_requests *list, size_t index, uint64_t *out);

// Gets the method of a request in a list.
//
// - `list`: the list
// - `index`: from 0
// - `*out`: the method's name; valid until the list is freed
// - returns: `ACP_OK`; `ACP_INVALID_ARGUMENT` if `index` is out of range; or a general error
acp_status acp_requests_method(const acp_requests *list, size_t index, acp_slice *out);

// Gets the session that a request in a list is about.
//
// - `list`: the list
// - `index`: from 0
// - `*out`: the session's id; valid until the list is freed
// - returns: `ACP_OK`; `ACP_NONE` if it is not about a session; `ACP_INVALID_ARGUMENT` if `index` is out of range; or
//   a general error
acp_status acp_requests_session(const acp_requests *list, size_t index, acp_slice *out);

// Gets whether the sender of a request in a list has asked to cancel it.
//
// - `list`: the list
// - `index`: from 0
// - `*out`: whether it has
// - returns: `ACP_OK`; `ACP_INVALID_ARGUMENT` if `index` is out of range; or a general error
acp_status acp_requests_cancelled(const acp_requests *list, size_t index, bool *out);

// Gets when a request in a list times out or, for a request of the peer, when the host is reminded of it.
//
// - `list`: the list
// - `index`: from 0
// - `*out`: milliseconds on the host's clock
// - returns: `ACP_OK`; `ACP_NONE` if it does not time out or there is no reminder; `ACP_INVALID_ARGUMENT` if `index`
//   is out of range; or a general error
acp_status acp_requests_deadline(const acp_requests *list, size_t index, uint64_t *out);

// Frees a list of terminals, and with it all slices that came from it.
//
// - `list`: the list; NULL is ignored
void acp_terminals_free(acp_terminals *list);

// Gets the number of terminals in a list.
//
// - `list`: the list
// - `*out`: the number
// - returns: `ACP_OK` or a general error
acp_status acp_terminals_len(const acp_terminals *list, size_t *out);

// Gets the session of a terminal in a list.
//
// - `list`: the list
// - `index`: from 0
// - `*out`: the session's id; valid until the list is freed
// - returns: `ACP_OK`; `ACP_INVALID_ARGUMENT` if `index` is out of range; or a general error
acp_status acp_terminals_session(const acp_terminals *list, size_t index, acp_slice *out);

// Gets the id of a terminal in a list.
//
// - `list`: the list
// - `index`: from 0
// - `*out`: the terminal's id, unique within its session; valid until the list is freed
// - returns: `ACP_OK`; `ACP_INVALID_ARGUMENT` if `index` is out of range; or a general error
acp_status acp_terminals_id(const acp_terminals *list, size_t index, acp_slice *out);

// Gets whether the command of a terminal in a list is known to have ended.
//
// - `list`: the list
// - `index`: from 0
// - `*out`: whether it is
// - returns: `ACP_OK`; `ACP_INVALID_ARGUMENT` if `index` is out of range; or a general error
acp_status acp_terminals_ended(const acp_terminals *list, size_t index, bool *out);

// Frees an event, and with it all slices that came from it.
//
// - `event`: the event; NULL is ignored
void acp_event_free(acp_event *event);

// Gets the kind of an event.
//
// - `event`: the event
// - `*out`: one of `ACP_EVENT_…`
// - returns: `ACP_OK` or a general error
acp_status acp_event_kind(const acp_event *event, int32_t *out);

// Gets the method that an event is about. For a response or an answer of the host's, that is the method of the
// request.
//
// - `event`: the event
// - `*out`: the method's name; valid until the event is freed
// - returns: `ACP_OK`; `ACP_NONE` for a closed event, and for a violation whose method could not be read; or a general
//   error
acp_status acp_event_method(const acp_event *event, acp_slice *out);

// Gets the id of the request that an event is about.
//
// - `event`: the event
// - `*out`: the id as JSON text, a string, an integer or null; valid until the event is freed
// - returns: `ACP_OK`; `ACP_NONE` for a notification and a closed event, for a violation whose id could not be read,
//   and for advice about anything but one of the peer's requests; or a general error
acp_status acp_event_id(const acp_event *event, acp_slice *out);

// Gets the serial number of the request that an event is about.
//
// - `event`: the event
// - `*out`: the serial number, unique on the connection; for a request of the peer, pass it to
//   `acp_connection_respond`
// - returns: `ACP_OK`; `ACP_NONE` for events other than requests, (late) responses, cancels and answered events; or a
//   general error
acp_status acp_event_serial(const acp_event *event, uint64_t *out);

// Gets the session that an event is about.
//
// - `event`: the event
// - `*out`: the session's id; valid until the event is freed
// - returns: `ACP_OK`; `ACP_NONE` if it is not about a session; or a general error
acp_status acp_event_session(const acp_event *event, acp_slice *out);

// Gets the params of a request or a notification. They fit the protocol, except those of an extension's method, which
// are not checked.
//
// - `event`: the event
// - `*out`: JSON text, `{}` if the message had no params; valid until the event is freed
// - returns: `ACP_OK`; `ACP_NONE` for other events; or a general error
acp_status acp_event_params(const acp_event *event, acp_slice *out);

// Gets the kind of a `session/update` notification.
//
// - `event`: the event
// - `*out`: one of `ACP_UPDATE_…`; valid until the event is freed
// - returns: `ACP_OK`; `ACP_NONE` for other events and unknown kinds; or a general error
acp_status acp_event_update(const acp_event *event, acp_slice *out);

// Gets where a notification falls in the life of its session.
//
// - `event`: the event
// - `*out`: one of `ACP_TIMING_…`
// - returns: `ACP_OK`; `ACP_NONE` for other events; or a general error
acp_status acp_event_timing(const acp_event *event, int32_t *out);

// Gets how one of the host's requests ended.
//
// - `event`: the event
// - `*out`: one of `ACP_RESPONSE_…`
// - returns: `ACP_OK`; `ACP_NONE` for events other than (late) responses; or a general error
acp_status acp_event_outcome(const acp_event *event, int32_t *out);

// Gets the result of one of the host's requests.
//
// - `event`: the event
// - `*out`: JSON text; valid until the event is freed
// - returns: `ACP_OK`; `ACP_NONE` if the event is not a (late) response or did not end with `ACP_RESPONSE_RESULT`; or
//   a general error
acp_status acp_event_result(const acp_event *event, acp_slice *out);

// Gets the code of the error with which the peer answered one of the host's requests.
//
// - `event`: the event
// - `*out`: the code (`ACP_CODE_…`, or one of the peer's)
// - returns: `ACP_OK`; `ACP_NONE` if the event is not a (late) response or did not end with `ACP_RESPONSE_ERROR`; or a
//   general error
acp_status acp_event_error_code(const acp_event *event, int32_t *out);

// Gets the message of the error with which the peer answered one of the host's requests.
//
// - `event`: the event
// - `*out`: the message as the peer wrote it; valid until the event is freed
// - returns: `ACP_OK`; `ACP_NONE` if the event is not a (late) response or did not end with `ACP_RESPONSE_ERROR`; or a
//   general error
acp_status acp_event_error_message(const acp_event *event, acp_slice *out);

// Gets the data of the error with which the peer answered one of the host's requests.
//
// - `event`: the event
// - `*out`: JSON text; valid until the event is freed
// - returns: `ACP_OK`; `ACP_NONE` if there is no such error or it has no data; or a general error
acp_status acp_event_error_data(const acp_event *event, acp_slice *out);

// Gets the rule behind an event: the one that a violation broke, the one that advice is about, or the one that
// required the library to answer a request (answered event).
//
// - `event`: the event
// - `*out`: the rule's id, for `acp_rule_text`; valid until the event is freed
// - returns: `ACP_OK`; `ACP_NONE` for other events; or a general error
acp_status acp_event_rule(const acp_event *event, acp_slice *out);

// Gets what is wrong, of a violation, or what goes against a recommendation, of advice, in one sentence.
//
// - `event`: the event
// - `*out`: the sentence; valid until the event is freed
// - returns: `ACP_OK`; `ACP_NONE` for other events; or a general error
acp_status acp_event_message(const acp_event *event, acp_slice *out);

// Gets where the problem is in the params or the result, of a violation or advice.
//
// - `event`: the event
// - `*out`: a JSON pointer, empty if the message as a whole is meant; valid until the event is freed
// - returns: `ACP_OK`; `ACP_NONE` for other events; or a general error
acp_status acp_event_pointer(const acp_event *event, acp_slice *out);

// Gets what happened to the message that broke a rule.
//
// - `event`: the event
// - `*out`: one of `ACP_CONSEQUENCE_…`
// - returns: `ACP_OK`; `ACP_NONE` for events other than violations; or a general error
acp_status acp_event_consequence(const acp_event *event, int32_t *out);

// Gets the code of the error with which the library answered the message that broke a rule.
//
// - `event`: the event
// - `*out`: the code (`ACP_CODE_…`)
// - returns: `ACP_OK`; `ACP_NONE` if the event is not a violation or its consequence is not `ACP_CONSEQUENCE_REFUSED`;
//   or a general error
acp_status acp_event_answer_code(const acp_event *event, int32_t *out);

// Gets the number of the frame that broke a rule. Frames are counted from 1, separately for each sender.
//
// - `event`: the event
// - `*out`: the number
// - returns: `ACP_OK`; `ACP_NONE` for events other than violations; or a general error
acp_status acp_event_frame(const acp_event *event, uint64_t *out);

// Gets the beginning of the frame that broke a rule, for logs.
//
// - `event`: the event
// - `*out`: at most 256 bytes of the frame, with U+FFFD in place of what is not UTF-8; empty if the frame may hold
//   secrets (rule AUTH-27); valid until the event is freed
// - returns: `ACP_OK`; `ACP_NONE` for events other than violations; or a general error
acp_status acp_event_excerpt(const acp_event *event, acp_slice *out);

// Gets why the connection has ended.
//
// - `event`: the event
// - `*out`: one of `ACP_CLOSE_…`
// - returns: `ACP_OK`; `ACP_NONE` for events other than closed events; or a general error
acp_status acp_event_close_reason(const acp_event *event, int32_t *out);

// Gets how many of the peer's requests the host had not answered when the connection ended.
//
// - `event`: the event
// - `*out`: the number of requests; 0 for events other than closed events
// - returns: `ACP_OK` or a general error
acp_status acp_event_unanswered_len(const acp_event *event, size_t *out);

// Gets the id of one of the peer's requests that the host had not answered when the connection ended.
//
// - `event`: the event
// - `index`: from 0, oldest first
// - `*out`: the id as JSON text; valid until the event is freed
// - returns: `ACP_OK`; `ACP_INVALID_ARGUMENT` if `index` is not less than `acp_event_unanswered_len`; or a general
//   error
acp_status acp_event_unanswered_id(const acp_event *event, size_t index, acp_slice *out);

// Gets how many terminals had not been released when the connection ended.
//
// - `event`: the event
// - `*out`: the number of terminals; 0 for events other than closed events
// - returns: `ACP_OK` or a general error
acp_status acp_event_terminals_len(const acp_event *event, size_t *out);

// Gets one of the terminals that had not been released when the connection ended.
//
// - `event`: the event
// - `index`: from 0
// - `*session`: the id of the terminal's session; valid until the event is freed
// - `*id`: the terminal's id, unique within its session; valid until the event is freed
// - returns: `ACP_OK`; `ACP_INVALID_ARGUMENT` if `index` is not less than `acp_event_terminals_len`; or a general
//   error
acp_status acp_event_terminal(const acp_event *event, size_t index, acp_slice *session, acp_slice *id);

// Creates an observer at the start of a conversation. It follows a client and an agent, reports which rules either of
// them breaks, and sends nothing.
//
// - `config`: the configuration; copied. Its role and its time-outs do not matter. Its versions are those that the
//   observer can follow, so usually all of them
// - `*out`: the observer; the caller owns it and frees it with `acp_observer_free`
// - returns: `ACP_OK` or a general error
ACP_MUST_USE acp_status acp_observer_new(const acp_config *config, acp_observer **out);

// Frees an observer. Events and lists that came from it stay valid; slices that came from it do not.
//
// - `observer`: the observer; NULL is ignored
void acp_observer_free(acp_observer *observer);

// Passes in bytes that one side sent, in chunks of any size (with `ACP_FRAMING_MESSAGES`: exactly one message). Pass
// the bytes of the two sides in the order in which they were sent: an answer that comes before its request answers
// nothing. Poll for events after each call, as they are decoded by `acp_observer_poll_event`. Bytes that a side sends
// after the end of its stream are ignored.
//
// - `observer`: the observer
// - `from`: the side that sent them, one of `ACP_ROLE_…`
// - `bytes`: the bytes; copied
// - returns: `ACP_OK`; `ACP_INVALID_ARGUMENT` if `from` is not listed; or a general error
acp_status acp_observer_receive(acp_observer *observer, int32_t from, acp_slice bytes);

// Reports that one side has closed its stream. Once both have, requests that were not answered end with
// `ACP_RESPONSE_CLOSED`, and `ACP_EVENT_CLOSED` is the last event.
//
// - `observer`: the observer
// - `from`: the side that closed its stream, one of `ACP_ROLE_…`
// - returns: `ACP_OK`; `ACP_INVALID_ARGUMENT` if `from` is not listed; or a general error
acp_status acp_observer_receive_eof(acp_observer *observer, int32_t from);

// Takes the next event. Call it until it returns `ACP_NONE`.
//
// The consequence of a violation is what the receiver is expected to do with the message; what it really did shows in
// the following events.
//
// - `observer`: the observer
// - `*from`: the side that sent the message, one of `ACP_ROLE_…`. For a violation, that is the side that broke the
//   rule; for a request that ended without an answer, the side that had sent the request
// - `*out`: the event; the caller owns it and frees it with `acp_event_free`. It does not depend on the observer
// - returns: `ACP_OK`; `ACP_NONE` if there is no event now; or a general error
acp_status acp_observer_poll_event(acp_observer *observer, int32_t *from, acp_event **out);

// Gets how many bytes were received from both sides and not decoded yet.
//
// - `observer`: the observer
// - `*out`: bytes
// - returns: `ACP_OK` or a general error
acp_status acp_observer_buffered(const acp_observer *observer, size_t *out);

// Gets the protocol version that both sides agreed on. Before the agent has answered `initialize`, it is the version
// that it is expected to choose.
//
// - `observer`: the observer
// - `*out`: the version number
// - returns: `ACP_OK`; `ACP_NONE` before `initialize`; or a general error
acp_status acp_observer_version(const acp_observer *observer, uint16_t *out);

// Gets how far the conversation is.
//
// - `observer`: the observer
// - `*out`: one of `ACP_PHASE_…`
// - returns: `ACP_OK` or a general error
acp_status acp_observer_phase(const acp_observer *observer, int32_t *out);

// Gets the capabilities that one side advertised.
//
// - `observer`: the observer
// - `of`: the side, one of `ACP_ROLE_…`
// - `*out`: its capabilities object as JSON text, `{}` before `initialize`; valid until the next call that changes the
//   observer
// - returns: `ACP_OK`; `ACP_INVALID_ARGUMENT` if `of` is not listed; or a general error
acp_status acp_observer_capabilities(const acp_observer *observer, int32_t of, acp_slice *out);

// Gets the sessions of the conversation, sorted by id.
//
// - `observer`: the observer
// - `*out`: a list; the caller owns it and frees it with `acp_sessions_free`
// - returns: `ACP_OK` or a general error
acp_status acp_observer_sessions(const acp_observer *observer, acp_sessions **out);

// Gets the requests of one side that have no answer yet, oldest first.
//
// - `observer`: the observer
// - `of`: the side that sent them, one of `ACP_ROLE_…`
// - `*out`: a list; the caller owns it and frees it with `acp_requests_free`
// - returns: `ACP_OK`; `ACP_INVALID_ARGUMENT` if `of` is not listed; or a general error
acp_status acp_observer_open_requests(const acp_observer *observer, int32_t of, acp_requests **out);

// Gets the state of the conversation as one object with the members that `acp_connection_snapshot` lists.
//
// - `observer`: the observer
// - `*out`: JSON text; valid until the next call that changes the observer, this function included
// - returns: `ACP_OK` or a general error
acp_status acp_observer_snapshot(acp_observer *observer, acp_slice *out);

// Gets the state of a session as one object with the members that `acp_connection_session_snapshot` lists.
//
// - `observer`: the observer
// - `id`: the session's id
// - `*out`: JSON text; valid until the next call that changes the observer, this function included
// - returns: `ACP_OK`; `ACP_NONE` if the session is not known; or a general error
acp_status acp_observer_session_snapshot(acp_observer *observer, acp_slice id, acp_slice *out);

// The sessions that have a view: none unless the configuration says `view`.
//
// - `connection`: the connection
// - `*out`: JSON text, a list of strings; valid until the next call that changes the connection, this function
//   included
// - returns: `ACP_OK` or a general error
acp_status acp_connection_views(acp_connection *connection, acp_slice *out);

// A session as a conversation: what a client shows, whichever version the peers speak. All of its members are
// always present. The cost grows with the length of the text; `view_since` has what is new.
//
// - `revision`: a number that grows with each change; `epoch`: a number that grows when the conversation is
//   replaced by another one
// - `state`: `idle`, `running`, `requires_action`, `unknown` or a state of the agent's own; `stopReason`, `error`:
//   why the work ended last, or null; `usage`, `turnUsage`: objects or null
// - `title`, `updatedAt`: strings or null; `configOptions`, `commands`, `background`: lists or null, with the
//   names of version 2; `modes`: `{"currentModeId", "availableModes"}` or null
// - `questions`: a list of `{"serial", "id", "method", "toolCallId", "params"}`, the agent's open questions;
//   `prompts`: a list of `{"serial", "id", "index", "messageId"}`, the client's open prompts
// - `replaying`: whether a conversation is being replayed; `frozen`: whether the session is over; `turn`,
//   `trimmed`, `dropped`: how many turns there were, entries that became stubs, and entries that are not even that
// - `entries`, `terminals`: lists of objects. Each has `type` (`message`, `tool_call`, `plan`, `compaction`,
//   `subagent`, `notice`, `update`; `terminal`), `index`, `revision`, `rewritten`, `turn`, `id` (or null), `meta`,
//   `discarded`, `trimmed`, `truncated`, `end`, and by its type:
// - `message`: `role` (`user`, `agent`, `thought`, `session`), `pending`, `blocks` (adjacent text is one block);
//   `tool_call`: `name`, `title`, `kind`, `status`, `locations`, `rawInput`, `rawOutput`, `capabilities`,
//   `content`, `permission` (a serial number or null); `plan`: `plan`; `compaction`: `status`, `error`, `summary`
// - `terminal`: `command`, `cwd`, `size`, `exitStatus`, `capabilities`, `output` (text), `before` (bytes before it
//   that were given up); `subagent`: `title`, `description`, `capabilities`, `state`, `cwd`,
//   `additionalDirectories`; `notice`: `severity`, `title`, `description`; `update`: `sessionUpdate`, `update`
//
// - `connection`: the connection
// - `session`: the session's id
// - `*out`: JSON text; valid until the next call that changes the connection, this function included
// - returns: `ACP_OK`; `ACP_NONE` when there is no view of the session; or a general error
acp_status acp_connection_view(acp_connection *connection, acp_slice session, acp_slice *out);

// The revision of a session's view: a number that grows with each change. Cheap, to find out whether there is
// anything to draw.
//
// - `connection`: the connection
// - `session`: the session's id
// - `*out`: the number
// - returns: `ACP_OK`; `ACP_NONE` when there is no view of the session; or a general error
acp_status acp_connection_view_revision(const acp_connection *connection, acp_slice session, uint64_t *out);

// What has changed in a session's view since a revision, without what can be long and grows: entries and terminals
// lack `blocks`, `summary`, `content`, `output` and `before`. Where the number `end` of one is not what it was,
// `view_content` has what is new. The cost grows with what has changed.
//
// - `revision`, `epoch`: numbers as in the view; `first`: the index of the first entry that is kept, those before
//   it were dropped
// - `reset`: whether another conversation is shown since then; nothing of what was read before is there any more,
//   positions included
// - `entries`, `terminals`: lists of those that are new or have changed; `removed`: a list of the indexes of those
//   that are not there any more
// - and those other members of the view that have changed; with `reset` all of them
//
// - `connection`: the connection
// - `session`: the session's id
// - `revision`: the revision that was read last; 0 for the first time
// - `*out`: JSON text; valid until the next call that changes the connection, this function included
// - returns: `ACP_OK`; `ACP_NONE` when there is no view of the session; or a general error
acp_status acp_connection_view_since(acp_connection *connection, acp_slice session, uint64_t revision, acp_slice *out);

// The content of an entry, or of a terminal, from a position on: of a content that has grown at its end, what is
// new. The cost grows with that, so that all of a content costs as much however often it is read while it grows.
//
// - `from`: the position; 0 if this is all of the content, because it was changed otherwise since the position was
//   its `end`; what was read before is not valid then
// - `end`: the position to read from the next time
// - `continues`: whether the first block goes on with the last one that was read, both being one run of text; of a
//   terminal, whether its text goes on
// - `blocks` (of a message), `summary` (of a compaction), `content` (of a tool call): lists; or `output`, `before`
//   (of a terminal): its text, in which a character comes whole once all of its bytes have, and the number of
//   bytes before the text that were given up
//
// - `connection`: the connection
// - `session`: the session's id
// - `index`: the entry's index
// - `position`: the `end` that the content was read to; 0 for all of it
// - `*out`: JSON text; valid until the next call that changes the connection, this function included
// - returns: `ACP_OK`; `ACP_NONE` when there is no view of the session, or it has no such entry; or a general
//   error
acp_status acp_connection_view_content(acp_connection *connection,
                                       acp_slice session,
                                       uint64_t index,
                                       uint64_t position,
                                       acp_slice *out);

// All text of a message, or of the summary of a compaction, in one piece.
//
// - `connection`: the connection
// - `session`: the session's id
// - `index`: the entry's index
// - `*out`: the text; valid until the next call that changes the connection
// - returns: `ACP_OK`; `ACP_NONE` when there is no view of the session, or the entry of this index is neither a
//   message nor a compaction; or a general error
acp_status acp_connection_view_text(const acp_connection *connection,
                                    acp_slice session,
                                    uint64_t index,
                                    acp_slice *out);

// The last bytes that a terminal has printed, as they came.
//
// - `connection`: the connection
// - `session`: the session's id
// - `index`: the terminal's index
// - `*out`: the bytes, not copied; valid until the next call that changes the connection
// - returns: `ACP_OK`; `ACP_NONE` when there is no view of the session, or the entry of this index is no terminal;
//   or a general error
acp_status acp_connection_view_output(const acp_connection *connection,
                                      acp_slice session,
                                      uint64_t index,
                                      acp_slice *out);

// Forgets the view of a session that is over; whether there was one. Views of closed and deleted sessions stay
// until then, or until 64 others are over.
//
// - `connection`: the connection
// - `session`: the session's id
// - `*out`: true or false
// - returns: `ACP_OK` or a general error
acp_status acp_connection_forget_view(acp_connection *connection, acp_slice session, bool *out);

// The sessions that have a view: none unless the configuration says `view`.
//
// - `observer`: the observer
// - `*out`: JSON text, a list of strings; valid until the next call that changes the observer, this function
//   included
// - returns: `ACP_OK` or a general error
acp_status acp_observer_views(acp_observer *observer, acp_slice *out);

// A session as a conversation: what a client shows, whichever version the peers speak. All of its members are
// always present. The cost grows with the length of the text; `view_since` has what is new.
//
// - `revision`: a number that grows with each change; `epoch`: a number that grows when the conversation is
//   replaced by another one
// - `state`: `idle`, `running`, `requires_action`, `unknown` or a state of the agent's own; `stopReason`, `error`:
//   why the work ended last, or null; `usage`, `turnUsage`: objects or null
// - `title`, `updatedAt`: strings or null; `configOptions`, `commands`, `background`: lists or null, with the
//   names of version 2; `modes`: `{"currentModeId", "availableModes"}` or null
// - `questions`: a list of `{"serial", "id", "method", "toolCallId", "params"}`, the agent's open questions;
//   `prompts`: a list of `{"serial", "id", "index", "messageId"}`, the client's open prompts
// - `replaying`: whether a conversation is being replayed; `frozen`: whether the session is over; `turn`,
//   `trimmed`, `dropped`: how many turns there were, entries that became stubs, and entries that are not even that
// - `entries`, `terminals`: lists of objects. Each has `type` (`message`, `tool_call`, `plan`, `compaction`,
//   `subagent`, `notice`, `update`; `terminal`), `index`, `revision`, `rewritten`, `turn`, `id` (or null), `meta`,
//   `discarded`, `trimmed`, `truncated`, `end`, and by its type:
// - `message`: `role` (`user`, `agent`, `thought`, `session`), `pending`, `blocks` (adjacent text is one block);
//   `tool_call`: `name`, `title`, `kind`, `status`, `locations`, `rawInput`, `rawOutput`, `capabilities`,
//   `content`, `permission` (a serial number or null); `plan`: `plan`; `compaction`: `status`, `error`, `summary`
// - `terminal`: `command`, `cwd`, `size`, `exitStatus`, `capabilities`, `output` (text), `before` (bytes before it
//   that were given up); `subagent`: `title`, `description`, `capabilities`, `state`, `cwd`,
//   `additionalDirectories`; `notice`: `severity`, `title`, `description`; `update`: `sessionUpdate`, `update`
//
// - `observer`: the observer
// - `session`: the session's id
// - `*out`: JSON text; valid until the next call that changes the observer, this function included
// - returns: `ACP_OK`; `ACP_NONE` when there is no view of the session; or a general error
acp_status acp_observer_view(acp_observer *observer, acp_slice session, acp_slice *out);

// The revision of a session's view: a number that grows with each change. Cheap, to find out whether there is
// anything to draw.
//
// - `observer`: the observer
// - `session`: the session's id
// - `*out`: the number
// - returns: `ACP_OK`; `ACP_NONE` when there is no view of the session; or a general error
acp_status acp_observer_view_revision(const acp_observer *observer, acp_slice session, uint64_t *out);

// What has changed in a session's view since a revision, without what can be long and grows: entries and terminals
// lack `blocks`, `summary`, `content`, `output` and `before`. Where the number `end` of one is not what it was,
// `view_content` has what is new. The cost grows with what has changed.
//
// - `revision`, `epoch`: numbers as in the view; `first`: the index of the first entry that is kept, those before
//   it were dropped
// - `reset`: whether another conversation is shown since then; nothing of what was read before is there any more,
//   positions included
// - `entries`, `terminals`: lists of those that are new or have changed; `removed`: a list of the indexes of those
//   that are not there any more
// - and those other members of the view that have changed; with `reset` all of them
//
// - `observer`: the observer
// - `session`: the session's id
// - `revision`: the revision that was read last; 0 for the first time
// - `*out`: JSON text; valid until the next call that changes the observer, this function included
// - returns: `ACP_OK`; `ACP_NONE` when there is no view of the session; or a general error
acp_status acp_observer_view_since(acp_observer *observer, acp_slice session, uint64_t revision, acp_slice *out);

// The content of an entry, or of a terminal, from a position on: of a content that has grown at its end, what is
// new. The cost grows with that, so that all of a content costs as much however often it is read while it grows.
//
// - `from`: the position; 0 if this is all of the content, because it was changed otherwise since the position was
//   its `end`; what was read before is not valid then
// - `end`: the position to read from the next time
// - `continues`: whether the first block goes on with the last one that was read, both being one run of text; of a
//   terminal, whether its text goes on
// - `blocks` (of a message), `summary` (of a compaction), `content` (of a tool call): lists; or `output`, `before`
//   (of a terminal): its text, in which a character comes whole once all of its bytes have, and the number of
//   bytes before the text that were given up
//
// - `observer`: the observer
// - `session`: the session's id
// - `index`: the entry's index
// - `position`: the `end` that the content was read to; 0 for all of it
// - `*out`: JSON text; valid until the next call that changes the observer, this function included
// - returns: `ACP_OK`; `ACP_NONE` when there is no view of the session, or it has no such entry; or a general
//   error
acp_status acp_observer_view_content(acp_observer *observer,
                                     acp_slice session,
                                     uint64_t index,
                                     uint64_t position,
                                     acp_slice *out);

// All text of a message, or of the summary of a compaction, in one piece.
//
// - `observer`: the observer
// - `session`: the session's id
// - `index`: the entry's index
// - `*out`: the text; valid until the next call that changes the observer
// - returns: `ACP_OK`; `ACP_NONE` when there is no view of the session, or the entry of this index is neither a
//   message nor a compaction; or a general error
acp_status acp_observer_view_text(const acp_observer *observer, acp_slice session, uint64_t index, acp_slice *out);

// The last bytes that a terminal has printed, as they came.
//
// - `observer`: the observer
// - `session`: the session's id
// - `index`: the terminal's index
// - `*out`: the bytes, not copied; valid until the next call that changes the observer
// - returns: `ACP_OK`; `ACP_NONE` when there is no view of the session, or the entry of this index is no terminal;
//   or a general error
acp_status acp_observer_view_output(const acp_observer *observer, acp_slice session, uint64_t index, acp_slice *out);

// Forgets the view of a session that is over; whether there was one. Views of closed and deleted sessions stay
// until then, or until 64 others are over.
//
// - `observer`: the observer
// - `session`: the session's id
// - `*out`: true or false
// - returns: `ACP_OK` or a general error
acp_status acp_observer_forget_view(acp_observer *observer, acp_slice session, bool *out);

// Gets what a rule of the catalogue says, in one sentence.
//
// - `id`: the rule's id, such as "SESS-01"
// - `*out`: the sentence; always valid
// - returns: `ACP_OK`; `ACP_NONE` if no rule has this id; or a general error
acp_status acp_rule_text(acp_slice id, acp_slice *out);

// Gets how binding the specification makes a rule.
//
// - `id`: the rule's id
// - `*out`: one of `ACP_LEVEL_…`
// - returns: `ACP_OK`; `ACP_NONE` if no rule has this id; or a general error
acp_status acp_rule_level(acp_slice id, int32_t *out);

// Gets how bad it is to break a rule.
//
// - `id`: the rule's id
// - `*out`: one of `ACP_SEVERITY_…`
// - returns: `ACP_OK`; `ACP_NONE` if no rule has this id; or a general error
acp_status acp_rule_severity(acp_slice id, int32_t *out);

// Finds a value in JSON text.
//
// - `json`: JSON text
// - `pointer`: a JSON pointer such as `/update/entries/0`; empty for the whole text
// - `*out`: the value as it stands in the text (a string with its quotes and escapes); a part of `json`, valid as long
//   as that
// - returns: `ACP_OK`; `ACP_NONE` if the pointer names nothing or the text up to there is not JSON; or a general error
acp_status acp_json_find(acp_slice json, acp_slice pointer, acp_slice *out);

// Gets the type of a value in JSON text.
//
// - `json`: JSON text
// - `pointer`: a JSON pointer; empty for the whole text
// - `*out`: one of `ACP_JSON_…`
// - returns: `ACP_OK`; `ACP_NONE` if the pointer names nothing; or a general error
acp_status acp_json_type(acp_slice json, acp_slice pointer, int32_t *out);

// Copies a string in JSON text to a buffer, without quotes and escapes. No NUL is added. Half a surrogate pair becomes
// U+FFFD.
//
// - `json`: JSON text
// - `pointer`: a JSON pointer; empty for the whole text
// - `buffer`: where to copy the string; may be NULL if `capacity` is 0
// - `capacity`: the size of `buffer` in bytes
// - `*out`: the length of the string in bytes; also written with `ACP_SHORT_BUFFER`
// - returns: `ACP_OK`; `ACP_SHORT_BUFFER` if the string is longer than `capacity` (`buffer` is untouched); `ACP_NONE`
//   if the pointer names nothing; `ACP_WRONG_TYPE` if it names no string; or a general error
acp_status acp_json_string(acp_slice json, acp_slice pointer, char *buffer, size_t capacity, size_t *out);

// Gets whether a value in JSON text is a string with a given content.
//
// - `json`: JSON text
// - `pointer`: a JSON pointer; empty for the whole text
// - `text`: the content to compare with, without quotes and escapes
// - `*out`: whether they are equal; false if the pointer names nothing or another type
// - returns: `ACP_OK` or a general error
acp_status acp_json_string_is(acp_slice json, acp_slice pointer, acp_slice text, bool *out);

// Gets an integer in JSON text, exactly.
//
// - `json`: JSON text
// - `pointer`: a JSON pointer; empty for the whole text
// - `*out`: the number
// - returns: `ACP_OK`; `ACP_NONE` if the pointer names nothing; `ACP_WRONG_TYPE` if it names no number, a number with
//   a fraction or an exponent, or one that does not fit; or a general error
acp_status acp_json_int64(acp_slice json, acp_slice pointer, int64_t *out);

// Gets an unsigned integer in JSON text, exactly.
//
// - `json`: JSON text
// - `pointer`: a JSON pointer; empty for the whole text
// - `*out`: the number
// - returns: `ACP_OK`; `ACP_NONE` if the pointer names nothing; `ACP_WRONG_TYPE` if it names no number, a negative
//   number, a number with a fraction or an exponent, or one that does not fit; or a general error
acp_status acp_json_uint64(acp_slice json, acp_slice pointer, uint64_t *out);

// Gets a number in JSON text as the nearest double.
//
// - `json`: JSON text
// - `pointer`: a JSON pointer; empty for the whole text
// - `*out`: the number
// - returns: `ACP_OK`; `ACP_NONE` if the pointer names nothing; `ACP_WRONG_TYPE` if it names no number or one that is
//   too large for a double; or a general error
acp_status acp_json_double(acp_slice json, acp_slice pointer, double *out);

// Gets a boolean in JSON text.
//
// - `json`: JSON text
// - `pointer`: a JSON pointer; empty for the whole text
// - `*out`: the boolean
// - returns: `ACP_OK`; `ACP_NONE` if the pointer names nothing; `ACP_WRONG_TYPE` if it names no boolean; or a general
//   error
acp_status acp_json_bool(acp_slice json, acp_slice pointer, bool *out);

// Gets how many items a list or members an object in JSON text has.
//
// - `json`: JSON text
// - `pointer`: a JSON pointer; empty for the whole text
// - `*out`: the number
// - returns: `ACP_OK`; `ACP_NONE` if the pointer names nothing; `ACP_WRONG_TYPE` if it names neither a list nor an
//   object; or a general error
acp_status acp_json_len(acp_slice json, acp_slice pointer, size_t *out);

// Gets the items of a list or the members of an object in JSON text, for iteration. The text is read only once, here.
//
// - `json`: JSON text, which must not change or go away before the items are freed
// - `pointer`: a JSON pointer; empty for the whole text
// - `*out`: the items in order; the caller owns them and frees them with `acp_items_free`
// - returns: `ACP_OK`; `ACP_NONE` if the pointer names nothing; `ACP_WRONG_TYPE` if it names neither a list nor an
//   object; or a general error
acp_status acp_json_items(acp_slice json, acp_slice pointer, acp_items **out);

// Frees items, and with them the keys that came from them.
//
// - `items`: the items; NULL is ignored
void acp_items_free(acp_items *items);

// Gets the number of items or members.
//
// - `items`: the items
// - `*out`: the number
// - returns: `ACP_OK` or a general error
acp_status acp_items_len(const acp_items *items, size_t *out);

// Gets the name of a member of an object.
//
// - `items`: the items
// - `index`: from 0
// - `*out`: the name without quotes and escapes; valid until the items are freed
// - returns: `ACP_OK`; `ACP_NONE` for the items of a list; `ACP_INVALID_ARGUMENT` if `index` is out of range; or a
//   general error
acp_status acp_items_key(const acp_items *items, size_t index, acp_slice *out);

// Gets an item of a list or the value of a member.
//
// - `items`: the items
// - `index`: from 0
// - `*out`: the value as it stands in the text; a part of the text, valid as long as that
// - returns: `ACP_OK`; `ACP_INVALID_ARGUMENT` if `index` is out of range; or a general error
acp_status acp_items_value(const acp_items *items, size_t index, acp_slice *out);

// Creates an empty writer.
//
// Pieces are checked at the end: the functions that add one accept it even if it does not belong there (a value where
// a key is due, say), and `acp_writer_finish` reports the mistake. After `acp_writer_finish` they return
// `ACP_WRITER_MISUSE`, until `acp_writer_reset`.
//
// - `*out`: the writer; the caller owns it and frees it with `acp_writer_free`
// - returns: `ACP_OK` or a general error
ACP_MUST_USE acp_status acp_writer_new(acp_writer **out);

// Frees a writer, and with it the text that came from it.
//
// - `writer`: the writer; NULL is ignored
void acp_writer_free(acp_writer *writer);

// Makes a writer empty again, also after it was finished. The text that came from it is no longer valid.
//
// - `writer`: the writer
// - returns: `ACP_OK` or a general error
acp_status acp_writer_reset(acp_writer *writer);

// Begins an object.
//
// - `writer`: the writer
// - returns: `ACP_OK`; `ACP_WRITER_MISUSE` if the writer is finished; or a general error
acp_status acp_writer_begin_object(acp_writer *writer);

// Ends the innermost object.
//
// - `writer`: the writer
// - returns: `ACP_OK`; `ACP_WRITER_MISUSE` if the writer is finished; or a general error
acp_status acp_writer_end_object(acp_writer *writer);

// Begins a list.
//
// - `writer`: the writer
// - returns: `ACP_OK`; `ACP_WRITER_MISUSE` if the writer is finished; or a general error
acp_status acp_writer_begin_array(acp_writer *writer);

// Ends the innermost list.
//
// - `writer`: the writer
// - returns: `ACP_OK`; `ACP_WRITER_MISUSE` if the writer is finished; or a general error
acp_status acp_writer_end_array(acp_writer *writer);

// Writes the name of a member of the innermost object. Its value comes next.
//
// - `writer`: the writer
// - `name`: the name, without quotes and escapes
// - returns: `ACP_OK`; `ACP_WRITER_MISUSE` if the writer is finished; or a general error
acp_status acp_writer_key(acp_writer *writer, acp_slice name);

// Writes a string.
//
// - `writer`: the writer
// - `value`: the text, without quotes and escapes, which are added
// - returns: `ACP_OK`; `ACP_WRITER_MISUSE` if the writer is finished; or a general error
acp_status acp_writer_string(acp_writer *writer, acp_slice value);

// Writes an integer.
//
// - `writer`: the writer
// - `value`: the number
// - returns: `ACP_OK`; `ACP_WRITER_MISUSE` if the writer is finished; or a general error
acp_status acp_writer_int64(acp_writer *writer, int64_t value);

// Writes an unsigned integer.
//
// - `writer`: the writer
// - `value`: the number
// - returns: `ACP_OK`; `ACP_WRITER_MISUSE` if the writer is finished; or a general error
acp_status acp_writer_uint64(acp_writer *writer, uint64_t value);

// Writes a number.
//
// - `writer`: the writer
// - `value`: the number. Infinities and NaN do not exist in JSON: `acp_writer_finish` reports them
// - returns: `ACP_OK`; `ACP_WRITER_MISUSE` if the writer is finished; or a general error
acp_status acp_writer_double(acp_writer *writer, double value);

// Writes a boolean.
//
// - `writer`: the writer
// - `value`: the boolean
// - returns: `ACP_OK`; `ACP_WRITER_MISUSE` if the writer is finished; or a general error
acp_status acp_writer_bool(acp_writer *writer, bool value);

// Writes null.
//
// - `writer`: the writer
// - returns: `ACP_OK`; `ACP_WRITER_MISUSE` if the writer is finished; or a general error
acp_status acp_writer_null(acp_writer *writer);

// Writes a value that is JSON text already.
//
// - `writer`: the writer
// - `value`: JSON text. Text that is not JSON is reported by `acp_writer_finish`
// - returns: `ACP_OK`; `ACP_WRITER_MISUSE` if the writer is finished; or a general error
acp_status acp_writer_json(acp_writer *writer, acp_slice value);

// Finishes the value and gets its text. Until it is reset, the writer accepts nothing more, and finishing again gives
// the same text.
//
// - `writer`: the writer
// - `*out`: JSON text; valid until the writer is reset or freed
// - returns: `ACP_OK`; `ACP_WRITER_MISUSE` if the pieces do not form exactly one value (reset the writer then);
//   or a general error
ACP_MUST_USE acp_status acp_writer_finish(acp_writer *writer, acp_slice *out);

// Writes several members of the innermost object, each as `acp_writer_key` and the function for its value would.
//
// - `writer`: the writer
// - `members`: `len` members; copied
// - `len`: how many members there are
// - returns: `ACP_OK`; `ACP_INVALID_ARGUMENT` if a type is not listed or a text is not UTF-8 (no member is written
//   then); `ACP_WRITER_MISUSE` if the writer is finished; or a general error
acp_status acp_writer_members(acp_writer *writer, const acp_member *members, size_t len);

// Writes one value from a template: JSON text in which each `?` outside strings stands for the next of the values.
// Strings in the template may have single quotes, which C does not need to escape; nothing inside those is an escape.
//
//     acp_value values[] = {acp_string_value(session), acp_string_value(text)};
//     acp_writer_template(writer, acp_text("{'sessionId':?,'prompt':[{'type':'text','text':?}]}"), values, 2);
//
// - `writer`: the writer
// - `form`: the template
// - `values`: `len` values; copied
// - `len`: how many values there are
// - returns: `ACP_OK`; `ACP_INVALID_ARGUMENT` if the type of a value is not listed; `ACP_WRITER_MISUSE` if the number
//   of values differs from the number of `?`, the result is not JSON, or the writer is finished (nothing is written
//   then); or a general error
acp_status acp_writer_template(acp_writer *writer, acp_slice form, const acp_value *values, size_t len);

// Copies a text.
//
// - `text`: the text
// - `*out`: the copy; the caller owns it and frees it with `acp_string_free`
// - returns: `ACP_OK` or a general error
ACP_MUST_USE acp_status acp_string_copy(acp_slice text, acp_string *out);

// Copies a string in JSON text, without quotes and escapes.
//
// - `json`: JSON text
// - `pointer`: a JSON pointer; empty for the whole text
// - `*out`: the string; the caller owns it and frees it with `acp_string_free`
// - returns: `ACP_OK`; `ACP_NONE` if the pointer names nothing; `ACP_WRONG_TYPE` if it names no string; or a general
//   error
ACP_MUST_USE acp_status acp_json_string_copy(acp_slice json, acp_slice pointer, acp_string *out);

// Frees a string that a function gave to the caller, and makes it empty, so that freeing it again does no harm.
//
// - `string`: the string; NULL is ignored
void acp_string_free(acp_string *string);

// Sends a client's `initialize`.
//
// - `connection`: the connection
// - `name`: the client's name
// - `version`: the client's version
// - `capabilities`: JSON text of the `clientCapabilities` object; empty for none
// - `*out`: the request's serial number; `out` may be NULL
// - returns: `ACP_OK`; `ACP_MISUSE` if the protocol does not allow the request now or `capabilities` does not fit; or
//   a general error
ACP_MUST_USE
acp_status acp_client_initialize(acp_connection *connection,
                                 acp_slice name,
                                 acp_slice version,
                                 acp_slice capabilities,
                                 uint64_t *out);

// Sends a client's `session/new` without MCP servers. `/sessionId` in the result is the id of the new session.
//
// - `connection`: the connection
// - `cwd`: the working directory, an absolute path
// - `*out`: the request's serial number; `out` may be NULL
// - returns: `ACP_OK`; `ACP_MISUSE` if the protocol does not allow the request now or `cwd` is not an absolute path;
//   or a general error
ACP_MUST_USE acp_status acp_client_new_session(acp_connection *connection, acp_slice cwd, uint64_t *out);

// Sends a client's `session/prompt` with one text. `/stopReason` in the result says why the turn ended. The time-out
// of the configuration applies; for none, use `acp_connection_request_with` and `ACP_NEVER`.
//
// - `connection`: the connection
// - `session`: the session's id
// - `text`: the text of the prompt
// - `*out`: the request's serial number; `out` may be NULL
// - returns: `ACP_OK`; `ACP_MISUSE` if the session is not open, a turn is running, or the protocol does not allow the
//   request for another reason; or a general error
ACP_MUST_USE acp_status acp_client_prompt(acp_connection *connection, acp_slice session, acp_slice text, uint64_t *out);

// Sends a client's `session/cancel`, which stops the prompt turn of a session. The prompt still ends with one
// `ACP_EVENT_RESPONSE`. The agent's open permission requests of the session are answered with `cancelled`.
//
// - `connection`: the connection
// - `session`: the session's id
// - returns: `ACP_OK`; `ACP_MISUSE` if the session is not open, or the protocol does not allow the notification for
//   another reason; or a general error
ACP_MUST_USE acp_status acp_client_cancel(acp_connection *connection, acp_slice session);

// Answers an agent's `session/request_permission`.
//
// - `connection`: the connection
// - `serial`: the request's serial number, from its event
// - `option`: the id of the option that the user chose; empty for none, which is the outcome `cancelled`
// - returns: `ACP_OK`; `ACP_MISUSE` if no such request is open or it has no such option; or a general error
ACP_MUST_USE acp_status acp_client_answer_permission(acp_connection *connection, uint64_t serial, acp_slice option);

// Answers an agent's `fs/read_text_file`.
//
// - `connection`: the connection
// - `serial`: the request's serial number, from its event
// - `content`: the text of the file, or of the lines that were asked for
// - returns: `ACP_OK`; `ACP_MISUSE` if no such request is open; or a general error
ACP_MUST_USE acp_status acp_client_answer_file(acp_connection *connection, uint64_t serial, acp_slice content);

// Answers a client's `initialize`.
//
// - `connection`: the connection
// - `serial`: the request's serial number, from its event
// - `name`: the agent's name
// - `version`: the agent's version
// - `capabilities`: JSON text of the `agentCapabilities` object; empty for none
// - returns: `ACP_OK`; `ACP_MISUSE` if no such request is open or `capabilities` does not fit; or a general error
ACP_MUST_USE
acp_status acp_agent_answer_initialize(acp_connection *connection,
                                       uint64_t serial,
                                       acp_slice name,
                                       acp_slice version,
                                       acp_slice capabilities);

// Answers a client's `session/new`.
//
// - `connection`: the connection
// - `serial`: the request's serial number, from its event
// - `session`: the id of the new session, unique on the connection
// - returns: `ACP_OK`; `ACP_MISUSE` if no such request is open or the id is in use; or a general error
ACP_MUST_USE acp_status acp_agent_answer_new_session(acp_connection *connection, uint64_t serial, acp_slice session);

// Answers a client's `session/prompt`, which ends the turn.
//
// - `connection`: the connection
// - `serial`: the request's serial number, from its event
// - `stop_reason`: one of `ACP_STOP_…`; `cancelled` is sent instead if the client has cancelled the turn
// - returns: `ACP_OK`; `ACP_MISUSE` if no such request is open or the stop reason does not exist; or a general error
ACP_MUST_USE acp_status acp_agent_answer_prompt(acp_connection *connection, uint64_t serial, acp_slice stop_reason);

// Sends a piece of the agent's answer: an update `agent_message_chunk` with a text.
//
// - `connection`: the connection
// - `session`: the session's id
// - `text`: the text
// - returns: `ACP_OK`; `ACP_MISUSE` if the protocol does not allow the update now; or a general error
ACP_MUST_USE acp_status acp_agent_message(acp_connection *connection, acp_slice session, acp_slice text);

// Sends a piece of the agent's reasoning: an update `agent_thought_chunk` with a text.
//
// - `connection`: the connection
// - `session`: the session's id
// - `text`: the text
// - returns: `ACP_OK`; `ACP_MISUSE` if the protocol does not allow the update now; or a general error
ACP_MUST_USE acp_status acp_agent_thought(acp_connection *connection, acp_slice session, acp_slice text);

// Announces a tool call: an update `tool_call`.
//
// - `connection`: the connection
// - `session`: the session's id
// - `id`: the id of the tool call, unique within its session
// - `title`: what the call does, for the user
// - `kind`: one of `ACP_TOOL_KIND_…`; empty to leave it out
// - `status`: one of `ACP_TOOL_STATUS_…`; empty to leave it out
// - returns: `ACP_OK`; `ACP_MISUSE` if the protocol does not allow the update now or a value does not exist; or a
//   general error
ACP_MUST_USE
acp_status acp_agent_tool_call(acp_connection *connection,
                               acp_slice session,
                               acp_slice id,
                               acp_slice title,
                               acp_slice kind,
                               acp_slice status);

// Updates a tool call: an update `tool_call_update`.
//
// - `connection`: the connection
// - `session`: the session's id
// - `id`: the id of the tool call
// - `status`: one of `ACP_TOOL_STATUS_…`; empty to leave it out
// - `text`: a text that replaces all content of the call so far; empty to leave the content as it is
// - returns: `ACP_OK`; `ACP_MISUSE` if the protocol does not allow the update now or the status does not exist; or a
//   general error
ACP_MUST_USE
acp_status acp_agent_tool_call_update(acp_connection *connection,
                                      acp_slice session,
                                      acp_slice id,
                                      acp_slice status,
                                      acp_slice text);

// Answers one of the peer's requests with the error "Method not found" (-32601) and the method in the error's data,
// for methods that the host does not implement.
//
// - `connection`: the connection
// - `serial`: the request's serial number, from its event
// - returns: `ACP_OK`; `ACP_MISUSE` if no such request is open; or a general error
ACP_MUST_USE acp_status acp_connection_respond_not_served(acp_connection *connection, uint64_t serial);

// Answers one of the peer's requests with the error "Internal error" (-32603), for when the host cannot serve it
// because one of its own calls returned `ACP_MISUSE`. The error's data has the rule of that misuse.
// `acp_connection_error_…` keep what they have.
//
// - `connection`: the connection
// - `serial`: the request's serial number, from its event
// - returns: `ACP_OK`; `ACP_MISUSE` if no such request is open; or a general error
ACP_MUST_USE acp_status acp_connection_respond_refused(acp_connection *connection, uint64_t serial);

// Returns the name of an `ACP_PERMISSION_…` constant as a static NUL-terminated string; "unknown" for any other number.
const char *acp_permission_name(int32_t action);

// Creates a policy that asks about everything.
//
// - `*out`: the policy; the caller owns it and frees it with `acp_permission_policy_free`
// - returns: `ACP_OK` or a general error
ACP_MUST_USE acp_status acp_permission_policy_new(acp_permission_policy **out);

// Frees a policy. Slices that came from it are not valid after that.
//
// - `policy`: the policy; NULL is ignored
void acp_permission_policy_free(acp_permission_policy *policy);

// Reads the rules of a policy. They take the place of those that it has, and decisions are forgotten.
//
// The text is an object: `rules`, a list, of which the first rule that fits decides, and `otherwise`, the action if none
// fits (`ask`). A rule has an `action` (`allow`, `deny` or `ask`) and, all of which must fit: `kind`, a kind of tools or a
// list; `tool`, a pattern for the tool's name or a list, with `*` and `?`; `path`, a pattern for its paths or a list, whose
// steps are compared one by one, with `**` for any number of them; `inRoots`, whether the paths are inside of the session's
// directories. A rule that allows by path fits no command, and no tool call that tells no path.
//
// - `policy`: the policy
// - `json`: the JSON text
// - returns: `ACP_OK`; `ACP_MISUSE` if it is no policy, and then `acp_permission_policy_error_pointer` and
//   `acp_permission_policy_error_message` say where and why; or a general error
ACP_MUST_USE
acp_status acp_permission_policy_read(acp_permission_policy *policy,
                                      acp_slice json);

// Gets the place of what was wrong with the text that was read last, as a JSON pointer.
//
// - `policy`: the policy
// - `*out`: the place; valid until the next call that changes the policy
// - returns: `ACP_OK`; `ACP_NONE` if nothing was wrong; or a general error
acp_status acp_permission_policy_error_pointer(const acp_permission_policy *policy, acp_slice *out);

// Gets what was expected in place of what was wrong with the text that was read last.
//
// - `policy`: the policy
// - `*out`: one sentence; valid until the next call that changes the policy
// - returns: `ACP_OK`; `ACP_NONE` if nothing was wrong; or a general error
acp_status acp_permission_policy_error_message(const acp_permission_policy *policy, acp_slice *out);

// Decides a `session/request_permission` that a client's connection has received. It sends nothing: answer with the
// option, which may be empty (`acp_client_answer_permission`). An action that is
// `ACP_PERMISSION_ASK` leaves the request to the user; without anybody to ask, reject it.
//
// Only an option for this one call is chosen to allow it (`allow_once`); to deny it, `reject_once` before `reject_always`.
// With a view (`acp_config_set_view`), the policy knows what was told of the tool call before; without one, it knows the
// request alone. The paths are what the agent says: a policy saves the user questions, and holds no malicious agent.
//
// - `policy`: the policy; it remembers its last 256 decisions
// - `connection`: the client's connection; not changed
// - `params`: the params of the request as JSON text
// - `*action`: one of `ACP_PERMISSION_…`
// - `*option`: the id of the option; empty where there is none
// - `*decision`: the decision as JSON text: an object with `action`, `optionId` or null, `rule` (a JSON pointer into the
//   policy) or null, `reason`, `sessionId` and `toolCallId` or null. Both texts are valid until the next call that
//   changes the policy
// - returns: `ACP_OK` or a general error
acp_status acp_permission_policy_decide(acp_permission_policy *policy,
                                        const acp_connection *connection,
                                        acp_slice params,
                                        int32_t *action,
                                        acp_slice *option,
                                        acp_slice *decision);

// Gets the last 256 decisions, oldest first.
//
// - `policy`: the policy
// - `*out`: a JSON list of decisions as `acp_permission_policy_decide` has them; valid until the next call that changes
//   the policy, this one included
// - returns: `ACP_OK` or a general error
acp_status acp_permission_policy_decisions(acp_permission_policy *policy, acp_slice *out);

// Cuts the output of a command to the `outputByteLimit` of `terminal/create`. It is cut at the front and never inside
// a character, so up to three bytes fewer than the limit may remain. The results are `output` and `truncated` of the
// answer to `terminal/output`.
//
// - `text`: the output, which must be UTF-8: replace what is not
// - `byte_limit`: the largest number of bytes to keep
// - `*end`: the end of `text` that fits; a part of `text`, valid as long as that
// - `*truncated`: whether anything was cut off
// - returns: `ACP_OK` or a general error
acp_status acp_cut_output(acp_slice text, uint64_t byte_limit, acp_slice *end, bool *truncated);

// Writes the error with which a host can end one of its calls that was lost with a connection (rule HTTP-18): whether the
// agent has carried it out is unknown. For hosts that need an answer to each call of the action `lost`.
//
// - `id`: the call's id as JSON text, as in the action
// - `*out`: a message, JSON text; the caller owns it and frees it with `acp_string_free`
// - returns: `ACP_OK`; `ACP_INVALID_ARGUMENT` if `id` cannot be an id; or a general error
acp_status acp_http_lost_answer(acp_slice id,
                                acp_string *out);

// Creates a server without connections. It needs randomness before it opens the first one: `acp_http_server_add_entropy`.
//
// - `options`: JSON text of an object; `{}` for the defaults: the path `/acp`, for this machine alone. Its members are
//   `path`, `token` (what each request has to carry, HTTP-25), `prefix` (of the ids of connections), `hosts` and
//   `origins` (who is served besides this machine and its own pages, HTTP-23, HTTP-24), `any_host`, `strict`, `tolerates`, `limits`
//   (`body`, `bodies`, `headers`, `header_bytes`, `connections`, `sessions`, `early_streams`, `calls`, `stream`, `unread`,
//   `retained`, `inbox`, `remembered`: numbers, HTTP-27) and `times` (`keep_alive`, `idle`, `body`, `initialize`, `stall`,
//   `blocking`, `replay`, `remember`: milliseconds, HTTP-28)
// - `*out`: the server; the caller owns it and frees it with `acp_http_server_free`
// - returns: `ACP_OK`; `ACP_INVALID_ARGUMENT` if the options cannot be used, of which
//   `acp_http_server_options_error` says why; or a general error
ACP_MUST_USE
acp_status acp_http_server_new(acp_slice options,
                               acp_http_server **out);

// Says why options cannot be used.
//
// - `options`: what `acp_http_server_new` is given
// - `*out`: what is wrong, after a JSON pointer that says where; the caller owns it and frees it with `acp_string_free`
// - returns: `ACP_OK`; `ACP_NONE` if the options can be used; or a general error
acp_status acp_http_server_options_error(acp_slice options, acp_string *out);

// Frees a server. Slices that came from it are no longer valid.
//
// - `server`: the server; NULL is ignored
void acp_http_server_free(acp_http_server *server);

// Adds random bytes from the operating system, of which ids of connections are made: 16 for each. What is more than 1 KiB
// is not kept.
//
// - `server`: the server
// - `bytes`: the bytes; copied
// - returns: `ACP_OK` or a general error
acp_status acp_http_server_add_entropy(acp_http_server *server,
                                       acp_slice bytes);

// Gets how many random bytes there is room for.
//
// - `server`: the server
// - `*out`: bytes; 0 while there are enough for 16 connections
// - returns: `ACP_OK` or a general error
acp_status acp_http_server_wants_entropy(const acp_http_server *server, size_t *out);

// Gets the number of open connections.
//
// - `server`: the server
// - `*out`: how many they are
// - returns: `ACP_OK` or a general error
acp_status acp_http_server_connections(const acp_http_server *server, size_t *out);

// Gets the value of `Acp-Connection-Id` of a connection. It is no secret that proves anything (HTTP-20), but who knows it
// can use the connection.
//
// - `server`: the server
// - `connection`: the connection's number, from an event
// - `*out`: the id; valid until the next call that changes the server
// - returns: `ACP_OK`; `ACP_NONE` if there is no such connection; or a general error
acp_status acp_http_server_connection_id(const acp_http_server *server,
                                         uint64_t connection,
                                         acp_slice *out);

// Takes the head of a request, and says what to do with it: a step.
//
// A step is an object whose `step` is one of
//
// - `respond`: send `status`, `headers` (a list of pairs of a name and a value) and `body` (empty for none). The server
//   has forgotten the exchange
// - `body`: read the body, of at most `limit` more bytes, and pass it to `acp_http_server_body`
// - `wait`: the response comes by the event `respond`
// - `stream`: send `status` and `headers` and keep the body open; its bytes are at `acp_http_server_transmit`
// - `upgrade`: accept the WebSocket with `headers`; its frames are at `acp_http_server_frame`
//
// With HTTP/2, `:authority` is passed as a header `host`, and an extended CONNECT for WebSocket as a `GET` with the
// headers of a handshake.
//
// - `server`: the server
// - `exchange`: a number for the request that no other one has
// - `method`: the method, as in `POST`; need not be UTF-8
// - `target`: the path with its query; need not be UTF-8
// - `headers`: the headers
// - `len`: how many they are
// - `*out`: the step, JSON text; valid until the next call that changes the server
// - returns: `ACP_OK` or a general error
acp_status acp_http_server_request(acp_http_server *server,
                                   uint64_t exchange,
                                   acp_slice method,
                                   acp_slice target,
                                   const acp_header *headers,
                                   size_t len,
                                   acp_slice *out);

// Takes a piece of the body of a request, and says what to do next.
//
// - `server`: the server
// - `exchange`: the number of the request
// - `bytes`: the piece; copied
// - `end`: whether it is the last one
// - `*out`: a step, as `acp_http_server_request` says, JSON text; valid until the next call that changes the server
// - returns: `ACP_OK` or a general error
acp_status acp_http_server_body(acp_http_server *server, uint64_t exchange, acp_slice bytes, bool end, acp_slice *out);

// Takes a text frame of a WebSocket.
//
// - `server`: the server
// - `exchange`: the number of the WebSocket
// - `text`: the text; copied
// - returns: `ACP_OK` or a general error
acp_status acp_http_server_text(acp_http_server *server, uint64_t exchange, acp_slice text);

// Notes a binary frame of a WebSocket, which is ignored (WS-04).
//
// - `server`: the server
// - `exchange`: the number of the WebSocket
// - returns: `ACP_OK` or a general error
acp_status acp_http_server_binary(acp_http_server *server, uint64_t exchange);

// Notes a pong or a ping: the client is alive. Libraries that answer pings by themselves tell of it as well.
//
// - `server`: the server
// - `exchange`: the number of the WebSocket
// - returns: `ACP_OK` or a general error
acp_status acp_http_server_pong(acp_http_server *server, uint64_t exchange);

// Tells that an exchange is over: its connection broke, or the end of its stream was written. What a reader did not take
// of a stream waits for the next one.
//
// - `server`: the server
// - `exchange`: the number of the request or the WebSocket
// - returns: `ACP_OK` or a general error
acp_status acp_http_server_closed(acp_http_server *server,
                                  uint64_t exchange);

// Takes the next event. Call it until it returns `ACP_NONE`.
//
// An event is an object whose `event` is one of
//
// - `opened`: a client has opened `connection`; start an agent for it
// - `message`: a message of a client for the agent of `connection`. It stands in `*text`, and `json` is empty
// - `closed`: `connection` is over, and nothing more comes from it; `why` is `client`, `host`, `not-initialized`, `idle`,
//   `stalled` or `protocol`
// - `respond`: the response to `exchange`, for which the step was `wait`; `response` has `status`, `headers` and `body`
// - `ready`: there are bytes to write on the stream `exchange`, or frames to send on that WebSocket
// - `finish`: the stream `exchange` ends: write what is left, end the body and call `acp_http_server_closed`
// - `drained`: after `ACP_HTTP_FULL`, there is room again in `connection`
// - `violation`: a client broke `rule`; `message` says how, `status` is what it got, null if it was accepted, and
//   `exchange` and `connection` say where, null if that is not known
// - `advice`: the agent did what is allowed and will not work well; the members are those of `violation`
//
// - `server`: the server
// - `*out`: the event, JSON text; valid until the next call that changes the server
// - `*text`: the text of a message, empty for other events; valid as long
// - returns: `ACP_OK`; `ACP_NONE` if there is no event now; or a general error
acp_status acp_http_server_poll_event(acp_http_server *server,
                                      acp_slice *out,
                                      acp_slice *text);

// Gets the bytes to write on a stream. They stay there until `acp_http_server_consume` removes them.
//
// - `server`: the server
// - `exchange`: the number of the request that reads the stream
// - `*out`: the bytes, empty if there are none; valid until the next call that changes the server
// - returns: `ACP_OK` or a general error
acp_status acp_http_server_transmit(const acp_http_server *server, uint64_t exchange, acp_slice *out);

// Removes bytes from the front of `acp_http_server_transmit` after they were written. Partial writes are normal.
//
// - `server`: the server
// - `exchange`: the number of the request that reads the stream
// - `count`: how many bytes were written; more than there are counts as all of them
// - returns: `ACP_OK` or a general error
acp_status acp_http_server_consume(acp_http_server *server, uint64_t exchange, size_t count);

// Takes the next frame to send on a WebSocket. Call it until it returns `ACP_NONE`.
//
// A frame is an object whose `frame` is `text` (its text stands in `*text`, and the member `text` is empty), `ping`, or
// `close`, with `code` and `reason`.
//
// - `server`: the server
// - `exchange`: the number of the WebSocket
// - `*out`: the frame, JSON text; valid until the next call that changes the server
// - `*text`: the text of a text frame, empty for others; valid as long
// - returns: `ACP_OK`; `ACP_NONE` if there is no frame now; or a general error
acp_status acp_http_server_frame(acp_http_server *server, uint64_t exchange, acp_slice *out, acp_slice *text);

// Gets whether to read more from the socket of an exchange.
//
// - `server`: the server
// - `exchange`: the number of the request or the WebSocket
// - `*out`: false while its agent has too much to read
// - returns: `ACP_OK` or a general error
acp_status acp_http_server_is_hungry(const acp_http_server *server, uint64_t exchange, bool *out);

// Sets the current time, and does what is due.
//
// - `server`: the server
// - `now`: milliseconds on any monotonic clock of the host; a time earlier than the last one has no effect on the clock
// - returns: `ACP_OK` or a general error
acp_status acp_http_server_handle_timeout(acp_http_server *server, uint64_t now);

// Gets when to call `acp_http_server_handle_timeout` next.
//
// - `server`: the server
// - `*out`: milliseconds on the host's clock; may be in the past
// - returns: `ACP_OK`; `ACP_NONE` if nothing is waited for; or a general error
acp_status acp_http_server_poll_timeout(const acp_http_server *server, uint64_t *out);

// Sends a message of an agent to its client.
//
// - `server`: the server
// - `connection`: the connection's number, from an event
// - `json`: the message, JSON text; copied
// - `*out`: `ACP_HTTP_SENT`; `ACP_HTTP_FULL` if too much waits for the client: send the message again after the event
//   `drained`, and read nothing from the agent until then; or `ACP_HTTP_CLOSED` if the connection is over
// - returns: `ACP_OK`; `ACP_MISUSE` if the message cannot be sent at all: it is no message (RPC-21, RPC-22), a batch
//   (HTTP-15), or an answer to no call of the client (HTTP-11); or a general error
ACP_MUST_USE
acp_status acp_http_server_send(acp_http_server *server,
                                uint64_t connection,
                                acp_slice json,
                                int32_t *out);

// Gets the rule that the last call that returned `ACP_MISUSE` would have broken.
//
// - `server`: the server
// - `*out`: the rule's id, for `acp_rule_text`
// - returns: `ACP_OK`; `ACP_NONE` if no call has returned `ACP_MISUSE`; or a general error
acp_status acp_http_server_error_rule(const acp_http_server *server, acp_slice *out);

// Gets what was wrong with the last call that returned `ACP_MISUSE`.
//
// - `server`: the server
// - `*out`: a sentence
// - returns: `ACP_OK`; `ACP_NONE` if no call has returned `ACP_MISUSE`; or a general error
acp_status acp_http_server_error_message(const acp_http_server *server, acp_slice *out);

// Ends a connection, because its agent has ended or the server stops. Readers get what waits for them; then their streams
// end.
//
// - `server`: the server
// - `connection`: the connection's number, from an event; one that is over is ignored
// - returns: `ACP_OK` or a general error
acp_status acp_http_server_close(acp_http_server *server,
                                 uint64_t connection);

// Ends a connection as `acp_http_server_close` does, because its agent has failed: the client's open calls are first
// answered with an error that says why, as far as the client reads. `initialize` is answered like that with status 200 and
// without the id of a connection (HTTP-03); the outcome of other calls is unknown.
//
// - `server`: the server
// - `connection`: the connection's number, from an event; one that is over is ignored
// - `why`: what the errors say, for people; copied
// - returns: `ACP_OK` or a general error
acp_status acp_http_server_fail(acp_http_server *server,
                                uint64_t connection,
                                acp_slice why);

// Holds back the messages of a client, or goes on with them: for agents that are slower than their clients. Once more
// than the limit `inbox` waits, the client is asked to try again later.
//
// - `server`: the server
// - `connection`: the connection's number, from an event
// - `paused`: whether to hold them back
// - returns: `ACP_OK` or a general error
acp_status acp_http_server_pause(acp_http_server *server, uint64_t connection, bool paused);

// Creates a client before its first message.
//
// - `options`: JSON text of an object; `{}` for the defaults: requests to `/acp`. Its members are `target` (the path with
//   its query), `host` (without it there are no cookies), `secure`, `websocket` (a WebSocket in place of requests),
//   `reconnect` (true if absent), `resumable`, `strict`, `tolerates`, `limits` (`message`, `outbox`, `calls`, `sessions`,
//   `streams`: numbers) and `times` (`quiet`, `replay`, `open`, `response`, `first`, `silence`, `doubt`, `retry`,
//   `longest_retry`, `give_up`: milliseconds)
// - `seed`: any number that differs between clients; the times of their attempts to reconnect are spread by it
// - `*out`: the client; the caller owns it and frees it with `acp_http_client_free`
// - returns: `ACP_OK`; `ACP_INVALID_ARGUMENT` if the options cannot be used, of which
//   `acp_http_client_options_error` says why; or a general error
ACP_MUST_USE
acp_status acp_http_client_new(acp_slice options,
                               uint64_t seed,
                               acp_http_client **out);

// Says why options cannot be used.
//
// - `options`: what `acp_http_client_new` is given
// - `*out`: what is wrong, after a JSON pointer that says where; the caller owns it and frees it with `acp_string_free`
// - returns: `ACP_OK`; `ACP_NONE` if the options can be used; or a general error
acp_status acp_http_client_options_error(acp_slice options, acp_string *out);

// Frees a client. Slices that came from it are no longer valid.
//
// - `client`: the client; NULL is ignored
void acp_http_client_free(acp_http_client *client);

// Sets a header of all requests from now on, such as `authorization`; its former value is replaced.
//
// - `client`: the client
// - `name`: the header's name
// - `value`: its value
// - returns: `ACP_OK`; `ACP_INVALID_ARGUMENT` if these cannot be the name and the value of a header; or a general error
ACP_MUST_USE acp_status acp_http_client_set_header(acp_http_client *client, acp_slice name, acp_slice value);

// Takes the next thing to do, or that has happened. Call it until it returns `ACP_NONE`.
//
// An action is an object whose `event` is one of
//
// - `request`: make a request; `exchange` is its number, with `method`, `target` and `headers` (a list of pairs of a name
//   and a value, without the host and the length of the body). The body, empty for none, stands in `*text`. Pass what
//   comes of it to `acp_http_client_response`, `_data`, `_end` and `_failed`
// - `connect`: open the WebSocket `exchange` with `headers` besides those of the handshake
// - `frame`: send `frame` on the WebSocket `exchange`, an object as `acp_http_server_frame` says; a text stands in `*text`
// - `abort`: give up `exchange`; nothing more of it is wanted
// - `message`: a message of the server, which stands in `*text`; `replayed` says whether it is history of a session that
//   is being loaded
// - `connected`: the connection is open, for the first time or again; `id` is the value of `Acp-Connection-Id`
// - `lost`: the connection was lost; nobody will answer `calls`, a list of ids, and whether the agent has carried them out is
//   unknown (HTTP-18); `questions` of the agent need no answer any more, and one that comes all the same is a misuse
//   (HTTP-11); `sessions` are opened again; if the server closed the WebSocket with a code, `code` is that, such as 1009 if
//   a message was over its limit
// - `retrying`: another attempt is made `at` this time
// - `attached`: `session` is open again; `replayed` says whether its history was told once more
// - `detached`: `session` could not be opened again, or its messages were lost
// - `gap`: the stream of `session`, null for that of the connection, broke and is open again; messages may be missing
// - `silent`: nothing has come on the stream of `session`, null for that of the connection, although the server has
//   accepted a call whose answer comes there (HTTP-21): `waited` is for how many milliseconds, `head` whether the head of
//   the response has come, `message` what may be the matter, such as a proxy that buffers responses. The stream stays open
// - `unauthorized`: the server wants other credentials; `status` is 401 or 403, `challenge` the value of
//   `WWW-Authenticate` or null. Set a header and call `acp_http_client_retry`; nothing is sent until then
// - `refused`: the server refused an answer or a notification of the host; `status`, `method`, empty for an answer, and
//   `message` if the server has said one. A call that is refused ends with an error
// - `violation`: the server broke `rule`; `message` says how, `session` where, null if it was about none
// - `closed`: the conversation is over; `why` is `host`, `not-initialized`, `not-served` or `refused` (both with `status`),
//   `unreachable` or `protocol`
//
// - `client`: the client
// - `*out`: the action, JSON text, in which what stands in `*text` is empty; valid until the next call that changes the
//   client
// - `*text`: the text of a message or a frame, or a body; empty for other actions; valid as long
// - returns: `ACP_OK`; `ACP_NONE` if there is no action now; or a general error
acp_status acp_http_client_poll_action(acp_http_client *client,
                                       acp_slice *out,
                                       acp_slice *text);

// Gets whether `acp_http_client_send` takes more.
//
// - `client`: the client
// - `*out`: false while too much waits to be sent
// - returns: `ACP_OK` or a general error
acp_status acp_http_client_is_hungry(const acp_http_client *client, bool *out);

// Gets the value of `Acp-Connection-Id`.
//
// - `client`: the client
// - `*out`: the id; valid until the next call that changes the client
// - returns: `ACP_OK`; `ACP_NONE` while there is no connection; or a general error
acp_status acp_http_client_connection_id(const acp_http_client *client, acp_slice *out);

// Sends a message of the host. An answer goes to the question that the host was given, and to no other one: if the agent of
// a new connection asks with the id of a question that was lost and has no answer yet, the host is given the new one with
// another id, which begins with `libacp-q`.
//
// - `client`: the client
// - `json`: the message, JSON text; copied
// - `*out`: `ACP_HTTP_SENT`; `ACP_HTTP_FULL` if too much waits to be sent, until `acp_http_client_is_hungry` says
//   otherwise; or `ACP_HTTP_CLOSED` if the conversation is over
// - returns: `ACP_OK`; `ACP_MISUSE` if the message cannot be sent; or a general error
ACP_MUST_USE
acp_status acp_http_client_send(acp_http_client *client,
                                acp_slice json,
                                int32_t *out);

// Gets the rule that the last call that returned `ACP_MISUSE` would have broken.
//
// - `client`: the client
// - `*out`: the rule's id, for `acp_rule_text`
// - returns: `ACP_OK`; `ACP_NONE` if no call has returned `ACP_MISUSE`; or a general error
acp_status acp_http_client_error_rule(const acp_http_client *client, acp_slice *out);

// Gets what was wrong with the last call that returned `ACP_MISUSE`, and what to do instead.
//
// - `client`: the client
// - `*out`: a sentence
// - returns: `ACP_OK`; `ACP_NONE` if no call has returned `ACP_MISUSE`; or a general error
acp_status acp_http_client_error_message(const acp_http_client *client, acp_slice *out);

// Takes the head of the response to a request, or of the handshake of a WebSocket (status 101).
//
// - `client`: the client
// - `exchange`: the number of the request
// - `status`: the status
// - `headers`: the headers
// - `len`: how many they are
// - returns: `ACP_OK` or a general error
acp_status acp_http_client_response(acp_http_client *client,
                                    uint64_t exchange,
                                    uint16_t status,
                                    const acp_header *headers,
                                    size_t len);

// Takes bytes of the body of a response, split in any way.
//
// - `client`: the client
// - `exchange`: the number of the request
// - `bytes`: the bytes; copied
// - returns: `ACP_OK` or a general error
acp_status acp_http_client_data(acp_http_client *client, uint64_t exchange, acp_slice bytes);

// Tells that a response, or a WebSocket, has ended.
//
// - `client`: the client
// - `exchange`: the number of the request or the WebSocket
// - returns: `ACP_OK` or a general error
acp_status acp_http_client_end(acp_http_client *client, uint64_t exchange);

// Tells that a request came to nothing: there was no connection, or it broke.
//
// - `client`: the client
// - `exchange`: the number of the request or the WebSocket
// - `sent`: false if the server cannot have any of it
// - returns: `ACP_OK` or a general error
acp_status acp_http_client_failed(acp_http_client *client, uint64_t exchange, bool sent);

// Takes a text frame of the WebSocket.
//
// - `client`: the client
// - `exchange`: the number of the WebSocket
// - `text`: the text; copied
// - returns: `ACP_OK` or a general error
acp_status acp_http_client_text(acp_http_client *client, uint64_t exchange, acp_slice text);

// Notes a binary frame of the WebSocket, which is ignored (WS-04).
//
// - `client`: the client
// - `exchange`: the number of the WebSocket
// - returns: `ACP_OK` or a general error
acp_status acp_http_client_binary(acp_http_client *client, uint64_t exchange);

// Tells the code with which the server closed the WebSocket (RFC 6455, 7.4); the action `lost` then has it. The end of the
// WebSocket is told by `acp_http_client_end` all the same.
//
// - `client`: the client
// - `exchange`: the number of the WebSocket
// - `code`: the code of the close frame
// - returns: `ACP_OK` or a general error
acp_status acp_http_client_closed(acp_http_client *client,
                                  uint64_t exchange,
                                  uint16_t code);

// Goes on after the action `unauthorized`, with the headers that were set meanwhile.
//
// - `client`: the client
// - returns: `ACP_OK` or a general error
acp_status acp_http_client_retry(acp_http_client *client);

// Ends the conversation: `DELETE` (HTTP-14), or the end of the WebSocket.
//
// - `client`: the client
// - returns: `ACP_OK` or a general error
acp_status acp_http_client_close(acp_http_client *client);

// Sets the current time, and does what is due.
//
// - `client`: the client
// - `now`: milliseconds on any monotonic clock of the host; a time earlier than the last one has no effect on the clock
// - returns: `ACP_OK` or a general error
acp_status acp_http_client_handle_timeout(acp_http_client *client, uint64_t now);

// Gets when to call `acp_http_client_handle_timeout` next.
//
// - `client`: the client
// - `*out`: milliseconds on the host's clock; may be in the past
// - returns: `ACP_OK`; `ACP_NONE` if nothing is waited for; or a general error
acp_status acp_http_client_poll_timeout(const acp_http_client *client, uint64_t *out);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

/* Returns a slice of a C string, without its NUL; an empty slice for NULL. The string must outlive the slice. */
static inline acp_slice acp_text(const char *text)
{
    acp_slice slice;
    slice.data = text;
    slice.len = text == NULL ? 0 : strlen(text);
    return slice;
}

/* Returns a slice of `len` bytes, which must outlive the slice. */
static inline acp_slice acp_bytes(const void *data, size_t len)
{
    acp_slice slice;
    slice.data = (const char *)data;
    slice.len = len;
    return slice;
}

/* Returns whether two slices hold the same bytes. */
static inline bool acp_equal(acp_slice left, acp_slice right)
{
    return left.len == right.len && (left.len == 0 || memcmp(left.data, right.data, left.len) == 0);
}

/* For printf: `printf("%s: " ACP_FORMAT "\n", name, ACP_PRINT(slice))`. Evaluates `slice` more than once. */
#define ACP_FORMAT "%.*s"
#define ACP_PRINT(slice) (int)((slice).len < INT_MAX ? (slice).len : INT_MAX), ((slice).len > 0 ? (slice).data : "")

/* Returns a slice of a string that the host owns; valid until the string is freed. */
static inline acp_slice acp_string_slice(acp_string string)
{
    return acp_bytes(string.data, string.len);
}

/* Values for acp_writer_members and acp_writer_template. Texts are not copied: they must stay valid until the call. */

/* Returns a value that is a string. */
static inline acp_value acp_string_value(acp_slice text)
{
    acp_value value = {ACP_VALUE_STRING, 0, 0, {NULL, 0}};
    value.text = text;
    return value;
}

/* Returns a value that is a string, from a C string. */
static inline acp_value acp_text_value(const char *text)
{
    return acp_string_value(acp_text(text));
}

/* Returns a value that is JSON text already. */
static inline acp_value acp_json_value(acp_slice json)
{
    acp_value value = {ACP_VALUE_JSON, 0, 0, {NULL, 0}};
    value.text = json;
    return value;
}

/* Returns a value that is an integer. */
static inline acp_value acp_int64_value(int64_t number)
{
    acp_value value = {ACP_VALUE_INT64, 0, 0, {NULL, 0}};
    value.whole = number;
    return value;
}

/* Returns a value that is a number. Infinities and NaN do not exist in JSON and are refused by the writer. */
static inline acp_value acp_double_value(double number)
{
    acp_value value = {ACP_VALUE_DOUBLE, 0, 0, {NULL, 0}};
    value.real = number;
    return value;
}

/* Returns a value that is a boolean. */
static inline acp_value acp_bool_value(bool flag)
{
    acp_value value = {ACP_VALUE_BOOL, 0, 0, {NULL, 0}};
    value.whole = flag;
    return value;
}

/* Returns a value that is null. */
static inline acp_value acp_null_value(void)
{
    acp_value value = {ACP_VALUE_NULL, 0, 0, {NULL, 0}};
    return value;
}

/* Returns a member for acp_writer_members. `name` is not copied: it must stay valid until the call. */
static inline acp_member acp_member_of(const char *name, acp_value value)
{
    acp_member member;
    member.name = acp_text(name);
    member.value = value;
    return member;
}

#endif /* ACP_H */
