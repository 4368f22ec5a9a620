// libacp for C++17: a connection: bytes in, events out, bytes out, time, and the host's calls.
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

/// The events of a connection as a range; see `Connection::events`.
using Events = Polled<Connection, Event>;

/// One side of a connection: the state of the conversation with one peer.
class Connection {
public:
    /// A connection with the default configuration of a role.
    explicit Connection(Role role) noexcept : Connection(make(Config(role))) {}
    /// Takes ownership of a handle of acp.h.
    explicit Connection(acp_connection *connection) noexcept : connection_(connection) {}
    /// A connection with a configuration, which is copied. Fails if a setting of the configuration was refused.
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

    /// Passes in bytes that were read from the peer, in chunks of any size (with `Framing::messages`: exactly one
    /// message). They are decoded by `poll_event`, which also reports whatever is wrong with them. This function,
    /// `receive_eof`, `handle_timeout`, `consume` and `close` fail only after a defect of the library, or if this
    /// object was moved from.
    Result<void> receive(std::string_view bytes) noexcept
    {
        return done(acp_connection_receive(handle(), detail::slice(bytes)));
    }
    /// Reports that the peer has closed its side. What was received before is still delivered; then `Closed` is the
    /// last event.
    Result<void> receive_eof() noexcept { return done(acp_connection_receive_eof(handle())); }
    /// Sets the current time in milliseconds, on any monotonic clock of the host, and does what is due. Poll for events
    /// and transmit afterwards.
    Result<void> handle_timeout(std::uint64_t now) noexcept
    {
        return done(acp_connection_handle_timeout(handle(), now));
    }
    /// Removes bytes from the front of `transmit` after they were written. Partial writes are normal.
    Result<void> consume(std::size_t count) noexcept { return done(acp_connection_consume(handle(), count)); }

    /// Takes the next event; `std::nullopt` if there is none now.
    [[nodiscard]] std::optional<Event> poll_event() noexcept
    {
        acp_event *event = nullptr;
        return acp_connection_poll_event(handle(), &event) == ACP_OK ? std::optional<Event>(event) : std::nullopt;
    }
    /// The events as a range for a loop: takes events until there is none.
    [[nodiscard]] Events events() noexcept { return Events(this); }
    /// When to call `handle_timeout` next, in milliseconds on the host's clock; `std::nullopt` if nothing is scheduled.
    std::optional<std::uint64_t> poll_timeout() const noexcept
    {
        return detail::read<std::uint64_t>(acp_connection_poll_timeout, handle());
    }
    /// The bytes to write to the peer (with `Framing::messages`: the rest of one message). They stay there until
    /// `consume` removes them. Valid until the next call that changes the connection.
    std::string_view transmit() const noexcept { return text(acp_connection_transmit); }

    /// Sends a request and returns its serial number. Its answer arrives as exactly one `Response` with the same
    /// number.
    [[nodiscard]] Result<std::uint64_t> request(std::string_view method, const JsonText &params) noexcept
    {
        return request(method, params, {}, std::nullopt);
    }
    /// Sends a request with an id of the host's choice (JSON text, a string or an integer; empty to use the next free
    /// number) and a time-out in milliseconds (`std::nullopt` for the configuration's, `never` for none).
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
    /// Sends a notification. `session/cancel` also answers the peer's open permission requests of the session with
    /// `cancelled`.
    [[nodiscard]] Result<void> notify(std::string_view method, const JsonText &params) noexcept
    {
        return written(params, [&] { return acp_connection_notify(handle(), detail::slice(method), params.slice()); });
    }
    /// Answers one of the peer's requests with a result. `serial` is the request's serial number, from its event.
    [[nodiscard]] Result<void> respond(std::uint64_t serial, const JsonText &result) noexcept
    {
        return written(result, [&] { return acp_connection_respond(handle(), serial, result.slice()); });
    }
    /// Answers one of the peer's requests with an error. `data` is JSON text, empty for none.
    [[nodiscard]] Result<void> respond_error(std::uint64_t serial, std::int32_t code, std::string_view message,
                                             const JsonText &data = std::string_view()) noexcept
    {
        return written(data, [&] {
            return acp_connection_respond_error(handle(), serial, code, detail::slice(message), data.slice());
        });
    }
    /// Asks the peer to cancel one of the host's requests. The request still ends with one `Response`.
    [[nodiscard]] Result<void> cancel(std::uint64_t serial) noexcept
    {
        return done(acp_connection_cancel(handle(), serial));
    }
    /// Answers one of the peer's requests with the error "Method not found", for methods that the host does not
    /// implement.
    [[nodiscard]] Result<void> respond_not_served(std::uint64_t serial) noexcept
    {
        return done(acp_connection_respond_not_served(handle(), serial));
    }
    /// Answers one of the peer's requests with the error "Internal error" and the rule of the last misuse, for when the
    /// host cannot serve it because one of its own calls was refused.
    [[nodiscard]] Result<void> respond_refused(std::uint64_t serial) noexcept
    {
        return done(acp_connection_respond_refused(handle(), serial));
    }
    /// Ends the connection from this side. The peer's open permission requests are answered with `cancelled`; what
    /// `transmit` holds can still be written.
    Result<void> close() noexcept { return done(acp_connection_close(handle())); }

