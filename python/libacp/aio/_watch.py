"""Following the view of a session: the loop over its changes."""

from __future__ import annotations

import asyncio
from typing import AsyncIterator, Optional

from libacp.view import Changes, View

from ._peer import Peer


class Watch(AsyncIterator[Changes]):
    """The iterator over the changes of a session's view.

    Nothing waits in it: what has changed while the body of the loop was busy is read when the loop goes on. The
    connection knows of it only while it waits.
    """

    def __init__(self, peer: Peer, view: View) -> None:
        self._peer, self._view = peer, view
        self._follower = view.follow()
        self._waiting: Optional[asyncio.Future[None]] = None

    async def __anext__(self) -> Changes:
        watchers = self._peer._wire.watchers
        while True:
            changes = self._follower.take()
            if changes is not None:
                return changes
            if self._over():
                raise StopAsyncIteration
            if self._waiting is not None:
                raise RuntimeError("another task waits for the next changes of this loop; call `changes()` in each")
            self._waiting = asyncio.get_running_loop().create_future()
            watchers.append(self)
            try:
                await self._waiting
            finally:
                watchers.remove(self)
                self._waiting = None

    @property
    def woken(self) -> bool:
        """Whether it is about to go on."""
        return self._waiting is not None and self._waiting.done()

    def look(self) -> None:
        """Events were delivered, or something was sent."""
        waiting = self._waiting
        if waiting is not None and not waiting.done() and (self._follower._stale() or self._gone()):
            waiting.set_result(None)

    def _over(self) -> bool:
        """Whether nothing more will change."""
        return self._gone() or self._view.frozen

    def _gone(self) -> bool:
        return self._peer._ended.done() or self._peer.connection.view_revision(self._view.session) is None
