#define _POSIX_C_SOURCE 200809L

#include "agent.h"
#include "answers.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

// Milliseconds for what an agent does before it works.
#define PATIENCE 60000
// What is said to be possible.
#define READS "{\"fs\":{\"readTextFile\":true}}"
#define READS_AND_WRITES "{\"fs\":{\"readTextFile\":true,\"writeTextFile\":true}}"

uint64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

// How many bytes of a text begin with a character that steers a terminal, or turns the direction of what stands there: in
// UTF-8 one byte, two from U+0080 to U+009F and for U+061C, three for the marks of direction and U+2028 and U+2029.
static size_t hidden(const unsigned char *text, size_t len)
{
    const unsigned char second = len > 1 ? text[1] : 0, third = len > 2 ? text[2] : 0;
    switch (text[0]) {
    case 0xc2:
        return second >= 0x80 && second < 0xa0 ? 2 : 0;
    case 0xd8:
        return second == 0x9c ? 2 : 0;
    case 0xe2:
        return (second == 0x80 && (third == 0x8e || third == 0x8f || (third >= 0xa8 && third <= 0xae))) ||
                       (second == 0x81 && third >= 0xa6 && third <= 0xa9)
                   ? 3
                   : 0;
    default:
        return (text[0] < 0x20 && text[0] != '\t') || text[0] == 0x7f ? 1 : 0;
    }
}

// Agents are not to steer the user's terminal: where they send control characters, there is a `?`.
void agent_say(const agent *agent, const char *what, acp_slice text)
{
    printf("[%d %s] %s", agent->number, agent->command, what);
    for (size_t i = 0, skip; i < text.len; i += skip > 0 ? skip : 1) {
        skip = hidden((const unsigned char *)text.data + i, text.len - i);
        putchar(skip > 0 ? '?' : (unsigned char)text.data[i]);
    }
    putchar('\n');
}

static void fail(agent *agent, const char *what, acp_slice why)
{
    char line[128];
    snprintf(line, sizeof line, "failed: %s: ", what);
    if (agent->state != AGENT_FAILED) {
        agent_say(agent, line, why);
    }
    agent->state = AGENT_FAILED;
}

// Whether a call went well; if not, the agent has failed.
static bool check(agent *agent, acp_status status, const char *what)
{
    acp_slice message = acp_text(acp_status_name(status));
    if (status == ACP_MISUSE) {
        (void)acp_connection_error_message(agent->connection, &message);
    }
    if (status != ACP_OK) {
        fail(agent, what, message);
    }
    return status == ACP_OK;
}

static void buffer_add(buffer *buffer, acp_slice more)
{
    if (more.len > buffer->room - buffer->len) {
        buffer->room = 2 * buffer->room + more.len;
        buffer->data = realloc(buffer->data, buffer->room);
        if (buffer->data == NULL) {
            fputs("out of memory\n", stderr);
            exit(1);
        }
    }
    if (more.len > 0) {
        memcpy(buffer->data + buffer->len, more.data, more.len);
    }
    buffer->len += more.len;
}

// Words come in pieces that end anywhere, lines are shown whole.
static void add_words(agent *agent, acp_slice words)
{
    while (words.len > 0) {
        const char *end = memchr(words.data, '\n', words.len);
        size_t len = end == NULL ? words.len : (size_t)(end - words.data);
        buffer_add(&agent->line, acp_bytes(words.data, len));
        if (end == NULL) {
            return;
        }
        agent_say(agent, "", acp_bytes(agent->line.data, agent->line.len));
        agent->line.len = 0;
        words = acp_bytes(words.data + len + 1, words.len - len - 1);
    }
}

static void end_words(agent *agent)
{
    if (agent->line.len > 0) {
        add_words(agent, acp_text("\n"));
    }
}

static bool make_pipe(int ends[2])
{
    return pipe(ends) == 0 && fcntl(ends[0], F_SETFD, FD_CLOEXEC) == 0 && fcntl(ends[1], F_SETFD, FD_CLOEXEC) == 0;
}

