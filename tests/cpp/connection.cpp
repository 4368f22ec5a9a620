// Connections: calls, what is refused, configurations, lists, time.

#include "check.hpp"

#include <memory>

static_assert(!std::is_copy_constructible_v<acp::Connection> && !std::is_copy_assignable_v<acp::Connection>);
static_assert(std::is_nothrow_move_constructible_v<acp::Connection> &&
              std::is_nothrow_move_assignable_v<acp::Connection>);
static_assert(!std::is_copy_constructible_v<acp::Event> && std::is_nothrow_move_constructible_v<acp::Event>);
// A connection and an event are no more than their handles.
static_assert(sizeof(acp::Connection) == sizeof(void *) && sizeof(acp::Event) == sizeof(void *));

void connections()
{
    CHECK(acp::compatible());
    CHECK(acp::library_version() == acp_library_version());
    acp::Connection client = with_session();
    CHECK(client.role() == acp::Role::client && client.phase() == acp::Phase::ready && client.version() == 1);
    CHECK(client.own_capabilities().boolean("/terminal") == true);
    CHECK(client.capabilities().type() == acp::JsonType::object);
    CHECK(client.peer_info().is("/agentInfo/name", "a"));
    CHECK(client.snapshot().is("/phase", "ready") && client.snapshot().is("/login", "unknown"));
    const std::optional<acp::Json> extension = client.peer_extension("x.example");
    CHECK(extension && extension->uint64("/level") == 2 && !client.peer_extension("y.example"));

    // Requests, with an id of the library's and of the host's.
    const acp::Result<std::uint64_t> first = client.request("_x/a", R"({"a":1})");
    const acp::Result<std::uint64_t> second = client.request("_x/b", "{}", R"("mine")", 1000);
    CHECK(first && second && *first != *second);
    CHECK(take(client) == R"({"jsonrpc":"2.0","id":3,"method":"_x/a","params":{"a":1}})"
                          "\n"
                          R"({"jsonrpc":"2.0","id":"mine","method":"_x/b","params":{}})"
                          "\n");
    CHECK(client.pending_by_id(R"("mine")") == *second && client.pending_id(*second) == R"("mine")");
    CHECK(!client.pending_by_id("77") && !client.pending_id(77));
    CHECK(client.cancel(*second));
    CHECK(take(client) == R"({"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"mine"}})"
                          "\n");
    CHECK(client.notify("_x/c", "{}"));
    CHECK(take(client) == R"({"jsonrpc":"2.0","method":"_x/c","params":{}})"
                          "\n");

    // Answers.
    feed(client, R"({"jsonrpc":"2.0","id":"one","method":"_x/d"})");
    feed(client, R"({"jsonrpc":"2.0","id":"two","method":"_x/d"})");
    next<acp::Request>(client, [](const acp::Request &) {});
    next<acp::Request>(client, [](const acp::Request &) {});
    const auto one = client.unanswered_by_id(R"("one")"), two = client.unanswered_by_id(R"("two")");
    CHECK(one && two && client.unanswered_id(*two) == R"("two")" && !client.unanswered_id(99));
    CHECK(client.respond(*one, R"({"b":2})"));
    CHECK(client.respond_error(*two, -5, "no \"more\"", "[1]"));
    CHECK(take(client) == R"({"jsonrpc":"2.0","id":"one","result":{"b":2}})"
                          "\n"
                          R"({"jsonrpc":"2.0","id":"two","error":{"code":-5,"message":"no \"more\"","data":[1]}})"
                          "\n");
    CHECK(!client.respond(*one, "{}"));

    // Bytes in pieces.
    CHECK(client.receive(R"({"jsonrpc":"2.0",)"));
    CHECK(client.buffered() == 17);
    const acp::Result<std::uint64_t> third = client.request("_x/a", "{}");
    CHECK(third);
    const std::size_t before = client.transmit().size();
    CHECK(client.consume(5) && client.transmit().size() == before - 5);

    // A handle that is moved takes all with it; the empty one refuses.
    acp::Connection moved = std::move(client);
    CHECK(moved.phase() == acp::Phase::ready && moved.handle() != nullptr);
    CHECK(client.handle() == nullptr); // NOLINT: that is what is tested
    CHECK(!client.receive("x") && client.receive("x").error().status == ACP_INVALID_ARGUMENT);
    CHECK(client.receive("x").error().text() == acp_status_name(ACP_INVALID_ARGUMENT));
    CHECK(!client.request("_x/a", "{}") && !client.poll_event() && client.transmit().empty());
    CHECK(client.sessions().empty() && client.capabilities().text().empty() && !client.can("initialize"));
    client = std::move(moved);
    CHECK(client.session_state("s-1") == acp::SessionState::ready);
    acp::Connection adopted(client.release());
    CHECK(adopted.session_turn("s-1") == acp::Turn::idle && !adopted.session_state("s-2"));
    CHECK(adopted.close() && adopted.phase() == acp::Phase::closed);
}

