"""The id of the request that the running handler answers."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Optional, Union

CURRENT: ContextVar[Union[int, str, None]] = ContextVar("libacp.aio.request_id", default=None)


def request_id() -> Union[int, str, None]:
    """Returns the id of the request that the running handler answers; ``None`` outside of handlers of requests.

    `elicitation/create` takes it as ``requestId`` when there is no session yet. Tasks that a handler starts see the
    same id.
    """
    return CURRENT.get()
