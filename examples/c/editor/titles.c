#include "titles.h"

// Where a tool call is; `len` where it is not.
static size_t find(const titles *titles, acp_slice id)
{
    size_t at = 0;
    while (at < titles->len && !acp_equal(acp_string_slice(titles->calls[at].id), id)) {
        at++;
    }
    return at;
}

static void forget(titles *titles, size_t at)
{
    if (at < titles->len) {
        acp_string_free(&titles->calls[at].id);
        acp_string_free(&titles->calls[at].title);
        titles->len--;
        memmove(titles->calls + at, titles->calls + at + 1, (titles->len - at) * sizeof *titles->calls);
    }
}

// A string that has something in it.
static bool has(acp_slice json, const char *pointer, acp_string *out)
{
    return acp_json_string_copy(json, acp_text(pointer), out) == ACP_OK && acp_string_slice(*out).len > 0;
}

static bool is(acp_slice json, const char *pointer, const char *text)
{
    bool same = false;
    return acp_json_string_is(json, acp_text(pointer), acp_text(text), &same) == ACP_OK && same;
}

void titles_take(titles *titles, acp_slice params)
{
    acp_string id = {NULL, 0}, title = {NULL, 0};
    if (has(params, "/update/toolCallId", &id)) {
        const bool told = has(params, "/update/title", &title);
        const bool over = is(params, "/update/status", ACP_TOOL_STATUS_COMPLETED) ||
                          is(params, "/update/status", ACP_TOOL_STATUS_FAILED);
        if (told || over) {
            forget(titles, find(titles, acp_string_slice(id)));
        }
        if (told && !over && acp_string_slice(id).len <= TITLES_BYTES && acp_string_slice(title).len <= TITLES_BYTES) {
            if (titles->len == TITLES_MOST) {
                forget(titles, 0);
            }
            titles->calls[titles->len].id = id;
            titles->calls[titles->len].title = title;
            titles->len++;
            return;
        }
    }
    acp_string_free(&id);
    acp_string_free(&title);
}

acp_string titles_of(const titles *titles, acp_slice params)
{
    acp_string title = {NULL, 0}, id = {NULL, 0};
    if (!has(params, "/toolCall/title", &title) && has(params, "/toolCall/toolCallId", &id)) {
        const size_t at = find(titles, acp_string_slice(id));
        acp_string_free(&title);
        if (at == titles->len || acp_string_copy(acp_string_slice(titles->calls[at].title), &title) != ACP_OK) {
            return id;
        }
    }
    acp_string_free(&id);
    return title;
}

void titles_free(titles *titles)
{
    while (titles->len > 0) {
        forget(titles, titles->len - 1);
    }
}
