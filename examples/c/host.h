// A libacp connection on two pipes, driven by one poll(2) loop. This is the part that any host in C needs.
// Read next: player.h.

#ifndef HOST_H
#define HOST_H

#include <stdio.h>

#include "script.h"

// Counts, and on demand records, the lines that pass in one direction.
typedef struct tap {
    char direction;
    size_t lines;
    size_t bytes;
    text line;
} tap;

// A pipe that is read beside the connection: what a terminal prints.
typedef struct watch {
    int fd;
    text all;
} watch;

#define WATCHES 8

typedef struct host {
    acp_connection *connection;
    // What is read from and written to; -1 when closed. Both do not block.
    int in;
    int out;
    tap received;
    tap sent;
    FILE *trace;
    uint64_t start;
    // When to give up, in milliseconds of the loop's clock; 0 for never.
    uint64_t deadline;
    watch watches[WATCHES];
} host;

uint64_t now_ms(void);
// A host for this role (`ACP_ROLE_...`) on two open pipes.
void host_open(host *host, int32_t role, int in, int out);
void host_free(host *host);
// Waits for the next event, and meanwhile writes what waits for the peer. The caller frees it.
acp_event *host_next(host *host);
// Waits until something can be read or written, and does so; without `reading`, the peer has to wait.
void host_step(host *host, bool reading);
// Writes all that waits for the peer, then closes that pipe.
void host_finish(host *host);
// What one function tells of an event; empty where the event does not have it.
acp_slice part(const acp_event *event, acp_status (*get)(const acp_event *, acp_slice *));
// Says what the peer did wrong, as one line of JSON on standard error; nothing of it is lost, so the play goes on.
void tell_violation(const acp_event *event);

#endif
