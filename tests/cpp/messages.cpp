// The commonest messages; tests/c/messages.c has each of them to the letter.

#include "check.hpp"

namespace {

/// A request of the peer's, by its number.
std::uint64_t asked(acp::Connection &connection, std::string_view line)
{
    std::uint64_t serial = 0;
    feed(connection, line);
    next<acp::Request>(connection, [&](const acp::Request &request) { serial = request.serial(); });
    return serial;
}

bool said(acp::Connection &connection, std::string_view part)
{
    return take(connection).find(part) != std::string::npos;
}

} // namespace

void messages()
{
    acp::Connection client(acp::Role::client);
    CHECK(!acp::client::new_session(client, "/w"));
    CHECK(acp::client::initialize(client, "a", "1", R"({"fs":{"readTextFile":true}})").error().status == ACP_OK);
    CHECK(said(client, R"("clientCapabilities":{"fs":{"readTextFile":true}})"));
    feed(client, R"({"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}})");
    next<acp::Response>(client, [](const acp::Response &) {});
    CHECK(acp::client::new_session(client, "/w") && said(client, R"("params":{"cwd":"/w","mcpServers":[]})"));
    feed(client, R"({"jsonrpc":"2.0","id":2,"result":{"sessionId":"s-1"}})");
    next<acp::Response>(client, [](const acp::Response &) {});
    const acp::Result<std::uint64_t> prompt = acp::client::prompt(client, "s-1", "Hi");
    CHECK(prompt && client.pending_id(*prompt) == "3" && said(client, R"("prompt":[{"type":"text","text":"Hi"}])"));
    const std::string_view permission =
        R"({"jsonrpc":"2.0","id":7,"method":"session/request_permission","params":{"sessionId":"s-1","toolCall":)"
        R"({"toolCallId":"t"},"options":[{"optionId":"o","name":"Yes","kind":"allow_once"}]}})";
    CHECK(acp::client::answer_permission(client, asked(client, permission), "o") && said(client, R"("optionId":"o")"));
    CHECK(acp::client::answer_permission(client, asked(client, permission)) && said(client, R"("outcome":"cancelled")"));
    const std::string_view file =
        R"({"jsonrpc":"2.0","id":8,"method":"fs/read_text_file","params":{"sessionId":"s-1","path":"/w/a"}})";
    CHECK(acp::client::answer_file(client, asked(client, file), "text") && said(client, R"({"content":"text"})"));
    CHECK(acp::client::cancel(client, "s-1") && said(client, R"("method":"session/cancel")"));

    acp::Connection agent(acp::Role::agent);
    const std::string_view hello =
        R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}})";
    CHECK(acp::agent::answer_initialize(agent, asked(agent, hello), "a", "1") && said(agent, R"("agentInfo":{"name":"a")"));
    const std::string_view opens =
        R"({"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}})";
    CHECK(acp::agent::answer_new_session(agent, asked(agent, opens), "s-1") && said(agent, R"({"sessionId":"s-1"})"));
    const std::string_view asks =
        R"({"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":"s-1","prompt":[]}})";
    const std::uint64_t turn = asked(agent, asks);
    CHECK(acp::agent::message(agent, "s-1", "Hi") && said(agent, "agent_message_chunk"));
    CHECK(acp::agent::thought(agent, "s-1", "Hi") && said(agent, "agent_thought_chunk"));
    CHECK(acp::agent::tool_call(agent, "s-1", "t", "Read", ACP_TOOL_KIND_READ) && said(agent, R"("kind":"read")"));
    CHECK(acp::agent::tool_call_update(agent, "s-1", "t", ACP_TOOL_STATUS_COMPLETED, "x") && said(agent, "completed"));
    CHECK(acp::agent::answer_prompt(agent, turn) && said(agent, R"({"stopReason":"end_turn"})"));
    CHECK(!acp::agent::message(agent, "s-2", "Hi"));
    const std::string_view more =
        R"({"jsonrpc":"2.0","id":4,"method":"session/prompt","params":{"sessionId":"s-1","prompt":[]}})";
    CHECK(agent.respond_refused(asked(agent, more)) && said(agent, R"("code":-32603)"));
    CHECK(agent.respond_not_served(asked(agent, R"({"jsonrpc":"2.0","id":5,"method":"_x/a"})")));
    CHECK(said(agent, R"("data":{"method":"_x/a"})"));
}
