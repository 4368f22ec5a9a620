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
// It fits any loop (poll, libuv, Qt, asio): pass in what was read, take out events, write what `transmit` holds, and
// call `handle_timeout` when `poll_timeout` says so. Nothing here allocates, but `Json::string`, `Error::text` and
// `Exception`, which return texts of their own, and what acp.h itself allocates (events, lists, writers). Nothing needs
// exceptions or RTTI: without exceptions `Result::value` is not there.
//
// Handles can be moved, not copied; one that was moved from refuses every call. What acp.h promises about threads and
// about how long texts are valid holds here. Read next: acp_connection.hpp, acp_messages.hpp,
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
#include "acp_result.hpp"

namespace acp {

/// Whether the library that is linked is the one that these headers are for.
inline bool compatible() noexcept { return acp_abi_version() == ACP_ABI_VERSION; }

/// The version of the library that is linked; ACP_VERSION_MAJOR and so on have that of the headers.
inline std::string_view library_version() noexcept { return acp_library_version(); }

/// What a rule says, how binding it is, and how bad it is to break it; nothing when there is no such rule.
inline std::optional<std::string_view> rule_text(std::string_view id) noexcept
{
    return detail::read_text(acp_rule_text, detail::slice(id));
}
inline std::optional<Level> rule_level(std::string_view id) noexcept
{
    return detail::read_enum<Level>(acp_rule_level, detail::slice(id));
}
inline std::optional<Severity> rule_severity(std::string_view id) noexcept
{
    return detail::read_enum<Severity>(acp_rule_severity, detail::slice(id));
}

/// The end of a command's output that fits a limit, and whether anything had to go.
struct CutOutput {
    std::string_view end;
    bool truncated;
};

/// Cuts output from the front to the `outputByteLimit` of `terminal/create`, never inside a character. The text must be
/// UTF-8.
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
