// Handles and threads: different handles in different threads at once, and one handle that is handed on.

#include "check.h"

#include <pthread.h>
#include <stdlib.h>

enum { THREADS = 4, ROUNDS = 300 };

static void in_threads(void *(*work)(void *), void *const *given, size_t count)
{
    pthread_t threads[THREADS];
    for (size_t i = 0; i < count; i++) {
        CHECK(pthread_create(&threads[i], NULL, work, given[i]) == 0);
    }
    for (size_t i = 0; i < count; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
    }
}

// A session, and notifications that are polled and freed; what went wrong is counted, as checks are one thread's.
static void *talk(void *wrong)
{
    acp_config *config = NULL;
    acp_connection *connection = NULL;
    acp_event *event = NULL;
    acp_slice method, rule;
    size_t *failures = wrong;
    *failures += acp_config_new(ACP_ROLE_CLIENT, &config) != ACP_OK;
    for (int i = 0; i < ROUNDS; i++) {
        *failures += acp_connection_new(config, &connection) != ACP_OK;
        *failures += acp_connection_receive(connection, acp_text("{\"jsonrpc\":\"2.0\",\"method\":\"_x/a\"}\n")) != ACP_OK;
        *failures += acp_connection_poll_event(connection, &event) != ACP_OK;
        acp_connection_free(connection);
        *failures += acp_event_method(event, &method) != ACP_OK || !is_text(method, "_x/a");
        *failures += acp_rule_text(acp_text("RPC-15"), &rule) != ACP_OK;
        acp_event_free(event);
    }
    acp_config_free(config);
    return NULL;
}

static void each_its_own(void)
{
    size_t failures[THREADS] = {0};
    void *given[THREADS];
    for (size_t i = 0; i < THREADS; i++) {
        given[i] = &failures[i];
    }
    in_threads(talk, given, THREADS);
    for (size_t i = 0; i < THREADS; i++) {
        CHECK(failures[i] == 0);
    }
}

// Checks are one thread's, so what went wrong shows in the count of requests.
static void *ask(void *connection)
{
    (void)!acp_connection_request(connection, acp_text("_x/b"), acp_text("{}"), NULL);
    return NULL;
}

static void handed_on(void)
{
    acp_connection *connection = ready(ACP_ROLE_CLIENT);
    acp_requests *pending = NULL;
    size_t count = 0;
    void *given[] = {connection};
    for (int i = 0; i < THREADS; i++) {
        in_threads(ask, given, 1);
    }
    OK(acp_connection_pending(connection, &pending));
    OK(acp_requests_len(pending, &count));
    CHECK(count == THREADS);
    acp_requests_free(pending);
    acp_connection_free(connection);
}

struct shared {
    acp_event *event;
    acp_requests *list;
    size_t failures;
};

static void *look(void *given)
{
    struct shared *shared = given;
    acp_slice slice;
    for (int i = 0; i < ROUNDS; i++) {
        shared->failures += acp_event_params(shared->event, &slice) != ACP_OK || !is_text(slice, "{\"n\":1}");
        shared->failures += acp_requests_method(shared->list, 0, &slice) != ACP_OK || !is_text(slice, "_x/own");
    }
    acp_event_free(shared->event);
    acp_requests_free(shared->list);
    return NULL;
}

// What came from a connection is read and freed in one thread while the connection goes on, and ends, in another.
static void apart(void)
{
    acp_connection *connection = ready(ACP_ROLE_CLIENT);
    struct shared shared = {NULL, NULL, 0};
    pthread_t thread;
    OK(acp_connection_request(connection, acp_text("_x/own"), acp_text("{}"), NULL));
    OK(acp_connection_pending(connection, &shared.list));
    feed(connection, "{\"jsonrpc\":\"2.0\",\"method\":\"_x/a\",\"params\":{\"n\":1}}");
    shared.event = next(connection, ACP_EVENT_NOTIFICATION);
    CHECK(pthread_create(&thread, NULL, look, &shared) == 0);
    for (int i = 0; i < ROUNDS; i++) {
        feed(connection, "{\"jsonrpc\":\"2.0\",\"method\":\"_x/a\",\"params\":{\"n\":2}}");
        skip(connection, ACP_EVENT_NOTIFICATION);
    }
    acp_connection_free(connection);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(shared.failures == 0);
}

// Two threads in one handle, which the header forbids.
struct contest {
    acp_connection *connection;
    pthread_mutex_t lock;
    bool seen;
    size_t wrong;
    char *frame;
    size_t len;
};

static bool over(struct contest *contest, bool seen)
{
    pthread_mutex_lock(&contest->lock);
    seen = contest->seen = contest->seen || seen;
    pthread_mutex_unlock(&contest->lock);
    return seen;
}

// Every call is done or refused as a whole. Calls that change the handle only: one that looks into it is not noticed by those
// that begin after it.
static bool busy(struct contest *contest, acp_status status)
{
    if (status != ACP_OK && status != ACP_NONE && status != ACP_BUSY) {
        pthread_mutex_lock(&contest->lock);
        contest->wrong++;
        pthread_mutex_unlock(&contest->lock);
    }
    return status == ACP_BUSY;
}

static void *contend(void *given)
{
    struct contest *contest = given;
    bool seen = false;
    for (int rounds = 0; rounds < 2000 && !over(contest, seen); rounds++) {
        acp_event *event = NULL;
        seen = busy(contest, acp_connection_receive(contest->connection, acp_bytes(contest->frame, contest->len))) || seen;
        seen = busy(contest, acp_connection_poll_event(contest->connection, &event)) || seen;
        acp_event_free(event);
    }
    return NULL;
}

static void both_inside(void)
{
    static const char head[] = "{\"jsonrpc\":\"2.0\",\"method\":\"_x/a\",\"params\":{\"a\":\"", tail[] = "\"}}\n";
    struct contest contest = {ready(ACP_ROLE_CLIENT), PTHREAD_MUTEX_INITIALIZER, false, 0, NULL, 1 << 20};
    void *given[] = {&contest, &contest};
    contest.frame = malloc(contest.len);
    CHECK(contest.frame != NULL);
    memset(contest.frame, 'x', contest.len);
    memcpy(contest.frame, head, sizeof head - 1);
    memcpy(contest.frame + contest.len - (sizeof tail - 1), tail, sizeof tail - 1);
    in_threads(contend, given, 2);
    CHECK(contest.seen);
    CHECK(contest.wrong == 0);
    free(contest.frame);
    acp_connection_free(contest.connection);
}

void test_threads(void)
{
    static const test tests[] = {
        {"threads: each its own", each_its_own},
        {"threads: a connection that is handed on", handed_on},
        {"threads: an event and its connection apart", apart},
        {"threads: two in one connection", both_inside},
    };
    run_tests(tests, COUNT(tests));
}
