"""Terminals for an agent: child processes, each in a process group of its own, with bounded output."""

from __future__ import annotations

import asyncio
import codecs
import contextlib
import itertools
import os
import signal
from typing import TYPE_CHECKING, Dict, Mapping, Optional, Tuple

import libacp

from ._errors import RequestError

if TYPE_CHECKING:
    from libacp.types import v1

    from ._session import ClientSession

READ = 64 * 1024
# A command's children may hold its output open after it has ended; so long their last words are waited for.
LAST_WORDS = 0.2


class Output:
    """The end of what was printed: at most `limit` bytes of UTF-8, beginning with a whole character."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._kept = bytearray()
        self.truncated = False

    def add(self, data: bytes, final: bool = False) -> None:
        """Takes what was printed. What is not UTF-8 is replaced; half a character waits for the rest."""
        self._kept += self._decoder.decode(data, final).encode("utf-8")
        excess = len(self._kept) - self._limit
        if excess > 0:
            while excess < len(self._kept) and self._kept[excess] & 0xC0 == 0x80:
                excess += 1
            del self._kept[:excess]
            self.truncated = True

    @property
    def text(self) -> str:
        return self._kept.decode("utf-8")


class Process:
    """A command that runs, or has run."""

    def __init__(self, process: asyncio.subprocess.Process, printed: Printed, limit: int) -> None:
        self._process = process
        self._printed = printed
        self.output = Output(limit)
        self._reading = asyncio.ensure_future(self._read())
        self.ended = asyncio.ensure_future(self._wait())

    async def _read(self) -> None:
        while data := await self._printed.reader.read(READ):
            self.output.add(data)
        self.output.add(b"", final=True)

    async def _wait(self) -> v1.TerminalExitStatus:
        status = await self._process.wait()
        await asyncio.wait([self._reading], timeout=LAST_WORDS)
        if status >= 0:
            return {"exitCode": status}
        try:
            return {"signal": signal.Signals(-status).name}
        except ValueError:
            return {"signal": str(-status)}

    @property
    def status(self) -> Optional[v1.TerminalExitStatus]:
        return self.ended.result() if self.ended.done() else None

    def kill(self) -> None:
        """Ends the command, and the children that it did not send off."""
        # When nobody is left, the number may be another's by now.
        if not (self.ended.done() and self._reading.done()):
            kill(self._process)

    async def release(self) -> None:
        self.kill()
        await self.ended
        self._reading.cancel()
        self._printed.close()


class Printed:
    """A pipe for what a command prints. Asyncio's own would take the end of the output for the end of the command."""

    def __init__(self) -> None:
        self.reader = asyncio.StreamReader()
        ours, self.theirs = os.pipe()
        self._pipe = open(ours, "rb", buffering=0)
        self._transport: Optional[asyncio.BaseTransport] = None

    async def connect(self) -> None:
        loop = asyncio.get_running_loop()
        self._transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(self.reader), self._pipe)

    def close(self) -> None:
        (self._transport or self._pipe).close()


async def start(*command: str, cwd: str, env: Mapping[str, str]) -> Tuple[asyncio.subprocess.Process, Printed]:
    printed = Printed()
    try:
        await printed.connect()
        starting = asyncio.ensure_future(
            asyncio.create_subprocess_exec(
                *command,
                cwd=cwd,
                env=env,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=printed.theirs,
                stderr=asyncio.subprocess.STDOUT,
                start_new_session=True,
            )
        )
    except BaseException:
        printed.close()
        os.close(printed.theirs)
        raise
    starting.add_done_callback(lambda _: os.close(printed.theirs))
    try:
        # Asyncio loses count of a process when it is interrupted in starting it.
        return await asyncio.shield(starting), printed
    except BaseException:
        starting.add_done_callback(put_down)
        printed.close()
        raise


def put_down(starting: asyncio.Future[asyncio.subprocess.Process]) -> None:
    """Ends what nobody waits for any more."""
    if not starting.cancelled() and starting.exception() is None:
        kill(starting.result())


def kill(process: asyncio.subprocess.Process) -> None:
    """Ends a command, and the children that it did not send off."""
    with contextlib.suppress(ProcessLookupError):
        if os.name == "posix":
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()


class Terminals:
    """Runs what agents ask for, as child processes without input. Whoever hands this to an agent lets it do anything.

    A command sees the environment `env` (this process's own without it) and what the agent adds, begins in the folder
    that the agent names or in that of its session, and is killed when it is released or its session is over, together
    with its children. Of its output the end is kept: as many bytes as the agent asks for, `output_byte_limit` at most,
    never with half a character. There are at most `most` terminals at a time.
    """

    def __init__(
        self, *, output_byte_limit: int = 1024 * 1024, most: int = 64, env: Optional[Mapping[str, str]] = None
    ) -> None:
        self.output_byte_limit = output_byte_limit
        """Bytes of output that are kept at most."""
        self.most = most
        """Terminals at a time."""
        self.env = env
        """What commands see of the environment, before the agent adds to it."""
        self._running: Dict[str, Tuple[ClientSession, Process]] = {}
        self._starting = 0
        self._numbers = itertools.count(1)

    async def create(self, session: ClientSession, params: v1.CreateTerminalRequest) -> str:
        """Starts a command; the terminal's id."""
        if len(self._running) + self._starting >= self.most:
            raise RequestError(libacp.ErrorCode.INTERNAL_ERROR, f"There are {self.most} terminals already")
        wanted = params.get("outputByteLimit")
        limit = self.output_byte_limit if wanted is None else min(wanted, self.output_byte_limit)
        env = dict(os.environ if self.env is None else self.env)
        env.update((each["name"], each["value"]) for each in params.get("env") or ())
        self._starting += 1
        try:
            process, printed = await start(
                params["command"], *(params.get("args") or ()), cwd=params.get("cwd") or session.cwd, env=env
            )
        except (OSError, ValueError) as problem:
            reason = os.strerror(problem.errno) if isinstance(problem, OSError) and problem.errno else "not a command"
            raise RequestError(libacp.ErrorCode.INVALID_PARAMS, f"The command cannot be started: {reason}") from None
        finally:
            self._starting -= 1
        id = f"term-{next(self._numbers)}"
        self._running[id] = (session, Process(process, printed, limit))
        return id

    async def output(self, session: ClientSession, id: str) -> v1.TerminalOutputResponse:
        """What was printed, and the exit status once there is one."""
        process = self._find(session, id)
        result: v1.TerminalOutputResponse = {"output": process.output.text, "truncated": process.output.truncated}
        status = process.status
        if status is not None:
            result["exitStatus"] = status
        return result

    async def wait_for_exit(self, session: ClientSession, id: str) -> v1.TerminalExitStatus:
        """Waits until the command has ended; how it did."""
        # Whoever waits may be cancelled; the command goes on.
        return await asyncio.shield(self._find(session, id).ended)

    async def kill(self, session: ClientSession, id: str) -> None:
        """Ends the command and keeps the terminal."""
        self._find(session, id).kill()

    async def release(self, session: ClientSession, id: str) -> None:
        """Ends the command and forgets the terminal."""
        process = self._find(session, id)
        del self._running[id]
        await process.release()

    async def end(self, session: ClientSession) -> None:
        """Releases all terminals of a session that is over."""
        for id in [id for id, (owner, _) in self._running.items() if owner is session]:
            await self.release(session, id)

    def _find(self, session: ClientSession, id: str) -> Process:
        owner, process = self._running.get(id, (None, None))
        if process is None or owner is not session:
            raise RequestError(libacp.ErrorCode.RESOURCE_NOT_FOUND, "There is no such terminal")
        return process
