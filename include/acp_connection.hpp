// libacp for C++17: a connection: bytes in, events out, bytes out, time, and what a host asks for.
//
// Part of acp.hpp, which is what a program includes.

#ifndef ACP_CONNECTION_HPP
#define ACP_CONNECTION_HPP

#include "acp_config.hpp"
#include "acp_event.hpp"
#include "acp_json.hpp"
#include "acp_lists.hpp"

namespace acp {

class Events;

/// One peer, seen from one side.
class Connection {
public:
    /// With the defaults for a role.
    explicit Connection(Role role) noexcept : Connection(make(Config(role))) {}
    /// Takes over a handle of acp.h.
    explicit Connection(acp_connection *connection) noexcept : connection_(connection) {}
    /// With a configuration, which is copied.
    [[nodiscard]] static Result<Connection> open(const Config &config) noexcept
    {
        if (config.status() != ACP_OK) {
            Error error = Error::of(config.status());
            error.message = config.refused();
            return error;
        }
        acp_connection *made = make(config);
        return made == nullptr ? Result<Connection>(Error::of(ACP_INVALID_ARGUMENT)) : Connection(made);
    }

    /// Takes bytes from the peer, in any split; they are read when events are asked for, and what is wrong with them
    /// becomes events. This and the next three only fail after a defect of the library or when this was moved from.
    Result<void> receive(std::string_view bytes) noexcept
    {
        return done(acp_connection_receive(handle(), detail::slice(bytes)));
    }
    /// The peer has closed its side.
    Result<void> receive_eof() noexcept { return done(acp_connection_receive_eof(handle())); }
    /// Tells the time in milliseconds, on a clock of the host's own that does not run backwards.
    Result<void> handle_timeout(std::uint64_t now) noexcept
    {
        return done(acp_connection_handle_timeout(handle(), now));
    }
    /// Takes so many bytes of `transmit` as written.
    Result<void> consume(std::size_t count) noexcept { return done(acp_connection_consume(handle(), count)); }

    /// The next thing that the host must know, if there is one now.
    [[nodiscard]] std::optional<Event> poll_event() noexcept
    {
        acp_event *event = nullptr;
        return acp_connection_poll_event(handle(), &event) == ACP_OK ? std::optional<Event>(event) : std::nullopt;
    }
    /// The same for a loop: goes on until nothing more has to be known now.
    [[nodiscard]] Events events() noexcept;
    /// When `handle_timeout` is wanted, on the host's clock.
    std::optional<std::uint64_t> poll_timeout() const noexcept
    {
        return detail::read<std::uint64_t>(acp_connection_poll_timeout, handle());
    }
    /// Bytes for the peer, valid until the next call that changes the connection.
    std::string_view transmit() const noexcept { return text(acp_connection_transmit); }
    /// Bytes that were received and not read yet: stop reading while this is large.
    std::size_t buffered() const noexcept
    {
        return detail::read<std::size_t>(acp_connection_buffered, handle()).value_or(0);
    }

    /// Sends a request; the number comes back in its one `Response`.
    [[nodiscard]] Result<std::uint64_t> request(std::string_view method, const JsonText &params) noexcept
    {
        return request(method, params, {}, std::nullopt);
    }
    /// The same with an id of the host's choice (JSON text; empty for the next number) and a time-out in milliseconds
    /// (nothing for the configuration's, `never` for none).
    [[nodiscard]] Result<std::uint64_t> request(std::string_view method, const JsonText &params, std::string_view id,
                                                std::optional<std::uint64_t> timeout) noexcept
    {
        std::uint64_t serial = 0;
        const Result<void> sent = written(params, [&] {
            return acp_connection_request_with(handle(), detail::slice(method), params.slice(), detail::slice(id),
                                               timeout.value_or(ACP_UNSET), &serial);
        });
        return sent ? Result<std::uint64_t>(serial) : sent.error();
    }
    /// Sends a notification.
    [[nodiscard]] Result<void> notify(std::string_view method, const JsonText &params) noexcept
    {
        return written(params, [&] { return acp_connection_notify(handle(), detail::slice(method), params.slice()); });
    }
    /// Answers the peer's request with this number with a result.
    [[nodiscard]] Result<void> respond(std::uint64_t serial, const JsonText &result) noexcept
    {
        return written(result, [&] { return acp_connection_respond(handle(), serial, result.slice()); });
    }
    /// Answers it with an error; `data` is JSON text, empty for none.
    [[nodiscard]] Result<void> respond_error(std::uint64_t serial, std::int32_t code, std::string_view message,
                                             const JsonText &data = std::string_view()) noexcept
    {
        return written(data, [&] {
            return acp_connection_respond_error(handle(), serial, code, detail::slice(message), data.slice());
        });
    }
    /// Asks the peer to cancel the host's own request with this number; its answer still comes.
    [[nodiscard]] Result<void> cancel(std::uint64_t serial) noexcept
    {
        return done(acp_connection_cancel(handle(), serial));
    }
    /// Answers a request that the host does not serve: method not found.
    [[nodiscard]] Result<void> respond_not_served(std::uint64_t serial) noexcept
    {
        return done(acp_connection_respond_not_served(handle(), serial));
    }
    /// Answers a request that could not be served, as a call of the host's own was refused: internal error, with the rule of
    /// the last refusal.
    [[nodiscard]] Result<void> respond_refused(std::uint64_t serial) noexcept
    {
        return done(acp_connection_respond_refused(handle(), serial));
    }
    /// Ends the connection from this side.
    Result<void> close() noexcept { return done(acp_connection_close(handle())); }

