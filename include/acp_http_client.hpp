// libacp for C++17: the client of the remote transports. The host makes requests with a library of its choice, and passes
// in what comes of them.
//
// Part of acp_http.hpp, which is what a program includes. Read next: acp/curl.hpp, which is such a host.

#ifndef ACP_HTTP_CLIENT_HPP
#define ACP_HTTP_CLIENT_HPP

#include "acp_http_shared.hpp"

namespace acp {

/// What a client asks its host to do, or tells it. Valid until the next call that changes the client.
namespace http_client {

/// Make a request, and pass what comes of it to `response`, `data`, `end` and `failed`.
class Request : public detail::HttpView {
public:
    static constexpr std::string_view NAME = "request";
    using HttpView::HttpView;
    /// The number of the request.
    std::uint64_t exchange() const noexcept { return number("/exchange"); }
    /// The method: `GET`, `POST` or `DELETE`.
    std::string method() const { return string("/method"); }
    /// The path with its query.
    std::string target() const { return string("/target"); }
    /// The headers, without the host and the length of the body.
    HttpHeaders headers() const { return headers_at("/headers"); }
    /// The body; empty for none.
    std::string_view body() const noexcept { return text_; }
};

/// Open a WebSocket.
class Connect : public detail::HttpView {
public:
    static constexpr std::string_view NAME = "connect";
    using HttpView::HttpView;
    /// The number of the WebSocket.
    std::uint64_t exchange() const noexcept { return number("/exchange"); }
    /// The headers besides those of the handshake.
    HttpHeaders headers() const { return headers_at("/headers"); }
};

/// Send a frame on a WebSocket.
class Frame : public detail::HttpView {
public:
    static constexpr std::string_view NAME = "frame";
    using HttpView::HttpView;
    /// The number of the WebSocket.
    std::uint64_t exchange() const noexcept { return number("/exchange"); }
    /// The frame.
    HttpFrame frame() const noexcept { return {part("/frame"), text_}; }
};

/// Give up a request or a WebSocket; nothing more of it is wanted.
class Abort : public detail::HttpView {
public:
    static constexpr std::string_view NAME = "abort";
    using HttpView::HttpView;
    /// Its number.
    std::uint64_t exchange() const noexcept { return number("/exchange"); }
};

/// A message of the server, for `Connection::receive`.
class Message : public detail::HttpView {
public:
    static constexpr std::string_view NAME = "message";
    using HttpView::HttpView;
    /// The message, JSON text.
    std::string_view text() const noexcept { return text_; }
    /// Whether it is history of a session that is being loaded.
    bool replayed() const noexcept { return flag("/replayed"); }
};

/// The connection is open, for the first time or again.
class Connected : public detail::HttpView {
public:
    static constexpr std::string_view NAME = "connected";
    using HttpView::HttpView;
    /// The value of `Acp-Connection-Id`.
    std::string id() const { return string("/id"); }
};

/// The connection was lost.
class Lost : public detail::HttpView {
public:
    static constexpr std::string_view NAME = "lost";
    using HttpView::HttpView;
    /// The ids of calls that nobody will answer; whether the agent has carried them out is unknown (HTTP-18).
    Items calls() const noexcept { return json_.items("/calls"); }
    /// The ids of questions of the agent that need no answer any more.
    Items questions() const noexcept { return json_.items("/questions"); }
    /// The ids of the sessions, which are opened again.
    Items sessions() const noexcept { return json_.items("/sessions"); }
    /// The code with which the server closed the WebSocket (RFC 6455, 7.4), such as 1009 if a message was over its limit; 0
    /// for none.
    std::uint64_t code() const noexcept { return number("/code"); }
};

/// Another attempt to connect will be made.
class Retrying : public detail::HttpView {
public:
    static constexpr std::string_view NAME = "retrying";
    using HttpView::HttpView;
    /// When, in milliseconds on the host's clock.
    std::uint64_t at() const noexcept { return number("/at"); }
};

/// A session is open again.
class Attached : public detail::HttpView {
public:
    static constexpr std::string_view NAME = "attached";
    using HttpView::HttpView;
    /// The session's id.
    std::string session() const { return string("/session"); }
    /// Whether its history was told once more.
    bool replayed() const noexcept { return flag("/replayed"); }
};

/// A session could not be opened again, or its messages were lost.
class Detached : public detail::HttpView {
public:
    static constexpr std::string_view NAME = "detached";
    using HttpView::HttpView;
    /// The session's id.
    std::string session() const { return string("/session"); }
};

/// A stream broke and is open again; messages may be missing.
class Gap : public detail::HttpView {
public:
    static constexpr std::string_view NAME = "gap";
    using HttpView::HttpView;
    /// The session's id; `std::nullopt` for the stream of the connection.
    std::optional<std::string> session() const { return json_.string("/session"); }
};

/// Nothing comes on a stream although an answer is due there, as behind a proxy that buffers responses. It stays open.
class Silent : public detail::HttpView {
public:
    static constexpr std::string_view NAME = "silent";
    using HttpView::HttpView;
    /// The session's id; `std::nullopt` for the stream of the connection.
    std::optional<std::string> session() const { return json_.string("/session"); }
    /// How long it has been silent, in milliseconds, since it was open and a call was accepted.
    std::uint64_t waited() const noexcept { return number("/waited"); }
    /// Whether the head of the response has come.
    bool head() const noexcept { return flag("/head"); }
    /// What may be the matter, and what to do.
    std::string message() const { return string("/message"); }
};

/// The server wants other credentials. Call `set_header` and `retry`; nothing is sent until then.
class Unauthorized : public detail::HttpView {
public:
    static constexpr std::string_view NAME = "unauthorized";
    using HttpView::HttpView;
    /// 401 or 403.
    std::uint16_t status() const noexcept { return status_at("/status"); }
    /// The value of `WWW-Authenticate`, if there was one.
    std::optional<std::string> challenge() const { return json_.string("/challenge"); }
};

/// The server refused an answer or a notification of the host.
class Refused : public detail::HttpView {
public:
    static constexpr std::string_view NAME = "refused";
    using HttpView::HttpView;
    /// The status of its response.
    std::uint16_t status() const noexcept { return status_at("/status"); }
    /// The method; empty for an answer.
    std::string method() const { return string("/method"); }
    /// What the server says about it; empty for nothing.
    std::string message() const { return string("/message"); }
};

/// The server broke a rule.
class Violation : public detail::HttpView {
public:
    static constexpr std::string_view NAME = "violation";
    using HttpView::HttpView;
    /// The rule's id, for `rule_text`.
    std::string rule() const { return string("/rule"); }
    /// How it was broken.
    std::string message() const { return string("/message"); }
    /// The session that it was about, if any.
    std::optional<std::string> session() const { return json_.string("/session"); }
};

/// The conversation is over.
class Closed : public detail::HttpView {
public:
    static constexpr std::string_view NAME = "closed";
    using HttpView::HttpView;
    /// `host`, `not-initialized`, `not-served`, `refused`, `unreachable` or `protocol`.
    std::string why() const { return string("/why"); }
    /// The status of the server's response, for `not-served` and `refused`.
    std::optional<std::uint64_t> status() const noexcept { return json_.uint64("/status"); }
};

/// An action that a newer library asks for and that this header does not know.
class Unknown : public detail::HttpView {
public:
    static constexpr std::string_view NAME{};
    using HttpView::HttpView;
};

/// An action as one of the classes above.
using ActionView = std::variant<Message, Request, Connect, Frame, Abort, Connected, Lost, Retrying, Attached, Detached, Gap,
                                Silent, Unauthorized, Refused, Violation, Closed, Unknown>;
/// What the host has to do, or what has happened.
using Action = detail::HttpTold<ActionView>;

} // namespace http_client

/// A client of the remote transports, for one server. It does no I/O. After each call take actions until there are none,
/// then ask `poll_timeout` when to call `handle_timeout`.
class HttpClient {
public:
    /// Takes ownership of a handle of acp.h.
    explicit HttpClient(acp_http_client *client) noexcept : client_(client) {}
    /// A client before its first message. `options` are an object, as `acp_http_client_new` says; `seed` is any number
    /// that differs between clients.
    [[nodiscard]] static Result<HttpClient> open(const JsonText &options, std::uint64_t seed) noexcept
    {
        acp_http_client *made = nullptr;
        const acp_status status = acp_http_client_new(options.slice(), seed, &made);
        if (status == ACP_OK) {
            return HttpClient(made);
        }
        Error error = Error::of(status);
        error.message = "HttpClient::open: the options cannot be used; HttpClient::options_error says why";
        return error;
    }
    /// Why options cannot be used, after a JSON pointer that says where; `std::nullopt` if they can.
    [[nodiscard]] static std::optional<std::string> options_error(const JsonText &options)
    {
        return detail::http_options_error<acp_http_client_options_error>(options);
    }

