"""Ways to connect to an agent: as a child process, or over existing streams."""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any, AsyncIterator, Callable, Generator, Mapping, Optional, Sequence, Type, Union

from . import _signals
from ._agents import AgentPeer
from ._child import Child
from ._client import Client
from ._wire import Reader, Writer

if TYPE_CHECKING:
    from os import PathLike

# How long an agent may take to answer `initialize`.
TIMEOUT = 30.0
# How long an agent may take to end when its input has.
GRACE = 5.0


class Connecting:
    """A connection to be made: use it with ``async with``, or await it and call `AgentPeer.close` at the end."""

    def __init__(self, made: contextlib.AbstractAsyncContextManager[AgentPeer]) -> None:
        self._made = made
        self._agent: Optional[AgentPeer] = None

    async def _open(self) -> AgentPeer:
        agent = self._agent = await self._made.__aenter__()
        agent._leave_with(self._made)
        return agent

    def __await__(self) -> Generator[Any, None, AgentPeer]:
        return self._open().__await__()

    async def __aenter__(self) -> AgentPeer:
        return await self._open()

    async def __aexit__(
        self, kind: Optional[Type[BaseException]], problem: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        if self._agent is not None:
            await self._agent.close()


def connect(
    reader: Reader,
    writer: Writer,
    client: Optional[Client] = None,
    *,
    timeout: Optional[float] = TIMEOUT,
    grace: float = GRACE,
    meta: Optional[Mapping[str, Any]] = None,
) -> Connecting:
    """Connects to the agent at the other end of a pair of streams: ``async with connect(...) as agent: ...``, or
    ``agent = await connect(...)`` and ``await agent.close()`` at the end.

    The connection is ready after `initialize`; `meta` is the ``_meta`` of its params. At the end of the block the
    connection is closed; handlers that are still running then have `grace` seconds.

    Raises:
        libacp.NoResult: if the agent has not answered `initialize` after `timeout` seconds.
    """
    return Connecting(_connected(reader, writer, client or Client(), timeout, grace, meta))


@contextlib.asynccontextmanager
async def _connected(
    reader: Reader,
    writer: Writer,
    client: Client,
    timeout: Optional[float],
    grace: float,
    meta: Optional[Mapping[str, Any]],
) -> AsyncIterator[AgentPeer]:
    agent = AgentPeer(client, reader, writer)
    try:
        await agent._run(timeout, meta)
        yield agent
    finally:
        await agent._finish(grace)


def spawn_agent(
    command: Sequence[Union[str, PathLike[str]]],
    client: Optional[Client] = None,
    *,
    cwd: Union[str, PathLike[str], None] = None,
    env: Optional[Mapping[str, str]] = None,
    stderr: Union[int, IO[Any], Callable[[str], object], None] = None,
    own_group: bool = True,
    signals: bool = True,
    timeout: Optional[float] = TIMEOUT,
    grace: float = GRACE,
    meta: Optional[Mapping[str, Any]] = None,
) -> Connecting:
    """Starts an agent and connects to it: ``async with spawn_agent(["agent"]) as agent: ...``, or ``agent = await
    spawn_agent(["agent"])`` and ``await agent.close()`` at the end.

    At the end of the block the agent's input is closed. If it has not ended `grace` seconds later, it is terminated,
    and after `grace` more seconds killed.

    Arguments:
        `command`: the program and its arguments.
        `cwd`, `env`: as in `asyncio.subprocess`.
        `stderr`: as in `asyncio.subprocess`, or a function that is called with each line. By default, what the agent
            logs is forwarded to standard error of this process.
        `timeout`: seconds to wait for the answer to `initialize`.
        `own_group`: whether the agent gets a process group of its own. Processes that it started then end with it, even
            behind a wrapper such as ``sh -c`` or ``npx``, and Ctrl-C in the terminal reaches only this process, which
            decides what happens to the agent.
        `signals`: whether the agent also ends when SIGTERM, SIGHUP or SIGINT ends this process. While an agent runs
            that was started in the main thread, such a signal has a handler, unless the host has set its own or ignores
            the signal. The agent is asked to end, by the end of its input and then by SIGTERM, and killed after some
            tenths of a second.

    Raises:
        libacp.NoResult: if the agent has not answered `initialize` after `timeout` seconds.
        AgentEnded: if the agent ended before, with the last lines that it logged.
    """
    if isinstance(command, (str, bytes)):
        raise TypeError(f"expected a list: the program and its arguments, each by itself, not {command!r}")
    return Connecting(
        _spawned(list(command), client or Client(), cwd, env, stderr, own_group, signals, timeout, grace, meta)
    )


@contextlib.asynccontextmanager
async def _spawned(
    command: Sequence[Union[str, PathLike[str]]],
    client: Client,
    cwd: Union[str, PathLike[str], None],
    env: Optional[Mapping[str, str]],
    stderr: Union[int, IO[Any], Callable[[str], object], None],
    own_group: bool,
    signals: bool,
    timeout: Optional[float],
    grace: float,
    meta: Optional[Mapping[str, Any]],
) -> AsyncIterator[AgentPeer]:
    # What cannot work is told before anything is started.
    client._offered(client._served())
    hears = stderr is None or callable(stderr)
    with _signals.starting(signals):
        process = await asyncio.create_subprocess_exec(
            *command,
            cwd=cwd,
            env=env,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE if stderr is None or callable(stderr) else stderr,
            start_new_session=own_group,
            creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0) if own_group else 0,
        )
        child = Child(process, own_group, signals, hears, stderr if callable(stderr) else None)
    assert process.stdin is not None and process.stdout is not None
    try:
        agent = AgentPeer(client, process.stdout, process.stdin)
        agent._started_as(process, child)
        try:
            await agent._run(timeout, meta)
            yield agent
        finally:
            await agent._finish(grace)
    finally:
        await child.end(grace)
