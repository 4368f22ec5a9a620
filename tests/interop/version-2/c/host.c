// A client or an agent on libacp that plays its side of a script of version 2, with the pipes and the JSON of the example
// hosts: `host client --script FILE --work DIR [--cwd DIR] [--trace FILE] -- AGENT ARGV...`,
// `host agent --script FILE [--trace FILE]`.

#define _POSIX_C_SOURCE 200809L

#include "workspace.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define OPEN 8
// The first bytes of a slice that may come from the peer, for messages.
#define SHORT(slice) (int)((slice).len < 200 ? (slice).len : 200), ((slice).len ? (slice).data : "")

// A request that has no answer yet, by its name in the script.
typedef struct request {
    text name;
    uint64_t serial;
} request;

typedef struct side {
    host host;
    text script;
    acp_slice session;
    bool client;
    names names;
    request open[OPEN];
    size_t updates;
    // The place of the step that is being played.
    text at;
} side;

static int agent_pid;
static bool is_client;

// A client tells on standard output, an agent on standard error.
static void say(acp_slice why)
{
    const acp_value error = acp_string_value(why);
    acp_writer *writer = NULL;
    acp_slice line = acp_text("{\"ok\":false,\"error\":\"the error is not UTF-8\"}");
    if (!is_client) {
        fprintf(stderr, ACP_FORMAT "\n", ACP_PRINT(why));
        exit(1);
    }
    if (acp_writer_new(&writer) == ACP_OK &&
        acp_writer_template(writer, acp_text("{'ok':false,'error':?}"), &error, 1) == ACP_OK) {
        acp_writer_finish(writer, &line);
    }
    printf(ACP_FORMAT "\n", ACP_PRINT(line));
    if (agent_pid > 0) {
        kill(agent_pid, SIGKILL);
    }
    exit(1);
}

static uint64_t serial_of(const acp_event *event)
{
    uint64_t serial = 0;
    need(acp_event_serial(event, &serial), "serial");
    return serial;
}

// The next event, which must be of this kind; the caller frees it.
static acp_event *take(side *side, int32_t kind)
{
    for (;;) {
        int32_t came = 0;
        acp_event *event = host_next(&side->host);
        need(acp_event_kind(event, &came), "kind");
        if (came == kind) {
            return event;
        }
        if (came != ACP_EVENT_VIOLATION) {
            acp_slice method = part(event, acp_event_method), message = part(event, acp_event_message);
            fail("%.*s: expected %s, got %s %.*s %.*s", SHORT(text_slice(&side->at)), acp_event_kind_name(kind),
                 acp_event_kind_name(came), SHORT(method), SHORT(message));
        }
        tell_violation(event);
        acp_event_free(event);
    }
}

static void put(side *side, acp_slice step, uint64_t serial)
{
    for (size_t i = 0; i < OPEN; i++) {
        acp_slice name;
        if (side->open[i].name.len == 0) {
            side->open[i].name = json_text(step, json_at(step, "/as", &name) ? "/as" : "/request");
            side->open[i].serial = serial;
            return;
        }
    }
    fail("%.*s: too many open requests", SHORT(text_slice(&side->at)));
}

static uint64_t answered(side *side, acp_slice step)
{
    for (size_t i = 0; i < OPEN; i++) {
        request *open = &side->open[i];
        bool same = false;
        need(acp_json_string_is(step, acp_text("/answer"), text_slice(&open->name), &same), "answer");
        if (same) {
            text_free(&open->name);
            return open->serial;
        }
    }
    fail("%.*s: no request of this name is open", SHORT(text_slice(&side->at)));
    return 0;
}

// What a notification of the script says: its method and its params.
static text notification(side *side, acp_slice step, text *method)
{
    acp_slice update;
    if (!json_at(step, "/update", &update)) {
        *method = json_text(step, "/notify");
        return fill(json_get(step, "/params"), &side->names);
    }
    acp_writer *writer = new_writer();
    need(acp_writer_begin_object(writer), "update");
    need(acp_writer_key(writer, acp_text("sessionId")), "update");
    need(acp_writer_json(writer, side->session), "update");
    need(acp_writer_key(writer, acp_text("update")), "update");
    need(acp_writer_json(writer, update), "update");
    need(acp_writer_end_object(writer), "update");
    text_add(method, acp_text(ACP_METHOD_SESSION_UPDATE));
    text params = written(writer), filled = fill(text_slice(&params), &side->names);
    text_free(&params);
    return filled;
}

