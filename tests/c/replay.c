#include "replay.h"

typedef acp_status (*slice_of)(const acp_event *, acp_slice *);
typedef acp_status (*number_of)(const acp_event *, int32_t *);

void need(acp_status status, const char *what)
{
    if (status != ACP_OK) {
        die(what, acp_text(acp_status_name(status)));
    }
}

acp_slice written(acp_writer *writer)
{
    acp_slice text = {NULL, 0};
    need(acp_writer_finish(writer, &text), "finish");
    return text;
}

static void key(acp_writer *writer, const char *name)
{
    need(acp_writer_key(writer, acp_text(name)), name);
}

static void string(acp_writer *writer, const char *name, acp_slice value)
{
    key(writer, name);
    need(acp_writer_string(writer, value), name);
}

static void word(acp_writer *writer, const char *name, const char *value)
{
    string(writer, name, acp_text(value));
}

static void json(acp_writer *writer, const char *name, acp_slice value)
{
    key(writer, name);
    need(acp_writer_json(writer, value), name);
}

// Members that are strings, and members that are numbers with names, wherever an event has them.
static void write_members(acp_writer *writer, const acp_event *event)
{
    static const struct {
        const char *name;
        slice_of get;
    } strings[] = {
        {"id", acp_event_id},           {"method", acp_event_method},         {"session", acp_event_session},
        {"update", acp_event_update},   {"rule", acp_event_rule},             {"pointer", acp_event_pointer},
        {"excerpt", acp_event_excerpt}, {"message", acp_event_error_message}, {"params_text", acp_event_params},
        {"result_text", acp_event_result}, {"data_text", acp_event_error_data},
    };
    static const struct {
        const char *name;
        number_of get;
        const char *(*word)(int32_t);
    } words[] = {
        {"event", acp_event_kind, acp_event_kind_name},
        {"timing", acp_event_timing, acp_timing_name},
        {"outcome", acp_event_outcome, acp_outcome_name},
        {"consequence", acp_event_consequence, acp_consequence_name},
        {"reason", acp_event_close_reason, acp_close_reason_name},
    };
    static const number_of codes[] = {acp_event_error_code, acp_event_answer_code};
    acp_slice slice;
    int32_t number = 0;
    need(acp_event_kind(event, &number), "kind");
    for (size_t i = 0; i < sizeof strings / sizeof *strings; i++) {
        if (strings[i].get(event, &slice) == ACP_OK) {
            string(writer, strings[i].name, slice);
        }
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (words[i].get(event, &number) == ACP_OK) {
            word(writer, words[i].name, words[i].word(number));
        }
    }
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        if (codes[i](event, &number) == ACP_OK) {
            key(writer, "code");
            need(acp_writer_int64(writer, number), "code");
        }
    }
}

static void write_terminal(acp_writer *writer, acp_slice session, acp_slice id)
{
    need(acp_writer_begin_object(writer), "terminal");
    string(writer, "session", session);
    string(writer, "terminal", id);
    need(acp_writer_end_object(writer), "terminal");
}

static void write_closed(acp_writer *writer, const acp_event *event)
{
    size_t count;
    acp_slice id, session;
    key(writer, "unanswered");
    need(acp_writer_begin_array(writer), "unanswered");
    need(acp_event_unanswered_len(event, &count), "unanswered");
    for (size_t i = 0; i < count; i++) {
        need(acp_event_unanswered_id(event, i, &id), "unanswered");
        need(acp_writer_string(writer, id), "unanswered");
    }
    need(acp_writer_end_array(writer), "unanswered");
    key(writer, "terminals");
    need(acp_writer_begin_array(writer), "terminals");
    need(acp_event_terminals_len(event, &count), "terminals");
    for (size_t i = 0; i < count; i++) {
        need(acp_event_terminal(event, i, &session, &id), "terminals");
        write_terminal(writer, session, id);
    }
    need(acp_writer_end_array(writer), "terminals");
}

void write_event(acp_writer *writer, const acp_event *event)
{
    acp_slice message;
    int32_t kind;
    uint64_t frame;
    need(acp_writer_begin_object(writer), "event");
    write_members(writer, event);
    if (acp_event_frame(event, &frame) == ACP_OK) {
        key(writer, "frame");
        need(acp_writer_uint64(writer, frame), "frame");
    }
    need(acp_event_kind(event, &kind), "kind");
    if (kind == ACP_EVENT_CLOSED) {
        write_closed(writer, event);
    }
    if (kind == ACP_EVENT_ADVICE || kind == ACP_EVENT_VIOLATION) {
        need(acp_event_message(event, &message), "message");
        string(writer, "message", message);
    }
    need(acp_writer_end_object(writer), "event");
}

