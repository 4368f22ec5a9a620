"""Looks for processes by a mark in their command line; for tests of what is left over."""

import asyncio
import itertools
import os
import signal
from pathlib import Path
from typing import List

def heeding_signals() -> None:
    """For `preexec_fn`: what begins here heeds signals, also where the tests are run below ``nohup`` or in the background,
    which has processes ignore some of them, and their children with them.
    """
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)


_numbers = itertools.count(1)


def mark() -> str:
    """A number of seconds that no other test sleeps for."""
    return f"{3000 + next(_numbers)}.{os.getpid():07}"


def alive(mark: str) -> List[int]:
    """The processes that have a mark as an argument, and run."""
    found = []
    for each in Path("/proc").iterdir():
        if each.name.isdigit():
            try:
                if mark.encode() in (each / "cmdline").read_bytes().split(b"\0"):
                    if "\nState:\tZ" not in (each / "status").read_text():
                        found.append(int(each.name))
            except OSError:
                pass
    return found


async def left(mark: str, seconds: float = 4.0) -> List[int]:
    """Those that run still after some seconds, fewer than an agent is given to end."""
    for _ in range(round(seconds / 0.02)):
        if not alive(mark):
            return []
        await asyncio.sleep(0.02)
    return alive(mark)
