// What is read from a vector of the remote transports, and written to be compared with it.

#include "remote.h"

text one_message(acp_slice value)
{
    text out = {0};
    int32_t type = 0;
    need(acp_json_type(value, acp_text(""), &type), "a value");
    if (type == ACP_JSON_STRING) {
        return json_text(value, "");
    }
    bool inside = false;
    for (size_t i = 0; i < value.len; i++) {
        char byte = value.data[i];
        if (!inside && strchr(" \t\r\n", byte) != NULL) {
            continue;
        }
        text_add(&out, acp_bytes(value.data + i, 1));
        if (inside && byte == '\\') {
            text_add(&out, acp_bytes(value.data + ++i, 1));
        } else if (byte == '"') {
            inside = !inside;
        }
    }
    return out;
}

text message(acp_slice step, const char *name)
{
    acp_slice value = acp_text("null");
    has(step, name, &value);
    return one_message(value);
}

acp_slice finished(acp_writer *writer)
{
    acp_slice json = {NULL, 0};
    need(acp_writer_finish(writer, &json), "finish");
    return json;
}

static bool is_json(acp_slice value)
{
    acp_writer *writer;
    acp_slice json;
    need(acp_writer_new(&writer), "writer");
    bool is = acp_writer_json(writer, value) == ACP_OK && acp_writer_finish(writer, &json) == ACP_OK;
    acp_writer_free(writer);
    return is;
}

void write_message(acp_writer *writer, acp_slice value)
{
    if (value.len == 0) {
        need(acp_writer_null(writer), "null");
    } else if (is_json(value)) {
        need(acp_writer_json(writer, value), "json");
    } else {
        need(acp_writer_string(writer, value), "string");
    }
}

void write_word(acp_writer *writer, const char *name, acp_slice word)
{
    need(acp_writer_key(writer, acp_text(name)), name);
    need(acp_writer_string(writer, word), name);
}

void write_json(acp_writer *writer, const char *name, acp_slice json)
{
    need(acp_writer_key(writer, acp_text(name)), name);
    need(acp_writer_json(writer, json), name);
}

void write_headers(acp_writer *writer, acp_slice pairs)
{
    size_t len;
    acp_items *items = json_items(pairs, &len);
    need(acp_writer_begin_object(writer), "headers");
    for (size_t i = 0; i < len; i++) {
        text name = json_text(item_value(items, i), "/0"), value = json_text(item_value(items, i), "/1");
        need(acp_writer_key(writer, text_slice(&name)), "a header");
        need(acp_writer_string(writer, text_slice(&value)), "a header");
        text_free(&name);
        text_free(&value);
    }
    need(acp_writer_end_object(writer), "headers");
    acp_items_free(items);
}

void write_frame(acp_writer *writer, acp_slice frame, acp_slice value)
{
    acp_slice code;
    text kind = json_text(frame, "/frame");
    if (acp_equal(text_slice(&kind), acp_text("text"))) {
        write_message(writer, value);
    } else if (json_at(frame, "/code", &code)) {
        need(acp_writer_begin_object(writer), "close");
        write_json(writer, "close", code);
        need(acp_writer_end_object(writer), "close");
    } else {
        need(acp_writer_string(writer, text_slice(&kind)), "frame");
    }
    text_free(&kind);
}

static acp_slice keep(heads *heads, acp_slice part)
{
    if (heads->used == sizeof heads->texts / sizeof *heads->texts) {
        die("too many headers", part);
    }
    text *copy = &heads->texts[heads->used++];
    text_add(copy, part);
    return text_slice(copy);
}

void heads_add(heads *heads, acp_slice name, acp_slice value)
{
    acp_header *header = &heads->list[heads->len++];
    header->name = keep(heads, name);
    header->value = keep(heads, value);
}

static void heads_add_text(heads *heads, acp_slice name, acp_slice json)
{
    text value = json_text(json, "");
    heads_add(heads, name, text_slice(&value));
    text_free(&value);
}

void heads_put(heads *heads, acp_slice members)
{
    size_t len, count;
    acp_items *items = json_items(members, &len);
    for (size_t i = 0; i < len; i++) {
        acp_slice name = item_key(items, i), value = item_value(items, i);
        for (size_t j = 0; j < heads->len; j++) {
            if (acp_equal(heads->list[j].name, name)) {
                heads->list[j] = heads->list[--heads->len];
            }
        }
        if (value.data[0] != '[') {
            heads_add_text(heads, name, value);
            continue;
        }
        acp_items *values = json_items(value, &count);
        for (size_t j = 0; j < count; j++) {
            heads_add_text(heads, name, item_value(values, j));
        }
        acp_items_free(values);
    }
    acp_items_free(items);
}

void heads_free(heads *heads)
{
    for (size_t i = 0; i < heads->used; i++) {
        text_free(&heads->texts[i]);
    }
}
