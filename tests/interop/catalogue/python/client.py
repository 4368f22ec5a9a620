"""The client of the catalogue on `libacp.aio`:
``python client.py --steps FILE --version 1|2 --work DIR -- AGENT ARGUMENT ...``.

It takes an agent through the steps of `../steps.json` and prints a line for each. A step with `see` is a prompt in a
session of its own, after which the view has to show that; what else there is to do has a function here.
"""

from __future__ import annotations

import asyncio
import os
from typing import Any, Awaitable, Callable, Dict, List, Mapping, Optional

import libacp
from checks import NotOffered, Wrong, check_written, command_line, fill, play_all, same
from libacp import aio
from seen import seen

CAPABILITIES: Any = {
    "loadSession": True,
    "promptCapabilities": {"image": True, "embeddedContext": True},
    "sessionCapabilities": {"list": {}, "resume": {}, "close": {}, "delete": {}, "additionalDirectories": {}},
}


# Bytes of a message that views keep: that of the largest step.
LARGE = 16 * 1024 * 1024


class Lab:
    """An agent, and where the steps are played."""

    def __init__(self, argv: List[str], version: int, work: str) -> None:
        self.argv = argv
        self.version = version
        self.work = work
        self.agent: aio.AgentPeer = None  # type: ignore[assignment]
        self.guarded: Optional[aio.AgentPeer] = None
        self.noted: "asyncio.Queue[Any]" = asyncio.Queue()
        self.asked = asyncio.Event()
        self.completed: List[str] = []
        client = self.client = aio.Client(
            "catalogue",
            "1.0",
            permission=self.permit,
            files=aio.Files(),
            terminals=aio.Terminals(),
            capabilities={"elicitation": {"form": {}, "url": {}}, "session": {"configOptions": {"boolean": {}}}},
            view=True,
            limits=libacp.Limits(view_content=LARGE, view_bytes=4 * LARGE),
            versions=[version],
        )
        client.on("elicitation/create")(self.elicit)
        client.on("elicitation/complete")(self.complete)
        client.on_extension("_libacp.dev/echo")(self.echo)
        client.on_extension("_libacp.dev/noted")(self.note)

    async def permit(self, request: aio.PermissionRequest) -> Optional[str]:
        self.asked.set()
        if request.title == "wait":
            await asyncio.Event().wait()
        traced = request.title == "meta" and request.meta.get("libacp.dev/trace") == "abc"
        return request.allow() if request.title == "allow" or traced else request.reject()

    async def complete(self, agent: aio.AgentPeer, params: Any) -> None:
        self.completed.append(params["elicitationId"])

    async def elicit(self, session: Any, params: Any) -> Any:
        if params["mode"] == "url":
            return {"action": "accept"}
        return {"action": "accept", "content": {"colour": "blue"}} if params["message"] == "Which colour?" else {"action": "decline"}

    async def echo(self, agent: aio.AgentPeer, params: object) -> object:
        return params

    async def note(self, agent: aio.AgentPeer, params: Any) -> None:
        self.noted.put_nowait(params)

    async def note_says(self, expected: str) -> None:
        note = await self.noted.get()
        if note["note"].startswith("not offered: "):
            raise NotOffered(note["note"].partition(": ")[2])
        same("note", {"note": expected}, note)

    async def session(self, **how: Any) -> aio.ClientSession:
        return await self.agent.new_session(self.work, **how)

    async def see(self, step: Mapping[str, Any]) -> None:
        """Plays the turn of a step in a new session, and looks at what is shown afterwards."""
        session = await self.session()
        turn = session.prompt([f"step: {step['id']}", *fill(step.get("with", []), self.work)], meta={"libacp.dev/trace": "abc"})
        result = await turn
        shown = {**seen(session.view), "completed": self.completed}
        # Prompts end as version 1 says it, which knows no others.
        same("stop reason", "end_turn" if step["id"] == "enum.stop" else shown["stop"], result["stopReason"])
        if shown["text"].startswith("not offered: "):
            raise NotOffered(shown["text"].partition(": ")[2])
        same("", fill(step["see"], self.work), shown)
        same("open questions", 0, len(session.view.questions))
        check_written(step, self.work)

    async def says(self, session: aio.ClientSession, id: str, expected: str) -> None:
        """Plays the turn of a step, and looks at the text that has come with it."""
        before = len(seen(session.view)["text"])
        await session.prompt(f"step: {id}")
        same("text", expected, seen(session.view)["text"][before:])


async def refused(what: str, code: int, call: Awaitable[object]) -> None:
    try:
        await call
    except libacp.PeerError as problem:
        same(f"code of {what}", code, int(problem.code))
    else:
        raise Wrong(f"{what}: expected the error {code}, got a result")


STEPS: Dict[str, Callable[[Lab, Mapping[str, Any]], Awaitable[Any]]] = {}


def step(id: str) -> Callable[[Any], Any]:
    return lambda function: STEPS.setdefault(id, function)


