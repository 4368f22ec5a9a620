"""Ways to connect to an agent: as a child process, at an address, or over existing streams."""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
from types import TracebackType
from typing import (
    IO,
    TYPE_CHECKING,
    Any,
    AsyncIterator,
    Callable,
    Dict,
    Generator,
    Mapping,
    Optional,
    Sequence,
    Type,
    Union,
    cast,
    overload,
)

from . import _signals
from ._agents import AgentPeer
from ._child import Child
from ._client import Client
from ._remote import Authorize, OnTransport, Remote, is_address
from ._wire import Reader, Writer

if TYPE_CHECKING:
    from os import PathLike
    from ssl import SSLContext

    from ..http import ClientLimits, ClientTimes

    _Command = Sequence[Union[str, PathLike[str]]]

# How long an agent may take to answer `initialize`.
TIMEOUT = 30.0
# How long an agent may take to end when its input has.
GRACE = 5.0
# Of what is for addresses alone; what is not here is `None` if it is not given.
USUAL = {"reconnect": True, "resumable": False, "strict": False}


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


@overload
def connect(
    to: Reader,
    writer: Writer,
    client: Optional[Client] = None,
    /,
    *,
    timeout: Optional[float] = TIMEOUT,
    grace: float = GRACE,
    meta: Optional[Mapping[str, Any]] = None,
) -> Connecting: ...
@overload
def connect(
    to: _Command,
    client: Optional[Client] = None,
    /,
    *,
    timeout: Optional[float] = TIMEOUT,
    grace: float = GRACE,
    meta: Optional[Mapping[str, Any]] = None,
) -> Connecting: ...
@overload
def connect(
    to: str,
    client: Optional[Client] = None,
    /,
    *,
    headers: Optional[Mapping[str, str]] = None,
    on_transport: Optional[OnTransport] = None,
    authorize: Optional[Authorize] = None,
    reconnect: bool = True,
    resumable: bool = False,
    strict: bool = False,
    http2: Optional[bool] = None,
    ssl: Optional[SSLContext] = None,
    limits: Optional[ClientLimits] = None,
    times: Optional[ClientTimes] = None,
    timeout: Optional[float] = TIMEOUT,
    grace: float = GRACE,
    meta: Optional[Mapping[str, Any]] = None,
) -> Connecting: ...
def connect(
    to: Union[Reader, _Command, str],
    writer: Union[Writer, Client, None] = None,
    client: Optional[Client] = None,
    /,
    *,
    headers: Optional[Mapping[str, str]] = None,
    on_transport: Optional[OnTransport] = None,
    authorize: Optional[Authorize] = None,
    reconnect: bool = True,
    resumable: bool = False,
    strict: bool = False,
    http2: Optional[bool] = None,
    ssl: Optional[SSLContext] = None,
    limits: Optional[ClientLimits] = None,
    times: Optional[ClientTimes] = None,
    timeout: Optional[float] = TIMEOUT,
    grace: float = GRACE,
    meta: Optional[Mapping[str, Any]] = None,
) -> Connecting:
    """Connects to an agent: ``async with connect(...) as agent: ...``, or ``agent = await connect(...)`` and ``await
    agent.close()`` at the end. The agent is

    * a command, as a list, which is started as by `spawn_agent`: ``connect(["agent", "--acp"], client)``;
    * an address, ``connect("https://agents.example.com/acp", client)``: ``http`` and ``https`` for Streamable HTTP, ``ws``
      and ``wss`` for WebSocket. This needs ``pip install 'libacp[http]'``;
    * at the other end of a pair of streams: ``connect(reader, writer, client)``.

    The connection is ready after `initialize`. At the end of the block it is closed; handlers that are still running then
    have `grace` seconds.

    A connection to an address that is lost is opened again, with its sessions, if the agent can resume or load them. Calls
    that were open then raise `OutcomeUnknown`, as nobody knows what became of them.

    Arguments:
        `client`: what agents may do; by default nothing.
        `timeout`: seconds to wait for the answer to `initialize`.
        `meta`: the ``_meta`` of the params of `initialize`.
        `headers`: headers of every request to an address, such as ``authorization``.
        `on_transport`: called with each event of a connection to an address: `libacp.http.Connected`, `Lost`, `Retrying`,
            `Attached`, `Detached`, `Gap`, `Silent`, `Unauthorized`, `Refused`, `Violation` and `Closed`.
        `authorize`: called with the status (401 or 403) and the value of ``WWW-Authenticate`` when a server wants other
            credentials. It returns headers to go on with, or ``None`` to give up; it may be asynchronous.
        `reconnect`: whether a lost connection is opened again.
        `resumable`: whether a stream that breaks is continued behind its last event, if the server gives events ids: a draft.
        `strict`: whether everything that the draft of the transport forbids a server is refused.
        `http2`: whether to use HTTP/2: by default where TLS agrees on it and ``h2`` is installed. ``True`` uses it without
            TLS as well, for servers that speak nothing else there.
        `ssl`: the certificates to trust, and those to show.
        `limits`, `times`: bounds, and times in milliseconds, of the transport; see `libacp.http.ClientLimits` and
            `libacp.http.ClientTimes`.

    Raises:
        libacp.NoResult: if the agent has not answered `initialize` after `timeout` seconds.
        AgentEnded: if the agent's process ended before.
        RemoteEnded: if there is no agent at the address, or it refuses the client.
        ImportError: if an address needs packages that are not installed.
    """
    given: Dict[str, Any] = {
        "headers": headers,
        "on_transport": on_transport,
        "authorize": authorize,
        "reconnect": reconnect,
        "resumable": resumable,
        "strict": strict,
        "http2": http2,
        "ssl": ssl,
        "limits": limits,
        "times": times,
    }
    if isinstance(to, str):
        if not is_address(to):
            raise TypeError("expected an address, as in 'https://agents.example.com/acp', or a command as a list")
        return Connecting(_remote(to, _client_of(writer), timeout, grace, meta, given))
    for name, value in given.items():
        if value is not USUAL.get(name):
            raise TypeError(f"{name}: only for an agent at an address")
    if hasattr(to, "read"):
        if not hasattr(writer, "write"):
            raise TypeError("expected a reader and a writer")
        streams = cast("Reader", to), cast("Writer", writer)
        return Connecting(_connected(*streams, client or Client(), timeout, grace, meta))
    return spawn_agent(to, _client_of(writer), timeout=timeout, grace=grace, meta=meta)


def _client_of(given: object) -> Client:
    if given is not None and not isinstance(given, Client):
        raise TypeError(f"expected a Client, not {type(given).__qualname__}")
    return given or Client()


@contextlib.asynccontextmanager
async def _remote(
    url: str,
    client: Client,
    timeout: Optional[float],
    grace: float,
    meta: Optional[Mapping[str, Any]],
    options: Mapping[str, Any],
) -> AsyncIterator[AgentPeer]:
    # What cannot work is told before anybody is asked.
    client._offered(client._served())
    remote = Remote(url, **options)
    try:
        agent = AgentPeer(client, remote.inbox, remote.outbox)
        agent._reached_by(remote)
        try:
            await agent._run(timeout, meta)
            yield agent
        finally:
            await agent._finish(grace)
    finally:
        await remote.close()


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
    command: _Command,
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
