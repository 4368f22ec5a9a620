// Gives one prompt to several ACP agents at once:
// `acp-editor [--cwd DIR] [--allow] PROMPT -- AGENT [ARGUMENT...] [-- AGENT...]`.
// Each line that an agent says is shown with its number and name. Without `--allow`, agents may read the files of the
// folder and are refused everything that they ask for. Ctrl-C stops all turns, and a second one the editor.
//
// This file is the loop: one poll(2) over the pipes of all agents. Read next: agent.h.

#define _XOPEN_SOURCE 700

#include "agent.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define MOST_AGENTS 32

// Where Ctrl-C arrives: a signal handler may do little but write.
static int interrupts[2];

static void on_interrupt(int number)
{
    int before = errno;
    (void)number;
    (void)!write(interrupts[1], "!", 1);
    errno = before;
}

static int usage(void)
{
    fputs("usage: acp-editor [--cwd DIR] [--allow] PROMPT -- AGENT [ARGUMENT...] [-- AGENT...]\n", stderr);
    return 2;
}

// The commands of the agents, which `--` keeps apart: makes it NULL. How many there are; 0 when that is wrong.
static size_t commands(char **arguments, char **out[MOST_AGENTS])
{
    size_t count = 0;
    for (; *arguments != NULL; arguments++) {
        if (strcmp(*arguments, "--") != 0) {
            continue;
        }
        *arguments = NULL;
        if (count == MOST_AGENTS || arguments[1] == NULL || strcmp(arguments[1], "--") == 0) {
            return 0;
        }
        out[count++] = arguments + 1;
    }
    return count;
}

static bool works(const agent *agent)
{
    return agent->state == AGENT_STARTING || agent->state == AGENT_WORKING;
}

static int patience(const agent *agents, size_t count)
{
    uint64_t now = now_ms(), first = UINT64_MAX, wanted;
    for (size_t i = 0; i < count; i++) {
        if (works(&agents[i]) && agent_deadline(&agents[i], &wanted) && wanted < first) {
            first = wanted;
        }
    }
    return first == UINT64_MAX ? -1 : first <= now ? 0 : first - now > 60000 ? 60000 : (int)(first - now);
}

// ANCHOR: loop
// Serves all agents until none works any more.
static void run(agent *agents, size_t count)
{
    struct pollfd fds[1 + AGENT_FDS * MOST_AGENTS];
    size_t working = count, cancelled = 0;
    char mark;
    while (working > 0) {
        fds[0].fd = interrupts[0];
        fds[0].events = POLLIN;
        fds[0].revents = 0;
        for (size_t i = 0; i < count; i++) {
            struct pollfd *own = fds + 1 + AGENT_FDS * i;
            agent_watch(&agents[i], own);
            if (!works(&agents[i])) {
                own[0].fd = own[1].fd = -1;
            }
        }
        fflush(stdout);
        if (poll(fds, (nfds_t)(1 + AGENT_FDS * count), patience(agents, count)) < 0) {
            continue;
        }
        if (fds[0].revents != 0 && read(interrupts[0], &mark, 1) == 1 && cancelled++ > 0) {
            return;
        }
        working = 0;
        for (size_t i = 0; i < count; i++) {
            if (works(&agents[i])) {
                if (fds[0].revents != 0) {
                    agent_cancel(&agents[i]);
                }
                agent_serve(&agents[i], fds + 1 + AGENT_FDS * i);
                working += works(&agents[i]);
            }
        }
    }
}
// ANCHOR_END: loop

int main(int count, char **arguments)
{
    static agent agents[MOST_AGENTS];
    static char folder[PATH_MAX];
    char **agent_commands[MOST_AGENTS];
    const char *cwd = ".";
    struct sigaction action;
    task task = {NULL, folder, NULL, false};
    acp_files *files = NULL;
    size_t agent_count, done = 0;
    (void)count;
    for (arguments++; *arguments != NULL && strncmp(*arguments, "--", 2) == 0; arguments++) {
        if (strcmp(*arguments, "--allow") == 0) {
            task.allow = true;
        } else if (strcmp(*arguments, "--cwd") == 0 && arguments[1] != NULL) {
            cwd = *++arguments;
        } else {
            return usage();
        }
    }
    task.prompt = *arguments;
    if (task.prompt == NULL || arguments[1] == NULL || strcmp(arguments[1], "--") != 0 ||
        (agent_count = commands(arguments + 1, agent_commands)) == 0) {
        return usage();
    }
    if (acp_abi_version() != ACP_ABI_VERSION) {
        fprintf(stderr, "libacp %s does not fit this program\n", acp_library_version());
        return 2;
    }
    if (realpath(cwd, folder) == NULL || pipe(interrupts) != 0 || fcntl(interrupts[0], F_SETFD, FD_CLOEXEC) != 0 ||
        fcntl(interrupts[1], F_SETFD, FD_CLOEXEC) != 0) {
        perror(cwd);
        return 2;
    }
    acp_slice root = acp_text(folder);
    if (acp_files_new(&root, 1, 0, NULL, NULL, &files) != ACP_OK) {
        fprintf(stderr, "%s cannot be opened\n", folder);
        return 2;
    }
    task.files = files;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_interrupt;
    sigaction(SIGINT, &action, NULL);
    signal(SIGPIPE, SIG_IGN);
    for (size_t i = 0; i < agent_count; i++) {
        agent_start(&agents[i], &task, (int)i + 1, agent_commands[i]);
    }
    run(agents, agent_count);
    for (size_t i = 0; i < agent_count; i++) {
        done += agents[i].state == AGENT_DONE;
        agent_stop(&agents[i]);
    }
    acp_files_free(files);
    printf("%zu of %zu agents have done their turn\n", done, agent_count);
    return done == agent_count ? 0 : 1;
}
