"""What a peer may make this side hold at a time: bytes, or files that are open."""

from __future__ import annotations

import asyncio
from typing import Dict, Optional

from .. import _native


class Budget:
    """So much may be taken at a time; who wants more waits, in order. What is more than all of it goes alone. Shares
    belong to requests, by their serial numbers.
    """

    def __init__(self, most: Optional[int] = None) -> None:
        self._shares = _native.Budget(most)
        self._turns: Dict[int, asyncio.Future[None]] = {}

    def take_now(self, request: int, amount: int) -> bool:
        """Takes a share if it is there and nobody waits; whether it was."""
        if self._shares.ask(request, amount):
            return True
        self._shares.release(request)
        return False

    async def take(self, request: int, amount: int) -> None:
        """Takes a share, as soon as it is there. Whoever is cancelled meanwhile has taken nothing."""
        if self._shares.ask(request, amount):
            return
        turn = self._turns[request] = asyncio.get_running_loop().create_future()
        try:
            await turn
        except asyncio.CancelledError:
            self.give(request)
            raise

    def give(self, request: int) -> None:
        """Gives a share back."""
        self._shares.release(request)
        self._turns.pop(request, None)
        while (next := self._shares.poll()) is not None:
            turn = self._turns.pop(next)
            if not turn.done():
                turn.set_result(None)
