// What the tool calls of a session are called. A request for permission may have no more than the id of its tool call; the
// title came in an earlier update, which the connection does not keep.

#ifndef TITLES_HPP
#define TITLES_HPP

#include <algorithm>
#include <deque>
#include <string>
#include <utility>

#include <acp.hpp>

// ANCHOR: titles
class Titles {
public:
    /// The title that was told last; the id of a tool call that has none, or is over.
    std::string of(const std::string &id) const
    {
        const auto call = std::find_if(calls_.begin(), calls_.end(), [&](const auto &one) { return one.first == id; });
        return call == calls_.end() ? id : call->second;
    }
    /// Remembers what an update, or a request for permission, says of a tool call.
    void take(acp::Json call)
    {
        const std::string id = call.string("/toolCallId").value_or(""), title = call.string("/title").value_or("");
        const bool over = call.is("/status", ACP_TOOL_STATUS_COMPLETED) || call.is("/status", ACP_TOOL_STATUS_FAILED);
        if (!over && title.empty()) {
            return;
        }
        calls_.erase(std::remove_if(calls_.begin(), calls_.end(), [&](const auto &one) { return one.first == id; }),
                     calls_.end());
        if (!over && id.size() <= BYTES && title.size() <= BYTES) {
            if (calls_.size() == MOST) {
                calls_.pop_front();
            }
            calls_.emplace_back(id, title);
        }
    }

private:
    /// Titles that are kept, the newest, and bytes of the longest: an agent decides how many there are.
    static constexpr std::size_t MOST = 256, BYTES = 1024;

    /// Those that are not over, the oldest first.
    std::deque<std::pair<std::string, std::string>> calls_{};
};
// ANCHOR_END: titles

#endif
