// Configuration, what policies do, and the rule catalogue.

#include "check.h"

static const acp_slice EMPTY = {NULL, 0};

static void configuration(void)
{
    acp_config *config = NULL, *copy = NULL;
    acp_connection *connection = NULL;
    const uint16_t versions[] = {2, 3};
    int32_t number = 0;
    uint64_t wide = 0;
    bool flag = true;
    STATUS(acp_config_new(0, &config), ACP_INVALID_ARGUMENT);
    STATUS(acp_config_new(3, &config), ACP_INVALID_ARGUMENT);
    CHECK(config == NULL);
    OK(acp_config_new(ACP_ROLE_AGENT, &config));
    OK(acp_config_limit(config, ACP_LIMIT_FRAME, &wide));
    CHECK(wide == 32u << 20);
    STATUS(acp_config_timeout(config, &wide), ACP_NONE);
    OK(acp_config_set_framing(config, ACP_FRAMING_MESSAGES));
    OK(acp_config_set_policy(config, ACP_POLICY_STRICT));
    OK(acp_config_version(config, 1, &flag));
    CHECK(flag);
    OK(acp_config_version(config, 2, &flag));
    CHECK(!flag);
    OK(acp_config_set_versions(config, versions, 1));
    STATUS(acp_config_set_versions(config, versions, 0), ACP_INVALID_ARGUMENT);
    STATUS(acp_config_set_versions(config, NULL, 0), ACP_INVALID_ARGUMENT);
    STATUS(acp_config_set_versions(config, NULL, 1), ACP_INVALID_ARGUMENT);
    STATUS(acp_config_set_versions(config, versions, 2), ACP_INVALID_ARGUMENT);
    OK(acp_config_set_timeout(config, 1500));
    STATUS(acp_config_reminder(config, &wide), ACP_NONE);
    OK(acp_config_set_reminder(config, 2500));
    OK(acp_config_set_draft(config, acp_text(ACP_DRAFT_NES)));
    OK(acp_config_prompt_queueing(config, &flag));
    CHECK(!flag);
    OK(acp_config_set_prompt_queueing(config, true));
    OK(acp_config_set_foreign_method(config, acp_text("vendor/x")));
    STATUS(acp_config_set_foreign_method(config, acp_text("session/new")), ACP_INVALID_ARGUMENT);
    STATUS(acp_config_set_foreign_method(config, acp_text("session/fork")), ACP_INVALID_ARGUMENT);
    STATUS(acp_config_set_foreign_method(config, acp_text("_x")), ACP_INVALID_ARGUMENT);
    STATUS(acp_config_set_foreign_method(config, acp_text("rpc.x")), ACP_INVALID_ARGUMENT);
    STATUS(acp_config_set_foreign_method(config, acp_text("$/x")), ACP_INVALID_ARGUMENT);
    STATUS(acp_config_set_foreign_method(config, EMPTY), ACP_INVALID_ARGUMENT);
    for (int32_t limit = ACP_LIMIT_FRAME; limit <= ACP_LIMIT_VIEW_OUTPUT; limit++) {
        OK(acp_config_set_limit(config, limit, 100u + (uint64_t)limit));
    }
    STATUS(acp_config_set_framing(config, 4), ACP_INVALID_ARGUMENT);
    STATUS(acp_config_set_policy(config, 0), ACP_INVALID_ARGUMENT);
    STATUS(acp_config_set_limit(config, 11, 1), ACP_INVALID_ARGUMENT);
    STATUS(acp_config_set_limit(config, ACP_LIMIT_DEPTH, UINT64_MAX), ACP_INVALID_ARGUMENT);
    STATUS(acp_config_limit(config, 0, &wide), ACP_INVALID_ARGUMENT);
    STATUS(acp_config_set_draft(config, acp_text("no such draft")), ACP_INVALID_ARGUMENT);
    STATUS(acp_config_draft(config, EMPTY, &flag), ACP_INVALID_ARGUMENT);
    OK(acp_connection_new(config, &connection));
    acp_config_free(config);
    OK(acp_connection_config(connection, &copy));
    OK(acp_config_role(copy, &number));
    CHECK(number == ACP_ROLE_AGENT);
    OK(acp_connection_role(connection, &number));
    CHECK(number == ACP_ROLE_AGENT);
    OK(acp_config_framing(copy, &number));
    CHECK(number == ACP_FRAMING_MESSAGES);
    OK(acp_config_policy(copy, &number));
    CHECK(number == ACP_POLICY_STRICT);
    for (uint16_t version = 0; version < 17; version++) {
        OK(acp_config_version(copy, version, &flag));
        CHECK(flag == (version == 2));
    }
    OK(acp_config_timeout(copy, &wide));
    CHECK(wide == 1500);
    OK(acp_config_reminder(copy, &wide));
    CHECK(wide == 2500);
    OK(acp_config_prompt_queueing(copy, &flag));
    CHECK(flag);
    OK(acp_config_foreign_method(copy, acp_text("vendor/y"), &flag));
    CHECK(!flag);
    OK(acp_config_foreign_method(copy, acp_text("vendor/x"), &flag));
    CHECK(flag);
    OK(acp_config_draft(copy, acp_text(ACP_DRAFT_NES), &flag));
    CHECK(flag);
    OK(acp_config_draft(copy, acp_text(ACP_DRAFT_PLAN_OPERATIONS), &flag));
    CHECK(!flag);
    for (int32_t limit = ACP_LIMIT_FRAME; limit <= ACP_LIMIT_VIEW_OUTPUT; limit++) {
        OK(acp_config_limit(copy, limit, &wide));
        CHECK(wide == 100u + (uint64_t)limit);
    }
    OK(acp_config_set_timeout(copy, ACP_UNSET));
    STATUS(acp_config_timeout(copy, &wide), ACP_NONE);
    OK(acp_config_set_timeout(copy, 0));
    OK(acp_config_set_timeout(copy, ACP_NEVER));
    STATUS(acp_config_timeout(copy, &wide), ACP_NONE);
    OK(acp_config_set_reminder(copy, ACP_UNSET));
    STATUS(acp_config_reminder(copy, &wide), ACP_NONE);
    acp_config_free(copy);
    acp_connection_free(connection);
}

