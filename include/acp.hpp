// libacp for C++17: the Agent Client Protocol as a state machine without I/O. Header-only, over acp.h.
//
//     acp::Connection client(acp::Role::client);
//     auto call = acp::client::initialize(client, "example", "1.0");
//     if (!call) { std::puts(call.error().text().c_str()); }    // or .value(), which throws
//     auto bytes = client.transmit();                           // write these to the agent, then client.consume(n)
//     client.receive(what_the_agent_wrote);
//     for (const acp::Event &event : client.events()) {
//         event.match([](const acp::Response &response) { ... }, [](const auto &) {});
//     }
//
// It fits any event loop (poll, libuv, Qt, asio): pass in what was read, take events, write what `transmit` holds, and
// call `handle_timeout` when `poll_timeout` says so. Nothing here allocates except `Json::string`, `Error::text` and
// `Exception`, which return copies, and what acp.h itself allocates (events, lists, writers). Exceptions and RTTI are not
// needed; without exceptions there is no `Result::value`.
//
// Objects that own a handle can be moved but not copied; calls on an object that was moved from fail. The conventions of
// acp.h about threads and about the lifetime of texts hold here too. Read next: acp_connection.hpp, acp_messages.hpp,
// acp_event.hpp, acp_json.hpp, acp_result.hpp.

#ifndef ACP_HPP
#define ACP_HPP

#include "acp_config.hpp"
#include "acp_connection.hpp"
#include "acp_event.hpp"
#include "acp_json.hpp"
#include "acp_lists.hpp"
#include "acp_messages.hpp"
#include "acp_observer.hpp"
#include "acp_permission.hpp"
#include "acp_result.hpp"

namespace acp {

/// Whether the linked library has the binary interface that these headers describe.
inline bool compatible() noexcept { return acp_abi_version() == ACP_ABI_VERSION; }

/// The version of the linked library; `ACP_VERSION_MAJOR` and the others have the version of the headers.
inline std::string_view library_version() noexcept { return acp_library_version(); }

/// What a rule says, in one sentence; `std::nullopt` if no rule has this id.
inline std::optional<std::string_view> rule_text(std::string_view id) noexcept
{
    return detail::read_text(acp_rule_text, detail::slice(id));
}
/// How binding the specification makes a rule; `std::nullopt` if no rule has this id.
inline std::optional<Level> rule_level(std::string_view id) noexcept
{
    return detail::read_enum<Level>(acp_rule_level, detail::slice(id));
}
/// How bad it is to break a rule; `std::nullopt` if no rule has this id.
inline std::optional<Severity> rule_severity(std::string_view id) noexcept
{
    return detail::read_enum<Severity>(acp_rule_severity, detail::slice(id));
}

/// The result of `cut_output`: `output` and `truncated` of the answer to `terminal/output`.
struct CutOutput {
    /// The end of the output; a part of the text that was passed in, valid as long as that.
    std::string_view end;
    /// Whether anything was cut off.
    bool truncated;
};

/// Cuts the output of a command at the front to the `outputByteLimit` of `terminal/create`, never inside a character.
/// `std::nullopt` if the text is not UTF-8.
inline std::optional<CutOutput> cut_output(std::string_view text, std::uint64_t byte_limit) noexcept
{
    acp_slice end{nullptr, 0};
    bool truncated = false;
    if (acp_cut_output(detail::slice(text), byte_limit, &end, &truncated) != ACP_OK) {
        return std::nullopt;
    }
    return CutOutput{detail::view(end), truncated};
}

} // namespace acp

#endif // ACP_HPP
