// libacp for C++17: an observer: the bytes of both sides in, events with the side that sent them out.
//
// Part of acp.hpp, which is what a program includes.

#ifndef ACP_OBSERVER_HPP
#define ACP_OBSERVER_HPP

#include "acp_config.hpp"
#include "acp_event.hpp"
#include "acp_json.hpp"
#include "acp_lists.hpp"

namespace acp {

/// What an observer saw: who sent it, and so of a violation who broke the rule, and what it is. Of a response that ends for
/// want of an answer, the side that had asked.
struct Observed {
    Role from;
    Event event;
};

/// Looks on while a client and an agent talk, and reports what either of them does wrong. It sends nothing.
///
/// What a violation says about its consequence is what a receiver is to do; what the real one did is in what follows.
class Observer {
public:
    /// Of all versions, with the defaults of a configuration.
    Observer() noexcept : Observer(make(Config(Role::client).versions({1, 2}))) {}
    /// Takes over a handle of acp.h.
    explicit Observer(acp_observer *observer) noexcept : observer_(observer) {}
    /// With a configuration, which is copied. Its role does not matter, nor do its time-outs; its versions are those that
    /// the observer can follow.
    [[nodiscard]] static Result<Observer> open(const Config &config) noexcept
    {
        if (config.status() != ACP_OK) {
            Error error = Error::of(config.status());
            error.message = config.refused();
            return error;
        }
        acp_observer *made = make(config);
        return made == nullptr ? Result<Observer>(Error::of(ACP_INVALID_ARGUMENT)) : Observer(made);
    }

    /// Takes bytes that one side has sent, in any split and in the order in which the two sides sent them; what is wrong with
    /// them becomes events. Poll after each call. This and the next only fail after a defect of the library, with a side that
    /// there is not, or when this was moved from.
    Result<void> receive(Role from, std::string_view bytes) noexcept
    {
        return done(acp_observer_receive(handle(), detail::number(from), detail::slice(bytes)));
    }
    /// One side has closed its stream. Once both have, the last event is `Closed`.
    Result<void> receive_eof(Role from) noexcept
    {
        return done(acp_observer_receive_eof(handle(), detail::number(from)));
    }

    /// What was seen next, if there is anything now.
    [[nodiscard]] std::optional<Observed> poll_event() noexcept
    {
        std::int32_t from = 0;
        acp_event *event = nullptr;
        if (acp_observer_poll_event(handle(), &from, &event) != ACP_OK) {
            return std::nullopt;
        }
        return Observed{static_cast<Role>(from), Event(event)};
    }
    /// The same for a loop: goes on until there is nothing more now.
    [[nodiscard]] Polled<Observer, Observed> events() noexcept { return Polled<Observer, Observed>(this); }

    /// How many bytes were received and have not been read yet, of both sides.
    std::size_t buffered() const noexcept
    {
        return detail::read<std::size_t>(acp_observer_buffered, handle()).value_or(0);
    }
    /// The version that both sides have agreed on; before the agent has answered, what it is expected to answer. Nothing
    /// before `initialize`.
    std::optional<std::uint16_t> version() const noexcept
    {
        return detail::read<std::uint16_t>(acp_observer_version, handle());
    }
    /// How far the conversation is.
    Phase phase() const noexcept { return detail::read_enum<Phase>(acp_observer_phase, handle()).value_or(Phase{}); }
    /// What one side can do: its capabilities object, `{}` before `initialize`. Valid until the next call that changes the
    /// observer.
    Json capabilities(Role of) const noexcept
    {
        return Json(detail::read_text(acp_observer_capabilities, handle(), detail::number(of)).value_or(std::string_view()));
    }
    /// The sessions that are known.
    Sessions sessions() const noexcept
    {
        return Sessions(detail::read<acp_sessions *>(acp_observer_sessions, handle()).value_or(nullptr));
    }
    /// The requests that one side has sent and that have no answer yet, oldest first.
    OpenRequests open_requests(Role of) const noexcept
    {
        return OpenRequests(
            detail::read<acp_requests *>(acp_observer_open_requests, handle(), detail::number(of)).value_or(nullptr));
    }
    /// All that is known of the conversation as a whole, as `Connection::snapshot` has it. Valid until the next call that
    /// changes the observer, and this is one.
    Json snapshot() noexcept
    {
        return Json(detail::read_text(acp_observer_snapshot, handle()).value_or(std::string_view()));
    }
    /// All that is known of a session, as `Connection::session_snapshot` has it. Nothing when the session is not known.
    std::optional<Json> session_snapshot(std::string_view id) noexcept
    {
        const auto told = detail::read_text(acp_observer_session_snapshot, handle(), detail::slice(id));
        return told ? std::optional<Json>(Json(*told)) : std::nullopt;
    }

    /// The handle, for the functions of acp.h.
    acp_observer *handle() const noexcept { return observer_.get(); }
    /// Gives the handle away.
    acp_observer *release() noexcept { return observer_.release(); }

private:
    static acp_observer *make(const Config &config) noexcept
    {
        return detail::read<acp_observer *>(acp_observer_new, config.handle()).value_or(nullptr);
    }

    static Result<void> done(acp_status status) noexcept
    {
        return status == ACP_OK ? Result<void>() : Result<void>(Error::of(status));
    }

    detail::Owned<acp_observer, acp_observer_free> observer_;
};

} // namespace acp

#endif // ACP_OBSERVER_HPP
