// libacp for C++17: what a connection knows, as lists: sessions, open requests, terminals.
//
// Part of acp.hpp, which is what a program includes. What an item gives out is valid as long as its list.

#ifndef ACP_LISTS_HPP
#define ACP_LISTS_HPP

#include "acp_json.hpp"

namespace acp {

/// A session that is known.
class Session {
public:
    Session(const acp_sessions *list, std::size_t index) noexcept : list_(list), index_(index) {}

    std::string_view id() const noexcept
    {
        return detail::read_text(acp_sessions_id, list_, index_).value_or(std::string_view());
    }
    SessionState state() const noexcept
    {
        return detail::read_enum<SessionState>(acp_sessions_state, list_, index_).value_or(SessionState{});
    }
    Turn turn() const noexcept { return detail::read_enum<Turn>(acp_sessions_turn, list_, index_).value_or(Turn{}); }

private:
    const acp_sessions *list_;
    std::size_t index_;
};

/// A request without an answer.
class OpenRequest {
public:
    OpenRequest(const acp_requests *list, std::size_t index) noexcept : list_(list), index_(index) {}

    std::uint64_t serial() const noexcept
    {
        return detail::read<std::uint64_t>(acp_requests_serial, list_, index_).value_or(0);
    }
    /// The id as JSON text.
    std::string_view id() const noexcept
    {
        return detail::read_text(acp_requests_id, list_, index_).value_or(std::string_view());
    }
    std::string_view method() const noexcept
    {
        return detail::read_text(acp_requests_method, list_, index_).value_or(std::string_view());
    }
    std::optional<std::string_view> session() const noexcept
    {
        return detail::read_text(acp_requests_session, list_, index_);
    }
    /// Whether its sender has asked to cancel it.
    bool cancelled() const noexcept
    {
        return detail::read<bool>(acp_requests_cancelled, list_, index_).value_or(false);
    }
    /// When it times out or, of a peer's request, when the host is reminded of it, on the host's clock.
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

    std::string_view session() const noexcept
    {
        return detail::read_text(acp_terminals_session, list_, index_).value_or(std::string_view());
    }
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

/// A list that the connection has made; later changes of the connection do not show in it.
template <class Handle, class Element, auto Length, auto Release> class List {
public:
    explicit List(Handle *list = nullptr) noexcept : list_(list) {}

    std::size_t size() const noexcept { return detail::read<std::size_t>(Length, handle()).value_or(0); }
    bool empty() const noexcept { return size() == 0; }
    Element operator[](std::size_t index) const noexcept { return {handle(), index}; }
    detail::Index<List> begin() const noexcept { return {this, 0}; }
    detail::Index<List> end() const noexcept { return {this, size()}; }

private:
    const Handle *handle() const noexcept { return list_.get(); }

    detail::Owned<Handle, Release> list_;
};

using Sessions = List<acp_sessions, Session, acp_sessions_len, acp_sessions_free>;
using OpenRequests = List<acp_requests, OpenRequest, acp_requests_len, acp_requests_free>;
using Terminals = List<acp_terminals, Terminal, acp_terminals_len, acp_terminals_free>;

} // namespace acp

#endif // ACP_LISTS_HPP
