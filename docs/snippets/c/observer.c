#include <acp.h>
#include <stdio.h>

static void say(acp_observer *observer, int32_t from, const char *bytes)
{
    acp_event *event;
    acp_slice rule, pointer;
    acp_observer_receive(observer, from, acp_text(bytes));
    while (acp_observer_poll_event(observer, &from, &event) == ACP_OK) {
        int32_t kind;
        if (acp_event_kind(event, &kind) == ACP_OK && kind == ACP_EVENT_VIOLATION &&
            acp_event_rule(event, &rule) == ACP_OK && acp_event_pointer(event, &pointer) == ACP_OK) {
            printf("%s " ACP_FORMAT " " ACP_FORMAT "\n", acp_role_name(from), ACP_PRINT(rule),
                   ACP_PRINT(pointer.len > 0 ? pointer : acp_text("-")));
        }
        acp_event_free(event);
    }
}

int main(void)
{
    const uint16_t versions[] = {1, 2};
    acp_config *config = NULL;
    acp_observer *observer = NULL;
    if (acp_config_new(ACP_ROLE_CLIENT, &config) != ACP_OK || acp_config_set_versions(config, versions, 2) != ACP_OK ||
        acp_observer_new(config, &observer) != ACP_OK) {
        return 1;
    }
    acp_config_free(config);
    say(observer, ACP_ROLE_CLIENT,
        "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":1}}\n");
    say(observer, ACP_ROLE_AGENT, "{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{\"protocolVersion\":1}}\nready!\n");
    say(observer, ACP_ROLE_CLIENT, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"session/new\","
                                   "\"params\":{\"cwd\":\"work\",\"mcpServers\":[]}}\n");
    acp_observer_free(observer);
    return 0;
}
