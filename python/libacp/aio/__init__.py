"""Agents and clients on asyncio, on top of the connections of `libacp`.

A complete agent:

    import libacp.aio

    agent = libacp.aio.Agent("echo", "1.0")

    @agent.prompt
    async def answer(turn):
        async with turn.tool_call("Say it again", kind="think") as call:
            await call.text(turn.text)
        await turn.message(turn.text)

    agent.run()

And a client:

    import asyncio, os, sys
    import libacp.aio

    async def main():
        client = libacp.aio.Client("chat", "1.0", files=libacp.aio.ReadOnlyFiles())
        async with libacp.aio.spawn_agent([sys.executable, "agent.py"], client) as agent:
            session = await agent.new_session(os.getcwd())
            async for update in session.prompt("Hello"):
                print(update)

    asyncio.run(main())

Params, results, updates and content blocks are plain dictionaries with the names of the specification;
`libacp.types.v1` has typed dicts for them. A call that the specification forbids raises a subclass of `libacp.Misuse`
before anything is sent. Violations by the peer go to the logger ``libacp.aio`` and to `on_violation`. Cancelling a task
also cancels, at the peer, the request that the task waits for.

A client with ``view=True`` has each session as a conversation, `ClientSession.view`, and
``async for changes in session.changes()`` follows it; see `libacp.view`.

Every send waits while the peer is slow to read. Reading stops while 256 updates or 1 MiB of updates wait for an
iterator, and while a call waits for its answer only at eight times these limits, so that the body of a loop can send
requests.

The option ``versions`` says which versions of the protocol an agent or a client speaks: version 1 by default, and
``versions=(1, 2)`` for both. Handlers and calls are those of version 1 in both, so a program for one serves the other.
Only the updates that a client receives are as on the wire: those of `libacp.types.v1` or of `libacp.types.v2`. A view is
the same in both.
"""

from ._agent import Agent
from ._agents import AgentPeer, ClientSession, LoadingSession, PromptTurn
from ._client import Client, ReadFiles, RunTerminals, WriteFiles
from ._clients import AgentSession, ClientPeer, Turn, Work
from ._current import request_id
from ._display import DisplayTerminal
from ._errors import AgentEnded, OutcomeUnknown, RemoteEnded, RequestError
from ._files import Files, ReadOnlyFiles
from ._permissions import PermissionRequest, allow_all, reject_all
from ._peer import Peer
from ._plan import Plan
from ._spawn import Connecting, connect, spawn_agent
from ._terminal import Terminal
from ._terminals import Terminals
from ._tool_call import Permission, ToolCall
from ._wire import Reader, Writer

__all__ = [
    "Agent",
    "AgentEnded",
    "AgentPeer",
    "AgentSession",
    "Client",
    "ClientPeer",
    "ClientSession",
    "Connecting",
    "DisplayTerminal",
    "Files",
    "LoadingSession",
    "OutcomeUnknown",
    "Peer",
    "Permission",
    "PermissionRequest",
    "Plan",
    "PromptTurn",
    "ReadFiles",
    "ReadOnlyFiles",
    "Reader",
    "RemoteEnded",
    "RequestError",
    "RunTerminals",
    "Terminal",
    "Terminals",
    "ToolCall",
    "Turn",
    "Work",
    "WriteFiles",
    "Writer",
    "allow_all",
    "connect",
    "reject_all",
    "request_id",
    "spawn_agent",
]