void refusals()
{
    acp::Connection client(acp::Role::client);
    // Too early.
    const acp::Result<std::uint64_t> early = client.request(ACP_METHOD_SESSION_NEW, "{}");
    CHECK(!early && early.error().status == ACP_MISUSE && early.error().kind == acp::MisuseKind::phase);
    CHECK(acp::name(early.error().kind) == "phase" && !early.error().rule.empty() && !early.error().message.empty());
    CHECK(early.error().text() == std::string(early.error().rule) + ": " + std::string(early.error().message));
    CHECK(client.transmit().empty());
    // Params that do not fit, with the place.
    client = with_session();
    const acp::Result<std::uint64_t> relative =
        client.request(ACP_METHOD_SESSION_NEW, R"({"cwd":"w","mcpServers":[]})");
    CHECK(!relative && relative.error().kind == acp::MisuseKind::params && relative.error().pointer == "/cwd");
    CHECK(relative.error().text().find("/cwd: ") != std::string::npos);
    // What the other side cannot do.
    CHECK(!client.can(ACP_METHOD_SESSION_LOAD) && client.can(ACP_METHOD_SESSION_PROMPT));
    const std::optional<acp::Error> why = client.why_not(ACP_METHOD_SESSION_LOAD);
    CHECK(why && why->kind == acp::MisuseKind::capability &&
          why->message.find("loadSession") != std::string_view::npos);
    CHECK(!client.why_not(ACP_METHOD_SESSION_PROMPT));
    CHECK(client.notify(ACP_METHOD_SESSION_CANCEL, R"({"sessionId":"x"})").error().kind == acp::MisuseKind::session);
    CHECK(client.cancel(12345).error().kind == acp::MisuseKind::id);
    CHECK(client.respond_error(7, 1, "x").error().kind == acp::MisuseKind::id);
    // Text that is not UTF-8 is no misuse of the protocol.
    const acp::Result<void> bytes = client.notify("_x/a", "{\"a\":\"\xff\"}");
    CHECK(!bytes && bytes.error().status != ACP_OK);
    // Nothing of all this went out.
    CHECK(client.transmit().empty());
    CHECK(client.request("_x/a", "{}").error().status == ACP_OK);
}

