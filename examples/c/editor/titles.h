// What the tool calls of a session are called. A request for permission may have no more than the id of its tool call; the
// title came in an earlier update, which the connection does not keep.

#ifndef TITLES_H
#define TITLES_H

#include <acp.h>

// ANCHOR: titles
// Titles that are kept, the newest, and bytes of the longest: an agent decides how many there are.
#define TITLES_MOST 256
#define TITLES_BYTES 1024

// The tool calls of one session that are not over, the oldest first. All zeros is an empty one.
typedef struct titles {
    struct {
        acp_string id;
        acp_string title;
    } calls[TITLES_MOST];
    size_t len;
} titles;

// Remembers what a `session/update` says of a tool call; `params` are those of the notification.
void titles_take(titles *titles, acp_slice params);
// What a tool call is called: the title that its request has, the last one that was told, or its id. `params` are those of
// the `session/request_permission`; the caller frees the text.
acp_string titles_of(const titles *titles, acp_slice params);
void titles_free(titles *titles);
// ANCHOR_END: titles

#endif
