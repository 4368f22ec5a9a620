// NULL handles and NULL outputs of every function: refused, and nothing has happened.

#include "check.h"

typedef acp_status (*slice_of_event)(const acp_event *, acp_slice *);
typedef acp_status (*number_of_event)(const acp_event *, int32_t *);
typedef acp_status (*slice_of_connection)(const acp_connection *, acp_slice *);
typedef acp_status (*number_of_connection)(const acp_connection *, int32_t *);
typedef acp_status (*plain_call)(acp_connection *);
typedef acp_status (*piece)(acp_writer *);

static const slice_of_event EVENT_SLICES[] = {
    acp_event_method,        acp_event_id,         acp_event_session, acp_event_params,  acp_event_update,
    acp_event_result,        acp_event_error_data, acp_event_rule,    acp_event_message, acp_event_pointer,
    acp_event_error_message, acp_event_excerpt,
};
static const number_of_event EVENT_NUMBERS[] = {
    acp_event_kind,        acp_event_timing,      acp_event_outcome,      acp_event_error_code,
    acp_event_consequence, acp_event_answer_code, acp_event_close_reason,
};
static const slice_of_connection CONNECTION_SLICES[] = {
    acp_connection_transmit,   acp_connection_capabilities,  acp_connection_own_capabilities, acp_connection_peer_info,
    acp_connection_error_rule, acp_connection_error_pointer, acp_connection_error_message,
};
static const number_of_connection CONNECTION_NUMBERS[] = {
    acp_connection_role,
    acp_connection_phase,
    acp_connection_error_kind,
};
static const plain_call PLAIN_CALLS[] = {acp_connection_receive_eof, acp_connection_close};
static const piece PIECES[] = {
    acp_writer_begin_object, acp_writer_end_object, acp_writer_begin_array,
    acp_writer_end_array,    acp_writer_null,       acp_writer_reset,
};

#define REFUSED(call) STATUS(call, ACP_INVALID_ARGUMENT)

static void events_and_tables(void)
{
    acp_slice slice = acp_text("untouched");
    int32_t number = 7;
    for (size_t i = 0; i < COUNT(EVENT_SLICES); i++) {
        REFUSED(EVENT_SLICES[i](NULL, &slice));
    }
    for (size_t i = 0; i < COUNT(EVENT_NUMBERS); i++) {
        REFUSED(EVENT_NUMBERS[i](NULL, &number));
    }
    for (size_t i = 0; i < COUNT(CONNECTION_SLICES); i++) {
        REFUSED(CONNECTION_SLICES[i](NULL, &slice));
    }
    for (size_t i = 0; i < COUNT(CONNECTION_NUMBERS); i++) {
        REFUSED(CONNECTION_NUMBERS[i](NULL, &number));
    }
    for (size_t i = 0; i < COUNT(PLAIN_CALLS); i++) {
        REFUSED(PLAIN_CALLS[i](NULL));
    }
    for (size_t i = 0; i < COUNT(PIECES); i++) {
        REFUSED(PIECES[i](NULL));
    }
    CHECK(is_text(slice, "untouched") && number == 7);
}

