"""The client of the remote script on this project's Python module: ``client.py ADDRESS WAY``."""

import asyncio
import contextlib
from typing import Any, AsyncIterator, List, Tuple

import steps

import libacp
from libacp import aio

Found = Tuple[Any, Any]


def report(violation: libacp.Violation) -> None:
    steps.tell(violation=violation.rule, message=violation.message)


def happened(event: Any) -> None:
    if event["event"] == "violation":
        steps.tell(violation=event["rule"], message=event["message"])


class Client:
    def __init__(self, address: str, way: str) -> None:
        self.address, self.http2 = address, way == "http2"

    def connect(self) -> Any:
        client = aio.Client("client", "1", permission=aio.allow_all, on_violation=report)
        return aio.connect(self.address, client, on_transport=happened, http2=self.http2, reconnect=False)

    @contextlib.asynccontextmanager
    async def connected(self) -> AsyncIterator[aio.AgentPeer]:
        connection = self.connect()

        async def enter() -> Found:
            agent = await connection.__aenter__()
            return agent.version, agent

        agent = await steps.step("initialize", enter)
        if agent is None:
            raise SystemExit(0)
        try:
            yield agent
        finally:
            await connection.__aexit__(None, None, None)

    async def new(self, agent: aio.AgentPeer) -> Found:
        session = await agent.new_session("/tmp")
        return session.id != "", session

    async def prompt(self, agent: aio.AgentPeer, session: aio.ClientSession, text: str) -> Found:
        turn = session.prompt(text)
        return [await turn.read_text(), str(turn.stop_reason)], None

    async def cancelled(self, agent: aio.AgentPeer, session: aio.ClientSession) -> Found:
        turn = session.prompt("wait")
        async for update in turn:
            if update["sessionUpdate"] == "agent_message_chunk":
                await turn.cancel()
        return str(turn.stop_reason), None

    async def load(self, session: aio.ClientSession) -> Found:
        async with self.connect() as agent:
            loading = agent.load_session(session.id, "/tmp")
            told: List[str] = [update["content"]["text"] async for update in loading]
            return [*told, await (await loading).prompt("more").read_text()], None

    async def second(self, agent: aio.AgentPeer, session: aio.ClientSession) -> Found:
        second = await agent.new_session("/tmp")
        return [second.id != session.id, await second.prompt("again").read_text()], second

    async def delete(self, agent: aio.AgentPeer, session: aio.ClientSession, second: aio.ClientSession) -> Found:
        had = await session.prompt(f"has {second.id}").read_text()
        await agent.delete_session(second.id)
        return [had, await session.prompt(f"has {second.id}").read_text()], None


asyncio.run(steps.play(Client(*steps.arguments())))
