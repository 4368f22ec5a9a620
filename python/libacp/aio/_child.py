"""An agent as a child process: its end, and that of what it has started."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import signal
import subprocess
from typing import Optional, Tuple

from . import _signals
from ._stderr import Hook, Stderr

ROUND = 0.05
LOOK = 1.0
# How long what an agent has started may take to end when it is told to.
LAST = 0.5
# The number of a group that nobody is in may become another's. It does not as fast as this.
REUSED = 10.0
# Others may hold its standard error open after it has ended; so long its last lines are waited for.
LAST_WORDS = 0.2


class Child:
    """A process, and the group that it leads."""

    def __init__(
        self, process: asyncio.subprocess.Process, leads: bool, signals: bool, hears: bool, hook: Optional[Hook]
    ) -> None:
        self._process = process
        self._leads = leads
        self.signals = signals
        self._owner = os.getpid()
        self._loop = asyncio.get_running_loop()
        self._over: Optional[float] = None
        self._watching = asyncio.ensure_future(self._watch())
        self._said = Stderr(process.stderr, hook) if hears and process.stderr is not None else None
        _signals.watch(self)

    async def _watch(self) -> None:
        waiting = asyncio.ensure_future(self._process.wait())
        try:
            while self._process.returncode is None:
                await asyncio.wait([waiting], timeout=LOOK)
        finally:
            waiting.cancel()
        self._over = self._loop.time()

    async def status(self, seconds: float) -> Tuple[Optional[int], Tuple[str, ...]]:
        """How it has ended, in this time, and the last lines that it printed."""
        await self._ended(seconds)
        return self._process.returncode, () if self._said is None else await self._said.last(LAST_WORDS)

    async def end(self, grace: float) -> None:
        """Waits for the process to end by itself, then helps. Being cancelled meanwhile ends it at once."""
        # Its last words are of no interest, but must not keep it from ending.
        ignoring = asyncio.ensure_future(self._ignore())
        try:
            try:
                for number in (signal.SIGTERM, KILL):
                    if await self._ended(grace):
                        break
                    self._signal(number)
                else:
                    await self._ended(None)
                await self._end_rest()
            finally:
                self.kill()
                if self._process.returncode is None:
                    await self._ended(None)
        finally:
            _signals.unwatch(self)
            self._watching.cancel()
            ignoring.cancel()
            if self._said is not None:
                # What it has logged is there already, unless somebody else holds it open.
                await self._said.end(LAST_WORDS)
            # Its output may be open still, in the hands of a child of its own; there is no public way to let go of it.
            getattr(self._process, "_transport").close()
            with contextlib.suppress(OSError):
                assert self._process.stdin is not None
                await self._process.stdin.wait_closed()

    async def _end_rest(self) -> None:
        """Asks what the process has left behind to end, for a moment."""
        self._signal(signal.SIGTERM)
        for _ in range(round(LAST / ROUND)):
            if not self._signal(0):
                return
            await asyncio.sleep(ROUND)

    def kill(self) -> None:
        """Ends the process, and the children that stayed in its group."""
        # A copy of this process has this object as well, and none of its children.
        if self._owner == os.getpid():
            self._signal(KILL)

    def ask(self, number: int) -> bool:
        """Asks the process to end, from a handler of signals: by the end of its input, or by a signal."""
        if self._owner != os.getpid():
            return False
        if number:
            return self._signal(number)
        assert self._process.stdin is not None
        # Whoever still writes must not find another file under this number. It is closed already, or the loop is not asyncio's,
        # where there is none.
        with contextlib.suppress(AttributeError, ValueError, OSError), open(os.devnull, "wb") as nothing:
            os.dup2(nothing.fileno(), self._process.stdin.get_extra_info("pipe").fileno(), inheritable=False)
        return True

    def over(self) -> bool:
        """Whether nothing is left of it, where nobody learns how it has ended."""
        try:
            ended = os.waitpid(self._process.pid, os.WNOHANG)[0] != 0
        except ChildProcessError:
            ended = True
        return not self._signal(0) if self._leads else ended

    def _signal(self, number: int) -> bool:
        """Signals the process and its group; whether there is anything left of them."""
        process = self._process
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if not self._leads:
                if process.returncode is None:
                    process.send_signal(number)
                    return True
            elif os.name != "posix":
                if process.returncode is None and number:
                    # It takes the children along, which Windows knows by their parents.
                    subprocess.run(["taskkill", "/T", "/F", "/PID", str(process.pid)], check=False, capture_output=True)
                    return True
            elif process.returncode is None or self._over is None or self._loop.time() - self._over < REUSED:
                os.killpg(process.pid, number)
                return True
        return False

    async def _ended(self, seconds: Optional[float]) -> bool:
        """Whether it has ended in this time. `Process.wait` would also wait for a child that holds its output open."""
        process = self._process
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

    async def _ignore(self) -> None:
        assert self._process.stdout is not None
        while await self._process.stdout.read(64 * 1024):
            pass


KILL = getattr(signal, "SIGKILL", signal.SIGTERM)
