// The commonest messages in one call each.

#include "check.h"

static void of_a_client(void)
{
    const acp_slice none = {NULL, 0};
    acp_connection *connection = start(ACP_ROLE_CLIENT);
    uint64_t serial = 0;
    STATUS(acp_client_new_session(connection, acp_text("/w"), NULL), ACP_MISUSE);
    STATUS(acp_client_initialize(connection, acp_text("a"), acp_text("1"), acp_text("{'fs':{}}"), NULL), ACP_MISUSE);
    acp_slice why = none;
    OK(acp_connection_error_message(connection, &why));
    CHECK(why.len > 8 && memcmp(why.data, "not JSON", 8) == 0);
    OK(acp_client_initialize(connection, acp_text("a"), acp_text("1"), none, &serial));
    CHECK(serial != 0);
    sent(connection, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":1,"
                     "\"clientInfo\":{\"name\":\"a\",\"version\":\"1\"},\"clientCapabilities\":{}}}\n");
    feed(connection, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":1}}");
    skip(connection, ACP_EVENT_RESPONSE);
    OK(acp_client_new_session(connection, acp_text("/w"), NULL));
    sent(connection,
         "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"session/new\",\"params\":{\"cwd\":\"/w\",\"mcpServers\":[]}}\n");
    feed(connection, "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"sessionId\":\"s-1\"}}");
    skip(connection, ACP_EVENT_RESPONSE);
    OK(acp_client_prompt(connection, acp_text("s-1"), acp_text("\"Hi\""), NULL));
    sent(connection, "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"session/prompt\",\"params\":{\"sessionId\":\"s-1\","
                     "\"prompt\":[{\"type\":\"text\",\"text\":\"\\\"Hi\\\"\"}]}}\n");
    for (int i = 0; i < 2; i++) {
        acp_event *event;
        feed(connection, "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"session/request_permission\",\"params\":{"
                         "\"sessionId\":\"s-1\",\"toolCall\":{\"toolCallId\":\"t\"},\"options\":[{\"optionId\":\"o\","
                         "\"name\":\"Yes\",\"kind\":\"allow_once\"}]}}");
        event = next(connection, ACP_EVENT_REQUEST);
        OK(acp_event_serial(event, &serial));
        acp_event_free(event);
        OK(acp_client_answer_permission(connection, serial, i == 0 ? acp_text("o") : none));
        sent(connection, i == 0 ? "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"outcome\":{\"outcome\":\"selected\","
                                  "\"optionId\":\"o\"}}}\n"
                                : "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"outcome\":{\"outcome\":\"cancelled\"}}}\n");
    }
    OK(acp_client_cancel(connection, acp_text("s-1")));
    sent(connection, "{\"jsonrpc\":\"2.0\",\"method\":\"session/cancel\",\"params\":{\"sessionId\":\"s-1\"}}\n");
    acp_connection_free(connection);
}

static uint64_t asked(acp_connection *connection, const char *line)
{
    uint64_t serial = 0;
    feed(connection, line);
    acp_event *event = next(connection, ACP_EVENT_REQUEST);
    OK(acp_event_serial(event, &serial));
    acp_event_free(event);
    return serial;
}

static void of_a_file(void)
{
    acp_connection *connection = start(ACP_ROLE_CLIENT);
    OK(acp_client_initialize(connection, acp_text("a"), acp_text("1"), acp_text("{\"fs\":{\"readTextFile\":true}}"), NULL));
    feed(connection, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":1}}");
    skip(connection, ACP_EVENT_RESPONSE);
    OK(acp_client_new_session(connection, acp_text("/w"), NULL));
    feed(connection, "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"sessionId\":\"s-1\"}}");
    skip(connection, ACP_EVENT_RESPONSE);
    acp_slice waits;
    OK(acp_connection_transmit(connection, &waits));
    OK(acp_connection_consume(connection, waits.len));
    OK(acp_client_answer_file(connection,
                              asked(connection, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"fs/read_text_file\","
                                                "\"params\":{\"sessionId\":\"s-1\",\"path\":\"/w/a\"}}"),
                              acp_text("a\n")));
    sent(connection, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":\"a\\n\"}}\n");
    acp_connection_free(connection);
}

