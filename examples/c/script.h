// The script of tests/interop: texts, placeholders and the comparison. All JSON is read and written with libacp itself.
// Read next: host.h.

#ifndef SCRIPT_H
#define SCRIPT_H

#include "acp.h"

// Text that grows; all zero is empty.
typedef struct text {
    char *data;
    size_t len;
    size_t room;
} text;

void text_add(text *text, acp_slice more);
void text_format(text *text, const char *format, ...);
acp_slice text_slice(const text *text);
void text_free(text *text);

// Called with what is wrong; does not return. Each program says it in its own way.
extern void (*on_failure)(acp_slice why);
void fail(const char *format, ...);
// Fails unless a call did what it should; for a connection's, with what the library says about it.
void need(acp_status status, const char *what);
void need_call(acp_connection *connection, acp_status status, const char *what);

text read_file(const char *path);
void write_file(const char *path, acp_slice content);

// The value that a pointer names; false when there is none.
bool json_at(acp_slice json, const char *pointer, acp_slice *out);
// The same, where it must be there.
acp_slice json_get(acp_slice json, const char *pointer);
// The string there, without escapes; the caller frees it.
text json_text(acp_slice json, const char *pointer);
uint64_t json_number(acp_slice json, const char *pointer, uint64_t otherwise);
bool json_is(acp_slice json, const char *pointer, const char *value);
// The items of a list or the members of an object; the caller frees them.
acp_items *json_items(acp_slice json, size_t *len);
acp_slice item_key(const acp_items *items, size_t index);
acp_slice item_value(const acp_items *items, size_t index);
acp_writer *new_writer(void);
// What was written, as a text of its own; frees the writer.
text written(acp_writer *writer);
void write_member(acp_writer *writer, const char *name, acp_slice value);

// What placeholders stand for.
typedef struct names {
    text cwd;
    text work;
    text work_uri;
} names;

// A copy of JSON with the placeholders in its strings filled in; the caller frees it.
text fill(acp_slice json, const names *names);

// Calls `use` for each text that a text rule stands for.
void expand(acp_slice rule, void (*use)(void *self, acp_slice text), void *self);

// Length and FNV-1a of texts put together.
typedef struct checksum {
    size_t bytes;
    uint32_t hash;
} checksum;

#define CHECKSUM_START {0, 0x811c9dc5u}
void checksum_add(checksum *sum, acp_slice text);
// Fails unless an object of the script has this length and checksum.
void checksum_check(const checksum *sum, acp_slice expected, const char *bytes, const char *hash, acp_slice at);

// Fails with the place of the first difference. `exact` asks for equality; otherwise members may be there that are not
// expected, and an expected `null` or `{}` may be missing.
void compare(acp_slice expected, acp_slice found, bool exact, acp_slice at);

#endif