static void write_sessions(acp_writer *writer, acp_connection *connection)
{
    acp_sessions *sessions;
    size_t count;
    need(acp_connection_sessions(connection, &sessions), "sessions");
    need(acp_sessions_len(sessions, &count), "sessions");
    key(writer, "sessions");
    need(acp_writer_begin_object(writer), "sessions");
    for (size_t i = 0; i < count; i++) {
        acp_slice id, snapshot;
        need(acp_sessions_id(sessions, i, &id), "session");
        need(acp_connection_session_snapshot(connection, id, &snapshot), "snapshot");
        need(acp_writer_key(writer, id), "session");
        need(acp_writer_json(writer, snapshot), "snapshot");
    }
    need(acp_writer_end_object(writer), "sessions");
    acp_sessions_free(sessions);
}

acp_status write_session_ids(acp_writer *writer, acp_sessions *sessions)
{
    size_t count;
    need(acp_sessions_len(sessions, &count), "sessions");
    need(acp_writer_begin_array(writer), "sessions");
    for (size_t i = 0; i < count; i++) {
        acp_slice id;
        need(acp_sessions_id(sessions, i, &id), "session");
        need(acp_writer_string(writer, id), "session");
    }
    acp_sessions_free(sessions);
    return acp_writer_end_array(writer);
}

acp_status write_serials(acp_writer *writer, acp_requests *requests)
{
    size_t count;
    need(acp_requests_len(requests, &count), "requests");
    need(acp_writer_begin_array(writer), "requests");
    for (size_t i = 0; i < count; i++) {
        uint64_t serial;
        need(acp_requests_serial(requests, i, &serial), "request");
        need(acp_writer_uint64(writer, serial), "request");
    }
    acp_requests_free(requests);
    return acp_writer_end_array(writer);
}

acp_status write_terminal_list(acp_writer *writer, acp_terminals *terminals)
{
    size_t count;
    need(acp_terminals_len(terminals, &count), "terminals");
    need(acp_writer_begin_array(writer), "terminals");
    for (size_t i = 0; i < count; i++) {
        acp_slice session, terminal;
        need(acp_terminals_session(terminals, i, &session), "terminal");
        need(acp_terminals_id(terminals, i, &terminal), "terminal");
        write_terminal(writer, session, terminal);
    }
    acp_terminals_free(terminals);
    return acp_writer_end_array(writer);
}

static void write_terminals(acp_writer *writer, acp_connection *connection)
{
    acp_terminals *terminals;
    need(acp_connection_open_terminals(connection, &terminals), "terminals");
    key(writer, "terminals");
    need(write_terminal_list(writer, terminals), "terminals");
}

static void write_requests(acp_writer *writer, const char *name, acp_requests *requests)
{
    size_t count;
    acp_slice id;
    need(acp_requests_len(requests, &count), name);
    key(writer, name);
    need(acp_writer_begin_array(writer), name);
    for (size_t i = 0; i < count; i++) {
        need(acp_requests_id(requests, i, &id), name);
        need(acp_writer_string(writer, id), name);
    }
    need(acp_writer_end_array(writer), name);
    acp_requests_free(requests);
}

void write_state(acp_writer *writer, acp_connection *connection)
{
    int32_t phase;
    uint16_t version;
    uint64_t timeout;
    acp_requests *requests;
    acp_slice capabilities, snapshot;
    need(acp_writer_begin_object(writer), "state");
    need(acp_connection_phase(connection, &phase), "phase");
    word(writer, "phase", acp_phase_name(phase));
    if (acp_connection_version(connection, &version) == ACP_OK) {
        key(writer, "version");
        need(acp_writer_uint64(writer, version), "version");
    }
    if (acp_connection_poll_timeout(connection, &timeout) == ACP_OK) {
        key(writer, "timeout");
        need(acp_writer_uint64(writer, timeout), "timeout");
    }
    need(acp_connection_capabilities(connection, &capabilities), "capabilities");
    json(writer, "capabilities", capabilities);
    need(acp_connection_snapshot(connection, &snapshot), "snapshot");
    json(writer, "connection", snapshot);
    write_sessions(writer, connection);
    write_terminals(writer, connection);
    need(acp_connection_pending(connection, &requests), "pending");
    write_requests(writer, "pending", requests);
    need(acp_connection_unanswered(connection, &requests), "unanswered");
    write_requests(writer, "unanswered", requests);
    need(acp_writer_end_object(writer), "state");
}

void write_output(acp_writer *writer, acp_slice output, bool truncated)
{
    need(acp_writer_begin_object(writer), "output");
    string(writer, "output", output);
    key(writer, "truncated");
    need(acp_writer_bool(writer, truncated), "truncated");
    need(acp_writer_end_object(writer), "output");
}

void write_misuse(acp_writer *writer, const acp_connection *connection)
{
    int32_t kind;
    acp_slice rule, pointer;
    need(acp_connection_error_kind(connection, &kind), "kind");
    need(acp_connection_error_rule(connection, &rule), "rule");
    need(acp_connection_error_pointer(connection, &pointer), "pointer");
    need(acp_writer_begin_object(writer), "misuse");
    word(writer, "kind", acp_misuse_kind_name(kind));
    string(writer, "rule", rule);
    string(writer, "pointer", pointer);
    need(acp_writer_end_object(writer), "misuse");
}
