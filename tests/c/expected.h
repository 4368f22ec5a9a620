// What an event must be: each of its members is stated, has one default, or follows from the frame that it came from.
// Which, tests/vectors/format.json says.

#ifndef EXPECTED_H
#define EXPECTED_H

#include "support.h"

// What a scenario has fed, frame by frame, cut as agreed; all zero but the framing is empty.
typedef struct frames {
    int32_t framing;
    text rest;
    text *all;
    size_t count;
} frames;

void frames_feed(frames *frames, acp_slice bytes);
// The end of the stream ends its last frame.
void frames_end(frames *frames);
void frames_free(frames *frames);

// Whether events are as they are expected; where they are, each member of each is falsified, and that must show. Says in
// `why` what is different.
bool same_events(acp_slice format, acp_slice expected, acp_slice found, const frames *frames, text *why);
// Whether a misuse is stated as it is, with all of its members.
bool same_misuse(acp_slice format, acp_slice expected, acp_slice found, text *why);

// Whether a scenario and its configuration, or a step, have only members that the format knows; says which they have not.
bool known_scenario(acp_slice format, acp_slice scenario, text *why);
bool known_step(acp_slice format, acp_slice step, text *why);

#endif
