// The observer: both sides of recordings, of a conversation that is wrong on both sides, and of none.

#include "check.h"

#include <stdio.h>
#include <stdlib.h>

#define FOLDER "tests/recordings/"

static acp_observer *observer(const uint16_t *versions, size_t count)
{
    acp_config *config = NULL;
    acp_observer *observer = NULL;
    OK(acp_config_new(ACP_ROLE_CLIENT, &config));
    OK(acp_config_set_versions(config, versions, count));
    OK(acp_observer_new(config, &observer));
    acp_config_free(config);
    return observer;
}

static acp_observer *of_both(void)
{
    const uint16_t both[] = {1, 2};
    return observer(both, 2);
}

static void say(acp_observer *observer, int32_t from, const char *line)
{
    OK(acp_observer_receive(observer, from, acp_text(line)));
    OK(acp_observer_receive(observer, from, acp_text("\n")));
}

// The next event: from this side, of this kind.
static acp_event *seen(acp_observer *observer, int32_t side, int32_t kind)
{
    acp_event *event = NULL;
    int32_t from = 0, came = 0;
    OK(acp_observer_poll_event(observer, &from, &event));
    OK(acp_event_kind(event, &came));
    CHECK(from == side);
    CHECK(came == kind);
    return event;
}

static void skip_seen(acp_observer *observer, int32_t side, int32_t kind)
{
    acp_event_free(seen(observer, side, kind));
}

static void no_more(acp_observer *observer)
{
    acp_event *event = NULL;
    int32_t from = 77;
    STATUS(acp_observer_poll_event(observer, &from, &event), ACP_NONE);
    CHECK(event == NULL && from == 77);
}

// A violation by this side.
static void broken(acp_observer *observer, int32_t side, const char *rule, const char *pointer)
{
    acp_event *event = seen(observer, side, ACP_EVENT_VIOLATION);
    acp_slice text;
    int32_t severity = 0;
    OK(acp_event_rule(event, &text));
    CHECK(is_text(text, rule));
    OK(acp_rule_severity(text, &severity));
    CHECK(severity >= ACP_SEVERITY_NOTE && severity <= ACP_SEVERITY_ERROR);
    OK(acp_event_pointer(event, &text));
    CHECK(is_text(text, pointer));
    OK(acp_event_message(event, &text));
    CHECK(text.len > 0);
    acp_event_free(event);
}

// Both have said hello in this version, and a session is open.
static acp_observer *opened(uint16_t version)
{
    acp_observer *observer = of_both();
    uint16_t agreed = 0;
    char line[400];
    const char *two = version == 2 ? ",\"info\":{\"name\":\"x\",\"version\":\"1\"},\"capabilities\":{\"session\":{}}" : "";
    snprintf(line, sizeof line, "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":%d%s}}",
             version, version == 2 ? ",\"info\":{\"name\":\"x\",\"version\":\"1\"},\"capabilities\":{}" : "");
    say(observer, ACP_ROLE_CLIENT, line);
    snprintf(line, sizeof line, "{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{\"protocolVersion\":%d%s}}", version, two);
    say(observer, ACP_ROLE_AGENT, line);
    say(observer, ACP_ROLE_CLIENT,
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"session/new\",\"params\":{\"cwd\":\"/w\",\"mcpServers\":[]}}");
    say(observer, ACP_ROLE_AGENT, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"sessionId\":\"s-1\"}}");
    skip_seen(observer, ACP_ROLE_CLIENT, ACP_EVENT_REQUEST);
    skip_seen(observer, ACP_ROLE_AGENT, ACP_EVENT_RESPONSE);
    skip_seen(observer, ACP_ROLE_CLIENT, ACP_EVENT_REQUEST);
    skip_seen(observer, ACP_ROLE_AGENT, ACP_EVENT_RESPONSE);
    no_more(observer);
    OK(acp_observer_version(observer, &agreed));
    CHECK(agreed == version);
    return observer;
}

