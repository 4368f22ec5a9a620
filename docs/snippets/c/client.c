// A client: `client AGENT [ARGUMENT...]` starts an agent, gives it one prompt, and prints what it says.

#define _POSIX_C_SOURCE 200809L

#include <acp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static acp_connection *agent;
static acp_writer *params;
static bool over;

// Sends a request with what has been written; when the protocol forbids it now, says why and ends.
static void ask(const char *method)
{
    acp_slice text = {NULL, 0}, why = {NULL, 0};
    uint64_t call;
    acp_writer_finish(params, &text);
    if (acp_connection_request(agent, acp_text(method), text, &call) != ACP_OK) {
        acp_connection_error_message(agent, &why);
        fprintf(stderr, "%s: %.*s\n", method, (int)why.len, why.data);
        exit(1);
    }
    acp_writer_reset(params);
}

// A request of ours has ended; the next one follows.
static void answered(acp_event *event, acp_slice method)
{
    acp_slice result, session = {NULL, 0}, why = acp_text("no answer");
    char cwd[4096];
    if (acp_event_result(event, &result) != ACP_OK) {
        acp_event_error_message(event, &why);
        fprintf(stderr, "%.*s: %.*s\n", (int)method.len, method.data, (int)why.len, why.data);
        over = true;
    } else if (acp_equal(method, acp_text(ACP_METHOD_INITIALIZE))) {
        acp_writer_begin_object(params);
        acp_writer_key(params, acp_text("cwd"));
        acp_writer_string(params, acp_text(getcwd(cwd, sizeof cwd)));
        acp_writer_key(params, acp_text("mcpServers"));
        acp_writer_json(params, acp_text("[]"));
        acp_writer_end_object(params);
        ask(ACP_METHOD_SESSION_NEW);
    } else if (acp_equal(method, acp_text(ACP_METHOD_SESSION_NEW))) {
        acp_json_find(result, acp_text("/sessionId"), &session);
        acp_writer_begin_object(params);
        acp_writer_key(params, acp_text("sessionId"));
        acp_writer_json(params, session); // as it stands in the result, with its quotes
        acp_writer_key(params, acp_text("prompt"));
        acp_writer_json(params, acp_text("[{\"type\":\"text\",\"text\":\"Hello\"}]"));
        acp_writer_end_object(params);
        ask(ACP_METHOD_SESSION_PROMPT);
    } else {
        acp_json_find(result, acp_text("/stopReason"), &result);
        printf("\n(%.*s)\n", (int)result.len, result.data);
        over = true;
    }
}

static void handle(acp_event *event)
{
    int32_t kind = 0;
    acp_slice method = {NULL, 0}, told, text = {NULL, 0};
    char said[4096];
    size_t len;
    uint64_t serial;
    acp_event_kind(event, &kind);
    acp_event_method(event, &method);
    switch (kind) {
    case ACP_EVENT_RESPONSE:
        answered(event, method);
        break;
    case ACP_EVENT_NOTIFICATION:
        if (acp_event_update(event, &text) == ACP_OK && acp_equal(text, acp_text(ACP_UPDATE_AGENT_MESSAGE_CHUNK)) &&
            acp_event_params(event, &told) == ACP_OK &&
            acp_json_string(told, acp_text("/update/content/text"), said, sizeof said, &len) == ACP_OK) {
            printf("%.*s", (int)len, said);
        }
        break;
    case ACP_EVENT_REQUEST:
        // This client has offered neither files nor terminals, so only permission can be asked of it.
        acp_event_serial(event, &serial);
        acp_connection_respond(agent, serial, acp_text("{\"outcome\":{\"outcome\":\"cancelled\"}}"));
        break;
    case ACP_EVENT_VIOLATION:
        acp_event_message(event, &text);
        fprintf(stderr, "the agent: %.*s\n", (int)text.len, text.data);
        break;
    case ACP_EVENT_CLOSED:
        over = true;
        break;
    }
}

int main(int count, char **arguments)
{
    int to[2], from[2];
    acp_config *config = NULL;
    acp_event *event;
    acp_slice waiting;
    if (count < 2 || pipe(to) != 0 || pipe(from) != 0) {
        fputs("usage: client AGENT [ARGUMENT...]\n", stderr);
        return 2;
    }
    if (fork() == 0) {
        dup2(to[0], STDIN_FILENO);
        dup2(from[1], STDOUT_FILENO);
        close(to[1]);
        close(from[0]);
        execvp(arguments[1], arguments + 1);
        _exit(127);
    }
    close(to[0]);
    close(from[1]);
    // An agent that has ended shows in what is read from it.
    signal(SIGPIPE, SIG_IGN);
    acp_config_new(ACP_ROLE_CLIENT, &config);
    acp_connection_new(config, &agent);
    acp_config_free(config);
    acp_writer_new(&params);
    acp_writer_json(params, acp_text("{\"clientCapabilities\":{}}"));
    ask(ACP_METHOD_INITIALIZE);
    while (!over) {
        char bytes[16384];
        ssize_t size;
        // What waits for the agent is written, what it writes is passed in, and what that means comes as events.
        while (acp_connection_transmit(agent, &waiting) == ACP_OK && waiting.len > 0) {
            size = write(to[1], waiting.data, waiting.len);
            acp_connection_consume(agent, size < 0 ? waiting.len : (size_t)size);
        }
        size = read(from[0], bytes, sizeof bytes);
        if (size > 0) {
            acp_connection_receive(agent, acp_bytes(bytes, (size_t)size));
        } else {
            acp_connection_receive_eof(agent);
        }
        while (acp_connection_poll_event(agent, &event) == ACP_OK) {
            handle(event);
            acp_event_free(event);
        }
    }
    close(to[1]);
    wait(NULL);
    acp_writer_free(params);
    acp_connection_free(agent);
    return 0;
}