static void policies_by_severity(void)
{
    static const int32_t policies[] = {ACP_POLICY_OFF, ACP_POLICY_STRICT, ACP_POLICY_TOLERANT};
    acp_config *config = NULL, *copy = NULL;
    acp_connection *connection = NULL;
    int32_t number = 7;
    OK(acp_config_new(ACP_ROLE_CLIENT, &config));
    OK(acp_config_set_policy(config, ACP_POLICY_OFF));
    for (int32_t severity = ACP_SEVERITY_NOTE; severity <= ACP_SEVERITY_ERROR; severity++) {
        STATUS(acp_config_policy_for(config, severity, &number), ACP_NONE);
        OK(acp_config_set_policy_for(config, severity, policies[severity - 1]));
    }
    STATUS(acp_config_set_policy_for(config, 0, ACP_POLICY_OFF), ACP_INVALID_ARGUMENT);
    STATUS(acp_config_set_policy_for(config, 4, ACP_POLICY_OFF), ACP_INVALID_ARGUMENT);
    STATUS(acp_config_set_policy_for(config, ACP_SEVERITY_NOTE, 0), ACP_INVALID_ARGUMENT);
    STATUS(acp_config_set_policy_for(config, ACP_SEVERITY_NOTE, 4), ACP_INVALID_ARGUMENT);
    STATUS(acp_config_clear_policy_for(config, 4), ACP_INVALID_ARGUMENT);
    STATUS(acp_config_policy_for(config, 0, &number), ACP_INVALID_ARGUMENT);
    CHECK(number == 7);
    OK(acp_connection_new(config, &connection));
    acp_config_free(config);
    OK(acp_connection_config(connection, &copy));
    acp_connection_free(connection);
    OK(acp_config_policy(copy, &number));
    CHECK(number == ACP_POLICY_OFF);
    for (int32_t severity = ACP_SEVERITY_NOTE; severity <= ACP_SEVERITY_ERROR; severity++) {
        OK(acp_config_policy_for(copy, severity, &number));
        CHECK(number == policies[severity - 1]);
    }
    OK(acp_config_clear_policy_for(copy, ACP_SEVERITY_WARNING));
    STATUS(acp_config_policy_for(copy, ACP_SEVERITY_WARNING, &number), ACP_NONE);
    OK(acp_config_policy_for(copy, ACP_SEVERITY_NOTE, &number));
    CHECK(number == ACP_POLICY_OFF);
    acp_config_free(copy);
}

