// What a host must not do, with every function of the header: NULL, absurd lengths, numbers without a meaning, calls in a
// wrong state. The calls are in wrong_calls.h, which wrong.py makes from the header.

#include "check.h"
#include "wrong_calls.h"

#include <stdio.h>

// What calls are made with.
static struct {
    acp_config *config;
    acp_connection *connection;
    acp_observer *observer;
    acp_event *event;
    acp_sessions *sessions;
    acp_requests *requests;
    acp_terminals *terminals;
    acp_items *items;
    acp_writer *writer;
    acp_permission_policy *permission_policy;
    acp_http_server *http_server;
    acp_http_client *http_client;
    acp_member member;
    acp_header header;
} given;

// What calls write to.
struct outputs {
    acp_config *config;
    acp_connection *connection;
    acp_observer *observer;
    acp_event *event;
    acp_sessions *sessions;
    acp_requests *requests;
    acp_terminals *terminals;
    acp_items *items;
    acp_writer *writer;
    acp_permission_policy *permission_policy;
    acp_http_server *http_server;
    acp_http_client *http_client;
    acp_slice slice;
    acp_string string;
    int64_t whole;
    uint64_t wide;
    size_t size;
    double real;
    int32_t number;
    uint16_t version;
    bool flag;
    char buffer[16];
};
static struct outputs outputs;

typedef enum state { AT_THE_START, IN_A_SESSION, ASKED, CLOSED, STATES } state;

// A client whose agent has a terminal and waits for an answer.
static acp_connection *asked(void)
{
    acp_connection *connection = with_session();
    acp_event *event;
    uint64_t serial = 0;
    feed(connection, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"terminal/create\",\"params\":{\"sessionId\":\"s-1\","
                     "\"command\":\"ls\"}}");
    event = next(connection, ACP_EVENT_REQUEST);
    OK(acp_event_serial(event, &serial));
    OK(acp_connection_respond(connection, serial, acp_text("{\"terminalId\":\"t-1\"}")));
    acp_event_free(event);
    feed(connection, "{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":\"_x/a\"}");
    skip(connection, ACP_EVENT_REQUEST);
    return connection;
}

static acp_connection *in(state state)
{
    acp_connection *connection = state == AT_THE_START   ? start(ACP_ROLE_CLIENT)
                                 : state == IN_A_SESSION ? with_session()
                                                         : asked();
    if (state == CLOSED) {
        OK(acp_connection_close(connection));
    }
    return connection;
}

// Handles of all kinds. The lists and the event have one of each thing.
static void set_up(state state)
{
    acp_slice waits;
    acp_connection *other = asked();
    OK(acp_connection_sessions(other, &given.sessions));
    OK(acp_connection_unanswered(other, &given.requests));
    OK(acp_connection_open_terminals(other, &given.terminals));
    OK(acp_connection_receive_eof(other));
    given.event = next(other, ACP_EVENT_CLOSED);
    acp_connection_free(other);
    OK(acp_json_items(acp_text("{\"a\":1}"), acp_text(""), &given.items));
    OK(acp_writer_new(&given.writer));
    OK(acp_permission_policy_new(&given.permission_policy));
    given.member = acp_member_of("a", acp_text_value("b"));
    given.header.name = acp_text("host");
    given.header.value = acp_text("localhost");
    given.http_server = http_server(state == AT_THE_START);
    given.http_client = http_client(state == AT_THE_START);
    OK(acp_config_new(ACP_ROLE_AGENT, &given.config));
    OK(acp_observer_new(given.config, &given.observer));
    given.connection = in(state);
    OK(acp_connection_transmit(given.connection, &waits));
    OK(acp_connection_consume(given.connection, waits.len));
}

static void tear_down(void)
{
    acp_config_free(given.config);
    acp_connection_free(given.connection);
    acp_observer_free(given.observer);
    acp_event_free(given.event);
    acp_sessions_free(given.sessions);
    acp_requests_free(given.requests);
    acp_terminals_free(given.terminals);
    acp_items_free(given.items);
    acp_writer_free(given.writer);
    acp_permission_policy_free(given.permission_policy);
    acp_http_server_free(given.http_server);
    acp_http_client_free(given.http_client);
}

// Refused, and no output was written.
static void refused(acp_status status, const char *call)
{
    static struct outputs untouched;
    memset(&untouched, 0x5a, sizeof untouched);
    check_status(status, ACP_INVALID_ARGUMENT, call, __FILE__, __LINE__);
    check(memcmp(&outputs, &untouched, sizeof outputs) == 0, call, __FILE__, __LINE__);
    memset(&outputs, 0x5a, sizeof outputs);
}

#define REFUSED(call) refused(call, #call);