static void sides(void)
{
    acp_observer *observer = opened(1);
    acp_event *event;
    acp_slice text;
    say(observer, ACP_ROLE_CLIENT, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"session/new\","
                                   "\"params\":{\"cwd\":\"w\",\"mcpServers\":[]}}");
    say(observer, ACP_ROLE_AGENT, "{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"fs/read_text_file\","
                                  "\"params\":{\"sessionId\":\"s-1\",\"path\":\"/w/a\"}}");
    event = seen(observer, ACP_ROLE_CLIENT, ACP_EVENT_VIOLATION);
    OK(acp_event_rule(event, &text));
    CHECK(is_text(text, "SESS-04"));
    OK(acp_event_method(event, &text));
    CHECK(is_text(text, "session/new"));
    OK(acp_event_id(event, &text));
    CHECK(is_text(text, "2"));
    acp_event_free(event);
    event = seen(observer, ACP_ROLE_AGENT, ACP_EVENT_VIOLATION);
    OK(acp_event_rule(event, &text));
    CHECK(is_text(text, "FS-01"));
    OK(acp_event_session(event, &text));
    CHECK(is_text(text, "s-1"));
    acp_event_free(event);
    skip_seen(observer, ACP_ROLE_AGENT, ACP_EVENT_REQUEST);
    // What is no message, on both sides, and what comes after it.
    say(observer, ACP_ROLE_CLIENT, "\xff noise");
    say(observer, ACP_ROLE_AGENT, "noise");
    say(observer, ACP_ROLE_CLIENT, "{\"jsonrpc\":\"2.0\",\"method\":\"_x\"}");
    broken(observer, ACP_ROLE_CLIENT, "FRAME-01", "");
    broken(observer, ACP_ROLE_AGENT, "FRAME-04", "");
    skip_seen(observer, ACP_ROLE_CLIENT, ACP_EVENT_NOTIFICATION);
    no_more(observer);
    acp_observer_free(observer);
}

static void known(void)
{
    acp_observer *observer = opened(2);
    acp_requests *requests = NULL;
    acp_sessions *sessions = NULL;
    acp_slice text;
    size_t count = 0;
    int32_t phase = 0;
    OK(acp_observer_capabilities(observer, ACP_ROLE_AGENT, &text));
    CHECK(is_text(text, "{\"session\":{}}"));
    OK(acp_observer_capabilities(observer, ACP_ROLE_CLIENT, &text));
    CHECK(is_text(text, "{}"));
    say(observer, ACP_ROLE_CLIENT, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"session/list\",\"params\":{}}");
    OK(acp_observer_buffered(observer, &count));
    CHECK(count > 40);
    skip_seen(observer, ACP_ROLE_CLIENT, ACP_EVENT_REQUEST);
    OK(acp_observer_buffered(observer, &count));
    CHECK(count == 0);
    OK(acp_observer_open_requests(observer, ACP_ROLE_CLIENT, &requests));
    OK(acp_requests_len(requests, &count));
    CHECK(count == 1);
    acp_requests_free(requests);
    OK(acp_observer_open_requests(observer, ACP_ROLE_AGENT, &requests));
    OK(acp_requests_len(requests, &count));
    CHECK(count == 0);
    acp_requests_free(requests);
    OK(acp_observer_sessions(observer, &sessions));
    OK(acp_sessions_id(sessions, 0, &text));
    CHECK(is_text(text, "s-1"));
    acp_sessions_free(sessions);
    STATUS(acp_observer_session_snapshot(observer, acp_text("none"), &text), ACP_NONE);
    OK(acp_observer_session_snapshot(observer, acp_text("s-1"), &text));
    CHECK(json_at(text, "/turn", &text));
    OK(acp_observer_snapshot(observer, &text));
    CHECK(json_number(text, "/version") == 2);
    OK(acp_observer_receive_eof(observer, ACP_ROLE_CLIENT));
    no_more(observer);
    OK(acp_observer_receive_eof(observer, ACP_ROLE_AGENT));
    skip_seen(observer, ACP_ROLE_CLIENT, ACP_EVENT_RESPONSE);
    skip_seen(observer, ACP_ROLE_AGENT, ACP_EVENT_CLOSED);
    OK(acp_observer_phase(observer, &phase));
    CHECK(phase == ACP_PHASE_CLOSED);
    say(observer, ACP_ROLE_CLIENT, "{}");
    no_more(observer);
    acp_observer_free(observer);
}

static void misused(void)
{
    acp_observer *observer = of_both();
    STATUS(acp_observer_receive(observer, 3, acp_text("{}\n")), ACP_INVALID_ARGUMENT);
    STATUS(acp_observer_receive_eof(observer, 0), ACP_INVALID_ARGUMENT);
    no_more(observer);
    STATUS(acp_observer_receive((acp_observer *)(void *)observer, ACP_ROLE_CLIENT, acp_bytes(NULL, 1)),
           ACP_INVALID_ARGUMENT);
    STATUS(acp_connection_receive((acp_connection *)(void *)observer, acp_text("{}")), ACP_BAD_HANDLE);
    acp_observer_free(observer);
}

