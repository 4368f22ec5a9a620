// libacp for C++17: lists of sessions, open requests and terminals.
//
// Part of acp.hpp, which is what a program includes. What an element returns is valid as long as its list.

#ifndef ACP_LISTS_HPP
#define ACP_LISTS_HPP

#include "acp_json.hpp"

namespace acp {

/// A session of a connection or an observer.
class Session {
public:
    Session(const acp_sessions *list, std::size_t index) noexcept : list_(list), index_(index) {}

    /// The session's id.
    std::string_view id() const noexcept
    {
        return detail::read_text(acp_sessions_id, list_, index_).value_or(std::string_view());
    }
    /// Whether it is open, or being loaded or resumed.
    SessionState state() const noexcept
    {
        return detail::read_enum<SessionState>(acp_sessions_state, list_, index_).value_or(SessionState{});
    }
    /// Whether the agent is working for it.
    Turn turn() const noexcept { return detail::read_enum<Turn>(acp_sessions_turn, list_, index_).value_or(Turn{}); }

private:
    const acp_sessions *list_;
    std::size_t index_;
};

/// A request without an answer.
class OpenRequest {
public:
    OpenRequest(const acp_requests *list, std::size_t index) noexcept : list_(list), index_(index) {}

    /// The request's serial number, as passed to `Connection::respond` or `cancel`.
    std::uint64_t serial() const noexcept
    {
        return detail::read<std::uint64_t>(acp_requests_serial, list_, index_).value_or(0);
    }
    /// The id as JSON text.
    std::string_view id() const noexcept
    {
        return detail::read_text(acp_requests_id, list_, index_).value_or(std::string_view());
    }
    /// The method's name.
    std::string_view method() const noexcept
    {
        return detail::read_text(acp_requests_method, list_, index_).value_or(std::string_view());
    }
    /// The id of the session that it is about, if any.
    std::optional<std::string_view> session() const noexcept
    {
        return detail::read_text(acp_requests_session, list_, index_);
    }
    /// Whether its sender has asked to cancel it.
    bool cancelled() const noexcept
    {
        return detail::read<bool>(acp_requests_cancelled, list_, index_).value_or(false);
    }
    /// When it times out or, for a request of the peer, when the host is reminded of it, in milliseconds on the host's
    /// clock; `std::nullopt` for never.
    std::optional<std::uint64_t> deadline() const noexcept
    {
        return detail::read<std::uint64_t>(acp_requests_deadline, list_, index_);
    }

private:
    const acp_requests *list_;
    std::size_t index_;
};

/// A terminal that was created and not released.
class Terminal {
public:
    Terminal(const acp_terminals *list, std::size_t index) noexcept : list_(list), index_(index) {}

    /// The id of its session.
    std::string_view session() const noexcept
    {
        return detail::read_text(acp_terminals_session, list_, index_).value_or(std::string_view());
    }
    /// The terminal's id, unique within its session.
    std::string_view id() const noexcept
    {
        return detail::read_text(acp_terminals_id, list_, index_).value_or(std::string_view());
    }
    /// Whether its command is known to have ended.
    bool ended() const noexcept { return detail::read<bool>(acp_terminals_ended, list_, index_).value_or(false); }

private:
    const acp_terminals *list_;
    std::size_t index_;
};

/// A list that came from a connection or an observer. It is a copy: later changes do not show in it.
template <class Handle, class Element, auto Length, auto Release> class List {
public:
    /// Takes ownership of a handle of acp.h.
    explicit List(Handle *list = nullptr) noexcept : list_(list) {}

    /// The number of elements.
    std::size_t size() const noexcept { return detail::read<std::size_t>(Length, handle()).value_or(0); }
    /// Whether there are none.
    bool empty() const noexcept { return size() == 0; }
    /// One of them. Valid as long as the list; empty if `index` is out of range.
    Element operator[](std::size_t index) const noexcept { return {handle(), index}; }
    detail::Index<List> begin() const noexcept { return {this, 0}; }
    detail::Index<List> end() const noexcept { return {this, size()}; }

private:
    const Handle *handle() const noexcept { return list_.get(); }

    detail::Owned<Handle, Release> list_;
};

/// Sessions, sorted by id.
using Sessions = List<acp_sessions, Session, acp_sessions_len, acp_sessions_free>;
/// Open requests, oldest first.
using OpenRequests = List<acp_requests, OpenRequest, acp_requests_len, acp_requests_free>;
/// Terminals, grouped by session.
using Terminals = List<acp_terminals, Terminal, acp_terminals_len, acp_terminals_free>;

} // namespace acp

#endif // ACP_LISTS_HPP
