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

class Connection;

/// The events of a connection, for a loop; see `Connection::events`.
using Events = Polled<Connection, Event>;

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
    [[nodiscard]] Events events() noexcept { return Events(this); }
    /// When `handle_timeout` is wanted, on the host's clock.
    std::optional<std::uint64_t> poll_timeout() const noexcept
    {
        return detail::read<std::uint64_t>(acp_connection_poll_timeout, handle());
    }
    /// Bytes for the peer, valid until the next call that changes the connection.
    std::string_view transmit() const noexcept { return text(acp_connection_transmit); }

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

    // Generated from core/protocol/getters.json by `cargo xtask codegen`, as far as the next such line.
    /// How much was received and has not been read yet. Stop reading from the transport while this is large. In
    /// bytes.
    std::size_t buffered() const noexcept
    {
        return detail::read<std::size_t>(acp_connection_buffered, handle()).value_or(0);
    }
    /// How much waits to be sent: the length of what `transmit` holds, or with the framing `messages` of all
    /// messages. Stop reading from the transport while this is large. In bytes.
    std::size_t unsent() const noexcept
    {
        return detail::read<std::size_t>(acp_connection_unsent, handle()).value_or(0);
    }
    /// Whether it is clear at a glance that there is no event before more bytes come. A host that gets bytes in
    /// small pieces need not ask for events after each of them.
    bool needs_input() noexcept { return detail::read<bool>(acp_connection_needs_input, handle()).value_or(false); }
    /// The side that the host plays.
    Role role() const noexcept { return detail::read_enum<Role>(acp_connection_role, handle()).value_or(Role{}); }
    /// A copy of the configuration, with the defaults filled in.
    Config config() const noexcept
    {
        return Config(detail::read<acp_config *>(acp_connection_config, handle()).value_or(nullptr));
    }
    /// How far the connection is.
    Phase phase() const noexcept { return detail::read_enum<Phase>(acp_connection_phase, handle()).value_or(Phase{}); }
    /// The agreed version of the protocol. Nothing before it is agreed on: a client knows it once `initialize` has
    /// been answered, an agent once `initialize` has come.
    std::optional<std::uint16_t> version() const noexcept
    {
        return detail::read<std::uint16_t>(acp_connection_version, handle());
    }
    /// What the peer can do: its capabilities object, `{}` before `initialize`. To ask about one method, use `can`.
    Json capabilities() const noexcept
    {
        return Json(detail::read_text(acp_connection_capabilities, handle()).value_or(std::string_view()));
    }
    /// What the host said it can do: its capabilities object, `{}` before `initialize`.
    Json own_capabilities() const noexcept
    {
        return Json(detail::read_text(acp_connection_own_capabilities, handle()).value_or(std::string_view()));
    }
    /// The peer's whole params or result of `initialize`, with its name and its ways to log in; `{}` before.
    Json peer_info() const noexcept
    {
        return Json(detail::read_text(acp_connection_peer_info, handle()).value_or(std::string_view()));
    }
    /// The name of the program behind the peer, for logs and messages. Rule INIT-11. Valid until the next call that
    /// changes the connection, and this is one. Nothing before `initialize`, and where the peer does not say it.
    std::optional<std::string_view> peer_name() noexcept
    {
        return detail::read_text(acp_connection_peer_name, handle());
    }
    /// What the peer says about one extension under `_meta` of its capabilities. Rule EXT-10. Nothing where the
    /// peer does not advertise the extension, and before `initialize`.
    std::optional<Json> peer_extension(std::string_view name) const noexcept
    {
        const auto told = detail::read_text(acp_connection_peer_extension, handle(), detail::slice(name));
        return told ? std::optional<Json>(Json(*told)) : std::nullopt;
    }
    /// Whether the agent works for this user, as far as anything has said.
    Login login() const noexcept { return detail::read_enum<Login>(acp_connection_login, handle()).value_or(Login{}); }
    /// The ways to log in that the agent listed and that can be used, in its order. The kind is `agent` where
    /// `authenticate` (version 2: `auth/login`) asks the agent to do it, `terminal` where the client runs it in a
    /// terminal, and in version 2 also `custom` for a type of the two sides' own and `unknown` for one that is
    /// newer than the library. Valid until the next call that changes the connection, and this is one.
    Json login_methods() noexcept
    {
        return Json(detail::read_text(acp_connection_login_methods, handle()).value_or(std::string_view()));
    }
    /// Whether a request may be sent once more when nobody knows what became of it, because its time was up or the
    /// connection is gone: `safe` as it is, `key` with the `idempotencyKey` that it had the first time, `never`
    /// because it might be done twice. It can be asked of a connection that is over. Nothing before the version is
    /// agreed on, and for methods that are no requests of that version.
    std::optional<std::string_view> retry_class(std::string_view method) const noexcept
    {
        return detail::read_text(acp_connection_retry_class, handle(), detail::slice(method));
    }
    /// The ids of questions that are settled on web pages and have not been yet, in the order of their text. Rule
    /// ELIC-20. Valid until the next call that changes the connection, and this is one.
    Json open_elicitations() noexcept
    {
        return Json(detail::read_text(acp_connection_open_elicitations, handle()).value_or(std::string_view()));
    }
    /// The model providers that the agent listed last, in the order of their ids, and whether each is switched on.
    /// Draft `llm_providers`. Rule PROV-04. Valid until the next call that changes the connection, and this is one.
    Json providers() noexcept
    {
        return Json(detail::read_text(acp_connection_providers, handle()).value_or(std::string_view()));
    }
    /// All that is known of the connection as a whole: an object that always has all of its members. Valid until
    /// the next call that changes the connection, and this is one. acp.h lists its members.
    Json snapshot() noexcept
    {
        return Json(detail::read_text(acp_connection_snapshot, handle()).value_or(std::string_view()));
    }
    /// Whether a session can be used. Nothing when the session is not known.
    std::optional<SessionState> session_state(std::string_view id) const noexcept
    {
        return detail::read_enum<SessionState>(acp_connection_session_state, handle(), detail::slice(id));
    }
    /// Whether the agent works for a session. Nothing when the session is not known.
    std::optional<Turn> session_turn(std::string_view id) const noexcept
    {
        return detail::read_enum<Turn>(acp_connection_session_turn, handle(), detail::slice(id));
    }
    /// The working directory of a session. Nothing when the session is not known, or its directory is not.
    std::optional<std::string_view> session_cwd(std::string_view id) const noexcept
    {
        return detail::read_text(acp_connection_session_cwd, handle(), detail::slice(id));
    }
    /// All directories of a session: the working directory, then the others. Valid until the next call that changes
    /// the connection, and this is one. Nothing when the session is not known.
    std::optional<Json> session_roots(std::string_view id) noexcept
    {
        const auto told = detail::read_text(acp_connection_session_roots, handle(), detail::slice(id));
        return told ? std::optional<Json>(Json(*told)) : std::nullopt;
    }
    /// The id of the mode that is in force in a session. Valid until the next call that changes the connection, and
    /// this is one. Nothing when the session is not known, or it has no modes.
    std::optional<std::string_view> session_mode(std::string_view id) noexcept
    {
        return detail::read_text(acp_connection_session_mode, handle(), detail::slice(id));
    }
    /// The modes that a session offers: the list as the agent told it. Nothing when the session is not known, or it
    /// has told of none, or of more than is kept.
    std::optional<Json> session_available_modes(std::string_view id) const noexcept
    {
        const auto told = detail::read_text(acp_connection_session_available_modes, handle(), detail::slice(id));
        return told ? std::optional<Json>(Json(*told)) : std::nullopt;
    }
    /// The options of a session with their values: the list as the agent told it last. Nothing when the session is
    /// not known, or it has told of none, or of more than is kept.
    std::optional<Json> session_config_options(std::string_view id) const noexcept
    {
        const auto told = detail::read_text(acp_connection_session_config_options, handle(), detail::slice(id));
        return told ? std::optional<Json>(Json(*told)) : std::nullopt;
    }
    /// The tool calls of a session and how far each is, oldest first. Valid until the next call that changes the
    /// connection, and this is one. Nothing when the session is not known.
    std::optional<Json> session_tool_calls(std::string_view id) noexcept
    {
        const auto told = detail::read_text(acp_connection_session_tool_calls, handle(), detail::slice(id));
        return told ? std::optional<Json>(Json(*told)) : std::nullopt;
    }
    /// The entries of a session's plan: the list as the agent told it last. Nothing when the session is not known,
    /// or it has told of none, or of more than is kept.
    std::optional<Json> session_plan(std::string_view id) const noexcept
    {
        const auto told = detail::read_text(acp_connection_session_plan, handle(), detail::slice(id));
        return told ? std::optional<Json>(Json(*told)) : std::nullopt;
    }
    /// The ids of a session's plans that have one. Valid until the next call that changes the connection, and this
    /// is one. Nothing when the session is not known.
    std::optional<Json> session_plan_ids(std::string_view id) noexcept
    {
        const auto told = detail::read_text(acp_connection_session_plan_ids, handle(), detail::slice(id));
        return told ? std::optional<Json>(Json(*told)) : std::nullopt;
    }
    /// The commands that a user can type in a session: the list as the agent told it last. Nothing when the session
    /// is not known, or it has told of none, or of more than is kept.
    std::optional<Json> session_commands(std::string_view id) const noexcept
    {
        const auto told = detail::read_text(acp_connection_session_commands, handle(), detail::slice(id));
        return told ? std::optional<Json>(Json(*told)) : std::nullopt;
    }
    /// The ids of a session's compactions that have not ended, oldest first. Rule NOTE-09. Valid until the next
    /// call that changes the connection, and this is one. Nothing when the session is not known.
    std::optional<Json> session_open_compactions(std::string_view id) noexcept
    {
        const auto told = detail::read_text(acp_connection_session_open_compactions, handle(), detail::slice(id));
        return told ? std::optional<Json>(Json(*told)) : std::nullopt;
    }
    /// Whether the user has logged out since a session was opened, so that it may fail for want of a login. Rule
    /// AUTH-25. Nothing when the session is not known.
    std::optional<bool> session_auth_uncertain(std::string_view id) const noexcept
    {
        return detail::read<bool>(acp_connection_session_auth_uncertain, handle(), detail::slice(id));
    }
    /// The id of the session that a session is a child of. Nothing when the session is not known, or it was opened
    /// by the client.
    std::optional<std::string_view> session_parent(std::string_view id) const noexcept
    {
        return detail::read_text(acp_connection_session_parent, handle(), detail::slice(id));
    }
    /// Whether the client may cancel the work of a session: always, unless it is a child that does not allow it.
    /// Nothing when the session is not known.
    std::optional<bool> session_may_cancel(std::string_view id) const noexcept
    {
        return detail::read<bool>(acp_connection_session_may_cancel, handle(), detail::slice(id));
    }
    /// All that is known of a session: an object that always has all of its members. Null says that the session has
    /// told of none, or of more than is kept. It costs as much as it is long. Valid until the next call that
    /// changes the connection, and this is one. acp.h lists its members. Nothing when the session is not known.
    std::optional<Json> session_snapshot(std::string_view id) noexcept
    {
        const auto told = detail::read_text(acp_connection_session_snapshot, handle(), detail::slice(id));
        return told ? std::optional<Json>(Json(*told)) : std::nullopt;
    }
    /// The text of a prompt that runs one of a session's commands. Rule CMD-05. Valid until the next call that
    /// changes the connection, and this is one. Nothing when the session is not known, or it has not listed the
    /// command.
    std::optional<std::string_view> command_text(std::string_view session, std::string_view name,
                                                 std::string_view input = {}) noexcept
    {
        return detail::read_text(acp_connection_command_text, handle(), detail::slice(session), detail::slice(name),
                                 detail::slice(input));
    }
    /// Whether a path is inside of one of a session's directories, as far as its text goes: `.` and `..` are
    /// followed, links in the file system are the host's to check. False where the directories, or the session, are
    /// not known. Rule SESS-06.
    bool in_roots(std::string_view session, std::string_view path) const noexcept
    {
        return detail::read<bool>(acp_connection_in_roots, handle(), detail::slice(session),
                                  detail::slice(path)).value_or(false);
    }
    /// The sessions that are known now, by id.
    Sessions sessions() const noexcept { return list<Sessions, acp_sessions>(acp_connection_sessions); }
    /// The host's own requests that have no answer yet, oldest first.
    OpenRequests pending() const noexcept { return list<OpenRequests, acp_requests>(acp_connection_pending); }
    /// The peer's requests that the host has not answered yet, oldest first. Rule RPC-15.
    OpenRequests unanswered() const noexcept { return list<OpenRequests, acp_requests>(acp_connection_unanswered); }
    /// The terminals that were created and not released, by session. Rule TERM-04.
    Terminals open_terminals() const noexcept { return list<Terminals, acp_terminals>(acp_connection_open_terminals); }
    /// The host's own open request with an id. `id` is JSON text. Nothing when no such request is open.
    std::optional<std::uint64_t> pending_by_id(std::string_view id) const noexcept
    {
        return detail::read<std::uint64_t>(acp_connection_pending_by_id, handle(), detail::slice(id));
    }
    /// The peer's open request with an id. `id` is JSON text. Nothing when no such request is open.
    std::optional<std::uint64_t> unanswered_by_id(std::string_view id) const noexcept
    {
        return detail::read<std::uint64_t>(acp_connection_unanswered_by_id, handle(), detail::slice(id));
    }
    /// The id of the host's own open request with a number. Valid until the next call that changes the connection,
    /// and this is one. Nothing when no such request is open.
    std::optional<std::string_view> pending_id(std::uint64_t serial) noexcept
    {
        return detail::read_text(acp_connection_pending_id, handle(), serial);
    }
    /// The id of the peer's open request with a number. Valid until the next call that changes the connection, and
    /// this is one. Nothing when no such request is open.
    std::optional<std::string_view> unanswered_id(std::uint64_t serial) noexcept
    {
        return detail::read_text(acp_connection_unanswered_id, handle(), serial);
    }
    // The end of what is generated.

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

} // namespace acp

#endif // ACP_CONNECTION_HPP
