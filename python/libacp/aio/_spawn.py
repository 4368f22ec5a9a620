"""Ways to an agent: as a child process, or at the other end of streams that are there already."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import IO, TYPE_CHECKING, Any, AsyncIterator, Mapping, Optional, Sequence, Union

from ._agent_peer import AgentPeer
from ._client import Client
from ._wire import Reader, Writer

if TYPE_CHECKING:
    from os import PathLike

# How long an agent may take to answer `initialize`.
TIMEOUT = 30.0
# How long an agent may take to end when its input has.
GRACE = 5.0


@asynccontextmanager
async def connect(
    reader: Reader,
    writer: Writer,
    client: Optional[Client] = None,
    *,
    timeout: Optional[float] = TIMEOUT,
    grace: float = GRACE,
) -> AsyncIterator[AgentPeer]:
    """The agent at the other end of a pair of streams, after `initialize`: ``async with connect(...) as agent: ...``.

    Raises `libacp.NoResult` when it has not answered after `timeout` seconds. At the end of the block the connection is
    closed; handlers that still run then have `grace` seconds.
    """
    agent = AgentPeer(client or Client(), reader, writer)
    try:
        await agent._run(timeout)
        yield agent
    finally:
        await agent._finish(grace)


@asynccontextmanager
async def spawn_agent(
    command: Sequence[Union[str, PathLike[str]]],
    client: Optional[Client] = None,
    *,
    cwd: Union[str, PathLike[str], None] = None,
    env: Optional[Mapping[str, str]] = None,
    stderr: Union[int, IO[Any], None] = None,
    timeout: Optional[float] = TIMEOUT,
    grace: float = GRACE,
) -> AsyncIterator[AgentPeer]:
    """An agent that is started for the block, after `initialize`: ``async with spawn_agent(["agent"]) as agent: ...``.

    `command` is the program and its arguments. `cwd`, `env` and `stderr` are those of `asyncio.subprocess`; without
    `stderr`, what the agent logs goes where this process logs. Raises `libacp.NoResult` when it has not answered after
    `timeout` seconds, `AgentEnded` when it ended before. At the end of the block its input is closed; when it has not
    ended `grace` seconds later it is terminated, and after as many more killed.
    """
    process = await asyncio.create_subprocess_exec(
        *command,
        cwd=cwd,
        env=env,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=stderr,
    )
    assert process.stdin is not None and process.stdout is not None
    agent = AgentPeer(client or Client(), process.stdout, process.stdin)
    agent.process = process
    try:
        await agent._run(timeout)
        yield agent
    finally:
        try:
            await agent._finish(grace)
        finally:
            await _end(process, grace)


async def _end(process: asyncio.subprocess.Process, grace: float) -> None:
    """Waits for a process to end by itself, then helps. Being cancelled meanwhile ends it at once."""
    try:
        for help in (process.terminate, process.kill):
            try:
                await asyncio.wait_for(process.wait(), grace)
                return
            except asyncio.TimeoutError:
                pass
            if process.returncode is None:
                help()
        await process.wait()
    except asyncio.CancelledError:
        if process.returncode is None:
            process.kill()
        await process.wait()
        raise
