"""Those that wait until what comes and goes on a connection has changed something that they look at."""

from __future__ import annotations

import asyncio
from typing import List, Protocol

# After so many rounds of the event loop, whoever was woken has gone on.
ROUNDS = 8


class Watcher(Protocol):
    @property
    def woken(self) -> bool:
        """Whether it is about to go on."""
        ...

    def look(self) -> None:
        """Something may have changed."""
        ...


class Watchers(List[Watcher]):
    def look(self) -> None:
        for watcher in self:
            watcher.look()

    async def go_on(self) -> None:
        """Lets those go on who were woken."""
        for _ in range(ROUNDS):
            if not any(watcher.woken for watcher in self):
                break
            await asyncio.sleep(0)
