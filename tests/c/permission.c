// Policies: replays tests/policies, what a policy decides and which policies are refused.

#include "check.h"

#include <stdio.h>

static text line_of(const char *format, acp_slice value)
{
    text line = {0};
    const char *place = strchr(format, '@');
    text_add(&line, acp_bytes(format, (size_t)(place - format)));
    text_add(&line, value);
    text_add(&line, acp_text(place + 1));
    return line;
}

static void feed_text(acp_connection *connection, text *line)
{
    text_add(line, acp_text("\n"));
    OK(acp_connection_receive(connection, text_slice(line)));
    text_free(line);
}

// Reads all events; the params of the last request are kept.
static text poll(acp_connection *connection)
{
    text params = {0};
    acp_event *event;
    acp_slice found;
    while (acp_connection_poll_event(connection, &event) == ACP_OK) {
        int32_t kind = 0;
        OK(acp_event_kind(event, &kind));
        if (kind == ACP_EVENT_REQUEST) {
            text_free(&params);
            params = (text){0};
            OK(acp_event_params(event, &found));
            text_add(&params, found);
        }
        acp_event_free(event);
    }
    return params;
}

static void answer(acp_connection *connection, const char *line)
{
    text none;
    feed(connection, line);
    none = poll(connection);
    text_free(&none);
}

// A client with the session `s`, which has been told the updates of a case.
static acp_connection *client_of(acp_slice one)
{
    uint16_t version = (uint16_t)json_number(one, "/version");
    acp_config *config = NULL;
    acp_connection *client = NULL;
    acp_slice view, told = {NULL, 0};
    size_t count = 0;
    acp_items *updates;
    OK(acp_config_new(ACP_ROLE_CLIENT, &config));
    OK(acp_config_set_view(config, !(json_at(one, "/view", &view) && is_text(view, "false"))));
    OK(acp_config_set_versions(config, &version, 1));
    OK(acp_connection_new(config, &client));
    acp_config_free(config);
    OK(acp_connection_request(client, acp_text("initialize"),
                              acp_text(version == 1 ? "{}" : "{\"info\":{\"name\":\"a\",\"version\":\"1\"}}"), NULL));
    answer(client, version == 1
                       ? "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":1,\"agentCapabilities\":"
                         "{\"sessionCapabilities\":{\"additionalDirectories\":{}}}}}"
                       : "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":2,\"info\":{\"name\":\"a\","
                         "\"version\":\"1\"},\"capabilities\":{\"session\":{\"additionalDirectories\":{}}}}}");
    OK(acp_connection_request(
        client, acp_text("session/new"),
        acp_text("{\"cwd\":\"/work\",\"additionalDirectories\":[\"/more\"],\"mcpServers\":[]}"), NULL));
    answer(client, "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"sessionId\":\"s\"}}");
    OK(acp_connection_request(client, acp_text("session/prompt"),
                              acp_text("{\"sessionId\":\"s\",\"prompt\":[{\"type\":\"text\",\"text\":\"Hi\"}]}"), NULL));
    CHECK(json_at(one, "/told", &told));
    updates = json_items(told, &count);
    for (size_t at = 0; at < count; at++) {
        text none, line = line_of("{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":\"s\","
                                  "\"update\":@}}",
                                  item_value(updates, at));
        feed_text(client, &line);
        none = poll(client);
        text_free(&none);
    }
    acp_items_free(updates);
    return client;
}

static void decided(acp_slice one)
{
    acp_permission_policy *policy = NULL;
    acp_slice rules = {NULL, 0}, asked = {NULL, 0}, expected = {NULL, 0}, option, decision, list, same;
    acp_connection *client = client_of(one);
    text line, params;
    int32_t action = 0;
    OK(acp_permission_policy_new(&policy));
    CHECK(json_at(one, "/policy", &rules) && json_at(one, "/params", &asked) && json_at(one, "/decides", &expected));
    OK(acp_permission_policy_read(policy, rules));
    line = line_of("{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"session/request_permission\",\"params\":@}", asked);
    feed_text(client, &line);
    params = poll(client);
    CHECK(params.len > 0);
    OK(acp_permission_policy_decide(policy, client, text_slice(&params), &action, &option, &decision));
    if (!json_fits(expected, decision)) {
        printf("%.*s\n    expected %.*s\n    found    %.*s\n", (int)one.len, one.data, (int)expected.len, expected.data,
               (int)decision.len, decision.data);
    }
    CHECK(json_fits(expected, decision));
    CHECK(json_at(decision, "/action", &same) && same.len > 2);
    CHECK(acp_equal(acp_bytes(same.data + 1, same.len - 2), acp_text(acp_permission_name(action))));
    CHECK((option.len == 0) == (json_at(decision, "/optionId", &same) && is_text(same, "null")));
    OK(acp_permission_policy_decisions(policy, &list));
    CHECK(json_at(list, "/0", &same) && json_fits(expected, same) && !json_at(list, "/1", &same));
    text_free(&params);
    acp_permission_policy_free(policy);
    acp_connection_free(client);
}

static void refused(acp_slice one)
{
    acp_permission_policy *policy = NULL;
    acp_slice place, message;
    text written = json_text(one, "/policyText"), pointer = json_text(one, "/wrong/pointer");
    text begins = json_text(one, "/wrong/message");
    OK(acp_permission_policy_new(&policy));
    STATUS(acp_permission_policy_error_message(policy, &message), ACP_NONE);
    STATUS(acp_permission_policy_read(policy, text_slice(&written)), ACP_MISUSE);
    OK(acp_permission_policy_error_pointer(policy, &place));
    OK(acp_permission_policy_error_message(policy, &message));
    CHECK(acp_equal(place, text_slice(&pointer)));
    CHECK(message.len >= begins.len && acp_equal(acp_bytes(message.data, begins.len), text_slice(&begins)));
    OK(acp_permission_policy_read(policy, acp_text("{}")));
    STATUS(acp_permission_policy_error_message(policy, &message), ACP_NONE);
    text_free(&written);
    text_free(&pointer);
    text_free(&begins);
    acp_permission_policy_free(policy);
}

static void policies(void)
{
    text all = read_file("tests/policies/permissions.jsonl");
    size_t cases = 0;
    for (size_t at = 0; at < all.len;) {
        const char *start = all.data + at, *end = memchr(start, '\n', all.len - at);
        size_t length = (size_t)((end == NULL ? all.data + all.len : end) - start);
        acp_slice one = acp_bytes(start, length), decides;
        if (json_at(one, "/decides", &decides)) {
            decided(one);
        } else {
            refused(one);
        }
        cases++;
        at += length + 1;
    }
    CHECK(cases > 50);
    text_free(&all);
}

void test_permission(void)
{
    static const test TESTS[] = {{"policies for permission", policies}};
    run_tests(TESTS, COUNT(TESTS));
}
