/* libacp: the Agent Client Protocol (ACP) as a state machine without I/O.
 *
 * Made from ffi/src by `cargo run -p xtask-header`. Do not edit.
 *
 * The host reads and writes bytes however it likes. It passes what it has read to acp_connection_receive, takes events
 * from acp_connection_poll_event until there are none, and writes what acp_connection_transmit holds. acp_constants.h
 * has the words of the protocol, acp.hpp a layer for C++.
 *
 * Conventions, which hold for every function:
 *
 * - Handles (acp_connection *, acp_event *, ...) are opaque. Whoever gets one owns it and frees it with the function that
 *   is named after its type; freeing NULL does nothing. A handle that was freed must not be used again.
 * - A function that can fail returns an acp_status: ACP_OK (0), ACP_NONE (there is no such value; positive), or an error
 *   (negative). Outputs are the last parameters. They are required, and written only with ACP_OK (acp_json_string
 *   documents the one exception); those that send a request take NULL for one that is not wanted. Compilers warn where the
 *   status of a call is ignored that may be refused.
 * - Text and bytes are acp_slices, of a pointer and a length. Nothing that goes in needs to end with NUL, and no slice
 *   that comes out does. What goes in is copied or only read during the call. Text is UTF-8; what is not is refused. The
 *   pointer of an empty slice may be NULL.
 * - A slice that comes out belongs to the handle it came from. From an event, a list, items or a writer it is valid until
 *   that handle is freed (or the writer reset); from a connection until the next call that takes it as a pointer to
 *   non-const; from a JSON look-up or acp_cut_output as long as the text that was passed; from the rule catalogue
 *   always. A connection's own slices must not be passed into a call that changes it: copy them first.
 * - NULL where a pointer is required is ACP_INVALID_ARGUMENT, and nothing has happened.
 * - A call that returns anything but ACP_OK has changed nothing. (ACP_PANIC is a defect of the library; the connection
 *   it came from answers ACP_PANIC to everything then and only serves to be freed.)
 * - One handle is used by one thread at a time. It may be handed to another thread; different handles are independent,
 *   also an event and the connection it came from. Nothing global changes, and the library never calls back.
 * - Two mistakes are noticed where that is cheap, and only there: a handle that was freed or is of another type
 *   (ACP_BAD_HANDLE), and a call while another thread is inside of one with the same handle (ACP_BUSY).
 * - Enumerations are int32_t with constants, from 1 on. A number that is not listed may come from a newer library.
 * - acp_slice is the only struct that is passed by value; it never changes.
 * - Functions and constants may be added without a new ACP_ABI_VERSION; what is there stays as it is as long as that number
 *   and the name of the shared library do. Below 1.0 both may change with the second number of the version (libacp.so.0.1,
 *   libacp.so.0.2), from 1.0 on only with the first: programs are then compiled again.
 */

#ifndef ACP_H
#define ACP_H

/* Before functions whose status must be looked at. */
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

// The version of the binary interface: what `acp_abi_version` returns must be equal to it.
#define ACP_ABI_VERSION 1

// No number: no time-out and no reminders in a configuration, the configuration's time-out in a call.
#define ACP_UNSET UINT64_MAX

// Never: a time-out for a call that waits for ever, whatever the configuration says.
#define ACP_NEVER (UINT64_MAX - 1)

// The host is the client.
#define ACP_ROLE_CLIENT 1

// The host is the agent.
#define ACP_ROLE_AGENT 2

// Framing: one message per line, as on standard input and output.
#define ACP_FRAMING_LINES 1

// Framing: `Content-Length` headers before each message.
#define ACP_FRAMING_CONTENT_LENGTH 2

// Framing: the transport keeps messages apart, as a WebSocket does.
#define ACP_FRAMING_MESSAGES 3

// Policy: what the tolerance rules can repair is repaired, delivered and reported.
#define ACP_POLICY_TOLERANT 1

// Policy: what breaks a rule is refused and reported.
#define ACP_POLICY_STRICT 2

// Policy: what breaks a rule and can be let through is let through and not reported.
#define ACP_POLICY_OFF 3

// Severity: odd, and harmless.
#define ACP_SEVERITY_NOTE 1

// Severity: wrong, but what was meant is clear.
#define ACP_SEVERITY_WARNING 2

// Severity: the message cannot be taken as it is.
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

// Limit: bytes of one frame.
#define ACP_LIMIT_FRAME 1

// Limit: nesting of one frame.
#define ACP_LIMIT_DEPTH 2

// Limit: open requests in each direction.
#define ACP_LIMIT_PENDING 3

// Limit: sessions.
#define ACP_LIMIT_SESSIONS 4

// Limit: terminals of one session.
#define ACP_LIMIT_TERMINALS 5

// Limit: things of one kind that are remembered of one session beside terminals: tool calls, plans, compactions, modes.
#define ACP_LIMIT_REMEMBERED 6

// Phase: `initialize` has not been sent.
#define ACP_PHASE_START 1

// Phase: `initialize` has not been answered.
#define ACP_PHASE_INITIALIZING 2

// Phase: open.
#define ACP_PHASE_READY 3

// Phase: over.
#define ACP_PHASE_CLOSED 4

// Event: the peer asks; answer with `acp_connection_respond` or `acp_connection_respond_error`.
#define ACP_EVENT_REQUEST 1

// Event: the peer tells.
#define ACP_EVENT_NOTIFICATION 2

// Event: a request of the host's has ended.
#define ACP_EVENT_RESPONSE 3

// Event: the peer no longer wants an answer, which it must get all the same.
#define ACP_EVENT_CANCEL 4

// Event: the library has answered a request of the peer's in the host's place.
#define ACP_EVENT_ANSWERED 5

// Event: the peer broke a rule.
#define ACP_EVENT_VIOLATION 6

// Event: the connection is over; the last one.
#define ACP_EVENT_CLOSED 7

// Event: the host's own message went out, but it is odd; or an answer of the host's is overdue.
#define ACP_EVENT_ADVICE 8

// Event: the peer has answered a request of the host's that had ended with `ACP_RESPONSE_TIMEOUT` or
// `ACP_RESPONSE_CANCELLED`. It has the members of a response; what it opened is open.
#define ACP_EVENT_LATE_RESPONSE 9

// Timing: inside a prompt turn.
#define ACP_TIMING_TURN 1

// Timing: the past, told again while a session is loaded.
#define ACP_TIMING_REPLAY 2

// Timing: no turn is running.
#define ACP_TIMING_IDLE 3

// Timing: not about a session.
#define ACP_TIMING_NONE 4

// A request ended with a result.
#define ACP_RESPONSE_RESULT 1

// A request ended with an error of the peer's.
#define ACP_RESPONSE_ERROR 2

// A request ended with an answer that cannot be used; a violation before it says why.
#define ACP_RESPONSE_INVALID 3

// A request ended without an answer in time.
#define ACP_RESPONSE_TIMEOUT 4

// A request ended with the connection.
#define ACP_RESPONSE_CLOSED 5

// A request was cancelled, and not answered in the time that `acp_config_set_cancel_grace` leaves.
#define ACP_RESPONSE_CANCELLED 6

// The message was delivered, if need be repaired.
#define ACP_CONSEQUENCE_DELIVERED 1

// The message was not delivered.
#define ACP_CONSEQUENCE_DROPPED 2

// The message was answered with an error.
#define ACP_CONSEQUENCE_REFUSED 3

// The peer closed its side.
#define ACP_CLOSE_END_OF_STREAM 1

// The host closed the connection.
#define ACP_CLOSE_HOST 2

// There is no common version of the protocol.
#define ACP_CLOSE_VERSION 3

// Misuse: too early, too late, or twice.
#define ACP_MISUSE_PHASE 1

// Misuse: no such method, or not from this side, or not in this form.
#define ACP_MISUSE_METHOD 2

// Misuse: the peer did not say that it can do this.
#define ACP_MISUSE_CAPABILITY 3

// Misuse: params, a result or an error that do not fit.
#define ACP_MISUSE_PARAMS 4

