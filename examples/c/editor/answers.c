#include "answers.h"

#include <stdio.h>
#include <stdlib.h>

static void *room_for(void *data, size_t room)
{
    data = realloc(data, room);
    if (data == NULL) {
        fputs("out of memory\n", stderr);
        exit(1);
    }
    return data;
}

void buffer_add(buffer *buffer, acp_slice more)
{
    if (more.len > buffer->room - buffer->len) {
        buffer->room = 2 * buffer->room + more.len;
        buffer->data = room_for(buffer->data, buffer->room);
    }
    if (more.len > 0) {
        memcpy(buffer->data + buffer->len, more.data, more.len);
    }
    buffer->len += more.len;
}

acp_slice buffer_slice(const buffer *buffer)
{
    return acp_bytes(buffer->data, buffer->len);
}

void buffer_free(buffer *buffer)
{
    free(buffer->data);
    memset(buffer, 0, sizeof *buffer);
}

buffer json_string(acp_slice json, const char *pointer)
{
    buffer string = {NULL, 0, 0};
    size_t len = 0;
    if (acp_json_string(json, acp_text(pointer), NULL, 0, &len) == ACP_SHORT_BUFFER) {
        string.data = room_for(NULL, len);
        string.room = len;
        if (acp_json_string(json, acp_text(pointer), string.data, len, &len) == ACP_OK) {
            string.len = len;
        }
    }
    return string;
}

// What a request that cannot be served is answered with.
typedef struct problem {
    int32_t code;
    char message[256];
} problem;

// A writer takes pieces in any order and says at the end whether they were JSON, so that only that is looked at.

static void member(acp_writer *writer, const char *name, acp_slice value)
{
    acp_writer_key(writer, acp_text(name));
    acp_writer_string(writer, value);
}

static acp_writer *begin(void)
{
    acp_writer *writer = NULL;
    (void)acp_writer_new(&writer);
    acp_writer_begin_object(writer);
    return writer;
}

// What was written; empty, which no call takes, when it is no JSON.
static buffer end(acp_writer *writer)
{
    buffer text = {NULL, 0, 0};
    acp_slice written;
    acp_writer_end_object(writer);
    if (acp_writer_finish(writer, &written) == ACP_OK) {
        buffer_add(&text, written);
    }
    acp_writer_free(writer);
    return text;
}

buffer session_params(const agent *agent)
{
    acp_writer *writer = begin();
    member(writer, "cwd", acp_text(agent->task->folder));
    acp_writer_key(writer, acp_text("mcpServers"));
    acp_writer_begin_array(writer);
    acp_writer_end_array(writer);
    return end(writer);
}

buffer prompt_params(const agent *agent)
{
    acp_writer *writer = begin();
    member(writer, "sessionId", buffer_slice(&agent->session));
    acp_writer_key(writer, acp_text("prompt"));
    acp_writer_begin_array(writer);
    acp_writer_begin_object(writer);
    member(writer, "type", acp_text(ACP_CONTENT_TEXT));
    member(writer, "text", acp_text(agent->task->prompt));
    acp_writer_end_object(writer);
    acp_writer_end_array(writer);
    return end(writer);
}

buffer cancel_params(const agent *agent)
{
    acp_writer *writer = begin();
    member(writer, "sessionId", buffer_slice(&agent->session));
    return end(writer);
}

// The first option of the kind that the task gives; without one, the question is not answered.
static buffer permission(const agent *agent, acp_slice params, problem *problem)
{
    (void)problem;
    const char *wanted = agent->task->allow ? ACP_PERMISSION_ALLOW_ONCE : ACP_PERMISSION_REJECT_ONCE;
    acp_writer *writer = begin();
    acp_items *options = NULL;
    size_t len = 0, chosen = 0;
    bool found = false;
    acp_slice option = {NULL, 0};
    if (acp_json_items(params, acp_text("/options"), &options) == ACP_OK) {
        (void)acp_items_len(options, &len);
    }
    for (; chosen < len && !found; chosen++) {
        (void)acp_items_value(options, chosen, &option);
        (void)acp_json_string_is(option, acp_text("/kind"), acp_text(wanted), &found);
    }
    acp_items_free(options);
    acp_writer_key(writer, acp_text("outcome"));
    acp_writer_begin_object(writer);
    member(writer, "outcome", acp_text(found ? ACP_OUTCOME_SELECTED : ACP_OUTCOME_CANCELLED));
    if (found) {
        buffer id = json_string(option, "/optionId");
        member(writer, "optionId", buffer_slice(&id));
        buffer_free(&id);
    }
    acp_writer_end_object(writer);
    return end(writer);
}

