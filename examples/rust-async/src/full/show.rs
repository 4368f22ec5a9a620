//! What an agent says, in a line.

use std::fmt::Display;

use libacp::aio::Update;
use libacp::schema::v1::{
    ContentBlock, SessionConfigOption, SessionConfigOptionKind, SessionUpdate, ToolCallContent, ToolCallStatus,
};

/// Prints a line. What the peer has said steers no terminal.
pub(crate) fn say(what: impl AsRef<str>) {
    println!("{}", crate::shown(what.as_ref()));
}

pub(crate) fn joined(items: impl IntoIterator<Item: Display>) -> String {
    items.into_iter().map(|item| item.to_string()).collect::<Vec<_>>().join(",")
}

pub(crate) fn options(options: &[SessionConfigOption<'_>]) -> String {
    let shown = options.iter().map(|option| match &option.kind {
        SessionConfigOptionKind::Select(select) => format!("{} is {}", option.id, select.current_value),
        SessionConfigOptionKind::Boolean(switch) => format!("{} is {}", option.id, switch.current_value),
        _ => format!("{} is something new", option.id),
    });
    shown.collect::<Vec<_>>().join(", ")
}

pub(crate) fn shown(update: &Update) -> String {
    let Some(update) = update.v1() else { return "something new".to_owned() };
    match update {
        SessionUpdate::UserMessageChunk(chunk) => format!("user: {}", block(&chunk.content)),
        SessionUpdate::AgentMessageChunk(chunk) => format!("agent: {}", block(&chunk.content)),
        SessionUpdate::AgentThoughtChunk(chunk) => format!("thought: {}", block(&chunk.content)),
        SessionUpdate::Plan(plan) => {
            let entries = plan.entries.iter().map(|entry| format!("{} {}", line(&entry.content), entry.status));
            format!("plan: {}", entries.collect::<Vec<_>>().join(", "))
        }
        SessionUpdate::ToolCall(call) => {
            let kind = call.kind.as_ref().map_or_else(String::new, |kind| format!(" ({kind})"));
            let title = format!("{}{kind} ", line(&call.title));
            tool(&title, call.status.as_ref(), &call.content)
        }
        SessionUpdate::ToolCallUpdate(call) => {
            tool("", call.status.as_ref(), call.content.as_deref().unwrap_or_default())
        }
        SessionUpdate::AvailableCommandsUpdate(update) => {
            let names = update.available_commands.iter().map(|command| command.name.to_string());
            format!("commands: {}", names.collect::<Vec<_>>().join(", "))
        }
        SessionUpdate::CurrentModeUpdate(update) => format!("mode: {}", update.current_mode_id),
        SessionUpdate::ConfigOptionUpdate(update) => format!("options: {}", options(&update.config_options)),
        SessionUpdate::SessionInfoUpdate(update) => {
            format!("title: {}", update.title.value().map_or_else(String::new, |title| line(title)))
        }
        SessionUpdate::UsageUpdate(usage) => {
            let number = |number: Option<u64>| number.map_or_else(|| "?".to_owned(), |number| number.to_string());
            let cost = usage.cost.as_ref().map(|cost| format!(", {} {}", cost.currency, cost.amount));
            format!("usage: {} of {}{}", number(usage.used), number(usage.size), cost.unwrap_or_default())
        }
        SessionUpdate::Notice(notice) => format!("notice: {}: {}", notice.severity, line(&notice.title)),
        SessionUpdate::CompactionUpdate(update) => format!("compaction: {}", update.status),
        SessionUpdate::CompactionSummaryChunk(chunk) => format!("compaction: {}", block(&chunk.content)),
        _ => "something new".to_owned(),
    }
}

/// What is new in a tool call.
fn tool(title: &str, status: Option<&ToolCallStatus<'_>>, content: &[ToolCallContent<'_>]) -> String {
    let status = status.map_or_else(|| "news".to_owned(), ToString::to_string);
    let parts = content.iter().map(part).collect::<Vec<_>>().join(", ");
    let colon = if parts.is_empty() { "" } else { ": " };
    format!("tool: {title}{status}{colon}{parts}")
}

/// Something that a tool call shows.
fn part(content: &ToolCallContent<'_>) -> String {
    match content {
        ToolCallContent::Content(content) => block(&content.content),
        ToolCallContent::Diff(diff) => format!("[diff of {} lines]", diff.new_text.lines().count()),
        ToolCallContent::Terminal(_) => "[terminal]".to_owned(),
        _ => "[unknown]".to_owned(),
    }
}

fn block(content: &ContentBlock<'_>) -> String {
    match content {
        ContentBlock::Text(text) => line(&text.text),
        ContentBlock::Image(_) => "[image]".to_owned(),
        ContentBlock::Audio(_) => "[audio]".to_owned(),
        ContentBlock::ResourceLink(_) => "[resource_link]".to_owned(),
        ContentBlock::Resource(_) => "[resource]".to_owned(),
        _ => "[unknown]".to_owned(),
    }
}

/// A text on one line.
fn line(text: &str) -> String {
    text.replace(char::is_control, " ").trim().to_owned()
}