@step("auth.login")
async def login(lab: Lab, step: Mapping[str, Any]) -> None:
    agent = lab.guarded = await aio.spawn_agent([*lab.argv, "--login"], lab.client)
    same("ways", ["key"], [method["id"] for method in agent.auth_methods])
    await refused("session/new", -32000, agent.new_session(lab.work))
    await agent.authenticate("key")
    await agent.new_session(lab.work)


@step("auth.logout")
async def logout(lab: Lab, step: Mapping[str, Any]) -> None:
    agent, lab.guarded = lab.guarded, None
    if agent is None:
        raise Wrong("nobody is logged in")
    await agent.logout()
    await refused("session/new", -32000, agent.new_session(lab.work))
    await agent.close()


@step("auth.none")
async def without_login(lab: Lab, step: Mapping[str, Any]) -> None:
    lab.agent = await aio.spawn_agent(lab.argv, lab.client)
    same("ways", [], [method["id"] for method in lab.agent.auth_methods])
    await lab.session()


@step("init.version")
async def version(lab: Lab, step: Mapping[str, Any]) -> None:
    same("version", lab.version, lab.agent.connection.version)


@step("init.info")
async def info(lab: Lab, step: Mapping[str, Any]) -> None:
    same("info", {"name": "catalogue", "version": "1.0"}, lab.agent.info)


@step("init.capabilities")
async def capabilities(lab: Lab, step: Mapping[str, Any]) -> None:
    same("capabilities", CAPABILITIES, lab.agent.capabilities)


@step("session.new")
async def new(lab: Lab, step: Mapping[str, Any]) -> None:
    one, other = await lab.session(), await lab.session()
    if not one.id or one.id == other.id:
        raise Wrong(f"ids: expected two, got {one.id!r} and {other.id!r}")
    same("", {"mode": "ask", "options": {"model": "small", "web": False}}, seen(one.view))


@step("session.list")
async def list_sessions(lab: Lab, step: Mapping[str, Any]) -> None:
    folder = os.path.join(lab.work, "listed")
    one, other = await lab.agent.new_session(folder), await lab.session()
    found = {each["sessionId"]: each["cwd"] async for each in lab.agent.list_sessions()}
    same("all sessions", {one.id: folder, other.id: lab.work}, found)
    same("sessions of a folder", [one.id], [each["sessionId"] async for each in lab.agent.list_sessions(folder)])


async def remembered(lab: Lab) -> aio.ClientSession:
    session = await lab.session()
    await lab.says(session, "session.load.replay", "Remembered.")
    return session


@step("session.load.replay")
async def load(lab: Lab, step: Mapping[str, Any]) -> None:
    session = await remembered(lab)
    before = seen(session.view)
    await session.close()
    again = await lab.agent.load_session(session.id, lab.work)
    same("", step["see"], seen(again.view))
    same("before", before["transcript"], seen(again.view)["transcript"])
    await lab.says(again, "session.load.replay", "Remembered.")


@step("session.load.unknown")
async def load_unknown(lab: Lab, step: Mapping[str, Any]) -> None:
    await refused("session/load", -32002, lab.agent.load_session("nobody", lab.work))


@step("session.resume")
async def resume(lab: Lab, step: Mapping[str, Any]) -> None:
    session = await remembered(lab)
    await session.close()
    again = await lab.agent.resume_session(session.id, lab.work)
    same("options", "small", {each["id"]: each["currentValue"] for each in again.result["configOptions"]}["model"])
    await lab.says(again, "session.resume", "Remembered.")


@step("session.close")
async def close(lab: Lab, step: Mapping[str, Any]) -> None:
    session = await lab.session()
    turn = session.prompt("step: session.close")
    async for _ in turn:
        await session.close()
    same("stop reason", "cancelled", turn.stop_reason)


@step("session.delete")
async def delete(lab: Lab, step: Mapping[str, Any]) -> None:
    session = await remembered(lab)
    await session.close()
    await lab.agent.delete_session(session.id)
    if session.id in [each["sessionId"] async for each in lab.agent.list_sessions()]:
        raise Wrong("the session is still listed")


@step("session.multi")
async def several(lab: Lab, step: Mapping[str, Any]) -> None:
    sessions = [await lab.session() for _ in range(2)]
    await asyncio.gather(*[
        lab.says(each, "session.multi", "".join(f"{each.id} {number};" for number in range(20))) for each in sessions
    ])  # fmt: skip


@step("session.folders")
async def folders(lab: Lab, step: Mapping[str, Any]) -> None:
    further = os.path.join(lab.work, "listed")
    await lab.says(await lab.session(additional_directories=[further]), "session.folders", further)


@step("mode.set")
async def mode(lab: Lab, step: Mapping[str, Any]) -> None:
    session = await lab.session()
    await session.set_mode("code")
    same("mode", "code", seen(session.view)["mode"])
    await lab.says(session, "mode.set", "code small false")