// One update of the session `s-1`.
#define UPDATE(text) "{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":\"s-1\",\"update\":{" text "}}}\n"

static void of_an_agent(void)
{
    const acp_slice none = {NULL, 0}, session = acp_text("s-1");
    acp_connection *connection = start(ACP_ROLE_AGENT);
    uint64_t prompt;
    OK(acp_agent_answer_initialize(connection,
                                   asked(connection, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\","
                                                     "\"params\":{\"protocolVersion\":1}}"),
                                   acp_text("a"), acp_text("1"), acp_text("{\"loadSession\":true}")));
    sent(connection, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":1,\"agentInfo\":{\"name\":\"a\","
                     "\"version\":\"1\"},\"agentCapabilities\":{\"loadSession\":true}}}\n");
    OK(acp_agent_answer_new_session(connection,
                                    asked(connection, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"session/new\","
                                                      "\"params\":{\"cwd\":\"/w\",\"mcpServers\":[]}}"),
                                    session));
    sent(connection, "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"sessionId\":\"s-1\"}}\n");
    prompt = asked(connection, "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"session/prompt\",\"params\":{"
                               "\"sessionId\":\"s-1\",\"prompt\":[{\"type\":\"text\",\"text\":\"Hi\"}]}}");
    OK(acp_agent_message(connection, session, acp_text("Hello.")));
    sent(connection,
         UPDATE("\"sessionUpdate\":\"agent_message_chunk\",\"content\":{\"type\":\"text\",\"text\":\"Hello.\"}"));
    OK(acp_agent_thought(connection, session, acp_text("Hm.")));
    sent(connection, UPDATE("\"sessionUpdate\":\"agent_thought_chunk\",\"content\":{\"type\":\"text\",\"text\":\"Hm.\"}"));
    OK(acp_agent_tool_call(connection, session, acp_text("t"), acp_text("Read"), acp_text(ACP_TOOL_KIND_READ), none));
    sent(connection,
         UPDATE("\"sessionUpdate\":\"tool_call\",\"toolCallId\":\"t\",\"title\":\"Read\",\"kind\":\"read\""));
    OK(acp_agent_tool_call_update(connection, session, acp_text("t"), acp_text(ACP_TOOL_STATUS_COMPLETED), acp_text("x")));
    sent(connection,
         UPDATE("\"sessionUpdate\":\"tool_call_update\",\"toolCallId\":\"t\",\"status\":\"completed\","
                "\"content\":[{\"type\":\"content\",\"content\":{\"type\":\"text\",\"text\":\"x\"}}]"));
    // What is refused is not sent, and the client hears of it.
    STATUS(acp_agent_message(connection, acp_text("s-2"), acp_text("Hello.")), ACP_MISUSE);
    OK(acp_connection_respond_refused(connection, prompt));
    sent(connection, "{\"jsonrpc\":\"2.0\",\"id\":3,\"error\":{\"code\":-32603,\"message\":\"Internal error\","
                     "\"data\":{\"rule\":\"SESS-01\"}}}\n");
    STATUS(acp_agent_answer_prompt(connection, prompt, acp_text(ACP_STOP_END_TURN)), ACP_MISUSE);
    prompt = asked(connection, "{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"session/prompt\",\"params\":{"
                               "\"sessionId\":\"s-1\",\"prompt\":[]}}");
    OK(acp_agent_answer_prompt(connection, prompt, acp_text(ACP_STOP_END_TURN)));
    sent(connection, "{\"jsonrpc\":\"2.0\",\"id\":4,\"result\":{\"stopReason\":\"end_turn\"}}\n");
    OK(acp_connection_respond_not_served(
        connection, asked(connection, "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"_x/a\",\"params\":{}}")));
    sent(connection, "{\"jsonrpc\":\"2.0\",\"id\":5,\"error\":{\"code\":-32601,\"message\":\"Method not found\","
                     "\"data\":{\"method\":\"_x/a\"}}}\n");
    acp_connection_free(connection);
}

void test_messages(void)
{
    static const test tests[] = {
        {"messages: of a client", of_a_client},
        {"messages: of a client that has files", of_a_file},
        {"messages: of an agent", of_an_agent},
    };
    run_tests(tests, COUNT(tests));
}
