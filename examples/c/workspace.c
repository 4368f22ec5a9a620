#define _POSIX_C_SOURCE 200809L

#include "workspace.h"

#include <acp_files.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

// A terminal uses the watch of the same index; a process id of 0 means that there is none.
static struct terminal {
    int pid;
    uint64_t limit;
    bool ended;
    int status;
} terminals[WATCHES];

static size_t created;

// What the agent may read and write.
static acp_files *files;

void workspace_begin(const char *folder)
{
    acp_slice root = acp_text(folder);
    need(acp_files_new(&root, 1, 0, NULL, NULL, &files), folder);
}

// A copy that ends with NUL, for the system; never freed where a program is started with it.
static char *c_string(acp_slice json, const char *pointer)
{
    text value = json_text(json, pointer);
    text_add(&value, acp_bytes("", 1));
    if (strlen(value.data) + 1 != value.len) {
        fail("%s: a NUL inside", pointer);
    }
    return value.data;
}

static text object_with(const char *name, acp_slice value)
{
    acp_writer *writer = new_writer();
    need(acp_writer_begin_object(writer), name);
    write_member(writer, name, value);
    need(acp_writer_end_object(writer), name);
    return written(writer);
}

// What an answer holds; a request that fails ends the program, as the script has none.
static text taken(acp_status status, acp_files_answer *answer, const char *what)
{
    acp_slice held = {NULL, 0};
    text result = {0};
    need(status, what);
    if (acp_files_answer_message(answer, &held) == ACP_OK) {
        fail("%s: %.*s", what, (int)held.len, held.data);
    }
    need(acp_files_answer_text(answer, &held), what);
    text_add(&result, held);
    acp_files_answer_free(answer);
    return result;
}

static text read_text_file(acp_slice params)
{
    text path = json_text(params, "/path");
    uint64_t line = json_number(params, "/line", 1), limit = json_number(params, "/limit", UINT64_MAX);
    acp_files_answer *answer = NULL;
    acp_status status = acp_files_read(files, text_slice(&path), line, limit, &answer);
    text all = taken(status, answer, "a file to read"), result = object_with("content", text_slice(&all));
    text_free(&all);
    text_free(&path);
    return result;
}

static text write_text_file(acp_slice params)
{
    text path = json_text(params, "/path"), content = json_text(params, "/content"), result = {0};
    acp_files_answer *answer = NULL;
    acp_status status = acp_files_write(files, text_slice(&path), text_slice(&content), &answer);
    text nothing = taken(status, answer, "a file to write");
    text_add(&result, acp_text("{}"));
    text_free(&nothing);
    text_free(&content);
    text_free(&path);
    return result;
}

static text request_permission(acp_slice params)
{
    size_t len = 0;
    acp_items *options = json_items(json_get(params, "/options"), &len);
    acp_writer *writer = new_writer();
    bool selected = false;
    need(acp_writer_begin_object(writer), "outcome");
    need(acp_writer_key(writer, acp_text("outcome")), "outcome");
    need(acp_writer_begin_object(writer), "outcome");
    for (size_t i = 0; i < len && !selected; i++) {
        if (json_is(item_value(options, i), "/kind", ACP_PERMISSION_ALLOW_ONCE)) {
            text id = json_text(item_value(options, i), "/optionId");
            write_member(writer, "outcome", acp_text(ACP_OUTCOME_SELECTED));
            write_member(writer, "optionId", text_slice(&id));
            text_free(&id);
            selected = true;
        }
    }
    if (!selected) {
        write_member(writer, "outcome", acp_text(ACP_OUTCOME_CANCELLED));
    }
    need(acp_writer_end_object(writer), "outcome");
    need(acp_writer_end_object(writer), "outcome");
    acp_items_free(options);
    return written(writer);
}

static void close_on_exec(const int pipe[2])
{
    if (fcntl(pipe[0], F_SETFD, FD_CLOEXEC) < 0 || fcntl(pipe[1], F_SETFD, FD_CLOEXEC) < 0) {
        fail("a pipe: %s", strerror(errno));
    }
}

int start_program(char *const *arguments, int *to, int *from)
{
    int input[2], output[2];
    if (pipe(input) != 0 || pipe(output) != 0) {
        fail("a pipe: %s", strerror(errno));
    }
    close_on_exec(input);
    close_on_exec(output);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(input[0], STDIN_FILENO);
        dup2(output[1], STDOUT_FILENO);
        execvp(arguments[0], arguments);
        fprintf(stderr, "%s: %s\n", arguments[0], strerror(errno));
        _exit(127);
    }
    if (pid < 0) {
        fail("fork: %s", strerror(errno));
    }
    close(input[0]);
    close(output[1]);
    *to = input[1];
    *from = output[0];
    return pid;
}

