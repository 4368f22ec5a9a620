// Calls, time, and what is known of a connection.

#include "check.h"

#include <stdio.h>

static const acp_slice EMPTY = {NULL, 0};

static void versions_and_names(void)
{
    CHECK(acp_abi_version() == ACP_ABI_VERSION);
    char version[32];
    snprintf(version, sizeof version, "%d.%d.%d", ACP_VERSION_MAJOR, ACP_VERSION_MINOR, ACP_VERSION_PATCH);
    CHECK(strcmp(acp_library_version(), version) == 0);
    CHECK(0 - ACP_MISUSE == 1 && strcmp(acp_status_name(ACP_BAD_HANDLE), "bad handle") == 0);
    CHECK(strcmp(acp_status_name(ACP_SHORT_BUFFER), "short buffer") == 0);
    CHECK(strcmp(acp_status_name(12345), "unknown") == 0);
    CHECK(strcmp(acp_phase_name(ACP_PHASE_READY), "ready") == 0);
    CHECK(strcmp(acp_phase_name(0), "unknown") == 0 && strcmp(acp_phase_name(INT32_MIN), "unknown") == 0);
    CHECK(strcmp(acp_turn_name(99), "unknown") == 0);
    CHECK(strcmp(acp_timing_name(ACP_TIMING_REPLAY), "replay") == 0);
    CHECK(strcmp(acp_outcome_name(ACP_RESPONSE_TIMEOUT), "timeout") == 0);
    CHECK(strcmp(acp_consequence_name(ACP_CONSEQUENCE_REFUSED), "refused") == 0);
    CHECK(strcmp(acp_close_reason_name(ACP_CLOSE_VERSION), "version") == 0);
    CHECK(strcmp(acp_misuse_kind_name(ACP_MISUSE_LIMIT), "limit") == 0);
    CHECK(strcmp(acp_session_state_name(ACP_SESSION_LOADING), "loading") == 0);
    CHECK(strcmp(acp_event_kind_name(ACP_EVENT_CLOSED), "closed") == 0);
    CHECK(strcmp(acp_event_kind_name(ACP_EVENT_ADVICE), "advice") == 0);
    CHECK(strcmp(acp_severity_name(ACP_SEVERITY_ERROR), "error") == 0 && strcmp(acp_severity_name(4), "unknown") == 0);
    CHECK(strcmp(acp_level_name(ACP_LEVEL_SHOULD_NOT), "SHOULD NOT") == 0);
}

static void texts_are_checked(void)
{
    acp_connection *connection = ready(ACP_ROLE_AGENT);
    acp_slice missing = {NULL, 3}, endless = {"x", SIZE_MAX}, wrong = acp_text("\xff"), method = acp_text("_x/a");
    uint64_t serial = 7;
    OK(acp_connection_receive(connection, EMPTY));
    STATUS(acp_connection_receive(connection, missing), ACP_INVALID_ARGUMENT);
    STATUS(acp_connection_receive(connection, endless), ACP_INVALID_ARGUMENT);
    STATUS(acp_connection_notify(connection, wrong, acp_text("{}")), ACP_INVALID_ARGUMENT);
    STATUS(acp_connection_notify(connection, method, wrong), ACP_INVALID_ARGUMENT);
    STATUS(acp_connection_request_with(connection, method, acp_text("{}"), acp_text("1.5"), ACP_UNSET, &serial),
           ACP_INVALID_ARGUMENT);
    STATUS(acp_connection_pending_by_id(connection, acp_text("{}"), &serial), ACP_INVALID_ARGUMENT);
    STATUS(acp_connection_respond(connection, 1, wrong), ACP_INVALID_ARGUMENT);
    STATUS(acp_connection_respond_error(connection, 1, -1, wrong, EMPTY), ACP_INVALID_ARGUMENT);
    STATUS(acp_connection_why_not(connection, wrong), ACP_INVALID_ARGUMENT);
    CHECK(serial == 7);
    sent(connection, "");
    // Text that is no JSON is not an argument of the wrong form but misuse, and the library says what is wrong with it.
    acp_slice message = EMPTY;
    STATUS(acp_connection_error_message(connection, &message), ACP_NONE);
    STATUS(acp_connection_notify(connection, method, acp_text("{")), ACP_MISUSE);
    OK(acp_connection_error_message(connection, &message));
    CHECK(message.len > 0);
    acp_connection_free(connection);
}

