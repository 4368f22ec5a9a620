"""What a session shows, in the words of `../steps.json`, and how that is compared."""

from __future__ import annotations

from typing import Any, Dict, List

from libacp.view import View


class Wrong(Exception):
    """Something is not as it has to be."""


class NotOffered(Exception):
    """One side does not have what a step takes."""


def same(what: str, expected: Any, got: Any) -> None:
    """Objects that are expected ask for their members; null stands for what is not there."""
    if isinstance(expected, dict) and isinstance(got, dict):
        for name, value in expected.items():
            same(f"{what}/{name}", value, got.get(name))
    elif isinstance(expected, list) and isinstance(got, list) and len(expected) == len(got):
        for index, (one, other) in enumerate(zip(expected, got)):
            same(f"{what}/{index}", one, other)
    elif type(expected) is not type(got) or expected != got:
        raise Wrong(f"{what}: expected {short(expected)}, got {short(got)}")


def short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 200 else f"{text[:200]}... ({len(text)} characters)"


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


def diff(change: Any) -> Dict[str, Any]:
    """Version 1 has both texts, version 2 a patch."""
    if "newText" in change:
        old, new = (change.get("oldText") or "").splitlines(), change["newText"].splitlines()
        removed, added = [each for each in old if each not in new], [each for each in new if each not in old]
        return {"path": change["path"], "removed": removed, "added": added}
    lines = change["patch"]["text"].splitlines()
    begin = next(index for index, each in enumerate(lines) if each.startswith("@@"))
    removed, added = ([each[1:] for each in lines[begin:] if each.startswith(sign)] for sign in "-+")
    return {"path": change["changes"][0]["path"], "removed": removed, "added": added}