@step("config.select")
async def select(lab: Lab, step: Mapping[str, Any]) -> None:
    await configure(lab, step["id"], "model", "large", "ask large false")


@step("config.boolean")
async def switch(lab: Lab, step: Mapping[str, Any]) -> None:
    await configure(lab, step["id"], "web", True, "ask small true")


@step("config.grouped")
async def grouped(lab: Lab, step: Mapping[str, Any]) -> None:
    await configure(lab, step["id"], "style", "haiku", "haiku")


async def configure(lab: Lab, step: str, id: str, value: Any, expected: str) -> None:
    session = await lab.session()
    options = await session.set_config_option(id, value)
    same("options", value, {each["id"]: each["currentValue"] for each in options}[id])
    same("view", value, seen(session.view)["options"][id])
    await lab.says(session, step, expected)


@step("perm.cancelled")
async def permission(lab: Lab, step: Mapping[str, Any]) -> None:
    session = await lab.session()
    lab.asked.clear()
    turn = asyncio.ensure_future(_run(session.prompt("step: perm.cancelled")))
    await lab.asked.wait()
    same("open questions", 1, len(session.view.questions))
    await session.cancel()
    same("stop reason", "cancelled", (await turn)["stopReason"])
    same("open questions", 0, len(session.view.questions))


async def _run(turn: aio.PromptTurn) -> Any:
    return await turn


@step("cancel.prompt")
async def cancel(lab: Lab, step: Mapping[str, Any]) -> None:
    session = await lab.session()
    turn = session.prompt("step: cancel.prompt")
    async for _ in turn:
        await turn.cancel()
    same("stop reason", "cancelled", turn.stop_reason)
    await lab.says(session, "session.load.replay", "Remembered.")


@step("cancel-request.client")
async def give_up(lab: Lab, step: Mapping[str, Any]) -> None:
    waiting = asyncio.ensure_future(lab.agent.request("_libacp.dev/wait", {}))
    try:
        await lab.note_says("waiting")
    finally:
        waiting.cancel()
    while (await lab.agent.request("_libacp.dev/given-up", {}))["count"] < 1:
        await asyncio.sleep(0.01)


@step("cancel-request.unknown")
async def cancel_nothing(lab: Lab, step: Mapping[str, Any]) -> None:
    try:
        await lab.agent.notify("$/cancel_request", {"requestId": "nobody"})
    except libacp.Misuse as why:
        raise NotOffered(str(why)) from None
    same("echo", {"value": 1}, await lab.agent.request("_libacp.dev/echo", {"value": 1}))


@step("ext.request")
async def echo(lab: Lab, step: Mapping[str, Any]) -> None:
    params = {"value": [1, None, {"a": "ä"}]}
    same("echo", params, await lab.agent.request("_libacp.dev/echo", params))


@step("ext.notification")
async def notify(lab: Lab, step: Mapping[str, Any]) -> None:
    await lab.agent.notify("_libacp.dev/note", {"note": "hello"})
    await lab.note_says("hello")


@step("error.handler")
async def failing(lab: Lab, step: Mapping[str, Any]) -> None:
    session = await lab.session()
    await refused("the prompt", -32042, session.prompt("step: error.handler"))
    await lab.says(session, "session.load.replay", "Remembered.")


@step("error.unknown-method")
async def unknown_method(lab: Lab, step: Mapping[str, Any]) -> None:
    await refused("a method", -32601, lab.agent.request("_libacp.dev/none", {}))


@step("conn.close")
async def close_early(lab: Lab, step: Mapping[str, Any]) -> None:
    agent = await aio.spawn_agent(lab.argv, lab.client)
    waiting = asyncio.ensure_future(agent.request("_libacp.dev/wait", {}))
    try:
        await lab.note_says("waiting")
    finally:
        await agent.close()
    try:
        raise Wrong(f"the request has an answer: {await waiting}")
    except libacp.NoResult:
        same("status", 0, None if agent.process is None else agent.process.returncode)


@step("stdio.eof-exit")
async def leave(lab: Lab, step: Mapping[str, Any]) -> None:
    process = lab.agent.process
    await lab.agent.close()
    same("status", 0, None if process is None else process.returncode)


async def play(lab: Lab, step: Mapping[str, Any]) -> None:
    agent = lab.agent or lab.guarded
    if lab.agent is None and not step["id"].startswith("auth."):
        raise Wrong("there is no agent")
    for need in step.get("needs", ()):
        if agent is not None and ("/" in need or need == "logout") and not agent.can(need):
            raise NotOffered(need)
    await STEPS.get(step["id"], Lab.see)(lab, step)


async def main() -> None:
    options, argv = command_line()
    lab = Lab(argv, int(options["--version"]), options["--work"])
    await play_all(options, lambda step: play(lab, step))
    for agent in (lab.guarded, lab.agent):
        if agent is not None:
            await agent.close()


if __name__ == "__main__":
    asyncio.run(main())
