// Events: what each kind holds, and that it holds nothing else.

#include "check.h"

// The members of an event, as bits.
enum {
    METHOD = 1 << 0,
    ID = 1 << 1,
    SESSION = 1 << 2,
    PARAMS = 1 << 3,
    UPDATE = 1 << 4,
    RESULT = 1 << 5,
    ERROR = 1 << 6,
    DATA = 1 << 7,
    RULE = 1 << 8,
    MESSAGE = 1 << 9,
    POINTER = 1 << 10,
    EXCERPT = 1 << 11,
    TIMING = 1 << 12,
    OUTCOME = 1 << 13,
    CODE = 1 << 14,
    CONSEQUENCE = 1 << 15,
    ANSWER = 1 << 16,
    REASON = 1 << 17,
    SERIAL = 1 << 18,
    FRAME = 1 << 19
};

static bool there(acp_status status)
{
    CHECK(status == ACP_OK || status == ACP_NONE);
    return status == ACP_OK;
}

static unsigned members(const acp_event *event)
{
    static acp_status (*const slices[])(const acp_event *, acp_slice *) = {
        acp_event_method,        acp_event_id,         acp_event_session, acp_event_params,
        acp_event_update,        acp_event_result,     acp_event_error_message, acp_event_error_data,
        acp_event_rule,          acp_event_message,    acp_event_pointer, acp_event_excerpt,
    };
    static acp_status (*const numbers[])(const acp_event *, int32_t *) = {
        acp_event_timing,      acp_event_outcome,     acp_event_error_code,
        acp_event_consequence, acp_event_answer_code, acp_event_close_reason,
    };
    unsigned found = 0;
    acp_slice slice;
    int32_t number;
    uint64_t wide;
    for (size_t i = 0; i < COUNT(slices); i++) {
        found |= there(slices[i](event, &slice)) ? 1u << i : 0;
    }
    for (size_t i = 0; i < COUNT(numbers); i++) {
        found |= there(numbers[i](event, &number)) ? 1u << (COUNT(slices) + i) : 0;
    }
    found |= there(acp_event_serial(event, &wide)) ? SERIAL : 0;
    found |= there(acp_event_frame(event, &wide)) ? FRAME : 0;
    return found;
}

static bool text_is(const acp_event *event, acp_status (*get)(const acp_event *, acp_slice *), const char *text)
{
    acp_slice slice = {NULL, 0};
    OK(get(event, &slice));
    return is_text(slice, text);
}

