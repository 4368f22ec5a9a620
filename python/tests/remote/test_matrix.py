"""Ours and the official Python SDK, as client and as server, over HTTP/1.1, HTTP/2 and WebSocket, through real servers.

The script: initialize, a session, a prompt with a question for permission, a cancelled prompt, the load of the session on
another connection with its replay, a second session, and the deletion of the first. What a peer cannot do is declared in
`CANNOT`, with where that stands; a peer that can after all fails the test.
"""

import asyncio
import contextlib
import unittest
from typing import Any, AsyncIterator, Dict, List, Tuple

import acp
import httpx
from acp import schema, text_block
from acp.http import create_http_stream
from acp.ws import create_websocket_stream
from serving import Served, serving

import libacp
from libacp import aio

SECONDS = 40.0
# What cannot be had: by client, server and transport.
LOAD = "load"
DELETE = "delete"
CANNOT: Dict[Tuple[str, str, str], Dict[str, str]] = {
    ("ours", "official", "http"): {
        LOAD: "acp/http/server.py, AcpServer.handle_post: a session that another connection made is 404",
        DELETE: "acp/interfaces.py, Agent: no session/delete",
    },
    ("ours", "official", "ws"): {DELETE: "acp/interfaces.py, Agent: no session/delete"},
    ("official", "ours", "http"): {
        LOAD: "acp/http/client.py, _handle_incoming: the stream of a session that is loaded is never opened, as the answer to "
        "session/load names no session",
        DELETE: "acp/interfaces.py, Agent: no session/delete",
    },
    ("official", "ours", "ws"): {DELETE: "acp/interfaces.py, Agent: no session/delete"},
}


class Cannot(Exception):
    """A peer cannot do a step."""


class Ours:
    """The client of this package."""

    def __init__(self, url: str, options: Dict[str, Any]) -> None:
        self.url, self.options = url, options

    @contextlib.asynccontextmanager
    async def connected(self) -> "AsyncIterator[Any]":
        client = aio.Client("test", "1", permission=aio.allow_all, on_violation=self.broken.append)
        async with aio.connect(self.url, client, **self.options) as agent:
            yield agent

    broken: List[libacp.Violation] = []

    async def new(self, agent: aio.AgentPeer) -> aio.ClientSession:
        return await agent.new_session("/tmp")

    def name(self, session: aio.ClientSession) -> str:
        return session.id

    async def prompt(self, agent: aio.AgentPeer, session: aio.ClientSession, text: str) -> Tuple[str, str]:
        turn = session.prompt(text)
        return await turn.read_text(), str(turn.stop_reason)

    async def cancelled(self, agent: aio.AgentPeer, session: aio.ClientSession) -> str:
        turn = session.prompt("wait")
        async for update in turn:
            if update["sessionUpdate"] == "agent_message_chunk":
                await turn.cancel()
        return str(turn.stop_reason)

    async def load(self, agent: aio.AgentPeer, name: str) -> List[str]:
        loading = agent.load_session(name, "/tmp")
        try:
            told = [update["content"]["text"] async for update in loading]  # type: ignore[typeddict-item]
        except libacp.PeerError as problem:
            raise Cannot(str(problem)) from problem
        await loading
        return told

    async def delete(self, agent: aio.AgentPeer, name: str) -> None:
        try:
            await agent.delete_session(name)
        except (libacp.CapabilityMisuse, libacp.MethodMisuse) as problem:
            raise Cannot(str(problem)) from problem


class OfficialClient:
    def __init__(self) -> None:
        self.said: Dict[str, List[Tuple[str, str]]] = {}
        self.agent: Any = None
        self.came = asyncio.Event()

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        content = getattr(update, "content", None)
        if getattr(content, "text", None) is not None:
            self.said.setdefault(session_id, []).append((update.session_update, content.text))
            self.came.set()

    async def request_permission(self, options: Any, **_: Any) -> schema.RequestPermissionResponse:
        chosen = schema.AllowedOutcome(outcome="selected", option_id=options[0].option_id)
        return schema.RequestPermissionResponse(outcome=chosen)


