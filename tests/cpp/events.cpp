// Events: each class gives out what the C interface has, `match` finds the right function, texts outlive their
// connection.

#include "check.hpp"

#include <vector>

void kinds()
{
    acp::Connection client = with_session();
    std::uint64_t serial = 0;
    feed(client, R"({"jsonrpc":"2.0","id":"p","method":"session/request_permission","params":{"sessionId":"s-1",)"
                 R"("toolCall":{"toolCallId":"t"},"options":[{"optionId":"y","name":"Yes","kind":"allow_once"}]}})");
    next<acp::Request>(client, [&serial](const acp::Request &request) {
        serial = request.serial();
        CHECK(request.method() == ACP_METHOD_SESSION_REQUEST_PERMISSION && request.id() == R"("p")");
        CHECK(request.session() == "s-1" && request.params().is("/options/0/kind", ACP_PERMISSION_ALLOW_ONCE));
    });
    feed(client, R"({"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"p"}})");
    next<acp::Cancel>(client, [serial](const acp::Cancel &cancel) {
        CHECK(cancel.serial() == serial && cancel.id() == R"("p")" && cancel.session() == "s-1");
        CHECK(cancel.method() == ACP_METHOD_SESSION_REQUEST_PERMISSION);
    });
    feed(client, R"({"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s-1",)"
                 R"("update":{"sessionUpdate":"plan","entries":[]}}})");
    next<acp::Notification>(client, [](const acp::Notification &notification) {
        CHECK(notification.method() == ACP_METHOD_SESSION_UPDATE && notification.session() == "s-1");
        CHECK(notification.update() == ACP_UPDATE_PLAN && notification.timing() == acp::Timing::idle);
        CHECK(notification.params().find("/update/entries")->text() == "[]");
    });
    feed(client, R"({"jsonrpc":"2.0","method":"_x/y"})");
    next<acp::Notification>(client, [](const acp::Notification &notification) {
        CHECK(!notification.update() && !notification.session() && notification.timing() == acp::Timing::none);
        CHECK(notification.params().text() == "{}");
    });
    const acp::Result<std::uint64_t> good = client.request("_x/a", "{}"), bad = client.request("_x/a", "{}");
    feed(client, R"({"jsonrpc":"2.0","id":3,"result":[1, 2]})");
    feed(client, R"({"jsonrpc":"2.0","id":4,"error":{"code":-5,"message":"no","data":{"a":1}}})");
    next<acp::Response>(client, [&good](const acp::Response &response) {
        CHECK(response.serial() == *good && response.method() == "_x/a" && response.id() == "3");
        CHECK(response.outcome() == acp::Outcome::result && response.result()->text() == "[1, 2]");
        CHECK(!response.error_code() && !response.error_data() && !response.session());
    });
    next<acp::Response>(client, [&bad](const acp::Response &response) {
        CHECK(response.serial() == *bad && response.outcome() == acp::Outcome::error && !response.result());
        CHECK(response.error_code() == -5 && response.error_message() == "no" &&
              response.error_data()->int64("/a") == 1);
    });
    feed(client, R"({"jsonrpc":"2.0","id":5,"method":"no/such"})");
    next<acp::Violation>(client, [](const acp::Violation &violation) {
        CHECK(violation.rule() == "RPC-17" && !violation.message().empty() && violation.pointer().empty());
        CHECK(violation.consequence() == acp::Consequence::refused);
        CHECK(violation.answer_code() == ACP_CODE_METHOD_NOT_FOUND && violation.method() == "no/such");
        CHECK(violation.id() == "5" && !violation.session() && violation.frame() > 0);
        CHECK(violation.excerpt().substr(0, 10) == R"({"jsonrpc")");
    });
    CHECK(client.respond(serial, R"({"outcome":{"outcome":"cancelled"}})"));
    feed(client, R"({"jsonrpc":"2.0","id":"u","method":"_x/a"})");
    feed(client, R"({"jsonrpc":"2.0","id":"t","method":"terminal/create","params":{"sessionId":"s-1","command":"c"}})");
    next<acp::Request>(client, [](const acp::Request &) {});
    next<acp::Request>(client, [&client](const acp::Request &request) {
        CHECK(client.respond(request.serial(), R"({"terminalId":"t-1"})"));
    });
    CHECK(client.receive_eof());
    next<acp::Closed>(client, [](const acp::Closed &closed) {
        CHECK(closed.reason() == acp::CloseReason::end_of_stream && acp::name(closed.reason()) == "end_of_stream");
        CHECK(closed.unanswered() == 1 && closed.unanswered_id(0) == R"("u")" && closed.unanswered_id(1).empty());
        CHECK(closed.terminals() == 1 && closed.terminal(0).session == "s-1" && closed.terminal(0).id == "t-1");
        CHECK(closed.terminal(1).id.empty());
    });
}

