"""Ways to an agent: as a child process, or at the other end of streams that are there already."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
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
ROUND = 0.05


@contextlib.asynccontextmanager
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


@contextlib.asynccontextmanager
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
    if isinstance(command, (str, bytes)):
        raise TypeError("expected a list: the program and its arguments, each by itself")
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
            # Its output may be open still, in the hands of a child of its own; there is no public way to let go of it.
            getattr(process, "_transport").close()
            with contextlib.suppress(OSError):
                await process.stdin.wait_closed()


async def _end(process: asyncio.subprocess.Process, grace: float) -> None:
    """Waits for a process to end by itself, then helps. Being cancelled meanwhile ends it at once."""
    assert process.stdout is not None
    # Its last words are of no interest, but must not keep it from ending.
    ignoring = asyncio.ensure_future(_ignore(process.stdout))
    try:
        for help in (process.terminate, process.kill):
            if await _ended(process, grace):
                return
            help()
        await _ended(process, None)
    finally:
        if process.returncode is None:
            process.kill()
            await _ended(process, None)
        ignoring.cancel()


async def _ended(process: asyncio.subprocess.Process, seconds: Optional[float]) -> bool:
    """Whether it has ended in this time. `Process.wait` would also wait for a child that holds its output open."""
    rounds = itertools.count() if seconds is None else range(max(1, round(seconds / ROUND)))
    waiting = asyncio.ensure_future(process.wait())
    try:
        for _ in rounds:
            if process.returncode is not None:
                break
            await asyncio.wait([waiting], timeout=ROUND)
    finally:
        waiting.cancel()
    return process.returncode is not None


async def _ignore(output: asyncio.StreamReader) -> None:
    while await output.read(64 * 1024):
        pass