// A result that says nothing, as what could not be done has.
static const buffer none = {NULL, 0, 0};

// The problem that an answer holds, for the answer to the agent. Frees it.
static buffer failed(acp_files_answer *answer, problem *problem)
{
    acp_slice message;
    if (acp_files_answer_code(answer, &problem->code) == ACP_OK &&
        acp_files_answer_message(answer, &message) == ACP_OK && message.len < sizeof problem->message) {
        memcpy(problem->message, message.data, message.len);
        problem->message[message.len] = '\0';
    }
    acp_files_answer_free(answer);
    return none;
}

static buffer read_file(const agent *agent, acp_slice params, problem *problem)
{
    uint64_t line = 1, limit = UINT64_MAX;
    acp_slice text;
    acp_files_answer *answer = NULL;
    buffer path = json_string(params, "/path");
    (void)acp_json_uint64(params, acp_text("/line"), &line);
    (void)acp_json_uint64(params, acp_text("/limit"), &limit);
    acp_status status = acp_files_read(agent->task->files, buffer_slice(&path), line, limit, &answer);
    buffer_free(&path);
    if (status != ACP_OK || acp_files_answer_text(answer, &text) != ACP_OK) {
        return failed(answer, problem);
    }
    acp_writer *writer = begin();
    member(writer, "content", text);
    acp_files_answer_free(answer);
    return end(writer);
}

static buffer write_file(const agent *agent, acp_slice params, problem *problem)
{
    acp_slice text;
    acp_files_answer *answer = NULL;
    buffer result = none;
    if (!agent->task->allow) {
        return none;
    }
    buffer path = json_string(params, "/path"), content = json_string(params, "/content");
    acp_status status =
        acp_files_write(agent->task->files, buffer_slice(&path), buffer_slice(&content), &answer);
    buffer_free(&path);
    buffer_free(&content);
    if (status != ACP_OK || acp_files_answer_text(answer, &text) != ACP_OK) {
        return failed(answer, problem);
    }
    acp_files_answer_free(answer);
    buffer_add(&result, acp_text("{}"));
    return result;
}

acp_status answer(agent *agent, const acp_event *event)
{
    static const struct {
        const char *method;
        // The result; empty when it cannot be done.
        buffer (*serve)(const struct agent *agent, acp_slice params, problem *problem);
    } served[] = {
        {ACP_METHOD_SESSION_REQUEST_PERMISSION, permission},
        {ACP_METHOD_FS_READ_TEXT_FILE, read_file},
        {ACP_METHOD_FS_WRITE_TEXT_FILE, write_file},
    };
    const acp_slice no_data = {NULL, 0};
    problem problem = {ACP_CODE_INVALID_PARAMS, "the file cannot be used"};
    acp_slice method, params;
    uint64_t serial;
    acp_event_method(event, &method);
    acp_event_params(event, &params);
    acp_event_serial(event, &serial);
    for (size_t i = 0; i < sizeof served / sizeof *served; i++) {
        if (acp_equal(method, acp_text(served[i].method))) {
            buffer result = served[i].serve(agent, params, &problem);
            acp_status status =
                result.len > 0 ? acp_connection_respond(agent->connection, serial, buffer_slice(&result))
                               : acp_connection_respond_error(agent->connection, serial, problem.code,
                                                              acp_text(problem.message), no_data);
            buffer_free(&result);
            return status;
        }
    }
    return acp_connection_respond_error(agent->connection, serial, ACP_CODE_METHOD_NOT_FOUND,
                                        acp_text("this editor does not serve the method"), no_data);
}