// Misuse: a session that is not open here.
#define ACP_MISUSE_SESSION 5

// Misuse: no open request is meant by this number or id.
#define ACP_MISUSE_ID 6

// Misuse: a limit of the configuration.
#define ACP_MISUSE_LIMIT 7

// Session: being loaded.
#define ACP_SESSION_LOADING 1

// Session: being resumed.
#define ACP_SESSION_RESUMING 2

// Session: open.
#define ACP_SESSION_READY 3

// Turn: the agent waits for a prompt.
#define ACP_TURN_IDLE 1

// Turn: the agent works on a prompt.
#define ACP_TURN_RUNNING 2

// Turn: the agent works on a prompt that the client has cancelled.
#define ACP_TURN_CANCELLING 3

// Turn: the agent cannot go on until the user has done something (version 2).
#define ACP_TURN_REQUIRES_ACTION 4

// Login: nothing has said whether the agent works for this user.
#define ACP_LOGIN_UNKNOWN 1

// Login: a call was refused for want of a login, or the user has logged out.
#define ACP_LOGIN_REQUIRED 2

// Login: a login has succeeded.
#define ACP_LOGIN_DONE 3

// JSON: `null`.
#define ACP_JSON_NULL 1

// JSON: `true` or `false`.
#define ACP_JSON_BOOLEAN 2

// JSON: a number.
#define ACP_JSON_NUMBER 3

// JSON: a string.
#define ACP_JSON_STRING 4

// JSON: a list.
#define ACP_JSON_ARRAY 5

// JSON: an object.
#define ACP_JSON_OBJECT 6

// The version of the library that this header is of: major.minor.patch.
#define ACP_VERSION_MAJOR 0

// The second number of the version.
#define ACP_VERSION_MINOR 1

// The third number of the version.
#define ACP_VERSION_PATCH 0

// Value: a string, in `text`.
#define ACP_VALUE_STRING 1

// Value: JSON text, in `text`.
#define ACP_VALUE_JSON 2

// Value: a whole number, in `whole`.
#define ACP_VALUE_INT64 3

// Value: a number, in `real`.
#define ACP_VALUE_DOUBLE 4

// Value: `true` or, where `whole` is 0, `false`.
#define ACP_VALUE_BOOL 5

// Value: `null`.
#define ACP_VALUE_NULL 6

// What a host decides before a connection begins.
typedef struct acp_config acp_config;

// One peer, seen from one side.
typedef struct acp_connection acp_connection;

// Something that the host must know.
typedef struct acp_event acp_event;

// The items of a list or the members of an object.
typedef struct acp_items acp_items;

// Looks on while a client and an agent talk.
typedef struct acp_observer acp_observer;

// A list of open requests.
typedef struct acp_requests acp_requests;

// A list of sessions.
typedef struct acp_sessions acp_sessions;

// A list of terminals.
typedef struct acp_terminals acp_terminals;

// Writes one JSON value piece by piece; commas and colons come by themselves.
typedef struct acp_writer acp_writer;

// What became of a call. `ACP_OK` is zero, a positive status is no error, a negative one is.
typedef int32_t acp_status;

// Bytes of somebody else's, mostly UTF-8 text; never terminated by NUL. `data` may be NULL where `len` is 0.
typedef struct {
    // The first byte.
    const char *data;
    // How many there are.
    size_t len;
} acp_slice;

// A value that goes into JSON; `acp_string_value` and its like make one. It never changes.
typedef struct {
    // What it is (`ACP_VALUE_…`), which says what else is read.
    int32_t type;
    // A whole number.
    int64_t whole;
    // A number.
    double real;
    // A string or JSON text.
    acp_slice text;
} acp_value;

// A member of an object. It never changes.
typedef struct {
    // Its name.
    acp_slice name;
    // Its value.
    acp_value value;
} acp_member;

// A text of the host's own, with a NUL behind it that `len` does not count. All zero is empty.
typedef struct {
    // The first byte; NULL in one that is empty for want of a text.
    char *data;
    // How many there are.
    size_t len;
} acp_string;

// Done.
#define ACP_OK 0

// Done, and there is no such value: no event waits, the event has no such member, the pointer names nothing. Nothing
// was written.
#define ACP_NONE 1

// The protocol forbids the call now, or what was passed does not fit it. Nothing was sent and nothing has changed;
// `acp_connection_error_…` say more.
#define ACP_MISUSE (-1)

// An argument is NULL, is not UTF-8, or is a number that has no meaning here. Nothing has changed.
#define ACP_INVALID_ARGUMENT (-2)

// The JSON value is of another type, or a number that does not fit.
#define ACP_WRONG_TYPE (-3)

// The buffer is too small. This is the one status other than `ACP_OK` with which an output is written: the length
// that is needed.
#define ACP_SHORT_BUFFER (-4)

// The calls to a writer did not make one JSON value, or it had been finished.
#define ACP_WRITER_MISUSE (-5)

// A defect of the library was caught. The handle only serves to be freed.
#define ACP_PANIC (-6)

// The handle is none of this type: it was freed, or it never was one. That it is noticed is no promise: where its memory
// is in use again, it may not be.
#define ACP_BAD_HANDLE (-7)

// Another thread is inside of a call that changes this handle. Nothing has changed. It is noticed when both are there at the
// same time; a change that begins while another thread only looks is not.
#define ACP_BUSY (-8)

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// The name of a status, as a C string that is always there; `unknown` for what is none.
const char *acp_status_name(acp_status status);

// The name of an `ACP_PHASE_…`, the same in every language; as above.
const char *acp_phase_name(int32_t phase);

// The name of an `ACP_EVENT_…`; as above.
const char *acp_event_kind_name(int32_t kind);

// The name of an `ACP_SEVERITY_…`; as above.
const char *acp_severity_name(int32_t severity);

// The name of an `ACP_LEVEL_…`, as the specification writes it; as above.
const char *acp_level_name(int32_t level);

// The name of an `ACP_TIMING_…`; as above.
const char *acp_timing_name(int32_t timing);

// The name of an `ACP_RESPONSE_…`; as above.
const char *acp_outcome_name(int32_t outcome);

// The name of an `ACP_CONSEQUENCE_…`; as above.
const char *acp_consequence_name(int32_t consequence);

// The name of an `ACP_CLOSE_…`; as above.
const char *acp_close_reason_name(int32_t reason);

// The name of an `ACP_MISUSE_…` (1 and up); as above.
const char *acp_misuse_kind_name(int32_t kind);

// The name of an `ACP_SESSION_…`; as above.
const char *acp_session_state_name(int32_t state);

// The name of an `ACP_TURN_…`; as above.
const char *acp_turn_name(int32_t turn);

// The name of an `ACP_ROLE_…`; as above.
const char *acp_role_name(int32_t role);

// The name of an `ACP_LOGIN_…`; as above. One of them is `unknown` as well.
const char *acp_login_name(int32_t login);

// The version of the binary interface of the library that is linked.
uint32_t acp_abi_version(void);

// The version of the library that is linked, as a C string that is always there.
const char *acp_library_version(void);

// The defaults for a role (`ACP_ROLE_…`): lines, tolerant, version 1, no drafts, no time-out, ten seconds to
// answer what was cancelled, no reminders. The caller owns `*out` and frees it with `acp_config_free`.
ACP_MUST_USE acp_status acp_config_new(int32_t role, acp_config **out);

// Frees a configuration. Connections that were made with it are not concerned.
void acp_config_free(acp_config *config);

// How messages are told apart on the transport (`ACP_FRAMING_…`).
acp_status acp_config_set_framing(acp_config *config, int32_t framing);

// What happens to messages that break a rule (`ACP_POLICY_…`).
acp_status acp_config_set_policy(acp_config *config, int32_t policy);

// Another policy (`ACP_POLICY_…`) for the rules of one severity (`ACP_SEVERITY_…`).
acp_status acp_config_set_policy_for(acp_config *config, int32_t severity, int32_t policy);

// Takes back what `acp_config_set_policy_for` set: the rules of this severity follow `acp_config_set_policy` again.
acp_status acp_config_clear_policy_for(acp_config *config, int32_t severity);

