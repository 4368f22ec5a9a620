"""What an agent says, in a line."""

import unicodedata
from typing import Any, Callable, Dict, Iterable, Mapping

Update = Mapping[str, Any]


def block(content: Mapping[str, Any]) -> str:
    return plain(content["text"]) if content["type"] == "text" else f"[{content['type']}]"


def blocks(contents: Iterable[Mapping[str, Any]]) -> str:
    """What a tool call shows."""
    kinds: Dict[str, Callable[[Any], str]] = {
        "content": lambda each: block(each["content"]),
        "diff": lambda each: f"[diff of {len(each['newText'].splitlines())} lines]",
        "terminal": lambda each: "[terminal]",
    }
    return ", ".join(kinds.get(each["type"], lambda _: "[unknown]")(each) for each in contents)


def options(found: Iterable[Mapping[str, Any]]) -> str:
    return ", ".join(f"{option['id']} is {str(option['currentValue']).lower()}" for option in found)


def plain(text: str) -> str:
    """Without what a terminal takes for a command, on one line."""
    return "".join(" " if unicodedata.category(each) in ("Cc", "Cf", "Cs", "Zl", "Zp") else each for each in text).strip()


def call(update: Update) -> str:
    """What is new in a tool call."""
    title = f"{plain(update['title'])} ({update.get('kind')}) " if update["sessionUpdate"] == "tool_call" else ""
    content = f": {blocks(update['content'])}" if update.get("content") else ""
    return f"tool: {title}{update.get('status') or 'news'}{content}"


SHOWN: Dict[str, Callable[[Update], str]] = {
    "user_message_chunk": lambda update: f"user: {block(update['content'])}",
    "agent_message_chunk": lambda update: f"agent: {block(update['content'])}",
    "agent_thought_chunk": lambda update: f"thought: {block(update['content'])}",
    "plan": lambda update: "plan: " + ", ".join(f"{plain(each['content'])} {each['status']}" for each in update["entries"]),
    "tool_call": call,
    "tool_call_update": call,
    "available_commands_update": lambda update: "commands: " + ", ".join(each["name"] for each in update["availableCommands"]),
    "current_mode_update": lambda update: f"mode: {update['currentModeId']}",
    "config_option_update": lambda update: f"options: {options(update['configOptions'])}",
    "session_info_update": lambda update: f"title: {plain(update['title'])}",
    "usage_update": lambda update: f"usage: {update['used']} of {update['size']}, {update['cost']['currency']} {update['cost']['amount']}",
    "notice": lambda update: f"notice: {update['severity']}: {plain(update['title'])}",
    "compaction_update": lambda update: f"compaction: {update['status']}",
    "compaction_summary_chunk": lambda update: f"compaction: {block(update['content'])}",
}


def shown(update: Update) -> str:
    return SHOWN.get(update["sessionUpdate"], lambda _: "something new")(update)