// A permission request whose options share an id breaks a rule that is a warning.
static void asked_twice(int32_t general, int32_t warnings, int32_t first, int32_t second)
{
    acp_config *config = NULL;
    acp_connection *connection = NULL;
    OK(acp_config_new(ACP_ROLE_CLIENT, &config));
    OK(acp_config_set_policy(config, general));
    if (warnings != 0) {
        OK(acp_config_set_policy_for(config, ACP_SEVERITY_WARNING, warnings));
    }
    OK(acp_connection_new(config, &connection));
    acp_config_free(config);
    connection = open_session(connection);
    feed(connection, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"session/request_permission\",\"params\":"
                     "{\"sessionId\":\"s-1\",\"toolCall\":{\"toolCallId\":\"t\"},\"options\":["
                     "{\"optionId\":\"y\",\"name\":\"Yes\",\"kind\":\"allow_once\"},"
                     "{\"optionId\":\"y\",\"name\":\"No\",\"kind\":\"reject_once\"}]}}");
    skip(connection, first);
    if (second != 0) {
        skip(connection, second);
    }
    no_event(connection);
    acp_connection_free(connection);
}

static void policies_are_followed(void)
{
    asked_twice(ACP_POLICY_TOLERANT, 0, ACP_EVENT_VIOLATION, ACP_EVENT_REQUEST);
    asked_twice(ACP_POLICY_STRICT, 0, ACP_EVENT_VIOLATION, 0);
    asked_twice(ACP_POLICY_OFF, 0, ACP_EVENT_REQUEST, 0);
    asked_twice(ACP_POLICY_TOLERANT, ACP_POLICY_OFF, ACP_EVENT_REQUEST, 0);
    asked_twice(ACP_POLICY_TOLERANT, ACP_POLICY_STRICT, ACP_EVENT_VIOLATION, 0);
    asked_twice(ACP_POLICY_OFF, ACP_POLICY_TOLERANT, ACP_EVENT_VIOLATION, ACP_EVENT_REQUEST);
}

static void rules(void)
{
    static const char *const unknown[] = {"", "PERM", "PERM-", "PERM-99", "perm-18", "PERM-18 ", "NO-01"};
    acp_slice text = EMPTY, known = acp_text("PERM-18");
    int32_t number = 0;
    OK(acp_rule_text(known, &text));
    CHECK(is_text(text, "A tool call does not run before its permission is granted."));
    OK(acp_rule_level(known, &number));
    CHECK(number == ACP_LEVEL_SHOULD);
    OK(acp_rule_severity(known, &number));
    CHECK(number == ACP_SEVERITY_NOTE);
    OK(acp_rule_level(acp_text("CANCEL-08"), &number));
    CHECK(number == ACP_LEVEL_MAY);
    OK(acp_rule_severity(acp_text("PERM-02"), &number));
    CHECK(number == ACP_SEVERITY_WARNING);
    OK(acp_rule_severity(acp_text("PERM-04"), &number));
    CHECK(number == ACP_SEVERITY_ERROR);
    text = acp_text("untouched");
    number = 7;
    for (size_t i = 0; i < COUNT(unknown); i++) {
        STATUS(acp_rule_text(acp_text(unknown[i]), &text), ACP_NONE);
        STATUS(acp_rule_level(acp_text(unknown[i]), &number), ACP_NONE);
        STATUS(acp_rule_severity(acp_text(unknown[i]), &number), ACP_NONE);
    }
    STATUS(acp_rule_text(acp_text("\xff"), &text), ACP_INVALID_ARGUMENT);
    STATUS(acp_rule_level(acp_bytes(NULL, 3), &number), ACP_INVALID_ARGUMENT);
    STATUS(acp_rule_text(known, NULL), ACP_INVALID_ARGUMENT);
    STATUS(acp_rule_level(known, NULL), ACP_INVALID_ARGUMENT);
    STATUS(acp_rule_severity(known, NULL), ACP_INVALID_ARGUMENT);
    CHECK(is_text(text, "untouched") && number == 7);
}

void test_config(void)
{
    static const test tests[] = {
        {"config: configuration", configuration},
        {"config: policies by severity", policies_by_severity},
        {"config: policies are followed", policies_are_followed},
        {"config: rules", rules},
    };
    run_tests(tests, COUNT(tests));
}
