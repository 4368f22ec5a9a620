"""What a session shows, in the words of `../steps.json`."""

from __future__ import annotations

from typing import Any, Dict, List

from checks import diff
from libacp.view import View


def seen(view: View) -> Dict[str, Any]:
    """All that the steps ask about, in both versions."""
    messages = [entry for entry in view.entries if entry.type == "message"]
    return {
        "stop": view.stop_reason,
        "state": view.state,
        "text": "".join(each.text for each in messages if each.role == "agent"),
        "thoughts": "".join(each.text for each in messages if each.role == "thought"),
        "plan": next((entry.entries for entry in view.entries if entry.type == "plan"), None),
        "tools": [tool(entry) for entry in view.entries if entry.type == "tool_call"],
        "commands": [[each["name"], (each.get("input") or {}).get("hint")] for each in view.commands or ()],
        "mode": (view.modes or {}).get("currentModeId"),
        "options": {option["configId"]: option["currentValue"] for option in view.config_options or ()},
        "usage": view.usage,
        "title": view.title,
        "terminals": [
            {"output": each.output, "exit": (each.exit_status or {}).get("exitCode")} for each in view.terminals
        ],
        "unknown": [entry.update for entry in view.entries if entry.type == "update"],
        "transcript": [line(entry) for entry in view.entries if entry.type in ("message", "tool_call")],
    }


def line(entry: Any) -> List[str]:
    return [entry.role, entry.text] if entry.type == "message" else [entry.type, entry.title]


def tool(call: Any) -> Dict[str, Any]:
    shown = [each for each in call.content if each["type"] == "content" and each["content"]["type"] == "text"]
    return {
        "title": call.title,
        "kind": call.kind,
        "status": call.status,
        "text": "".join(each["content"]["text"] for each in shown),
        "input": call.raw_input,
        "output": call.raw_output,
        "locations": [each["path"] for each in call.locations],
        "diffs": [diff(each) for each in call.content if each["type"] == "diff"],
    }