static void decode(text *out, acp_slice base64)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    unsigned bits = 0;
    int count = 0;
    for (size_t i = 0; i < base64.len && base64.data[i] != '='; i++) {
        const char *digit = strchr(digits, base64.data[i]);
        char byte;
        bits = bits << 6 | (unsigned)(digit - digits);
        count += 6;
        if (count >= 8) {
            count -= 8;
            byte = (char)(bits >> count & 0xff);
            text_add(out, acp_bytes(&byte, 1));
        }
    }
}

// How often a side has broken a rule.
typedef struct tally {
    int32_t side;
    char rule[16];
    int count;
} tally;

static size_t tallied(acp_observer *observer, tally *tallies, size_t len)
{
    acp_event *event = NULL;
    int32_t from = 0;
    while (acp_observer_poll_event(observer, &from, &event) == ACP_OK) {
        acp_slice rule;
        int32_t kind = 0;
        size_t at = 0;
        OK(acp_event_kind(event, &kind));
        if (kind == ACP_EVENT_VIOLATION) {
            OK(acp_event_rule(event, &rule));
            while (at < len && !(tallies[at].side == from && is_text(rule, tallies[at].rule))) {
                at++;
            }
            if (at == len && len < 64) {
                tallies[at].side = from;
                snprintf(tallies[at].rule, sizeof tallies[at].rule, ACP_FORMAT, ACP_PRINT(rule));
                tallies[at].count = 0;
                len++;
            }
            tallies[at].count++;
        }
        acp_event_free(event);
    }
    return len;
}

// How many lines of a text begin with this.
static size_t lines_of(acp_slice text, const char *start)
{
    size_t count = 0, len = strlen(start);
    for (size_t at = 0; at + len <= text.len; at++) {
        count += (at == 0 || text.data[at - 1] == '\n') && memcmp(text.data + at, start, len) == 0;
    }
    return count;
}

// Feeds a recording in this many pieces a message (0 for one a byte), and holds the tallies against the list.
static void replay(const char *name, acp_slice listed, size_t pieces)
{
    char line[200];
    tally tallies[64];
    size_t len = 0, start = 0;
    acp_observer *observer = of_both();
    text file;
    snprintf(line, sizeof line, FOLDER "%s.jsonl", name);
    file = read_file(line);
    for (size_t at = 0; at < file.len; at++) {
        acp_slice record, ignored;
        int32_t from;
        size_t piece;
        text who, bytes = {0};
        if (file.data[at] != '\n') {
            continue;
        }
        record = acp_bytes(file.data + start, at - start);
        start = at + 1;
        who = json_text(record, "/d");
        from = who.data[0] == '>' ? ACP_ROLE_CLIENT : who.data[0] == '<' ? ACP_ROLE_AGENT : 0;
        text_free(&who);
        if (from == 0) {
            continue;
        }
        if (json_at(record, "/b64", &ignored)) {
            text encoded = json_text(record, "/b64");
            decode(&bytes, text_slice(&encoded));
            text_free(&encoded);
        } else {
            bytes = json_text(record, "/s");
        }
        piece = pieces == 0 ? 1 : (bytes.len + pieces - 1) / pieces;
        for (size_t done = 0; done < bytes.len; done += piece) {
            size_t rest = bytes.len - done;
            OK(acp_observer_receive(observer, from, acp_bytes(bytes.data + done, rest < piece ? rest : piece)));
            len = tallied(observer, tallies, len);
        }
        text_free(&bytes);
    }
    for (size_t i = 0; i < len; i++) {
        snprintf(line, sizeof line, "%s %s %s %d\n", name, acp_role_name(tallies[i].side), tallies[i].rule,
                 tallies[i].count);
        if (lines_of(listed, line) != 1) {
            printf("not listed: %s", line);
            CHECK(false);
        }
    }
    snprintf(line, sizeof line, "%s ", name);
    CHECK(lines_of(listed, line) == len);
    text_free(&file);
    acp_observer_free(observer);
}

