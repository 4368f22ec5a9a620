// Replays the vectors of the remote transports, which ../http/README.md describes, through acp.h, with bodies and streams
// in pieces of every size. Usage: remote [--few] include.json wrong.ndjson FILE.jsonl...; with --few, in pieces of some
// sizes, for checkers that are slow. Read next: remote.h,
// remote_values.c, remote_server.c, remote_client.c.

#include "remote.h"

#include <stdint.h>
#include <stdio.h>

static bool few;

void need(acp_status status, const char *what)
{
    if (status != ACP_OK) {
        die(what, acp_text(acp_status_name(status)));
    }
}

void fail(run *run, const char *what, acp_slice found, acp_slice expected)
{
    if (run->why.len == 0) {
        text_add(&run->why, acp_text(what));
        text_add(&run->why, acp_text(": "));
        text_add(&run->why, found);
        text_add(&run->why, acp_text(", expected "));
        text_add(&run->why, expected);
    }
}

bool has(acp_slice step, const char *name, acp_slice *value)
{
    size_t len;
    acp_items *items = json_items(step, &len);
    bool there = json_member(items, len, acp_text(name), value);
    acp_items_free(items);
    return there;
}

static bool among(const char *known, acp_slice name)
{
    for (const char *word = known; *word != 0;) {
        size_t len = strcspn(word, " ");
        if (len == name.len && memcmp(word, name.data, len) == 0) {
            return true;
        }
        word += len + (word[len] == ' ');
    }
    return false;
}

void only(run *run, acp_slice step, const char *known)
{
    size_t len;
    acp_items *items = json_items(step, &len);
    for (size_t i = 0; i < len; i++) {
        if (!among(known, item_key(items, i))) {
            fail(run, "a member that does not exist", item_key(items, i), acp_text(known));
        }
    }
    acp_items_free(items);
}

uint64_t number(run *run, acp_slice step, const char *name)
{
    uint64_t out = 0;
    acp_slice value;
    if (!has(step, name, &value) || acp_json_uint64(value, acp_text(""), &out) != ACP_OK) {
        fail(run, name, step, acp_text("a number"));
    }
    return out;
}

bool flag(run *run, acp_slice step, const char *name)
{
    bool out = false;
    acp_slice value;
    if (!has(step, name, &value) || acp_json_bool(value, acp_text(""), &out) != ACP_OK) {
        fail(run, name, step, acp_text("a boolean"));
    }
    return out;
}

// Whether an object has these members, null for those that it does not have.
static bool has_all(acp_slice found, acp_slice expected, bool headers)
{
    size_t count, other;
    acp_items *wanted = json_items(expected, &count), *there = json_items(found, &other);
    bool fits = true;
    for (size_t i = 0; fits && i < count; i++) {
        acp_slice name = item_key(wanted, i), value = acp_text("null");
        bool is_there = json_member(there, other, name, &value);
        if (!headers && acp_equal(name, acp_text("headers"))) {
            fits = is_there && has_all(value, item_value(wanted, i), true);
        } else {
            fits = (headers || is_there) && json_same(value, item_value(wanted, i));
        }
    }
    acp_items_free(wanted);
    acp_items_free(there);
    return fits;
}

static bool fits(acp_slice found, acp_slice expected)
{
    bool objects = found.data[0] == '{' && expected.data[0] == '{';
    return objects ? has_all(found, expected, false) : json_same(found, expected);
}

void same(run *run, const char *what, acp_slice found, acp_slice expected)
{
    if (!fits(found, expected)) {
        fail(run, what, found, expected);
    }
}

void same_list(run *run, const char *what, acp_slice found, acp_slice expected)
{
    size_t count, other;
    if (expected.data[0] != '[') {
        fail(run, what, found, expected);
        return;
    }
    acp_items *wanted = json_items(expected, &count), *came = json_items(found, &other);
    bool right = count == other;
    for (size_t i = 0; right && i < count; i++) {
        right = fits(item_value(came, i), item_value(wanted, i));
    }
    if (!right) {
        fail(run, what, found, expected);
    }
    acp_items_free(wanted);
    acp_items_free(came);
}

void sending(run *run, acp_slice step, acp_status status, int32_t outcome, acp_slice rule)
{
    acp_slice gives = acp_text("null"), misuse = acp_text("null");
    has(step, "gives", &gives);
    has(step, "misuse", &misuse);
    if (status == ACP_MISUSE) {
        acp_writer *writer;
        need(acp_writer_new(&writer), "writer");
        need(acp_writer_begin_object(writer), "misuse");
        write_word(writer, "rule", rule);
        need(acp_writer_end_object(writer), "misuse");
        same(run, "the misuse", finished(writer), misuse);
        acp_writer_free(writer);
        return;
    }
    need(status, "send");
    same(run, "the misuse", acp_text("null"), misuse);
    const char *found = outcome == ACP_HTTP_SENT ? "null" : outcome == ACP_HTTP_FULL ? "\"full\"" : "\"closed\"";
    same(run, "what send returns", acp_text(found), gives);
}

static void events(run *run, acp_slice expected, const char *what)
{
    acp_writer *writer;
    need(acp_writer_new(&writer), "writer");
    need(acp_writer_begin_array(writer), "events");
    (run->client != NULL ? client_events : server_events)(run, writer);
    need(acp_writer_end_array(writer), "events");
    if (run->client == NULL || !acp_equal(expected, acp_text("\"any\""))) {
        same_list(run, what, finished(writer), expected);
    }
    acp_writer_free(writer);
}

