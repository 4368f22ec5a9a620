// libacp for C++17: the server of the remote transports. The host speaks HTTP with a library of its choice, passes in
// heads, bodies, frames and the time, and takes out responses, streams, frames and events.
//
// Part of acp_http.hpp, which is what a program includes.

#ifndef ACP_HTTP_SERVER_HPP
#define ACP_HTTP_SERVER_HPP

#include "acp_http_shared.hpp"

namespace acp {

/// What a server says of a request, and what has happened. Valid until the next call that changes the server.
namespace http_server {

/// A response: what to send, after which the server has forgotten the exchange.
class Response : public detail::HttpView {
public:
    static constexpr std::string_view NAME = "respond";
    using HttpView::HttpView;
    /// The status.
    std::uint16_t status() const noexcept { return status_at("/status"); }
    /// The headers.
    HttpHeaders headers() const { return headers_at("/headers"); }
    /// The body; empty for none.
    std::string body() const { return string("/body"); }
};

/// Step: read the body, and pass it to `HttpServer::body`.
class Body : public detail::HttpView {
public:
    static constexpr std::string_view NAME = "body";
    using HttpView::HttpView;
    /// How many more bytes it may have.
    std::uint64_t limit() const noexcept { return number("/limit"); }
};

/// Step: the response comes by the event `Respond`.
class Wait : public detail::HttpView {
public:
    static constexpr std::string_view NAME = "wait";
    using HttpView::HttpView;
};

/// Step: send a head and keep the body open; its bytes are at `HttpServer::transmit`.
class Stream : public detail::HttpView {
public:
    static constexpr std::string_view NAME = "stream";
    using HttpView::HttpView;
    /// The status.
    std::uint16_t status() const noexcept { return status_at("/status"); }
    /// The headers.
    HttpHeaders headers() const { return headers_at("/headers"); }
};

/// Step: accept the WebSocket; its frames are at `HttpServer::frame`.
class Upgrade : public detail::HttpView {
public:
    static constexpr std::string_view NAME = "upgrade";
    using HttpView::HttpView;
    /// The headers besides those of the handshake.
    HttpHeaders headers() const { return headers_at("/headers"); }
};

/// Event: a client has opened a connection; start an agent for it.
class Opened : public detail::HttpView {
public:
    static constexpr std::string_view NAME = "opened";
    using HttpView::HttpView;
    /// The number of the connection.
    std::uint64_t connection() const noexcept { return number("/connection"); }
};

/// Event: a message of a client for the agent.
class Message : public detail::HttpView {
public:
    static constexpr std::string_view NAME = "message";
    using HttpView::HttpView;
    /// The number of the connection.
    std::uint64_t connection() const noexcept { return number("/connection"); }
    /// The message, JSON text.
    std::string_view text() const noexcept { return text_; }
};

/// Event: a connection is over, and nothing more comes from it.
class Closed : public detail::HttpView {
public:
    static constexpr std::string_view NAME = "closed";
    using HttpView::HttpView;
    /// The number of the connection.
    std::uint64_t connection() const noexcept { return number("/connection"); }
    /// `client`, `host`, `not-initialized`, `idle`, `stalled` or `protocol`.
    std::string why() const { return string("/why"); }
};

/// Event: the response to a request whose step was `Wait`.
class Respond : public detail::HttpView {
public:
    static constexpr std::string_view NAME = "respond";
    using HttpView::HttpView;
    /// The number of the request.
    std::uint64_t exchange() const noexcept { return number("/exchange"); }
    /// The response.
    Response response() const noexcept { return {part("/response"), text_}; }
};

/// Event: there are bytes to write on a stream, or frames to send on a WebSocket.
class Ready : public detail::HttpView {
public:
    static constexpr std::string_view NAME = "ready";
    using HttpView::HttpView;
    /// The number of the request or the WebSocket.
    std::uint64_t exchange() const noexcept { return number("/exchange"); }
};

/// Event: a stream ends. Write what is left, end the body and call `HttpServer::closed`.
class Finish : public detail::HttpView {
public:
    static constexpr std::string_view NAME = "finish";
    using HttpView::HttpView;
    /// The number of the request.
    std::uint64_t exchange() const noexcept { return number("/exchange"); }
};

/// Event: after `Sent::full` there is room again.
class Drained : public detail::HttpView {
public:
    static constexpr std::string_view NAME = "drained";
    using HttpView::HttpView;
    /// The number of the connection.
    std::uint64_t connection() const noexcept { return number("/connection"); }
};

/// Event: a client broke a rule.
class Violation : public detail::HttpView {
public:
    static constexpr std::string_view NAME = "violation";
    using HttpView::HttpView;
    /// The rule's id, for `rule_text`.
    std::string rule() const { return string("/rule"); }
    /// How it was broken.
    std::string message() const { return string("/message"); }
    /// The status of the response; `std::nullopt` if the message was accepted.
    std::optional<std::uint64_t> status() const noexcept { return json_.uint64("/status"); }
    /// The number of the request or the WebSocket, if that is known.
    std::optional<std::uint64_t> exchange() const noexcept { return json_.uint64("/exchange"); }
    /// The number of the connection, if that is known.
    std::optional<std::uint64_t> connection() const noexcept { return json_.uint64("/connection"); }
};

/// Event: the agent did what is allowed and will not work well.
class Advice : public Violation {
public:
    static constexpr std::string_view NAME = "advice";
    using Violation::Violation;
};

/// A step or an event of a newer library that this header does not know.
class Unknown : public detail::HttpView {
public:
    static constexpr std::string_view NAME{};
    using HttpView::HttpView;
};

/// A step as one of the classes above.
using StepView = std::variant<Response, Body, Wait, Stream, Upgrade, Unknown>;
/// What to do with a request.
using Step = detail::HttpTold<StepView>;
/// An event as one of the classes above.
using EventView =
    std::variant<Message, Ready, Respond, Opened, Closed, Finish, Drained, Violation, Advice, Unknown>;
/// What has happened.
using Event = detail::HttpTold<EventView>;

} // namespace http_server

/// A server of the remote transports, for any number of connections. It does no I/O. The host gives each request and each
/// WebSocket a number of its choice, the exchange.
class HttpServer {
public:
    /// Takes ownership of a handle of acp.h.
    explicit HttpServer(acp_http_server *server) noexcept : server_(server) {}
    /// A server without connections. `options` are an object, as `acp_http_server_new` says. It needs randomness before
    /// it opens the first one: `add_entropy`.
    [[nodiscard]] static Result<HttpServer> open(const JsonText &options) noexcept
    {
        acp_http_server *made = nullptr;
        const acp_status status = acp_http_server_new(options.slice(), &made);
        if (status == ACP_OK) {
            return HttpServer(made);
        }
        Error error = Error::of(status);
        error.message = "HttpServer::open: the options cannot be used; HttpServer::options_error says why";
        return error;
    }
    /// Why options cannot be used, after a JSON pointer that says where; `std::nullopt` if they can.
    [[nodiscard]] static std::optional<std::string> options_error(const JsonText &options)
    {
        return detail::http_options_error<acp_http_server_options_error>(options);
    }

