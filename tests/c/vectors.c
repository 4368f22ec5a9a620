// Replays the vectors: `vectors include.json format.json wrong.ndjson FILE.jsonl...`. The format is in
// tests/vectors/README.md.

#include "expected.h"
#include "replay.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct scenario {
    acp_connection *connection;
    frames frames;
    acp_slice include;
    acp_slice format;
    copies copies;
} scenario;

static void feed(scenario *run, const text *bytes)
{
    frames_feed(&run->frames, text_slice(bytes));
    need(acp_connection_receive(run->connection, text_slice(bytes)), "receive");
}

static text base64(const text *from)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    text bytes = {0};
    unsigned long bits = 0;
    int held = 0;
    for (size_t i = 0; i < from->len && from->data[i] != '='; i++) {
        const char *digit = strchr(digits, from->data[i]);
        if (digit == NULL || from->data[i] == '\0') {
            die("not base64", text_slice(from));
        }
        bits = (bits << 6 | (unsigned long)(digit - digits)) & 0xffff;
        held += 6;
        if (held >= 8) {
            unsigned char byte = (unsigned char)(bits >> (held - 8) & 0xff);
            held -= 8;
            text_add(&bytes, acp_bytes(&byte, 1));
        }
    }
    return bytes;
}

// Takes what waits for the peer, as a list of messages.
static void take(scenario *run, acp_writer *list)
{
    text all = {0};
    acp_slice waits;
    need(acp_writer_begin_array(list), "transmit");
    for (;;) {
        need(acp_connection_transmit(run->connection, &waits), "transmit");
        if (waits.len == 0) {
            break;
        }
        if (run->frames.framing == ACP_FRAMING_MESSAGES) {
            need(acp_writer_string(list, waits), "transmit");
        } else {
            text_add(&all, waits);
        }
        need(acp_connection_consume(run->connection, waits.len), "consume");
    }
    for (size_t at = 0; at < all.len;) {
        const char *start = all.data + at;
        size_t length;
        if (run->frames.framing == ACP_FRAMING_CONTENT_LENGTH) {
            char *end;
            length = strtoul(start + strlen("Content-Length: "), &end, 10);
            start = end + 4;
            at = (size_t)(start - all.data) + length;
        } else {
            const char *end = memchr(start, '\n', all.len - at);
            length = (size_t)((end == NULL ? all.data + all.len : end) - start);
            at += length + 1;
        }
        need(acp_writer_string(list, acp_bytes(start, length)), "transmit");
    }
    text_free(&all);
    need(acp_writer_end_array(list), "transmit");
}

static void drain(scenario *run, acp_writer *list)
{
    acp_event *event;
    acp_status status;
    need(acp_writer_begin_array(list), "events");
    while ((status = acp_connection_poll_event(run->connection, &event)) == ACP_OK) {
        write_event(list, event);
        acp_event_free(event);
    }
    if (status != ACP_NONE) {
        need(status, "poll_event");
    }
    need(acp_writer_end_array(list), "events");
}

static void differ(text *why, const char *what, acp_slice expected, acp_slice found)
{
    text_add(why, acp_text(what));
    text_add(why, acp_text("\n    expected "));
    text_add(why, expected);
    text_add(why, acp_text("\n    found    "));
    text_add(why, found);
}

static void checked_call(scenario *run, acp_slice step, acp_writer *writer, text *why)
{
    acp_slice misuse, waits;
    size_t before;
    need(acp_connection_transmit(run->connection, &waits), "transmit");
    before = waits.len;
    acp_status status = call(run->connection, step, why);
    bool refused = json_at(step, "/misuse", &misuse);
    if (status != ACP_OK && status != ACP_MISUSE) {
        text_add(why, acp_text(acp_status_name(status)));
    } else if (status == ACP_OK && refused) {
        text_add(why, acp_text("accepted instead of refused"));
    } else if (status == ACP_MISUSE) {
        write_misuse(writer, run->connection);
        need(acp_connection_transmit(run->connection, &waits), "transmit");
        if (!refused || waits.len != before || !same_misuse(run->format, misuse, written(writer), why)) {
            differ(why, "refused", refused ? misuse : acp_text("nothing"), written(writer));
        }
    }
}

static bool same_sessions(acp_slice expected, acp_slice found)
{
    size_t count, other;
    acp_items *wanted = json_items(expected, &count), *there = json_items(found, &other);
    bool same = count == other;
    for (size_t i = 0; same && i < count; i++) {
        acp_slice session;
        same = json_member(there, other, item_key(wanted, i), &session) && json_fits(item_value(wanted, i), session);
    }
    acp_items_free(wanted);
    acp_items_free(there);
    return same;
}