static size_t play(run *run, acp_slice steps, acp_slice include, size_t at)
{
    size_t count;
    acp_slice value;
    acp_items *list = json_items(steps, &count);
    for (size_t i = 0; i < count && run->why.len == 0; i++) {
        acp_slice step = item_value(list, i);
        if (has(step, "include", &value)) {
            text name = json_text(value, "");
            text_add(&name, acp_bytes("", 1));
            if (has(include, name.data, &value)) {
                at = play(run, value, include, at);
            } else {
                fail(run, "to include", acp_text("nothing"), step);
            }
            text_free(&name);
            continue;
        }
        at++;
        if (has(step, "expect", &value)) {
            only(run, step, "expect");
            events(run, value, "the events");
        } else {
            (run->client != NULL ? client_step : server_step)(run, step);
        }
        if (run->why.len > 0) {
            char where[32];
            snprintf(where, sizeof where, " (step %zu)", at);
            text_add(&run->why, acp_text(where));
        }
    }
    acp_items_free(list);
    return at;
}

// Plays a scenario in pieces of one size; what failed, or nothing.
static text play_once(acp_slice scenario, acp_slice include, size_t size)
{
    run run = {0};
    acp_slice steps = acp_text("[]");
    run.size = size;
    run.options = acp_text("{}");
    only(&run, scenario, "name rule point server client steps");
    has(scenario, "steps", &steps);
    bool asks = has(scenario, "client", &run.options);
    if (!asks) {
        has(scenario, "server", &run.options);
    }
    if ((asks ? client_new : server_new)(&run) && run.why.len == 0) {
        play(&run, steps, include, 0);
        events(&run, acp_text("[]"), "left over");
    }
    acp_http_server_free(run.server);
    acp_http_client_free(run.client);
    return run.why;
}

// The length of the longest body or stream of these steps.
static size_t longest(acp_slice steps, acp_slice include, size_t most)
{
    static const char *const names[] = {"body", "body_text", "messages", "bytes", "events", "json", "raw"};
    size_t count;
    acp_slice value;
    acp_items *list = json_items(steps, &count);
    for (size_t i = 0; i < count; i++) {
        acp_slice step = item_value(list, i);
        if (has(step, "include", &value)) {
            text name = json_text(value, "");
            text_add(&name, acp_bytes("", 1));
            most = has(include, name.data, &value) ? longest(value, include, most) : most;
            text_free(&name);
        }
        for (size_t j = 0; j < sizeof names / sizeof *names; j++) {
            most = has(step, names[j], &value) && value.len + 16 > most ? value.len + 16 : most;
        }
    }
    acp_items_free(list);
    return most;
}

// Plays a scenario in pieces of every size; false if it failed with one of them. The sizes are those that Rust plays.
static bool replay(const char *file, acp_slice scenario, acp_slice include)
{
    acp_slice steps;
    size_t most = has(scenario, "steps", &steps) ? longest(steps, include, 1) : 1;
    bool is_long = most > 400;
    for (size_t size = 1; size <= (is_long ? 400 : most) + 1; size++) {
        bool last = size > (is_long ? 400 : most);
        if (!last && ((is_long && size % 37 >= 4) || (few && (size & (size - 1)) != 0))) {
            continue;
        }
        text why = play_once(scenario, include, last ? SIZE_MAX : size);
        bool right = why.len == 0;
        if (!right && file != NULL) {
            text name = json_text(scenario, "/name");
            printf("FAILED %s: %.*s, in pieces of %zu: %.*s\n", file, (int)name.len, name.data, size, (int)why.len, why.data);
            text_free(&name);
        }
        text_free(&why);
        if (!right) {
            return false;
        }
    }
    return true;
}

// Replays each line of a file and counts.
static void replay_all(const char *path, const char *named, acp_slice include, size_t *passed, size_t *failed)
{
    text all = read_file(path);
    for (size_t at = 0; at < all.len;) {
        const char *start = all.data + at, *end = memchr(start, '\n', all.len - at);
        size_t length = end == NULL ? all.len - at : (size_t)(end - start);
        at += length + 1;
        if (length > 0) {
            bool right = replay(named, acp_bytes(start, length), include);
            if (right && named == NULL) {
                printf("FAILED %s: passed: %.*s\n", path, (int)length, start);
            }
            right ? (*passed)++ : (*failed)++;
        }
    }
    text_free(&all);
}

int main(int count, char **files)
{
    size_t passed = 0, failed = 0, wrong = 0, right = 0;
    if (count > 1 && strcmp(files[1], "--few") == 0) {
        few = true;
        count--;
        files++;
    }
    if (count < 4) {
        fprintf(stderr, "usage: remote [--few] include.json wrong.ndjson FILE.jsonl...\n");
        return 2;
    }
    text include = read_file(files[1]);
    for (int i = 3; i < count; i++) {
        replay_all(files[i], files[i], text_slice(&include), &passed, &failed);
    }
    // What is expected wrongly must fail.
    replay_all(files[2], NULL, text_slice(&include), &wrong, &right);
    text_free(&include);
    printf("note: vectors of the remote transports replayed in C: %zu\n", passed + failed);
    printf("%zu passed, %zu failed\n", passed, failed + wrong + (right < 10));
    return failed + wrong == 0 && right >= 10 ? 0 : 1;
}
