// The remote transports: a client and a server, each on its own side of bytes that these tests carry.

#include "check.hpp"

#include <vector>

#include "acp_http.hpp"

namespace {

namespace client = acp::http_client;
namespace server = acp::http_server;

constexpr std::string_view HELLO =
    R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{}}})";
constexpr std::string_view HELLO_BACK = R"({"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}})";
constexpr std::string_view NEW = R"({"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}})";
constexpr std::string_view NEW_BACK = R"({"jsonrpc":"2.0","id":2,"result":{"sessionId":"s"}})";

std::vector<acp::HttpHeader> views(const acp::HttpHeaders &headers)
{
    std::vector<acp::HttpHeader> out;
    for (const auto &[name, value] : headers) {
        out.emplace_back(name, value);
    }
    return out;
}

/// A client, a server and what is between them.
struct Between {
    acp::HttpClient from;
    acp::HttpServer to;
    std::uint64_t connection = 0;
    /// What the client was told, by name; and messages of either side, as they come.
    std::string told{};
    std::string heard{};
    std::string asked{};
    std::string broken{};

    explicit Between(std::string_view client_options)
        : from(acp::HttpClient::open(client_options, 7)->release()), to(acp::HttpServer::open("{}")->release())
    {
        CHECK(from.handle() != nullptr && to.handle() != nullptr);
        CHECK(to.wants_entropy() > 0);
        CHECK(to.add_entropy(std::string(to.wants_entropy(), 'x')));
        CHECK(to.wants_entropy() == 0 && to.connections() == 0);
    }

    void answer(std::uint64_t exchange, const server::Response &response)
    {
        const acp::HttpHeaders headers = response.headers();
        const std::string body = response.body();
        CHECK(from.response(exchange, response.status(), views(headers)));
        CHECK(from.data(exchange, body));
        CHECK(from.end(exchange));
    }

    void step(std::uint64_t exchange, const server::Step &step, std::string_view body)
    {
        step.match([&](const server::Response &response) { answer(exchange, response); },
                   [&](const server::Body &wants) {
                       CHECK(wants.limit() >= body.size());
                       const auto next = to.body(exchange, body, true);
                       CHECK(next);
                       this->step(exchange, *next, {});
                   },
                   [](const server::Wait &) {},
                   [&](const server::Stream &stream) {
                       CHECK(from.response(exchange, stream.status(), views(stream.headers())));
                   },
                   [&](const server::Upgrade &upgrade) {
                       CHECK(to.pong(exchange) && to.binary(exchange) && from.binary(exchange));
                       CHECK(from.response(exchange, 101, views(upgrade.headers())));
                   },
                   [](const server::Unknown &) { CHECK(false); });
    }

    bool carry_client()
    {
        const auto action = from.poll_action();
        if (!action) {
            return false;
        }
        action->match(
            [&](const client::Request &request) {
                acp::HttpHeaders headers = request.headers();
                headers.emplace_back("host", "localhost");
                const std::string body(request.body());
                const std::uint64_t exchange = request.exchange();
                const auto next = to.request(exchange, request.method(), request.target(), views(headers));
                CHECK(next);
                step(exchange, *next, body);
            },
            [&](const client::Connect &connect) {
                acp::HttpHeaders headers = connect.headers();
                for (const auto &[name, value] :
                     {std::pair("host", "localhost"), std::pair("upgrade", "websocket"), std::pair("connection", "Upgrade"),
                      std::pair("sec-websocket-version", "13"),
                      std::pair("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ==")}) {
                    headers.emplace_back(name, value);
                }
                const std::uint64_t exchange = connect.exchange();
                const auto next = to.request(exchange, "GET", "/acp", views(headers));
                CHECK(next);
                step(exchange, *next, {});
            },
            [&](const client::Frame &sent) {
                const acp::HttpFrame frame = sent.frame();
                CHECK(frame.is_text() != frame.is_close() && !frame.is_ping());
                if (frame.is_text()) {
                    CHECK(to.text(sent.exchange(), frame.text()));
                } else {
                    CHECK(frame.code() == std::uint64_t{1000} && frame.reason().size() < 124);
                    CHECK(to.closed(sent.exchange()) && from.end(sent.exchange()));
                }
            },
            [&](const client::Abort &abort) { CHECK(to.closed(abort.exchange())); },
            [&](const client::Message &message) {
                CHECK(!message.replayed());
                heard += message.text();
            },
            [&](const client::Connected &connected) {
                CHECK(connected.id() == std::string(to.connection_id(connection).value_or("")));
                told += "connected ";
            },
            [&](const client::Lost &lost) { told += "lost " + std::string(lost.json().find("/calls")->text()) + " "; },
            [&](const client::Unauthorized &unauthorized) {
                CHECK(unauthorized.status() == 401 && unauthorized.challenge() == std::string("Bearer"));
                told += "unauthorized ";
            },
            [&](const client::Closed &closed) {
                CHECK(!closed.status());
                told += "closed " + closed.why() + " ";
            },
            [&](const auto &other) { told += std::string(other.NAME) + " "; });
        return true;
    }