static void requests(void)
{
    acp_connection *connection = ready(ACP_ROLE_CLIENT);
    acp_requests *list = NULL;
    acp_slice slice = EMPTY;
    uint64_t first = 0, second = 0, number = 0;
    size_t count = 0;
    bool flag = true;
    OK(acp_connection_handle_timeout(connection, 100));
    OK(acp_connection_request(connection, acp_text("_x/a"), acp_text("{}"), &first));
    OK(acp_connection_request_with(connection, acp_text("_x/b"), acp_text("{\"n\":1}"), acp_text("\"mine\""), 50,
                                   &second));
    CHECK(first != second);
    sent(connection, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"_x/a\",\"params\":{}}\n"
                     "{\"jsonrpc\":\"2.0\",\"id\":\"mine\",\"method\":\"_x/b\",\"params\":{\"n\":1}}\n");
    OK(acp_connection_pending_by_id(connection, acp_text("\"mine\""), &number));
    CHECK(number == second);
    STATUS(acp_connection_pending_by_id(connection, acp_text("77"), &number), ACP_NONE);
    OK(acp_connection_pending_id(connection, second, &slice));
    CHECK(is_text(slice, "\"mine\""));
    STATUS(acp_connection_pending_id(connection, 77, &slice), ACP_NONE);
    OK(acp_connection_poll_timeout(connection, &number));
    CHECK(number == 150);
    OK(acp_connection_cancel(connection, first));
    sent(connection, "{\"jsonrpc\":\"2.0\",\"method\":\"$/cancel_request\",\"params\":{\"requestId\":2}}\n");
    OK(acp_connection_pending(connection, &list));
    OK(acp_requests_len(list, &count));
    CHECK(count == 2);
    OK(acp_requests_serial(list, 0, &number));
    CHECK(number == first);
    OK(acp_requests_cancelled(list, 0, &flag));
    CHECK(flag);
    STATUS(acp_requests_deadline(list, 0, &number), ACP_NONE);
    STATUS(acp_requests_session(list, 0, &slice), ACP_NONE);
    OK(acp_requests_deadline(list, 1, &number));
    CHECK(number == 150);
    OK(acp_requests_id(list, 1, &slice));
    CHECK(is_text(slice, "\"mine\""));
    STATUS(acp_requests_id(list, 2, &slice), ACP_INVALID_ARGUMENT);
    OK(acp_connection_handle_timeout(connection, 150));
    acp_event *event = next(connection, ACP_EVENT_RESPONSE);
    int32_t outcome = 0;
    OK(acp_event_outcome(event, &outcome));
    CHECK(outcome == ACP_RESPONSE_TIMEOUT);
    acp_event_free(event);
    // The other one was cancelled at 100, and has ten seconds to be answered.
    OK(acp_connection_poll_timeout(connection, &number));
    CHECK(number == 10100);
    // A list does not change with what it was made from, and outlives it.
    acp_connection_free(connection);
    OK(acp_requests_method(list, 1, &slice));
    CHECK(is_text(slice, "_x/b"));
    acp_requests_free(list);
}

