// libacp for C++17: an observer: the bytes of both sides in, events and who sent them out.
//
// Part of acp.hpp, which is what a program includes.

#ifndef ACP_OBSERVER_HPP
#define ACP_OBSERVER_HPP

#include "acp_config.hpp"
#include "acp_event.hpp"
#include "acp_json.hpp"
#include "acp_lists.hpp"

namespace acp {

/// An event that an observer saw, and who sent the message.
struct Observed {
    /// The side that sent the message. For a violation, that is the side that broke the rule; for a request that ended
    /// without an answer, the side that had sent the request.
    Role from;
    /// The event.
    Event event;
};

/// Follows a conversation between a client and an agent from outside, and reports which rules either of them breaks. It
/// sends nothing.
///
/// The consequence of a violation is what the receiver is expected to do with the message; what it really did shows in
/// the following events.
class Observer {
public:
    /// An observer of all versions, with the other defaults of a configuration.
    Observer() noexcept : Observer(make(Config(Role::client).versions({1, 2}))) {}
    /// Takes ownership of a handle of acp.h.
    explicit Observer(acp_observer *observer) noexcept : observer_(observer) {}
    /// An observer with a configuration, which is copied. Its role and its time-outs do not matter; its versions are
    /// those that the observer can follow.
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

    /// Passes in bytes that one side sent, in chunks of any size and in the order in which the two sides sent them.
    /// Poll for events after each call. This function and `receive_eof` fail only after a defect of the library, if
    /// there is no such side, or if this object was moved from.
    Result<void> receive(Role from, std::string_view bytes) noexcept
    {
        return done(acp_observer_receive(handle(), detail::number(from), detail::slice(bytes)));
    }
    /// Reports that one side has closed its stream. Once both have, `Closed` is the last event.
    Result<void> receive_eof(Role from) noexcept
    {
        return done(acp_observer_receive_eof(handle(), detail::number(from)));
    }

    /// Takes the next event; `std::nullopt` if there is none now.
    [[nodiscard]] std::optional<Observed> poll_event() noexcept
    {
        std::int32_t from = 0;
        acp_event *event = nullptr;
        if (acp_observer_poll_event(handle(), &from, &event) != ACP_OK) {
            return std::nullopt;
        }
        return Observed{static_cast<Role>(from), Event(event)};
    }
    /// The events as a range for a loop: takes events until there is none.
    [[nodiscard]] Polled<Observer, Observed> events() noexcept { return Polled<Observer, Observed>(this); }

    /// How many bytes were received from both sides and not decoded yet.
    std::size_t buffered() const noexcept
    {
        return detail::read<std::size_t>(acp_observer_buffered, handle()).value_or(0);
    }
    /// The protocol version that both sides agreed on. Before the agent has answered `initialize`, it is the version
    /// that it is expected to choose. `std::nullopt` before `initialize`.
    std::optional<std::uint16_t> version() const noexcept
    {
        return detail::read<std::uint16_t>(acp_observer_version, handle());
    }
    /// How far the conversation is.
    Phase phase() const noexcept { return detail::read_enum<Phase>(acp_observer_phase, handle()).value_or(Phase{}); }
    /// The capabilities object that one side advertised; `{}` before `initialize`. Valid until the next call that
    /// changes the observer.
    Json capabilities(Role of) const noexcept
    {
        return Json(detail::read_text(acp_observer_capabilities, handle(), detail::number(of)).value_or(std::string_view()));
    }
    /// The sessions of the conversation, sorted by id.
    Sessions sessions() const noexcept
    {
        return Sessions(detail::read<acp_sessions *>(acp_observer_sessions, handle()).value_or(nullptr));
    }
    /// The requests of one side that have no answer yet, oldest first.
    OpenRequests open_requests(Role of) const noexcept
    {
        return OpenRequests(
            detail::read<acp_requests *>(acp_observer_open_requests, handle(), detail::number(of)).value_or(nullptr));
    }
    /// The state of the conversation, with the members of `Connection::snapshot`. Valid until the next call that
    /// changes the observer, this one included.
    Json snapshot() noexcept
    {
        return Json(detail::read_text(acp_observer_snapshot, handle()).value_or(std::string_view()));
    }
    /// The state of a session, with the members of `Connection::session_snapshot`; `std::nullopt` if the session is not
    /// known. Valid until the next call that changes the observer, this one included.
    std::optional<Json> session_snapshot(std::string_view id) noexcept
    {
        const auto told = detail::read_text(acp_observer_session_snapshot, handle(), detail::slice(id));
        return told ? std::optional<Json>(Json(*told)) : std::nullopt;
    }

