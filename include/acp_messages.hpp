// libacp for C++17: the most common messages of version 1 in one call each. For everything else there are `Writer::form` and
// the calls of `Connection` that take JSON text. Errors are those of `Connection::request`, `notify` and `respond`.
//
// Part of acp.hpp, which is what a program includes.

#ifndef ACP_MESSAGES_HPP
#define ACP_MESSAGES_HPP

#include "acp_connection.hpp"

namespace acp {

/// The messages of a client.
namespace client {

/// Sends `initialize` with a name and a version, and capabilities as JSON text (empty for none). Returns the serial
/// number.
[[nodiscard]] inline Result<std::uint64_t> initialize(Connection &connection, std::string_view name,
                                                      std::string_view version,
                                                      std::string_view capabilities = {}) noexcept
{
    return connection.sent(acp_client_initialize, detail::slice(name), detail::slice(version),
                           detail::slice(capabilities));
}
/// Sends `session/new` with a working directory and no MCP servers. Returns the serial number; `/sessionId` of the
/// result is the new session's id.
[[nodiscard]] inline Result<std::uint64_t> new_session(Connection &connection, std::string_view cwd) noexcept
{
    return connection.sent(acp_client_new_session, detail::slice(cwd));
}
/// Sends `session/prompt` with one text. Returns the serial number; `/stopReason` of the result says why the turn
/// ended.
[[nodiscard]] inline Result<std::uint64_t> prompt(Connection &connection, std::string_view session,
                                                  std::string_view text) noexcept
{
    return connection.sent(acp_client_prompt, detail::slice(session), detail::slice(text));
}
/// Sends `session/cancel`, which stops the prompt turn of a session.
[[nodiscard]] inline Result<void> cancel(Connection &connection, std::string_view session) noexcept
{
    return connection.done(acp_client_cancel(connection.handle(), detail::slice(session)));
}
/// Answers `session/request_permission` with the id of the option that the user chose; empty for none.
[[nodiscard]] inline Result<void> answer_permission(Connection &connection, std::uint64_t serial,
                                                    std::string_view option = {}) noexcept
{
    return connection.done(acp_client_answer_permission(connection.handle(), serial, detail::slice(option)));
}
/// Answers `fs/read_text_file` with the text of the file, or of the lines that were asked for.
[[nodiscard]] inline Result<void> answer_file(Connection &connection, std::uint64_t serial,
                                              std::string_view content) noexcept
{
    return connection.done(acp_client_answer_file(connection.handle(), serial, detail::slice(content)));
}

} // namespace client

/// The messages of an agent.
namespace agent {

/// Answers `initialize` with a name and a version, and capabilities as JSON text (empty for none).
[[nodiscard]] inline Result<void> answer_initialize(Connection &connection, std::uint64_t serial, std::string_view name,
                                                    std::string_view version,
                                                    std::string_view capabilities = {}) noexcept
{
    return connection.done(acp_agent_answer_initialize(connection.handle(), serial, detail::slice(name),
                                                       detail::slice(version), detail::slice(capabilities)));
}
/// Answers `session/new` with the id of the new session, unique on the connection.
[[nodiscard]] inline Result<void> answer_new_session(Connection &connection, std::uint64_t serial,
                                                     std::string_view session) noexcept
{
    return connection.done(acp_agent_answer_new_session(connection.handle(), serial, detail::slice(session)));
}
/// Answers `session/prompt` with why the turn ended (`ACP_STOP_…`).
[[nodiscard]] inline Result<void> answer_prompt(Connection &connection, std::uint64_t serial,
                                                std::string_view stop_reason = ACP_STOP_END_TURN) noexcept
{
    return connection.done(acp_agent_answer_prompt(connection.handle(), serial, detail::slice(stop_reason)));
}
/// Sends a piece of the agent's answer: an update `agent_message_chunk` with a text.
[[nodiscard]] inline Result<void> message(Connection &connection, std::string_view session,
                                          std::string_view text) noexcept
{
    return connection.done(acp_agent_message(connection.handle(), detail::slice(session), detail::slice(text)));
}
/// Sends a piece of the agent's reasoning: an update `agent_thought_chunk` with a text.
[[nodiscard]] inline Result<void> thought(Connection &connection, std::string_view session,
                                          std::string_view text) noexcept
{
    return connection.done(acp_agent_thought(connection.handle(), detail::slice(session), detail::slice(text)));
}
/// Announces a tool call. `kind` (`ACP_TOOL_KIND_…`) and `status` (`ACP_TOOL_STATUS_…`) are left out if they are empty.
[[nodiscard]] inline Result<void> tool_call(Connection &connection, std::string_view session, std::string_view id,
                                            std::string_view title, std::string_view kind = {},
                                            std::string_view status = {}) noexcept
{
    return connection.done(acp_agent_tool_call(connection.handle(), detail::slice(session), detail::slice(id),
                                               detail::slice(title), detail::slice(kind), detail::slice(status)));
}
/// Updates a tool call. `status` is left out if it is empty. `text` replaces all content of the call so far, unless it
/// is empty.
[[nodiscard]] inline Result<void> tool_call_update(Connection &connection, std::string_view session, std::string_view id,
                                                   std::string_view status, std::string_view text = {}) noexcept
{
    return connection.done(acp_agent_tool_call_update(connection.handle(), detail::slice(session), detail::slice(id),
                                                      detail::slice(status), detail::slice(text)));
}

} // namespace agent

} // namespace acp

#endif // ACP_MESSAGES_HPP
