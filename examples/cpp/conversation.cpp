// How the conversation looks: what has changed in the session's view since it was drawn last.

#include <algorithm>

#include "chat.hpp"

namespace {

using Look = Screen::Look;

std::string text_of(acp::Json json, std::string_view pointer) { return json.string(pointer).value_or(std::string()); }

/// A content block in one text.
std::string block(acp::Json content)
{
    if (content.is("/type", ACP_CONTENT_TEXT)) {
        return text_of(content, "/text");
    }
    const std::string uri = text_of(content, content.is("/type", ACP_CONTENT_RESOURCE) ? "/resource/uri" : "/uri");
    return "[" + text_of(content, "/type") + (uri.empty() ? "" : " " + uri) + "]";
}

std::string_view sign(std::string_view status)
{
    static constexpr std::pair<std::string_view, std::string_view> SIGNS[] = {
        {ACP_TOOL_STATUS_PENDING, "[ ]"}, {ACP_TOOL_STATUS_IN_PROGRESS, "[~]"}, {ACP_TOOL_STATUS_COMPLETED, "[x]"},
        {ACP_TOOL_STATUS_FAILED, "[!]"},  {"cancelled", "[-]"},
    };
    const auto *found =
        std::find_if(std::begin(SIGNS), std::end(SIGNS), [status](const auto &known) { return known.first == status; });
    return found == std::end(SIGNS) ? "[?]" : found->second;
}

std::string title_of(acp::Json call) { return call.string("/title").value_or(text_of(call, "/id")); }

bool has(acp::Json json, std::string_view pointer)
{
    const auto type = json.type(pointer);
    return type && *type != acp::JsonType::null;
}

} // namespace

// ANCHOR: show
void Chat::show()
{
    if (session_.empty() || connection_.view_revision(session_).value_or(0) == drawn_) {
        return;
    }
    // A copy: the next call to the connection may overwrite it.
    const std::string text(connection_.view_since(session_, drawn_).value_or(acp::Json()).text());
    const acp::Json changes(text);
    drawn_ = changes.uint64("/revision").value_or(drawn_);
    for (const acp::Item entry : changes.items("/entries")) {
        const std::uint64_t index = entry.value.uint64("/index").value_or(0);
        Drawn &drawn = entries_[index];
        const acp::Json content =
            connection_.view_content(session_, index, drawn.end).value_or(acp::Json());
        drawn.end = content.uint64("/end").value_or(0);
        show_entry(entry.value, content, drawn);
    }
    // The view has dropped the oldest.
    entries_.erase(entries_.begin(), entries_.lower_bound(changes.uint64("/first").value_or(0)));
    show_facts(changes);
}
// ANCHOR_END: show

void Chat::show_entry(acp::Json entry, acp::Json content, Drawn &drawn)
{
    if (entry.is("/type", "message")) {
        if (entry.is("/role", "user")) {
            return; // The user has seen what they have typed.
        }
        const Look look = entry.is("/role", "thought") ? Look::dim : Look::plain;
        if (drawn.line.empty()) {
            drawn.line = text_of(entry, "/role");
            screen_.line(look, ""); // Each message begins a line.
        }
        for (const acp::Item part : content.items("/blocks")) {
            screen_.stream(look, block(part.value));
        }
    } else if (entry.is("/type", "tool_call")) {
        const std::string line = std::string(sign(text_of(entry, "/status"))) + " " + title_of(entry);
        if (line != drawn.line) {
            screen_.line(Look::bold, line);
            drawn.line = line;
        }
        for (const acp::Item part : content.items("/content")) {
            if (part.value.is("/type", ACP_TOOL_CONTENT_DIFF) && part.value.find("/changes")) {
                // As version 2 has it: which files, and one patch for all of them.
                screen_.patch(text_of(part.value, "/changes/0/path"), text_of(part.value, "/patch/text"));
            } else if (part.value.is("/type", ACP_TOOL_CONTENT_DIFF)) {
                screen_.diff(text_of(part.value, "/path"), text_of(part.value, "/oldText"),
                             text_of(part.value, "/newText"));
            } else if (part.value.is("/type", ACP_TOOL_CONTENT_CONTENT)) {
                screen_.line(Look::dim, "    " + block(part.value.find("/content").value_or(acp::Json())));
            }
        }
    } else if (entry.is("/type", "plan")) {
        for (const acp::Item step : entry.items("/plan/entries")) {
            screen_.line(Look::dim,
                         std::string(sign(text_of(step.value, "/status"))) + " " + text_of(step.value, "/content"));
        }
    } else {
        const std::string kind = entry.string("/sessionUpdate").value_or(text_of(entry, "/type"));
        screen_.line(Look::dim, "(" + kind + ")");
    }
}

void Chat::show_facts(acp::Json changes)
{
    if (has(changes, "/modes")) {
        std::string names;
        for (const acp::Item mode : changes.items("/modes/availableModes")) {
            names += " " + text_of(mode.value, "/id");
        }
        screen_.line(Look::dim, "mode: " + text_of(changes, "/modes/currentModeId") + ", of" + names);
    }
    if (has(changes, "/commands")) {
        std::string names;
        for (const acp::Item command : changes.items("/commands")) {
            names += " /" + text_of(command.value, "/name");
        }
        screen_.line(Look::dim, "commands:" + names);
    }
    if (has(changes, "/title")) {
        screen_.line(Look::dim, "title: " + text_of(changes, "/title"));
    }
    if (has(changes, "/usage")) {
        screen_.line(Look::dim, "context: " + std::to_string(changes.uint64("/usage/used").value_or(0)) + " of " +
                                    std::to_string(changes.uint64("/usage/size").value_or(0)) + " tokens");
    }
}

/// A request for permission may have no more than the id of its tool call.
std::string Chat::title(acp::Json call)
{
    const std::string id = text_of(call, "/toolCallId");
    for (const acp::Item entry : connection_.view(session_).value_or(acp::Json()).items("/entries")) {
        if (entry.value.is("/type", "tool_call") && entry.value.is("/id", id)) {
            return title_of(entry.value);
        }
    }
    return call.string("/title").value_or(id);
}
