// Tests of every function of acp.h: what it does, and what it does with arguments that are wrong.
// Read next: config.c, calls.c, events.c, observer.c, json.c, permission.c, http.c, wrong.c, threads.c.

#include "check.h"

#include <stdio.h>

static size_t passed, failed;
static bool good;

void check(bool condition, const char *what, const char *file, int line)
{
    if (!condition) {
        printf("%s:%d: %s\n", file, line, what);
        good = false;
    }
}

void check_status(acp_status status, acp_status wanted, const char *what, const char *file, int line)
{
    if (status != wanted) {
        printf("%s:%d: %s: %s instead of %s\n", file, line, what, acp_status_name(status), acp_status_name(wanted));
        good = false;
    }
}

bool is_text(acp_slice slice, const char *text)
{
    return acp_equal(slice, acp_text(text));
}

void run_tests(const test *tests, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        good = true;
        tests[i].run();
        if (good) {
            passed++;
        } else {
            printf("FAILED %s\n", tests[i].name);
            failed++;
        }
    }
}

acp_connection *start(int32_t role)
{
    acp_config *config = NULL;
    acp_connection *connection = NULL;
    OK(acp_config_new(role, &config));
    OK(acp_connection_new(config, &connection));
    acp_config_free(config);
    return connection;
}

void feed(acp_connection *connection, const char *line)
{
    OK(acp_connection_receive(connection, acp_text(line)));
    OK(acp_connection_receive(connection, acp_text("\n")));
}

void sent(acp_connection *connection, const char *text)
{
    acp_slice waits = {NULL, 0};
    OK(acp_connection_transmit(connection, &waits));
    if (!is_text(waits, text)) {
        printf("sent %.*s\ninstead of %s", (int)waits.len, waits.len ? waits.data : "", text);
        good = false;
    }
    OK(acp_connection_consume(connection, waits.len));
}

acp_event *next(acp_connection *connection, int32_t kind)
{
    acp_event *event = NULL;
    int32_t came = 0;
    OK(acp_connection_poll_event(connection, &event));
    OK(acp_event_kind(event, &came));
    if (came != kind) {
        printf("a %s event instead of %s\n", acp_event_kind_name(came), acp_event_kind_name(kind));
        good = false;
    }
    return event;
}

void skip(acp_connection *connection, int32_t kind)
{
    acp_event_free(next(connection, kind));
}

void no_event(acp_connection *connection)
{
    acp_event *event = NULL;
    STATUS(acp_connection_poll_event(connection, &event), ACP_NONE);
    CHECK(event == NULL);
}

// `initialize`, which the host of this role calls or answers.
static void initialize(acp_connection *connection, int32_t role)
{
    acp_slice waits;
    uint64_t serial = 0;
    if (role == ACP_ROLE_CLIENT) {
        OK(acp_connection_request(connection, acp_text("initialize"),
                                  acp_text("{\"clientCapabilities\":{\"terminal\":true}}"), &serial));
        feed(connection, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":1,"
                         "\"agentCapabilities\":{\"loadSession\":true}}}");
        skip(connection, ACP_EVENT_RESPONSE);
    } else {
        acp_event *event;
        feed(connection, "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":1,"
                         "\"clientCapabilities\":{\"terminal\":true}}}");
        event = next(connection, ACP_EVENT_REQUEST);
        OK(acp_event_serial(event, &serial));
        OK(acp_connection_respond(connection, serial, acp_text("{}")));
        acp_event_free(event);
    }
    OK(acp_connection_transmit(connection, &waits));
    OK(acp_connection_consume(connection, waits.len));
}

acp_connection *ready(int32_t role)
{
    acp_connection *connection = start(role);
    initialize(connection, role);
    return connection;
}

acp_connection *with_session(void)
{
    return open_session(start(ACP_ROLE_CLIENT));
}

acp_connection *open_session(acp_connection *connection)
{
    uint64_t serial = 0;
    initialize(connection, ACP_ROLE_CLIENT);
    OK(acp_connection_request(connection, acp_text("session/new"), acp_text("{\"cwd\":\"/w\",\"mcpServers\":[]}"),
                              &serial));
    sent(connection, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"session/new\","
                     "\"params\":{\"cwd\":\"/w\",\"mcpServers\":[]}}\n");
    feed(connection, "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"sessionId\":\"s-1\"}}");
    skip(connection, ACP_EVENT_RESPONSE);
    return connection;
}

int main(void)
{
    test_config();
    test_calls();
    test_events();
    test_observer();
    test_json();
    test_messages();
    test_permission();
    test_http();
    test_wrong();
    test_threads();
    printf("%zu passed, %zu failed\n", passed, failed);
    return failed == 0 ? 0 : 1;
}
