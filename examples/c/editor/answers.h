// What is said to an agent: the params of the editor's calls, and the answers to the agent's.

#ifndef ANSWERS_H
#define ANSWERS_H

#include "agent.h"

void buffer_add(buffer *buffer, acp_slice more);
acp_slice buffer_slice(const buffer *buffer);
void buffer_free(buffer *buffer);

// A string of a message; empty where there is none. The caller frees it, as all buffers that are returned.
buffer json_string(acp_slice json, const char *pointer);

buffer session_params(const agent *agent);
buffer prompt_params(const agent *agent);
buffer cancel_params(const agent *agent);
// Answers a request of the agent's.
acp_status answer(agent *agent, const acp_event *event);

#endif