// Calls that are refused leave everything as it was, also what waits to be polled.
static void all_refused(void (*calls)(void))
{
    char before[1024];
    acp_slice snapshot;
    uint64_t limit = 0;
    set_up(ASKED);
    OK(acp_connection_session_snapshot(given.connection, acp_text("s-1"), &snapshot));
    CHECK(snapshot.len < sizeof before);
    memcpy(before, snapshot.data, snapshot.len);
    feed(given.connection, "{\"jsonrpc\":\"2.0\",\"method\":\"_x/waits\"}");
    memset(&outputs, 0x5a, sizeof outputs);
    calls();
    sent(given.connection, "");
    skip(given.connection, ACP_EVENT_NOTIFICATION);
    no_event(given.connection);
    OK(acp_connection_session_snapshot(given.connection, acp_text("s-1"), &snapshot));
    CHECK(acp_equal(snapshot, acp_bytes(before, snapshot.len)));
    OK(acp_config_limit(given.config, ACP_LIMIT_FRAME, &limit));
    CHECK(limit == 32u << 20);
    OK(acp_writer_null(given.writer));
    OK(acp_writer_finish(given.writer, &snapshot));
    CHECK(is_text(snapshot, "null"));
    http_unchanged(given.http_server, given.http_client);
    tear_down();
}

static void call_with_null(void)
{
    NULL_POINTERS(REFUSED)
}

static void call_with_bad_texts(void)
{
    BAD_TEXTS(REFUSED)
}

static void call_with_bad_numbers(void)
{
    BAD_NUMBERS(REFUSED)
}

static void null_pointers(void)
{
    all_refused(call_with_null);
}

static void bad_texts(void)
{
    all_refused(call_with_bad_texts);
}

static void bad_numbers(void)
{
    all_refused(call_with_bad_numbers);
}

// Answered in some way that the header has, and not as a wrong argument; what came out can be read and freed, and what it
// was called with can go on.
static void answered(acp_status status, const char *call)
{
    char copy[2048] = {0};
    bool known = status == ACP_OK || status == ACP_NONE || status == ACP_MISUSE || status == ACP_WRONG_TYPE ||
                 status == ACP_SHORT_BUFFER || status == ACP_WRITER_MISUSE;
    if (!known) {
        printf("%s: %s\n", call, acp_status_name(status));
    }
    check(known, call, __FILE__, __LINE__);
    if (outputs.slice.len > 0 && outputs.slice.len < sizeof copy) {
        memcpy(copy, outputs.slice.data, outputs.slice.len);
    }
    acp_config_free(outputs.config);
    acp_connection_free(outputs.connection);
    acp_observer_free(outputs.observer);
    acp_event_free(outputs.event);
    acp_sessions_free(outputs.sessions);
    acp_requests_free(outputs.requests);
    acp_terminals_free(outputs.terminals);
    acp_items_free(outputs.items);
    acp_writer_free(outputs.writer);
    acp_permission_policy_free(outputs.permission_policy);
    acp_http_server_free(outputs.http_server);
    acp_http_client_free(outputs.http_client);
    acp_string_free(&outputs.string);
    OK(acp_connection_receive(given.connection, acp_text("{\"jsonrpc\":\"2.0\",\"method\":\"_x/a\"}\n")));
    while ((status = acp_connection_poll_event(given.connection, &outputs.event)) == ACP_OK) {
        acp_event_free(outputs.event);
    }
    check_status(status, ACP_NONE, call, __FILE__, __LINE__);
    acp_connection *another = NULL;
    OK(acp_connection_new(given.config, &another));
    OK(acp_connection_receive(another, acp_text("{}\n")));
    OK(acp_connection_handle_timeout(another, 1));
    skip(another, ACP_EVENT_VIOLATION);
    acp_connection_free(another);
}

#define ANSWERED(call)                                                                                                 \
    set_up(state);                                                                                                     \
    memset(&outputs, 0, sizeof outputs);                                                                               \
    answered(call, #call);                                                                                             \
    tear_down();

static void every_state(void)
{
    for (state state = AT_THE_START; state < STATES; state++) {
        GOOD_CALLS(ANSWERED)
    }
}

static void odd_numbers(void)
{
    state state = ASKED;
    ODD_NUMBERS(ANSWERED)
}

#define UNKNOWN(call) check(strcmp(call, "unknown") == 0, #call, __FILE__, __LINE__);
#define DONE(call) call;

static void names(void)
{
    NAMES(UNKNOWN)
}

static void frees(void)
{
    FREES(DONE)
}

void test_wrong(void)
{
    static const test tests[] = {
        {"wrong: NULL in the place of each pointer", null_pointers},
        {"wrong: texts without bytes, without end, without meaning", bad_texts},
        {"wrong: numbers without meaning", bad_numbers},
        {"wrong: numbers at their ends", odd_numbers},
        {"wrong: each function in each state", every_state},
        {"wrong: names of nothing", names},
        {"wrong: freeing nothing", frees},
    };
    run_tests(tests, COUNT(tests));
}