    /// Sets a header of all requests from now on, such as `authorization`. Fails if these cannot be the name and the value
    /// of a header.
    [[nodiscard]] Result<void> set_header(std::string_view name, std::string_view value) noexcept
    {
        return done(acp_http_client_set_header(handle(), detail::slice(name), detail::slice(value)));
    }
    /// Takes the next thing to do, or that has happened; `std::nullopt` if there is none now.
    [[nodiscard]] std::optional<http_client::Action> poll_action() noexcept
    {
        acp_slice json{nullptr, 0}, text{nullptr, 0};
        return acp_http_client_poll_action(handle(), &json, &text) == ACP_OK
                   ? std::optional<http_client::Action>(http_client::Action("/event", json, text))
                   : std::nullopt;
    }
    /// Sends a message of the host, beginning with `initialize`. Fails if it cannot be sent at all.
    [[nodiscard]] Result<Sent> send(const JsonText &message) noexcept
    {
        std::int32_t out = 0;
        const Result<void> sent = done(message.status() == ACP_OK
                                           ? acp_http_client_send(handle(), message.slice(), &out)
                                           : message.status());
        return sent ? Result<Sent>(static_cast<Sent>(out)) : sent.error();
    }
    /// Whether `send` takes more.
    bool is_hungry() const noexcept { return detail::read<bool>(acp_http_client_is_hungry, handle()).value_or(false); }
    /// The value of `Acp-Connection-Id`; `std::nullopt` while there is no connection. Valid until the next call that
    /// changes the client.
    std::optional<std::string_view> connection_id() const noexcept
    {
        return detail::read_text(acp_http_client_connection_id, handle());
    }