    /// Whether a method could be sent now, as far as version, side, phase and capabilities go.
    bool can(std::string_view method) const noexcept
    {
        return detail::read<bool>(acp_connection_can, handle(), detail::slice(method)).value_or(false);
    }
    /// Why it could not be sent now; nothing when it could.
    std::optional<Error> why_not(std::string_view method) noexcept
    {
        const Result<void> sendable = done(acp_connection_why_not(handle(), detail::slice(method)));
        return sendable ? std::nullopt : std::optional<Error>(sendable.error());
    }

    Role role() const noexcept { return detail::read_enum<Role>(acp_connection_role, handle()).value_or(Role{}); }
    /// A copy of the configuration.
    Config config() const noexcept
    {
        return Config(detail::read<acp_config *>(acp_connection_config, handle()).value_or(nullptr));
    }
    Phase phase() const noexcept { return detail::read_enum<Phase>(acp_connection_phase, handle()).value_or(Phase{}); }
    /// The agreed version of the protocol; nothing before `initialize`.
    std::optional<std::uint16_t> version() const noexcept
    {
        return detail::read<std::uint16_t>(acp_connection_version, handle());
    }
    /// What the peer can do, what the host said it can do, and the peer's whole params or result of `initialize`.
    Json capabilities() const noexcept { return Json(text(acp_connection_capabilities)); }
    Json own_capabilities() const noexcept { return Json(text(acp_connection_own_capabilities)); }
    Json peer_info() const noexcept { return Json(text(acp_connection_peer_info)); }
    /// What the peer says about one extension; nothing where it does not advertise it.
    std::optional<Json> peer_extension(std::string_view name) const noexcept
    {
        const auto told = detail::read_text(acp_connection_peer_extension, handle(), detail::slice(name));
        return told ? std::optional<Json>(Json(*told)) : std::nullopt;
    }
    /// All that is known of the connection as a whole, as an object; acp.h lists its members.
    Json snapshot() noexcept { return Json(text(acp_connection_snapshot)); }

