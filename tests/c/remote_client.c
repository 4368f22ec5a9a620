// The steps of a scenario that is about a client.

#include "remote.h"

#include <stdio.h>

bool client_new(run *run)
{
    acp_string why = {NULL, 0};
    if (acp_http_client_new(run->options, 1, &run->client) != ACP_OK) {
        need(acp_http_client_options_error(run->options, &why), "why");
        fail(run, "the options", run->options, acp_string_slice(why));
        acp_string_free(&why);
        return false;
    }
    if (acp_http_client_options_error(run->options, &why) != ACP_NONE) {
        fail(run, "the options", run->options, acp_text("no error"));
    }
    return true;
}

void client_events(run *run, acp_writer *writer)
{
    acp_slice action, told;
    acp_status status;
    while ((status = acp_http_client_poll_action(run->client, &action, &told)) == ACP_OK) {
        size_t len;
        acp_items *items = json_items(action, &len);
        need(acp_writer_begin_object(writer), "action");
        for (size_t i = 0; i < len; i++) {
            acp_slice name = item_key(items, i), value = item_value(items, i);
            need(acp_writer_key(writer, name), "key");
            if (acp_equal(name, acp_text("headers"))) {
                write_headers(writer, value);
            } else if (acp_equal(name, acp_text("body")) || acp_equal(name, acp_text("json"))) {
                write_message(writer, told);
            } else if (acp_equal(name, acp_text("frame"))) {
                write_frame(writer, value, told);
            } else {
                need(acp_writer_json(writer, value), "value");
            }
        }
        need(acp_writer_end_object(writer), "action");
        acp_items_free(items);
    }
    if (status != ACP_NONE) {
        die("poll_action", acp_text(acp_status_name(status)));
    }
}

static void response(run *run, acp_slice step)
{
    acp_slice value;
    heads heads = {0};
    only(run, step, "response status headers");
    if (has(step, "headers", &value)) {
        heads_put(&heads, value);
    }
    need(acp_http_client_response(run->client, number(run, step, "response"), (uint16_t)number(run, step, "status"),
                                  heads.list, heads.len),
         "response");
    heads_free(&heads);
}

// Bytes of a body: as they stand, messages as events, a message.
static text body(acp_slice step)
{
    acp_slice value;
    text all = {0};
    if (has(step, "raw", &value)) {
        all = json_text(value, "");
    }
    if (has(step, "events", &value)) {
        size_t len;
        acp_items *items = json_items(value, &len);
        for (size_t i = 0; i < len; i++) {
            text event = one_message(item_value(items, i));
            text_add(&all, acp_text("data: "));
            text_add(&all, text_slice(&event));
            text_add(&all, acp_text("\n\n"));
            text_free(&event);
        }
        acp_items_free(items);
    }
    if (has(step, "json", &value)) {
        text json = one_message(value);
        text_add(&all, text_slice(&json));
        text_free(&json);
    }
    return all;
}

static void data(run *run, acp_slice step)
{
    uint64_t exchange = number(run, step, "data");
    text all = body(step);
    only(run, step, "data events json raw");
    for (size_t at = 0; at < all.len;) {
        size_t piece = all.len - at < run->size ? all.len - at : run->size;
        need(acp_http_client_data(run->client, exchange, acp_bytes(all.data + at, piece)), "data");
        at += piece;
    }
    text_free(&all);
}

static void send_message(run *run, acp_slice step)
{
    int32_t outcome = 0;
    acp_slice rule = {NULL, 0};
    text json = message(step, "send");
    only(run, step, "send gives misuse");
    acp_status status = acp_http_client_send(run->client, text_slice(&json), &outcome);
    if (status == ACP_MISUSE) {
        need(acp_http_client_error_rule(run->client, &rule), "rule");
    }
    sending(run, step, status, outcome, rule);
    text_free(&json);
}

static void set_headers(run *run, acp_slice step)
{
    heads heads = {0};
    acp_slice members = acp_text("{}");
    only(run, step, "set_header");
    has(step, "set_header", &members);
    heads_put(&heads, members);
    for (size_t i = 0; i < heads.len; i++) {
        need(acp_http_client_set_header(run->client, heads.list[i].name, heads.list[i].value), "set_header");
    }
    heads_free(&heads);
}

void client_step(run *run, acp_slice step)
{
    acp_slice value;
    acp_http_client *client = run->client;
    uint64_t wakes = 0;
    char found[32];
    if (has(step, "send", &value)) {
        send_message(run, step);
    } else if (has(step, "response", &value)) {
        response(run, step);
    } else if (has(step, "data", &value)) {
        data(run, step);
    } else if (has(step, "end", &value)) {
        only(run, step, "end");
        need(acp_http_client_end(client, number(run, step, "end")), "end");
    } else if (has(step, "failed", &value)) {
        only(run, step, "failed sent");
        need(acp_http_client_failed(client, number(run, step, "failed"), flag(run, step, "sent")), "failed");
    } else if (has(step, "text", &value)) {
        text told = message(step, "text");
        only(run, step, "text on");
        need(acp_http_client_text(client, number(run, step, "on"), text_slice(&told)), "text");
        text_free(&told);
    } else if (has(step, "binary", &value)) {
        only(run, step, "binary");
        need(acp_http_client_binary(client, number(run, step, "binary")), "binary");
    } else if (has(step, "closed", &value)) {
        only(run, step, "closed code");
        need(acp_http_client_closed(client, number(run, step, "closed"), (uint16_t)number(run, step, "code")), "closed");
    } else if (has(step, "time", &value)) {
        only(run, step, "time");
        need(acp_http_client_handle_timeout(client, number(run, step, "time")), "time");
    } else if (has(step, "wakes", &value)) {
        only(run, step, "wakes");
        bool none = acp_http_client_poll_timeout(client, &wakes) == ACP_NONE;
        snprintf(found, sizeof found, "%llu", (unsigned long long)wakes);
        same(run, "the next time", acp_text(none ? "null" : found), value);
    } else if (has(step, "close", &value)) {
        only(run, step, "close");
        need(acp_http_client_close(client), "close");
    } else if (has(step, "retry", &value)) {
        only(run, step, "retry");
        need(acp_http_client_retry(client), "retry");
    } else {
        set_headers(run, step);
    }
}
