"""Commands and agents end with this process: when it exits, and when a signal ends it that it does not handle itself.

Nothing can be done where it is killed by SIGKILL, or ends by `os._exit`.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import signal
import threading
import time
from functools import partial
from types import FrameType
from typing import Any, Callable, Iterator, List, Optional, Protocol, Set, Tuple

# With its usual handler, SIGINT raises `KeyboardInterrupt`, which ends blocks and then the process.
SIGNALS = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP", "SIGINT") if hasattr(signal, name)]
Handler = Callable[[int, Optional[FrameType]], Any]
# How a process is asked to end before it is killed: by the end of its input, and by a signal. It has so long for each.
ASKS = (0, signal.SIGTERM)
SECONDS, ROUND = 0.3, 0.02


class Killable(Protocol):
    """What ends with this process."""

    signals: bool
    """Whether it also does when a signal ends this process."""

    def kill(self) -> None:
        """Ends it."""
        ...

    def ask(self, number: int) -> bool:
        """Asks it to end, in one of the ways of `ASKS`; whether that may take a moment."""
        ...

    def over(self) -> bool:
        """Whether it has ended. Nobody waits for it any more."""
        ...


_running: Set[Killable] = set()
# Held for a moment, and never while a signal is handled.
_lock = threading.Lock()
_starting = 0
_pending: Optional[int] = None
_ending = False


@contextlib.contextmanager
def starting(signals: bool) -> Iterator[None]:
    """While a process is started: a signal waits until it is known here, as it would be left over otherwise."""
    global _starting, _pending
    with _lock:
        _starting += 1
    try:
        if signals:
            _handle()
        yield
    finally:
        with _lock:
            _starting -= 1
            number = None if _starting else _pending
        if number is not None:
            _pending = None
            os.kill(os.getpid(), number)
        _restore()


@contextlib.contextmanager
def held() -> Iterator[None]:
    """Calls the host's own handlers afterwards: they may raise, as that of Python for SIGINT does. It is left before
    anything else runs in this thread.
    """
    came: List[Tuple[Handler, int, Optional[FrameType]]] = []
    with contextlib.ExitStack() as restoring:
        if threading.current_thread() is threading.main_thread():
            for number in SIGNALS:
                handler = signal.getsignal(number)
                if callable(handler) and handler is not _ends:
                    restoring.callback(signal.signal, number, handler)
                    signal.signal(number, partial(_hold, came, handler))
        yield
    for handler, number, frame in came:
        handler(number, frame)


def _hold(
    came: List[Tuple[Handler, int, Optional[FrameType]]], handler: Handler, number: int, frame: Optional[FrameType]
) -> None:
    came.append((handler, number, frame))


def watch(each: Killable) -> None:
    """Ends it with this process, from here on."""
    _running.add(each)


def unwatch(each: Killable) -> None:
    """It has ended. Signals are as they were before once nothing is left."""
    _running.discard(each)
    _restore()


def _handle() -> None:
    if os.name == "posix" and threading.current_thread() is threading.main_thread():
        for number in SIGNALS:
            if signal.getsignal(number) is signal.SIG_DFL:
                signal.signal(number, _ends)


def _restore() -> None:
    if _starting or any(each.signals for each in _running):
        return
    if threading.current_thread() is threading.main_thread():
        for number in SIGNALS:
            if signal.getsignal(number) is _ends:
                signal.signal(number, signal.SIG_DFL)


def _kill_all() -> None:
    for each in list(_running):
        with contextlib.suppress(OSError):
            each.kill()


def _end_all() -> None:
    """Gives all that ends with this process a moment to do so by itself."""
    ending = [each for each in list(_running) if each.signals]
    for number in ASKS:
        ending = [each for each in ending if each.ask(number)]
        for _ in range(round(SECONDS / ROUND)):
            ending = [each for each in ending if not each.over()]
            if not ending:
                return
            time.sleep(ROUND)
    for each in ending:
        with contextlib.suppress(OSError):
            each.kill()


def _ends(number: int, frame: Optional[FrameType]) -> None:
    global _pending, _ending
    if _starting:
        _pending = number
        return
    # Who asks twice does not want to wait.
    if _ending:
        _kill_all()
    else:
        _ending = True
        _end_all()
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


atexit.register(_kill_all)