    /// Adds random bytes from the operating system, of which ids of connections are made: 16 for each. This function and
    /// the others without a value fail only after a defect of the library, or if this object was moved from.
    Result<void> add_entropy(std::string_view bytes) noexcept
    {
        return done(acp_http_server_add_entropy(handle(), detail::slice(bytes)));
    }
    /// How many random bytes there is room for; 0 while there are enough for 16 connections.
    std::size_t wants_entropy() const noexcept
    {
        return detail::read<std::size_t>(acp_http_server_wants_entropy, handle()).value_or(0);
    }
    /// The number of open connections.
    std::size_t connections() const noexcept
    {
        return detail::read<std::size_t>(acp_http_server_connections, handle()).value_or(0);
    }
    /// The value of `Acp-Connection-Id` of a connection, if it is open. Valid until the next call that changes the server.
    std::optional<std::string_view> connection_id(std::uint64_t connection) const noexcept
    {
        return detail::read_text(acp_http_server_connection_id, handle(), connection);
    }

    /// Takes the head of a request, and says what to do with it. `exchange` is a number that no other one has.
    [[nodiscard]] Result<http_server::Step> request(std::uint64_t exchange, std::string_view method,
                                                    std::string_view target,
                                                    const std::vector<HttpHeader> &headers) noexcept
    {
        acp_slice out{nullptr, 0};
        return step(acp_http_server_request(handle(), exchange, detail::slice(method), detail::slice(target),
                                            headers.data(), headers.size(), &out),
                    out);
    }
    /// Takes a piece of the body of a request, and says what to do next. `end` is whether it is the last one.
    [[nodiscard]] Result<http_server::Step> body(std::uint64_t exchange, std::string_view bytes, bool end) noexcept
    {
        acp_slice out{nullptr, 0};
        return step(acp_http_server_body(handle(), exchange, detail::slice(bytes), end, &out), out);
    }
    /// Takes a text frame of a WebSocket. Fails also if it is not UTF-8, which libraries for WebSocket see to.
    Result<void> text(std::uint64_t exchange, std::string_view text) noexcept
    {
        return done(acp_http_server_text(handle(), exchange, detail::slice(text)));
    }
    /// Notes a binary frame of a WebSocket, which is ignored (WS-04).
    Result<void> binary(std::uint64_t exchange) noexcept { return done(acp_http_server_binary(handle(), exchange)); }
    /// Notes a pong or a ping: the client is alive.
    Result<void> pong(std::uint64_t exchange) noexcept { return done(acp_http_server_pong(handle(), exchange)); }
    /// Tells that an exchange is over: its connection broke, or the end of its stream was written.
    Result<void> closed(std::uint64_t exchange) noexcept { return done(acp_http_server_closed(handle(), exchange)); }
    /// Takes the next event; `std::nullopt` if there is none now.
    [[nodiscard]] std::optional<http_server::Event> poll_event() noexcept
    {
        acp_slice json{nullptr, 0}, text{nullptr, 0};
        return acp_http_server_poll_event(handle(), &json, &text) == ACP_OK
                   ? std::optional<http_server::Event>(http_server::Event("/event", json, text))
                   : std::nullopt;
    }

