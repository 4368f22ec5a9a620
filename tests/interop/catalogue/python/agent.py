"""The agent of the catalogue on `libacp.aio`: ``python agent.py --version 1|2 [--login]``.

A prompt whose first text is `step: ID` plays the turn of that step; `../steps.json` says what its client has to see.
"""

from __future__ import annotations

import asyncio
import os
import sys
from typing import Any, Dict, List, Set

import libacp
from libacp import aio
from turns import CHOICES, FORM, PLAYED, TITLES, TRACE, State, step

VERSION = int(sys.argv[sys.argv.index("--version") + 1])
LOGIN = "--login" in sys.argv

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


class Kept(State):
    """A session, whether it is open or not."""

    def __init__(self, session: aio.AgentSession) -> None:
        super().__init__()
        self.info = {"sessionId": session.id, "cwd": session.cwd}


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
    return session.data.opened


def find(session: aio.AgentSession) -> Kept:
    if session.id not in kept:
        raise aio.RequestError(libacp.ErrorCode.RESOURCE_NOT_FOUND, "There is no such session", {"sessionId": session.id})
    session.data = kept[session.id]
    return kept[session.id]


@agent.load_session
async def load(session: aio.AgentSession) -> Any:
    for update in find(session).history:
        await session.update(update)
    return session.data.opened


@agent.resume_session
async def resume(session: aio.AgentSession) -> Any:
    return find(session).opened


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


class Turn:
    """A turn, as those want it that all agents play alike."""

    def __init__(self, turn: aio.Turn) -> None:
        self.own = turn
        self.message, self.thought, self.update = turn.message, turn.thought, turn.update
        self.blocks: List[Any] = list(turn.blocks)
        self.meta, self.cwd, self.session_id = turn.meta, turn.session.cwd, turn.session.id
        self.further, self.kept, self.client_name = turn.session.roots[1:], turn.session.data, turn.client.info["name"]


@agent.prompt
async def prompt(turn: aio.Turn) -> Any:
    played = Turn(turn)
    for block in played.blocks:
        if block["type"] == "text":
            played.kept.remember("user_message", block)
    return await PLAYED[played.blocks[0]["text"].partition("step: ")[2]](played)


@step("update.plan")
async def plan(turn: Turn) -> None:
    for status in ("in_progress", "completed"):
        await turn.own.plan([{"content": "look", "priority": "high", "status": status}, "answer"])


@step("update.tool_call")
async def tool_call(turn: Turn) -> None:
    place = os.path.join(turn.cwd, "notes.txt")
    begin: Any = {"kind": "search", "status": "pending", "locations": [place], "raw_input": {"deep": True}}
    async with turn.own.tool_call("Look around", **begin) as call:
        await call.update(status="in_progress")
        await call.text("found it")
        await call.complete(raw_output={"found": 1})


@step("update.tool_call.failed")
async def failing_call(turn: Turn) -> None:
    async with turn.own.tool_call("Try") as call:
        await call.fail("It broke.")
    await turn.message("Never mind.")


@step("update.diff")
async def diff(turn: Turn) -> None:
    async with turn.own.tool_call("Edit notes.txt", kind="edit") as call:
        await call.diff(os.path.join(turn.cwd, "notes.txt"), "one\n2\nthree\n", "one\ntwo\nthree\n")


@step(*TITLES)
async def permission(turn: Turn) -> None:
    step = turn.own.text.partition("step: ")[2]
    async with turn.own.tool_call(TITLES[step], status="pending") as call:
        allowed = await call.ask_permission(meta=TRACE if step.startswith("meta.") else None)
    await turn.message("allowed" if allowed else "rejected")


@step("cancel-request.agent")
async def give_up(turn: Turn) -> None:
    asked = {"toolCall": {"toolCallId": "wait", "title": "wait"}, "options": CHOICES}
    try:
        await asyncio.wait_for(turn.own.session.request("session/request_permission", asked), 0.02)
    except asyncio.TimeoutError:
        await turn.message("given up")


@step("fs.read", "fs.read-range", "fs.missing")
async def read(turn: Turn) -> None:
    name = "none.txt" if "missing" in turn.own.text else "notes.txt"
    lines = {"line": 2, "limit": 1} if "range" in turn.own.text else {}
    try:
        text = await turn.own.read_text_file(os.path.join(turn.cwd, name), **lines)
        await turn.message(text.rstrip("\n") if lines else text)
    except libacp.PeerError as problem:
        await turn.message(f"error {int(problem.code)}")


@step("fs.write")
async def write(turn: Turn) -> None:
    await turn.own.write_text_file(os.path.join(turn.cwd, "out.txt"), "a\r\nä😀")
    await turn.message("written")


@step("term.run")
async def run(turn: Turn) -> None:
    async with turn.own.terminal("sh", ["-c", 'echo "$GREETING"; exit 3'], env={"GREETING": "hello"}) as terminal:
        status = await terminal.wait()
        printed = await terminal.output()
    await turn.message(f"{printed['output'].strip()} {status.get('exitCode')}")


@step("term.kill")
async def kill(turn: Turn) -> None:
    async with turn.own.terminal("sleep", ["30"]) as terminal:
        await terminal.kill()
        status = await terminal.wait()
    await turn.message("killed" if status.get("signal") else "not killed")


@step("elicit.form", "elicit.decline")
async def elicit(turn: Turn) -> None:
    message = "Which colour?" if "form" in turn.own.text else "Anything else?"
    form = {"mode": "form", "message": message, "requestedSchema": FORM}
    answer = await turn.own.session.request("elicitation/create", form)
    await turn.message(" ".join([answer["action"], *(answer.get("content") or {}).values()]))


@step("elicit.complete")
async def visit(turn: Turn) -> None:
    link = {"mode": "url", "message": "Visit", "url": "https://example.com/visit", "elicitationId": "visit"}
    answer = await turn.own.session.request("elicitation/create", link)
    await turn.own.client.notify("elicitation/complete", {"elicitationId": "visit"})
    await turn.message(answer["action"])


@step("ext.client")
async def ask_echo(turn: Turn) -> None:
    await turn.message(f"echo {(await turn.own.client.request('_libacp.dev/echo', {'value': 42}))['value']}")


@step("error.handler")
async def fail(turn: Turn) -> None:
    raise aio.RequestError(-32042, "No such thing", {"thing": "x"})


@step("view.same")
async def everything(turn: Turn) -> None:
    await turn.thought("Hm.")
    await turn.message("First.")
    async with turn.own.tool_call("Look") as call:
        await call.text("found")
    await turn.message("Second.")


if __name__ == "__main__":
    agent.run()