// In the child: becomes the command.
static void become(acp_slice params, int out)
{
    size_t len = 0;
    acp_slice list;
    int in = open("/dev/null", O_RDONLY);
    dup2(in, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    dup2(out, STDERR_FILENO);
    if (json_at(params, "/cwd", &list)) {
        if (chdir(c_string(list, "")) != 0) {
            _exit(127);
        }
    }
    if (json_at(params, "/env", &list)) {
        acp_items *pairs = json_items(list, &len);
        for (size_t i = 0; i < len; i++) {
            setenv(c_string(item_value(pairs, i), "/name"), c_string(item_value(pairs, i), "/value"), 1);
        }
        acp_items_free(pairs);
    }
    acp_items *rest = NULL;
    len = 0;
    if (json_at(params, "/args", &list)) {
        rest = json_items(list, &len);
    }
    char **arguments = calloc(len + 2, sizeof *arguments);
    if (arguments == NULL) {
        _exit(127);
    }
    arguments[0] = c_string(params, "/command");
    for (size_t i = 0; i < len; i++) {
        arguments[i + 1] = c_string(item_value(rest, i), "");
    }
    execvp(arguments[0], arguments);
    _exit(127);
}

static text terminal_create(host *host, acp_slice params)
{
    int output[2];
    size_t index = created++;
    if (index >= WATCHES || pipe(output) != 0) {
        fail("no room for another terminal");
    }
    close_on_exec(output);
    pid_t pid = fork();
    if (pid == 0) {
        become(params, output[1]);
    }
    if (pid < 0) {
        fail("fork: %s", strerror(errno));
    }
    close(output[1]);
    host->watches[index].fd = output[0];
    terminals[index].pid = pid;
    terminals[index].limit = json_number(params, "/outputByteLimit", UINT64_MAX);
    char name[32];
    snprintf(name, sizeof name, "term-%zu", index + 1);
    return object_with("terminalId", acp_text(name));
}

static size_t terminal_index(acp_slice params)
{
    for (size_t i = 0; i < created; i++) {
        char name[32];
        snprintf(name, sizeof name, "term-%zu", i + 1);
        if (json_is(params, "/terminalId", name) && terminals[i].pid != 0) {
            return i;
        }
    }
    fail("/terminalId: no such terminal");
    return 0;
}

static void wait_for(host *host, size_t index)
{
    struct terminal *terminal = &terminals[index];
    while (host->watches[index].fd >= 0) {
        host_step(host, false);
    }
    if (!terminal->ended && waitpid(terminal->pid, &terminal->status, 0) != terminal->pid) {
        fail("waitpid: %s", strerror(errno));
    }
    terminal->ended = true;
}

// The members of an exit status, into an object that is begun.
static void write_status(acp_writer *writer, const struct terminal *terminal)
{
    if (WIFEXITED(terminal->status)) {
        need(acp_writer_key(writer, acp_text("exitCode")), "exitCode");
        need(acp_writer_int64(writer, WEXITSTATUS(terminal->status)), "exitCode");
    } else {
        char number[16];
        snprintf(number, sizeof number, "%d", WTERMSIG(terminal->status));
        write_member(writer, "signal", acp_text(number));
    }
}

static text terminal_wait(host *host, acp_slice params)
{
    size_t index = terminal_index(params);
    wait_for(host, index);
    acp_writer *writer = new_writer();
    need(acp_writer_begin_object(writer), "status");
    write_status(writer, &terminals[index]);
    need(acp_writer_end_object(writer), "status");
    return written(writer);
}

static text terminal_output(host *host, acp_slice params)
{
    size_t index = terminal_index(params);
    acp_slice all = text_slice(&host->watches[index].all);
    bool truncated = all.len > terminals[index].limit;
    if (truncated) {
        all = acp_bytes(all.data + (all.len - (size_t)terminals[index].limit), (size_t)terminals[index].limit);
        // Not from inside a character.
        while (all.len > 0 && ((unsigned char)all.data[0] & 0xc0) == 0x80) {
            all = acp_bytes(all.data + 1, all.len - 1);
        }
    }
    acp_writer *writer = new_writer();
    need(acp_writer_begin_object(writer), "output");
    write_member(writer, "output", all);
    need(acp_writer_key(writer, acp_text("truncated")), "truncated");
    need(acp_writer_bool(writer, truncated), "truncated");
    if (terminals[index].ended) {
        need(acp_writer_key(writer, acp_text("exitStatus")), "exitStatus");
        need(acp_writer_begin_object(writer), "exitStatus");
        write_status(writer, &terminals[index]);
        need(acp_writer_end_object(writer), "exitStatus");
    }
    need(acp_writer_end_object(writer), "output");
    return written(writer);
}

static text terminal_release(host *host, acp_slice params)
{
    size_t index = terminal_index(params);
    text result = {0};
    wait_for(host, index);
    text_free(&host->watches[index].all);
    terminals[index].pid = 0;
    text_add(&result, acp_text("{}"));
    return result;
}

text workspace_perform(player *player, acp_slice method, acp_slice params, acp_slice expected)
{
    static const struct {
        const char *method;
        text (*perform)(acp_slice params);
        text (*with_host)(host *host, acp_slice params);
    } methods[] = {
        {ACP_METHOD_FS_READ_TEXT_FILE, read_text_file, NULL},
        {ACP_METHOD_FS_WRITE_TEXT_FILE, write_text_file, NULL},
        {ACP_METHOD_SESSION_REQUEST_PERMISSION, request_permission, NULL},
        {ACP_METHOD_TERMINAL_CREATE, NULL, terminal_create},
        {ACP_METHOD_TERMINAL_WAIT_FOR_EXIT, NULL, terminal_wait},
        {ACP_METHOD_TERMINAL_OUTPUT, NULL, terminal_output},
        {ACP_METHOD_TERMINAL_RELEASE, NULL, terminal_release},
    };
    text result = {0};
    (void)expected;
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        if (acp_equal(method, acp_text(methods[i].method))) {
            return methods[i].perform != NULL ? methods[i].perform(params)
                                              : methods[i].with_host(&player->host, params);
        }
    }
    if (method.data[0] != '_') {
        fail("%.*s is not served", (int)method.len, method.data);
    }
    text_add(&result, params);
    return result;
}

void workspace_end(void)
{
    acp_files_free(files);
    for (size_t i = 0; i < created; i++) {
        if (terminals[i].pid != 0) {
            fail("term-%zu was not released", i + 1);
        }
    }
}