static void views(void)
{
    acp_config *config = NULL;
    acp_observer *observer = NULL;
    acp_slice text;
    uint64_t revision = 0, limit = 0;
    bool flag = true;
    OK(acp_config_new(ACP_ROLE_CLIENT, &config));
    OK(acp_config_view(config, &flag));
    CHECK(!flag);
    OK(acp_config_set_view(config, true));
    OK(acp_config_view(config, &flag));
    CHECK(flag);
    OK(acp_config_set_limit(config, ACP_LIMIT_VIEW_OUTPUT, 64));
    OK(acp_config_limit(config, ACP_LIMIT_VIEW_OUTPUT, &limit));
    CHECK(limit == 64);
    uint16_t version = 2;
    OK(acp_config_set_versions(config, &version, 1));
    OK(acp_observer_new(config, &observer));
    acp_config_free(config);
    say(observer, ACP_ROLE_CLIENT,
        "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":2,"
        "\"info\":{\"name\":\"c\",\"version\":\"1\"},\"capabilities\":{}}}");
    say(observer, ACP_ROLE_AGENT,
        "{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{\"protocolVersion\":2,"
        "\"info\":{\"name\":\"a\",\"version\":\"1\"},\"capabilities\":{\"session\":{}}}}");
    say(observer, ACP_ROLE_CLIENT,
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"session/new\",\"params\":{\"cwd\":\"/w\",\"mcpServers\":[]}}");
    say(observer, ACP_ROLE_AGENT, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"sessionId\":\"s-1\"}}");
    // "é" and the first byte of another character.
    say(observer, ACP_ROLE_AGENT,
        "{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":\"s-1\",\"update\":"
        "{\"sessionUpdate\":\"terminal_output_chunk\",\"terminalId\":\"x\",\"data\":\"w6nw\"}}}");
    say(observer, ACP_ROLE_AGENT,
        "{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":\"s-1\",\"update\":"
        "{\"sessionUpdate\":\"agent_message_chunk\",\"messageId\":\"m\",\"content\":{\"type\":\"text\",\"text\":\"hi\"}}}}");
    int32_t from;
    acp_event *event;
    while (acp_observer_poll_event(observer, &from, &event) == ACP_OK) {
        acp_event_free(event);
    }
    OK(acp_observer_views(observer, &text));
    CHECK(is_text(text, "[\"s-1\"]"));
    OK(acp_observer_view_output(observer, acp_text("s-1"), 0, &text));
    CHECK(is_text(text, "\xc3\xa9\xf0"));
    STATUS(acp_observer_view_output(observer, acp_text("s-1"), 1, &text), ACP_NONE);
    OK(acp_observer_view_text(observer, acp_text("s-1"), 1, &text));
    CHECK(is_text(text, "hi"));
    STATUS(acp_observer_view_text(observer, acp_text("s-1"), 0, &text), ACP_NONE);
    OK(acp_observer_view_revision(observer, acp_text("s-1"), &revision));
    OK(acp_observer_view_since(observer, acp_text("s-1"), 0, &text));
    CHECK(json_number(text, "/revision") == revision && json_number(text, "/entries/0/index") == 1);
    OK(acp_observer_view_content(observer, acp_text("s-1"), 0, 0, &text));
    CHECK(json_number(text, "/before") == 0 && json_at(text, "/output", &text) && is_text(text, "\"\u00e9\""));
    STATUS(acp_observer_view_content(observer, acp_text("s-1"), 7, 0, &text), ACP_NONE);
    OK(acp_observer_view(observer, acp_text("s-1"), &text));
    CHECK(json_number(text, "/terminals/0/end") > 0);
    STATUS(acp_observer_view(observer, acp_text("none"), &text), ACP_NONE);
    OK(acp_observer_forget_view(observer, acp_text("s-1"), &flag));
    CHECK(!flag);
    acp_observer_free(observer);
}

static void recordings(void)
{
    static const char *const names[] = {"agent-claude-agent-acp-0.100.0", "client-official-ts-2.4.0-wild",
                                        "version-2/agent-official-ts-2.4.0", "version-2/both-official-kt-0.30.1"};
    text listed = read_file(FOLDER "observed.txt");
    for (size_t i = 0; i < COUNT(names); i++) {
        for (size_t pieces = 0; pieces < 3; pieces++) {
            replay(names[i], text_slice(&listed), pieces);
        }
    }
    text_free(&listed);
}

void test_observer(void)
{
    static const test tests[] = {
        {"observer: what each side does wrong", sides},
        {"observer: what is known", known},
        {"observer: misused", misused},
        {"observer: views", views},
        {"observer: recordings", recordings},
    };
    run_tests(tests, COUNT(tests));
}