    bool carry_server()
    {
        const auto event = to.poll_event();
        if (!event) {
            return false;
        }
        event->match([&](const server::Opened &opened) { connection = opened.connection(); },
                     [&](const server::Message &message) {
                         CHECK(message.connection() == connection);
                         asked += message.text();
                     },
                     [&](const server::Closed &closed) {
                         CHECK(closed.connection() == connection);
                         asked += "closed " + closed.why();
                     },
                     [&](const server::Respond &respond) { answer(respond.exchange(), respond.response()); },
                     [&](const server::Ready &ready) { write(ready.exchange()); },
                     [&](const server::Finish &finish) {
                         write(finish.exchange());
                         CHECK(from.end(finish.exchange()) && to.closed(finish.exchange()));
                     },
                     [&](const server::Violation &violation) {
                         CHECK(violation.exchange() && violation.status().has_value() != violation.connection().has_value());
                         CHECK(!violation.message().empty() && acp::rule_text(violation.rule()));
                         broken += violation.rule();
                     },
                     [](const auto &) { CHECK(false); });
        return true;
    }

    void write(std::uint64_t exchange)
    {
        const std::string bytes(to.transmit(exchange));
        CHECK(to.is_hungry(exchange));
        CHECK(from.data(exchange, bytes) && to.consume(exchange, bytes.size()) && to.transmit(exchange).empty());
        while (const auto frame = to.frame(exchange)) {
            CHECK(frame->is_text() && !frame->code());
            CHECK(from.text(exchange, frame->text()));
        }
    }

    void carry()
    {
        while (carry_client() || carry_server()) {
        }
    }

    std::string taken(std::string &what) { return std::exchange(what, {}); }
};

void talk(std::string_view options, std::string_view broken)
{
    Between both(options);
    CHECK(both.from.handle_timeout(5) && both.to.handle_timeout(5) && !both.from.connection_id());
    CHECK(both.from.is_hungry() && *both.from.send(HELLO) == acp::Sent::sent);
    both.carry();
    CHECK(both.taken(both.asked) == HELLO && both.to.connections() == 1);
    CHECK(both.to.pause(both.connection, true) && both.to.pause(both.connection, false));
    CHECK(*both.to.send(both.connection, HELLO_BACK) == acp::Sent::sent);
    both.carry();
    CHECK(both.taken(both.told) == "connected " && both.taken(both.heard) == HELLO_BACK && both.from.connection_id());
    CHECK(*both.from.send(NEW) == acp::Sent::sent);
    both.carry();
    CHECK(both.taken(both.asked) == NEW);
    CHECK(*both.to.send(both.connection, NEW_BACK) == acp::Sent::sent);
    both.carry();
    CHECK(both.taken(both.heard) == NEW_BACK && both.to.poll_timeout());
    // What cannot be sent leaves everything as it was.
    const auto refused = both.from.send("[]");
    CHECK(!refused && refused.error().status == ACP_MISUSE && !refused.error().rule.empty());
    CHECK(!refused.error().message.empty());
    const auto answer = both.to.send(both.connection, R"({"jsonrpc":"2.0","id":99,"result":{}})");
    CHECK(!answer && answer.error().rule == "HTTP-11");
    CHECK(both.from.close());
    both.carry();
    CHECK(both.taken(both.told) == "closed host " && both.taken(both.asked) == "closed client");
    CHECK(both.broken == broken);
    CHECK(*both.from.send(NEW) == acp::Sent::closed && *both.to.send(both.connection, NEW_BACK) == acp::Sent::closed);
    CHECK(both.to.connections() == 0 && !both.to.connection_id(both.connection));
}

} // namespace

