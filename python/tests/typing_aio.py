# pyright: strict
"""What type checkers must make of agents and clients on ``libacp.aio``. Checked and never run."""

from pathlib import Path
from typing import Any, Dict, List, Optional

import libacp
from libacp import aio
from libacp.types import v1

agent = aio.Agent("typed", "1", capabilities={"promptCapabilities": {"image": True}}, policy="strict", drafts=["nes"])


@agent.prompt
async def answer(turn: aio.Turn) -> Optional[v1.StopReason]:
    await turn.message({"type": "image", "mimeType": "image/png", "data": ""})
    await turn.plan(["one", {"content": "two", "priority": "high", "status": "completed"}])
    async with turn.tool_call("Read", kind="read", locations=["/a", {"path": "/b", "line": 1}]) as call:
        status: v1.ToolCallStatus = call.status
        permission = await turn.ask_permission(call, [{"optionId": "y", "name": "Yes", "kind": "allow_once"}])
        if permission.kind == "allow_once" and permission:
            return "refusal"
    text: str = await turn.read_text_file(Path("/a"), line=1)
    async with turn.terminal("ls", ["-l"], env={"A": "b"}) as terminal:
        output = await terminal.output()
        print(output["output"], output.get("exitStatus"), status, text)
    turn.hold()
    await turn.insert()
    shown: aio.DisplayTerminal = await turn.display_terminal("make", cwd=Path("/a"))
    await shown.write(b"ok")
    await shown.exit(signal="SIGTERM")
    async with turn.tool_call("Build") as build:
        await build.show(shown)
        await build.append({"type": "content", "content": {"type": "text", "text": "ok"}})
        await turn.session.background(build)
        await turn.session.background(shown)
        await build.cancelled()
    plan: aio.Plan = turn.session.plan("tests")
    await plan.set(["one", {"content": "two", "priority": "high", "status": "cancelled"}])
    await plan.remove()
    work = turn.session.work()
    async with work as own:
        await own.message("By itself")
        work.stop_reason = "refusal"
    for block in turn.blocks:
        if block["type"] == "text":
            print(block["text"])
    session: aio.AgentSession = turn.session
    result = await session.client.call("fs/read_text_file", {"sessionId": session.id, "path": "/a"})
    print(result["content"])
    return None


@agent.new_session
async def opened(session: aio.AgentSession) -> v1.NewSessionResponse:
    return {"sessionId": session.id}


@agent.on_cancel_tool
@agent.on_cancel_terminal
async def stop(session: aio.AgentSession, id: str) -> None:
    print(session.id, id)


@agent.on("session/set_mode")
async def set_mode(session: aio.AgentSession, params: v1.SetSessionModeRequest) -> None:
    print(session.id, params["modeId"])


@agent.on("session/set_title")
def set_title(session: aio.AgentSession, params: v1.SetSessionTitleRequest) -> v1.SetSessionTitleResponse:
    return {"title": params["title"]}


@agent.on("session/fork")
async def fork(session: aio.AgentSession, params: v1.ForkSessionRequest) -> Optional[v1.NewSessionResponse]:
    return None


@agent.on_extension("_typed/ping")
async def ping(client: aio.ClientPeer, params: Dict[str, Any]) -> Dict[str, Any]:
    return {"pong": client.capabilities.get("fs", {}).get("readTextFile"), "id": aio.request_id()}


options: List[v1.SessionConfigOption] = [
    {
        "type": "select",
        "id": "model",
        "name": "Model",
        "currentValue": "a",
        "options": [{"value": "a", "name": "A"}, {"value": "b", "name": "B"}],
    }
]


async def decide(request: aio.PermissionRequest) -> Optional[v1.PermissionOption]:
    return next((option for option in request.options if option["kind"] == "allow_once"), None)


def noticed(violation: libacp.Violation) -> None:
    print(violation.rule, violation.pointer)


async def converse() -> None:
    client = aio.Client(permission=decide, files=aio.ReadOnlyFiles(), terminals=aio.Terminals(), versions=(1, 2), on_violation=noticed)
    async with aio.spawn_agent(["agent", "--flag"], client) as peer:
        methods: List[v1.AuthMethod] = peer.auth_methods
        session: aio.ClientSession = await peer.new_session(Path("/"), additional_directories=["/a"])
        turn = session.prompt(["text", {"type": "resource_link", "name": "n", "uri": "file:///n"}])
        async for update in turn:
            if update["sessionUpdate"] == "plan":
                print(update["entries"], methods)
            elif update["sessionUpdate"] == "state_update":
                print(update["state"], turn.message_id, peer.version)
            elif update["sessionUpdate"] == "agent_message_chunk" and update["content"]["type"] == "text":
                print(update["content"]["text"])
        reason: Optional[v1.StopReason] = turn.stop_reason
        response: v1.PromptResponse = await session.prompt("again")
        loaded: aio.ClientSession = await peer.load_session("old", "/")
        async for each in peer.list_sessions():
            print(each["sessionId"], reason, response["stopReason"], loaded)
        listed = await peer.call("session/list", {})
        print(listed["sessions"])
        try:
            await session.set_mode("m")
        except aio.AgentEnded as problem:
            print(problem.returncode)


async def wrong(turn: aio.Turn, peer: aio.AgentPeer, anything: Any) -> None:
    """Each of these is a mistake that a checker must see."""
    await turn.message(5)  # type: ignore[arg-type]
    turn.tool_call("t", kind="reed")  # type: ignore[arg-type]
    await turn.update({"sessionUpdate": "plan"})  # type: ignore[misc, arg-type]
    await peer.call("session/prompt", {})  # type: ignore[call-overload]
    await peer.new_session()  # type: ignore[call-arg]
    aio.Client(files=anything, terminals="none")  # type: ignore[arg-type]
    aio.Agent("a", polisy="strict")  # type: ignore[call-arg]
