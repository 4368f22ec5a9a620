"""The agent of the catalogue on `libacp.aio`: ``python agent.py --version 1|2 [--login]``.

A prompt whose first text is `step: ID` plays the turn of that step; `../steps.json` says what its client has to see.
"""

from __future__ import annotations

import asyncio
import base64
import os
import sys
from typing import Any, Awaitable, Callable, Dict, List, Optional, Set

import libacp
from libacp import aio

VERSION = int(sys.argv[sys.argv.index("--version") + 1])
LOGIN = "--login" in sys.argv
DIGITS = "0123456789" * 100_000
COLOURS = {"type": "string", "oneOf": [{"const": each, "title": each} for each in ("red", "blue")]}
FORM = {"type": "object", "properties": {"colour": COLOURS}, "required": ["colour"]}

agent = aio.Agent(
    "catalogue",
    "1.0",
    auth_methods=[{"id": "key", "name": "Key"}] if LOGIN else [],
    capabilities={
        "promptCapabilities": {"image": True, "embeddedContext": True},
        "sessionCapabilities": {"additionalDirectories": {}},
    },
    versions=[VERSION],
)
# Clients that have logged in; how many requests were given up.
users: Set[aio.ClientPeer] = set()
given_up = 0


class Kept:
    """A session, whether it is open or not."""

    def __init__(self, session: aio.AgentSession) -> None:
        self.info = {"sessionId": session.id, "cwd": session.cwd}
        self.mode = "ask"
        self.options: Dict[str, Any] = {"model": "small", "web": False}
        self.history: List[Any] = []

    def opened(self, client: aio.ClientPeer) -> Dict[str, Any]:
        modes = [{"id": each, "name": each.title()} for each in ("ask", "code")]
        return {"modes": {"currentModeId": self.mode, "availableModes": modes}, "configOptions": self.listed}

    @property
    def listed(self) -> List[Any]:
        models = [{"value": each, "name": each.title()} for each in ("small", "large")]
        return [
            {"type": "select", "id": "model", "name": "Model", "currentValue": self.options["model"], "options": models},
            {"type": "boolean", "id": "web", "name": "Search the web", "currentValue": self.options["web"]},
        ]


kept: Dict[str, Kept] = {}


@agent.on("authenticate")
async def authenticate(client: aio.ClientPeer, params: Any) -> None:
    users.add(client)


@agent.on("logout")
async def logout(client: aio.ClientPeer, params: Any) -> None:
    users.discard(client)


@agent.new_session
async def new(session: aio.AgentSession) -> Any:
    if LOGIN and session.client not in users:
        raise aio.RequestError(libacp.ErrorCode.AUTH_REQUIRED, "Log in first")
    session.data = kept[session.id] = Kept(session)
    return session.data.opened(session.client)


def find(session: aio.AgentSession) -> Kept:
    if session.id not in kept:
        raise aio.RequestError(libacp.ErrorCode.RESOURCE_NOT_FOUND, "There is no such session", {"sessionId": session.id})
    session.data = kept[session.id]
    return kept[session.id]


@agent.load_session
async def load(session: aio.AgentSession) -> Any:
    for update in find(session).history:
        await session.update(update)
    return session.data.opened(session.client)


@agent.resume_session
async def resume(session: aio.AgentSession) -> Any:
    return find(session).opened(session.client)


@agent.on("session/list")
async def list_sessions(client: aio.ClientPeer, params: Any) -> Any:
    cwd = params.get("cwd")
    return {"sessions": [each.info for each in kept.values() if cwd in (None, each.info["cwd"])]}


@agent.on("session/delete")
async def delete(session: aio.AgentSession, params: Any) -> None:
    kept.pop(session.id, None)


@agent.on("session/set_mode")
async def set_mode(session: aio.AgentSession, params: Any) -> None:
    session.data.mode = params["modeId"]
    await session.update({"sessionUpdate": "current_mode_update", "currentModeId": params["modeId"]})


@agent.on("session/set_config_option")
async def set_option(session: aio.AgentSession, params: Any) -> Any:
    session.data.options[params["configId"]] = params["value"]
    return {"configOptions": session.data.listed}


@agent.on_extension("_libacp.dev/echo")
async def echo(client: aio.ClientPeer, params: object) -> object:
    return params


@agent.on_extension("_libacp.dev/note")
async def note(client: aio.ClientPeer, params: Any) -> None:
    await client.notify("_libacp.dev/noted", params)


@agent.on_extension("_libacp.dev/wait")
async def wait(client: aio.ClientPeer, params: Any) -> None:
    global given_up
    await client.notify("_libacp.dev/noted", {"note": "waiting"})
    try:
        await asyncio.Event().wait()
    finally:
        given_up += 1


