// One agent: a child process, a libacp connection on its pipes, and the one turn that it is asked for. Any number of
// them share a poll(2) loop, and what goes wrong with one does not concern the others. Read next: agent.c.

#ifndef AGENT_H
#define AGENT_H

#include <poll.h>
#include <sys/types.h>

#include <acp.h>
#include <acp_files.h>

#include "titles.h"

// Bytes that grow.
typedef struct buffer {
    char *data;
    size_t len;
    size_t room;
} buffer;

// What all agents are told and allowed.
typedef struct task {
    const char *prompt;
    // The folder of the sessions, absolute and without links.
    const char *folder;
    // What of it agents may read and write.
    const acp_files *files;
    // Whether permission is given and files may be written.
    bool allow;
} task;

typedef enum agent_state { AGENT_STARTING, AGENT_WORKING, AGENT_DONE, AGENT_FAILED } agent_state;

typedef struct agent {
    const task *task;
    // How it is called in front of each of its lines.
    int number;
    const char *command;
    pid_t pid;
    // What is read from and written to; -1 when closed. Both do not block.
    int in;
    int out;
    acp_connection *connection;
    agent_state state;
    acp_string session;
    titles titles;
    // A line of its words that has no end yet.
    buffer line;
} agent;

#define AGENT_FDS 2

uint64_t now_ms(void);
// Starts a command and says hello to it. With false it has failed already, and has said why.
bool agent_start(agent *agent, const task *task, int number, char *const *command);
// Prints one line with the agent's name in front, without what would steer the terminal.
void agent_say(const agent *agent, const char *what, acp_slice text);
// What the loop has to watch for it; a descriptor of -1 is not watched.
void agent_watch(const agent *agent, struct pollfd fds[AGENT_FDS]);
// When it wants to be served at the latest, on the clock of `now_ms`; false for never.
bool agent_deadline(const agent *agent, uint64_t *out);
// Reads, writes and deals with what has happened.
void agent_serve(agent *agent, const struct pollfd fds[AGENT_FDS]);
// Asks it to stop the turn.
void agent_cancel(agent *agent);
// Ends its process and frees all.
void agent_stop(agent *agent);

#endif