static void misuse_is_kept(void)
{
    acp_connection *connection = ready(ACP_ROLE_AGENT);
    acp_slice slice = EMPTY;
    int32_t kind = 0;
    uint64_t serial = 7;
    bool can = true;
    STATUS(acp_connection_error_kind(connection, &kind), ACP_NONE);
    STATUS(acp_connection_respond(connection, 4711, acp_text("{}")), ACP_MISUSE);
    OK(acp_connection_error_kind(connection, &kind));
    OK(acp_connection_error_rule(connection, &slice));
    CHECK(kind == ACP_MISUSE_ID && is_text(slice, "RPC-15"));
    OK(acp_connection_error_message(connection, &slice));
    CHECK(is_text(slice, "no request with the number 4711 waits for an answer"));
    STATUS(acp_connection_cancel(connection, 4711), ACP_MISUSE);
    OK(acp_connection_error_rule(connection, &slice));
    CHECK(is_text(slice, "CANCEL-08"));
    STATUS(acp_connection_request(connection, acp_text("session/update"), acp_text("{}"), &serial), ACP_MISUSE);
    STATUS(acp_connection_request(connection, acp_text("session/new"), acp_text("{}"), &serial), ACP_MISUSE);
    OK(acp_connection_error_kind(connection, &kind));
    CHECK(kind == ACP_MISUSE_METHOD && serial == 7);
    OK(acp_connection_can(connection, acp_text("session/new"), &can));
    CHECK(!can);
    OK(acp_connection_can(connection, acp_text("_x/a"), &can));
    CHECK(can);
    OK(acp_connection_why_not(connection, acp_text("_x/a")));
    STATUS(acp_connection_why_not(connection, acp_text("fs/read_text_file")), ACP_MISUSE);
    OK(acp_connection_error_kind(connection, &kind));
    CHECK(kind == ACP_MISUSE_CAPABILITY);
    sent(connection, "");
    acp_connection_free(connection);
}

static void answers(void)
{
    acp_connection *connection = ready(ACP_ROLE_AGENT);
    acp_slice slice = EMPTY;
    uint64_t first = 0, second = 0, number = 0;
    feed(connection, "{\"jsonrpc\":\"2.0\",\"id\":9007199254740993,\"method\":\"_x/a\"}");
    feed(connection, "{\"jsonrpc\":\"2.0\",\"id\":\"\\u0041\",\"method\":\"_x/b\"}");
    acp_event *event = next(connection, ACP_EVENT_REQUEST);
    OK(acp_event_serial(event, &first));
    acp_event_free(event);
    event = next(connection, ACP_EVENT_REQUEST);
    OK(acp_event_serial(event, &second));
    acp_event_free(event);
    OK(acp_connection_unanswered_by_id(connection, acp_text("\"A\""), &number));
    CHECK(number == second);
    OK(acp_connection_unanswered_id(connection, first, &slice));
    CHECK(is_text(slice, "9007199254740993"));
    OK(acp_connection_respond(connection, first, acp_text("{\"ok\":true}")));
    OK(acp_connection_respond_error(connection, second, ACP_CODE_INTERNAL_ERROR, acp_text("no \"way\""),
                                    acp_text("[1]")));
    sent(connection, "{\"jsonrpc\":\"2.0\",\"id\":9007199254740993,\"result\":{\"ok\":true}}\n"
                     "{\"jsonrpc\":\"2.0\",\"id\":\"A\",\"error\":{\"code\":-32603,\"message\":\"no \\\"way\\\"\","
                     "\"data\":[1]}}\n");
    STATUS(acp_connection_respond(connection, first, acp_text("{}")), ACP_MISUSE);
    STATUS(acp_connection_unanswered_by_id(connection, acp_text("\"A\""), &number), ACP_NONE);
    STATUS(acp_connection_unanswered_id(connection, first, &slice), ACP_NONE);
    acp_connection_free(connection);
}

static void parts_of_messages(void)
{
    acp_connection *connection = ready(ACP_ROLE_AGENT);
    acp_slice waits = EMPTY;
    size_t buffered = 0;
    static const char line[] = "{\"jsonrpc\":\"2.0\",\"method\":\"_x/a\"}\n";
    for (size_t i = 0; i + 1 < sizeof line; i++) {
        OK(acp_connection_buffered(connection, &buffered));
        CHECK(buffered == i);
        no_event(connection);
        OK(acp_connection_receive(connection, acp_bytes(line + i, 1)));
    }
    skip(connection, ACP_EVENT_NOTIFICATION);
    OK(acp_connection_notify(connection, acp_text("_x/b"), acp_text("{}")));
    OK(acp_connection_consume(connection, 10));
    OK(acp_connection_transmit(connection, &waits));
    CHECK(is_text(waits, ":\"2.0\",\"method\":\"_x/b\",\"params\":{}}\n"));
    OK(acp_connection_consume(connection, SIZE_MAX));
    sent(connection, "");
    acp_connection_free(connection);
}

