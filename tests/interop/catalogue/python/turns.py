"""The turns that agents in Python play alike, on libacp and on the official SDK.

They need of a turn: ``message``, ``thought`` and ``update``, ``blocks`` and ``meta``, ``cwd``, ``session_id``, ``further`` (its
additional directories), ``kept`` (:class:`State`) and ``client_name``.
"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any, Awaitable, Callable, Dict, List, Optional

from checks import fill

TURNS = json.loads(Path(__file__).parents[1].joinpath("turns.json").read_text("utf-8"))
COLOURS = {"type": "string", "oneOf": [{"const": each, "title": each} for each in ("red", "blue")]}
FORM = {"type": "object", "properties": {"colour": COLOURS}, "required": ["colour"]}
CHOICES = [
    {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
    {"optionId": "no", "name": "No", "kind": "reject_once"},
]
TITLES = {"perm.selected": "allow", "perm.rejected": "reject", "perm.cancelled": "wait", "meta.permission": "meta"}
TRACE = {"libacp.dev/trace": "abc"}


def choices(*values: str) -> List[Any]:
    return [{"value": each, "name": each} for each in values]


class State:
    """What a session is set to, and what was said in it."""

    def __init__(self) -> None:
        self.mode = "ask"
        self.options: Dict[str, Any] = {"model": "small", "style": "novel", "web": False}
        self.history: List[Any] = []

    @property
    def opened(self) -> Dict[str, Any]:
        """What every answer that opens a session has."""
        modes = [{"id": each, "name": each} for each in ("ask", "code")]
        return {"modes": {"currentModeId": self.mode, "availableModes": modes}, "configOptions": self.listed}

    @property
    def listed(self) -> List[Any]:
        styles = {"prose": choices("novel", "essay"), "verse": choices("haiku", "sonnet")}
        grouped = [{"group": each, "name": each, "options": styles[each]} for each in styles]
        return [
            {"type": "select", "id": "model", "name": "Model", "currentValue": self.options["model"], "options": choices("small", "large")},
            {"type": "select", "id": "style", "name": "Style", "currentValue": self.options["style"], "options": grouped},
            {"type": "boolean", "id": "web", "name": "Search the web", "currentValue": self.options["web"]},
        ]

    def remember(self, kind: str, block: Any) -> None:
        self.history.append({"sessionUpdate": f"{kind}_chunk", "content": block})


PLAYED: Dict[str, Callable[[Any], Awaitable[Optional[str]]]] = {}


def step(*ids: str) -> Callable[[Any], Any]:
    """Registers the turn of some steps."""

    def register(turn: Any) -> Any:
        PLAYED.update(dict.fromkeys(ids, turn))
        return turn

    return register


def said(id: str) -> Callable[[Any], Awaitable[None]]:
    """The turn that `turns.json` has for a step, in the words of version 1: the library says them in those of version 2."""

    async def play(turn: Any) -> None:
        for each in fill(TURNS[id], turn.cwd):
            word, what = next(iter(each.items()))
            if word in ("message", "thought"):
                await getattr(turn, word)(what)
            elif word == "update":
                await turn.update(what)
            elif word == "plan":
                await turn.update({"sessionUpdate": "plan", "entries": what})
            elif word == "1":
                await turn.update(what)
            else:
                await turn.update({"sessionUpdate": "tool_call" if word == "call" else "tool_call_update", **what})

    return play


PLAYED.update({id: said(id) for id in TURNS})


@step("init.client")
async def client_name(turn: Any) -> None:
    await turn.message(f"client {turn.client_name}")


@step("session.load.replay", "session.resume", "session.delete")
async def remember(turn: Any) -> None:
    await turn.message("Remembered.")
    turn.kept.remember("agent_message", {"type": "text", "text": "Remembered."})


@step("session.close", "cancel.prompt")
async def wait_to_be_cancelled(turn: Any) -> None:
    await turn.message("Waiting.")
    await asyncio.Event().wait()


@step("session.multi")
async def count_up(turn: Any) -> None:
    for number in range(20):
        await turn.message(f"{turn.session_id} {number};")
        await asyncio.sleep(0.001)


@step("session.folders")
async def folders(turn: Any) -> None:
    await turn.message(" ".join(turn.further))


@step("prompt.image", "prompt.resource", "prompt.link")
async def show_block(turn: Any) -> None:
    block = turn.blocks[1]
    shown = {
        "image": lambda: [block["mimeType"], block["data"]],
        "resource": lambda: [block["resource"]["uri"], block["resource"]["text"]],
        "resource_link": lambda: [block["uri"], block["name"]],
    }
    await turn.message(" ".join([block["type"], *shown[block["type"]]()]))


@step("stop.end_turn", "stop.max_tokens", "stop.max_turn_requests", "stop.refusal")
async def stop(turn: Any) -> str:
    return turn.blocks[0]["text"].partition("stop.")[2]


@step("enum.stop")
async def tire(turn: Any) -> str:
    return "_libacp.dev/tired"


@step("enum.audience")
async def audience(turn: Any) -> None:
    await turn.message(" ".join(turn.blocks[1]["annotations"]["audience"]))


@step("mode.set", "config.select", "config.boolean")
async def settings(turn: Any) -> None:
    options = turn.kept.options
    await turn.message(f"{turn.kept.mode} {options['model']} {str(options['web']).lower()}")


@step("config.grouped")
async def style(turn: Any) -> None:
    await turn.message(turn.kept.options["style"])


@step("update.mode")
async def change_mode(turn: Any) -> None:
    await turn.update({"sessionUpdate": "current_mode_update", "currentModeId": "code"})


@step("update.options")
async def change_option(turn: Any) -> None:
    turn.kept.options["model"] = "large"
    await turn.update({"sessionUpdate": "config_option_update", "configOptions": turn.kept.listed})


@step("meta.prompt")
async def meta(turn: Any) -> None:
    await turn.message(f"trace {turn.meta.get('libacp.dev/trace')}")


@step("big.prompt-1m", "big.prompt-8m")
async def big_prompt(turn: Any) -> None:
    text = turn.blocks[1]["text"]
    await turn.message(f"{len(text)} {'the same' if text == '0123456789' * (len(text) // 10) else 'different'}")