// A bound (`ACP_LIMIT_…`) that holds whatever the peer sends.
acp_status acp_config_set_limit(acp_config *config, int32_t limit, uint64_t value);

// The versions of the protocol that may be agreed on, in any order: 1 where nothing sets it. `ACP_INVALID_ARGUMENT` when
// `count` is 0, and when a number is no version that the library speaks.
acp_status acp_config_set_versions(acp_config *config,
                                   const uint16_t *versions,
                                   size_t count);

// Switches a draft of the protocol on (`ACP_DRAFT_…`); `ACP_INVALID_ARGUMENT` when there is none of this name.
acp_status acp_config_set_draft(acp_config *config, acp_slice name);

// Milliseconds after which a request of the host's own fails, unless the call says otherwise; `ACP_UNSET` and
// `ACP_NEVER` wait for ever.
acp_status acp_config_set_timeout(acp_config *config, uint64_t milliseconds);

// Milliseconds that the peer has to answer a request after `acp_connection_cancel` (10,000 by default). Then the request
// ends with `ACP_RESPONSE_CANCELLED`, and an answer that still comes is an `ACP_EVENT_LATE_RESPONSE`. `ACP_UNSET` and
// `ACP_NEVER` wait for ever.
acp_status acp_config_set_cancel_grace(acp_config *config,
                                       uint64_t milliseconds);

// Milliseconds after which the host is reminded, once, of a request of the peer's that it has not answered: an
// `ACP_EVENT_ADVICE` of the rule RPC-15 with the method and the id. `ACP_UNSET` and `ACP_NEVER` remind of nothing.
acp_status acp_config_set_reminder(acp_config *config, uint64_t milliseconds);

// Whether a session may have several prompts at once (TURN-03), for agents that queue prompts: a client's further prompts
// go out with an `ACP_EVENT_ADVICE` instead of misuse, an agent's are delivered without a violation. The turn ends with
// the last answer.
acp_status acp_config_set_prompt_queueing(acp_config *config,
                                          bool allowed);

// Names a method that some peers have although it is neither the specification's nor begins with an underscore (EXT-07): it
// is then sent and delivered like an extension's. `ACP_INVALID_ARGUMENT` when such a method can be no peer's own, or the
// name is empty or longer than 4,096 bytes.
acp_status acp_config_set_foreign_method(acp_config *config,
                                         acp_slice name);

// The side that the host plays.
acp_status acp_config_role(const acp_config *config, int32_t *out);

// What `acp_config_set_framing` set.
acp_status acp_config_framing(const acp_config *config, int32_t *out);

// What `acp_config_set_policy` set.
acp_status acp_config_policy(const acp_config *config, int32_t *out);

// What `acp_config_set_policy_for` set for this severity; `ACP_NONE` when its rules follow `acp_config_set_policy`.
acp_status acp_config_policy_for(const acp_config *config, int32_t severity, int32_t *out);

// What `acp_config_set_limit` set, or the default.
acp_status acp_config_limit(const acp_config *config, int32_t limit, uint64_t *out);

// Whether a version of the protocol may be agreed on; false for a number that is no version.
acp_status acp_config_version(const acp_config *config, uint16_t version, bool *out);

// Whether a draft is switched on; `ACP_INVALID_ARGUMENT` when there is none of this name.
acp_status acp_config_draft(const acp_config *config, acp_slice name, bool *out);

// What `acp_config_set_timeout` set; `ACP_NONE` when requests wait for ever.
acp_status acp_config_timeout(const acp_config *config, uint64_t *out);

// What `acp_config_set_cancel_grace` set, or the default; `ACP_NONE` when cancelled requests wait for ever.
acp_status acp_config_cancel_grace(const acp_config *config, uint64_t *out);

// What `acp_config_set_reminder` set; `ACP_NONE` when the host is reminded of nothing.
acp_status acp_config_reminder(const acp_config *config, uint64_t *out);

// What `acp_config_set_prompt_queueing` set.
acp_status acp_config_prompt_queueing(const acp_config *config, bool *out);

// Whether `acp_config_set_foreign_method` has named this method.
acp_status acp_config_foreign_method(const acp_config *config, acp_slice name, bool *out);

// A connection at its start. The configuration is copied. The caller owns `*out` and frees it with
// `acp_connection_free`.
ACP_MUST_USE acp_status acp_connection_new(const acp_config *config, acp_connection **out);

// Frees a connection; events and lists that came from it stay.
void acp_connection_free(acp_connection *connection);

// Takes bytes from the peer, in any split (with `ACP_FRAMING_MESSAGES`: one message a call). What is wrong with them
// becomes events. After the connection is over they are ignored.
acp_status acp_connection_receive(acp_connection *connection, acp_slice bytes);

// The peer has closed its side: what was received is still read, then everything open ends.
acp_status acp_connection_receive_eof(acp_connection *connection);

// Tells the time in milliseconds, on a clock of the host's own that does not run backwards. Requests whose time is up
// end, and of the peer's that wait too long the host is reminded.
acp_status acp_connection_handle_timeout(acp_connection *connection, uint64_t now);

// The next thing that the host must know; `ACP_NONE` when there is nothing more now. Poll until then after every
// other call that changes the connection. The caller owns `*out` and frees it with `acp_event_free`; it does not
// depend on the connection.
acp_status acp_connection_poll_event(acp_connection *connection, acp_event **out);

// When `acp_connection_handle_timeout` is wanted, on the host's clock; `ACP_NONE` when it is not.
acp_status acp_connection_poll_timeout(const acp_connection *connection, uint64_t *out);

// Bytes for the peer (with `ACP_FRAMING_MESSAGES`: the rest of one message); empty when there are none. Valid until
// the next call that changes the connection.
acp_status acp_connection_transmit(const acp_connection *connection, acp_slice *out);

// Takes `count` bytes of `acp_connection_transmit` as written; partial writes are normal, and more than there are
// counts as all of them.
acp_status acp_connection_consume(acp_connection *connection, size_t count);

// Ends the connection from this side: open permission requests are answered `cancelled`, own requests end, and what
// waits in `acp_connection_transmit` can still be sent.
acp_status acp_connection_close(acp_connection *connection);

// How much was received and has not been read yet. Stop reading from the transport while this is large. In bytes.
acp_status acp_connection_buffered(const acp_connection *connection, size_t *out);

// How much waits to be sent: the length of what `transmit` holds, or with the framing `messages` of all messages.
// Stop reading from the transport while this is large. In bytes.
acp_status acp_connection_unsent(const acp_connection *connection, size_t *out);

// Whether it is clear at a glance that there is no event before more bytes come. A host that gets bytes in small
// pieces need not ask for events after each of them.
acp_status acp_connection_needs_input(acp_connection *connection, bool *out);

// Sends a request. `params` is JSON text, an object; for `initialize`, `protocolVersion` is filled in when it is left
// out. `*out` is the request's number, which its one `ACP_EVENT_RESPONSE` carries too; `out` may be NULL, here and in every
// other function that sends a request.
ACP_MUST_USE
acp_status acp_connection_request(acp_connection *connection,
                                  acp_slice method,
                                  acp_slice params,
                                  uint64_t *out);

// As `acp_connection_request`, with an id of the host's choice (JSON text; empty for the next number) and a time-out
// (milliseconds from the time last told; `ACP_UNSET` for the configuration's, `ACP_NEVER` for none).
ACP_MUST_USE
acp_status acp_connection_request_with(acp_connection *connection,
                                       acp_slice method,
                                       acp_slice params,
                                       acp_slice id,
                                       uint64_t timeout,
                                       uint64_t *out);

// Sends a notification; `params` is JSON text, an object. `session/cancel` also answers the session's open permission
// requests with `cancelled`.
ACP_MUST_USE acp_status acp_connection_notify(acp_connection *connection, acp_slice method, acp_slice params);

// Answers the peer's request with this number with a result (JSON text). For `initialize`, `protocolVersion` is filled
// in when it is left out.
ACP_MUST_USE acp_status acp_connection_respond(acp_connection *connection, uint64_t serial, acp_slice result);

