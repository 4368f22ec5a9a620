// The observer: which side is told apart, what is known, and recordings in any split.

#include "check.hpp"

#include <fstream>
#include <map>
#include <sstream>
#include <vector>

namespace {

const std::string FOLDER = "tests/recordings/";

void say(acp::Observer &observer, acp::Role from, std::string_view members)
{
    CHECK(observer.receive(from, R"({"jsonrpc":"2.0",)" + std::string(members) + "}\n"));
}

/// Both have said hello in version 1.
acp::Observer ready()
{
    acp::Observer observer;
    say(observer, acp::Role::client, R"("id":0,"method":"initialize","params":{"protocolVersion":1})");
    say(observer, acp::Role::agent, R"("id":0,"result":{"protocolVersion":1})");
    std::size_t seen = 0;
    for (const acp::Observed &observed : observer.events()) {
        CHECK(observed.event.kind() != acp::EventKind::violation);
        ++seen;
    }
    CHECK(seen == 2 && observer.version() == std::uint16_t{1} && observer.phase() == acp::Phase::ready);
    return observer;
}

/// The rules that are broken, each behind who did it.
std::vector<std::string> broken(acp::Observer &observer)
{
    std::vector<std::string> rules;
    for (const acp::Observed &observed : observer.events()) {
        observed.event.match(
            [&](const acp::Violation &violation) {
                const char *side = acp_role_name(static_cast<std::int32_t>(observed.from));
                rules.push_back(side + std::string(" ") + std::string(violation.rule()));
                CHECK(acp::rule_severity(violation.rule()) && !violation.message().empty());
            },
            [](const auto &) {});
    }
    return rules;
}

std::string contents(const std::string &path)
{
    std::ifstream file(path, std::ios::binary);
    CHECK(file);
    std::ostringstream all;
    all << file.rdbuf();
    return all.str();
}

/// What is listed of a recording, or seen in it, by side and rule.
using Tally = std::map<std::string, int>;

Tally listed(const std::string &name)
{
    Tally tally;
    std::istringstream lines(contents(FOLDER + "observed.txt"));
    std::string recording, side, rule;
    int count = 0;
    while (lines >> recording >> side >> rule >> count) {
        if (recording == name) {
            tally[side + " " + rule] = count;
        }
    }
    return tally;
}

Tally replayed(const std::string &name, std::size_t pieces)
{
    Tally tally;
    acp::Observer observer;
    std::istringstream lines(contents(FOLDER + name + ".jsonl"));
    for (std::string line; std::getline(lines, line);) {
        const acp::Json record(line);
        const std::string side = record.find("/d")->string().value_or("");
        if (side == "#") {
            continue;
        }
        const std::string bytes = record.find("/s")->string().value_or("");
        const std::size_t piece = pieces == 0 ? 1 : (bytes.size() + pieces - 1) / pieces;
        for (std::size_t at = 0; at < bytes.size(); at += piece) {
            const acp::Role from = side == ">" ? acp::Role::client : acp::Role::agent;
            CHECK(observer.receive(from, std::string_view(bytes).substr(at, piece)));
            for (const std::string &rule : broken(observer)) {
                ++tally[rule];
            }
        }
    }
    return tally;
}

} // namespace

