"""Records messages."""

from __future__ import annotations

import os
from typing import Callable, Dict, Optional

from ._host import Host, Trace

VARIABLE = "LIBACP_TRACE"
RECEIVED, SENT = "<-", "->"


class Tracer:
    """Hands on each message by itself, however the bytes come."""

    def __init__(self, sink: Callable[[str, bytes], object], framing: str) -> None:
        self._sink = sink
        self._lines = framing != "messages"
        self._rest: Dict[str, bytes] = {RECEIVED: b"", SENT: b""}

    def add(self, direction: str, data: bytes) -> None:
        """Takes what was received or sent."""
        if not self._lines:
            self._sink(direction, data)
            return
        *lines, self._rest[direction] = (self._rest[direction] + data).split(b"\n")
        for line in lines:
            if line.strip():
                self._sink(direction, line)

    def end(self) -> None:
        """Hands on what has no end of its line."""
        for direction, rest in self._rest.items():
            if rest.strip():
                self._sink(direction, rest)
        self._rest = dict.fromkeys(self._rest, b"")
        if isinstance(self._sink, File):
            self._sink.close()


class File:
    """A file with a line for each message. Several connections, and several processes, may share it."""

    def __init__(self, path: "str | os.PathLike[str]", role: str) -> None:
        # What a user writes is in it.
        self._file = open(path, "ab", buffering=0, opener=lambda path, flags: os.open(path, flags, 0o600))
        self._role = role.encode()

    def close(self) -> None:
        self._file.close()

    def __call__(self, direction: str, message: bytes) -> None:
        if self._file.closed:
            return
        self._file.write(b"%d %s %s %s\n" % (os.getpid(), self._role, direction.encode(), message.rstrip(b"\r")))


def tracer(host: Host, role: str, framing: str) -> Optional[Tracer]:
    """What writes down the messages of a connection, if anything does."""
    wanted: Optional[Trace] = host.trace if host.trace is not None else os.environ.get(VARIABLE) or None
    if wanted is None:
        return None
    sink = wanted if callable(wanted) else File(wanted, role)
    return Tracer(sink, framing)