class Official:
    """The client of the official SDK."""

    def __init__(self, url: str, options: Dict[str, Any]) -> None:
        self.url, self.options = url, options

    @contextlib.asynccontextmanager
    async def connected(self) -> "AsyncIterator[Any]":
        http = httpx.AsyncClient(http1=False, http2=True, timeout=None) if self.options.get("http2") else None
        if self.url.startswith("ws"):
            transport = await create_websocket_stream(self.url)
        else:
            transport = create_http_stream(self.url, client=http)
        client = OfficialClient()
        agent: Any = acp.connect_to_agent(client, transport)
        agent.test_client = client
        try:
            await agent.initialize(protocol_version=1)
            yield agent
        finally:
            await agent.close()
            await transport.close()
            if http is not None:
                await http.aclose()

    async def new(self, agent: Any) -> str:
        name: str = (await agent.new_session(cwd="/tmp", mcp_servers=[])).session_id
        return name

    def name(self, session: str) -> str:
        return session

    async def _settled(self, client: OfficialClient) -> None:
        # It has no order between updates and answers: what was said before the answer may be handed on after it.
        await asyncio.sleep(0.3)

    async def prompt(self, agent: Any, session: str, text: str) -> Tuple[str, str]:
        said = agent.test_client.said[session] = []
        answer = await agent.prompt(session_id=session, prompt=[text_block(text)])
        await self._settled(agent.test_client)
        return "".join(each for kind, each in said if kind == "agent_message_chunk"), answer.stop_reason

    async def cancelled(self, agent: Any, session: str) -> str:
        agent.test_client.came.clear()
        turn = asyncio.ensure_future(agent.prompt(session_id=session, prompt=[text_block("wait")]))
        await agent.test_client.came.wait()
        await agent.cancel(session_id=session)
        stop: str = (await turn).stop_reason
        return stop

    async def load(self, agent: Any, name: str) -> List[str]:
        await agent.load_session(session_id=name, cwd="/tmp", mcp_servers=[])
        await self._settled(agent.test_client)
        told = [text for kind, text in agent.test_client.said.get(name, []) if kind == "user_message_chunk"]
        if not told:
            raise Cannot("nothing was replayed")
        return told

    async def delete(self, agent: Any, name: str) -> None:
        if not hasattr(agent, "delete_session"):
            raise Cannot("there is no such method")
        await agent.delete_session(session_id=name)


class Matrix(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self) -> None:
        asyncio.get_running_loop().set_debug(False)

    async def script(self, client: Any, deletes: bool) -> List[str]:
        """Runs the script; what could not be done."""
        missing: List[str] = []
        async with client.connected() as agent:
            session = await client.new(agent)
            self.assertEqual(await client.prompt(agent, session, "hello"), ("hello", "end_turn"))
            self.assertEqual(await client.prompt(agent, session, "ask"), ("allowed", "end_turn"))
            self.assertEqual(await client.cancelled(agent, session), "cancelled")
            async with client.connected() as other:
                try:
                    told = await client.load(other, client.name(session))
                    self.assertEqual(told, ["hello", "ask", "wait"])
                except Cannot:
                    missing.append(LOAD)
            second = await client.new(agent)
            self.assertNotEqual(client.name(second), client.name(session))
            self.assertEqual(await client.prompt(agent, second, "again"), ("again", "end_turn"))
            try:
                await client.delete(agent, client.name(session))
            except Cannot:
                missing.append(DELETE)
        return missing

    async def cell(self, name: str, peer: str, served: Served, scheme: str, **options: Any) -> None:
        make = {"ours": Ours, "official": Official}[name]
        client = make(served.url(scheme), options)
        expected = sorted(CANNOT.get((name, peer, scheme), {}))
        with self.subTest(client=name, server=peer, by=served.server, scheme=scheme, **options):
            missing = await asyncio.wait_for(self.script(client, DELETE not in expected), SECONDS)
            self.assertEqual(sorted(missing), expected)

    async def row(self, name: str, peer: str, app: str, servers: Tuple[str, ...]) -> None:
        for server in servers:
            with serving(server, app) as served:
                await self.cell(name, peer, served, "http")
                if server == "hypercorn":
                    await self.cell(name, peer, served, "http", http2=True)
                await self.cell(name, peer, served, "ws")

    async def test_ours_with_ours(self) -> None:
        Ours.broken = []
        await self.row("ours", "ours", "ours:app", ("uvicorn", "hypercorn", "granian"))
        self.assertEqual(Ours.broken, [])

    async def test_ours_with_the_official_server(self) -> None:
        await self.row("ours", "official", "official:app", ("uvicorn", "hypercorn"))

    async def test_the_official_client_with_ours(self) -> None:
        await self.row("official", "ours", "ours:app", ("uvicorn", "hypercorn"))


if __name__ == "__main__":
    unittest.main()
