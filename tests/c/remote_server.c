// The steps of a scenario that is about a server.

#include "remote.h"

#include <stdint.h>
#include <stdio.h>

bool server_new(run *run)
{
    acp_string why = {NULL, 0};
    if (acp_http_server_new(run->options, &run->server) != ACP_OK) {
        need(acp_http_server_options_error(run->options, &why), "why");
        fail(run, "the options", run->options, acp_string_slice(why));
        acp_string_free(&why);
        return false;
    }
    if (acp_http_server_options_error(run->options, &why) != ACP_NONE) {
        fail(run, "the options", run->options, acp_text("no error"));
    }
    for (int block = 1; block <= 60; block++) {
        char bytes[16];
        memset(bytes, block, sizeof bytes);
        need(acp_http_server_add_entropy(run->server, acp_bytes(bytes, sizeof bytes)), "entropy");
    }
    return true;
}

static uint64_t key(run *run, acp_slice step, const char *name)
{
    uint64_t at = number(run, step, name);
    if (at == 0 || at > run->opened) {
        fail(run, "no connection", step, acp_text("one that was opened"));
        return 0;
    }
    return run->keys[at - 1];
}

// The number of a connection in the scenario; null if it is not known.
static void write_connection(run *run, acp_writer *writer, acp_slice value)
{
    uint64_t given = 0, at = 0;
    if (acp_json_uint64(value, acp_text(""), &given) == ACP_OK) {
        while (at < run->opened && run->keys[at] != given) {
            at++;
        }
    }
    need(acp_writer_key(writer, acp_text("connection")), "connection");
    need(given == 0 || at == run->opened ? acp_writer_null(writer) : acp_writer_int64(writer, (int64_t)at + 1), "connection");
}

// The members of a response: its headers by name, its body as a message, and the rule that an error names.
static void write_response(acp_writer *writer, acp_slice sent)
{
    acp_slice value, rule = acp_text("null");
    text body = json_text(sent, "/body");
    if (json_at(sent, "/status", &value)) {
        write_json(writer, "status", value);
    }
    if (json_at(sent, "/headers", &value)) {
        need(acp_writer_key(writer, acp_text("headers")), "headers");
        write_headers(writer, value);
    }
    need(acp_writer_key(writer, acp_text("body")), "body");
    write_message(writer, text_slice(&body));
    acp_json_find(text_slice(&body), acp_text("/error/data/rule"), &rule);
    write_json(writer, "rule", rule);
    text_free(&body);
}

static void write_event(run *run, acp_writer *writer, acp_slice event, acp_slice told)
{
    size_t len;
    acp_slice key;
    bool opened = false;
    acp_items *items = json_items(event, &len);
    need(acp_json_string_is(event, acp_text("/event"), acp_text("opened"), &opened), "event");
    if (opened) {
        if (run->opened == CONNECTIONS) {
            die("too many connections", event);
        }
        run->keys[run->opened++] = json_number(event, "/connection");
    }
    need(acp_writer_begin_object(writer), "event");
    for (size_t i = 0; i < len; i++) {
        key = item_key(items, i);
        if (acp_equal(key, acp_text("connection"))) {
            write_connection(run, writer, item_value(items, i));
        } else if (acp_equal(key, acp_text("response"))) {
            write_response(writer, item_value(items, i));
        } else {
            need(acp_writer_key(writer, key), "key");
            if (acp_equal(key, acp_text("json"))) {
                write_message(writer, told);
            } else {
                need(acp_writer_json(writer, item_value(items, i)), "value");
            }
        }
    }
    need(acp_writer_end_object(writer), "event");
    acp_items_free(items);
}

void server_events(run *run, acp_writer *writer)
{
    acp_slice event, told;
    acp_status status;
    while ((status = acp_http_server_poll_event(run->server, &event, &told)) == ACP_OK) {
        write_event(run, writer, event, told);
    }
    if (status != ACP_NONE) {
        die("poll_event", acp_text(acp_status_name(status)));
    }
}

// What became of a request, as a vector says it.
static void gives(run *run, acp_slice step, acp_slice found)
{
    acp_slice expected = acp_text("null"), value;
    acp_writer *writer;
    text what = json_text(found, "/step");
    has(step, "gives", &expected);
    text_add(&what, acp_bytes("", 1));
    need(acp_writer_new(&writer), "writer");
    if (strcmp(what.data, "wait") == 0 || strcmp(what.data, "body") == 0) {
        need(acp_writer_string(writer, acp_text(what.data)), "step");
    } else {
        need(acp_writer_begin_object(writer), "step");
        if (strcmp(what.data, "respond") == 0) {
            write_response(writer, found);
        } else if (json_at(found, "/status", &value)) {
            write_json(writer, what.data, value);
            need(acp_writer_key(writer, acp_text("headers")), "headers");
            write_headers(writer, json_at(found, "/headers", &value) ? value : acp_text("[]"));
        }
        need(acp_writer_end_object(writer), "step");
    }
    same(run, "the response", finished(writer), expected);
    acp_writer_free(writer);
    text_free(&what);
}

