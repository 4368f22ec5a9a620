// How the parts of a turn look.

#include <algorithm>

#include "chat.hpp"

namespace {

using Look = View::Look;

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
        {ACP_TOOL_STATUS_PENDING, "[ ]"},
        {ACP_TOOL_STATUS_IN_PROGRESS, "[~]"},
        {ACP_TOOL_STATUS_COMPLETED, "[x]"},
        {ACP_TOOL_STATUS_FAILED, "[!]"},
    };
    const auto *found =
        std::find_if(std::begin(SIGNS), std::end(SIGNS), [status](const auto &known) { return known.first == status; });
    return found == std::end(SIGNS) ? "[?]" : found->second;
}

} // namespace

void Chat::on(const acp::Notification &notification)
{
    if (const auto kind = notification.update()) {
        show_update(*kind, notification.params().find("/update").value_or(acp::Json()));
    } else {
        view_.line(Look::dim, "(" + std::string(notification.method()) + ")");
    }
}

void Chat::show_update(std::string_view kind, acp::Json update)
{
    if (kind == ACP_UPDATE_AGENT_MESSAGE_CHUNK) {
        view_.stream(Look::plain, block(update.find("/content").value_or(acp::Json())));
    } else if (kind == ACP_UPDATE_AGENT_THOUGHT_CHUNK) {
        view_.stream(Look::dim, block(update.find("/content").value_or(acp::Json())));
    } else if (kind == ACP_UPDATE_USER_MESSAGE_CHUNK) {
        view_.stream(Look::bold, block(update.find("/content").value_or(acp::Json())));
    } else if (kind == ACP_UPDATE_TOOL_CALL || kind == ACP_UPDATE_TOOL_CALL_UPDATE) {
        show_tool_call(update);
    } else if (kind == ACP_UPDATE_PLAN) {
        show_plan(update);
    } else if (kind == ACP_UPDATE_AVAILABLE_COMMANDS_UPDATE) {
        std::string names;
        for (const acp::Item command : update.items("/availableCommands")) {
            names += " /" + text_of(command.value, "/name");
        }
        view_.line(Look::dim, "commands:" + names);
    } else if (kind == ACP_UPDATE_CURRENT_MODE_UPDATE) {
        view_.line(Look::dim, "mode: " + text_of(update, "/currentModeId"));
    } else if (kind == ACP_UPDATE_SESSION_INFO_UPDATE) {
        view_.line(Look::dim, "title: " + text_of(update, "/title"));
    } else if (kind == ACP_UPDATE_USAGE_UPDATE) {
        view_.line(Look::dim, "context: " + std::to_string(update.uint64("/used").value_or(0)) + " of " +
                                  std::to_string(update.uint64("/size").value_or(0)) + " tokens");
    } else {
        view_.line(Look::dim, "(" + std::string(kind) + ")");
    }
}

void Chat::show_tool_call(acp::Json call)
{
    const std::string title = call.string("/title").value_or(titles_.of(text_of(call, "/toolCallId")));
    const std::string status = call.string("/status").value_or("");
    titles_.take(call);
    if (!status.empty()) {
        view_.line(Look::bold, std::string(sign(status)) + " " + title);
    }
    for (const acp::Item content : call.items("/content")) {
        if (content.value.is("/type", ACP_TOOL_CONTENT_DIFF)) {
            view_.diff(text_of(content.value, "/path"), text_of(content.value, "/oldText"),
                       text_of(content.value, "/newText"));
        } else if (content.value.is("/type", ACP_TOOL_CONTENT_CONTENT)) {
            view_.line(Look::dim, "    " + block(content.value.find("/content").value_or(acp::Json())));
        }
    }
}

void Chat::show_plan(acp::Json plan)
{
    for (const acp::Item entry : plan.items("/entries")) {
        view_.line(Look::dim,
                   std::string(sign(text_of(entry.value, "/status"))) + " " + text_of(entry.value, "/content"));
    }
}

void Chat::show_modes(acp::Json modes)
{
    std::string names;
    for (const acp::Item mode : modes.items("/availableModes")) {
        names += " " + text_of(mode.value, "/id");
    }
    view_.line(Look::dim, "mode: " + text_of(modes, "/currentModeId") + ", of" + names);
}
