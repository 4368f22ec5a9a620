"""Requests of the peer that are being handled, and what that costs."""

from __future__ import annotations

import asyncio
from typing import Any, Callable, NamedTuple, Optional

import libacp


class Cost(NamedTuple):
    """What it takes to serve a request."""

    answer: int = 0
    """Bytes of the answer at most; none where they are not worth counting."""
    file: bool = False
    """Whether it works on a file."""


CHEAP = Cost()


class Job:
    """A request of the peer's that is being served."""

    __slots__ = ("request", "cost", "taken", "waits", "task", "answered", "stop", "accepted")

    def __init__(self, request: libacp.Request, cost: Cost) -> None:
        self.request = request
        self.cost = cost
        self.taken = False
        """Whether what it costs was taken from the budgets."""
        self.waits = False
        """Whether it waits for its turn."""
        self.task: Optional[asyncio.Task[None]] = None
        self.answered = False
        self.stop: Optional[Callable[[], None]] = None
        """What cancels it, where that is more than cancelling the task."""
        self.accepted: Optional[Callable[[Any], None]] = None
        """What the host learns once the connection has taken the result."""