    /// Whether a session can be used, and whether the agent works for it; nothing when it is not known.
    std::optional<SessionState> session_state(std::string_view id) const noexcept
    {
        return detail::read_enum<SessionState>(acp_connection_session_state, handle(), detail::slice(id));
    }
    std::optional<Turn> session_turn(std::string_view id) const noexcept
    {
        return detail::read_enum<Turn>(acp_connection_session_turn, handle(), detail::slice(id));
    }
    /// All that is known of a session, as an object; acp.h lists its members.
    std::optional<Json> session_snapshot(std::string_view id) noexcept
    {
        const auto all = detail::read_text(acp_connection_session_snapshot, handle(), detail::slice(id));
        return all ? std::optional<Json>(Json(*all)) : std::nullopt;
    }
    /// The text of a prompt that runs one of the session's commands.
    std::optional<std::string_view> command_text(std::string_view session, std::string_view name,
                                                 std::string_view input = {}) noexcept
    {
        return detail::read_text(acp_connection_command_text, handle(), detail::slice(session), detail::slice(name),
                                 detail::slice(input));
    }
    /// Whether a path is inside of one of a session's directories, as far as its text goes.
    bool in_roots(std::string_view session, std::string_view path) const noexcept
    {
        return detail::read<bool>(acp_connection_in_roots, handle(), detail::slice(session), detail::slice(path))
            .value_or(false);
    }
    Sessions sessions() const noexcept { return list<Sessions, acp_sessions>(acp_connection_sessions); }
    /// The host's own requests without an answer, and the peer's, oldest first.
    OpenRequests pending() const noexcept { return list<OpenRequests, acp_requests>(acp_connection_pending); }
    OpenRequests unanswered() const noexcept { return list<OpenRequests, acp_requests>(acp_connection_unanswered); }
    /// Terminals that were created and not released.
    Terminals open_terminals() const noexcept { return list<Terminals, acp_terminals>(acp_connection_open_terminals); }
    /// The number of an open request by its id (JSON text): of the host's own, of the peer's.
    std::optional<std::uint64_t> pending_by_id(std::string_view id) const noexcept
    {
        return detail::read<std::uint64_t>(acp_connection_pending_by_id, handle(), detail::slice(id));
    }
    std::optional<std::uint64_t> unanswered_by_id(std::string_view id) const noexcept
    {
        return detail::read<std::uint64_t>(acp_connection_unanswered_by_id, handle(), detail::slice(id));
    }
    /// And the other way round. These calls change the connection, as far as texts of its own are concerned.
    std::optional<std::string_view> pending_id(std::uint64_t serial) noexcept
    {
        return detail::read_text(acp_connection_pending_id, handle(), serial);
    }
    std::optional<std::string_view> unanswered_id(std::uint64_t serial) noexcept
    {
        return detail::read_text(acp_connection_unanswered_id, handle(), serial);
    }

    /// What a status that a function of acp.h gave for this connection means.
    Result<void> done(acp_status status) const noexcept
    {
        if (status == ACP_OK) {
            return {};
        }
        Error error = Error::of(status);
        if (status == ACP_MISUSE) {
            error.kind = detail::read_enum<MisuseKind>(acp_connection_error_kind, handle()).value_or(MisuseKind::none);
            error.rule = text(acp_connection_error_rule);
            error.pointer = text(acp_connection_error_pointer);
            error.message = text(acp_connection_error_message);
        }
        return error;
    }

    /// Calls a function of acp.h that sends a request: its number, or why not.
    template <class Function, class... Arguments>
    [[nodiscard]] Result<std::uint64_t> sent(Function function, Arguments... arguments) noexcept
    {
        std::uint64_t serial = 0;
        const Result<void> called = done(function(handle(), arguments..., &serial));
        return called ? Result<std::uint64_t>(serial) : called.error();
    }

    /// The handle, for the functions of acp.h; null in a connection that was moved from.
    acp_connection *handle() const noexcept { return connection_.get(); }
    /// Gives the handle away.
    acp_connection *release() noexcept { return connection_.release(); }

private:
    static acp_connection *make(const Config &config) noexcept
    {
        return detail::read<acp_connection *>(acp_connection_new, config.handle()).value_or(nullptr);
    }

    template <class Function> std::string_view text(Function function) const noexcept
    {
        return detail::read_text(function, handle()).value_or(std::string_view());
    }

    template <class ListOf, class Handle, class Function> ListOf list(Function function) const noexcept
    {
        return ListOf(detail::read<Handle *>(function, handle()).value_or(nullptr));
    }

    template <class Function> Result<void> written(const JsonText &json, Function function) noexcept
    {
        return json.status() == ACP_OK ? done(function()) : Result<void>(Error::of(json.status()));
    }

    detail::Owned<acp_connection, acp_connection_free> connection_;
};

/// The events of a connection, for a loop; see `Connection::events`. An event that is to stay is moved out of the loop.
class Events {
public:
    struct End {};
    class Iterator {
    public:
        explicit Iterator(Connection *connection) noexcept : connection_(connection), event_(connection->poll_event())
        {}
        Event &operator*() noexcept { return *event_; }
        Iterator &operator++() noexcept
        {
            event_ = connection_->poll_event();
            return *this;
        }
        bool operator!=(End) const noexcept { return event_.has_value(); }

    private:
        Connection *connection_;
        std::optional<Event> event_;
    };

    explicit Events(Connection *connection) noexcept : connection_(connection) {}
    Iterator begin() const noexcept { return Iterator(connection_); }
    End end() const noexcept { return {}; }

private:
    Connection *connection_;
};

inline Events Connection::events() noexcept { return Events(this); }

} // namespace acp

#endif // ACP_CONNECTION_HPP
