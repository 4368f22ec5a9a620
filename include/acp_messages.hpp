// libacp for C++17: the commonest messages of version 1 in one call each. What they lack is said with `Writer::form` and the
// calls of `Connection` that take JSON text.
//
// Part of acp.hpp, which is what a program includes.

#ifndef ACP_MESSAGES_HPP
#define ACP_MESSAGES_HPP

#include "acp_connection.hpp"

namespace acp {

/// What a client says.
namespace client {

/// `initialize`: a name and a version, and capabilities as an object (empty for none).
[[nodiscard]] inline Result<std::uint64_t> initialize(Connection &connection, std::string_view name,
                                                      std::string_view version,
                                                      std::string_view capabilities = {}) noexcept
{
    return connection.sent(acp_client_initialize, detail::slice(name), detail::slice(version),
                           detail::slice(capabilities));
}
/// `session/new` in a working directory, without MCP servers.
[[nodiscard]] inline Result<std::uint64_t> new_session(Connection &connection, std::string_view cwd) noexcept
{
    return connection.sent(acp_client_new_session, detail::slice(cwd));
}
/// `session/prompt` of one text.
[[nodiscard]] inline Result<std::uint64_t> prompt(Connection &connection, std::string_view session,
                                                  std::string_view text) noexcept
{
    return connection.sent(acp_client_prompt, detail::slice(session), detail::slice(text));
}
/// `session/cancel`.
[[nodiscard]] inline Result<void> cancel(Connection &connection, std::string_view session) noexcept
{
    return connection.done(acp_client_cancel(connection.handle(), detail::slice(session)));
}
/// The answer to `session/request_permission`: the id of the option that was chosen; empty where none was.
[[nodiscard]] inline Result<void> answer_permission(Connection &connection, std::uint64_t serial,
                                                    std::string_view option = {}) noexcept
{
    return connection.done(acp_client_answer_permission(connection.handle(), serial, detail::slice(option)));
}
/// The answer to `fs/read_text_file`.
[[nodiscard]] inline Result<void> answer_file(Connection &connection, std::uint64_t serial,
                                              std::string_view content) noexcept
{
    return connection.done(acp_client_answer_file(connection.handle(), serial, detail::slice(content)));
}

} // namespace client

/// What an agent says.
namespace agent {

/// The answer to `initialize`: a name and a version, and capabilities as an object (empty for none).
[[nodiscard]] inline Result<void> answer_initialize(Connection &connection, std::uint64_t serial, std::string_view name,
                                                    std::string_view version,
                                                    std::string_view capabilities = {}) noexcept
{
    return connection.done(acp_agent_answer_initialize(connection.handle(), serial, detail::slice(name),
                                                       detail::slice(version), detail::slice(capabilities)));
}
/// The answer to `session/new`: the id of the session, which no other one of the connection has.
[[nodiscard]] inline Result<void> answer_new_session(Connection &connection, std::uint64_t serial,
                                                     std::string_view session) noexcept
{
    return connection.done(acp_agent_answer_new_session(connection.handle(), serial, detail::slice(session)));
}
/// The answer to `session/prompt`: why the turn ended (`ACP_STOP_…`).
[[nodiscard]] inline Result<void> answer_prompt(Connection &connection, std::uint64_t serial,
                                                std::string_view stop_reason = ACP_STOP_END_TURN) noexcept
{
    return connection.done(acp_agent_answer_prompt(connection.handle(), serial, detail::slice(stop_reason)));
}
/// Something that it says, and something that it thinks.
[[nodiscard]] inline Result<void> message(Connection &connection, std::string_view session,
                                          std::string_view text) noexcept
{
    return connection.done(acp_agent_message(connection.handle(), detail::slice(session), detail::slice(text)));
}
[[nodiscard]] inline Result<void> thought(Connection &connection, std::string_view session,
                                          std::string_view text) noexcept
{
    return connection.done(acp_agent_thought(connection.handle(), detail::slice(session), detail::slice(text)));
}
/// A tool call that begins; without a kind (`ACP_TOOL_KIND_…`) or a status (`ACP_TOOL_STATUS_…`) where they are empty.
[[nodiscard]] inline Result<void> tool_call(Connection &connection, std::string_view session, std::string_view id,
                                            std::string_view title, std::string_view kind = {},
                                            std::string_view status = {}) noexcept
{
    return connection.done(acp_agent_tool_call(connection.handle(), detail::slice(session), detail::slice(id),
                                               detail::slice(title), detail::slice(kind), detail::slice(status)));
}
/// A tool call that goes on; a text takes the place of all that the call has shown.
[[nodiscard]] inline Result<void> tool_call_update(Connection &connection, std::string_view session, std::string_view id,
                                                   std::string_view status, std::string_view text = {}) noexcept
{
    return connection.done(acp_agent_tool_call_update(connection.handle(), detail::slice(session), detail::slice(id),
                                                      detail::slice(status), detail::slice(text)));
}

} // namespace agent

} // namespace acp

#endif // ACP_MESSAGES_HPP
