// What the tests of single functions share.

#ifndef CHECK_H
#define CHECK_H

#include "support.h"

#define COUNT(list) (sizeof(list) / sizeof *(list))
#define CHECK(condition) check((condition), #condition, __FILE__, __LINE__)
// A status and what it should be.
#define STATUS(call, status) check_status((call), (status), #call, __FILE__, __LINE__)
#define OK(call) STATUS(call, ACP_OK)

typedef struct test {
    const char *name;
    void (*run)(void);
} test;

void check(bool condition, const char *what, const char *file, int line);
void check_status(acp_status status, acp_status wanted, const char *what, const char *file, int line);
bool is_text(acp_slice slice, const char *text);
// Runs tests, prints which of them failed, and counts.
void run_tests(const test *tests, size_t count);

// A connection at its start, and one that is open after `initialize`.
acp_connection *start(int32_t role);
acp_connection *ready(int32_t role);
// A client with one session, `s-1`.
acp_connection *with_session(void);
// The same for a client at its start that has a configuration of its own.
acp_connection *open_session(acp_connection *connection);
void feed(acp_connection *connection, const char *line);
// What waits for the peer is this; it is taken.
void sent(acp_connection *connection, const char *text);
// The next event; it must be of this kind.
acp_event *next(acp_connection *connection, int32_t kind);
void no_event(acp_connection *connection);
// Takes an event of this kind that does not matter further.
void skip(acp_connection *connection, int32_t kind);

// A server of the remote transports with one connection, whose client waits for the answer to `initialize`; and a client
// that has asked for a request. At their start they have had nothing.
acp_http_server *http_server(bool at_the_start);
acp_http_client *http_client(bool at_the_start);
// They are as they were made, not at their start.
void http_unchanged(acp_http_server *server, acp_http_client *client);

// The tests of each file.
void test_config(void);
void test_calls(void);
void test_events(void);
void test_observer(void);
void test_json(void);
void test_messages(void);
void test_permission(void);
void test_http(void);
void test_wrong(void);
void test_threads(void);

#endif
