// What a connection shows, as JSON: the form in which the vectors expect it.

#ifndef REPLAY_H
#define REPLAY_H

#include "support.h"

// Adds one event to a list.
void write_event(acp_writer *writer, const acp_event *event);
// What is known of a connection now, as one object.
void write_state(acp_writer *writer, acp_connection *connection);
// Terminal output that was cut, as one object.
void write_output(acp_writer *writer, acp_slice output, bool truncated);
// Something that a vector gives a getter: a string is there as text too.
typedef struct given {
    acp_slice json;
    text string;
} given;

// What a getter gives, by its name; `ACP_INVALID_ARGUMENT` when there is none that takes so much.
acp_status write_got(acp_writer *out, acp_connection *connection, acp_slice name, const given *with, size_t count);
// For getters: the ids of sessions, the numbers of requests, terminals. Each frees its list.
acp_status write_session_ids(acp_writer *writer, acp_sessions *sessions);
acp_status write_serials(acp_writer *writer, acp_requests *requests);
acp_status write_terminal_list(acp_writer *writer, acp_terminals *terminals);
// Why the last call was refused, as one object.
void write_misuse(acp_writer *writer, const acp_connection *connection);
// Makes the host's call of a step; says in `why` if it has got another id than expected.
acp_status call(acp_connection *connection, acp_slice step, text *why);

// What is kept of views between two steps; all zero is empty.
typedef struct copies {
    struct copy *all;
    size_t count;
} copies;

// Looks at the view of a session, as a step `view` says.
void look(acp_connection *connection, acp_slice step, copies *kept, text *why);
void copies_free(copies *kept);
// The text of a writer.
acp_slice written(acp_writer *writer);
// Ends the program unless a call did what it should.
void need(acp_status status, const char *what);

// The configuration that a scenario gives; the caller frees it.
acp_config *config_of(acp_slice given);

#endif