// As `json_fits`, but of snapshots only the members that are expected matter.
static bool same_state(acp_slice expected, acp_slice found)
{
    size_t count, other;
    acp_items *wanted = json_items(expected, &count), *there = json_items(found, &other);
    bool same = true;
    for (size_t i = 0; same && i < count; i++) {
        acp_slice value, want = item_value(wanted, i);
        if (!json_member(there, other, item_key(wanted, i), &value)) {
            same = acp_equal(want, acp_text("null"));
        } else if (acp_equal(item_key(wanted, i), acp_text("sessions"))) {
            same = same_sessions(want, value);
        } else if (acp_equal(item_key(wanted, i), acp_text("connection"))) {
            same = json_fits(want, value);
        } else {
            same = json_same(want, value);
        }
    }
    acp_items_free(wanted);
    acp_items_free(there);
    return same;
}

static void can(scenario *run, acp_slice expected, text *why)
{
    size_t count;
    acp_items *methods = json_items(expected, &count);
    for (size_t i = 0; i < count; i++) {
        acp_slice rule = acp_text("");
        bool allowed, wanted = acp_equal(item_value(methods, i), acp_text("true"));
        need(acp_connection_can(run->connection, item_key(methods, i), &allowed), "can");
        acp_status status = acp_connection_why_not(run->connection, item_key(methods, i));
        if (status == ACP_MISUSE) {
            need(acp_connection_error_rule(run->connection, &rule), "rule");
        }
        bool same = true;
        if (!wanted) {
            need(acp_json_string_is(item_value(methods, i), acp_text(""), rule, &same), "rule");
        }
        if (!same || allowed != wanted || (status == ACP_OK) != wanted) {
            differ(why, "can", item_value(methods, i), rule);
        }
    }
    acp_items_free(methods);
}

#define MOST_GIVEN 3

// What a getter gives, by its name.
static acp_status get(scenario *run, acp_slice step, acp_slice name, acp_writer *writer)
{
    given with[MOST_GIVEN] = {{{NULL, 0}, {0}}};
    acp_slice list = acp_text("[]");
    text getter = json_text(name, "");
    size_t count;
    json_at(step, "/with", &list);
    acp_items *items = json_items(list, &count);
    for (size_t i = 0; i < count && i < MOST_GIVEN; i++) {
        with[i].json = item_value(items, i);
        with[i].string = with[i].json.data[0] == '"' ? json_text(with[i].json, "") : with[i].string;
    }
    acp_status status = write_got(writer, run->connection, text_slice(&getter), with, count);
    for (size_t i = 0; i < MOST_GIVEN; i++) {
        text_free(&with[i].string);
    }
    acp_items_free(items);
    text_free(&getter);
    return status;
}

// Asks something, which changes nothing; false when the step asks nothing.
static bool ask(scenario *run, acp_slice step, acp_writer *writer, text *why)
{
    acp_slice call, gives, value, stated = step;
    acp_status status = ACP_OK;
    if (json_at(step, "/get", &call)) {
        status = get(run, step, call, writer);
    } else if (json_at(step, "/cut_output", &call)) {
        text output = json_text(call, "/output");
        bool truncated = false;
        status = acp_cut_output(text_slice(&output), json_number(call, "/limit"), &value, &truncated);
        write_output(writer, value, truncated);
        text_free(&output);
        stated = call;
    } else {
        return false;
    }
    if (status != ACP_OK || !json_at(stated, "/gives", &gives) || !json_same(gives, written(writer))) {
        differ(why, acp_status_name(status), step, status != ACP_OK ? acp_text("") : written(writer));
    }
    return true;
}

static void play(scenario *run, acp_slice steps, text *why);

static void play_step(scenario *run, acp_slice step, acp_writer *writer, text *why)
{
    acp_slice value;
    if (!known_step(run->format, step, why)) {
        return;
    }
    if (json_at(step, "/include", &value)) {
        text name = json_text(value, ""), pointer = {0};
        text_add(&pointer, acp_text("/"));
        text_add(&pointer, text_slice(&name));
        need(acp_json_find(run->include, text_slice(&pointer), &value), "include");
        play(run, value, why);
        text_free(&name);
        text_free(&pointer);
    } else if (json_at(step, "/feed", &value)) {
        text bytes = json_text(value, "");
        feed(run, &bytes);
        text_free(&bytes);
    } else if (json_at(step, "/feed_base64", &value)) {
        text coded = json_text(value, ""), bytes = base64(&coded);
        feed(run, &bytes);
        text_free(&coded);
        text_free(&bytes);
    } else if (json_at(step, "/feed_repeat", &value)) {
        text once = json_text(value, "/text"), bytes = {0};
        for (uint64_t i = json_number(value, "/times"); i > 0; i--) {
            text_add(&bytes, text_slice(&once));
        }
        feed(run, &bytes);
        text_free(&once);
        text_free(&bytes);
    } else if (json_at(step, "/eof", &value)) {
        frames_end(&run->frames);
        need(acp_connection_receive_eof(run->connection), "eof");
    } else if (json_at(step, "/time", &value)) {
        need(acp_connection_handle_timeout(run->connection, json_number(step, "/time")), "time");
    } else if (json_at(step, "/close", &value)) {
        need(acp_connection_close(run->connection), "close");
    } else if (json_at(step, "/expect", &value)) {
        drain(run, writer);
        if (!same_events(run->format, value, written(writer), &run->frames, why)) {
            differ(why, "events", value, written(writer));
        }
    } else if (json_at(step, "/transmit", &value)) {
        take(run, writer);
        if (!json_same(value, written(writer))) {
            differ(why, "sent", value, written(writer));
        }
    } else if (json_at(step, "/state", &value)) {
        write_state(writer, run->connection);
        if (!same_state(value, written(writer))) {
            differ(why, "state", value, written(writer));
        }
    } else if (json_at(step, "/view", &value)) {
        // What was told and is to be sent meanwhile is for other scenarios.
        drain(run, writer);
        need(acp_writer_reset(writer), "view");
        take(run, writer);
        look(run->connection, step, &run->copies, why);
    } else if (json_at(step, "/can", &value)) {
        can(run, value, why);
    } else if (!ask(run, step, writer, why)) {
        checked_call(run, step, writer, why);
    }
}