    /// Takes the head of the response to a request, or of the handshake of a WebSocket (status 101). This function and
    /// those below fail only after a defect of the library, or if this object was moved from.
    Result<void> response(std::uint64_t exchange, std::uint16_t status, const std::vector<HttpHeader> &headers) noexcept
    {
        return done(acp_http_client_response(handle(), exchange, status, headers.data(), headers.size()));
    }
    /// Takes bytes of the body of a response, split in any way.
    Result<void> data(std::uint64_t exchange, std::string_view bytes) noexcept
    {
        return done(acp_http_client_data(handle(), exchange, detail::slice(bytes)));
    }
    /// Tells that a response, or a WebSocket, has ended.
    Result<void> end(std::uint64_t exchange) noexcept { return done(acp_http_client_end(handle(), exchange)); }
    /// Tells that a request came to nothing. `sent` is false if the server cannot have any of it.
    Result<void> failed(std::uint64_t exchange, bool sent) noexcept
    {
        return done(acp_http_client_failed(handle(), exchange, sent));
    }
    /// Takes a text frame of the WebSocket. Fails also if it is not UTF-8, which libraries for WebSocket see to.
    Result<void> text(std::uint64_t exchange, std::string_view text) noexcept
    {
        return done(acp_http_client_text(handle(), exchange, detail::slice(text)));
    }
    /// Notes a binary frame of the WebSocket, which is ignored (WS-04).
    Result<void> binary(std::uint64_t exchange) noexcept { return done(acp_http_client_binary(handle(), exchange)); }
    /// Tells the code with which the server closed the WebSocket; `end` tells its end all the same.
    Result<void> closed(std::uint64_t exchange, std::uint16_t code) noexcept
    {
        return done(acp_http_client_closed(handle(), exchange, code));
    }
    /// Goes on after `Unauthorized`, with the headers that were set meanwhile.
    Result<void> retry() noexcept { return done(acp_http_client_retry(handle())); }
    /// Ends the conversation.
    Result<void> close() noexcept { return done(acp_http_client_close(handle())); }
    /// Sets the current time in milliseconds, on any monotonic clock of the host, and does what is due.
    Result<void> handle_timeout(std::uint64_t now) noexcept
    {
        return done(acp_http_client_handle_timeout(handle(), now));
    }
    /// When to call `handle_timeout` next, in milliseconds on the host's clock; `std::nullopt` if nothing is waited for.
    std::optional<std::uint64_t> poll_timeout() const noexcept
    {
        return detail::read<std::uint64_t>(acp_http_client_poll_timeout, handle());
    }

    /// The handle, for the functions of acp.h; null after a move.
    acp_http_client *handle() const noexcept { return client_.get(); }
    /// Gives up ownership of the handle. The caller frees it with `acp_http_client_free`.
    acp_http_client *release() noexcept { return client_.release(); }

private:
    Result<void> done(acp_status status) const noexcept
    {
        return detail::http_done<acp_http_client_error_rule, acp_http_client_error_message>(status, handle());
    }

    detail::Owned<acp_http_client, acp_http_client_free> client_;
};

} // namespace acp

#endif // ACP_HTTP_CLIENT_HPP
