"""The agent of the remote script on this project's Python module, as its ASGI application `app`."""

import asyncio
import json
from typing import Any, Dict, List

import libacp.http
from libacp import aio

HISTORY: Dict[str, List[str]] = {}


def report(rule: str, message: str) -> None:
    print(json.dumps({"violation": rule, "message": message}), flush=True)


agent = aio.Agent("agent", "1", on_violation=lambda broken: report(broken.rule, broken.message))


@agent.new_session
async def new(session: aio.AgentSession) -> None:
    HISTORY[session.id] = []


@agent.load_session
async def load(session: aio.AgentSession) -> None:
    if session.id not in HISTORY:
        raise aio.RequestError(-32002, "There is no such session")
    for text in HISTORY[session.id]:
        await session.update({"sessionUpdate": "user_message_chunk", "content": {"type": "text", "text": text}})


@agent.on("session/delete")
async def delete(peer: Any, params: Any) -> None:
    HISTORY.pop(getattr(peer, "id", params.get("sessionId")), None)


@agent.prompt
async def answer(turn: aio.Turn) -> None:
    if turn.text.startswith("has "):
        await turn.message("yes" if turn.text[4:] in HISTORY else "no")
        return
    HISTORY[turn.session.id].append(turn.text)
    if turn.text == "ask":
        async with turn.tool_call("Look", kind="read") as call:
            permission = await call.ask_permission()
        await turn.message("allowed" if permission.allowed else "refused")
    elif turn.text == "wait":
        await turn.message("waiting")
        await asyncio.sleep(60)
    else:
        await turn.message(turn.text)


app = libacp.http.asgi(agent, on_report=lambda broken: report(broken["rule"], broken["message"]))
