// libacp for C++17: events. An `Event` owns its data. `view()` returns a `std::variant` of small classes that read from it,
// one for each kind, and `match` calls the function that accepts the class of the event.
//
// Part of acp.hpp, which is what a program includes. What a view returns is valid as long as its event.

#ifndef ACP_EVENT_HPP
#define ACP_EVENT_HPP

#include <type_traits>
#include <variant>

#include "acp_json.hpp"

namespace acp {

namespace detail {

/// The base of the views: reads from an event that it does not own.
class View {
public:
    explicit View(const acp_event *event) noexcept : event_(event) {}

protected:
    template <class Function> std::string_view text(Function function) const noexcept
    {
        return maybe_text(function).value_or(std::string_view());
    }
    template <class Function> std::optional<std::string_view> maybe_text(Function function) const noexcept
    {
        return read_text(function, event_);
    }
    template <class T, class Function> T number(Function function) const noexcept
    {
        return read<T>(function, event_).value_or(T{});
    }
    template <class Enum, class Function> Enum named(Function function) const noexcept
    {
        return read_enum<Enum>(function, event_).value_or(Enum{});
    }

    const acp_event *event_;
};

} // namespace detail

/// A terminal.
struct TerminalId {
    /// The id of its session.
    std::string_view session;
    /// Its own id, unique within the session.
    std::string_view id;
};

/// The peer sent a request. Answer it with `Connection::respond` or `respond_error`.
class Request : public detail::View {
public:
    using View::View;
    /// The request's serial number, unique on the connection.
    std::uint64_t serial() const noexcept { return number<std::uint64_t>(acp_event_serial); }
    /// The method's name.
    std::string_view method() const noexcept { return text(acp_event_method); }
    /// The id as JSON text.
    std::string_view id() const noexcept { return text(acp_event_id); }
    /// The id of the session that it is about, if any.
    std::optional<std::string_view> session() const noexcept { return maybe_text(acp_event_session); }
    /// The params; `{}` if there were none.
    Json params() const noexcept { return Json(text(acp_event_params)); }
};

/// The peer sent a notification.
class Notification : public detail::View {
public:
    using View::View;
    /// The method's name.
    std::string_view method() const noexcept { return text(acp_event_method); }
    /// The id of the session that it is about, if any.
    std::optional<std::string_view> session() const noexcept { return maybe_text(acp_event_session); }
    /// The params; `{}` if there were none.
    Json params() const noexcept { return Json(text(acp_event_params)); }
    /// The kind of a `session/update` (`ACP_UPDATE_…`), if it is known.
    std::optional<std::string_view> update() const noexcept { return maybe_text(acp_event_update); }
    /// Where it falls in the life of its session.
    Timing timing() const noexcept { return named<Timing>(acp_event_timing); }
};

namespace detail {

/// What a response and a late response have in common.
class Ended : public View {
public:
    using View::View;
    /// The serial number that `Connection::request` returned.
    std::uint64_t serial() const noexcept { return number<std::uint64_t>(acp_event_serial); }
    /// The method of the request.
    std::string_view method() const noexcept { return text(acp_event_method); }
    /// The id of the request as JSON text.
    std::string_view id() const noexcept { return text(acp_event_id); }
    /// The id of the session that the request was about, if any.
    std::optional<std::string_view> session() const noexcept { return maybe_text(acp_event_session); }
    /// How the request ended.
    Outcome outcome() const noexcept { return named<Outcome>(acp_event_outcome); }
    /// The result, if the outcome is `Outcome::result`.
    std::optional<Json> result() const noexcept { return json(acp_event_result); }
    /// The code of the peer's error, if the outcome is `Outcome::error`.
    std::optional<std::int32_t> error_code() const noexcept { return read<std::int32_t>(acp_event_error_code, event_); }
    /// The message of the peer's error; empty for any other outcome.
    std::string_view error_message() const noexcept { return text(acp_event_error_message); }
    /// The data of the peer's error, if it has any.
    std::optional<Json> error_data() const noexcept { return json(acp_event_error_data); }

private:
    template <class Function> std::optional<Json> json(Function function) const noexcept
    {
        const auto found = maybe_text(function);
        return found ? std::optional<Json>(Json(*found)) : std::nullopt;
    }
};

} // namespace detail

/// One of the host's requests has ended. Exactly one such event for each request.
class Response : public detail::Ended {
public:
    using Ended::Ended;
};

/// The peer answered a request that had already ended with `Outcome::timeout` or `Outcome::cancelled`. A session or
/// terminal that the answer opened is open.
class LateResponse : public detail::Ended {
public:
    using Ended::Ended;
};

/// The peer cancelled one of its requests, which must still be answered.
class Cancel : public detail::View {
public:
    using View::View;
    /// The request's serial number.
    std::uint64_t serial() const noexcept { return number<std::uint64_t>(acp_event_serial); }
    /// The method of the request.
    std::string_view method() const noexcept { return text(acp_event_method); }
    /// The id of the request as JSON text.
    std::string_view id() const noexcept { return text(acp_event_id); }
    /// The id of the session that the request is about, if any.
    std::optional<std::string_view> session() const noexcept { return maybe_text(acp_event_session); }
};

/// The library answered one of the peer's requests on the host's behalf. The host must not answer it any more.
class Answered : public detail::View {
public:
    using View::View;
    /// The request's serial number.
    std::uint64_t serial() const noexcept { return number<std::uint64_t>(acp_event_serial); }
    /// The method of the request.
    std::string_view method() const noexcept { return text(acp_event_method); }
    /// The id of the request as JSON text.
    std::string_view id() const noexcept { return text(acp_event_id); }
    /// The id of the session that the request is about, if any.
    std::optional<std::string_view> session() const noexcept { return maybe_text(acp_event_session); }
    /// The id of the rule that required the answer.
    std::string_view rule() const noexcept { return text(acp_event_rule); }
};

/// The peer broke a rule.
class Violation : public detail::View {
public:
    using View::View;
    /// The id of the rule.
    std::string_view rule() const noexcept { return text(acp_event_rule); }
    /// What is wrong, in one sentence.
    std::string_view message() const noexcept { return text(acp_event_message); }
    /// A JSON pointer into the params or the result; empty if the message as a whole is meant.
    std::string_view pointer() const noexcept { return text(acp_event_pointer); }
    /// What happened to the message.
    Consequence consequence() const noexcept { return named<Consequence>(acp_event_consequence); }
    /// The code of the error that the message was answered with, if it was refused.
    std::optional<std::int32_t> answer_code() const noexcept
    {
        return detail::read<std::int32_t>(acp_event_answer_code, event_);
    }
    /// The method, if it could be read.
    std::optional<std::string_view> method() const noexcept { return maybe_text(acp_event_method); }
    /// The id as JSON text, if it could be read.
    std::optional<std::string_view> id() const noexcept { return maybe_text(acp_event_id); }
    /// The id of the session, if it could be read.
    std::optional<std::string_view> session() const noexcept { return maybe_text(acp_event_session); }
    /// The number of the frame, counted from 1 separately for each sender.
    std::uint64_t frame() const noexcept { return number<std::uint64_t>(acp_event_frame); }
    /// The first bytes of the frame, at most 256; empty if they may hold secrets.
    std::string_view excerpt() const noexcept { return text(acp_event_excerpt); }
};

/// The connection has ended. The last event.
class Closed : public detail::View {
public:
    using View::View;
    /// Why it has ended.
    CloseReason reason() const noexcept { return named<CloseReason>(acp_event_close_reason); }
    /// How many of the peer's requests the host had not answered.
    std::size_t unanswered() const noexcept { return number<std::size_t>(acp_event_unanswered_len); }
    /// The id of one of them as JSON text, oldest first; empty if `index` is out of range.
    std::string_view unanswered_id(std::size_t index) const noexcept
    {
        return detail::read_text(acp_event_unanswered_id, event_, index).value_or(std::string_view());
    }
    /// How many terminals had not been released.
    std::size_t terminals() const noexcept { return number<std::size_t>(acp_event_terminals_len); }
    /// One of them; empty if `index` is out of range.
    TerminalId terminal(std::size_t index) const noexcept
    {
        acp_slice session{nullptr, 0}, id{nullptr, 0};
        (void)acp_event_terminal(event_, index, &session, &id);
        return {detail::view(session), detail::view(id)};
    }
};

/// A message of the host's was sent but goes against a recommendation, or an answer of the host's is overdue.
class Advice : public detail::View {
public:
    using View::View;
    /// The id of the rule.
    std::string_view rule() const noexcept { return text(acp_event_rule); }
    /// What goes against it, in one sentence.
    std::string_view message() const noexcept { return text(acp_event_message); }
    /// A JSON pointer into the params or the result; empty if the message as a whole is meant.
    std::string_view pointer() const noexcept { return text(acp_event_pointer); }
    /// The method of the message; for an answer, of the request.
    std::string_view method() const noexcept { return text(acp_event_method); }
    /// The id of the peer's request as JSON text, if an answer or a missing answer is meant.
    std::optional<std::string_view> id() const noexcept { return maybe_text(acp_event_id); }
    /// The id of the session that the message is about, if any.
    std::optional<std::string_view> session() const noexcept { return maybe_text(acp_event_session); }
};

/// An event that a newer library reports and that this header does not know.
class Unknown : public detail::View {
public:
    using View::View;
};

/// An event as one of the classes above.
using EventView =
    std::variant<Request, Notification, Response, Cancel, Answered, Violation, Closed, Advice, LateResponse, Unknown>;

namespace detail {
template <class... Functions> struct Overload : Functions... {
    using Functions::operator()...;
};
template <class... Functions> Overload(Functions...) -> Overload<Functions...>;

/// Whether the functions accept a class of events. If not, compilation fails and names the class.
template <class Functions, class Kind> constexpr bool takes() noexcept
{
    constexpr bool taken = std::is_invocable_v<Functions, Kind>;
#define ACP_TAKES(name)                                                                                                \
    static_assert(taken || !std::is_same_v<Kind, name>,                                                                \
                  "match: no function takes an acp::" #name "; [](const auto &) {} takes all that have none")
    ACP_TAKES(Request);
    ACP_TAKES(Notification);
    ACP_TAKES(Response);
    ACP_TAKES(Cancel);
    ACP_TAKES(Answered);
    ACP_TAKES(Violation);
    ACP_TAKES(Closed);
    ACP_TAKES(Advice);
    ACP_TAKES(LateResponse);
    ACP_TAKES(Unknown);
#undef ACP_TAKES
    return taken;
}

/// Whether the functions accept all of them.
template <class Functions, class... Kinds> constexpr bool takes_all(const std::variant<Kinds...> *) noexcept
{
    return (takes<Functions, Kinds>() && ...);
}
} // namespace detail

/// Something that happened on a connection or that an observer saw. It owns its text and does not depend on where it
/// came from.
class Event {
public:
    /// Takes ownership of a handle of acp.h.
    explicit Event(acp_event *event) noexcept : event_(event) {}