void configurations()
{
    acp::Config config(acp::Role::agent);
    CHECK(config.role() == acp::Role::agent && config.framing() == acp::Framing::lines);
    CHECK(config.policy() == acp::Policy::tolerant && config.has_version(1) && !config.has_version(2) && !config.timeout());
    config.framing(acp::Framing::content_length)
        .policy(acp::Policy::strict)
        .policy_for(acp::Severity::note, acp::Policy::off)
        .limit(acp::Limit::pending, 7)
        .versions({2, 1})
        .draft(ACP_DRAFT_AUTH_STATUS)
        .timeout(250)
        .reminder(300)
        .prompt_queueing(true)
        .foreign_method("vendor/x");
    CHECK(config.status() == ACP_OK);
    acp::Result<acp::Connection> open = acp::Connection::open(config);
    CHECK(open);
    const acp::Config copy = open->config();
    CHECK(copy.role() == acp::Role::agent && copy.framing() == acp::Framing::content_length);
    CHECK(copy.policy() == acp::Policy::strict && copy.policy_for(acp::Severity::note) == acp::Policy::off);
    CHECK(!copy.policy_for(acp::Severity::error) && copy.limit(acp::Limit::pending) == 7 && copy.has_version(1) && copy.has_version(2));
    CHECK(copy.has_draft(ACP_DRAFT_AUTH_STATUS) && !copy.has_draft(ACP_DRAFT_NES) && copy.timeout() == 250);
    CHECK(copy.prompt_queueing() && copy.has_foreign_method("vendor/x") && !copy.has_foreign_method("vendor/y"));
    CHECK(copy.reminder() == 300 && copy.limit(acp::Limit::remembered) > 0);
    config.policy_for(acp::Severity::note, std::nullopt).timeout(std::nullopt).reminder(std::nullopt);
    CHECK(!config.policy_for(acp::Severity::note) && !config.timeout() && !config.reminder());

    // What is refused is kept, however much is set after it.
    config.draft("no such draft").timeout(1);
    CHECK(config.status() == ACP_INVALID_ARGUMENT);
    const acp::Result<acp::Connection> refused = acp::Connection::open(config);
    CHECK(!refused && refused.error().status == ACP_INVALID_ARGUMENT);
    CHECK(refused.error().text().find("Config::draft") == 0);
    CHECK(acp::Config(acp::Role::agent).versions({}).status() == ACP_INVALID_ARGUMENT);
    CHECK(acp::Config(acp::Role::agent).versions({1, 3}).status() == ACP_INVALID_ARGUMENT);
    CHECK(acp::Config(static_cast<acp::Role>(9)).status() != ACP_OK);
    CHECK(acp::Connection(static_cast<acp::Role>(9)).handle() == nullptr);
}

void lists()
{
    acp::Connection client = with_session();
    CHECK(client.sessions().size() == 1 && client.pending().empty() && client.unanswered().empty());
    const acp::Result<std::uint64_t> turn =
        client.request(ACP_METHOD_SESSION_PROMPT, R"({"sessionId":"s-1","prompt":[{"type":"text","text":"x"}]})");
    CHECK(turn && client.session_turn("s-1") == acp::Turn::running);
    for (const acp::Session session : client.sessions()) {
        CHECK(session.id() == "s-1" && session.state() == acp::SessionState::ready);
        CHECK(session.turn() == acp::Turn::running && acp::name(session.turn()) == "running");
    }
    CHECK(client.handle_timeout(1000) && client.request("_x/a", "{}", R"("q")", 50));
    const acp::OpenRequests pending = client.pending();
    CHECK(pending.size() == 2 && pending[0].serial() == *turn && pending[0].session() == "s-1");
    CHECK(pending[0].method() == ACP_METHOD_SESSION_PROMPT && !pending[0].deadline() && !pending[0].cancelled());
    CHECK(pending[1].id() == R"("q")" && !pending[1].session() && pending[1].deadline() == 1050);
    CHECK(client.cancel(pending[1].serial()) && client.pending()[1].cancelled() && !pending[1].cancelled());
    // There is no third one.
    CHECK(pending[2].method().empty() && pending[2].serial() == 0);

    feed(client, R"({"jsonrpc":"2.0","id":9,"method":"terminal/create","params":{"sessionId":"s-1","command":"c"}})");
    next<acp::Request>(client, [](const acp::Request &) {});
    CHECK(client.unanswered().size() == 1);
    CHECK(client.respond(client.unanswered()[0].serial(), R"({"terminalId":"t-1"})"));
    const acp::Terminals terminals = client.open_terminals();
    CHECK(terminals.size() == 1 && terminals[0].session() == "s-1" && terminals[0].id() == "t-1");
    CHECK(!terminals[0].ended());
}

