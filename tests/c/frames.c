// The frames of a scenario.

#include "expected.h"

#include <stdlib.h>

// Where a text stands in another; its length where it does not.
static size_t find(acp_slice in, const char *what)
{
    size_t length = strlen(what), at = 0;
    while (at + length <= in.len && memcmp(in.data + at, what, length) != 0) {
        at++;
    }
    return at + length <= in.len ? at : in.len;
}

static void add(frames *frames, acp_slice frame)
{
    size_t blanks = 0;
    if (frame.len > 0 && frame.data[frame.len - 1] == '\r') {
        frame.len--;
    }
    while (blanks < frame.len && frame.data[blanks] != '\0' && strchr(" \t\r\n\f", frame.data[blanks]) != NULL) {
        blanks++;
    }
    if (blanks == frame.len && frames->framing != ACP_FRAMING_MESSAGES) {
        return;
    }
    // The room doubles with the powers of two.
    if ((frames->count & (frames->count - 1)) == 0) {
        size_t room = frames->count == 0 ? 1 : 2 * frames->count;
        text *all = realloc(frames->all, room * sizeof *all);
        if (all == NULL) {
            die("out of memory", frame);
        }
        frames->all = all;
    }
    memset(&frames->all[frames->count], 0, sizeof *frames->all);
    text_add(&frames->all[frames->count++], frame);
}

// Takes the first frame of the rest; false where it is not whole.
static bool take(frames *frames)
{
    acp_slice rest = text_slice(&frames->rest);
    size_t start = 0, end, next;
    if (frames->framing == ACP_FRAMING_CONTENT_LENGTH) {
        static const char name[] = "Content-Length: ";
        size_t head = find(rest, "\r\n\r\n"), length = find(rest, name);
        if (length >= head || head == rest.len) {
            return false;
        }
        start = head + 4;
        end = next = start + strtoul(rest.data + length + strlen(name), NULL, 10);
    } else {
        end = find(rest, "\n");
        next = end + 1;
    }
    if (next > rest.len) {
        return false;
    }
    add(frames, acp_bytes(rest.data + start, end - start));
    memmove(frames->rest.data, frames->rest.data + next, rest.len - next);
    frames->rest.len -= next;
    return true;
}

void frames_feed(frames *frames, acp_slice bytes)
{
    if (frames->framing == ACP_FRAMING_MESSAGES) {
        add(frames, bytes);
        return;
    }
    text_add(&frames->rest, bytes);
    while (frames->rest.len > 0 && take(frames)) {
    }
}

void frames_end(frames *frames)
{
    if (frames->rest.len > 0) {
        add(frames, text_slice(&frames->rest));
    }
    frames->rest.len = 0;
}

void frames_free(frames *frames)
{
    for (size_t i = 0; i < frames->count; i++) {
        text_free(&frames->all[i]);
    }
    free(frames->all);
    text_free(&frames->rest);
    frames->all = NULL;
    frames->count = 0;
}