static void play(scenario *run, acp_slice steps, text *why)
{
    size_t count;
    acp_items *list = json_items(steps, &count);
    for (size_t i = 0; i < count && why->len == 0; i++) {
        acp_writer *writer;
        need(acp_writer_new(&writer), "writer");
        play_step(run, item_value(list, i), writer, why);
        acp_writer_free(writer);
        if (why->len > 0) {
            char where[32];
            snprintf(where, sizeof where, " (step %zu)", i + 1);
            text_add(why, acp_text(where));
        }
    }
    acp_items_free(list);
}

static bool replay(const char *file, acp_slice line, acp_slice include, acp_slice format)
{
    acp_slice given, steps;
    acp_writer *writer;
    text why = {0}, name = json_text(line, "/name");
    if (!json_at(line, "/config", &given) || !json_at(line, "/steps", &steps)) {
        die("a scenario without config or steps", line);
    }
    acp_config *config = config_of(given);
    scenario run = {NULL, {0, {0}, NULL, 0}, include, format, {NULL, 0}};
    need(acp_config_framing(config, &run.frames.framing), "framing");
    need(acp_connection_new(config, &run.connection), "connection");
    acp_config_free(config);
    if (known_scenario(format, line, &why)) {
        play(&run, steps, &why);
    }
    need(acp_writer_new(&writer), "writer");
    need(acp_writer_begin_array(writer), "left");
    drain(&run, writer);
    take(&run, writer);
    need(acp_writer_end_array(writer), "left");
    if (why.len == 0 && !acp_equal(written(writer), acp_text("[[],[]]"))) {
        differ(&why, "left over", acp_text("[[],[]]"), written(writer));
    }
    if (why.len > 0 && file != NULL) {
        printf("FAILED %s: %.*s: %.*s\n", file, (int)name.len, name.data, (int)why.len, why.data);
    }
    bool passed = why.len == 0;
    acp_writer_free(writer);
    frames_free(&run.frames);
    copies_free(&run.copies);
    acp_connection_free(run.connection);
    text_free(&name);
    text_free(&why);
    return passed;
}

// Replays each line of a file and counts; those of `wrong` must fail.
static void replay_all(const char *file, bool wrong, acp_slice include, acp_slice format, size_t *passed, size_t *failed)
{
    text all = read_file(file);
    for (size_t at = 0; at < all.len;) {
        const char *start = all.data + at, *end = memchr(start, '\n', all.len - at);
        size_t length = end == NULL ? all.len - at : (size_t)(end - start);
        at += length + 1;
        if (length == 0) {
            continue;
        }
        bool right = replay(wrong ? NULL : file, acp_bytes(start, length), include, format);
        if (wrong && right) {
            printf("FAILED %s: passed: %.*s\n", file, (int)length, start);
        }
        right ? (*passed)++ : (*failed)++;
    }
    text_free(&all);
}

int main(int count, char **files)
{
    size_t passed = 0, failed = 0, wrong = 0, right = 0;
    if (count < 5) {
        fprintf(stderr, "usage: vectors include.json format.json wrong.ndjson FILE.jsonl...\n");
        return 2;
    }
    text include = read_file(files[1]), format = read_file(files[2]);
    for (int i = 4; i < count; i++) {
        replay_all(files[i], false, text_slice(&include), text_slice(&format), &passed, &failed);
    }
    replay_all(files[3], true, text_slice(&include), text_slice(&format), &wrong, &right);
    text_free(&include);
    text_free(&format);
    printf("note: vectors replayed in C: %zu\n", passed + failed);
    printf("%zu passed, %zu failed\n", passed, failed + wrong);
    return failed + wrong == 0 ? 0 : 1;
}
