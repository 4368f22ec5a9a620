// Plays one role of the script: sends its steps, waits for the other role's and compares them.
// Read next: client.c, agent.c.

#ifndef PLAYER_H
#define PLAYER_H

#include "host.h"

// A number that no double holds, in the `_meta` of the hosts' names: the client sends it, an agent that knows the member
// sends it back.
#define EXACT "libacp.dev/exact"
#define EXACT_POINTER "/_meta/libacp.dev~1exact"
#define EXACT_NUMBER 9007199254740993

typedef struct player player;

// A request of the peer's that is answered in a later step, or one of our own whose answer comes then.
typedef struct open_step {
    text name;
    acp_slice step;
    text at;
    uint64_t serial;
    bool ours;
} open_step;

struct player {
    host host;
    text script;
    // "client" or "agent".
    const char *role;
    names names;
    size_t updates;
    checksum messages;
    // The place of the step that is being played.
    text at;
    open_step open;
    // Looks at a request of the peer's before it is compared; may be NULL.
    void (*bind)(player *player, acp_slice method, acp_slice params);
    // Makes the result for a request of the peer's.
    text (*perform)(player *player, acp_slice method, acp_slice params, acp_slice expected);
};

// Plays the whole script and compares the totals.
void play(player *player);
// Waits for the end of the peer's messages; anything else is a difference.
void play_end(player *player);
void player_free(player *player);
// Adds a member that names this program to an object, as `initialize` wants it, with an exact number in its `_meta`
// unless that is empty.
text with_info(acp_slice object, const char *member, const char *name, acp_slice exact);

#endif
