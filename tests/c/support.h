// What the C tests share: growing text, files, and JSON read and compared through the library's own reader.

#ifndef SUPPORT_H
#define SUPPORT_H

#include "acp.h"

// Text that grows; all zero is empty.
typedef struct text {
    char *data;
    size_t len;
    size_t room;
} text;

void text_add(text *text, acp_slice more);
acp_slice text_slice(const text *text);
void text_free(text *text);

// Ends the program: for what is wrong with the test itself.
void die(const char *what, acp_slice about);

text read_file(const char *path);

// The value that a pointer names; false when there is none.
bool json_at(acp_slice json, const char *pointer, acp_slice *out);
// The string there, without escapes; the caller frees it.
text json_text(acp_slice json, const char *pointer);
uint64_t json_number(acp_slice json, const char *pointer);
// The items of a list, or the members of an object, and how many they are; the caller frees them.
acp_items *json_items(acp_slice json, size_t *len);
// The key of a member; empty in a list.
acp_slice item_key(const acp_items *items, size_t index);
acp_slice item_value(const acp_items *items, size_t index);

// The member of that name; false when there is none.
bool json_member(const acp_items *items, size_t len, acp_slice key, acp_slice *value);
// Whether two JSON values are equal, whatever the order of members; an object that has a name twice equals none.
bool json_same(acp_slice left, acp_slice right);
// Whether an object has the members that are expected.
bool json_fits(acp_slice expected, acp_slice found);

#endif
