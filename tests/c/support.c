#include "support.h"

#include <stdio.h>
#include <stdlib.h>

void text_add(text *text, acp_slice more)
{
    if (more.len > text->room - text->len) {
        size_t room = 2 * text->room + more.len;
        char *data = realloc(text->data, room);
        if (data == NULL) {
            die("out of memory", acp_text(""));
        }
        text->data = data;
        text->room = room;
    }
    if (more.len > 0) {
        memcpy(text->data + text->len, more.data, more.len);
    }
    text->len += more.len;
}

acp_slice text_slice(const text *text)
{
    return acp_bytes(text->data, text->len);
}

void text_free(text *text)
{
    free(text->data);
    memset(text, 0, sizeof *text);
}

void die(const char *what, acp_slice about)
{
    fprintf(stderr, "%s: %.*s\n", what, (int)(about.len < 400 ? about.len : 400), about.len ? about.data : "");
    exit(2);
}

text read_file(const char *path)
{
    text all = {0};
    char block[65536];
    size_t count;
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        die("cannot be read", acp_text(path));
    }
    while ((count = fread(block, 1, sizeof block, file)) > 0) {
        text_add(&all, acp_bytes(block, count));
    }
    fclose(file);
    return all;
}

bool json_at(acp_slice json, const char *pointer, acp_slice *out)
{
    acp_status status = acp_json_find(json, acp_text(pointer), out);
    if (status < 0) {
        die(acp_status_name(status), json);
    }
    return status == ACP_OK;
}

text json_text(acp_slice json, const char *pointer)
{
    text value = {0};
    size_t len;
    acp_status status = acp_json_string(json, acp_text(pointer), NULL, 0, &len);
    if (status == ACP_SHORT_BUFFER) {
        value.data = malloc(len);
        value.len = value.room = len;
        if (value.data == NULL) {
            die("out of memory", acp_text(""));
        }
        status = acp_json_string(json, acp_text(pointer), value.data, len, &len);
    }
    if (status != ACP_OK) {
        fprintf(stderr, "%s: %s: ", pointer, acp_status_name(status));
        die("expected a string", json);
    }
    return value;
}

uint64_t json_number(acp_slice json, const char *pointer)
{
    uint64_t number;
    if (acp_json_uint64(json, acp_text(pointer), &number) != ACP_OK) {
        fprintf(stderr, "%s: ", pointer);
        die("expected a number", json);
    }
    return number;
}

acp_items *json_items(acp_slice json, size_t *len)
{
    acp_items *items;
    if (acp_json_items(json, acp_text(""), &items) != ACP_OK || acp_items_len(items, len) != ACP_OK) {
        die("expected a list or an object", json);
    }
    return items;
}

acp_slice item_key(const acp_items *items, size_t index)
{
    acp_slice key = {NULL, 0};
    if (acp_items_key(items, index, &key) < 0) {
        die("no such item", key);
    }
    return key;
}

acp_slice item_value(const acp_items *items, size_t index)
{
    acp_slice value = {NULL, 0};
    if (acp_items_value(items, index, &value) != ACP_OK) {
        die("no such item", value);
    }
    return value;
}

static bool same_scalar(acp_slice left, acp_slice right, int32_t type)
{
    if (type == ACP_JSON_STRING) {
        text value = json_text(right, "");
        bool same = false;
        acp_json_string_is(left, acp_text(""), text_slice(&value), &same);
        text_free(&value);
        return same;
    }
    // Numbers are their digits.
    return acp_equal(left, right);
}

bool json_member(const acp_items *items, size_t len, acp_slice key, acp_slice *value)
{
    for (size_t i = 0; i < len; i++) {
        if (acp_equal(item_key(items, i), key)) {
            *value = item_value(items, i);
            return true;
        }
    }
    return false;
}

bool json_same(acp_slice left, acp_slice right)
{
    int32_t a, b;
    if (acp_json_type(left, acp_text(""), &a) != ACP_OK || acp_json_type(right, acp_text(""), &b) != ACP_OK || a != b) {
        return false;
    }
    if (a != ACP_JSON_ARRAY && a != ACP_JSON_OBJECT) {
        return same_scalar(left, right, a);
    }
    size_t count, other;
    acp_items *ours = json_items(left, &count), *theirs = json_items(right, &other);
    bool same = count == other;
    for (size_t i = 0; same && i < count; i++) {
        acp_slice value;
        if (a == ACP_JSON_ARRAY) {
            same = json_same(item_value(ours, i), item_value(theirs, i));
        } else {
            acp_slice key = item_key(ours, i);
            same = json_member(theirs, other, key, &value) && json_same(item_value(ours, i), value);
            for (size_t j = 0; same && j < i; j++) {
                same = !acp_equal(item_key(ours, j), key);
            }
        }
    }
    acp_items_free(ours);
    acp_items_free(theirs);
    return same;
}

bool json_fits(acp_slice expected, acp_slice found)
{
    size_t count, other;
    acp_items *wanted = json_items(expected, &count), *there = json_items(found, &other);
    bool fits = true;
    for (size_t i = 0; fits && i < count; i++) {
        acp_slice value, want = item_value(wanted, i);
        fits = json_member(there, other, item_key(wanted, i), &value) && json_same(want, value);
    }
    acp_items_free(wanted);
    acp_items_free(there);
    return fits;
}
