#include "script.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void (*on_failure)(acp_slice why);

void text_add(text *text, acp_slice more)
{
    if (more.len > text->room - text->len) {
        size_t room = 2 * text->room + more.len;
        char *data = realloc(text->data, room);
        if (data == NULL) {
            fputs("out of memory\n", stderr);
            exit(1);
        }
        text->data = data;
        text->room = room;
    }
    if (more.len > 0) {
        memcpy(text->data + text->len, more.data, more.len);
    }
    text->len += more.len;
}

static void text_format_list(text *text, const char *format, va_list list)
{
    char line[512];
    int len = vsnprintf(line, sizeof line, format, list);
    if (len > 0) {
        text_add(text, acp_bytes(line, (size_t)len < sizeof line ? (size_t)len : sizeof line - 1));
    }
}

void text_format(text *text, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    text_format_list(text, format, list);
    va_end(list);
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

void fail(const char *format, ...)
{
    text why = {0};
    va_list list;
    va_start(list, format);
    text_format_list(&why, format, list);
    va_end(list);
    on_failure(text_slice(&why));
    abort();
}

void need(acp_status status, const char *what)
{
    if (status != ACP_OK) {
        fail("%s: %s", what, acp_status_name(status));
    }
}

void need_call(acp_connection *connection, acp_status status, const char *what)
{
    acp_slice rule, pointer, message;
    if (status == ACP_MISUSE && acp_connection_error_rule(connection, &rule) == ACP_OK &&
        acp_connection_error_pointer(connection, &pointer) == ACP_OK &&
        acp_connection_error_message(connection, &message) == ACP_OK) {
        fail("%s: %.*s %.*s: %.*s", what, (int)rule.len, rule.data, (int)pointer.len, pointer.data, (int)message.len,
             message.data);
    }
    need(status, what);
}

text read_file(const char *path)
{
    text all = {0};
    char block[65536];
    size_t count;
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        fail("%s cannot be read", path);
    } else {
        while ((count = fread(block, 1, sizeof block, file)) > 0) {
            text_add(&all, acp_bytes(block, count));
        }
        fclose(file);
    }
    return all;
}

void write_file(const char *path, acp_slice content)
{
    FILE *file = fopen(path, "wb");
    bool whole = file != NULL && (content.len == 0 || fwrite(content.data, content.len, 1, file) == 1);
    if (file == NULL || fclose(file) != 0 || !whole) {
        fail("%s cannot be written", path);
    }
}

bool json_at(acp_slice json, const char *pointer, acp_slice *out)
{
    acp_status status = acp_json_find(json, acp_text(pointer), out);
    if (status != ACP_NONE) {
        need(status, pointer);
    }
    return status == ACP_OK;
}

acp_slice json_get(acp_slice json, const char *pointer)
{
    acp_slice value = {NULL, 0};
    need(acp_json_find(json, acp_text(pointer), &value), pointer);
    return value;
}

text json_text(acp_slice json, const char *pointer)
{
    text value = {0};
    size_t len = 0;
    acp_status status = acp_json_string(json, acp_text(pointer), NULL, 0, &len);
    if (status == ACP_SHORT_BUFFER) {
        value.data = malloc(len);
        value.len = value.room = len;
        status = acp_json_string(json, acp_text(pointer), value.data, len, &len);
    }
    need(status, pointer);
    return value;
}

uint64_t json_number(acp_slice json, const char *pointer, uint64_t otherwise)
{
    uint64_t number = otherwise;
    acp_status status = acp_json_uint64(json, acp_text(pointer), &number);
    if (status != ACP_NONE) {
        need(status, pointer);
    }
    return number;
}

bool json_is(acp_slice json, const char *pointer, const char *value)
{
    bool same = false;
    need(acp_json_string_is(json, acp_text(pointer), acp_text(value), &same), pointer);
    return same;
}

acp_items *json_items(acp_slice json, size_t *len)
{
    acp_items *items = NULL;
    need(acp_json_items(json, acp_text(""), &items), "a list or an object");
    need(acp_items_len(items, len), "a list or an object");
    return items;
}

acp_slice item_key(const acp_items *items, size_t index)
{
    acp_slice key = {NULL, 0};
    need(acp_items_key(items, index, &key), "a member");
    return key;
}

acp_slice item_value(const acp_items *items, size_t index)
{
    acp_slice value = {NULL, 0};
    need(acp_items_value(items, index, &value), "an item");
    return value;
}

acp_writer *new_writer(void)
{
    acp_writer *writer = NULL;
    need(acp_writer_new(&writer), "writer");
    return writer;
}