static void after_the_end(void)
{
    acp_connection *connection = ready(ACP_ROLE_CLIENT);
    acp_slice slice = EMPTY;
    uint64_t serial = 7;
    int32_t phase = 0;
    OK(acp_connection_close(connection));
    OK(acp_connection_close(connection));
    skip(connection, ACP_EVENT_CLOSED);
    no_event(connection);
    feed(connection, "{\"jsonrpc\":\"2.0\",\"method\":\"_x/a\"}");
    OK(acp_connection_receive_eof(connection));
    no_event(connection);
    OK(acp_connection_phase(connection, &phase));
    CHECK(phase == ACP_PHASE_CLOSED);
    STATUS(acp_connection_request(connection, acp_text("_x/a"), acp_text("{}"), &serial), ACP_MISUSE);
    OK(acp_connection_error_rule(connection, &slice));
    CHECK(is_text(slice, "RPC-33") && serial == 7);
    STATUS(acp_connection_notify(connection, acp_text("_x/a"), acp_text("{}")), ACP_MISUSE);
    STATUS(acp_connection_respond(connection, 1, acp_text("{}")), ACP_MISUSE);
    OK(acp_connection_error_rule(connection, &slice));
    CHECK(is_text(slice, "RPC-33"));
    STATUS(acp_connection_cancel(connection, 1), ACP_MISUSE);
    sent(connection, "");
    acp_connection_free(connection);
}

static void what_is_known(void)
{
    acp_connection *connection = start(ACP_ROLE_CLIENT);
    acp_sessions *sessions = NULL;
    acp_slice slice = EMPTY;
    size_t count = 7;
    int32_t number = 0;
    uint16_t version = 0;
    uint64_t serial;
    OK(acp_connection_capabilities(connection, &slice));
    CHECK(is_text(slice, "{}"));
    STATUS(acp_connection_version(connection, &version), ACP_NONE);
    acp_connection_free(connection);
    connection = with_session();
    OK(acp_connection_version(connection, &version));
    CHECK(version == 1);
    OK(acp_connection_capabilities(connection, &slice));
    CHECK(is_text(slice, "{\"loadSession\":true}"));
    OK(acp_connection_own_capabilities(connection, &slice));
    CHECK(is_text(slice, "{\"terminal\":true}"));
    OK(acp_connection_peer_info(connection, &slice));
    CHECK(json_at(slice, "/protocolVersion", &slice));
    OK(acp_connection_session_state(connection, acp_text("s-1"), &number));
    CHECK(number == ACP_SESSION_READY);
    OK(acp_connection_request(connection, acp_text("session/prompt"),
                              acp_text("{\"sessionId\":\"s-1\",\"prompt\":[]}"), &serial));
    OK(acp_connection_session_turn(connection, acp_text("s-1"), &number));
    CHECK(number == ACP_TURN_RUNNING);
    STATUS(acp_connection_session_turn(connection, acp_text("s-2"), &number), ACP_NONE);
    OK(acp_connection_sessions(connection, &sessions));
    acp_connection_free(connection);
    OK(acp_sessions_len(sessions, &count));
    OK(acp_sessions_id(sessions, 0, &slice));
    CHECK(count == 1 && is_text(slice, "s-1"));
    OK(acp_sessions_state(sessions, 0, &number));
    CHECK(number == ACP_SESSION_READY);
    OK(acp_sessions_turn(sessions, 0, &number));
    CHECK(number == ACP_TURN_RUNNING);
    STATUS(acp_sessions_id(sessions, 1, &slice), ACP_INVALID_ARGUMENT);
    acp_sessions_free(sessions);
}