void remote_requests() { talk("{}", ""); }

void remote_websocket() { talk(R"({"websocket":true})", "WS-04"); }

void remote_failures()
{
    // The agent fails while a call is open: its answer says why.
    Between both(R"({"reconnect":false})");
    CHECK(both.from.send(HELLO));
    both.carry();
    CHECK(both.to.send(both.connection, HELLO_BACK));
    both.carry();
    both.taken(both.heard);
    CHECK(both.from.send(NEW));
    both.carry();
    CHECK(both.to.fail(both.connection, "the agent has ended"));
    both.carry();
    CHECK(acp::Json(both.heard).uint64("/id") == std::uint64_t{2} && acp::Json(both.heard).find("/error/code"));
    CHECK(both.heard.find("the agent has ended") != std::string::npos);
    CHECK(both.to.connections() == 0 && both.to.close(both.connection));
    // Its stream is asked for once more, and is gone.
    CHECK(both.broken == "HTTP-07");
    // There is no server: it is tried again at once, then later.
    acp::HttpClient alone(acp::HttpClient::open("{}", 1)->release());
    CHECK(alone.handle_timeout(1000) && alone.send(HELLO));
    std::uint64_t at = 0, tries = 0;
    while (const auto action = alone.poll_action()) {
        action->match(
            [&](const client::Request &request) {
                ++tries;
                CHECK(alone.failed(request.exchange(), false));
            },
            [&](const client::Retrying &retrying) { at = retrying.at(); }, [](const auto &) { CHECK(false); });
    }
    CHECK(tries == 2 && at > 1000 && alone.poll_timeout() == at);
    // Other credentials.
    acp::HttpClient stranger(acp::HttpClient::open("{}", 1)->release());
    CHECK(stranger.send(HELLO));
    tries = 0;
    bool asked = false;
    while (const auto action = stranger.poll_action()) {
        action->match(
            [&](const client::Request &request) {
                if (++tries == 1) {
                    CHECK(stranger.response(request.exchange(), 401, {{"www-authenticate", "Bearer"}}));
                    return;
                }
                std::string credentials;
                for (const auto &[name, value] : request.headers()) {
                    credentials += name == "authorization" ? value : "";
                }
                CHECK(credentials == "Bearer key");
            },
            [&](const client::Unauthorized &unauthorized) {
                CHECK(unauthorized.status() == 401 && unauthorized.challenge() == std::string("Bearer"));
                asked = true;
                CHECK(stranger.set_header("authorization", "Bearer key") && stranger.retry());
            },
            [](const auto &) {});
    }
    CHECK(tries == 2 && asked);
    CHECK(!stranger.set_header("no name", "x") && !stranger.set_header("x", "a\nb"));
}

void remote_options()
{
    const auto client = acp::HttpClient::open(R"({"websocket":3})", 1);
    CHECK(!client && client.error().status == ACP_INVALID_ARGUMENT && !client.error().message.empty());
    const auto server = acp::HttpServer::open(R"({"limits":{"body":"x"}})");
    CHECK(!server && server.error().status == ACP_INVALID_ARGUMENT);
    CHECK(acp::HttpClient::options_error(R"({"websocket":3})")->find("expected a boolean") != std::string::npos);
    CHECK(acp::HttpServer::options_error(R"({"limits":{"body":"x"}})")->find("/limits/body") == 0);
    CHECK(!acp::HttpClient::options_error("{}") && !acp::HttpServer::options_error("{}"));
    // What was moved from fails, and does no harm.
    acp::HttpClient one(acp::HttpClient::open("{}", 1)->release());
    acp::HttpClient other(std::move(one));
    CHECK(one.handle() == nullptr && !one.close() && !one.poll_action() && other.close());
    // The error of a lost call is an answer to it.
    const std::optional<std::string> lost = acp::http_lost_answer("7");
    CHECK(lost && acp::Json(*lost).uint64("/id") == std::uint64_t{7} && acp::Json(*lost).find("/error/message"));
    CHECK(!acp::http_lost_answer("{}"));
}
