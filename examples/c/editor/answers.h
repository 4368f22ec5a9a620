// What is said to an agent that asks.

#ifndef ANSWERS_H
#define ANSWERS_H

#include "agent.h"

// Answers a request of the agent's.
acp_status answer(const agent *agent, const acp_event *event);

#endif
