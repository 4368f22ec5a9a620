"""A command as a child process, in a process group of its own.

A number names a process only until it has been waited for; then it may be another's. So a command that has ended is left
to be waited for until nobody can ask for its end any more, and before each signal it is looked at whether it is still
there to be waited for. Where the system cannot look without waiting (`os.waitid`), a command that has ended is waited
for at once, and its group is signalled no more.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import threading
from typing import TYPE_CHECKING, Mapping, Optional, Sequence

from . import _signals
from ._output import Output

if TYPE_CHECKING:
    from libacp.types import v1

READ = 64 * 1024
# A command's children may hold its output open after it has ended; so long their last words are waited for.
LAST_WORDS = 0.2
# How long a command may take to end when it is killed.
END = 2.0
# How often it is looked at whether a command has ended, where the system does not tell.
LOOK = 0.02
# Another thread, or a signal, must not come between looking at a process and signalling it.
LOCK = threading.RLock()
CAN_LOOK = hasattr(os, "waitid")


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


class Process:
    """A command that runs, or has run."""

    def __init__(self, child: subprocess.Popen[bytes], printed: Printed, output: Output, signals: bool) -> None:
        self._child, self._printed = child, printed
        self._loop = asyncio.get_running_loop()
        self._owner = os.getpid()
        self.signals = signals
        # Nobody asks for its end any more.
        self._given_up = False
        # It has been waited for, here or elsewhere.
        self._gone = False
        self._handle: Optional[int] = None
        _signals.watch(self)
        self.output = output
        self.exited: asyncio.Future[Optional[int]] = self._loop.create_future()
        """How the command has ended; ``None`` when somebody else has waited for it."""
        self._reading = asyncio.ensure_future(self._read())
        self.ended = asyncio.ensure_future(self._wait())
        self._watch()

    @classmethod
    def start(
        cls, command: Sequence[str], printed: Printed, output: Output, *, cwd: str, env: Mapping[str, str], signals: bool
    ) -> Process:
        """Starts a command. Nothing happens in between: it is either not begun, or known from its beginning."""
        made: Optional[Process] = None
        try:
            with _signals.starting(signals), _signals.held():
                child = subprocess.Popen(
                    command,
                    cwd=cwd,
                    env=env,
                    stdin=subprocess.DEVNULL,
                    stdout=printed.theirs,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
                made = cls(child, printed, output, signals)
        except BaseException:
            # A handler of the host's has raised, as at Ctrl-C: nobody gets to know this command.
            if made is not None:
                made.kill()
                made.give_up()
            raise
        return made

    async def _read(self) -> None:
        while data := await self._printed.reader.read(READ):
            self.output.add(data)
        self.output.add(b"", final=True)

    async def _wait(self) -> v1.TerminalExitStatus:
        status = await asyncio.shield(self.exited)
        await asyncio.wait([self._reading], timeout=LAST_WORDS)
        if status is None:
            return {}
        if status >= 0:
            return {"exitCode": status}
        try:
            return {"signal": signal.Signals(-status).name}
        except ValueError:
            return {"signal": str(-status)}

    @property
    def pid(self) -> int:
        return self._child.pid

    @property
    def status(self) -> Optional[v1.TerminalExitStatus]:
        return self.ended.result() if self.ended.done() and not self.ended.cancelled() else None

    def _watch(self) -> None:
        try:
            self._handle = os.pidfd_open(self._child.pid)
            self._loop.add_reader(self._handle, self._look)
        except (AttributeError, OSError, NotImplementedError):
            self._unwatch()
            self._look()

    def _unwatch(self) -> None:
        if self._handle is not None:
            with contextlib.suppress(NotImplementedError):
                self._loop.remove_reader(self._handle)
            os.close(self._handle)
            self._handle = None

    def _look(self) -> None:
        """Sees whether the command has ended."""
        if not self._has_ended():
            if self._handle is None:
                self._loop.call_later(LOOK, self._look)
            return
        self._unwatch()
        if self._given_up:
            self._let_go()

    def _has_ended(self) -> bool:
        with LOCK:
            status = self._peek()
            ended = status is not None or self._gone
        if ended and not self.exited.done():
            self.exited.set_result(status)
        return ended

    def _peek(self) -> Optional[int]:
        """How the command has ended, which leaves it to be waited for where that can be."""
        if self._gone:
            return None
        if not CAN_LOOK:
            status = self._child.poll()
            self._gone = status is not None
            return status
        try:
            found = os.waitid(os.P_PID, self._child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            self._gone = True
            return None
        if found is None:
            return None
        return found.si_status if found.si_code == os.CLD_EXITED else -found.si_status

    def _let_go(self) -> None:
        """Waits for a command that has ended: from here on its number is nobody's."""
        with LOCK:
            self._child.poll()
            self._gone = True
        _signals.unwatch(self)

    def kill(self) -> None:
        """Ends the command, and the children that stayed in its group. Raises `PermissionError` where it may not."""
        # A copy of this process has this object as well, and none of its children.
        if self._owner != os.getpid():
            return
        with LOCK, contextlib.suppress(ProcessLookupError):
            over = self._peek() is not None
            if self._gone:
                return
            try:
                if os.name == "posix":
                    os.killpg(self._child.pid, signal.SIGKILL)
                else:
                    self._child.kill()
            except PermissionError:
                # Some systems say so of a group that has ended.
                if not over:
                    raise

    def ask(self, number: int) -> bool:
        """Ends the command: no more is owed to it."""
        with contextlib.suppress(PermissionError):
            self.kill()
        return False

    def over(self) -> bool:
        """Whether nothing is to be waited for."""
        return True

    async def end(self) -> bool:
        """Kills the command and waits for its end, not for ever; whether it has ended."""
        try:
            self.kill()
        except PermissionError:
            return self._has_ended()
        if not self._has_ended():
            await asyncio.wait([self.exited], timeout=END)
        return self.exited.done()

    def give_up(self) -> None:
        """Nobody asks for it any more. Its number is let go once it has ended."""
        self._given_up = True
        self._reading.cancel()
        self._printed.close()
        if self.exited.done():
            self._let_go()