@agent.on_extension("_libacp.dev/given-up")
async def count(client: aio.ClientPeer, params: Any) -> Any:
    return {"count": given_up}


TURNS: Dict[str, Callable[[aio.Turn], Awaitable[Optional[str]]]] = {}


def step(*ids: str) -> Callable[[Any], Any]:
    def register(turn: Any) -> Any:
        TURNS.update(dict.fromkeys(ids, turn))
        return turn

    return register


@agent.prompt
async def prompt(turn: aio.Turn) -> Any:
    turn.session.data.history += [
        {"sessionUpdate": "user_message_chunk", "content": block} for block in turn.blocks if block["type"] == "text"
    ]
    return await TURNS[turn.blocks[0]["text"].partition("step: ")[2]](turn)  # type: ignore[typeddict-item]


@step("init.client")
async def client_name(turn: aio.Turn) -> None:
    await turn.message(f"client {turn.client.info['name']}")


@step("session.load.replay", "session.resume", "session.delete")
async def remember(turn: aio.Turn) -> None:
    await turn.message("Remembered.")
    said = {"type": "text", "text": "Remembered."}
    turn.session.data.history.append({"sessionUpdate": "agent_message_chunk", "content": said})


@step("session.close", "cancel.prompt")
async def wait_to_be_cancelled(turn: aio.Turn) -> None:
    await turn.message("Waiting.")
    await asyncio.Event().wait()


@step("session.multi")
async def count_up(turn: aio.Turn) -> None:
    for number in range(20):
        await turn.message(f"{turn.session.id} {number};")
        await asyncio.sleep(0.001)


@step("session.folders")
async def folders(turn: aio.Turn) -> None:
    await turn.message(" ".join(turn.session.roots[1:]))


@step("prompt.stream")
async def stream(turn: aio.Turn) -> None:
    for number in range(10):
        await turn.message(f"{number} ", message_id="stream")
    await turn.message('ä😀\u2028\x01"\\.', message_id="stream")


@step("prompt.image", "prompt.resource", "prompt.link")
async def show_block(turn: aio.Turn) -> None:
    block: Any = turn.blocks[1]
    shown = {
        "image": lambda: [block["mimeType"], block["data"]],
        "resource": lambda: [block["resource"]["uri"], block["resource"]["text"]],
        "resource_link": lambda: [block["uri"], block["name"]],
    }
    await turn.message(" ".join([block["type"], *shown[block["type"]]()]))


@step("update.thought")
async def think(turn: aio.Turn) -> None:
    await turn.thought("Let me ")
    await turn.thought("see.")
    await turn.message("Seen.")


@step("update.plan")
async def plan(turn: aio.Turn) -> None:
    for status in ("in_progress", "completed"):
        await turn.plan([{"content": "look", "priority": "high", "status": status}, "answer"])


@step("update.tool_call")
async def tool_call(turn: aio.Turn) -> None:
    place = os.path.join(turn.session.cwd, "notes.txt")
    begin: Any = {"kind": "search", "status": "pending", "locations": [place], "raw_input": {"deep": True}}
    async with turn.tool_call("Look around", **begin) as call:
        await call.update(status="in_progress")
        await call.text("found it")
        await call.complete(raw_output={"found": 1})


@step("update.tool_call.failed")
async def failing_call(turn: aio.Turn) -> None:
    async with turn.tool_call("Try") as call:
        await call.fail("It broke.")
    await turn.message("Never mind.")


@step("update.diff")
async def diff(turn: aio.Turn) -> None:
    async with turn.tool_call("Edit notes.txt", kind="edit") as call:
        await call.diff(os.path.join(turn.session.cwd, "notes.txt"), "one\n2\nthree\n", "one\ntwo\nthree\n")


@step("update.commands", "update.mode", "update.options", "update.usage", "update.title")
async def tell(turn: aio.Turn) -> None:
    commands = [{"name": "wait", "description": "Wait"}, {"name": "tour", "description": "Tour", "input": {"hint": "where to"}}]
    turn.session.data.options["model"] = "large"
    updates: Dict[str, Any] = {
        "commands": {"sessionUpdate": "available_commands_update", "availableCommands": commands},
        "mode": {"sessionUpdate": "current_mode_update", "currentModeId": "code"},
        "options": {"sessionUpdate": "config_option_update", "configOptions": turn.session.data.listed},
        "usage": {"sessionUpdate": "usage_update", "used": 1000, "size": 200000, "cost": {"amount": 0.25, "currency": "EUR"}},
        "title": {"sessionUpdate": "session_info_update", "title": "A walk"},
    }
    await turn.update(updates[turn.text.partition("update.")[2]])