static void kinds_and_members(void)
{
    acp_connection *connection = with_session();
    uint64_t serial, other = 0;
    int32_t number = 0;
    feed(connection, "{\"jsonrpc\":\"2.0\",\"id\":\"p\",\"method\":\"session/request_permission\",\"params\":"
                     "{\"sessionId\":\"s-1\",\"toolCall\":{\"toolCallId\":\"t\"},\"options\":[{\"optionId\":\"y\",\"name\":\"Yes\","
                     "\"kind\":\"allow_once\"}]}}");
    acp_event *request = next(connection, ACP_EVENT_REQUEST);
    CHECK(members(request) == (METHOD | ID | SESSION | PARAMS | SERIAL));
    CHECK(text_is(request, acp_event_id, "\"p\"") && text_is(request, acp_event_session, "s-1"));
    OK(acp_event_serial(request, &serial));
    feed(connection, "{\"jsonrpc\":\"2.0\",\"method\":\"$/cancel_request\",\"params\":{\"requestId\":\"p\"}}");
    acp_event *cancel = next(connection, ACP_EVENT_CANCEL);
    CHECK(members(cancel) == (METHOD | ID | SESSION | SERIAL));
    OK(acp_event_serial(cancel, &other));
    CHECK(other == serial);
    OK(acp_connection_notify(connection, acp_text("session/cancel"), acp_text("{\"sessionId\":\"s-1\"}")));
    acp_event *answered = next(connection, ACP_EVENT_ANSWERED);
    CHECK(members(answered) == (METHOD | ID | SESSION | SERIAL | RULE));
    CHECK(text_is(answered, acp_event_rule, "CANCEL-03"));
    acp_event *advice = next(connection, ACP_EVENT_ADVICE); /* no turn was running */
    CHECK(members(advice) == (METHOD | RULE | SESSION | MESSAGE | POINTER));
    CHECK(text_is(advice, acp_event_rule, "CANCEL-01"));
    acp_event_free(advice);
    feed(connection, "{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":\"s-1\",\"update\":"
                     "{\"sessionUpdate\":\"plan\",\"entries\":[]}}}");
    acp_event *update = next(connection, ACP_EVENT_NOTIFICATION);
    CHECK(members(update) == (METHOD | SESSION | PARAMS | UPDATE | TIMING));
    OK(acp_event_timing(update, &number));
    CHECK(text_is(update, acp_event_update, ACP_UPDATE_PLAN) && number == ACP_TIMING_IDLE);
    OK(acp_connection_request(connection, acp_text("_x/a"), acp_text("{}"), &serial));
    feed(connection, "{\"jsonrpc\":\"2.0\",\"id\":3,\"error\":{\"code\":-5,\"message\":\"no\",\"data\":{\"a\":1}}}");
    acp_event *error = next(connection, ACP_EVENT_RESPONSE);
    CHECK(members(error) == (METHOD | ID | ERROR | DATA | OUTCOME | CODE | SERIAL));
    OK(acp_event_error_code(error, &number));
    CHECK(number == -5 && text_is(error, acp_event_error_message, "no"));
    CHECK(text_is(error, acp_event_error_data, "{\"a\":1}"));
    OK(acp_connection_request(connection, acp_text("_x/a"), acp_text("{}"), &serial));
    feed(connection, "{\"jsonrpc\":\"2.0\",\"id\":4,\"result\":[1, 2]}");
    acp_event *result = next(connection, ACP_EVENT_RESPONSE);
    CHECK(members(result) == (METHOD | ID | RESULT | OUTCOME | SERIAL));
    CHECK(text_is(result, acp_event_result, "[1, 2]"));
    feed(connection, "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"no/such\"}");
    acp_event *violation = next(connection, ACP_EVENT_VIOLATION);
    CHECK(members(violation) == (METHOD | ID | RULE | MESSAGE | POINTER | EXCERPT | CONSEQUENCE | ANSWER | FRAME));
    OK(acp_event_answer_code(violation, &number));
    CHECK(number == ACP_CODE_METHOD_NOT_FOUND);
    feed(connection, "noise");
    acp_event *noise = next(connection, ACP_EVENT_VIOLATION);
    CHECK((members(noise) & (METHOD | ID | SERIAL)) == 0);
    CHECK(text_is(noise, acp_event_excerpt, "noise"));
    // Events outlive their connection.
    acp_connection_free(connection);
    CHECK(text_is(violation, acp_event_method, "no/such"));
    acp_event *all[] = {request, cancel, answered, update, error, result, violation, noise};
    for (size_t i = 0; i < COUNT(all); i++) {
        acp_event_free(all[i]);
    }
}

static void advice(void)
{
    acp_connection *connection = ready(ACP_ROLE_AGENT);
    acp_slice waits = {NULL, 0}, message = {NULL, 0}, method = {NULL, 0};
    uint64_t serial = 0;
    feed(connection, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"session/new\",\"params\":{\"cwd\":\"/w\","
                     "\"mcpServers\":[]}}");
    acp_event *event = next(connection, ACP_EVENT_REQUEST);
    OK(acp_event_serial(event, &serial));
    OK(acp_connection_respond(connection, serial, acp_text("{\"sessionId\":\"s-1\"}")));
    acp_event_free(event);
    OK(acp_connection_transmit(connection, &waits));
    OK(acp_connection_consume(connection, waits.len));
    // A question without options goes out, and the host is told that it is odd.
    OK(acp_connection_request(connection, acp_text(ACP_METHOD_SESSION_REQUEST_PERMISSION),
                              acp_text("{\"sessionId\":\"s-1\",\"toolCall\":{\"toolCallId\":\"t\"},\"options\":[]}"),
                              &serial));
    event = next(connection, ACP_EVENT_ADVICE);
    no_event(connection);
    OK(acp_connection_transmit(connection, &waits));
    CHECK(waits.len > 0 && json_at(waits, "/method", &method));
    acp_connection_free(connection);
    CHECK(members(event) == (METHOD | RULE | SESSION | MESSAGE | POINTER));
    CHECK(text_is(event, acp_event_method, ACP_METHOD_SESSION_REQUEST_PERMISSION));
    CHECK(text_is(event, acp_event_rule, "PERM-02") && text_is(event, acp_event_pointer, "/options"));
    OK(acp_event_message(event, &message));
    CHECK(message.len > 0);
    acp_event_free(event);
}

