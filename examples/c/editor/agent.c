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
#define READS "{\"clientCapabilities\":{\"fs\":{\"readTextFile\":true}}}"
#define READS_AND_WRITES "{\"clientCapabilities\":{\"fs\":{\"readTextFile\":true,\"writeTextFile\":true}}}"

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

// Prints one line with the agent's name in front. Agents are not to steer the user's terminal: where they send control
// characters, there is a `?`.
static void say(const agent *agent, const char *what, acp_slice text)
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
        say(agent, line, why);
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
        say(agent, "", buffer_slice(&agent->line));
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
    // A group of its own: Ctrl-C is for the editor, which tells its agents.
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
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

static bool request(agent *agent, const char *method, acp_slice params, uint64_t timeout)
{
    const acp_slice any_id = {NULL, 0};
    uint64_t serial;
    return check(agent,
                 acp_connection_request_with(agent->connection, acp_text(method), params, any_id, timeout, &serial),
                 method);
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
    if (acp_config_new(ACP_ROLE_CLIENT, &config) == ACP_OK) {
        (void)acp_connection_new(config, &agent->connection);
        acp_config_free(config);
    }
    if ((error = start_process(agent, command)) != 0) {
        fail(agent, "start", acp_text(strerror(error)));
        return false;
    }
    check(agent, acp_connection_handle_timeout(agent->connection, now_ms()), "clock");
    return request(agent, ACP_METHOD_INITIALIZE,
                   acp_text(task->allow ? READS_AND_WRITES : READS), PATIENCE);
}

static void send_prompt(agent *agent)
{
    buffer params = prompt_params(agent);
    if (request(agent, ACP_METHOD_SESSION_PROMPT, buffer_slice(&params), ACP_UNSET)) {
        agent->state = AGENT_WORKING;
    }
    buffer_free(&params);
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
        buffer params = session_params(agent);
        request(agent, ACP_METHOD_SESSION_NEW, buffer_slice(&params), PATIENCE);
        buffer_free(&params);
    } else if (acp_equal(method, acp_text(ACP_METHOD_SESSION_NEW))) {
        agent->session = json_string(result, "/sessionId");
        send_prompt(agent);
    } else if (acp_equal(method, acp_text(ACP_METHOD_SESSION_PROMPT))) {
        buffer reason = json_string(result, "/stopReason");
        end_words(agent);
        say(agent, "turn ended: ", buffer_slice(&reason));
        buffer_free(&reason);
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
        buffer words = json_string(params, "/update/content/text");
        add_words(agent, buffer_slice(&words));
        buffer_free(&words);
    } else if (acp_equal(kind, acp_text(ACP_UPDATE_TOOL_CALL))) {
        buffer title = json_string(params, "/update/title");
        end_words(agent);
        say(agent, "* ", buffer_slice(&title));
        buffer_free(&title);
    }
}

static void on_event(agent *agent, const acp_event *event)
{
    int32_t kind = 0;
    char line[64];
    acp_slice rule = {NULL, 0}, message = {NULL, 0};
    acp_event_kind(event, &kind);
    switch (kind) {
    case ACP_EVENT_REQUEST:
        check(agent, answer(agent, event), "answer");
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
        say(agent, line, message);
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
    buffer params = cancel_params(agent);
    if (agent->state == AGENT_WORKING) {
        check(agent,
              acp_connection_notify(agent->connection, acp_text(ACP_METHOD_SESSION_CANCEL), buffer_slice(&params)),
              "cancel");
    }
    buffer_free(&params);
}

void agent_stop(agent *agent)
{
    static const int signals[] = {SIGTERM, SIGKILL};
    int status;
    if (agent->out >= 0) {
        close(agent->out);
    }
    // The end of its input is an agent's sign to end; one that does not is made to.
    for (size_t i = 0; agent->pid > 0; i++) {
        for (int waited = 0; agent->pid > 0 && waited < 2000; waited += 5) {
            if (waitpid(agent->pid, &status, WNOHANG) != 0) {
                agent->pid = 0;
            } else {
                poll(NULL, 0, 5);
            }
        }
        if (agent->pid > 0) {
            kill(-agent->pid, signals[i < 1 ? 0 : 1]);
        }
    }
    if (agent->in >= 0) {
        close(agent->in);
    }
    acp_connection_free(agent->connection);
    buffer_free(&agent->session);
    buffer_free(&agent->line);
}
