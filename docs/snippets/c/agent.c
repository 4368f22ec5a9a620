// An agent: speaks ACP on standard input and output, and says back what it is told.

#define _POSIX_C_SOURCE 200809L

#include <acp.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

// Says the prompt's text back, and ends the turn.
static acp_status echo(acp_connection *client, const acp_event *event, uint64_t request)
{
    acp_slice params = {NULL, 0}, session = {NULL, 0};
    acp_string text = {NULL, 0};
    acp_status status = ACP_OK;
    acp_event_params(event, &params);
    acp_event_session(event, &session);
    if (acp_json_string_copy(params, acp_text("/prompt/0/text"), &text) == ACP_OK) {
        status = acp_agent_message(client, session, acp_string_slice(text));
    }
    acp_string_free(&text);
    return status == ACP_OK ? acp_agent_answer_prompt(client, request, acp_text(ACP_STOP_END_TURN)) : status;
}

static acp_status serve(acp_connection *client, const acp_event *event, uint64_t request)
{
    static unsigned sessions = 0;
    acp_slice method = {NULL, 0};
    char id[32];
    acp_event_method(event, &method);
    if (acp_equal(method, acp_text(ACP_METHOD_INITIALIZE))) {
        return acp_agent_answer_initialize(client, request, acp_text("echo"), acp_text("1.0"), acp_text("{}"));
    }
    if (acp_equal(method, acp_text(ACP_METHOD_SESSION_NEW))) {
        snprintf(id, sizeof id, "session-%u", ++sessions); // a client may have many
        return acp_agent_answer_new_session(client, request, acp_text(id));
    }
    if (acp_equal(method, acp_text(ACP_METHOD_SESSION_PROMPT))) {
        return echo(client, event, request);
    }
    return acp_connection_respond_not_served(client, request);
}

int main(void)
{
    struct pollfd ends[] = {{STDIN_FILENO, POLLIN, 0}, {-1, POLLOUT, 0}}; // poll(2) passes over -1
    acp_slice waiting = {NULL, 0};
    acp_config *config = NULL;
    acp_connection *client = NULL;
    acp_event *event;
    if (acp_config_new(ACP_ROLE_AGENT, &config) != ACP_OK || acp_connection_new(config, &client) != ACP_OK) {
        return 1;
    }
    acp_config_free(config);
    while (ends[0].fd >= 0 || waiting.len > 0) {
        char bytes[16384];
        ends[1].fd = waiting.len > 0 ? STDOUT_FILENO : -1;
        // Waits for both ends at once: with a client that writes while nobody reads, neither side would ever go on.
        // Where no more comes in, the rest has a second each time to go out.
        int ready = poll(ends, 2, ends[0].fd < 0 ? 1000 : -1);
        if (ready == 0) {
            break;
        }
        if (ready > 0 && ends[1].revents != 0) {
            // No more than any pipe takes at once that is ready.
            ssize_t size = write(STDOUT_FILENO, waiting.data, waiting.len < PIPE_BUF ? waiting.len : PIPE_BUF);
            acp_connection_consume(client, size < 0 ? waiting.len : (size_t)size);
        }
        if (ready > 0 && ends[0].revents != 0) {
            ssize_t size = read(STDIN_FILENO, bytes, sizeof bytes);
            if (size > 0) {
                acp_connection_receive(client, acp_bytes(bytes, (size_t)size));
            } else {
                acp_connection_receive_eof(client);
                ends[0].fd = -1;
            }
        }
        for (; acp_connection_poll_event(client, &event) == ACP_OK; acp_event_free(event)) {
            int32_t kind;
            uint64_t request;
            if (acp_event_kind(event, &kind) == ACP_OK && kind == ACP_EVENT_REQUEST &&
                acp_event_serial(event, &request) == ACP_OK && serve(client, event, request) != ACP_OK &&
                acp_connection_respond_refused(client, request) != ACP_OK) {
                fputs("a request is left without an answer\n", stderr);
            }
        }
        acp_connection_transmit(client, &waiting);
    }
    acp_connection_free(client);
    return 0;
}
