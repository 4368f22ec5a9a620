"""A client that offers and uses everything that version 1 has: ``python full_client.py PROGRAM [ARGUMENT ...]``.

It takes a full agent through all that it can do, in a folder of its own, and prints a line for whatever comes.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
from typing import Awaitable, Callable, Dict, List, Optional, Union

import libacp
from full_shown import options, shown
from libacp import aio
from libacp.types import v1

# What a client says in the _meta of its capabilities if it serves the extension of these examples.
EXTENSION = "libacp.dev/full"
SERVERS: List[v1.McpServer] = [
    {"name": "files", "command": "/bin/true", "args": ["-v"], "env": [{"name": "A", "value": "b"}]},
    {"type": "http", "name": "web", "url": "https://example.com/mcp", "headers": [{"name": "X", "value": "y"}]},
    {"type": "sse", "name": "old", "url": "https://example.com/sse", "headers": []},
]
BLOCKS: List[v1.ContentBlock] = [
    {"type": "image", "mimeType": "image/png", "data": "aGk="},
    {"type": "audio", "mimeType": "audio/wav", "data": "aGk="},
    {"type": "resource_link", "uri": "file:///a", "name": "a"},
    {"type": "resource", "resource": {"uri": "file:///a", "text": "a"}},
]


def say(what: str) -> None:
    print(what, flush=True)


async def permit(request: aio.PermissionRequest) -> Optional[str]:
    say(f"may it? {','.join(option['kind'] for option in request.options)}")
    return request.allow()


client = aio.Client(
    "full-python",
    libacp.__version__,
    title="Everything, in Python",
    permission=permit,
    files=aio.Files(),
    terminals=aio.Terminals(),
    capabilities={
        "auth": {"terminal": True},
        "elicitation": {"form": {}, "url": {}},
        "session": {"configOptions": {"boolean": {}}, "notices": {}, "compaction": {}},
        "_meta": {EXTENSION: True},
    },
    on_update=lambda session, update: say(f"meanwhile: {shown(update)}"),
)


@client.on("elicitation/create")
async def elicit(
    asked: Union[aio.ClientSession, aio.AgentPeer], params: v1.CreateElicitationRequest
) -> v1.CreateElicitationResponse:
    if params["mode"] == "url":
        say(f"open a page? {params['message']}: {params['url']}")
        return {"action": "accept"}
    say(f"fill in? {params['message']}: {','.join(params['requestedSchema'].get('properties', {}))}")
    return {"action": "accept", "content": {"colour": "blue"}}


@client.on("elicitation/complete")
async def completed(told: Union[aio.ClientSession, aio.AgentPeer], params: v1.CompleteElicitationNotification) -> None:
    say("the page is done with")


@client.on_extension("_libacp.dev/echo")
async def echo(agent: aio.AgentPeer, params: object) -> object:
    return params


@client.on_extension("_libacp.dev/note")
async def note(agent: aio.AgentPeer, params: Dict[str, str]) -> None:
    say(f"note: {params['note']}")


async def refused(what: str, call: Awaitable[object]) -> None:
    try:
        await call
    except libacp.PeerError as problem:
        say(f"{what}: refused with {problem.code}")
    else:
        say(f"{what}: not refused")


async def follow(turn: aio.PromptTurn, stop: Optional[Callable[[], Awaitable[object]]] = None) -> None:
    """Prints a turn, and stops it when a tool is called, if that is wanted."""
    async for update in turn:
        say(shown(update))
        if stop is not None and update["sessionUpdate"] == "tool_call":
            await stop()
    say(f"the end: {turn.stop_reason}")


async def log_in(agent: aio.AgentPeer, folder: str) -> None:
    methods = [f"{method['id']} ({method.get('type', 'agent')})" for method in agent.auth_methods]
    say(f"ways to log in: {','.join(methods)}")
    await refused("a session before", agent.new_session(folder))
    await agent.authenticate("key")


async def settings(session: aio.ClientSession) -> None:
    modes = session.result["modes"]
    say(f"modes: {modes['currentModeId']} of {','.join(mode['id'] for mode in modes['availableModes'])}")
    say(f"options: {options(session.result['configOptions'])}")
    await session.set_mode("code")
    say(f"options: {options(await session.set_config_option('model', 'huge'))}")
    say(f"options: {options(await session.set_config_option('web', True))}")


def known(session: aio.ClientSession) -> None:
    """What the library knows of a session by now."""
    snapshot = session.snapshot
    assert snapshot is not None and snapshot["modes"] is not None, "the session is open, and has modes"
    commands = ",".join(command["name"] for command in snapshot["commands"] or ())
    calls = ",".join(call["status"] for call in snapshot["toolCalls"])
    say(f"known: mode {snapshot['modes']['currentModeId']}; commands {commands}; tool calls {calls}")


async def keep(agent: aio.AgentPeer, folder: str, first: aio.ClientSession) -> None:
    """What becomes of sessions."""
    second = await agent.new_session(folder)
    third = await agent.new_session(os.path.join(folder, "further"))
    names = {first.id: "first", second.id: "second", third.id: "third"}
    say(f"sessions: {','.join([names[each['sessionId']] async for each in agent.list_sessions()])}")
    say(f"in a directory: {','.join([names[each['sessionId']] async for each in agent.list_sessions(third.cwd)])}")
    await follow(second.prompt("wait"), second.close)
    second = await agent.resume_session(second.id, folder)
    say(f"resumed: {second.result['modes']['currentModeId']}; {options(second.result['configOptions'])}")
    await second.close()
    await agent.delete_session(second.id)
    await agent.delete_session(third.id)
    say(f"sessions: {','.join([names[each['sessionId']] async for each in agent.list_sessions()])}")
    await first.close()
    loading = agent.load_session(first.id, folder, mcp_servers=SERVERS, additional_directories=[third.cwd])
    async for update in loading:
        say(f"replay: {shown(update)}")
    loaded = await loading
    say(f"loaded: {loaded.result['modes']['currentModeId']}; {options(loaded.result['configOptions'])}")


async def extension(agent: aio.AgentPeer, session: aio.ClientSession) -> None:
    answer = await agent.request("_libacp.dev/echo", {"value": [1, None]})
    say(f"echo: {json.dumps(answer['value'], separators=(',', ':'))}")
    await session.notify("_libacp.dev/note", {"note": "hello"})
    await refused("an extension that is not there", agent.request("_libacp.dev/none", {}))


async def main(command: List[str], folder: str) -> None:
    further = os.path.join(folder, "further")
    os.mkdir(further)
    async with aio.spawn_agent(command, client) as agent:
        if agent.auth_methods:
            await log_in(agent, folder)
        session = await agent.new_session(folder, mcp_servers=SERVERS, additional_directories=[further])
        await settings(session)
        await follow(session.prompt(["tour", *BLOCKS]))
        with open(os.path.join(folder, "full.txt"), encoding="utf-8") as written:
            say(f"written: {','.join(written.read().split())}")
        waiting = session.prompt("wait")
        await follow(waiting, waiting.cancel)
        await follow(session.prompt("refuse"))
        await extension(agent, session)
        known(session)
        await keep(agent, folder, session)
        if agent.auth_methods:
            await agent.logout()
            await refused("a session after", agent.new_session(folder))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        # Where temporary folders are links, the agent and the files of the client would not name the same one.
        asyncio.run(main(sys.argv[1:], os.path.realpath(temporary)))
