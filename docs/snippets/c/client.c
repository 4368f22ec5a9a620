// A client: `client AGENT [ARGUMENT...]` starts an agent, gives it what stands on standard input as a prompt, and prints
// what it says.

#define _POSIX_C_SOURCE 200809L

#include <acp.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static acp_connection *agent;
static acp_slice prompt;
static bool over, failed;

// Ends the conversation when a call was refused, and says why it was.
static void check(acp_status status)
{
    acp_slice why = acp_text(acp_status_name(status));
    if (status != ACP_OK) {
        if (status == ACP_MISUSE) {
            acp_connection_error_message(agent, &why);
        }
        fprintf(stderr, ACP_FORMAT "\n", ACP_PRINT(why));
        over = failed = true;
    }
}

static void print(FILE *file, acp_slice json, const char *pointer)
{
    acp_string text = {NULL, 0};
    if (acp_json_string_copy(json, acp_text(pointer), &text) == ACP_OK) {
        fprintf(file, ACP_FORMAT, ACP_PRINT(acp_string_slice(text)));
    }
    acp_string_free(&text);
}

// A request of ours has ended; the next one follows.
static void answered(const acp_event *event, acp_slice method)
{
    acp_slice result, why = acp_text("no answer");
    acp_string session = {NULL, 0};
    char cwd[4096];
    if (acp_event_result(event, &result) != ACP_OK) {
        acp_event_error_message(event, &why);
        fprintf(stderr, ACP_FORMAT ": " ACP_FORMAT "\n", ACP_PRINT(method), ACP_PRINT(why));
        over = failed = true;
    } else if (acp_equal(method, acp_text(ACP_METHOD_INITIALIZE))) {
        check(acp_client_new_session(agent, acp_text(getcwd(cwd, sizeof cwd)), NULL));
    } else if (acp_equal(method, acp_text(ACP_METHOD_SESSION_NEW))) {
        check(acp_json_string_copy(result, acp_text("/sessionId"), &session));
        check(acp_client_prompt(agent, acp_string_slice(session), prompt, NULL));
        acp_string_free(&session);
    } else {
        printf("\n(");
        print(stdout, result, "/stopReason");
        printf(")\n");
        over = true;
    }
}

static void handle(const acp_event *event)
{
    int32_t kind = 0;
    acp_slice method = {NULL, 0}, params, text = {NULL, 0};
    uint64_t request = 0;
    acp_event_kind(event, &kind);
    acp_event_method(event, &method);
    switch (kind) {
    case ACP_EVENT_RESPONSE:
        answered(event, method);
        break;
    case ACP_EVENT_NOTIFICATION:
        if (acp_event_update(event, &text) == ACP_OK && acp_equal(text, acp_text(ACP_UPDATE_AGENT_MESSAGE_CHUNK)) &&
            acp_event_params(event, &params) == ACP_OK) {
            print(stdout, params, "/update/content/text");
        }
        break;
    case ACP_EVENT_REQUEST:
        // This client has offered neither files nor terminals, so only permission can be asked of it; it gives none.
        acp_event_serial(event, &request);
        check(acp_equal(method, acp_text(ACP_METHOD_SESSION_REQUEST_PERMISSION))
                  ? acp_client_answer_permission(agent, request, acp_text(""))
                  : acp_connection_respond_not_served(agent, request));
        break;
    case ACP_EVENT_VIOLATION:
        acp_event_message(event, &text);
        fprintf(stderr, "the agent: " ACP_FORMAT "\n", ACP_PRINT(text));
        break;
    case ACP_EVENT_CLOSED:
        over = true;
        break;
    }
}

// The agent is a process group of its own: Ctrl-C is for the client alone, and what it has started ends with it.
static pid_t start(char **command, int *to, int *from)
{
    int input[2], output[2];
    pid_t child = pipe(input) == 0 && pipe(output) == 0 ? fork() : -1;
    if (child == 0) {
        setpgid(0, 0);
        dup2(input[0], STDIN_FILENO);
        dup2(output[1], STDOUT_FILENO);
        for (int i = 0; i < 2; i++) {
            close(input[i]);
            close(output[i]);
        }
        execvp(command[0], command);
        _exit(127);
    }
    if (child > 0) {
        setpgid(child, child); // whichever of the two comes first
        close(input[0]);
        close(output[1]);
        *to = input[1];
        *from = output[0];
        // What cannot be read or written at once is left for later.
        fcntl(*to, F_SETFL, O_NONBLOCK);
        fcntl(*from, F_SETFL, O_NONBLOCK);
    }
    return child;
}

// The end of its input is an agent's sign to end; half a second later, nothing of it is left.
static void stop(pid_t child, int to)
{
    close(to);
    for (int i = 0; i < 100 && waitpid(child, NULL, WNOHANG) == 0; i++) {
        poll(NULL, 0, 5);
    }
    kill(-child, SIGKILL);
    waitpid(child, NULL, 0);
}

int main(int count, char **arguments)
{
    static char bytes[1 << 20];
    int to = -1, from = -1;
    acp_config *config = NULL;
    acp_event *event;
    prompt = acp_bytes(bytes, fread(bytes, 1, sizeof bytes, stdin));
    pid_t child = count < 2 ? -1 : start(arguments + 1, &to, &from);
    if (child < 0 || acp_config_new(ACP_ROLE_CLIENT, &config) != ACP_OK || acp_connection_new(config, &agent) != ACP_OK) {
        fputs("usage: client AGENT [ARGUMENT...]\n", stderr);
        return 2;
    }
    acp_config_free(config);
    // An agent that has ended shows in what is read from it.
    signal(SIGPIPE, SIG_IGN);
    check(acp_client_initialize(agent, acp_text("example"), acp_text("1.0"), acp_text("{}"), NULL));
    while (!over) {
        static char block[65536];
        acp_slice waiting = {NULL, 0};
        ssize_t size;
        acp_connection_transmit(agent, &waiting);
        // Waits for both pipes at once: an agent that writes while nobody reads would never read what is written to it.
        struct pollfd ends[] = {{from, POLLIN, 0}, {waiting.len > 0 ? to : -1, POLLOUT, 0}};
        if (poll(ends, 2, -1) < 0) {
            continue;
        }
        if (ends[1].revents != 0) {
            size = write(to, waiting.data, waiting.len);
            // What an agent does not read any more is given up; what it still says may tell why.
            acp_connection_consume(agent, size < 0 ? waiting.len : (size_t)size);
        }
        if (ends[0].revents != 0 && (size = read(from, block, sizeof block)) > 0) {
            acp_connection_receive(agent, acp_bytes(block, (size_t)size));
        } else if (ends[0].revents != 0) {
            acp_connection_receive_eof(agent);
        }
        for (; acp_connection_poll_event(agent, &event) == ACP_OK; acp_event_free(event)) {
            handle(event);
        }
        // Words come in pieces; each is shown when it comes.
        fflush(stdout);
    }
    stop(child, to);
    acp_connection_free(agent);
    return failed ? 1 : 0;
}