static void outputs(void)
{
    acp_connection *connection = ready(ACP_ROLE_AGENT);
    feed(connection, "{\"jsonrpc\":\"2.0\",\"method\":\"_x/a\"}");
    acp_event *event = next(connection, ACP_EVENT_NOTIFICATION);
    for (size_t i = 0; i < COUNT(EVENT_SLICES); i++) {
        REFUSED(EVENT_SLICES[i](event, NULL));
    }
    for (size_t i = 0; i < COUNT(EVENT_NUMBERS); i++) {
        REFUSED(EVENT_NUMBERS[i](event, NULL));
    }
    for (size_t i = 0; i < COUNT(CONNECTION_SLICES); i++) {
        REFUSED(CONNECTION_SLICES[i](connection, NULL));
    }
    for (size_t i = 0; i < COUNT(CONNECTION_NUMBERS); i++) {
        REFUSED(CONNECTION_NUMBERS[i](connection, NULL));
    }
    REFUSED(acp_event_serial(event, NULL));
    REFUSED(acp_event_frame(event, NULL));
    REFUSED(acp_event_unanswered_len(event, NULL));
    REFUSED(acp_event_terminals_len(event, NULL));
    // An event is not lost to a poll that cannot hand it over, and a request is not sent.
    feed(connection, "{\"jsonrpc\":\"2.0\",\"method\":\"_x/b\"}");
    REFUSED(acp_connection_poll_event(connection, NULL));
    skip(connection, ACP_EVENT_NOTIFICATION);
    REFUSED(acp_connection_request(connection, acp_text("_x/c"), acp_text("{}"), NULL));
    sent(connection, "");
    REFUSED(acp_connection_can(connection, acp_text("_x/c"), NULL));
    REFUSED(acp_connection_config(connection, NULL));
    REFUSED(acp_connection_sessions(connection, NULL));
    REFUSED(acp_connection_pending(connection, NULL));
    REFUSED(acp_connection_unanswered(connection, NULL));
    REFUSED(acp_connection_open_terminals(connection, NULL));
    REFUSED(acp_connection_version(connection, NULL));
    REFUSED(acp_connection_poll_timeout(connection, NULL));
    REFUSED(acp_connection_buffered(connection, NULL));
    REFUSED(acp_connection_pending_by_id(connection, acp_text("1"), NULL));
    REFUSED(acp_connection_unanswered_by_id(connection, acp_text("1"), NULL));
    REFUSED(acp_connection_pending_id(connection, 1, NULL));
    REFUSED(acp_connection_unanswered_id(connection, 1, NULL));
    REFUSED(acp_connection_session_state(connection, acp_text("s"), NULL));
    REFUSED(acp_connection_session_turn(connection, acp_text("s"), NULL));
    REFUSED(acp_connection_session_snapshot(connection, acp_text("s"), NULL));
    REFUSED(acp_connection_snapshot(connection, NULL));
    REFUSED(acp_connection_peer_extension(connection, acp_text("e"), NULL));
    REFUSED(acp_connection_command_text(connection, acp_text("s"), acp_text("c"), acp_text(""), NULL));
    REFUSED(acp_connection_in_roots(connection, acp_text("s"), acp_text("/"), NULL));
    REFUSED(acp_config_new(ACP_ROLE_AGENT, NULL));
    REFUSED(acp_writer_new(NULL));
    acp_event_free(event);
    acp_connection_free(connection);
}

static void handles(void)
{
    acp_slice text = acp_text("{}"), out = acp_text("untouched");
    acp_config *config = NULL;
    acp_event *event = NULL;
    acp_sessions *sessions = NULL;
    acp_requests *requests = NULL;
    acp_terminals *terminals = NULL;
    acp_connection *connection = NULL;
    uint64_t serial = 7;
    uint16_t version = 7;
    size_t size = 7;
    int32_t number = 7;
    bool flag = true;
    REFUSED(acp_connection_new(NULL, &connection));
    REFUSED(acp_connection_receive(NULL, text));
    REFUSED(acp_connection_handle_timeout(NULL, 1));
    REFUSED(acp_connection_poll_event(NULL, &event));
    REFUSED(acp_connection_poll_timeout(NULL, &serial));
    REFUSED(acp_connection_consume(NULL, 1));
    REFUSED(acp_connection_buffered(NULL, &size));
    REFUSED(acp_connection_request(NULL, text, text, &serial));
    REFUSED(acp_connection_request_with(NULL, text, text, text, 1, &serial));
    REFUSED(acp_connection_notify(NULL, text, text));
    REFUSED(acp_connection_respond(NULL, 1, text));
    REFUSED(acp_connection_respond_error(NULL, 1, 1, text, text));
    REFUSED(acp_connection_cancel(NULL, 1));
    REFUSED(acp_connection_can(NULL, text, &flag));
    REFUSED(acp_connection_why_not(NULL, text));
    REFUSED(acp_connection_config(NULL, &config));
    REFUSED(acp_connection_version(NULL, &version));
    REFUSED(acp_connection_session_state(NULL, text, &number));
    REFUSED(acp_connection_session_turn(NULL, text, &number));
    REFUSED(acp_connection_session_snapshot(NULL, text, &out));
    REFUSED(acp_connection_snapshot(NULL, &out));
    REFUSED(acp_connection_peer_extension(NULL, text, &out));
    REFUSED(acp_connection_command_text(NULL, text, text, text, &out));
    REFUSED(acp_connection_in_roots(NULL, text, text, &flag));
    REFUSED(acp_connection_sessions(NULL, &sessions));
    REFUSED(acp_connection_pending(NULL, &requests));
    REFUSED(acp_connection_unanswered(NULL, &requests));
    REFUSED(acp_connection_open_terminals(NULL, &terminals));
    REFUSED(acp_connection_pending_by_id(NULL, text, &serial));
    REFUSED(acp_connection_unanswered_by_id(NULL, text, &serial));
    REFUSED(acp_connection_pending_id(NULL, 1, &out));
    REFUSED(acp_connection_unanswered_id(NULL, 1, &out));
    REFUSED(acp_event_serial(NULL, &serial));
    REFUSED(acp_event_frame(NULL, &serial));
    REFUSED(acp_event_unanswered_len(NULL, &size));
    REFUSED(acp_event_unanswered_id(NULL, 0, &out));
    REFUSED(acp_event_terminals_len(NULL, &size));
    REFUSED(acp_event_terminal(NULL, 0, &out, &out));
    REFUSED(acp_sessions_len(NULL, &size));
    REFUSED(acp_sessions_id(NULL, 0, &out));
    REFUSED(acp_sessions_state(NULL, 0, &number));
    REFUSED(acp_sessions_turn(NULL, 0, &number));
    REFUSED(acp_requests_len(NULL, &size));
    REFUSED(acp_requests_id(NULL, 0, &out));
    REFUSED(acp_requests_serial(NULL, 0, &serial));
    REFUSED(acp_requests_method(NULL, 0, &out));
    REFUSED(acp_requests_session(NULL, 0, &out));
    REFUSED(acp_requests_cancelled(NULL, 0, &flag));
    REFUSED(acp_requests_deadline(NULL, 0, &serial));
    REFUSED(acp_terminals_len(NULL, &size));
    REFUSED(acp_terminals_session(NULL, 0, &out));
    REFUSED(acp_terminals_id(NULL, 0, &out));
    REFUSED(acp_terminals_ended(NULL, 0, &flag));
    REFUSED(acp_items_len(NULL, &size));
    REFUSED(acp_items_key(NULL, 0, &out));
    REFUSED(acp_items_value(NULL, 0, &out));
    REFUSED(acp_writer_key(NULL, text));
    REFUSED(acp_writer_string(NULL, text));
    REFUSED(acp_writer_json(NULL, text));
    REFUSED(acp_writer_int64(NULL, 1));
    REFUSED(acp_writer_uint64(NULL, 1));
    REFUSED(acp_writer_double(NULL, 1));
    REFUSED(acp_writer_bool(NULL, true));
    REFUSED(acp_writer_finish(NULL, &out));
    CHECK(serial == 7 && version == 7 && size == 7 && number == 7 && flag && is_text(out, "untouched"));
    CHECK(config == NULL && event == NULL && sessions == NULL && requests == NULL && terminals == NULL);
}

