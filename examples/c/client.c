// An ACP client in C: `client --script script.json --work DIR [--cwd DIR] [--trace FILE] -- AGENT ARGV...`. It starts the
// agent, plays the client's side of the script, checks everything that the agent sends, and ends with one line of JSON.

#define _POSIX_C_SOURCE 200809L

#include "workspace.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int agent_pid;

static void say(acp_slice why)
{
    // Not `need`: what it would fail with ends here again.
    const acp_value error = acp_string_value(why);
    acp_writer *writer = NULL;
    acp_slice line;
    if (acp_writer_new(&writer) != ACP_OK ||
        acp_writer_template(writer, acp_text("{'ok':false,'error':?}"), &error, 1) != ACP_OK ||
        acp_writer_finish(writer, &line) != ACP_OK) {
        line = acp_text("{\"ok\":false,\"error\":\"the error is not UTF-8\"}");
    }
    printf(ACP_FORMAT "\n", ACP_PRINT(line));
    if (agent_pid > 0) {
        kill(agent_pid, SIGKILL);
    }
    exit(1);
}

typedef struct options {
    const char *script;
    const char *work;
    const char *cwd;
    const char *trace;
    char **agent;
} options;

static options parse(char **arguments)
{
    options options = {NULL, NULL, NULL, NULL, NULL};
    const struct {
        const char *name;
        const char **value;
    } known[] = {
        {"--script", &options.script},
        {"--work", &options.work},
        {"--cwd", &options.cwd},
        {"--trace", &options.trace},
    };
    for (char **next = arguments + 1; *next != NULL; next += 2) {
        bool found = false;
        if (strcmp(*next, "--") == 0) {
            options.agent = next + 1;
            break;
        }
        for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
            if (strcmp(*next, known[i].name) == 0 && next[1] != NULL) {
                *known[i].value = next[1];
                found = true;
            }
        }
        if (!found) {
            fail("%s: unknown, or without a value", *next);
        }
    }
    if (options.script == NULL || options.work == NULL || options.work[0] != '/' || options.agent == NULL ||
        options.agent[0] == NULL) {
        fail("usage: client --script FILE --work DIR [--cwd DIR] [--trace FILE] -- AGENT ARGV...");
    }
    return options;
}

static void set_names(names *names, const options *options)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
    char here[4096];
    const char *cwd = options->cwd != NULL ? options->cwd : getcwd(here, sizeof here);
    if (cwd == NULL) {
        fail("no working directory");
    }
    text_add(&names->cwd, acp_text(cwd));
    text_add(&names->work, acp_text(options->work));
    for (const char *byte = options->work; *byte != '\0'; byte++) {
        if (strchr(plain, *byte) != NULL) {
            text_add(&names->work_uri, acp_bytes(byte, 1));
        } else {
            text_format(&names->work_uri, "%%%02X", (unsigned)(unsigned char)*byte);
        }
    }
}

static void add_text(void *self, acp_slice more)
{
    text_add(self, more);
}

// The path of a file of the script in the work folder; the caller frees it.
static text work_path(const options *options, acp_slice name)
{
    text path = {0};
    text_format(&path, "%s/%.*s", options->work, (int)name.len, name.data);
    text_add(&path, acp_bytes("", 1));
    return path;
}

static void write_files(acp_slice script, const options *options)
{
    size_t len = 0;
    acp_items *files = json_items(json_get(script, "/files"), &len);
    for (size_t i = 0; i < len; i++) {
        text content = {0}, path = work_path(options, item_key(files, i));
        expand(item_value(files, i), add_text, &content);
        write_file(path.data, text_slice(&content));
        text_free(&content);
        text_free(&path);
    }
    acp_items_free(files);
}

static void check_files(acp_slice script, const options *options)
{
    size_t len = 0;
    acp_items *files = json_items(json_get(script, "/written"), &len);
    for (size_t i = 0; i < len; i++) {
        checksum sum = CHECKSUM_START;
        text path = work_path(options, item_key(files, i)), content = read_file(path.data);
        checksum_add(&sum, text_slice(&content));
        checksum_check(&sum, item_value(files, i), "/bytes", "/fnv1a32", item_key(files, i));
        text_free(&content);
        text_free(&path);
    }
    acp_items_free(files);
}

static void wait_for_agent(uint64_t deadline)
{
    int status = 0, done;
    while ((done = waitpid(agent_pid, &status, WNOHANG)) == 0 && now_ms() < deadline) {
        poll(NULL, 0, 2);
    }
    if (done != agent_pid || !WIFEXITED(status)) {
        fail("the agent did not end by itself");
    }
    agent_pid = 0;
    if (WEXITSTATUS(status) != 0) {
        fail("the agent ended with %d", WEXITSTATUS(status));
    }
}

static void check_lines(acp_slice script, const host *host)
{
    if (host->sent.lines != json_number(script, "/lines/fromClient", 0)) {
        fail("/lines/fromClient: got %zu", host->sent.lines);
    }
    if (host->received.lines != json_number(script, "/lines/fromAgent", 0)) {
        fail("/lines/fromAgent: got %zu", host->received.lines);
    }
}

int main(int count, char **arguments)
{
    player player;
    int to, from;
    (void)count;
    on_failure = say;
    options options = parse(arguments);
    signal(SIGPIPE, SIG_IGN);
    memset(&player, 0, sizeof player);
    player.script = read_file(options.script);
    player.role = "client";
    player.perform = workspace_perform;
    acp_slice script = text_slice(&player.script);
    write_files(script, &options);
    workspace_begin(options.work);
    agent_pid = start_program(options.agent, &to, &from);
    host_open(&player.host, ACP_ROLE_CLIENT, from, to);
    set_names(&player.names, &options);
    player.host.deadline = now_ms() + json_number(script, "/deadlineMs", 60000);
    if (options.trace != NULL && (player.host.trace = fopen(options.trace, "w")) == NULL) {
        fail("%s cannot be written", options.trace);
    }
    play(&player);
    host_finish(&player.host);
    play_end(&player);
    wait_for_agent(player.host.deadline);
    workspace_end();
    check_files(script, &options);
    check_lines(script, &player.host);
    printf("{\"ok\":true,\"messages_sent\":%zu,\"messages_received\":%zu,\"bytes_sent\":%zu,\"bytes_received\":%zu,"
           "\"updates\":%zu}\n",
           player.host.sent.lines, player.host.received.lines, player.host.sent.bytes, player.host.received.bytes,
           player.updates);
    if (player.host.trace != NULL) {
        fclose(player.host.trace);
    }
    player_free(&player);
    return 0;
}