    /// The kind of the event.
    EventKind kind() const noexcept
    {
        return detail::read_enum<EventKind>(acp_event_kind, handle()).value_or(EventKind{});
    }
    /// The event as one of the classes above, for `std::visit` and `std::get_if`. Valid as long as the event.
    EventView view() const & noexcept
    {
        switch (kind()) {
        case EventKind::request: return Request(handle());
        case EventKind::notification: return Notification(handle());
        case EventKind::response: return Response(handle());
        case EventKind::cancel: return Cancel(handle());
        case EventKind::answered: return Answered(handle());
        case EventKind::violation: return Violation(handle());
        case EventKind::closed: return Closed(handle());
        case EventKind::advice: return Advice(handle());
        case EventKind::late_response: return LateResponse(handle());
        }
        return Unknown(handle());
    }
    EventView view() && = delete;
    /// Calls the one function that accepts the event's class; `[](const auto &) {}` accepts all others. A class that no
    /// function accepts is an error of compilation.
    template <class... Functions> decltype(auto) match(Functions &&...functions) const
    {
        using All = detail::Overload<std::decay_t<Functions>...>;
        // If a class is left out, the compiler reports only that.
        if constexpr (detail::takes_all<All>(static_cast<EventView *>(nullptr))) {
            return std::visit(detail::Overload{std::forward<Functions>(functions)...}, view());
        }
    }

    /// The handle, for the functions of acp.h; null after a move.
    const acp_event *handle() const noexcept { return event_.get(); }

private:
    detail::Owned<acp_event, acp_event_free> event_;
};

/// What `poll_event` returns until there is nothing more, as a range. Move an event out of the loop to keep it.
template <class Source, class Item> class Polled {
public:
    /// The end of the range.
    struct End {};
    /// Takes the next item when it is incremented.
    class Iterator {
    public:
        explicit Iterator(Source *source) noexcept : source_(source), item_(source->poll_event()) {}
        Item &operator*() noexcept { return *item_; }
        Iterator &operator++() noexcept
        {
            item_ = source_->poll_event();
            return *this;
        }
        bool operator!=(End) const noexcept { return item_.has_value(); }

    private:
        Source *source_;
        std::optional<Item> item_;
    };

    explicit Polled(Source *source) noexcept : source_(source) {}
    Iterator begin() const noexcept { return Iterator(source_); }
    End end() const noexcept { return {}; }

private:
    Source *source_;
};

} // namespace acp

#endif // ACP_EVENT_HPP
