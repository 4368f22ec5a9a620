// The host's calls that a scenario makes.

#include "replay.h"

#include <stdio.h>

// Adds JSON without the blanks between its tokens.
static void add_compact(text *out, acp_slice json)
{
    bool quoted = false;
    for (size_t i = 0; i < json.len; i++) {
        size_t step = quoted && json.data[i] == '\\' ? 2 : 1;
        if (json.data[i] == '"') {
            quoted = !quoted;
        }
        if (quoted || strchr(" \t\r\n", json.data[i]) == NULL) {
            text_add(out, acp_bytes(json.data + i, step));
        }
        i += step - 1;
    }
}

// The JSON text that a call passes: a value, or where its exact text matters, a string that holds it.
static text payload(acp_slice call, const char *name)
{
    char pointer[32];
    acp_slice value = acp_text("{}");
    text copy = {0};
    snprintf(pointer, sizeof pointer, "/%s_text", name);
    if (json_at(call, pointer, &value)) {
        return json_text(call, pointer);
    }
    snprintf(pointer, sizeof pointer, "/%s", name);
    json_at(call, pointer, &value);
    add_compact(&copy, value);
    return copy;
}

// The number of the request that an id names; one that names none where none is open.
static uint64_t serial_of(acp_connection *connection, acp_slice call, bool own)
{
    text id = json_text(call, "/id");
    uint64_t serial = UINT64_MAX;
    acp_status status = own ? acp_connection_pending_by_id(connection, text_slice(&id), &serial)
                            : acp_connection_unanswered_by_id(connection, text_slice(&id), &serial);
    if (status < 0) {
        need(status, "id");
    }
    text_free(&id);
    return serial;
}

static acp_status request(acp_connection *connection, acp_slice step, acp_slice call, text *why)
{
    acp_slice value, sent;
    uint64_t serial;
    text method = json_text(call, "/method"), params = payload(call, "params"), id = {0};
    uint64_t timeout = ACP_UNSET;
    if (json_at(call, "/timeout", &value)) {
        timeout = acp_equal(value, acp_text("null")) ? ACP_NEVER : json_number(call, "/timeout");
    }
    if (json_at(call, "/id", &value)) {
        id = json_text(call, "/id");
    }
    acp_status status = acp_connection_request_with(connection, text_slice(&method), text_slice(&params),
                                                    text_slice(&id), timeout, &serial);
    if (status == ACP_OK && json_at(step, "/returns", &value)) {
        need(acp_connection_pending_id(connection, serial, &sent), "id");
        text expected = json_text(value, "");
        if (!acp_equal(text_slice(&expected), sent)) {
            text_add(why, acp_text("another id than expected: "));
            text_add(why, sent);
        }
        text_free(&expected);
    }
    text_free(&method);
    text_free(&params);
    text_free(&id);
    return status;
}

acp_status call(acp_connection *connection, acp_slice step, text *why)
{
    acp_slice call, data;
    acp_status status;
    if (json_at(step, "/request", &call)) {
        return request(connection, step, call, why);
    }
    if (json_at(step, "/notify", &call)) {
        text method = json_text(call, "/method"), params = payload(call, "params");
        status = acp_connection_notify(connection, text_slice(&method), text_slice(&params));
        text_free(&method);
        text_free(&params);
        return status;
    }
    if (json_at(step, "/respond", &call)) {
        text result = payload(call, "result");
        status = acp_connection_respond(connection, serial_of(connection, call, false), text_slice(&result));
        text_free(&result);
        return status;
    }
    if (json_at(step, "/respond_error", &call)) {
        int64_t code;
        text message = json_text(call, "/message"), none = {0};
        text more = json_at(call, "/data", &data) || json_at(call, "/data_text", &data) ? payload(call, "data") : none;
        need(acp_json_int64(call, acp_text("/code"), &code), "code");
        status = acp_connection_respond_error(connection, serial_of(connection, call, false), (int32_t)code,
                                              text_slice(&message), text_slice(&more));
        text_free(&message);
        text_free(&more);
        return status;
    }
    if (json_at(step, "/cancel", &call)) {
        // Requests are cancelled by their numbers here; null, which has none, can only be said in the message itself.
        acp_slice id;
        if (json_at(call, "/id", &id) && json_same(id, acp_text("\"null\""))) {
            return acp_connection_notify(connection, acp_text("$/cancel_request"),
                                         acp_text("{\"requestId\":null}"));
        }
        return acp_connection_cancel(connection, serial_of(connection, call, true));
    }
    die("a step of no known kind", step);
    return ACP_OK;
}