// Answers the peer's request with this number with an error; `data` is JSON text, empty for none.
ACP_MUST_USE
acp_status acp_connection_respond_error(acp_connection *connection,
                                        uint64_t serial,
                                        int32_t code,
                                        acp_slice message,
                                        acp_slice data);

// Asks the peer to cancel the host's own request with this number. Its answer still comes, whatever it is. Asking
// twice sends nothing more.
acp_status acp_connection_cancel(acp_connection *connection, uint64_t serial);

// Whether a method could be sent now, as far as version, side, phase and capabilities go.
acp_status acp_connection_can(const acp_connection *connection, acp_slice method, bool *out);

// `ACP_OK` when a method could be sent now; otherwise `ACP_MISUSE`, and `acp_connection_error_…` say why.
acp_status acp_connection_why_not(acp_connection *connection, acp_slice method);

// What kind of mistake (`ACP_MISUSE_…`) the last call that returned `ACP_MISUSE` was; `ACP_NONE` when none was.
acp_status acp_connection_error_kind(const acp_connection *connection, int32_t *out);

// The rule that forbade it, as listed in the rule catalogue. This and the next two are valid until the next call that
// changes the connection.
acp_status acp_connection_error_rule(const acp_connection *connection, acp_slice *out);

// JSON pointer into what was passed; empty when it is about the call as a whole.
acp_status acp_connection_error_pointer(const acp_connection *connection, acp_slice *out);

// What is wrong, what was expected, and what to do instead.
acp_status acp_connection_error_message(const acp_connection *connection, acp_slice *out);

// The side that the host plays.
//
// - `*out`: one of `ACP_ROLE_…`
acp_status acp_connection_role(const acp_connection *connection, int32_t *out);

// A copy of the configuration, with the defaults filled in.
//
// - `*out`: a copy; the caller owns it and frees it with `acp_config_free`
acp_status acp_connection_config(const acp_connection *connection, acp_config **out);

// How far the connection is.
//
// - `*out`: one of `ACP_PHASE_…`
// - see https://agentclientprotocol.com/protocol/v1/initialization
acp_status acp_connection_phase(const acp_connection *connection, int32_t *out);

// The agreed version of the protocol.
//
// - `ACP_NONE`: before it is agreed on: a client knows it once `initialize` has been answered, an agent once
//   `initialize` has come
// - see https://agentclientprotocol.com/protocol/v1/initialization
acp_status acp_connection_version(const acp_connection *connection, uint16_t *out);

// What the peer can do: its capabilities object, `{}` before `initialize`. To ask about one method, use `can`.
//
// - `*out`: JSON text; valid until the next call that changes the connection
// - see https://agentclientprotocol.com/protocol/v1/initialization
acp_status acp_connection_capabilities(const acp_connection *connection, acp_slice *out);

// What the host said it can do: its capabilities object, `{}` before `initialize`.
//
// - `*out`: JSON text; valid until the next call that changes the connection
// - see https://agentclientprotocol.com/protocol/v1/initialization
acp_status acp_connection_own_capabilities(const acp_connection *connection, acp_slice *out);

// The peer's whole params or result of `initialize`, with its name and its ways to log in; `{}` before.
//
// - `*out`: JSON text; valid until the next call that changes the connection
// - see https://agentclientprotocol.com/protocol/v1/initialization
acp_status acp_connection_peer_info(const acp_connection *connection, acp_slice *out);

// The name of the program behind the peer, for logs and messages. Rule INIT-11.
//
// - `*out`: the text; valid until the next call that changes the connection, and this is one
// - `ACP_NONE`: before `initialize`, and where the peer does not say it
// - see https://agentclientprotocol.com/protocol/v1/initialization
acp_status acp_connection_peer_name(acp_connection *connection, acp_slice *out);

// What the peer says about one extension under `_meta` of its capabilities. Rule EXT-10.
//
// - `name`: the extension's name
// - `*out`: JSON text; valid until the next call that changes the connection
// - `ACP_NONE`: where the peer does not advertise the extension, and before `initialize`
// - see https://agentclientprotocol.com/protocol/v1/extensibility
acp_status acp_connection_peer_extension(const acp_connection *connection, acp_slice name, acp_slice *out);

// Whether the agent works for this user, as far as anything has said.
//
// - `*out`: one of `ACP_LOGIN_…`
// - see https://agentclientprotocol.com/protocol/v1/authentication
acp_status acp_connection_login(const acp_connection *connection, int32_t *out);

// The ways to log in that the agent listed and that can be used, in its order. The kind is `agent` where
// `authenticate` (version 2: `auth/login`) asks the agent to do it, `terminal` where the client runs it in a
// terminal, and in version 2 also `custom` for a type of the two sides' own and `unknown` for one that is newer
// than the library.
//
// - `*out`: JSON text, a list of objects `{"methodId", "kind"}`; valid until the next call that changes the
//   connection, and this is one
// - see https://agentclientprotocol.com/protocol/v1/authentication
acp_status acp_connection_login_methods(acp_connection *connection, acp_slice *out);

// Whether a request may be sent once more when nobody knows what became of it, because its time was up or the
// connection is gone: `safe` as it is, `key` with the `idempotencyKey` that it had the first time, `never` because
// it might be done twice. It can be asked of a connection that is over.
//
// - `method`: the method's name
// - `*out`: the text; valid until the next call that changes the connection
// - `ACP_NONE`: before the version is agreed on, and for methods that are no requests of that version
// - see https://agentclientprotocol.com/rfds/v2/idempotency-keys
acp_status acp_connection_retry_class(const acp_connection *connection, acp_slice method, acp_slice *out);

// The ids of questions that are settled on web pages and have not been yet, in the order of their text. Rule
// ELIC-20.
//
// - `*out`: JSON text, a list of strings; valid until the next call that changes the connection, and this is one
// - see https://agentclientprotocol.com/rfds/elicitation
acp_status acp_connection_open_elicitations(acp_connection *connection, acp_slice *out);

// The model providers that the agent listed last, in the order of their ids, and whether each is switched on.
// Draft `llm_providers`. Rule PROV-04.
//
// - `*out`: JSON text, a list of objects `{"providerId", "enabled"}`; valid until the next call that changes the
//   connection, and this is one
// - see https://agentclientprotocol.com/rfds/custom-llm-endpoint
acp_status acp_connection_providers(acp_connection *connection, acp_slice *out);

// All that is known of the connection as a whole: an object that always has all of its members.
//
// - `phase`: the name of the phase; `version`: the agreed version, or null before it is agreed on
// - `login`: whether the agent works for this user, as far as anything has said: `unknown`, `required` or `done`
// - `loginMethods`: a list of `{"methodId", "kind"}` of the ways to log in that can be used, in the agent's order;
//   the kind is `agent` where `authenticate` asks the agent to do it, `terminal` where the client runs it in a
//   terminal, and in version 2 also `custom` for a type of the two sides' own and `unknown` for one that is newer
//   than the library
// - `openElicitations`: the ids of questions that are settled on web pages and have not been yet
// - `providers` (draft): a list of `{"providerId", "enabled"}` of the model providers that the agent listed last
//
// - `*out`: JSON text; valid until the next call that changes the connection, and this is one
acp_status acp_connection_snapshot(acp_connection *connection, acp_slice *out);

// Whether a session can be used.
//
// - `id`: the session's id
// - `*out`: one of `ACP_SESSION_…`
// - `ACP_NONE`: when the session is not known
// - see https://agentclientprotocol.com/protocol/v1/session-setup
acp_status acp_connection_session_state(const acp_connection *connection, acp_slice id, int32_t *out);

// Whether the agent works for a session.
//
// - `id`: the session's id
// - `*out`: one of `ACP_TURN_…`
// - `ACP_NONE`: when the session is not known
// - see https://agentclientprotocol.com/protocol/v1/prompt-turn
acp_status acp_connection_session_turn(const acp_connection *connection, acp_slice id, int32_t *out);

