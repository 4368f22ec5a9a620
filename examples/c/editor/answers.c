#include "answers.h"

// The first option of the kind that the task gives; without one, the question is not answered. A user would be asked here,
// with the title in the question.
static acp_status permission(const agent *agent, uint64_t serial, acp_slice params)
{
    const char *wanted = agent->task->allow ? ACP_PERMISSION_ALLOW_ONCE : ACP_PERMISSION_REJECT_ONCE;
    acp_items *options = NULL;
    acp_slice option = {NULL, 0};
    acp_string chosen = {NULL, 0}, title = titles_of(&agent->titles, params);
    size_t len = 0;
    bool found = false;
    agent_say(agent, agent->task->allow ? "? allowed: " : "? rejected: ", acp_string_slice(title));
    acp_string_free(&title);
    if (acp_json_items(params, acp_text("/options"), &options) == ACP_OK) {
        (void)acp_items_len(options, &len);
    }
    for (size_t i = 0; i < len && !found; i++) {
        (void)acp_items_value(options, i, &option);
        (void)acp_json_string_is(option, acp_text("/kind"), acp_text(wanted), &found);
    }
    acp_status status = found ? acp_json_string_copy(option, acp_text("/optionId"), &chosen) : ACP_OK;
    if (status == ACP_OK) {
        status = acp_client_answer_permission(agent->connection, serial, acp_string_slice(chosen));
    }
    acp_string_free(&chosen);
    acp_items_free(options);
    return status;
}

// ANCHOR: files
// Answers with what has become of a file: its text where it was read, an empty result where it was written, or why not.
static acp_status file(const agent *agent, uint64_t serial, acp_files_answer *answer, bool read)
{
    const acp_slice no_data = {NULL, 0};
    acp_slice text = {NULL, 0}, message = acp_text("the file cannot be used");
    int32_t code = ACP_CODE_INVALID_PARAMS;
    acp_status status;
    if (answer != NULL && acp_files_answer_text(answer, &text) == ACP_OK) {
        status = read ? acp_client_answer_file(agent->connection, serial, text)
                      : acp_connection_respond(agent->connection, serial, acp_text("{}"));
    } else {
        (void)acp_files_answer_code(answer, &code);
        (void)acp_files_answer_message(answer, &message);
        status = acp_connection_respond_error(agent->connection, serial, code, message, no_data);
    }
    acp_files_answer_free(answer);
    return status;
}

static acp_status read_file(const agent *agent, uint64_t serial, acp_slice params)
{
    uint64_t line = 1, limit = UINT64_MAX;
    acp_files_answer *answer = NULL;
    acp_string path = {NULL, 0};
    (void)acp_json_uint64(params, acp_text("/line"), &line);
    (void)acp_json_uint64(params, acp_text("/limit"), &limit);
    if (acp_json_string_copy(params, acp_text("/path"), &path) == ACP_OK) {
        (void)acp_files_read(agent->task->files, acp_string_slice(path), line, limit, &answer);
    }
    acp_string_free(&path);
    return file(agent, serial, answer, true);
}

static acp_status write_file(const agent *agent, uint64_t serial, acp_slice params)
{
    acp_files_answer *answer = NULL;
    acp_string path = {NULL, 0}, content = {NULL, 0};
    if (acp_json_string_copy(params, acp_text("/path"), &path) == ACP_OK &&
        acp_json_string_copy(params, acp_text("/content"), &content) == ACP_OK) {
        (void)acp_files_write(agent->task->files, acp_string_slice(path), acp_string_slice(content), &answer);
    }
    acp_string_free(&path);
    acp_string_free(&content);
    return file(agent, serial, answer, false);
}

// ANCHOR_END: files
acp_status answer(const agent *agent, const acp_event *event)
{
    static const struct {
        const char *method;
        acp_status (*serve)(const struct agent *agent, uint64_t serial, acp_slice params);
    } served[] = {
        {ACP_METHOD_SESSION_REQUEST_PERMISSION, permission},
        {ACP_METHOD_FS_READ_TEXT_FILE, read_file},
        {ACP_METHOD_FS_WRITE_TEXT_FILE, write_file},
    };
    acp_slice method = {NULL, 0}, params = {NULL, 0};
    uint64_t serial = 0;
    acp_event_method(event, &method);
    acp_event_params(event, &params);
    acp_event_serial(event, &serial);
    for (size_t i = 0; i < sizeof served / sizeof *served; i++) {
        if (acp_equal(method, acp_text(served[i].method))) {
            return served[i].serve(agent, serial, params);
        }
    }
    return acp_connection_respond_not_served(agent->connection, serial);
}
