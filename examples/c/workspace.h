// What the client really does for the agent: files, permissions, terminals.

#ifndef WORKSPACE_H
#define WORKSPACE_H

#include "player.h"

// Opens the folder whose files the agent may read and write.
void workspace_begin(const char *folder);
// The result of a request of the agent's; for `player.perform`.
text workspace_perform(player *player, acp_slice method, acp_slice params, acp_slice expected);
// Closes it. Fails when a terminal is still there.
void workspace_end(void);
// Starts a program with its standard input and output as pipes, and the rest as ours. Returns its process id.
int start_program(char *const *arguments, int *to, int *from);

#endif
