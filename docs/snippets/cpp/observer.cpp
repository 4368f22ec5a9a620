#include <acp.hpp>
#include <cstdio>

static void say(acp::Observer &observer, acp::Role from, std::string_view bytes)
{
    observer.receive(from, bytes);
    for (const acp::Observed &observed : observer.events()) {
        observed.event.match(
            [&](const acp::Violation &violation) {
                const std::string rule(violation.rule()), pointer(violation.pointer());
                std::printf("%s %s %s\n", observed.from == acp::Role::client ? "client" : "agent", rule.c_str(),
                            pointer.empty() ? "-" : pointer.c_str());
            },
            [](const auto &) {});
    }
}

int main()
{
    acp::Observer observer;
    say(observer, acp::Role::client,
        R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}})" "\n");
    say(observer, acp::Role::agent, R"({"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}})" "\nready!\n");
    say(observer, acp::Role::client,
        R"({"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"work","mcpServers":[]}})" "\n");
}