static void what_is_known_of_a_connection(void)
{
    acp_connection *connection = start(ACP_ROLE_CLIENT);
    acp_slice slice = EMPTY;
    uint64_t call;
    OK(acp_connection_snapshot(connection, &slice));
    CHECK(is_text(slice, "{\"phase\":\"start\",\"version\":null,\"login\":\"unknown\",\"loginMethods\":[],"
                         "\"openElicitations\":[],\"providers\":[]}"));
    STATUS(acp_connection_peer_extension(connection, acp_text("x.example"), &slice), ACP_NONE);
    OK(acp_connection_request(connection, acp_text("initialize"), acp_text("{}"), &call));
    feed(connection, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":1,\"agentCapabilities\":"
                     "{\"_meta\":{\"x.example\":{\"level\":2}}},\"authMethods\":[{\"id\":\"web\",\"name\":\"Web\"}]}}");
    skip(connection, ACP_EVENT_RESPONSE);
    OK(acp_connection_snapshot(connection, &slice));
    CHECK(is_text(slice, "{\"phase\":\"ready\",\"version\":1,\"login\":\"unknown\",\"loginMethods\":"
                         "[{\"methodId\":\"web\",\"kind\":\"agent\"}],\"openElicitations\":[],\"providers\":[]}"));
    OK(acp_connection_peer_extension(connection, acp_text("x.example"), &slice));
    CHECK(is_text(slice, "{\"level\":2}"));
    slice = acp_text("untouched");
    STATUS(acp_connection_peer_extension(connection, acp_text("y.example"), &slice), ACP_NONE);
    STATUS(acp_connection_peer_extension(connection, acp_text("\xff"), &slice), ACP_INVALID_ARGUMENT);
    CHECK(is_text(slice, "untouched"));
    acp_connection_free(connection);
}

static void what_is_known_of_a_session(void)
{
    acp_connection *connection = with_session();
    acp_slice slice = EMPTY, wrong = acp_text("\xff"), id = acp_text("s-1");
    bool inside = true;
    OK(acp_connection_session_snapshot(connection, id, &slice));
    CHECK(is_text(slice, "{\"state\":\"ready\",\"turn\":\"idle\",\"stopReason\":null,\"error\":null,\"background\":null,"
                         "\"terminals\":{},\"cwd\":\"/w\",\"roots\":[\"/w\"],"
                         "\"modes\":null,\"configOptions\":null,\"toolCalls\":[],\"displayTerminals\":[],"
                         "\"cancellable\":{\"toolCalls\":[],\"terminals\":[]},\"plan\":null,\"planIds\":[],"
                         "\"commands\":null,\"openCompactions\":[],\"authUncertain\":false,\"parent\":null,"
                         "\"mayCancel\":true}"));
    slice = acp_text("untouched");
    STATUS(acp_connection_session_snapshot(connection, acp_text("s-2"), &slice), ACP_NONE);
    STATUS(acp_connection_session_snapshot(connection, wrong, &slice), ACP_INVALID_ARGUMENT);
    STATUS(acp_connection_command_text(connection, id, acp_text("web"), EMPTY, &slice), ACP_NONE);
    STATUS(acp_connection_command_text(connection, id, wrong, EMPTY, &slice), ACP_INVALID_ARGUMENT);
    CHECK(is_text(slice, "untouched"));
    feed(connection, "{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":\"s-1\",\"update\":"
                     "{\"sessionUpdate\":\"available_commands_update\",\"availableCommands\":"
                     "[{\"name\":\"web\",\"description\":\"Searches\"}]}}}");
    skip(connection, ACP_EVENT_NOTIFICATION);
    OK(acp_connection_command_text(connection, id, acp_text("web"), acp_text("acp"), &slice));
    CHECK(is_text(slice, "/web acp"));
    OK(acp_connection_in_roots(connection, id, acp_text("/w/a"), &inside));
    CHECK(inside);
    OK(acp_connection_in_roots(connection, acp_text("s-2"), acp_text("/w/a"), &inside));
    CHECK(!inside);
    STATUS(acp_connection_in_roots(connection, id, wrong, &inside), ACP_INVALID_ARGUMENT);
    acp_connection_free(connection);
}

