"""What a session shows, on the official SDK: it hands on updates, and clients fold them."""

from __future__ import annotations

from typing import Any

from checks import diff

ROLES = {"user_message_chunk": "user", "agent_message_chunk": "agent", "agent_thought_chunk": "thought"}


class Fold:
    """A session as it is told."""

    def __init__(self) -> None:
        self.shown: dict[str, Any] = {"transcript": [], "options": {}, "commands": [], "state": "idle"}
        self.calls: dict[str, dict[str, Any]] = {}

    def open(self, result: dict[str, Any]) -> Fold:
        """What the answer that opens a session has."""
        if "modes" in result:
            self.shown["mode"] = result["modes"]["currentModeId"]
        for option in result.get("configOptions", ()):
            self.shown["options"][option["id"]] = option["currentValue"]
        return self

    def say(self, role: str, text: str) -> None:
        transcript = self.shown["transcript"]
        if transcript and transcript[-1][0] == role:
            transcript[-1][1] += text
        else:
            transcript.append([role, text])

    def take(self, update: dict[str, Any]) -> None:
        kind = update["sessionUpdate"]
        if kind in ROLES:
            self.say(ROLES[kind], update["content"].get("text", ""))
        elif kind in ("tool_call", "tool_call_update"):
            if update["toolCallId"] not in self.calls:
                self.calls[update["toolCallId"]] = {"content": [], "locations": []}
                self.shown["transcript"].append(["tool_call", update.get("title")])
            self.calls[update["toolCallId"]].update(update)
        elif kind == "plan":
            self.shown["plan"] = update["entries"]
        elif kind == "available_commands_update":
            commands = update["availableCommands"]
            self.shown["commands"] = [[each["name"], each.get("input", {}).get("hint")] for each in commands]
        elif kind == "current_mode_update":
            self.shown["mode"] = update["currentModeId"]
        elif kind == "config_option_update":
            self.open(update)
        elif kind == "usage_update":
            self.shown["usage"] = update
        elif kind == "session_info_update":
            self.shown["title"] = update.get("title")

    @property
    def seen(self) -> dict[str, Any]:
        """All that the steps ask about."""
        said = self.shown["transcript"]
        texts = {role: "".join(text for who, text in said if who == role) for role in ("agent", "thought")}
        return {
            **self.shown,
            "text": texts["agent"],
            "thoughts": texts["thought"],
            "tools": [tool(call) for call in self.calls.values()],
        }


def tool(call: dict[str, Any]) -> dict[str, Any]:
    shown = [each["content"] for each in call["content"] if each["type"] == "content"]
    return {
        "title": call.get("title"),
        "kind": call.get("kind"),
        "status": call.get("status"),
        "text": "".join(block.get("text", "") for block in shown),
        "input": call.get("rawInput"),
        "output": call.get("rawOutput"),
        "locations": [each["path"] for each in call["locations"]],
        "diffs": [diff(each) for each in call["content"] if each["type"] == "diff"],
    }