// The working directory of a session.
//
// - `id`: the session's id
// - `*out`: the text; valid until the next call that changes the connection
// - `ACP_NONE`: when the session is not known, or its directory is not
// - see https://agentclientprotocol.com/protocol/v1/session-setup
acp_status acp_connection_session_cwd(const acp_connection *connection, acp_slice id, acp_slice *out);

// All directories of a session: the working directory, then the others.
//
// - `id`: the session's id
// - `*out`: JSON text, a list of strings; valid until the next call that changes the connection, and this is one
// - `ACP_NONE`: when the session is not known
// - see https://agentclientprotocol.com/protocol/v1/session-setup
acp_status acp_connection_session_roots(acp_connection *connection, acp_slice id, acp_slice *out);

// The id of the mode that is in force in a session.
//
// - `id`: the session's id
// - `*out`: the text; valid until the next call that changes the connection, and this is one
// - `ACP_NONE`: when the session is not known, or it has no modes
// - see https://agentclientprotocol.com/protocol/v1/session-modes
acp_status acp_connection_session_mode(acp_connection *connection, acp_slice id, acp_slice *out);

// The modes that a session offers: the list as the agent told it.
//
// - `id`: the session's id
// - `*out`: JSON text; valid until the next call that changes the connection
// - `ACP_NONE`: when the session is not known, or it has told of none, or of more than is kept
// - see https://agentclientprotocol.com/protocol/v1/session-modes
acp_status acp_connection_session_available_modes(const acp_connection *connection, acp_slice id, acp_slice *out);

// The options of a session with their values: the list as the agent told it last.
//
// - `id`: the session's id
// - `*out`: JSON text; valid until the next call that changes the connection
// - `ACP_NONE`: when the session is not known, or it has told of none, or of more than is kept
// - see https://agentclientprotocol.com/protocol/v1/session-config-options
acp_status acp_connection_session_config_options(const acp_connection *connection, acp_slice id, acp_slice *out);

// The tool calls of a session and how far each is, oldest first.
//
// - `id`: the session's id
// - `*out`: JSON text, a list of objects `{"toolCallId", "status"}`; valid until the next call that changes the
//   connection, and this is one
// - `ACP_NONE`: when the session is not known
// - see https://agentclientprotocol.com/protocol/v1/tool-calls
acp_status acp_connection_session_tool_calls(acp_connection *connection, acp_slice id, acp_slice *out);

// The entries of a session's plan: the list as the agent told it last.
//
// - `id`: the session's id
// - `*out`: JSON text; valid until the next call that changes the connection
// - `ACP_NONE`: when the session is not known, or it has told of none, or of more than is kept
// - see https://agentclientprotocol.com/protocol/v1/agent-plan
acp_status acp_connection_session_plan(const acp_connection *connection, acp_slice id, acp_slice *out);

// The ids of a session's plans that have one.
//
// - `id`: the session's id
// - `*out`: JSON text, a list of strings; valid until the next call that changes the connection, and this is one
// - `ACP_NONE`: when the session is not known
// - see https://agentclientprotocol.com/rfds/plan-operations
acp_status acp_connection_session_plan_ids(acp_connection *connection, acp_slice id, acp_slice *out);

// The commands that a user can type in a session: the list as the agent told it last.
//
// - `id`: the session's id
// - `*out`: JSON text; valid until the next call that changes the connection
// - `ACP_NONE`: when the session is not known, or it has told of none, or of more than is kept
// - see https://agentclientprotocol.com/protocol/v1/slash-commands
acp_status acp_connection_session_commands(const acp_connection *connection, acp_slice id, acp_slice *out);

// The ids of a session's compactions that have not ended, oldest first. Rule NOTE-09.
//
// - `id`: the session's id
// - `*out`: JSON text, a list of strings; valid until the next call that changes the connection, and this is one
// - `ACP_NONE`: when the session is not known
acp_status acp_connection_session_open_compactions(acp_connection *connection, acp_slice id, acp_slice *out);

// Whether the user has logged out since a session was opened, so that it may fail for want of a login. Rule
// AUTH-25.
//
// - `id`: the session's id
// - `ACP_NONE`: when the session is not known
// - see https://agentclientprotocol.com/protocol/v1/authentication
acp_status acp_connection_session_auth_uncertain(const acp_connection *connection, acp_slice id, bool *out);

// The id of the session that a session is a child of.
//
// - `id`: the session's id
// - `*out`: the text; valid until the next call that changes the connection
// - `ACP_NONE`: when the session is not known, or it was opened by the client
// - see https://agentclientprotocol.com/protocol/v1/subagents
acp_status acp_connection_session_parent(const acp_connection *connection, acp_slice id, acp_slice *out);

// Whether the client may cancel the work of a session: always, unless it is a child that does not allow it.
//
// - `id`: the session's id
// - `ACP_NONE`: when the session is not known
// - see https://agentclientprotocol.com/protocol/v1/subagents
acp_status acp_connection_session_may_cancel(const acp_connection *connection, acp_slice id, bool *out);

// All that is known of a session: an object that always has all of its members. Null says that the session has
// told of none, or of more than is kept. It costs as much as it is long.
//
// - `state` and `turn`: the names of the session's state and of its turn's
// - `stopReason`: why its work has ended, as the agent told it last, or null; `error`: what failed, where that is
//   `error`, or null; `background`: the list of what runs beside the foreground work, or null (version 2)
// - `terminals`: an object from the ids of open terminals to whether the command of each has ended
// - `cwd`: the working directory, or null; `roots`: the list of all directories
// - `modes`: `{"currentModeId", "availableModes"}`, the second a list or null; or null
// - `configOptions`, `commands`: lists as the agent told them last, or null
// - `toolCalls`: a list of `{"toolCallId", "status"}`, oldest first
// - `plan`: the list of its entries, or null; `planIds`: the ids of plans that have one
// - `openCompactions`: the ids of compactions that have not ended
// - `authUncertain`: whether the user has logged out since it was opened, so that it may fail for want of a login
// - `parent`: the id of the session that it is a child of, or null; `mayCancel`: whether the client may cancel its
//   work
//
// - `id`: the session's id
// - `*out`: JSON text; valid until the next call that changes the connection, and this is one
// - `ACP_NONE`: when the session is not known
acp_status acp_connection_session_snapshot(acp_connection *connection, acp_slice id, acp_slice *out);

// The text of a prompt that runs one of a session's commands. Rule CMD-05.
//
// - `session`: the session's id
// - `name`: the command's name
// - `input`: what follows the name, empty for nothing
// - `*out`: the text; valid until the next call that changes the connection, and this is one
// - `ACP_NONE`: when the session is not known, or it has not listed the command
// - see https://agentclientprotocol.com/protocol/v1/slash-commands
acp_status acp_connection_command_text(acp_connection *connection,
                                       acp_slice session,
                                       acp_slice name,
                                       acp_slice input,
                                       acp_slice *out);

// Whether a path is inside of one of a session's directories, as far as its text goes: `.` and `..` are followed,
// links in the file system are the host's to check. False where the directories, or the session, are not known.
// Rule SESS-06.
//
// - `session`: the session's id
// - `path`: an absolute path
// - see https://agentclientprotocol.com/protocol/v1/session-setup
acp_status acp_connection_in_roots(const acp_connection *connection, acp_slice session, acp_slice path, bool *out);

// The sessions that are known now, by id.
//
// - `*out`: a list; the caller owns it and frees it with `acp_sessions_free`
// - see https://agentclientprotocol.com/protocol/v1/session-setup
acp_status acp_connection_sessions(const acp_connection *connection, acp_sessions **out);

// The host's own requests that have no answer yet, oldest first.
//
// - `*out`: a list; the caller owns it and frees it with `acp_requests_free`
acp_status acp_connection_pending(const acp_connection *connection, acp_requests **out);

// The peer's requests that the host has not answered yet, oldest first. Rule RPC-15.
//
// - `*out`: a list; the caller owns it and frees it with `acp_requests_free`
acp_status acp_connection_unanswered(const acp_connection *connection, acp_requests **out);

