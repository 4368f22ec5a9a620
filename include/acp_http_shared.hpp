// libacp for C++17: what the client and the server of the remote transports share: headers, frames, what has happened.
//
// Part of acp_http.hpp, which is what a program includes.

#ifndef ACP_HTTP_SHARED_HPP
#define ACP_HTTP_SHARED_HPP

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "acp_event.hpp"
#include "acp_json.hpp"

namespace acp {

/// What became of a message that was sent over a remote transport.
enum class Sent : std::int32_t {
    /// It was taken.
    sent = ACP_HTTP_SENT,
    /// Too much waits already; it was not taken.
    full = ACP_HTTP_FULL,
    /// The connection, or the conversation, is over; it was not taken.
    closed = ACP_HTTP_CLOSED
};

/// A header that is passed in. Texts are not copied.
class HttpHeader : public acp_header {
public:
    HttpHeader(std::string_view key, std::string_view content) noexcept
        : acp_header{detail::slice(key), detail::slice(content)}
    {}
};
static_assert(sizeof(HttpHeader) == sizeof(acp_header), "a list of them is one of acp_header");

/// Headers that come out, as names and values.
using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

/// The error with which a host can end a call that was lost with a connection (rule HTTP-18), a message for
/// `Connection::receive`. `id` is JSON text; `std::nullopt` if it cannot be an id.
inline std::optional<std::string> http_lost_answer(std::string_view id)
{
    acp_string out{nullptr, 0};
    if (acp_http_lost_answer(detail::slice(id), &out) != ACP_OK) {
        return std::nullopt;
    }
    std::string message(detail::view(acp_string_slice(out)));
    acp_string_free(&out);
    return message;
}

/// A frame of a WebSocket. Valid as long as what it came from.
class HttpFrame {
public:
    /// What acp.h says of a frame, and its text.
    HttpFrame(Json json, std::string_view text) noexcept : json_(json), text_(text) {}

    /// Whether it is a text frame, with `text`.
    bool is_text() const noexcept { return json_.is("/frame", "text"); }
    /// Whether it is a ping, without content.
    bool is_ping() const noexcept { return json_.is("/frame", "ping"); }
    /// Whether it ends the WebSocket, with `code` and `reason`.
    bool is_close() const noexcept { return json_.is("/frame", "close"); }
    /// The text of a text frame; empty for others.
    std::string_view text() const noexcept { return text_; }
    /// The code of a frame that ends the WebSocket.
    std::optional<std::uint64_t> code() const noexcept { return json_.uint64("/code"); }
    /// The reason of a frame that ends the WebSocket; empty for others.
    std::string reason() const { return json_.string("/reason").value_or(std::string()); }

private:
    Json json_;
    std::string_view text_;
};

namespace detail {

/// The base of the views of actions, events and steps, which do not own what they show.
class HttpView {
public:
    HttpView(Json json, std::string_view text) noexcept : json_(json), text_(text) {}
    /// All members, as acp.h lists them.
    Json json() const noexcept { return json_; }

protected:
    std::uint64_t number(std::string_view pointer) const noexcept { return json_.uint64(pointer).value_or(0); }
    std::uint16_t status_at(std::string_view pointer) const noexcept
    {
        return static_cast<std::uint16_t>(number(pointer));
    }
    bool flag(std::string_view pointer) const noexcept { return json_.boolean(pointer).value_or(false); }
    std::string string(std::string_view pointer) const { return json_.string(pointer).value_or(std::string()); }
    Json part(std::string_view pointer) const noexcept { return json_.find(pointer).value_or(Json()); }
    HttpHeaders headers_at(std::string_view pointer) const
    {
        HttpHeaders out;
        const Items items = json_.items(pointer);
        for (const Item item : items) {
            out.emplace_back(item.value.string("/0").value_or(std::string()),
                             item.value.string("/1").value_or(std::string()));
        }
        return out;
    }

    Json json_;
    std::string_view text_;
};

template <class View> struct HttpKinds;
/// The classes of a view, each with the name that it has in acp.h.
template <class... Kinds> struct HttpKinds<std::variant<Kinds...>> {
    static std::variant<Kinds...> view(std::string_view member, Json json, std::string_view text) noexcept
    {
        char buffer[32];
        const std::string_view name = json.string(member, buffer, sizeof buffer).value_or(std::string_view());
        // The last class takes what no other one does.
        std::variant<Kinds...> out(std::in_place_index<sizeof...(Kinds) - 1>, json, text);
        (void)((name == Kinds::NAME && (out.template emplace<Kinds>(json, text), true)) || ...);
        return out;
    }
    template <class Functions> static constexpr bool taken = (std::is_invocable_v<Functions, Kinds> && ...);
};

/// An action, an event or a step: one of the classes of a view.
template <class Variant> class HttpTold {
public:
    /// What acp.h says, under which member it says what it is, and the text beside it.
    HttpTold(std::string_view member, acp_slice json, acp_slice text) noexcept
        : member_(member), json_(detail::view(json)), text_(detail::view(text))
    {}

    /// As one of the classes, for `std::visit` and `std::get_if`.
    Variant view() const noexcept { return HttpKinds<Variant>::view(member_, json_, text_); }
    /// Calls the one function that accepts the class; `[](const auto &) {}` accepts all others. A class that no function
    /// accepts is an error of compilation.
    template <class... Functions> decltype(auto) match(Functions &&...functions) const
    {
        using All = Overload<std::decay_t<Functions>...>;
        static_assert(HttpKinds<Variant>::template taken<All>,
                      "match: a class is taken by no function; [](const auto &) {} takes all that have none");
        return std::visit(Overload{std::forward<Functions>(functions)...}, view());
    }
    /// All members, as acp.h lists them.
    Json json() const noexcept { return json_; }

private:
    std::string_view member_;
    Json json_;
    std::string_view text_;
};

/// Why an option cannot be used.
template <auto Function> std::optional<std::string> http_options_error(const JsonText &options)
{
    acp_string why{nullptr, 0};
    if (Function(options.slice(), &why) != ACP_OK) {
        return std::nullopt;
    }
    std::string out(view(acp_string_slice(why)));
    acp_string_free(&why);
    return out;
}

/// Success, or the error of a handle whose last misuse these functions tell.
template <auto Rule, auto Message, class Handle> Result<void> http_done(acp_status status, const Handle *handle) noexcept
{
    if (status == ACP_OK) {
        return {};
    }
    Error error = Error::of(status);
    if (status == ACP_MISUSE) {
        error.rule = read_text(Rule, handle).value_or(std::string_view());
        error.message = read_text(Message, handle).value_or(error.message);
    }
    return error;
}

} // namespace detail
} // namespace acp

#endif // ACP_HTTP_SHARED_HPP