void observers()
{
    acp::Observer observer = ready();
    say(observer, acp::Role::client, R"("id":1,"method":"session/new","params":{"cwd":"w","mcpServers":[]})");
    say(observer, acp::Role::agent, R"("id":7,"result":{})");
    CHECK(observer.receive(acp::Role::agent, "noise\n"));
    CHECK(broken(observer) == std::vector<std::string>({"client SESS-04", "agent RPC-13", "agent FRAME-04"}));
    CHECK(observer.open_requests(acp::Role::client).size() == 1 && observer.open_requests(acp::Role::agent).empty());
    say(observer, acp::Role::agent, R"("id":1,"result":{"sessionId":"s-1"})");
    CHECK(observer.buffered() > 0);
    CHECK(broken(observer).empty() && observer.buffered() == 0);
    CHECK(observer.sessions().size() == 1 && observer.sessions()[0].id() == "s-1");
    CHECK(observer.session_snapshot("s-1")->is("/turn", "idle") && !observer.session_snapshot("none"));
    CHECK(observer.capabilities(acp::Role::client).text() == "{}" && observer.snapshot().is("/phase", "ready"));

    CHECK(observer.receive_eof(acp::Role::agent));
    CHECK(!observer.poll_event());
    CHECK(observer.receive_eof(acp::Role::client));
    const std::optional<acp::Observed> last = observer.poll_event();
    CHECK(last && last->from == acp::Role::client && last->event.kind() == acp::EventKind::closed);

    CHECK(observer.receive(acp::Role(9), "{}").error().status == ACP_INVALID_ARGUMENT);
    acp::Observer moved = std::move(observer);
    CHECK(observer.receive(acp::Role::client, "{}").error().status == ACP_INVALID_ARGUMENT && !observer.version());
    const auto refused = acp::Observer::open(acp::Config(acp::Role::client).versions({3}));
    CHECK(!refused && refused.error().message.find("Config::versions") == 0);
    auto one = acp::Observer::open(acp::Config(acp::Role::agent).versions({2}));
    CHECK(one && one->receive(acp::Role::client, "{}\n"));
}

void views()
{
    auto opened = acp::Observer::open(acp::Config(acp::Role::client).view(true).limit(acp::Limit::view_output, 64));
    CHECK(opened && acp::Config(acp::Role::client).view(true).view() && !acp::Config(acp::Role::client).view());
    acp::Observer &observer = *opened;
    say(observer, acp::Role::client, R"("id":0,"method":"initialize","params":{"protocolVersion":1})");
    say(observer, acp::Role::agent, R"("id":0,"result":{"protocolVersion":1})");
    say(observer, acp::Role::client, R"("id":1,"method":"session/new","params":{"cwd":"/w","mcpServers":[]})");
    say(observer, acp::Role::agent, R"("id":1,"result":{"sessionId":"s-1"})");
    std::uint64_t position = 0;
    for (const std::string word : {"Good ", "morning."}) {
        say(observer, acp::Role::agent,
            R"("method":"session/update","params":{"sessionId":"s-1","update":{"sessionUpdate":"agent_message_chunk",)"
            R"("content":{"type":"text","text":")" + word + R"("}}})");
        CHECK(broken(observer).empty());
        const std::optional<acp::Json> content = observer.view_content("s-1", 0, position);
        CHECK(content && content->is("/blocks/0/text", word));
        CHECK(content->boolean("/continues") == (position > 0));
        position = content->uint64("/end").value_or(0);
    }
    CHECK(observer.view_text("s-1", 0) == std::string_view("Good morning.") && !observer.view_text("s-1", 1));
    CHECK(!observer.view_output("s-1", 0) && !observer.view("none") && observer.views().text() == R"(["s-1"])");
    const std::uint64_t revision = observer.view_revision("s-1").value_or(0);
    CHECK(revision > 0 && observer.view("s-1")->is("/entries/0/type", "message"));
    CHECK(observer.view_since("s-1", 0)->boolean("/reset") == true);
    CHECK(observer.view_since("s-1", revision)->boolean("/reset") == false);
    CHECK(!observer.forget_view("s-1"));
}

void recordings()
{
    for (const std::string name : {"client-acpx-0.19.1-wild", "client-official-ts-2.4.0-wild",
                                   "version-2/client-official-ts-2.4.0", "version-2/both-official-kt-0.30.1"}) {
        for (std::size_t pieces = 0; pieces < 3; ++pieces) {
            CHECK(replayed(name, pieces) == listed(name));
        }
    }
    CHECK(listed("version-2/both-official-kt-0.30.1").size() == 7);
}