static void reminders(void)
{
    acp_config *config = NULL;
    acp_connection *connection = NULL;
    acp_requests *list = NULL;
    acp_slice slice = EMPTY;
    uint64_t number = 0, wide = 0;
    OK(acp_config_new(ACP_ROLE_CLIENT, &config));
    OK(acp_config_set_reminder(config, 20));
    OK(acp_config_set_timeout(config, 30));
    OK(acp_connection_new(config, &connection));
    acp_config_free(config);
    connection = open_session(connection);
    feed(connection, "{\"jsonrpc\":\"2.0\",\"id\":\"q\",\"method\":\"_x/a\"}");
    skip(connection, ACP_EVENT_REQUEST);
    OK(acp_connection_unanswered(connection, &list));
    OK(acp_requests_deadline(list, 0, &wide));
    CHECK(wide == 20);
    acp_requests_free(list);
    // A request that waits for ever is not what the clock is for.
    OK(acp_connection_request_with(connection, acp_text("_x/b"), acp_text("{}"), EMPTY, ACP_NEVER, &number));
    OK(acp_connection_poll_timeout(connection, &wide));
    CHECK(wide == 20);
    OK(acp_connection_handle_timeout(connection, 1000));
    acp_event *event = next(connection, ACP_EVENT_ADVICE);
    no_event(connection);
    OK(acp_event_rule(event, &slice));
    CHECK(is_text(slice, "RPC-15"));
    OK(acp_event_method(event, &slice));
    CHECK(is_text(slice, "_x/a"));
    OK(acp_event_id(event, &slice));
    CHECK(is_text(slice, "\"q\""));
    OK(acp_connection_unanswered_by_id(connection, slice, &number));
    acp_event_free(event);
    STATUS(acp_connection_poll_timeout(connection, &wide), ACP_NONE);
    OK(acp_connection_respond(connection, number, acp_text("{}")));
    acp_connection_free(connection);
}

static void output_is_cut(void)
{
    static const char text[] = "12 \xe2\x82\xac";
    acp_slice all = acp_text(text), end = EMPTY;
    bool truncated = false;
    OK(acp_cut_output(all, 5, &end, &truncated));
    CHECK(end.data == text + 1 && end.len == 5 && truncated);
    OK(acp_cut_output(all, 2, &end, &truncated));
    CHECK(end.len == 0 && truncated);
    OK(acp_cut_output(all, UINT64_MAX, &end, &truncated));
    CHECK(acp_equal(end, all) && !truncated);
    STATUS(acp_cut_output(acp_bytes(text, 4), 2, &end, &truncated), ACP_INVALID_ARGUMENT);
    STATUS(acp_cut_output(all, 2, NULL, &truncated), ACP_INVALID_ARGUMENT);
    STATUS(acp_cut_output(all, 2, &end, NULL), ACP_INVALID_ARGUMENT);
    CHECK(acp_equal(end, all) && !truncated);
}

void test_calls(void)
{
    static const test tests[] = {
        {"calls: versions and names", versions_and_names},
        {"calls: texts are checked", texts_are_checked},
        {"calls: requests", requests},
        {"calls: misuse is kept", misuse_is_kept},
        {"calls: answers", answers},
        {"calls: parts of messages", parts_of_messages},
        {"calls: after the end", after_the_end},
        {"calls: what is known", what_is_known},
        {"calls: what is known of a connection", what_is_known_of_a_connection},
        {"calls: what is known of a session", what_is_known_of_a_session},
        {"calls: reminders", reminders},
        {"calls: output is cut", output_is_cut},
    };
    run_tests(tests, COUNT(tests));
}