static void request(run *run, acp_slice step)
{
    acp_slice value, found;
    heads heads = {0};
    text body, method = {0}, target = {0};
    uint64_t exchange = number(run, step, "request");
    only(run, step, "request method target headers body body_text bare open gives");
    method = has(step, "method", &value) ? json_text(value, "") : method;
    target = has(step, "target", &value) ? json_text(value, "") : target;
    text_add(&method, acp_text(method.len > 0 ? "" : "POST"));
    text_add(&target, acp_text(target.len > 0 ? "" : "/acp"));
    if (!has(step, "bare", &value)) {
        heads_add(&heads, acp_text("host"), acp_text("localhost:7332"));
        if (acp_equal(text_slice(&method), acp_text("POST"))) {
            heads_add(&heads, acp_text("content-type"), acp_text("application/json"));
        } else if (acp_equal(text_slice(&method), acp_text("GET"))) {
            heads_add(&heads, acp_text("accept"), acp_text("text/event-stream"));
        }
    }
    if (has(step, "headers", &value)) {
        heads_put(&heads, value);
    }
    need(acp_http_server_request(run->server, exchange, text_slice(&method), text_slice(&target), heads.list, heads.len, &found),
         "request");
    body = message(step, has(step, "body_text", &value) ? "body_text" : "body");
    bool more = false, open = has(step, "open", &value);
    need(acp_json_string_is(found, acp_text("/step"), acp_text("body"), &more), "step");
    for (size_t at = 0; more && !open;) {
        size_t piece = body.len - at < run->size ? body.len - at : run->size;
        acp_slice bytes = acp_bytes(body.data + at, piece);
        at += piece;
        need(acp_http_server_body(run->server, exchange, bytes, at == body.len, &found), "body");
        need(acp_json_string_is(found, acp_text("/step"), acp_text("body"), &more), "step");
        if (more && at == body.len) {
            fail(run, "the body is over", found, acp_text("another step"));
            break;
        }
    }
    gives(run, step, found);
    heads_free(&heads);
    text_free(&body);
    text_free(&method);
    text_free(&target);
}

// The data of an event of a stream, or all of it where it is another.
static void write_streamed(acp_writer *writer, acp_slice event)
{
    static const char start[] = "data: ";
    size_t len = sizeof start - 1;
    bool data = event.len >= len && memcmp(event.data, start, len) == 0;
    if (data) {
        write_message(writer, acp_bytes(event.data + len, event.len - len));
    } else {
        need(acp_writer_string(writer, event), "event");
    }
}

static void stream(run *run, acp_slice step)
{
    acp_slice value, waits;
    acp_writer *writer;
    text all = {0};
    uint64_t exchange = number(run, step, "stream");
    size_t most = has(step, "take", &value) ? (size_t)number(run, step, "take") : SIZE_MAX;
    only(run, step, "stream messages bytes take");
    while (all.len < most) {
        need(acp_http_server_transmit(run->server, exchange, &waits), "transmit");
        waits.len = waits.len < run->size ? waits.len : run->size;
        waits.len = waits.len < most - all.len ? waits.len : most - all.len;
        if (waits.len == 0) {
            break;
        }
        text_add(&all, waits);
        need(acp_http_server_consume(run->server, exchange, waits.len), "consume");
    }
    need(acp_writer_new(&writer), "writer");
    if (has(step, "bytes", &value)) {
        need(acp_writer_string(writer, text_slice(&all)), "bytes");
        same(run, "the stream", finished(writer), value);
    } else {
        need(acp_writer_begin_array(writer), "messages");
        for (size_t at = 0, end; at < all.len; at = end + 2) {
            for (end = at; end < all.len && (end + 1 == all.len || memcmp(all.data + end, "\n\n", 2) != 0); end++) {
            }
            write_streamed(writer, acp_bytes(all.data + at, end - at));
        }
        need(acp_writer_end_array(writer), "messages");
        same_list(run, "the messages", finished(writer), has(step, "messages", &value) ? value : acp_text("null"));
    }
    acp_writer_free(writer);
    text_free(&all);
}