// The terminals that were created and not released, by session. Rule TERM-04.
//
// - `*out`: a list; the caller owns it and frees it with `acp_terminals_free`
// - see https://agentclientprotocol.com/protocol/v1/terminals
acp_status acp_connection_open_terminals(const acp_connection *connection, acp_terminals **out);

// The host's own open request with an id.
//
// - `id`: the request's id as JSON text; `ACP_INVALID_ARGUMENT` where it is no id
// - `*out`: its number on this connection
// - `ACP_NONE`: when no such request is open
acp_status acp_connection_pending_by_id(const acp_connection *connection, acp_slice id, uint64_t *out);

// The peer's open request with an id.
//
// - `id`: the request's id as JSON text; `ACP_INVALID_ARGUMENT` where it is no id
// - `*out`: its number on this connection
// - `ACP_NONE`: when no such request is open
acp_status acp_connection_unanswered_by_id(const acp_connection *connection, acp_slice id, uint64_t *out);

// The id of the host's own open request with a number.
//
// - `serial`: the request's number on this connection
// - `*out`: the id as JSON text; valid until the next call that changes the connection, and this is one
// - `ACP_NONE`: when no such request is open
acp_status acp_connection_pending_id(acp_connection *connection, uint64_t serial, acp_slice *out);

// The id of the peer's open request with a number.
//
// - `serial`: the request's number on this connection
// - `*out`: the id as JSON text; valid until the next call that changes the connection, and this is one
// - `ACP_NONE`: when no such request is open
acp_status acp_connection_unanswered_id(acp_connection *connection, uint64_t serial, acp_slice *out);

// Frees a list.
void acp_sessions_free(acp_sessions *list);

// How many there are.
acp_status acp_sessions_len(const acp_sessions *list, size_t *out);

// The id of one. Slices from a list are valid until it is freed.
acp_status acp_sessions_id(const acp_sessions *list, size_t index, acp_slice *out);

// Whether it can be used (`ACP_SESSION_…`).
acp_status acp_sessions_state(const acp_sessions *list, size_t index, int32_t *out);

// Whether the agent works for it (`ACP_TURN_…`).
acp_status acp_sessions_turn(const acp_sessions *list, size_t index, int32_t *out);

// Frees a list.
void acp_requests_free(acp_requests *list);

// How many there are.
acp_status acp_requests_len(const acp_requests *list, size_t *out);

// The id of one, as JSON text.
acp_status acp_requests_id(const acp_requests *list, size_t index, acp_slice *out);

// Its number.
acp_status acp_requests_serial(const acp_requests *list, size_t index, uint64_t *out);

// The method.
acp_status acp_requests_method(const acp_requests *list, size_t index, acp_slice *out);

// The session it is about; `ACP_NONE` when it is about none.
acp_status acp_requests_session(const acp_requests *list, size_t index, acp_slice *out);

// Whether its sender has asked to cancel it.
acp_status acp_requests_cancelled(const acp_requests *list, size_t index, bool *out);

// When it times out or, of a peer's request, when the host is reminded of it, on the host's clock; `ACP_NONE` for never.
acp_status acp_requests_deadline(const acp_requests *list,
                                 size_t index,
                                 uint64_t *out);

// Frees a list.
void acp_terminals_free(acp_terminals *list);

// How many there are.
acp_status acp_terminals_len(const acp_terminals *list, size_t *out);

// The session that one belongs to.
acp_status acp_terminals_session(const acp_terminals *list, size_t index, acp_slice *out);

// Its id there.
acp_status acp_terminals_id(const acp_terminals *list, size_t index, acp_slice *out);

// Whether its command is known to have ended.
acp_status acp_terminals_ended(const acp_terminals *list, size_t index, bool *out);

// Frees an event.
void acp_event_free(acp_event *event);

// What kind of event it is (`ACP_EVENT_…`).
acp_status acp_event_kind(const acp_event *event, int32_t *out);

// The method: of all but closed events, of a violation where one could be read; of advice about an answer, the method
// that was called. Slices from an event are valid until it is freed.
acp_status acp_event_method(const acp_event *event, acp_slice *out);

// The id as JSON text, exactly as it was sent: of a request, response, cancel, answered event, of a violation where one
// could be read, of advice about an answer or a request that waits for one (`acp_connection_unanswered_by_id` has its
// number).
acp_status acp_event_id(const acp_event *event, acp_slice *out);

// The request's number on this connection: of a request, response, cancel or answered event.
acp_status acp_event_serial(const acp_event *event, uint64_t *out);

// The session it is about, if it is about one.
acp_status acp_event_session(const acp_event *event, acp_slice *out);

// The params as JSON text, of a request or notification; `{}` where there were none.
acp_status acp_event_params(const acp_event *event, acp_slice *out);

// The kind of a `session/update` notification (`ACP_UPDATE_…`), where it is known.
acp_status acp_event_update(const acp_event *event, acp_slice *out);

// Where a notification stands in the life of its session (`ACP_TIMING_…`).
acp_status acp_event_timing(const acp_event *event, int32_t *out);

// How a request of the host's ended (`ACP_RESPONSE_…`), of a response.
acp_status acp_event_outcome(const acp_event *event, int32_t *out);

// The result as JSON text, of a response that has one.
acp_status acp_event_result(const acp_event *event, acp_slice *out);

// The code of the peer's error, of a response that has one.
acp_status acp_event_error_code(const acp_event *event, int32_t *out);

// The message of the peer's error.
acp_status acp_event_error_message(const acp_event *event, acp_slice *out);

// The data of the peer's error as JSON text, where it has any.
acp_status acp_event_error_data(const acp_event *event, acp_slice *out);

// The rule, by its id in the rule catalogue (`acp_rule_…`): that was broken, of a violation; that speaks against the
// message, of advice; that asks for the answer, of an answered event.
acp_status acp_event_rule(const acp_event *event, acp_slice *out);

// What is wrong or odd in one sentence, of a violation or advice.
acp_status acp_event_message(const acp_event *event, acp_slice *out);

// JSON pointer into the params or result, of a violation or advice; empty when it is about the message as a whole.
acp_status acp_event_pointer(const acp_event *event, acp_slice *out);

// What became of the message (`ACP_CONSEQUENCE_…`), of a violation.
acp_status acp_event_consequence(const acp_event *event, int32_t *out);

// The code that a message was answered with, of a violation that was refused.
acp_status acp_event_answer_code(const acp_event *event, int32_t *out);

// The number of the frame on this connection, from 1, of a violation.
acp_status acp_event_frame(const acp_event *event, uint64_t *out);

// The first bytes of the frame, at most 256, made UTF-8, of a violation.
acp_status acp_event_excerpt(const acp_event *event, acp_slice *out);

// Why the connection is over (`ACP_CLOSE_…`), of a closed event.
acp_status acp_event_close_reason(const acp_event *event, int32_t *out);

// How many requests of the peer's the host never answered, of a closed event; 0 of others.
acp_status acp_event_unanswered_len(const acp_event *event, size_t *out);

// The id of one of them as JSON text, oldest first.
acp_status acp_event_unanswered_id(const acp_event *event, size_t index, acp_slice *out);

// How many terminals were never released, of a closed event; 0 of others.
acp_status acp_event_terminals_len(const acp_event *event, size_t *out);

// The session and the id of one of them.
acp_status acp_event_terminal(const acp_event *event, size_t index, acp_slice *session, acp_slice *id);

// An observer at the start of a conversation. It looks on while a client and an agent talk, sends nothing, and reports what
// either of them does wrong.
//
// The configuration is copied. Its role does not matter, nor do its time-outs; its versions are those that the observer can
// follow, so usually all of them. The caller owns `*out` and frees it with `acp_observer_free`.
ACP_MUST_USE
acp_status acp_observer_new(const acp_config *config,
                            acp_observer **out);

// Frees an observer; events and lists that came from it stay.
void acp_observer_free(acp_observer *observer);