static void configurations(void)
{
    int32_t number;
    uint64_t wide;
    bool flag;
    REFUSED(acp_config_set_framing(NULL, ACP_FRAMING_LINES));
    REFUSED(acp_config_set_policy(NULL, ACP_POLICY_STRICT));
    REFUSED(acp_config_set_policy_for(NULL, ACP_SEVERITY_NOTE, ACP_POLICY_OFF));
    REFUSED(acp_config_clear_policy_for(NULL, ACP_SEVERITY_NOTE));
    REFUSED(acp_config_set_limit(NULL, ACP_LIMIT_FRAME, 1));
    REFUSED(acp_config_set_version_2(NULL, true));
    REFUSED(acp_config_set_draft(NULL, acp_text(ACP_DRAFT_NES)));
    REFUSED(acp_config_set_timeout(NULL, 1));
    REFUSED(acp_config_role(NULL, &number));
    REFUSED(acp_config_framing(NULL, &number));
    REFUSED(acp_config_policy(NULL, &number));
    REFUSED(acp_config_policy_for(NULL, ACP_SEVERITY_NOTE, &number));
    REFUSED(acp_config_limit(NULL, ACP_LIMIT_FRAME, &wide));
    REFUSED(acp_config_version_2(NULL, &flag));
    REFUSED(acp_config_draft(NULL, acp_text(ACP_DRAFT_NES), &flag));
    REFUSED(acp_config_timeout(NULL, &wide));
    REFUSED(acp_config_set_reminder(NULL, 1));
    REFUSED(acp_config_reminder(NULL, &wide));
}

// Freeing nothing does nothing.
static void frees(void)
{
    acp_config_free(NULL);
    acp_connection_free(NULL);
    acp_event_free(NULL);
    acp_sessions_free(NULL);
    acp_requests_free(NULL);
    acp_terminals_free(NULL);
    acp_items_free(NULL);
    acp_writer_free(NULL);
}

void test_null(void)
{
    static const test tests[] = {
        {"null: events, connections, writers", events_and_tables},
        {"null: outputs", outputs},
        {"null: handles", handles},
        {"null: configurations", configurations},
        {"null: frees", frees},
    };
    run_tests(tests, COUNT(tests));
}