void sessions()
{
    acp::Connection client = with_session();
    feed(client, R"({"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s-1","update":{"sessionUpdate":)"
                 R"("available_commands_update","availableCommands":[{"name":"web","description":"d"}]}}})");
    next<acp::Notification>(client, [](const acp::Notification &) {});
    const std::optional<acp::Json> snapshot = client.session_snapshot("s-1");
    CHECK(snapshot && snapshot->is("/state", "ready") && snapshot->is("/cwd", "/w"));
    CHECK(snapshot->is("/commands/0/name", "web") && snapshot->type("/plan") == acp::JsonType::null);
    CHECK(!client.session_snapshot("s-2"));
    CHECK(client.command_text("s-1", "web", "a b") == "/web a b" && client.command_text("s-1", "web") == "/web");
    CHECK(!client.command_text("s-1", "none") && !client.command_text("s-2", "web"));
    CHECK(client.in_roots("s-1", "/w/a") && !client.in_roots("s-1", "/w/../a") && !client.in_roots("s-2", "/w/a"));

    const std::optional<acp::CutOutput> cut = acp::cut_output("ab\xc3\xa9"
                                                              "cd",
                                                              3);
    CHECK(cut && cut->end == "cd" && cut->truncated);
    CHECK(!acp::cut_output("ab", 2)->truncated && acp::cut_output("ab", 2)->end == "ab" && !acp::cut_output("\xff", 2));
}

void clocks()
{
    acp::Connection client = with_session();
    CHECK(!client.poll_timeout());
    CHECK(client.handle_timeout(500));
    const acp::Result<std::uint64_t> call = client.request("_x/a", "{}", {}, 100);
    CHECK(call && client.poll_timeout() == 600);
    CHECK(client.handle_timeout(599) && !client.poll_event());
    CHECK(client.handle_timeout(600));
    next<acp::Response>(client, [&call](const acp::Response &response) {
        CHECK(response.serial() == *call && response.outcome() == acp::Outcome::timeout && !response.result());
    });

    // A call that waits for ever where others do not, and a reminder of a request that was forgotten.
    acp::Result<acp::Connection> open = acp::Connection::open(acp::Config(acp::Role::agent).timeout(10).reminder(20));
    CHECK(open && open->handle_timeout(0));
    feed(*open, R"({"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":1}})");
    next<acp::Request>(*open, [&open](const acp::Request &hello) { CHECK(open->respond(hello.serial(), "{}")); });
    feed(*open, R"({"jsonrpc":"2.0","id":"q","method":"_x/q"})");
    next<acp::Request>(*open, [](const acp::Request &) {});
    CHECK(open->unanswered()[0].deadline() == 20 && open->handle_timeout(20));
    next<acp::Advice>(*open, [&open](const acp::Advice &advice) {
        CHECK(advice.rule() == "RPC-15" && advice.method() == "_x/q" && advice.id() == R"("q")");
        CHECK(open->respond(*open->unanswered_by_id(*advice.id()), "{}"));
    });
    CHECK(open->request("_x/a", "{}", {}, acp::never) && !open->poll_timeout());
    CHECK(open->request("_x/a", "{}") && open->poll_timeout() == 30);
}

void loops()
{
    // Two connections in one program, and bytes in small pieces between them.
    acp::Connection client(acp::Role::client), agent(acp::Role::agent);
    const auto move_bytes = [](acp::Connection &from, acp::Connection &to) {
        for (std::string_view waits = from.transmit(); !waits.empty(); waits = from.transmit()) {
            const std::string piece(waits.substr(0, 7));
            CHECK(to.receive(piece) && from.consume(piece.size()));
        }
    };
    CHECK(client.request(ACP_METHOD_INITIALIZE, "{}"));
    move_bytes(client, agent);
    std::size_t requests = 0, responses = 0, closed = 0;
    std::optional<acp::Event> kept;
    for (acp::Event &event : agent.events()) {
        event.match([&](const acp::Request &request) { CHECK(agent.respond(request.serial(), "{}")); }, [](auto) {});
        ++requests;
        kept = std::move(event);
    }
    CHECK(kept && kept->kind() == acp::EventKind::request);
    move_bytes(agent, client);
    for (const acp::Event &event : client.events()) {
        event.match([&](const acp::Response &response) { CHECK(response.result()->uint64("/protocolVersion") == 1); },
                    [](auto) { CHECK(false); });
        ++responses;
    }
    CHECK(requests == 1 && responses == 1 && client.phase() == acp::Phase::ready && agent.phase() == acp::Phase::ready);
    CHECK(client.receive_eof());
    for (const acp::Event &event : client.events()) {
        closed += event.kind() == acp::EventKind::closed;
    }
    CHECK(closed == 1 && !client.poll_event());
}