@step("update.unknown")
async def unknown(turn: aio.Turn) -> None:
    weather: Any = {"sessionUpdate": "_libacp.dev/weather", "sky": "blue"}
    await turn.update(weather)
    await turn.message("Nice.")


@step("stop.end_turn", "stop.max_tokens", "stop.max_turn_requests", "stop.refusal")
async def stop(turn: aio.Turn) -> str:
    return turn.text.partition("stop.")[2]


@step("mode.set", "config.select", "config.boolean")
async def settings(turn: aio.Turn) -> None:
    data = turn.session.data
    await turn.message(f"{data.mode} {data.options['model']} {str(data.options['web']).lower()}")


@step("perm.selected", "perm.rejected", "perm.cancelled")
async def permission(turn: aio.Turn) -> None:
    title = {"selected": "allow", "rejected": "reject", "cancelled": "wait"}[turn.text.partition("perm.")[2]]
    async with turn.tool_call(title, status="pending") as call:
        allowed = await call.ask_permission()
    await turn.message("allowed" if allowed else "rejected")


@step("fs.read", "fs.read-range", "fs.missing")
async def read(turn: aio.Turn) -> None:
    name = "none.txt" if "missing" in turn.text else "notes.txt"
    lines = {"line": 2, "limit": 1} if "range" in turn.text else {}
    try:
        text = await turn.read_text_file(os.path.join(turn.session.cwd, name), **lines)
        await turn.message(text.rstrip("\n") if lines else text)
    except libacp.PeerError as problem:
        await turn.message(f"error {int(problem.code)}")


@step("fs.write")
async def write(turn: aio.Turn) -> None:
    await turn.write_text_file(os.path.join(turn.session.cwd, "out.txt"), "a\r\nä😀")
    await turn.message("written")


@step("term.run")
async def run(turn: aio.Turn) -> None:
    async with turn.terminal("sh", ["-c", 'echo "$GREETING"; exit 3'], env={"GREETING": "hello"}) as terminal:
        status = await terminal.wait()
        printed = await terminal.output()
    await turn.message(f"{printed['output'].strip()} {status.get('exitCode')}")


@step("term.kill")
async def kill(turn: aio.Turn) -> None:
    async with turn.terminal("sleep", ["30"]) as terminal:
        await terminal.kill()
        status = await terminal.wait()
    await turn.message("killed" if status.get("signal") else "not killed")


@step("term.display")
async def display(turn: aio.Turn) -> None:
    about = {"terminalId": "shown"}
    updates: List[Any] = [{"sessionUpdate": "terminal_update", **about, "command": "make", "cwd": turn.session.cwd}]
    for line in (b"line one\nline", b" two\n"):
        data = base64.b64encode(line).decode()
        updates.append({"sessionUpdate": "terminal_output_chunk", **about, "data": data})
    for update in [*updates, {"sessionUpdate": "terminal_update", **about, "exitStatus": {"exitCode": 0}}]:
        await turn.update(update)


@step("elicit.form", "elicit.decline")
async def elicit(turn: aio.Turn) -> None:
    message = "Which colour?" if "form" in turn.text else "Anything else?"
    form = {"mode": "form", "message": message, "requestedSchema": FORM}
    answer = await turn.session.request("elicitation/create", form)
    await turn.message(" ".join([answer["action"], *(answer.get("content") or {}).values()]))


@step("ext.client")
async def ask_echo(turn: aio.Turn) -> None:
    await turn.message(f"echo {(await turn.client.request('_libacp.dev/echo', {'value': 42}))['value']}")


@step("meta.prompt")
async def meta(turn: aio.Turn) -> None:
    await turn.message(f"trace {turn.meta.get('libacp.dev/trace')}")


@step("error.handler")
async def fail(turn: aio.Turn) -> None:
    raise aio.RequestError(-32042, "No such thing", {"thing": "x"})


@step("big.update-1m")
async def big_update(turn: aio.Turn) -> None:
    await turn.message(DIGITS)


@step("big.prompt-1m")
async def big_prompt(turn: aio.Turn) -> None:
    text = turn.blocks[1]["text"]  # type: ignore[typeddict-item]
    await turn.message(f"{len(text)} {'the same' if text == DIGITS else 'different'}")


@step("view.same")
async def everything(turn: aio.Turn) -> None:
    await turn.thought("Hm.")
    await turn.message("First.")
    async with turn.tool_call("Look") as call:
        await call.text("found")
    await turn.message("Second.")


if __name__ == "__main__":
    agent.run()