// Takes bytes that one side (`ACP_ROLE_…`) has sent, in any split (with `ACP_FRAMING_MESSAGES`: one message a call). What is
// wrong with them becomes events. Bytes of the two sides go in in the order in which they were sent: an answer before its
// request is an answer to nothing. Poll after each call, as what was received is read then. After that side's stream has
// ended they are ignored.
acp_status acp_observer_receive(acp_observer *observer,
                                int32_t from,
                                acp_slice bytes);

// One side (`ACP_ROLE_…`) has closed its stream. Once both have, requests that were never answered end with
// `ACP_RESPONSE_CLOSED`, and the last event is an `ACP_EVENT_CLOSED`.
acp_status acp_observer_receive_eof(acp_observer *observer, int32_t from);

// What was seen next; `ACP_NONE` when there is nothing more now.
//
// - `*from`: the side that sent it (`ACP_ROLE_…`), and so of a violation the side that broke the rule; of a response that
//   ends for want of an answer, the side that had asked
// - `*out`: the event; the caller owns it and frees it with `acp_event_free`. What a violation says about its consequence is
//   what a receiver is to do; what the real one did is in what follows
acp_status acp_observer_poll_event(acp_observer *observer,
                                   int32_t *from,
                                   acp_event **out);

// How many bytes were received and have not been read yet, of both sides.
acp_status acp_observer_buffered(const acp_observer *observer, size_t *out);

// The version that both sides have agreed on; before the agent has answered, what it is expected to answer. `ACP_NONE`
// before `initialize`.
acp_status acp_observer_version(const acp_observer *observer, uint16_t *out);

// How far the conversation is (`ACP_PHASE_…`).
acp_status acp_observer_phase(const acp_observer *observer, int32_t *out);

// What one side (`ACP_ROLE_…`) can do: its capabilities object as JSON text, `{}` before `initialize`. Valid until the next
// call that changes the observer.
acp_status acp_observer_capabilities(const acp_observer *observer,
                                     int32_t of,
                                     acp_slice *out);

// The sessions that are known. The caller owns `*out` and frees it with `acp_sessions_free`.
acp_status acp_observer_sessions(const acp_observer *observer, acp_sessions **out);

// The requests that one side (`ACP_ROLE_…`) has sent and that have no answer yet, oldest first. The caller owns `*out` and
// frees it with `acp_requests_free`.
acp_status acp_observer_open_requests(const acp_observer *observer,
                                      int32_t of,
                                      acp_requests **out);

// All that is known of the conversation as a whole, as `acp_connection_snapshot` has it. Valid until the next call that
// changes the observer, and this is one.
acp_status acp_observer_snapshot(acp_observer *observer, acp_slice *out);

// All that is known of a session, as `acp_connection_session_snapshot` has it; `ACP_NONE` when the session is not known.
// Valid until the next call that changes the observer, and this is one.
acp_status acp_observer_session_snapshot(acp_observer *observer,
                                         acp_slice id,
                                         acp_slice *out);

// What the rule with this id says, in one sentence that is always there; `ACP_NONE` when there is no such rule, here
// and below.
acp_status acp_rule_text(acp_slice id, acp_slice *out);

// How binding the specification makes a rule (`ACP_LEVEL_…`).
acp_status acp_rule_level(acp_slice id, int32_t *out);

// How bad it is when a peer breaks a rule (`ACP_SEVERITY_…`).
acp_status acp_rule_severity(acp_slice id, int32_t *out);

// The value that a pointer names, as it stands in the text (strings with quotes and escapes), valid as long as the
// text is; `ACP_NONE` when it names nothing. The empty pointer names the whole text.
acp_status acp_json_find(acp_slice json, acp_slice pointer, acp_slice *out);

// The type (`ACP_JSON_…`) of the value that a pointer names; `ACP_NONE` when it names nothing.
acp_status acp_json_type(acp_slice json, acp_slice pointer, int32_t *out);

// Copies the string that a pointer names, without quotes and escapes, to `buffer`, which has room for `capacity`
// bytes, and writes its length to `*out`; no NUL is added. `ACP_SHORT_BUFFER` when there is no room: then `*out` is the
// room that is needed and `buffer` is untouched, so a first call may pass NULL and 0.
acp_status acp_json_string(acp_slice json, acp_slice pointer, char *buffer, size_t capacity, size_t *out);

// Whether the string that a pointer names, without escapes, is this text; false for other values and for nothing.
acp_status acp_json_string_is(acp_slice json, acp_slice pointer, acp_slice text, bool *out);

// The whole number that a pointer names, exactly; `ACP_WRONG_TYPE` for fractions, exponents and what does not fit.
acp_status acp_json_int64(acp_slice json, acp_slice pointer, int64_t *out);

// As `acp_json_int64`, without sign.
acp_status acp_json_uint64(acp_slice json, acp_slice pointer, uint64_t *out);

// The number that a pointer names, as the nearest double; `ACP_WRONG_TYPE` when it is too large for one.
acp_status acp_json_double(acp_slice json, acp_slice pointer, double *out);

// The boolean that a pointer names.
acp_status acp_json_bool(acp_slice json, acp_slice pointer, bool *out);

// How many items the list, or members the object, that a pointer names has.
acp_status acp_json_len(acp_slice json, acp_slice pointer, size_t *out);

// The items of the list, or the members of the object, that a pointer names. They are read once, so going through them
// takes no longer than the text is long. The caller owns `*out` and frees it with `acp_items_free`; the text must stay
// as it is until then.
acp_status acp_json_items(acp_slice json, acp_slice pointer, acp_items **out);

// Frees items.
void acp_items_free(acp_items *items);

// How many there are.
acp_status acp_items_len(const acp_items *items, size_t *out);

// The name of a member, without quotes and escapes, valid until the items are freed; `ACP_NONE` in a list.
acp_status acp_items_key(const acp_items *items, size_t index, acp_slice *out);

// An item, or the value of a member, as it stands in the text, valid as long as the text is.
acp_status acp_items_value(const acp_items *items, size_t index, acp_slice *out);

// An empty writer. The caller owns `*out` and frees it with `acp_writer_free`.
ACP_MUST_USE acp_status acp_writer_new(acp_writer **out);

// Frees a writer.
void acp_writer_free(acp_writer *writer);

// Makes a writer empty again, whatever became of it.
acp_status acp_writer_reset(acp_writer *writer);

// Begins an object. This and the next ones accept pieces in any order and leave it to `acp_writer_finish` to say that
// they do not fit together.
acp_status acp_writer_begin_object(acp_writer *writer);

// Ends the innermost object.
acp_status acp_writer_end_object(acp_writer *writer);

// Begins a list.
acp_status acp_writer_begin_array(acp_writer *writer);

// Ends the innermost list.
acp_status acp_writer_end_array(acp_writer *writer);

// The name of the member whose value comes next.
acp_status acp_writer_key(acp_writer *writer, acp_slice name);

// A string; quotes and escapes are added.
acp_status acp_writer_string(acp_writer *writer, acp_slice value);

// A whole number.
acp_status acp_writer_int64(acp_writer *writer, int64_t value);

// A whole number without sign.
acp_status acp_writer_uint64(acp_writer *writer, uint64_t value);

// A number; JSON has no infinities and no NaN.
acp_status acp_writer_double(acp_writer *writer, double value);

// `true` or `false`.
acp_status acp_writer_bool(acp_writer *writer, bool value);

// `null`.
acp_status acp_writer_null(acp_writer *writer);

// A value that is JSON text already.
acp_status acp_writer_json(acp_writer *writer, acp_slice value);

// The text, valid until the writer is reset or freed; `ACP_WRITER_MISUSE` when the pieces did not make one whole value.
// After it the writer takes nothing more until it is reset; finishing again gives the same.
ACP_MUST_USE acp_status acp_writer_finish(acp_writer *writer, acp_slice *out);

// Writes members of the object that has been begun: the same as `acp_writer_key` and the value for each. Nothing is written
// where one of them is no member.
acp_status acp_writer_members(acp_writer *writer,
                              const acp_member *members,
                              size_t len);

