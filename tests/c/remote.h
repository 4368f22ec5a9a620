// What the replayer of the vectors of the remote transports consists of. remote.c plays scenarios, remote_server.c and
// remote_client.c their steps, and remote_values.c has what these read and write.

#ifndef REMOTE_H
#define REMOTE_H

#include "support.h"

#define CONNECTIONS 64

// A scenario that is being played, in pieces of one size.
typedef struct run {
    acp_http_server *server;
    acp_http_client *client;
    acp_slice options;
    size_t size;
    // The server's numbers of connections in the order in which they were opened.
    uint64_t keys[CONNECTIONS];
    size_t opened;
    // Why it failed; empty while it has not.
    text why;
} run;

void need(acp_status status, const char *what);

// Takes note that something is another than expected, unless something was before.
void fail(run *run, const char *what, acp_slice found, acp_slice expected);
// Whether a step has a member; its value.
bool has(acp_slice step, const char *name, acp_slice *value);
// Refuses members of a step that the format does not have; `known` are their names between blanks.
void only(run *run, acp_slice step, const char *known);
uint64_t number(run *run, acp_slice step, const char *name);
bool flag(run *run, acp_slice step, const char *name);
// A value as a message: a text as it is, any other value as JSON without blanks.
text one_message(acp_slice value);
// The same of a member; `null` if there is none.
text message(acp_slice step, const char *name);
// Writes a message as a vector says it: JSON as such, null for nothing, any other text as a string.
void write_message(acp_writer *writer, acp_slice text);
void write_word(acp_writer *writer, const char *name, acp_slice word);
void write_json(acp_writer *writer, const char *name, acp_slice json);
// Writes pairs of names and values as an object.
void write_headers(acp_writer *writer, acp_slice pairs);
// Writes a frame as a vector says it.
void write_frame(acp_writer *writer, acp_slice frame, acp_slice text);
acp_slice finished(acp_writer *writer);

// Headers of a step, as the library takes them. The texts are theirs.
typedef struct heads {
    acp_header list[128];
    text texts[256];
    size_t len, used;
} heads;

void heads_add(heads *heads, acp_slice name, acp_slice value);
// Adds those of a member of a step, each a string or a list of them, in place of those with the same name.
void heads_put(heads *heads, acp_slice members);
void heads_free(heads *heads);

// Whether a value is what was expected, of which it may have more members at the top.
void same(run *run, const char *what, acp_slice found, acp_slice expected);
void same_list(run *run, const char *what, acp_slice found, acp_slice expected);
// What sending gave, against what the step says.
void sending(run *run, acp_slice step, acp_status status, int32_t outcome, acp_slice rule);

// The machine of a scenario; false if its options cannot be used.
bool server_new(run *run);
bool client_new(run *run);
// Writes what is polled until there is nothing, as a list.
void server_events(run *run, acp_writer *writer);
void client_events(run *run, acp_writer *writer);
void server_step(run *run, acp_slice step);
void client_step(run *run, acp_slice step);

#endif
