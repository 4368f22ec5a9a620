#define _XOPEN_SOURCE 700

#include "answers.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

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
static buffer permission(const agent *agent, acp_slice params)
{
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

// Opens the file that a request names, if it is in the task's folder. What links lead to counts, not what they are
// called; a file that is to be written need not be there yet, its folder must.
static FILE *open_file(const agent *agent, acp_slice params, bool writing)
{
    char real[PATH_MAX];
    struct stat about;
    buffer path = json_string(params, "/path");
    const char *folder = agent->task->folder, *name;
    FILE *file = NULL;
    buffer_add(&path, acp_bytes("", 1));
    bool there = realpath(path.data, real) != NULL;
    if (!there && writing && (name = strrchr(path.data, '/')) != NULL && name[1] != '\0' && strcmp(name, "/..") != 0 &&
        lstat(path.data, &about) != 0) {
        size_t len = (size_t)(name - path.data), taken;
        path.data[len] = '\0';
        if (realpath(path.data, real) != NULL && (taken = strlen(real)) + strlen(name + 1) + 2 <= sizeof real) {
            snprintf(real + taken, sizeof real - taken, "/%s", name + 1);
            there = true;
        }
    }
    if (there && strncmp(real, folder, strlen(folder)) == 0 && real[strlen(folder)] == '/' &&
        (stat(real, &about) == 0 ? S_ISREG(about.st_mode) : writing)) {
        file = fopen(real, writing ? "wb" : "rb");
    }
    buffer_free(&path);
    return file;
}

// All lines, or `limit` of them from the line `line` on, counted from 1.
static buffer read_lines(FILE *file, uint64_t line, uint64_t limit)
{
    buffer text = {NULL, 0, 0};
    uint64_t at = 1;
    for (int next; (next = getc(file)) != EOF; at += next == '\n') {
        if (at >= line && at - line < limit) {
            char byte = (char)next;
            buffer_add(&text, acp_bytes(&byte, 1));
        }
    }
    return text;
}

static buffer read_file(const agent *agent, acp_slice params)
{
    uint64_t line = 1, limit = UINT64_MAX;
    FILE *file = open_file(agent, params, false);
    buffer none = {NULL, 0, 0};
    if (file == NULL) {
        return none;
    }
    (void)acp_json_uint64(params, acp_text("/line"), &line);
    (void)acp_json_uint64(params, acp_text("/limit"), &limit);
    buffer text = read_lines(file, line, limit);
    acp_writer *writer = begin();
    member(writer, "content", buffer_slice(&text));
    fclose(file);
    buffer_free(&text);
    return end(writer);
}

static buffer write_file(const agent *agent, acp_slice params)
{
    buffer result = {NULL, 0, 0}, content = json_string(params, "/content");
    FILE *file = agent->task->allow ? open_file(agent, params, true) : NULL;
    if (file != NULL) {
        bool whole = content.len == 0 || fwrite(content.data, content.len, 1, file) == 1;
        if (fclose(file) == 0 && whole) {
            buffer_add(&result, acp_text("{}"));
        }
    }
    buffer_free(&content);
    return result;
}

acp_status answer(agent *agent, const acp_event *event)
{
    static const struct {
        const char *method;
        // The result; empty when it cannot be done.
        buffer (*serve)(const struct agent *agent, acp_slice params);
    } served[] = {
        {ACP_METHOD_SESSION_REQUEST_PERMISSION, permission},
        {ACP_METHOD_FS_READ_TEXT_FILE, read_file},
        {ACP_METHOD_FS_WRITE_TEXT_FILE, write_file},
    };
    const acp_slice no_data = {NULL, 0};
    acp_slice method, params;
    uint64_t serial;
    acp_event_method(event, &method);
    acp_event_params(event, &params);
    acp_event_serial(event, &serial);
    for (size_t i = 0; i < sizeof served / sizeof *served; i++) {
        if (acp_equal(method, acp_text(served[i].method))) {
            buffer result = served[i].serve(agent, params);
            acp_status status =
                result.len > 0 ? acp_connection_respond(agent->connection, serial, buffer_slice(&result))
                               : acp_connection_respond_error(agent->connection, serial, ACP_CODE_INVALID_PARAMS,
                                                              acp_text("the file cannot be used"), no_data);
            buffer_free(&result);
            return status;
        }
    }
    return acp_connection_respond_error(agent->connection, serial, ACP_CODE_METHOD_NOT_FOUND,
                                        acp_text("this editor does not serve the method"), no_data);
}