// A step of this side.
static void act(side *side, acp_slice step)
{
    acp_connection *connection = side->host.connection;
    acp_slice value;
    text method = {0}, params = {0};
    if (json_at(step, "/request", &value)) {
        uint64_t serial = 0;
        method = json_text(value, "");
        params = fill(json_get(step, "/params"), &side->names);
        need_call(connection, acp_connection_request(connection, text_slice(&method), text_slice(&params), &serial),
                  "request");
        put(side, step, serial);
    } else if (json_at(step, "/core", &value)) {
        // libacp has answered it by itself, and says so.
        acp_event *event = take(side, ACP_EVENT_ANSWERED);
        if (serial_of(event) != answered(side, step)) {
            fail("%.*s: another request was answered", SHORT(text_slice(&side->at)));
        }
        acp_event_free(event);
    } else if (json_at(step, "/answer", &value)) {
        params = fill(json_get(step, "/result"), &side->names);
        need_call(connection, acp_connection_respond(connection, answered(side, step), text_slice(&params)), "respond");
    } else {
        params = notification(side, step, &method);
        need_call(connection, acp_connection_notify(connection, text_slice(&method), text_slice(&params)), "notify");
    }
    text_free(&method);
    text_free(&params);
}

// The answer to a request of this side's.
static void wait_for_answer(side *side, acp_slice step)
{
    acp_event *event = take(side, ACP_EVENT_RESPONSE);
    acp_slice result = part(event, acp_event_result), message = part(event, acp_event_error_message);
    if (serial_of(event) != answered(side, step) || result.data == NULL) {
        fail("%.*s: expected a result, got %.*s", SHORT(text_slice(&side->at)), SHORT(message));
    }
    text wanted = fill(json_get(step, "/result"), &side->names);
    compare(text_slice(&wanted), result, false, text_slice(&side->at));
    text_free(&wanted);
    acp_event_free(event);
}

// A step of the other side, which must be what comes next.
static void wait_for(side *side, acp_slice step)
{
    acp_slice value;
    if (json_at(step, "/answer", &value)) {
        wait_for_answer(side, step);
        return;
    }
    bool asks = json_at(step, "/request", &value);
    acp_event *event = take(side, asks ? ACP_EVENT_REQUEST : ACP_EVENT_NOTIFICATION);
    acp_slice came = part(event, acp_event_params), name = part(event, acp_event_method);
    text method = {0}, params = {0};
    if (asks && acp_equal(name, acp_text(ACP_METHOD_SESSION_NEW)) && side->names.cwd.len == 0) {
        side->names.cwd = json_text(came, "/cwd");
    }
    if (asks) {
        method = json_text(value, "");
        params = fill(json_get(step, "/params"), &side->names);
        put(side, step, serial_of(event));
    } else {
        params = notification(side, step, &method);
        side->updates += json_at(step, "/update", &value);
    }
    if (!acp_equal(name, text_slice(&method))) {
        fail("%.*s: expected %.*s, got %.*s", SHORT(text_slice(&side->at)), SHORT(text_slice(&method)), SHORT(name));
    }
    compare(text_slice(&params), came, false, text_slice(&side->at));
    text_free(&method);
    text_free(&params);
    acp_event_free(event);
}

static void play_steps(side *side)
{
    size_t len = 0;
    acp_slice script = text_slice(&side->script);
    acp_items *steps = json_items(json_get(script, "/steps"), &len);
    side->session = json_get(script, "/session");
    for (size_t i = 0; i < len; i++) {
        acp_slice step = item_value(steps, i);
        side->at.len = 0;
        text_format(&side->at, "/steps/%zu", i);
        if (json_is(step, "/from", side->client ? "client" : "agent")) {
            act(side, step);
        } else {
            wait_for(side, step);
        }
    }
    acp_items_free(steps);
    side->at.len = 0;
    text_format(&side->at, "/end");
}

