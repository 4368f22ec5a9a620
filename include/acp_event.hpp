// libacp for C++17: events. An `Event` owns what has happened; `view()` is a `std::variant` of small classes that read
// from it, one for each kind, and `match` calls the function that takes the kind which is there.
//
// Part of acp.hpp, which is what a program includes. What a view gives out is valid as long as its event.

#ifndef ACP_EVENT_HPP
#define ACP_EVENT_HPP

#include <type_traits>
#include <variant>

#include "acp_json.hpp"

namespace acp {

namespace detail {

/// What the views are made of: reads from an event that stays somebody else's.
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

/// A terminal and the session that it belongs to.
struct TerminalId {
    std::string_view session;
    std::string_view id;
};

/// The peer asks; answer with `Connection::respond` or `respond_error`.
class Request : public detail::View {
public:
    using View::View;
    /// The number of the request on this connection.
    std::uint64_t serial() const noexcept { return number<std::uint64_t>(acp_event_serial); }
    std::string_view method() const noexcept { return text(acp_event_method); }
    /// The id as JSON text, as it was sent.
    std::string_view id() const noexcept { return text(acp_event_id); }
    std::optional<std::string_view> session() const noexcept { return maybe_text(acp_event_session); }
    Json params() const noexcept { return Json(text(acp_event_params)); }
};

/// The peer tells.
class Notification : public detail::View {
public:
    using View::View;
    std::string_view method() const noexcept { return text(acp_event_method); }
    std::optional<std::string_view> session() const noexcept { return maybe_text(acp_event_session); }
    Json params() const noexcept { return Json(text(acp_event_params)); }
    /// The kind of a `session/update` (`ACP_UPDATE_…`), where it is known.
    std::optional<std::string_view> update() const noexcept { return maybe_text(acp_event_update); }
    Timing timing() const noexcept { return named<Timing>(acp_event_timing); }
};

namespace detail {

/// What a response and a late one have in common.
class Ended : public View {
public:
    using View::View;
    /// The number that `Connection::request` gave.
    std::uint64_t serial() const noexcept { return number<std::uint64_t>(acp_event_serial); }
    std::string_view method() const noexcept { return text(acp_event_method); }
    std::string_view id() const noexcept { return text(acp_event_id); }
    std::optional<std::string_view> session() const noexcept { return maybe_text(acp_event_session); }
    Outcome outcome() const noexcept { return named<Outcome>(acp_event_outcome); }
    /// The result, where it ended with one.
    std::optional<Json> result() const noexcept { return json(acp_event_result); }
    /// The peer's error, where it ended with one.
    std::optional<std::int32_t> error_code() const noexcept { return read<std::int32_t>(acp_event_error_code, event_); }
    std::string_view error_message() const noexcept { return text(acp_event_error_message); }
    std::optional<Json> error_data() const noexcept { return json(acp_event_error_data); }

private:
    template <class Function> std::optional<Json> json(Function function) const noexcept
    {
        const auto found = maybe_text(function);
        return found ? std::optional<Json>(Json(*found)) : std::nullopt;
    }
};

} // namespace detail

/// A request of the host's has ended.
class Response : public detail::Ended {
public:
    using Ended::Ended;
};

/// The peer has answered a request of the host's that had ended as timed out or cancelled. What the answer opened is
/// open.
class LateResponse : public detail::Ended {
public:
    using Ended::Ended;
};

/// The peer no longer wants an answer, which it must get all the same.
class Cancel : public detail::View {
public:
    using View::View;
    std::uint64_t serial() const noexcept { return number<std::uint64_t>(acp_event_serial); }
    std::string_view method() const noexcept { return text(acp_event_method); }
    std::string_view id() const noexcept { return text(acp_event_id); }
    std::optional<std::string_view> session() const noexcept { return maybe_text(acp_event_session); }
};

/// The library has answered a request of the peer's in the host's place.
class Answered : public detail::View {
public:
    using View::View;
    std::uint64_t serial() const noexcept { return number<std::uint64_t>(acp_event_serial); }
    std::string_view method() const noexcept { return text(acp_event_method); }
    std::string_view id() const noexcept { return text(acp_event_id); }
    std::optional<std::string_view> session() const noexcept { return maybe_text(acp_event_session); }
    /// The rule that asks for the answer.
    std::string_view rule() const noexcept { return text(acp_event_rule); }
};

/// The peer broke a rule.
class Violation : public detail::View {
public:
    using View::View;
    std::string_view rule() const noexcept { return text(acp_event_rule); }
    std::string_view message() const noexcept { return text(acp_event_message); }
    /// JSON pointer into the params or result.
    std::string_view pointer() const noexcept { return text(acp_event_pointer); }
    Consequence consequence() const noexcept { return named<Consequence>(acp_event_consequence); }
    /// The code that the message was answered with, where it was refused.
    std::optional<std::int32_t> answer_code() const noexcept
    {
        return detail::read<std::int32_t>(acp_event_answer_code, event_);
    }
    /// The method, the id and the session, where they could be read.
    std::optional<std::string_view> method() const noexcept { return maybe_text(acp_event_method); }
    std::optional<std::string_view> id() const noexcept { return maybe_text(acp_event_id); }
    std::optional<std::string_view> session() const noexcept { return maybe_text(acp_event_session); }
    /// The number of the frame on this connection, from 1, and its first bytes.
    std::uint64_t frame() const noexcept { return number<std::uint64_t>(acp_event_frame); }
    std::string_view excerpt() const noexcept { return text(acp_event_excerpt); }
};

/// The connection is over; the last event.
class Closed : public detail::View {
public:
    using View::View;
    CloseReason reason() const noexcept { return named<CloseReason>(acp_event_close_reason); }
    /// How many requests of the peer's were never answered, and the id of one as JSON text.
    std::size_t unanswered() const noexcept { return number<std::size_t>(acp_event_unanswered_len); }
    std::string_view unanswered_id(std::size_t index) const noexcept
    {
        return detail::read_text(acp_event_unanswered_id, event_, index).value_or(std::string_view());
    }
    /// How many terminals were never released, and one of them.
    std::size_t terminals() const noexcept { return number<std::size_t>(acp_event_terminals_len); }
    TerminalId terminal(std::size_t index) const noexcept
    {
        acp_slice session{nullptr, 0}, id{nullptr, 0};
        (void)acp_event_terminal(event_, index, &session, &id);
        return {detail::view(session), detail::view(id)};
    }
};

/// The host's own message went out, but it is odd; or an answer of the host's is overdue.
class Advice : public detail::View {
public:
    using View::View;
    std::string_view rule() const noexcept { return text(acp_event_rule); }
    std::string_view message() const noexcept { return text(acp_event_message); }
    std::string_view pointer() const noexcept { return text(acp_event_pointer); }
    /// The method; of an answer, the one that was called.
    std::string_view method() const noexcept { return text(acp_event_method); }
    /// The id as JSON text, of advice about an answer or a request that waits for one.
    std::optional<std::string_view> id() const noexcept { return maybe_text(acp_event_id); }
    std::optional<std::string_view> session() const noexcept { return maybe_text(acp_event_session); }
};

/// What a newer library reports and this header does not know.
class Unknown : public detail::View {
public:
    using View::View;
};

/// An event as one of its kinds.
using EventView =
    std::variant<Request, Notification, Response, Cancel, Answered, Violation, Closed, Advice, LateResponse, Unknown>;

namespace detail {
template <class... Functions> struct Overload : Functions... {
    using Functions::operator()...;
};
template <class... Functions> Overload(Functions...) -> Overload<Functions...>;

/// Whether the functions take a class of events. Says which one they do not.
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

/// Whether the functions take all of them.
template <class Functions, class... Kinds> constexpr bool takes_all(const std::variant<Kinds...> *) noexcept
{
    return (takes<Functions, Kinds>() && ...);
}
} // namespace detail

/// Something that the host must know. It owns its texts and does not depend on the connection.
class Event {
public:
    explicit Event(acp_event *event) noexcept : event_(event) {}

    EventKind kind() const noexcept
    {
        return detail::read_enum<EventKind>(acp_event_kind, handle()).value_or(EventKind{});
    }
    /// Itself as one of the classes above, for `std::visit` and `std::get_if`.
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
    /// Calls the one of these functions that takes the event's class; `[](auto) {}` takes all others. Which classes
    /// are left out is found when this is compiled.
    template <class... Functions> decltype(auto) match(Functions &&...functions) const
    {
        using All = detail::Overload<std::decay_t<Functions>...>;
        // Where a class is left out, that alone is what the compiler has to say.
        if constexpr (detail::takes_all<All>(static_cast<EventView *>(nullptr))) {
            return std::visit(detail::Overload{std::forward<Functions>(functions)...}, view());
        }
    }

    /// The handle, for the functions of acp.h.
    const acp_event *handle() const noexcept { return event_.get(); }

private:
    detail::Owned<acp_event, acp_event_free> event_;
};

/// What `poll_event` gives until there is nothing more, for a loop. An event that is to stay is moved out of the loop.
template <class Source, class Item> class Polled {
public:
    struct End {};
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
