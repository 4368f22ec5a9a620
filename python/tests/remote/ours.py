"""The agent of the script, as an ASGI application of this package.

Its prompts: ``ask`` asks for permission, ``wait`` waits until it is cancelled, ``flood N`` sends N updates of a kilobyte,
``sleep`` waits for two seconds; any other text is said again. It keeps what was said, for `session/load`.
"""

import asyncio
import os
from typing import Any, Dict, List

import libacp.http
from libacp import aio

HISTORY: Dict[str, List[str]] = {}
# What each instance was asked, for tests in the same process.
SEEN: List[str] = []


def make() -> aio.Agent:
    agent = aio.Agent("ours", "1", versions=(1, 2))

    @agent.new_session
    async def new(session: aio.AgentSession) -> None:
        pass

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
        SEEN.append(turn.text)
        HISTORY.setdefault(turn.session.id, []).append(turn.text)
        kind, _, rest = turn.text.partition(" ")
        if kind == "ask":
            async with turn.tool_call("Look", kind="read") as call:
                permission = await call.ask_permission()
            await turn.message("allowed" if permission.allowed else "refused")
        elif kind == "wait":
            await turn.message("waiting")
            await asyncio.sleep(60)
        elif kind == "sleep":
            await turn.message("sleeping")
            await asyncio.sleep(2)
            await turn.message("awake")
        elif kind == "flood":
            for number in range(int(rest)):
                await turn.message(f"{number} ".ljust(1024, "x"))
        else:
            await turn.message(turn.text)

    return agent


TOKEN = os.environ.get("LIBACP_TEST_TOKEN")
app = libacp.http.asgi(make, token=TOKEN)
narrow = libacp.http.asgi(make, limits={"body": 4000})


def fail() -> aio.Agent:
    raise OSError("no such file: /secret")


async def refuse() -> aio.Agent:
    raise aio.RequestError(libacp.ErrorCode.INTERNAL_ERROR, "All agents are busy")


failing, refusing = libacp.http.asgi(fail), libacp.http.asgi(refuse)