    // Generated from core/protocol/getters.json by `cargo xtask codegen`, as far as the next such line.
    /// The sessions that have a view: none unless the configuration says `view`. Valid until the next call that
    /// changes the observer, this one included.
    Json views() noexcept { return Json(detail::read_text(acp_observer_views, handle()).value_or(std::string_view())); }
    /// A session as a conversation: what a client shows, whichever version the peers speak. All of its members are
    /// always present. The cost grows with the length of the text; `view_since` has what is new. Valid until the
    /// next call that changes the observer, this one included. acp.h lists the members. `std::nullopt` when there
    /// is no view of the session.
    std::optional<Json> view(std::string_view session) noexcept
    {
        const auto told = detail::read_text(acp_observer_view, handle(), detail::slice(session));
        return told ? std::optional<Json>(Json(*told)) : std::nullopt;
    }
    /// The revision of a session's view: a number that grows with each change. Cheap, to find out whether there is
    /// anything to draw. `std::nullopt` when there is no view of the session.
    std::optional<std::uint64_t> view_revision(std::string_view session) const noexcept
    {
        return detail::read<std::uint64_t>(acp_observer_view_revision, handle(), detail::slice(session));
    }
    /// What has changed in a session's view since a revision, without what can be long and grows: entries and
    /// terminals lack `blocks`, `summary`, `content`, `output` and `before`. Where the number `end` of one is not
    /// what it was, `view_content` has what is new. The cost grows with what has changed. Valid until the next call
    /// that changes the observer, this one included. acp.h lists the members. `std::nullopt` when there is no view
    /// of the session.
    std::optional<Json> view_since(std::string_view session, std::uint64_t revision) noexcept
    {
        const auto told = detail::read_text(acp_observer_view_since, handle(), detail::slice(session), revision);
        return told ? std::optional<Json>(Json(*told)) : std::nullopt;
    }
    /// The content of an entry, or of a terminal, from a position on: of a content that has grown at its end, what
    /// is new. The cost grows with that, so that all of a content costs as much however often it is read while it
    /// grows. Valid until the next call that changes the observer, this one included. acp.h lists the members.
    /// `std::nullopt` when there is no view of the session, or it has no such entry.
    std::optional<Json> view_content(std::string_view session, std::uint64_t index, std::uint64_t position) noexcept
    {
        const auto told = detail::read_text(acp_observer_view_content, handle(), detail::slice(session), index,
                                            position);
        return told ? std::optional<Json>(Json(*told)) : std::nullopt;
    }
    /// All text of a message, or of the summary of a compaction, in one piece. Valid until the next call that
    /// changes the observer. `std::nullopt` when there is no view of the session, or the entry of this index is
    /// neither a message nor a compaction.
    std::optional<std::string_view> view_text(std::string_view session, std::uint64_t index) const noexcept
    {
        return detail::read_text(acp_observer_view_text, handle(), detail::slice(session), index);
    }
    /// The last bytes that a terminal has printed, as they came. Valid until the next call that changes the
    /// observer. `std::nullopt` when there is no view of the session, or the entry of this index is no terminal.
    std::optional<std::string_view> view_output(std::string_view session, std::uint64_t index) const noexcept
    {
        return detail::read_text(acp_observer_view_output, handle(), detail::slice(session), index);
    }
    /// Forgets the view of a session that is over; whether there was one. Views of closed and deleted sessions stay
    /// until then, or until 64 others are over.
    bool forget_view(std::string_view session) noexcept
    {
        return detail::read<bool>(acp_observer_forget_view, handle(), detail::slice(session)).value_or(false);
    }
    // The end of what is generated.

    /// The handle, for the functions of acp.h; null after a move.
    acp_observer *handle() const noexcept { return observer_.get(); }
    /// Gives up ownership of the handle. The caller frees it with `acp_observer_free`.
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
