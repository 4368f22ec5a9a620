// Tests of acp.hpp, acp_files.hpp and acp_http.hpp: that each call reaches the C interface with what it was given, and
// that what comes back is whole. What the calls do is tested in tests/c. Read next: connection.cpp, events.cpp,
// observer.cpp, files.cpp, json.cpp, remote.cpp.

#include "check.hpp"

#include <cstdio>
#include <cstdlib>
#include <new>

namespace {

std::size_t passed = 0, failed = 0, allocated = 0;
bool good = true;

constexpr struct {
    const char *name;
    void (*run)();
} TESTS[] = {
    {"connections", connections},
    {"refusals", refusals},
    {"configurations", configurations},
    {"lists", lists},
    {"sessions", sessions},
    {"clocks", clocks},
    {"loops", loops},
    {"kinds", kinds},
    {"matching", matching},
    {"keeping events", keeping},
    {"answers of the library", answers_of_the_library},
    {"observers", observers},
    {"views", views},
    {"recordings", recordings},
    {"reading", reading},
    {"writing", writing},
    {"messages", messages},
    {"policies for permission", permission},
    {"memory", memory},
    {"exceptions", exceptions},
    {"catalogue", catalogue},
    {"access to files", file_access},
    {"permission for files", file_permission},
    {"requests for files", file_requests},
    {"remote requests", remote_requests},
    {"a remote WebSocket", remote_websocket},
    {"remote failures", remote_failures},
    {"remote options", remote_options},
};

} // namespace

// All memory of this program's that is not the library's comes from here.
void *operator new(std::size_t size)
{
    ++allocated;
    void *memory = std::malloc(size);
    if (memory == nullptr) {
        std::abort();
    }
    return memory;
}

void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, std::size_t) noexcept { std::free(memory); }

std::size_t allocations() noexcept { return allocated; }

void check(bool condition, const char *what, const char *file, int line)
{
    if (!condition) {
        std::printf("%s:%d: %s\n", file, line, what);
        good = false;
    }
}

void feed(acp::Connection &connection, std::string_view line)
{
    CHECK(connection.receive(line));
    CHECK(connection.receive("\n"));
}

std::string take(acp::Connection &connection)
{
    const std::string waits(connection.transmit());
    CHECK(connection.consume(waits.size()));
    return waits;
}

acp::Connection with_session()
{
    acp::Connection client(acp::Role::client);
    CHECK(client.request(ACP_METHOD_INITIALIZE,
                         R"({"clientCapabilities":{"terminal":true,"fs":{"readTextFile":true}}})"));
    feed(client, R"({"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"agentInfo":{"name":"a","version":"1"},)"
                 R"("agentCapabilities":{"_meta":{"x.example":{"level":2}}}}})");
    // What was received is read when events are asked for.
    next<acp::Response>(client, [](const acp::Response &) {});
    CHECK(client.request(ACP_METHOD_SESSION_NEW, R"({"cwd":"/w","mcpServers":[]})"));
    feed(client, R"({"jsonrpc":"2.0","id":2,"result":{"sessionId":"s-1"}})");
    next<acp::Response>(client, [](const acp::Response &) {});
    take(client);
    return client;
}

acp::Connection agent()
{
    acp::Connection agent(acp::Role::agent);
    feed(agent, R"({"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":1}})");
    next<acp::Request>(agent, [&agent](const acp::Request &request) {
        CHECK(agent.respond(request.serial(), R"({"agentInfo":{"name":"a","version":"1"}})"));
    });
    take(agent);
    return agent;
}

int main()
{
    for (const auto &test : TESTS) {
        good = true;
        test.run();
        std::size_t &count = good ? passed : failed;
        ++count;
        if (!good) {
            std::printf("FAILED %s\n", test.name);
        }
    }
    std::printf("%zu passed, %zu failed\n", passed, failed);
    return failed == 0 ? 0 : 1;
}
