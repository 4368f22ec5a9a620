// The configuration of a scenario.

#include "replay.h"

#include <stdio.h>

static const char *const FRAMINGS[] = {"lines", "content-length", "messages"};
static const char *const POLICIES[] = {"tolerant", "strict", "off"};
static const char *const SEVERITIES[] = {"note", "warning", "error"};
static const char *const LIMITS[] = {"frame",      "depth",        "pending",    "sessions",     "terminals",
                                     "remembered", "view_entries", "view_bytes", "view_content", "view_output"};

static bool is(acp_slice json, const char *pointer, const char *value)
{
    bool same = false;
    need(acp_json_string_is(json, acp_text(pointer), acp_text(value), &same), pointer);
    return same;
}

// The number of the word there, one of three; 0 where there is none.
static int32_t choice(acp_slice given, const char *pointer, const char *const *words)
{
    acp_slice value;
    if (!json_at(given, pointer, &value)) {
        return 0;
    }
    for (int32_t i = 0; i < 3; i++) {
        if (is(value, "", words[i])) {
            return i + 1;
        }
    }
    die(pointer, value);
    return 0;
}

// Sets each name of the list there.
static void each_name(acp_slice given, const char *pointer, acp_status (*set)(acp_config *, acp_slice), acp_config *config)
{
    acp_slice value;
    if (!json_at(given, pointer, &value)) {
        return;
    }
    size_t count;
    acp_items *names = json_items(value, &count);
    for (size_t i = 0; i < count; i++) {
        text name = json_text(item_value(names, i), "");
        need(set(config, text_slice(&name)), pointer);
        text_free(&name);
    }
    acp_items_free(names);
}

acp_config *config_of(acp_slice given)
{
    acp_config *config;
    acp_slice value;
    int32_t number;
    bool flag;
    need(acp_config_new(is(given, "/role", "agent") ? ACP_ROLE_AGENT : ACP_ROLE_CLIENT, &config), "role");
    if ((number = choice(given, "/policy", POLICIES)) != 0) {
        need(acp_config_set_policy(config, number), "policy");
    }
    if ((number = choice(given, "/framing", FRAMINGS)) != 0) {
        need(acp_config_set_framing(config, number), "framing");
    }
    for (int32_t i = 0; i < 3; i++) {
        char pointer[32];
        snprintf(pointer, sizeof pointer, "/policies/%s", SEVERITIES[i]);
        if ((number = choice(given, pointer, POLICIES)) != 0) {
            need(acp_config_set_policy_for(config, i + 1, number), pointer);
        }
    }
    for (int32_t i = 0; i < (int32_t)(sizeof LIMITS / sizeof *LIMITS); i++) {
        char pointer[32];
        snprintf(pointer, sizeof pointer, "/limits/%s", LIMITS[i]);
        if (json_at(given, pointer, &value)) {
            need(acp_config_set_limit(config, i + 1, json_number(given, pointer)), pointer);
        }
    }
    if (json_at(given, "/versions", &value)) {
        uint16_t versions[8];
        size_t count = 0;
        char pointer[32] = "/versions/0";
        while (count < 8 && json_at(given, pointer, &value)) {
            versions[count] = (uint16_t)json_number(given, pointer);
            snprintf(pointer, sizeof pointer, "/versions/%zu", ++count);
        }
        need(acp_config_set_versions(config, versions, count), "versions");
    }
    if (json_at(given, "/timeout", &value)) {
        need(acp_config_set_timeout(config, json_number(given, "/timeout")), "timeout");
    }
    if (json_at(given, "/cancel_grace", &value)) {
        uint64_t grace = json_same(value, acp_text("null")) ? ACP_NEVER : json_number(given, "/cancel_grace");
        need(acp_config_set_cancel_grace(config, grace), "cancel_grace");
    }
    if (json_at(given, "/reminder", &value)) {
        need(acp_config_set_reminder(config, json_number(given, "/reminder")), "reminder");
    }
    if (acp_json_bool(given, acp_text("/prompt_queueing"), &flag) == ACP_OK) {
        need(acp_config_set_prompt_queueing(config, flag), "prompt_queueing");
    }
    if (acp_json_bool(given, acp_text("/view"), &flag) == ACP_OK) {
        need(acp_config_set_view(config, flag), "view");
    }
    each_name(given, "/drafts", acp_config_set_draft, config);
    each_name(given, "/foreign_methods", acp_config_set_foreign_method, config);
    return config;
}
