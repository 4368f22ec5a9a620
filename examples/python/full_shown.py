"""What an agent says, in a line."""

from __future__ import annotations

import unicodedata
from typing import Any, Callable, Dict, Iterable, Union

from libacp.types import v1, v2


def block(content: v1.ContentBlock) -> str:
    return plain(content["text"]) if content["type"] == "text" else f"[{content['type']}]"


def part(content: v1.ToolCallContent) -> str:
    """Something that a tool call shows."""
    if content["type"] == "content":
        return block(content["content"])
    if content["type"] == "diff":
        return f"[diff of {len(content['newText'].splitlines())} lines]"
    return "[terminal]" if content["type"] == "terminal" else "[unknown]"


def options(found: Iterable[v1.SessionConfigOption]) -> str:
    return ", ".join(f"{option['id']} is {str(option['currentValue']).lower()}" for option in found)


def plain(text: str) -> str:
    """Without what a terminal takes for a command, on one line."""
    return "".join(" " if unicodedata.category(each) in ("Cc", "Cf", "Cs", "Zl", "Zp") else each for each in text).strip()


def chunk(who: str) -> Callable[[v1.ContentChunk], str]:
    """A piece of what somebody says."""
    return lambda update: f"{who}: {block(update['content'])}"


def plan(update: v1.SessionUpdatePlan) -> str:
    return "plan: " + ", ".join(f"{plain(each['content'])} {each['status']}" for each in update["entries"])


def call(update: Union[v1.SessionUpdateToolCall, v1.SessionUpdateToolCallUpdate]) -> str:
    """What is new in a tool call."""
    title = f"{plain(update['title'])} ({update.get('kind')}) " if update["sessionUpdate"] == "tool_call" else ""
    parts = ", ".join(part(each) for each in update.get("content") or ())
    return f"tool: {title}{update.get('status') or 'news'}{parts and f': {parts}'}"


def commands(update: v1.SessionUpdateAvailableCommandsUpdate) -> str:
    return "commands: " + ", ".join(each["name"] for each in update["availableCommands"])


def mode(update: v1.SessionUpdateCurrentModeUpdate) -> str:
    return f"mode: {update['currentModeId']}"


def settings(update: v1.SessionUpdateConfigOptionUpdate) -> str:
    return f"options: {options(update['configOptions'])}"


def info(update: v1.SessionUpdateSessionInfoUpdate) -> str:
    return f"title: {plain(update.get('title') or '')}"


def usage(update: v1.SessionUpdateUsageUpdate) -> str:
    cost = update.get("cost")
    spent = f", {cost['currency']} {cost['amount']}" if cost else ""
    return f"usage: {update.get('used')} of {update.get('size')}{spent}"


def notice(update: v1.SessionUpdateNotice) -> str:
    return f"notice: {update['severity']}: {plain(update['title'])}"


def compaction(update: v1.SessionUpdateCompactionUpdate) -> str:
    return f"compaction: {update['status']}"


# Each takes updates of its own kind.
SHOWN: Dict[str, Callable[[Any], str]] = {
    "user_message_chunk": chunk("user"),
    "agent_message_chunk": chunk("agent"),
    "agent_thought_chunk": chunk("thought"),
    "plan": plan,
    "tool_call": call,
    "tool_call_update": call,
    "available_commands_update": commands,
    "current_mode_update": mode,
    "config_option_update": settings,
    "session_info_update": info,
    "usage_update": usage,
    "notice": notice,
    "compaction_update": compaction,
    "compaction_summary_chunk": chunk("compaction"),
}


def shown(update: Union[v1.SessionUpdate, v2.SessionUpdate]) -> str:
    line = SHOWN.get(update["sessionUpdate"])
    return "something new" if line is None else line(update)