    /// Whether a method could be sent now, as far as the version, the side, the phase and the capabilities go. An
    /// optional part follows a colon: `session/prompt:image`.
    bool can(std::string_view method) const noexcept
    {
        return detail::read<bool>(acp_connection_can, handle(), detail::slice(method)).value_or(false);
    }
    /// Why a method could not be sent now; `std::nullopt` if it could.
    std::optional<Error> why_not(std::string_view method) noexcept
    {
        const Result<void> sendable = done(acp_connection_why_not(handle(), detail::slice(method)));
        return sendable ? std::nullopt : std::optional<Error>(sendable.error());
    }

    // Generated from core/protocol/getters.json by `cargo xtask codegen`, as far as the next such line.
    /// How much data was received and not decoded yet. Stop reading from the transport while it is large. In bytes.
    std::size_t buffered() const noexcept
    {
        return detail::read<std::size_t>(acp_connection_buffered, handle()).value_or(0);
    }
    /// How much data waits to be written: the length of what `transmit` holds or, with the framing `messages`, of
    /// all messages. Stop reading from the transport while it is large. In bytes.
    std::size_t unsent() const noexcept
    {
        return detail::read<std::size_t>(acp_connection_unsent, handle()).value_or(0);
    }
    /// A cheap check: true means that polling would certainly find no event now. A host that receives many small
    /// chunks can skip polling then.
    bool needs_input() noexcept { return detail::read<bool>(acp_connection_needs_input, handle()).value_or(false); }
    /// The side that the host plays.
    Role role() const noexcept { return detail::read_enum<Role>(acp_connection_role, handle()).value_or(Role{}); }
    /// A copy of the configuration, including the defaults.
    Config config() const noexcept
    {
        return Config(detail::read<acp_config *>(acp_connection_config, handle()).value_or(nullptr));
    }
    /// How far the connection is.
    Phase phase() const noexcept { return detail::read_enum<Phase>(acp_connection_phase, handle()).value_or(Phase{}); }
    /// The agreed protocol version. `std::nullopt` before it is agreed on: for a client, until `initialize` has
    /// been answered; for an agent, until `initialize` has arrived.
    std::optional<std::uint16_t> version() const noexcept
    {
        return detail::read<std::uint16_t>(acp_connection_version, handle());
    }
    /// The capabilities object that the peer advertised; `{}` before `initialize`. To ask about one method, use
    /// `can`. Valid until the next call that changes the connection.
    Json capabilities() const noexcept
    {
        return Json(detail::read_text(acp_connection_capabilities, handle()).value_or(std::string_view()));
    }
    /// The capabilities object that the host advertised; `{}` before `initialize`. Valid until the next call that
    /// changes the connection.
    Json own_capabilities() const noexcept
    {
        return Json(detail::read_text(acp_connection_own_capabilities, handle()).value_or(std::string_view()));
    }
    /// The peer's complete params or result of `initialize`, including its name and its login methods; `{}` before
    /// `initialize`. Valid until the next call that changes the connection.
    Json peer_info() const noexcept
    {
        return Json(detail::read_text(acp_connection_peer_info, handle()).value_or(std::string_view()));
    }
    /// The name of the peer's program, for logs and messages. Rule INIT-11. Valid until the next call that changes
    /// the connection, this one included. `std::nullopt` before `initialize`, and if the peer does not give its
    /// name.
    std::optional<std::string_view> peer_name() noexcept
    {
        return detail::read_text(acp_connection_peer_name, handle());
    }
    /// What the peer advertises for one extension under `_meta` of its capabilities. Rule EXT-10. Valid until the
    /// next call that changes the connection. `std::nullopt` if the peer does not advertise the extension, and
    /// before `initialize`.
    std::optional<Json> peer_extension(std::string_view name) const noexcept
    {
        const auto told = detail::read_text(acp_connection_peer_extension, handle(), detail::slice(name));
        return told ? std::optional<Json>(Json(*told)) : std::nullopt;
    }
    /// Whether the agent accepts this user, as far as is known.
    Login login() const noexcept { return detail::read_enum<Login>(acp_connection_login, handle()).value_or(Login{}); }
    /// The agent's login methods that can be used, in the agent's order. The kind is `agent` if `authenticate`
    /// (version 2: `auth/login`) asks the agent to log in and `terminal` if the client runs the login in a
    /// terminal. Version 2 adds `custom` for a type that the two sides have agreed on themselves and `unknown` for
    /// a type that this library does not know. Valid until the next call that changes the connection, this one
    /// included.
    Json login_methods() noexcept
    {
        return Json(detail::read_text(acp_connection_login_methods, handle()).value_or(std::string_view()));
    }
    /// Whether a request may be sent again when its outcome is unknown because it timed out or the connection was
    /// lost: `safe` means unchanged, `key` means with the same `idempotencyKey` as the first time, `never` means
    /// not at all because it might be carried out twice. Also available after the connection has ended. Valid until
    /// the next call that changes the connection. `std::nullopt` before the version is agreed on, and if the method
    /// is not a request of that version.
    std::optional<std::string_view> retry_class(std::string_view method) const noexcept
    {
        return detail::read_text(acp_connection_retry_class, handle(), detail::slice(method));
    }
    /// The ids of the elicitations that are answered on a web page and not completed yet, in alphabetical order.
    /// Rule ELIC-20. Valid until the next call that changes the connection, this one included.
    Json open_elicitations() noexcept
    {
        return Json(detail::read_text(acp_connection_open_elicitations, handle()).value_or(std::string_view()));
    }
    /// The model providers that the agent listed last, ordered by id, and whether each is enabled. Draft
    /// `llm_providers`. Rule PROV-04. Valid until the next call that changes the connection, this one included.
    Json providers() noexcept
    {
        return Json(detail::read_text(acp_connection_providers, handle()).value_or(std::string_view()));
    }
    /// The state of the connection as one object. All of its members are always present. Valid until the next call
    /// that changes the connection, this one included. acp.h lists the members.
    Json snapshot() noexcept
    {
        return Json(detail::read_text(acp_connection_snapshot, handle()).value_or(std::string_view()));
    }
    /// Whether a session is open, or being loaded or resumed. `std::nullopt` when the session is not known.
    std::optional<SessionState> session_state(std::string_view id) const noexcept
    {
        return detail::read_enum<SessionState>(acp_connection_session_state, handle(), detail::slice(id));
    }
    /// Whether the agent is working for a session. `std::nullopt` when the session is not known.
    std::optional<Turn> session_turn(std::string_view id) const noexcept
    {
        return detail::read_enum<Turn>(acp_connection_session_turn, handle(), detail::slice(id));
    }
    /// The working directory of a session. Valid until the next call that changes the connection. `std::nullopt`
    /// when the session is not known, or its directory is not known.
    std::optional<std::string_view> session_cwd(std::string_view id) const noexcept
    {
        return detail::read_text(acp_connection_session_cwd, handle(), detail::slice(id));
    }
    /// All directories of a session: the working directory, then the additional ones. Valid until the next call
    /// that changes the connection, this one included. `std::nullopt` when the session is not known.
    std::optional<Json> session_roots(std::string_view id) noexcept
    {
        const auto told = detail::read_text(acp_connection_session_roots, handle(), detail::slice(id));
        return told ? std::optional<Json>(Json(*told)) : std::nullopt;
    }
    /// The id of a session's current mode. Valid until the next call that changes the connection, this one
    /// included. `std::nullopt` when the session is not known, or it has no modes.
    std::optional<std::string_view> session_mode(std::string_view id) noexcept
    {
        return detail::read_text(acp_connection_session_mode, handle(), detail::slice(id));
    }
    /// The modes that a session offers, as the agent listed them. Valid until the next call that changes the
    /// connection. `std::nullopt` when the session is not known, or the agent has not sent the list, or it is too
    /// long to be kept (256 KiB, or the limit `remembered`).
    std::optional<Json> session_available_modes(std::string_view id) const noexcept
    {
        const auto told = detail::read_text(acp_connection_session_available_modes, handle(), detail::slice(id));
        return told ? std::optional<Json>(Json(*told)) : std::nullopt;
    }
    /// The config options of a session and their values, as the agent listed them last. Valid until the next call
    /// that changes the connection. `std::nullopt` when the session is not known, or the agent has not sent the
    /// list, or it is too long to be kept (256 KiB).
    std::optional<Json> session_config_options(std::string_view id) const noexcept
    {
        const auto told = detail::read_text(acp_connection_session_config_options, handle(), detail::slice(id));
        return told ? std::optional<Json>(Json(*told)) : std::nullopt;
    }
    /// The tool calls of a session and the status of each, oldest first. Valid until the next call that changes the
    /// connection, this one included. `std::nullopt` when the session is not known.
    std::optional<Json> session_tool_calls(std::string_view id) noexcept
    {
        const auto told = detail::read_text(acp_connection_session_tool_calls, handle(), detail::slice(id));
        return told ? std::optional<Json>(Json(*told)) : std::nullopt;
    }
    /// The entries of a session's plan, as the agent listed them last. Valid until the next call that changes the
    /// connection. `std::nullopt` when the session is not known, or the agent has not sent the list, or it is too
    /// long to be kept (256 KiB).
    std::optional<Json> session_plan(std::string_view id) const noexcept
    {
        const auto told = detail::read_text(acp_connection_session_plan, handle(), detail::slice(id));
        return told ? std::optional<Json>(Json(*told)) : std::nullopt;
    }
    /// The ids of a session's plans that have an id, in alphabetical order. Valid until the next call that changes
    /// the connection, this one included. `std::nullopt` when the session is not known.
    std::optional<Json> session_plan_ids(std::string_view id) noexcept
    {
        const auto told = detail::read_text(acp_connection_session_plan_ids, handle(), detail::slice(id));
        return told ? std::optional<Json>(Json(*told)) : std::nullopt;
    }
    /// The commands that a user can type in a session, as the agent listed them last. Valid until the next call
    /// that changes the connection. `std::nullopt` when the session is not known, or the agent has not sent the
    /// list, or it is too long to be kept (256 KiB).
    std::optional<Json> session_commands(std::string_view id) const noexcept
    {
        const auto told = detail::read_text(acp_connection_session_commands, handle(), detail::slice(id));
        return told ? std::optional<Json>(Json(*told)) : std::nullopt;
    }
    /// The ids of a session's compactions that have not ended, oldest first. Rule NOTE-09. Valid until the next
    /// call that changes the connection, this one included. `std::nullopt` when the session is not known.
    std::optional<Json> session_open_compactions(std::string_view id) noexcept
    {
        const auto told = detail::read_text(acp_connection_session_open_compactions, handle(), detail::slice(id));
        return told ? std::optional<Json>(Json(*told)) : std::nullopt;
    }
    /// Why the foreground work of a session ended, as the agent reported it last: `end_turn`, `cancelled`, `error`
    /// and so on. Rule LIFE-05. Valid until the next call that changes the connection. `std::nullopt` when the
    /// session is not known, or the agent works, or gave no reason, or the version is 1, where the response to the
    /// prompt has it.
    std::optional<std::string_view> session_stop_reason(std::string_view id) const noexcept
    {
        return detail::read_text(acp_connection_session_stop_reason, handle(), detail::slice(id));
    }
    /// The JSON-RPC error object that came with the stop reason `error`. Rule LIFE-29. Valid until the next call
    /// that changes the connection. `std::nullopt` when the session is not known, or the stop reason is not
    /// `error`, or no error came with it.
    std::optional<Json> session_stop_error(std::string_view id) const noexcept
    {
        const auto told = detail::read_text(acp_connection_session_stop_error, handle(), detail::slice(id));
        return told ? std::optional<Json>(Json(*told)) : std::nullopt;
    }
    /// The background work of a session, as the agent listed it last. Rule LIFE-35. Valid until the next call that
    /// changes the connection. `std::nullopt` when the session is not known, or the agent does not report
    /// background work, or the list is longer than what is kept.
    std::optional<Json> session_background(std::string_view id) const noexcept
    {
        const auto told = detail::read_text(acp_connection_session_background, handle(), detail::slice(id));
        return told ? std::optional<Json>(Json(*told)) : std::nullopt;
    }
    /// Whether the user has logged out since a session was opened. If so, the session may fail because a login is
    /// missing. Rule AUTH-25. `std::nullopt` when the session is not known.
    std::optional<bool> session_auth_uncertain(std::string_view id) const noexcept
    {
        return detail::read<bool>(acp_connection_session_auth_uncertain, handle(), detail::slice(id));
    }
    /// The id of a session's parent session. Valid until the next call that changes the connection. `std::nullopt`
    /// when the session is not known, or the client opened it.
    std::optional<std::string_view> session_parent(std::string_view id) const noexcept
    {
        return detail::read_text(acp_connection_session_parent, handle(), detail::slice(id));
    }
    /// Whether the client may cancel the work of a session. False only for a child session that does not allow it.
    /// `std::nullopt` when the session is not known.
    std::optional<bool> session_may_cancel(std::string_view id) const noexcept
    {
        return detail::read<bool>(acp_connection_session_may_cancel, handle(), detail::slice(id));
    }
    /// The state of a session as one object. All of its members are always present. A member that lists something
    /// is null if the agent has not sent the list, or if it is too long to be kept (256 KiB, or the limit
    /// `remembered`). The cost grows with the length of the text. Valid until the next call that changes the
    /// connection, this one included. acp.h lists the members. `std::nullopt` when the session is not known.
    std::optional<Json> session_snapshot(std::string_view id) noexcept
    {
        const auto told = detail::read_text(acp_connection_session_snapshot, handle(), detail::slice(id));
        return told ? std::optional<Json>(Json(*told)) : std::nullopt;
    }
    /// The text of a prompt that runs one of a session's commands: `/name`, or `/name input`. Rule CMD-05. Valid
    /// until the next call that changes the connection, this one included. `std::nullopt` when the session is not
    /// known, or it has not listed the command.
    std::optional<std::string_view> command_text(std::string_view session, std::string_view name,
                                                 std::string_view input = {}) noexcept
    {
        return detail::read_text(acp_connection_command_text, handle(), detail::slice(session), detail::slice(name),
                                 detail::slice(input));
    }
    /// Whether a path lies inside one of a session's directories. Only the text of the path is examined: `.` and
    /// `..` are resolved, but the host has to check links in the file system. False if the session or its
    /// directories are not known. Rule SESS-06.
    bool in_roots(std::string_view session, std::string_view path) const noexcept
    {
        return detail::read<bool>(acp_connection_in_roots, handle(), detail::slice(session),
                                  detail::slice(path)).value_or(false);
    }
    /// The sessions of the connection, sorted by id.
    Sessions sessions() const noexcept { return list<Sessions, acp_sessions>(acp_connection_sessions); }
    /// The host's own requests that have no answer yet, oldest first.
    OpenRequests pending() const noexcept { return list<OpenRequests, acp_requests>(acp_connection_pending); }
    /// The peer's requests that the host has not answered yet, oldest first. Rule RPC-15.
    OpenRequests unanswered() const noexcept { return list<OpenRequests, acp_requests>(acp_connection_unanswered); }
    /// The terminals that were created and not released, grouped by session. Rule TERM-04.
    Terminals open_terminals() const noexcept { return list<Terminals, acp_terminals>(acp_connection_open_terminals); }
    /// Finds the host's own open request with this id. `id` is JSON text. `std::nullopt` when no such request is
    /// open.
    std::optional<std::uint64_t> pending_by_id(std::string_view id) const noexcept
    {
        return detail::read<std::uint64_t>(acp_connection_pending_by_id, handle(), detail::slice(id));
    }
    /// Finds the peer's open request with this id. `id` is JSON text. `std::nullopt` when no such request is open.
    std::optional<std::uint64_t> unanswered_by_id(std::string_view id) const noexcept
    {
        return detail::read<std::uint64_t>(acp_connection_unanswered_by_id, handle(), detail::slice(id));
    }
    /// The id of the host's own open request with this serial number. Valid until the next call that changes the
    /// connection, this one included. `std::nullopt` when no such request is open.
    std::optional<std::string_view> pending_id(std::uint64_t serial) noexcept
    {
        return detail::read_text(acp_connection_pending_id, handle(), serial);
    }
    /// The id of the peer's open request with this serial number. Valid until the next call that changes the
    /// connection, this one included. `std::nullopt` when no such request is open.
    std::optional<std::string_view> unanswered_id(std::uint64_t serial) noexcept
    {
        return detail::read_text(acp_connection_unanswered_id, handle(), serial);
    }
    /// The sessions that have a view: none unless the configuration says `view`. Valid until the next call that
    /// changes the connection, this one included.
    Json views() noexcept
    {
        return Json(detail::read_text(acp_connection_views, handle()).value_or(std::string_view()));
    }
    /// A session as a conversation: what a client shows, whichever version the peers speak. All of its members are
    /// always present. The cost grows with the length of the text; `view_since` has what is new. Valid until the
    /// next call that changes the connection, this one included. acp.h lists the members. `std::nullopt` when there
    /// is no view of the session.
    std::optional<Json> view(std::string_view session) noexcept
    {
        const auto told = detail::read_text(acp_connection_view, handle(), detail::slice(session));
        return told ? std::optional<Json>(Json(*told)) : std::nullopt;
    }
    /// The revision of a session's view: a number that grows with each change. Cheap, to find out whether there is
    /// anything to draw. `std::nullopt` when there is no view of the session.
    std::optional<std::uint64_t> view_revision(std::string_view session) const noexcept
    {
        return detail::read<std::uint64_t>(acp_connection_view_revision, handle(), detail::slice(session));
    }
    /// What has changed in a session's view since a revision, without what can be long and grows: entries and
    /// terminals lack `blocks`, `summary`, `content`, `output` and `before`. Where the number `end` of one is not
    /// what it was, `view_content` has what is new. The cost grows with what has changed. Valid until the next call
    /// that changes the connection, this one included. acp.h lists the members. `std::nullopt` when there is no
    /// view of the session.
    std::optional<Json> view_since(std::string_view session, std::uint64_t revision) noexcept
    {
        const auto told = detail::read_text(acp_connection_view_since, handle(), detail::slice(session), revision);
        return told ? std::optional<Json>(Json(*told)) : std::nullopt;
    }
    /// The content of an entry, or of a terminal, from a position on: of a content that has grown at its end, what
    /// is new. The cost grows with that, so that all of a content costs as much however often it is read while it
    /// grows. Valid until the next call that changes the connection, this one included. acp.h lists the members.
    /// `std::nullopt` when there is no view of the session, or it has no such entry.
    std::optional<Json> view_content(std::string_view session, std::uint64_t index, std::uint64_t position) noexcept
    {
        const auto told = detail::read_text(acp_connection_view_content, handle(), detail::slice(session), index,
                                            position);
        return told ? std::optional<Json>(Json(*told)) : std::nullopt;
    }
    /// All text of a message, or of the summary of a compaction, in one piece. Valid until the next call that
    /// changes the connection. `std::nullopt` when there is no view of the session, or the entry of this index is
    /// neither a message nor a compaction.
    std::optional<std::string_view> view_text(std::string_view session, std::uint64_t index) const noexcept
    {
        return detail::read_text(acp_connection_view_text, handle(), detail::slice(session), index);
    }
    /// The last bytes that a terminal has printed, as they came. Valid until the next call that changes the
    /// connection. `std::nullopt` when there is no view of the session, or the entry of this index is no terminal.
    std::optional<std::string_view> view_output(std::string_view session, std::uint64_t index) const noexcept
    {
        return detail::read_text(acp_connection_view_output, handle(), detail::slice(session), index);
    }
    /// Forgets the view of a session that is over; whether there was one. Views of closed and deleted sessions stay
    /// until then, or until 64 others are over.
    bool forget_view(std::string_view session) noexcept
    {
        return detail::read<bool>(acp_connection_forget_view, handle(), detail::slice(session)).value_or(false);
    }
    // The end of what is generated.

    /// Converts a status that a function of acp.h returned for this connection. For `ACP_MISUSE`, the error has the
    /// rule and the message.
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

    /// Calls a function of acp.h that sends a request, and returns the request's serial number.
    template <class Function, class... Arguments>
    [[nodiscard]] Result<std::uint64_t> sent(Function function, Arguments... arguments) noexcept
    {
        std::uint64_t serial = 0;
        const Result<void> called = done(function(handle(), arguments..., &serial));
        return called ? Result<std::uint64_t>(serial) : called.error();
    }

    /// The handle, for the functions of acp.h; null after a move.
    acp_connection *handle() const noexcept { return connection_.get(); }
    /// Gives up ownership of the handle. The caller frees it with `acp_connection_free`.
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
