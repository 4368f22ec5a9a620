"""What a peer may make this side hold at a time: bytes, or files that are open."""

from __future__ import annotations

import asyncio
import collections
from typing import Deque, Tuple


class Budget:
    """So much may be taken at a time; who wants more waits, in order. What is more than all of it goes alone."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._taken = 0
        self._waiting: Deque[Tuple[int, asyncio.Future[None]]] = collections.deque()

    def take_now(self, amount: int) -> bool:
        """Takes a part if it is there and nobody waits; whether it was."""
        return not self._waiting and self._fit(amount)

    def _fit(self, amount: int) -> bool:
        taken = self._taken + amount
        if taken > self._most and self._taken:
            return False
        self._taken = taken
        return True

    async def take(self, amount: int) -> None:
        """Takes a part, as soon as it is there. Whoever is cancelled meanwhile has taken nothing."""
        if self.take_now(amount):
            return
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append((amount, turn))
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self.give(amount)
            else:
                turn.cancel()
                self._next()
            raise

    def give(self, amount: int) -> None:
        """Gives a part back."""
        self._taken -= amount
        if self._waiting:
            self._next()

    def _next(self) -> None:
        while self._waiting:
            amount, turn = self._waiting[0]
            if not turn.done():
                if not self._fit(amount):
                    return
                turn.set_result(None)
            self._waiting.popleft()