void answers_of_the_library()
{
    acp::Connection client = with_session();
    feed(client, R"({"jsonrpc":"2.0","id":"p","method":"session/request_permission","params":{"sessionId":"s-1",)"
                 R"("toolCall":{"toolCallId":"t"},"options":[{"optionId":"y","name":"Yes","kind":"allow_once"}]}})");
    next<acp::Request>(client, [](const acp::Request &) {});
    CHECK(client.notify(ACP_METHOD_SESSION_CANCEL, R"({"sessionId":"s-1"})"));
    next<acp::Answered>(client, [](const acp::Answered &answered) {
        CHECK(answered.rule() == "CANCEL-03" && answered.id() == R"("p")" && answered.session() == "s-1");
        CHECK(answered.method() == ACP_METHOD_SESSION_REQUEST_PERMISSION && answered.serial() > 0);
    });
    next<acp::Advice>(client, [](const acp::Advice &advice) {
        CHECK(advice.rule() == "CANCEL-01" && !advice.message().empty() && advice.pointer() == "/sessionId");
        CHECK(advice.method() == ACP_METHOD_SESSION_CANCEL);
    });
}

void matching()
{
    acp::Connection client = with_session();
    feed(client,
         R"({"jsonrpc":"2.0","id":1,"method":"_x/a","params":{"long":"a text that no small string holds, at all"}})");
    std::optional<acp::Event> event = client.poll_event();
    CHECK(event && event->kind() == acp::EventKind::request && acp::name(event->kind()) == "request");
    const std::string_view from_match =
        event->match([](const acp::Request &request) { return request.params().text(); },
                     [](const auto &) { return std::string_view(); });
    CHECK(event->match([](const acp::Response &) { return 1; }, [](const auto &) { return 2; }) == 2);
    CHECK(std::visit([](const auto &kind) { return std::is_same_v<std::decay_t<decltype(kind)>, acp::Request>; },
                     event->view()));
    const acp::EventView view = event->view();
    CHECK(std::holds_alternative<acp::Request>(view));
    // An event is its own owner: of the connection that is gone, and after it has moved.
    client = acp::Connection(acp::Role::client);
    const acp::Event moved = std::move(*event);
    CHECK(from_match.find("no small string") != std::string_view::npos);
    CHECK(std::get_if<acp::Request>(&view)->method() == "_x/a");
    CHECK(std::holds_alternative<acp::Unknown>(event->view())); // NOLINT: it was moved from
    CHECK(moved.handle() != nullptr);
}

// ANCHOR: keep
/// What is dealt with later, in another place or on another thread.
std::vector<acp::Event> requests(acp::Connection &connection)
{
    std::vector<acp::Event> kept;
    for (acp::Event &event : connection.events()) {
        if (event.kind() == acp::EventKind::request) {
            kept.push_back(std::move(event));
        }
    }
    return kept;
}
// ANCHOR_END: keep