    /// The bytes to write on a stream. They stay there until `consume` removes them. Valid until the next call that
    /// changes the server.
    std::string_view transmit(std::uint64_t exchange) const noexcept
    {
        return detail::read_text(acp_http_server_transmit, handle(), exchange).value_or(std::string_view());
    }
    /// Removes bytes from the front of `transmit` after they were written. Partial writes are normal.
    Result<void> consume(std::uint64_t exchange, std::size_t count) noexcept
    {
        return done(acp_http_server_consume(handle(), exchange, count));
    }
    /// Takes the next frame to send on a WebSocket; `std::nullopt` if there is none now. Valid until the next call that
    /// changes the server.
    [[nodiscard]] std::optional<HttpFrame> frame(std::uint64_t exchange) noexcept
    {
        acp_slice json{nullptr, 0}, text{nullptr, 0};
        return acp_http_server_frame(handle(), exchange, &json, &text) == ACP_OK
                   ? std::optional<HttpFrame>(HttpFrame(Json(detail::view(json)), detail::view(text)))
                   : std::nullopt;
    }
    /// Whether to read more from the socket of an exchange; false while its agent has too much to read.
    bool is_hungry(std::uint64_t exchange) const noexcept
    {
        return detail::read<bool>(acp_http_server_is_hungry, handle(), exchange).value_or(false);
    }
    /// Sets the current time in milliseconds, on any monotonic clock of the host, and does what is due.
    Result<void> handle_timeout(std::uint64_t now) noexcept
    {
        return done(acp_http_server_handle_timeout(handle(), now));
    }
    /// When to call `handle_timeout` next, in milliseconds on the host's clock; `std::nullopt` if nothing is waited for.
    std::optional<std::uint64_t> poll_timeout() const noexcept
    {
        return detail::read<std::uint64_t>(acp_http_server_poll_timeout, handle());
    }

    /// Sends a message of an agent to its client. Fails if it cannot be sent at all. After `Sent::full` send it again when
    /// `Drained` comes, and read nothing from the agent until then.
    [[nodiscard]] Result<Sent> send(std::uint64_t connection, const JsonText &message) noexcept
    {
        std::int32_t out = 0;
        const Result<void> sent = done(message.status() == ACP_OK
                                           ? acp_http_server_send(handle(), connection, message.slice(), &out)
                                           : message.status());
        return sent ? Result<Sent>(static_cast<Sent>(out)) : sent.error();
    }
    /// Ends a connection, because its agent has ended or the server stops. One that is over is ignored.
    Result<void> close(std::uint64_t connection) noexcept { return done(acp_http_server_close(handle(), connection)); }
    /// Ends a connection, because its agent has failed: open calls are first answered with an error that says why, `initialize`
    /// with status 200 and without the id of a connection (HTTP-03). The outcome of other calls is unknown.
    Result<void> fail(std::uint64_t connection, std::string_view why) noexcept
    {
        return done(acp_http_server_fail(handle(), connection, detail::slice(why)));
    }
    /// Holds back the messages of a client, or goes on with them: for agents that are slower than their clients.
    Result<void> pause(std::uint64_t connection, bool paused) noexcept
    {
        return done(acp_http_server_pause(handle(), connection, paused));
    }

    /// The handle, for the functions of acp.h; null after a move.
    acp_http_server *handle() const noexcept { return server_.get(); }
    /// Gives up ownership of the handle. The caller frees it with `acp_http_server_free`.
    acp_http_server *release() noexcept { return server_.release(); }

private:
    Result<void> done(acp_status status) const noexcept
    {
        return detail::http_done<acp_http_server_error_rule, acp_http_server_error_message>(status, handle());
    }
    Result<http_server::Step> step(acp_status status, acp_slice out) const noexcept
    {
        const Result<void> taken = done(status);
        return taken ? Result<http_server::Step>(http_server::Step("/step", out, acp_slice{nullptr, 0})) : taken.error();
    }

    detail::Owned<acp_http_server, acp_http_server_free> server_;
};

} // namespace acp

#endif // ACP_HTTP_SERVER_HPP