text written(acp_writer *writer)
{
    text copy = {0};
    acp_slice all = {NULL, 0};
    need(acp_writer_finish(writer, &all), "writer");
    text_add(&copy, all);
    acp_writer_free(writer);
    return copy;
}

void write_member(acp_writer *writer, const char *name, acp_slice value)
{
    need(acp_writer_key(writer, acp_text(name)), name);
    need(acp_writer_string(writer, value), name);
}

static void fill_string(text *out, acp_slice from, const names *names)
{
    const struct {
        const char *name;
        const text *value;
    } places[] = {{"{cwd}", &names->cwd}, {"{work}", &names->work}, {"{work_uri}", &names->work_uri}};
    for (size_t at = 0; at < from.len;) {
        size_t taken = 0;
        for (size_t i = 0; i < sizeof places / sizeof *places && taken == 0; i++) {
            size_t len = strlen(places[i].name);
            if (from.len - at >= len && memcmp(from.data + at, places[i].name, len) == 0) {
                text_add(out, text_slice(places[i].value));
                taken = len;
            }
        }
        if (taken == 0) {
            text_add(out, acp_bytes(from.data + at, taken = 1));
        }
        at += taken;
    }
}

static void fill_value(acp_writer *writer, acp_slice json, const names *names)
{
    int32_t type = 0;
    need(acp_json_type(json, acp_text(""), &type), "type");
    if (type == ACP_JSON_STRING) {
        text from = json_text(json, ""), to = {0};
        fill_string(&to, text_slice(&from), names);
        need(acp_writer_string(writer, text_slice(&to)), "string");
        text_free(&from);
        text_free(&to);
    } else if (type == ACP_JSON_ARRAY || type == ACP_JSON_OBJECT) {
        size_t len = 0;
        acp_items *items = json_items(json, &len);
        bool object = type == ACP_JSON_OBJECT;
        need(object ? acp_writer_begin_object(writer) : acp_writer_begin_array(writer), "begin");
        for (size_t i = 0; i < len; i++) {
            if (object) {
                need(acp_writer_key(writer, item_key(items, i)), "key");
            }
            fill_value(writer, item_value(items, i), names);
        }
        need(object ? acp_writer_end_object(writer) : acp_writer_end_array(writer), "end");
        acp_items_free(items);
    } else {
        need(acp_writer_json(writer, json), "value");
    }
}

text fill(acp_slice json, const names *names)
{
    acp_writer *writer = new_writer();
    fill_value(writer, json, names);
    return written(writer);
}

void expand(acp_slice rule, void (*use)(void *self, acp_slice text), void *self)
{
    acp_slice member;
    if (rule.data[0] == '"') {
        text whole = json_text(rule, "");
        use(self, text_slice(&whole));
        text_free(&whole);
    } else if (json_at(rule, "/repeat", &member)) {
        text once = json_text(member, ""), all = {0};
        for (uint64_t times = json_number(rule, "/times", 0); times > 0; times--) {
            text_add(&all, text_slice(&once));
        }
        use(self, text_slice(&all));
        text_free(&once);
        text_free(&all);
    } else {
        text form = json_text(rule, "/series");
        uint64_t last = json_number(rule, "/to", 0);
        for (uint64_t i = json_number(rule, "/from", 0); i <= last; i++) {
            text one = {0};
            for (size_t at = 0; at < form.len; at++) {
                if (form.len - at >= 3 && memcmp(form.data + at, "{i}", 3) == 0) {
                    text_format(&one, "%llu", (unsigned long long)i);
                    at += 2;
                } else {
                    text_add(&one, acp_bytes(form.data + at, 1));
                }
            }
            use(self, text_slice(&one));
            text_free(&one);
        }
        text_free(&form);
    }
}

void checksum_add(checksum *sum, acp_slice text)
{
    for (size_t i = 0; i < text.len; i++) {
        sum->hash = (sum->hash ^ (unsigned char)text.data[i]) * 0x01000193u;
    }
    sum->bytes += text.len;
}

void checksum_check(const checksum *sum, acp_slice expected, const char *bytes, const char *hash, acp_slice at)
{
    char digits[9];
    snprintf(digits, sizeof digits, "%08lx", (unsigned long)sum->hash);
    if (json_number(expected, bytes, 0) != sum->bytes) {
        fail("%.*s%s: expected %llu, got %zu", (int)at.len, at.data, bytes,
             (unsigned long long)json_number(expected, bytes, 0), sum->bytes);
    }
    if (!json_is(expected, hash, digits)) {
        fail("%.*s%s: another checksum: %s", (int)at.len, at.data, hash, digits);
    }
}