static int start_process(agent *agent, char *const *command)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t defaults;
    int input[2] = {-1, -1}, output[2] = {-1, -1}, error;
    if (!make_pipe(input) || !make_pipe(output)) {
        return errno;
    }
    agent->out = input[1];
    agent->in = output[0];
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_adddup2(&files, input[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&files, output[1], STDOUT_FILENO);
    // A group of its own: Ctrl-C is for the editor, which tells its agents. What is ignored here is not to be so there.
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
    error = posix_spawnp(&agent->pid, command[0], &files, &attributes, command, environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    close(input[0]);
    close(output[1]);
    if (error != 0) {
        agent->pid = 0;
    } else if (fcntl(agent->in, F_SETFL, fcntl(agent->in, F_GETFL) | O_NONBLOCK) < 0 ||
               fcntl(agent->out, F_SETFL, fcntl(agent->out, F_GETFL) | O_NONBLOCK) < 0) {
        error = errno;
    }
    return error;
}

bool agent_start(agent *agent, const task *task, int number, char *const *command)
{
    const char *name = strrchr(command[0], '/');
    acp_config *config = NULL;
    int error;
    memset(agent, 0, sizeof *agent);
    agent->task = task;
    agent->number = number;
    agent->command = name == NULL ? command[0] : name + 1;
    agent->in = agent->out = -1;
    if (!check(agent, acp_config_new(ACP_ROLE_CLIENT, &config), "configuration") ||
        !check(agent, acp_config_set_timeout(config, PATIENCE), "configuration") ||
        !check(agent, acp_connection_new(config, &agent->connection), "connection")) {
        acp_config_free(config);
        return false;
    }
    acp_config_free(config);
    if ((error = start_process(agent, command)) != 0) {
        fail(agent, "start", acp_text(strerror(error)));
        return false;
    }
    check(agent, acp_connection_handle_timeout(agent->connection, now_ms()), "clock");
    return check(agent,
                 acp_client_initialize(agent->connection, acp_text("acp-editor"), acp_text("0.1.0"),
                                       acp_text(task->allow ? READS_AND_WRITES : READS), NULL),
                 ACP_METHOD_INITIALIZE);
}

// ANCHOR: template
// A turn takes as long as it takes, so not by `acp_client_prompt`, which has the patience of all requests.
static void send_prompt(agent *agent)
{
    const acp_value values[] = {acp_string_value(acp_string_slice(agent->session)), acp_text_value(agent->task->prompt)};
    const acp_slice form = acp_text("{'sessionId':?,'prompt':[{'type':'text','text':?}]}"), any_id = {NULL, 0};
    acp_writer *params = NULL;
    acp_slice text;
    if (check(agent, acp_writer_new(&params), "params") &&
        check(agent, acp_writer_template(params, form, values, 2), "params") &&
        check(agent, acp_writer_finish(params, &text), "params") &&
        check(agent,
              acp_connection_request_with(agent->connection, acp_text(ACP_METHOD_SESSION_PROMPT), text, any_id,
                                          ACP_NEVER, NULL),
              ACP_METHOD_SESSION_PROMPT)) {
        agent->state = AGENT_WORKING;
    }
    acp_writer_free(params);
}
// ANCHOR_END: template

// Shows a string of a message, one that it has.
static void show(agent *agent, acp_slice json, const char *pointer, void (*how)(struct agent *agent, acp_slice text))
{
    acp_string text = {NULL, 0};
    if (acp_json_string_copy(json, acp_text(pointer), &text) == ACP_OK) {
        how(agent, acp_string_slice(text));
    }
    acp_string_free(&text);
}

static void show_tool_call(agent *agent, acp_slice title)
{
    end_words(agent);
    agent_say(agent, "* ", title);
}

static void show_end(agent *agent, acp_slice reason)
{
    end_words(agent);
    agent_say(agent, "turn ended: ", reason);
}

// A request of the editor's has ended: the next step, or the end.
static void on_response(agent *agent, const acp_event *event)
{
    acp_slice method, result, message = {NULL, 0};
    int32_t outcome = 0;
    acp_event_method(event, &method);
    acp_event_outcome(event, &outcome);
    if (acp_event_result(event, &result) != ACP_OK) {
        char what[64];
        snprintf(what, sizeof what, "%.*s", (int)method.len, method.data);
        if (acp_event_error_message(event, &message) != ACP_OK) {
            message = acp_text(acp_outcome_name(outcome));
        }
        end_words(agent);
        fail(agent, what, message);
    } else if (acp_equal(method, acp_text(ACP_METHOD_INITIALIZE))) {
        check(agent, acp_client_new_session(agent->connection, acp_text(agent->task->folder), NULL),
              ACP_METHOD_SESSION_NEW);
    } else if (acp_equal(method, acp_text(ACP_METHOD_SESSION_NEW))) {
        if (check(agent, acp_json_string_copy(result, acp_text("/sessionId"), &agent->session), "session")) {
            send_prompt(agent);
        }
    } else if (acp_equal(method, acp_text(ACP_METHOD_SESSION_PROMPT))) {
        show(agent, result, "/stopReason", show_end);
        agent->state = AGENT_DONE;
    }
}

static void on_update(agent *agent, const acp_event *event)
{
    acp_slice kind = {NULL, 0}, params = {NULL, 0};
    if (acp_event_update(event, &kind) != ACP_OK || acp_event_params(event, &params) != ACP_OK) {
        return;
    }
    if (acp_equal(kind, acp_text(ACP_UPDATE_AGENT_MESSAGE_CHUNK))) {
        show(agent, params, "/update/content/text", add_words);
    } else if (acp_equal(kind, acp_text(ACP_UPDATE_TOOL_CALL))) {
        show(agent, params, "/update/title", show_tool_call);
    }
    titles_take(&agent->titles, params);
}

static void on_event(agent *agent, const acp_event *event)
{
    int32_t kind = 0;
    char line[64];
    acp_slice rule = {NULL, 0}, message = {NULL, 0};
    acp_event_kind(event, &kind);
    switch (kind) {
    case ACP_EVENT_REQUEST:
        if (answer(agent, event) != ACP_OK) {
            uint64_t serial = 0;
            acp_event_serial(event, &serial);
            check(agent, acp_connection_respond_refused(agent->connection, serial), "answer");
        }
        break;
    case ACP_EVENT_NOTIFICATION:
        on_update(agent, event);
        break;
    case ACP_EVENT_RESPONSE:
        on_response(agent, event);
        break;
    case ACP_EVENT_VIOLATION:
    case ACP_EVENT_ADVICE:
        acp_event_rule(event, &rule);
        acp_event_message(event, &message);
        snprintf(line, sizeof line, "%s %.*s: ", kind == ACP_EVENT_ADVICE ? "note" : "broke", (int)rule.len, rule.data);
        agent_say(agent, line, message);
        break;
    case ACP_EVENT_CLOSED:
        if (agent->state != AGENT_DONE) {
            fail(agent, "connection", acp_text("the agent has closed it"));
        }
        break;
    default: // All requests are answered at once, so none is cancelled.
        break;
    }
}

void agent_watch(const agent *agent, struct pollfd fds[AGENT_FDS])
{
    acp_slice waits = {NULL, 0};
    (void)acp_connection_transmit(agent->connection, &waits);
    fds[0].fd = agent->in;
    fds[0].events = POLLIN;
    fds[1].fd = waits.len > 0 ? agent->out : -1;
    fds[1].events = POLLOUT;
    fds[0].revents = fds[1].revents = 0;
}

bool agent_deadline(const agent *agent, uint64_t *out)
{
    return acp_connection_poll_timeout(agent->connection, out) == ACP_OK;
}

static void read_some(agent *agent)
{
    static char block[65536];
    ssize_t count = read(agent->in, block, sizeof block);
    if (count > 0) {
        check(agent, acp_connection_receive(agent->connection, acp_bytes(block, (size_t)count)), "receive");
    } else if (count == 0 || (errno != EAGAIN && errno != EINTR)) {
        check(agent, acp_connection_receive_eof(agent->connection), "receive");
        close(agent->in);
        agent->in = -1;
    }
}

static void write_some(agent *agent)
{
    acp_slice waits = {NULL, 0};
    (void)acp_connection_transmit(agent->connection, &waits);
    ssize_t count = write(agent->out, waits.data, waits.len);
    if (count > 0) {
        check(agent, acp_connection_consume(agent->connection, (size_t)count), "consume");
    } else if (count < 0 && errno != EAGAIN && errno != EINTR) {
        close(agent->out);
        agent->out = -1;
    }
}

void agent_serve(agent *agent, const struct pollfd fds[AGENT_FDS])
{
    acp_event *event = NULL;
    if (fds[1].revents != 0) {
        write_some(agent);
    }
    if (fds[0].revents != 0) {
        read_some(agent);
    }
    check(agent, acp_connection_handle_timeout(agent->connection, now_ms()), "clock");
    while (acp_connection_poll_event(agent->connection, &event) == ACP_OK) {
        on_event(agent, event);
        acp_event_free(event);
    }
}

void agent_cancel(agent *agent)
{
    if (agent->state == AGENT_WORKING) {
        check(agent, acp_client_cancel(agent->connection, acp_string_slice(agent->session)), "cancel");
    }
}

void agent_stop(agent *agent)
{
    static const int signals[] = {SIGTERM, SIGKILL};
    int status;
    if (agent->out >= 0) {
        close(agent->out);
    }
    // The end of its input is an agent's sign to end; one that does not is made to, with all that it has started.
    bool ended = agent->pid <= 0;
    for (size_t i = 0; i < 2 && !ended; i++) {
        for (int waited = 0; !ended && waited < 400; waited += 5) {
            ended = waitpid(agent->pid, &status, WNOHANG) != 0;
            poll(NULL, 0, ended ? 0 : 5);
        }
        kill(-agent->pid, signals[i]);
    }
    if (agent->pid > 0) {
        kill(-agent->pid, SIGKILL);
        waitpid(agent->pid, &status, 0);
        agent->pid = 0;
    }
    if (agent->in >= 0) {
        close(agent->in);
    }
    acp_connection_free(agent->connection);
    acp_string_free(&agent->session);
    titles_free(&agent->titles);
    free(agent->line.data);
}
