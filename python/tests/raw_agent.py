"""An agent that writes its own lines, in the event loop of its client."""

import asyncio
import json
from contextlib import asynccontextmanager
from typing import Any, AsyncIterator, Dict, List, Optional, Tuple

from aio_pair import streams
from libacp import aio

SECONDS = 60.0
CAPABILITIES = {"loadSession": True, "sessionCapabilities": {"close": {}, "resume": {}}}


class RawAgent:
    """What it sends, and what it gets."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer
        self.seen: List[Any] = []

    def send(self, *messages: Dict[str, Any]) -> None:
        """Writes messages, all at once."""
        self.writer.write(b"".join(json.dumps({"jsonrpc": "2.0", **each}).encode() + b"\n" for each in messages))

    async def next(self) -> Any:
        """The next message; nothing at the end."""
        line = await asyncio.wait_for(self.reader.readline(), SECONDS)
        message = json.loads(line) if line else None
        self.seen.append(message)
        return message

    async def until(self, method: str) -> Any:
        """The id of the client's next request of a method."""
        while True:
            message = await self.next()
            if message["method"] == method:
                return message["id"]

    async def answer(self, method: str, result: Any) -> None:
        """Answers the client's next request of a method."""
        self.send({"id": await self.until(method), "result": result})

    async def answers(self, *ids: Any) -> Dict[Any, Any]:
        """The client's answers to these requests."""
        found: Dict[Any, Any] = {}
        while set(found) != set(ids):
            message = await self.next()
            if "method" not in message:
                assert message["id"] not in found, f"answered twice: {message}"
                found[message["id"]] = message
        return found


@asynccontextmanager
async def raw_agent(client: aio.Client, grace: float = 0.5) -> AsyncIterator[Tuple[aio.AgentPeer, RawAgent]]:
    """A client, as it sees the agent, and the agent."""
    ours, theirs = await streams()
    agent = RawAgent(*theirs)
    greeting = asyncio.ensure_future(
        agent.answer("initialize", {"protocolVersion": 1, "agentCapabilities": CAPABILITIES})
    )
    try:
        async with aio.connect(*ours, client, grace=grace) as peer:
            await greeting
            yield peer, agent
    finally:
        agent.writer.close()


async def opened(peer: aio.AgentPeer, agent: RawAgent, cwd: str = "/", id: str = "s") -> aio.ClientSession:
    """A session."""
    asking = asyncio.ensure_future(peer.new_session(cwd))
    await agent.answer("session/new", {"sessionId": id})
    return await asking


def create(id: Any, mark: str, session: str = "s", cwd: Optional[str] = None) -> Dict[str, Any]:
    """The request to run a command and a child in its group, both of which sleep."""
    params = {"sessionId": session, "command": "sh", "args": ["-c", f"sleep {mark} & exec sleep {mark}"]}
    return {"id": id, "method": "terminal/create", "params": params if cwd is None else {**params, "cwd": cwd}}
