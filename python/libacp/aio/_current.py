"""Which request the running handler answers."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Optional, Union

CURRENT: ContextVar[Union[int, str, None]] = ContextVar("libacp.aio.request_id", default=None)


def request_id() -> Union[int, str, None]:
    """Returns the id of the request that the running handler answers; ``None`` outside of handlers of requests.

    It is what `elicitation/create` takes as ``requestId`` where there is no session yet. The tasks that a handler starts
    have it, too.
    """
    return CURRENT.get()
