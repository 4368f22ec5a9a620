"""A session, as its turns, tool calls and terminals see it."""

from __future__ import annotations

from typing import Any, Mapping, Optional, Protocol

from ._client_peer import AnsweringPeer


class Told(Protocol):
    """A session that is told something."""

    id: str

    @property
    def client(self) -> AnsweringPeer[Any]: ...

    async def request(
        self, method: str, params: Optional[Mapping[str, object]] = None, *, timeout: Optional[float] = None
    ) -> Any: ...

    async def _update(self, update: Mapping[str, Any], meta: Optional[Mapping[str, Any]] = None) -> None: ...