static void frames(run *run, acp_slice step)
{
    acp_slice wanted = acp_text("null"), frame, told;
    acp_writer *writer;
    size_t count = 0;
    uint64_t exchange = number(run, step, "frames");
    only(run, step, "frames are");
    if (!has(step, "are", &wanted) || acp_json_len(wanted, acp_text(""), &count) != ACP_OK) {
        fail(run, "the frames", wanted, acp_text("a list"));
        return;
    }
    acp_items *list = json_items(wanted, &count);
    need(acp_writer_new(&writer), "writer");
    need(acp_writer_begin_array(writer), "frames");
    for (size_t i = 0; acp_http_server_frame(run->server, exchange, &frame, &told) == ACP_OK; i++) {
        acp_slice rule, code = acp_text("null");
        if (i < count && item_value(list, i).data[0] == '{' && json_at(item_value(list, i), "/rule", &rule)) {
            rule = acp_text("null");
            acp_json_find(told, acp_text("/error/code"), &code);
            acp_json_find(told, acp_text("/error/data/rule"), &rule);
            need(acp_writer_begin_object(writer), "error");
            write_json(writer, "error", code);
            write_json(writer, "rule", rule);
            need(acp_writer_end_object(writer), "error");
        } else {
            write_frame(writer, frame, told);
        }
    }
    need(acp_writer_end_array(writer), "frames");
    same_list(run, "the frames", finished(writer), wanted);
    acp_writer_free(writer);
    acp_items_free(list);
}

static void send_message(run *run, acp_slice step)
{
    int32_t outcome = 0;
    acp_slice rule = {NULL, 0};
    text json = message(step, "send");
    only(run, step, "send to gives misuse");
    acp_status status = acp_http_server_send(run->server, key(run, step, "to"), text_slice(&json), &outcome);
    if (status == ACP_MISUSE) {
        need(acp_http_server_error_rule(run->server, &rule), "rule");
    }
    sending(run, step, status, outcome, rule);
    text_free(&json);
}

static void answers(run *run, acp_slice step)
{
    acp_slice value;
    uint64_t wakes;
    bool hungry;
    char found[32];
    if (has(step, "wakes", &value)) {
        only(run, step, "wakes");
        bool none = acp_http_server_poll_timeout(run->server, &wakes) == ACP_NONE;
        snprintf(found, sizeof found, "%llu", (unsigned long long)(none ? 0 : wakes));
        same(run, "the next time", acp_text(none ? "null" : found), value);
    } else {
        only(run, step, "hungry is");
        need(acp_http_server_is_hungry(run->server, number(run, step, "hungry"), &hungry), "hungry");
        same(run, "hunger", acp_text(hungry ? "true" : "false"), has(step, "is", &value) ? value : acp_text("null"));
    }
}

void server_step(run *run, acp_slice step)
{
    acp_slice value;
    acp_http_server *server = run->server;
    size_t wants = 0;
    if (has(step, "request", &value)) {
        request(run, step);
    } else if (has(step, "send", &value)) {
        send_message(run, step);
    } else if (has(step, "stream", &value)) {
        stream(run, step);
    } else if (has(step, "text", &value)) {
        text told = message(step, "text");
        only(run, step, "text on");
        need(acp_http_server_text(server, number(run, step, "on"), text_slice(&told)), "text");
        text_free(&told);
    } else if (has(step, "frames", &value)) {
        frames(run, step);
    } else if (has(step, "pause", &value)) {
        only(run, step, "pause paused");
        need(acp_http_server_pause(server, key(run, step, "pause"), flag(run, step, "paused")), "pause");
    } else if (has(step, "fail", &value)) {
        text why = message(step, "why");
        only(run, step, "fail why");
        need(acp_http_server_fail(server, key(run, step, "fail"), text_slice(&why)), "fail");
        text_free(&why);
    } else if (has(step, "wakes", &value) || has(step, "hungry", &value)) {
        answers(run, step);
    } else {
        only(run, step, has(step, "closed", &value)   ? "closed"
                        : has(step, "close", &value)  ? "close"
                        : has(step, "binary", &value) ? "binary"
                        : has(step, "pong", &value)   ? "pong"
                        : has(step, "time", &value)   ? "time"
                                                      : "entropy");
        if (has(step, "closed", &value)) {
            need(acp_http_server_closed(server, number(run, step, "closed")), "closed");
        } else if (has(step, "close", &value)) {
            need(acp_http_server_close(server, key(run, step, "close")), "close");
        } else if (has(step, "binary", &value)) {
            need(acp_http_server_binary(server, number(run, step, "binary")), "binary");
        } else if (has(step, "pong", &value)) {
            need(acp_http_server_pong(server, number(run, step, "pong")), "pong");
        } else if (has(step, "time", &value)) {
            need(acp_http_server_handle_timeout(server, number(run, step, "time")), "time");
        } else {
            acp_http_server_free(server);
            need(acp_http_server_new(run->options, &run->server), "server");
            need(acp_http_server_wants_entropy(run->server, &wants), "wants");
            if (wants == 0) {
                fail(run, "a server without randomness", acp_text("wants none"), acp_text("some"));
            }
        }
    }
}