// Writes one value by a template: JSON text in which each `?` outside of strings stands for the next of the values, and in
// which strings may stand in single quotes, that C need not escape, as everything up to the next one:
//
//     acp_value values[] = {acp_string_value(session), acp_string_value(text)};
//     acp_writer_template(writer, acp_text("{'sessionId':?,'prompt':[{'type':'text','text':?}]}"), values, 2);
//
// `ACP_WRITER_MISUSE` where there are not as many values as `?`, or what comes out is no JSON; nothing is written then.
acp_status acp_writer_template(acp_writer *writer,
                               acp_slice form,
                               const acp_value *values,
                               size_t len);

// A copy of a text that the caller owns and frees with `acp_string_free`.
ACP_MUST_USE acp_status acp_string_copy(acp_slice text, acp_string *out);

// The string that a pointer names, without quotes and escapes, as a text that the caller owns and frees with
// `acp_string_free`; `ACP_NONE` when the pointer names nothing, `ACP_WRONG_TYPE` when it names no string.
ACP_MUST_USE acp_status acp_json_string_copy(acp_slice json, acp_slice pointer, acp_string *out);

// Frees a text of the host's own and makes it empty; NULL is fine, and one that is empty.
void acp_string_free(acp_string *string);

// The client's `initialize`: its name and version, and its capabilities as JSON text (empty for none).
ACP_MUST_USE
acp_status acp_client_initialize(acp_connection *connection,
                                 acp_slice name,
                                 acp_slice version,
                                 acp_slice capabilities,
                                 uint64_t *out);

// The client's `session/new` in a working directory, without MCP servers. The result's `/sessionId` is the session's id.
ACP_MUST_USE
acp_status acp_client_new_session(acp_connection *connection,
                                  acp_slice cwd,
                                  uint64_t *out);

// The client's `session/prompt` of one text. The result's `/stopReason` says why the turn ended. It has the time-out of
// the configuration; for a turn without one there is `acp_connection_request_with` and `ACP_NEVER`.
ACP_MUST_USE acp_status acp_client_prompt(acp_connection *connection, acp_slice session, acp_slice text, uint64_t *out);

// The client's `session/cancel`.
ACP_MUST_USE acp_status acp_client_cancel(acp_connection *connection, acp_slice session);

// The client's answer to `session/request_permission`: the option that was chosen, by its id; empty where none was, which
// is the outcome `cancelled`.
ACP_MUST_USE
acp_status acp_client_answer_permission(acp_connection *connection,
                                        uint64_t serial,
                                        acp_slice option);

// The client's answer to `fs/read_text_file`.
ACP_MUST_USE acp_status acp_client_answer_file(acp_connection *connection, uint64_t serial, acp_slice content);

// The agent's answer to `initialize`: its name and version, and its capabilities as JSON text (empty for none).
ACP_MUST_USE
acp_status acp_agent_answer_initialize(acp_connection *connection,
                                       uint64_t serial,
                                       acp_slice name,
                                       acp_slice version,
                                       acp_slice capabilities);

// The agent's answer to `session/new`: the id of the new session, which no other one of the connection has.
ACP_MUST_USE acp_status acp_agent_answer_new_session(acp_connection *connection, uint64_t serial, acp_slice session);

// The agent's answer to `session/prompt`: why the turn ended (`ACP_STOP_…`).
ACP_MUST_USE acp_status acp_agent_answer_prompt(acp_connection *connection, uint64_t serial, acp_slice stop_reason);

// Something that the agent says: an update `agent_message_chunk` with a text.
ACP_MUST_USE acp_status acp_agent_message(acp_connection *connection, acp_slice session, acp_slice text);

// Something that the agent thinks: an update `agent_thought_chunk` with a text.
ACP_MUST_USE acp_status acp_agent_thought(acp_connection *connection, acp_slice session, acp_slice text);

// A tool call that begins: an update `tool_call`. `kind` (`ACP_TOOL_KIND_…`) and `status` (`ACP_TOOL_STATUS_…`) may be
// empty.
ACP_MUST_USE
acp_status acp_agent_tool_call(acp_connection *connection,
                               acp_slice session,
                               acp_slice id,
                               acp_slice title,
                               acp_slice kind,
                               acp_slice status);

// A tool call that goes on: an update `tool_call_update`. `status` (`ACP_TOOL_STATUS_…`) may be empty; so may `text`, which
// takes the place of all that the call has shown.
ACP_MUST_USE
acp_status acp_agent_tool_call_update(acp_connection *connection,
                                      acp_slice session,
                                      acp_slice id,
                                      acp_slice status,
                                      acp_slice text);

// Answers a request that the host does not serve: `method not found`, with the method in the data.
ACP_MUST_USE acp_status acp_connection_respond_not_served(acp_connection *connection, uint64_t serial);

// Answers a request that the host could not serve, as a call of its own was refused: `internal error`, with the rule of the
// last refusal in the data. What is said of it stays as it was.
ACP_MUST_USE
acp_status acp_connection_respond_refused(acp_connection *connection,
                                          uint64_t serial);

// The end of a command's output that fits the `outputByteLimit` of `terminal/create`, and whether anything had to go:
// the `output` and `truncated` of the answer to `terminal/output`. It is cut from the front, and never inside a
// character. The text must be UTF-8: replace what is not before. `*end` points into `text` and is valid as long as that is.
acp_status acp_cut_output(acp_slice text,
                          uint64_t byte_limit,
                          acp_slice *end,
                          bool *truncated);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

/* The slice of a C string, without its NUL. */
static inline acp_slice acp_text(const char *text)
{
    acp_slice slice;
    slice.data = text;
    slice.len = text == NULL ? 0 : strlen(text);
    return slice;
}

/* The slice of so many bytes. */
static inline acp_slice acp_bytes(const void *data, size_t len)
{
    acp_slice slice;
    slice.data = (const char *)data;
    slice.len = len;
    return slice;
}

/* Whether two slices hold the same bytes. */
static inline bool acp_equal(acp_slice left, acp_slice right)
{
    return left.len == right.len && (left.len == 0 || memcmp(left.data, right.data, left.len) == 0);
}

/* For printf: `printf("%s: " ACP_FORMAT "\n", name, ACP_PRINT(slice))`. The slice is looked at more than once. */
#define ACP_FORMAT "%.*s"
#define ACP_PRINT(slice) (int)((slice).len < INT_MAX ? (slice).len : INT_MAX), ((slice).len > 0 ? (slice).data : "")

/* The slice of a text of the host's own. */
static inline acp_slice acp_string_slice(acp_string string)
{
    return acp_bytes(string.data, string.len);
}

/* Values for acp_writer_members and acp_writer_template: a string, a C string, JSON text, a number, `true` or `false`,
   `null`. */
static inline acp_value acp_string_value(acp_slice text)
{
    acp_value value = {ACP_VALUE_STRING, 0, 0, {NULL, 0}};
    value.text = text;
    return value;
}

static inline acp_value acp_text_value(const char *text)
{
    return acp_string_value(acp_text(text));
}

static inline acp_value acp_json_value(acp_slice json)
{
    acp_value value = {ACP_VALUE_JSON, 0, 0, {NULL, 0}};
    value.text = json;
    return value;
}

static inline acp_value acp_int64_value(int64_t number)
{
    acp_value value = {ACP_VALUE_INT64, 0, 0, {NULL, 0}};
    value.whole = number;
    return value;
}

static inline acp_value acp_double_value(double number)
{
    acp_value value = {ACP_VALUE_DOUBLE, 0, 0, {NULL, 0}};
    value.real = number;
    return value;
}

static inline acp_value acp_bool_value(bool flag)
{
    acp_value value = {ACP_VALUE_BOOL, 0, 0, {NULL, 0}};
    value.whole = flag;
    return value;
}

static inline acp_value acp_null_value(void)
{
    acp_value value = {ACP_VALUE_NULL, 0, 0, {NULL, 0}};
    return value;
}

/* A member for acp_writer_members. */
static inline acp_member acp_member_of(const char *name, acp_value value)
{
    acp_member member;
    member.name = acp_text(name);
    member.value = value;
    return member;
}

#endif /* ACP_H */