// After the last step only the end may come.
static void end_of_stream(side *side)
{
    size_t unanswered = 0;
    acp_event *event = take(side, ACP_EVENT_CLOSED);
    need(acp_event_unanswered_len(event, &unanswered), "unanswered");
    if (unanswered != 0) {
        fail("/end: %zu requests without an answer", unanswered);
    }
    acp_event_free(event);
}

// A host whose connection speaks the script's version.
static void open_host(side *side, int in, int out, const char *trace)
{
    int32_t role = side->client ? ACP_ROLE_CLIENT : ACP_ROLE_AGENT;
    acp_config *config = NULL;
    host_open(&side->host, role, in, out);
    acp_connection_free(side->host.connection);
    need(acp_config_new(role, &config), "config");
    static const uint16_t versions[] = {1, 2};
    size_t count = json_number(text_slice(&side->script), "/protocol", 0) == 2 ? 2 : 1;
    need(acp_config_set_versions(config, versions, count), "versions");
    need(acp_connection_new(config, &side->host.connection), "connection");
    acp_config_free(config);
    if (trace != NULL && (side->host.trace = fopen(trace, "w")) == NULL) {
        fail("%s cannot be written", trace);
    }
}

static void wait_for_agent(uint64_t deadline)
{
    int status = 0, done;
    while ((done = waitpid(agent_pid, &status, WNOHANG)) == 0 && now_ms() < deadline) {
        poll(NULL, 0, 2);
    }
    if (done != agent_pid || !WIFEXITED(status)) {
        fail("the agent did not end by itself");
    }
    agent_pid = 0;
    if (WEXITSTATUS(status) != 0) {
        fail("the agent ended with %d", WEXITSTATUS(status));
    }
}

static void run_client(side *side, char **agent, const char *trace)
{
    int to, from;
    const host *host = &side->host;
    if (agent == NULL || agent[0] == NULL) {
        fail("expected an agent after --");
    }
    agent_pid = start_program(agent, &to, &from);
    open_host(side, from, to, trace);
    side->host.deadline = now_ms() + json_number(text_slice(&side->script), "/deadlineMs", 60000);
    play_steps(side);
    host_finish(&side->host);
    end_of_stream(side);
    wait_for_agent(side->host.deadline);
    printf("{\"ok\":true,\"messages_sent\":%zu,\"messages_received\":%zu,\"bytes_sent\":%zu,\"bytes_received\":%zu,"
           "\"updates\":%zu}\n",
           host->sent.lines, host->received.lines, host->sent.bytes, host->received.bytes, side->updates);
}

int main(int count, char **arguments)
{
    const char *script = NULL, *trace = NULL, *cwd = NULL;
    char here[4096], **agent = NULL;
    side side;
    memset(&side, 0, sizeof side);
    on_failure = say;
    side.client = is_client = count > 1 && strcmp(arguments[1], "client") == 0;
    for (char **next = arguments + (count > 1 ? 2 : 1); *next != NULL && next[1] != NULL; next += 2) {
        if (strcmp(*next, "--") == 0) {
            agent = next + 1;
            break;
        }
        script = strcmp(*next, "--script") == 0 ? next[1] : script;
        trace = strcmp(*next, "--trace") == 0 ? next[1] : trace;
        cwd = strcmp(*next, "--cwd") == 0 ? next[1] : cwd;
    }
    if (script == NULL || (!side.client && strcmp(arguments[1], "agent") != 0)) {
        fail("usage: host client|agent --script FILE [--cwd DIR] [--trace FILE] [-- AGENT ARGV...]");
    }
    signal(SIGPIPE, SIG_IGN);
    side.script = read_file(script);
    if (side.client) {
        cwd = cwd != NULL ? cwd : getcwd(here, sizeof here);
        text_add(&side.names.cwd, acp_text(cwd != NULL ? cwd : "/"));
        run_client(&side, agent, trace);
    } else {
        open_host(&side, STDIN_FILENO, STDOUT_FILENO, trace);
        play_steps(&side);
        end_of_stream(&side);
        host_finish(&side.host);
    }
    if (side.host.trace != NULL) {
        fclose(side.host.trace);
    }
    host_free(&side.host);
    text_free(&side.script);
    text_free(&side.names.cwd);
    text_free(&side.at);
    return 0;
}
