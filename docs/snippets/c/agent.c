// An agent: speaks ACP on standard input and output, and says back what it is told.

#define _POSIX_C_SOURCE 200809L

#include <acp.h>
#include <stdio.h>
#include <unistd.h>

static acp_connection *client;
static unsigned sessions;

// One update of a message, then the answer to the prompt.
static void prompt(acp_event *event, uint64_t serial)
{
    acp_slice params, session, text = {NULL, 0}, update;
    acp_writer *writer = NULL;
    acp_event_params(event, &params);
    acp_event_session(event, &session);
    // As it stands in the prompt, with its quotes and escapes: it goes into the update as it is.
    if (acp_json_find(params, acp_text("/prompt/0/text"), &text) != ACP_OK) {
        text = acp_text("\"(no text)\"");
    }
    acp_writer_new(&writer);
    acp_writer_begin_object(writer);
    acp_writer_key(writer, acp_text("sessionId"));
    acp_writer_string(writer, session);
    acp_writer_key(writer, acp_text("update"));
    acp_writer_begin_object(writer);
    acp_writer_key(writer, acp_text("sessionUpdate"));
    acp_writer_string(writer, acp_text(ACP_UPDATE_AGENT_MESSAGE_CHUNK));
    acp_writer_key(writer, acp_text("content"));
    acp_writer_begin_object(writer);
    acp_writer_key(writer, acp_text("type"));
    acp_writer_string(writer, acp_text("text"));
    acp_writer_key(writer, acp_text("text"));
    acp_writer_json(writer, text);
    acp_writer_end_object(writer);
    acp_writer_end_object(writer);
    acp_writer_end_object(writer);
    if (acp_writer_finish(writer, &update) == ACP_OK) {
        acp_connection_notify(client, acp_text(ACP_METHOD_SESSION_UPDATE), update);
    }
    acp_writer_free(writer);
    acp_connection_respond(client, serial, acp_text("{\"stopReason\":\"end_turn\"}"));
}

static void serve(acp_event *event)
{
    acp_slice method;
    uint64_t serial;
    char result[64];
    acp_event_method(event, &method);
    acp_event_serial(event, &serial);
    if (acp_equal(method, acp_text(ACP_METHOD_INITIALIZE))) {
        acp_connection_respond(client, serial, acp_text("{\"agentInfo\":{\"name\":\"echo\",\"version\":\"1.0\"}}"));
    } else if (acp_equal(method, acp_text(ACP_METHOD_SESSION_NEW))) {
        snprintf(result, sizeof result, "{\"sessionId\":\"session-%u\"}", ++sessions);
        acp_connection_respond(client, serial, acp_text(result));
    } else if (acp_equal(method, acp_text(ACP_METHOD_SESSION_PROMPT))) {
        prompt(event, serial);
    } else {
        acp_connection_respond_error(client, serial, ACP_CODE_METHOD_NOT_FOUND, acp_text("Not served"), acp_text(""));
    }
}

int main(void)
{
    acp_config *config = NULL;
    acp_event *event;
    acp_slice waiting;
    bool over = false;
    acp_config_new(ACP_ROLE_AGENT, &config);
    acp_connection_new(config, &client);
    acp_config_free(config);
    while (!over) {
        char bytes[16384];
        ssize_t size = read(STDIN_FILENO, bytes, sizeof bytes);
        if (size > 0) {
            acp_connection_receive(client, acp_bytes(bytes, (size_t)size));
        } else {
            acp_connection_receive_eof(client);
        }
        while (acp_connection_poll_event(client, &event) == ACP_OK) {
            int32_t kind = 0;
            acp_event_kind(event, &kind);
            if (kind == ACP_EVENT_REQUEST) {
                serve(event);
            }
            over = over || kind == ACP_EVENT_CLOSED;
            acp_event_free(event);
        }
        while (acp_connection_transmit(client, &waiting) == ACP_OK && waiting.len > 0) {
            ssize_t written = write(STDOUT_FILENO, waiting.data, waiting.len);
            acp_connection_consume(client, written < 0 ? waiting.len : (size_t)written);
        }
    }
    acp_connection_free(client);
    return 0;
}