static void closed(void)
{
    acp_connection *connection = with_session();
    acp_terminals *open = NULL;
    acp_slice session = {NULL, 0}, id = {NULL, 0};
    size_t count = 0;
    int32_t number = 0;
    uint64_t serial = 0;
    bool ended = true;
    feed(connection, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"terminal/create\",\"params\":{\"sessionId\":\"s-1\","
                     "\"command\":\"ls\"}}");
    acp_event *event = next(connection, ACP_EVENT_REQUEST);
    OK(acp_event_serial(event, &serial));
    OK(acp_connection_respond(connection, serial, acp_text("{\"terminalId\":\"t-1\"}")));
    acp_event_free(event);
    OK(acp_connection_open_terminals(connection, &open));
    OK(acp_terminals_len(open, &count));
    OK(acp_terminals_session(open, 0, &session));
    OK(acp_terminals_id(open, 0, &id));
    OK(acp_terminals_ended(open, 0, &ended));
    CHECK(count == 1 && is_text(session, "s-1") && is_text(id, "t-1") && !ended);
    STATUS(acp_terminals_id(open, 1, &id), ACP_INVALID_ARGUMENT);
    acp_terminals_free(open);
    feed(connection, "{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":\"_x/a\"}");
    skip(connection, ACP_EVENT_REQUEST);
    OK(acp_connection_receive_eof(connection));
    event = next(connection, ACP_EVENT_CLOSED);
    CHECK(members(event) == REASON);
    OK(acp_event_close_reason(event, &number));
    CHECK(number == ACP_CLOSE_END_OF_STREAM);
    OK(acp_event_unanswered_len(event, &count));
    OK(acp_event_unanswered_id(event, 0, &id));
    CHECK(count == 1 && is_text(id, "\"x\""));
    STATUS(acp_event_unanswered_id(event, 1, &id), ACP_INVALID_ARGUMENT);
    OK(acp_event_terminals_len(event, &count));
    OK(acp_event_terminal(event, 0, &session, &id));
    CHECK(count == 1 && is_text(session, "s-1") && is_text(id, "t-1"));
    STATUS(acp_event_terminal(event, 1, &session, &id), ACP_INVALID_ARGUMENT);
    STATUS(acp_event_terminal(event, 0, NULL, &id), ACP_INVALID_ARGUMENT);
    STATUS(acp_event_terminal(event, 0, &session, NULL), ACP_INVALID_ARGUMENT);
    acp_event_free(event);
    acp_connection_free(connection);
}

// Whose violation it is, be it a notification, a request or an answer; and whose advice.
static void sessions_of_violations(void)
{
    static const char *const broken[] = {
        "{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":\"s-1\",\"update\":{"
        "\"sessionUpdate\":\"tool_call\",\"toolCallId\":\"t\"}}}",
        "{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"fs/read_text_file\",\"params\":{\"sessionId\":\"s-1\",\"path\":\"/w/a\"}}",
        "{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"stopReason\":7}}",
    };
    acp_connection *connection = with_session();
    acp_event *event;
    OK(acp_client_prompt(connection, acp_text("s-1"), acp_text("Hi"), NULL));
    for (size_t i = 0; i < COUNT(broken); i++) {
        feed(connection, broken[i]);
        event = next(connection, ACP_EVENT_VIOLATION);
        CHECK(text_is(event, acp_event_session, "s-1"));
        acp_event_free(event);
        while (acp_connection_poll_event(connection, &event) == ACP_OK) {
            acp_event_free(event);
        }
    }
    // The turn has ended by its answer, so there is nothing to cancel.
    OK(acp_client_cancel(connection, acp_text("s-1")));
    event = next(connection, ACP_EVENT_ADVICE);
    CHECK(text_is(event, acp_event_session, "s-1"));
    acp_event_free(event);
    acp_connection_free(connection);
}

void test_events(void)
{
    static const test tests[] = {
        {"events: kinds and members", kinds_and_members},
        {"events: advice", advice},
        {"events: closed", closed},
        {"events: sessions of violations and advice", sessions_of_violations},
    };
    run_tests(tests, COUNT(tests));
}