void keeping()
{
    acp::Connection client = with_session();
    std::string_view first;
    feed(client, R"({"jsonrpc":"2.0","id":"a","method":"_x/a","params":{"text":"a text that no small string holds"}})");
    feed(client, R"({"jsonrpc":"2.0","method":"_x/told"})");
    feed(client, R"({"jsonrpc":"2.0","id":"b","method":"_x/b"})");
    std::vector<acp::Event> kept = requests(client);
    CHECK(kept.size() == 2 && !client.poll_event());
    kept.front().match([&first](const acp::Request &request) { first = request.params().text(); }, [](const auto &) {});
    // Texts are where they were when their event has moved, and later calls are nothing to them.
    std::vector<acp::Event> elsewhere = std::move(kept);
    elsewhere.reserve(100);
    take(client);
    for (const acp::Event &event : elsewhere) {
        event.match([&client](const acp::Request &request) { CHECK(client.respond(request.serial(), "{}")); },
                    [](const auto &) {});
    }
    CHECK(first.find("no small string") != std::string_view::npos);
    CHECK(take(client) == "{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"result\":{}}\n"
                          "{\"jsonrpc\":\"2.0\",\"id\":\"b\",\"result\":{}}\n");
}

void catalogue()
{
    CHECK(acp::rule_text("CANCEL-03") && acp::rule_level("CANCEL-03") && acp::rule_severity("CANCEL-03"));
    CHECK(!acp::rule_text("NO-01") && !acp::rule_level("NO-01") && !acp::rule_severity("NO-01"));
    CHECK(acp::name(acp::Level::must_not) == "MUST NOT" && acp::name(acp::Severity::warning) == "warning");
    CHECK(acp::name(acp::Phase::ready) == "ready" && acp::name(static_cast<acp::Phase>(99)) == "unknown");
    CHECK(acp::name(acp::Timing::replay) == "replay" && acp::name(acp::Outcome::timeout) == "timeout");
    CHECK(acp::name(acp::Consequence::dropped) == "dropped" && acp::name(acp::SessionState::loading) == "loading");
}

void memory()
{
    // What the layer adds to the C interface takes no memory of its own, on the way of a message in and out.
    acp::Connection client = with_session();
    acp::Writer writer;
    const std::size_t before = allocations();
    for (int round = 0; round < 3; ++round) {
        writer.reset();
        writer.begin_object().member("sessionId", "s-1").key("prompt").begin_array().begin_object();
        writer.member("type", ACP_CONTENT_TEXT).member("text", "a text that no small string holds, at all");
        const acp::Result<std::uint64_t> turn =
            client.request(ACP_METHOD_SESSION_PROMPT, writer.end_object().end_array().end_object());
        CHECK(turn && client.pending().size() == 1);
        CHECK(client.consume(client.transmit().size()));
        CHECK(client.receive(R"({"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s-1","update":)"
                             R"({"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"x"}}}})"
                             "\n"));
        CHECK(client.receive(R"({"jsonrpc":"2.0","id":)"));
        char id[] = "3";
        id[0] = static_cast<char>('3' + round);
        CHECK(client.receive(id) && client.receive(R"(,"result":{"stopReason":"end_turn"}})"
                                                   "\n"));
        std::size_t texts = 0, ends = 0;
        for (const acp::Event &event : client.events()) {
            event.match(
                [&texts](const acp::Notification &told) {
                    char buffer[8];
                    for (const acp::Item member : told.params().items("/update")) {
                        texts += member.key == "content";
                    }
                    CHECK(told.params().string("/update/content/text", buffer, sizeof buffer) == "x");
                },
                [&ends](const acp::Response &response) {
                    ends += response.result()->is("/stopReason", ACP_STOP_END_TURN);
                },
                [](const auto &) {});
        }
        CHECK(texts == 1 && ends == 1);
        CHECK(client.notify("session/update", "{}").error().status == ACP_MISUSE && client.why_not("session/load"));
    }
    CHECK(allocations() == before);
    // The count counts.
    CHECK(acp::Json(R"("a text that no small string holds, at all")").string() && allocations() > before);
}
