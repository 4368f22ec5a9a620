"""Limits of time, as hosts give them."""

from __future__ import annotations

import math
from typing import Optional


def milliseconds(timeout: float) -> Optional[int]:
    """A limit in seconds as connections take it; ``None`` for infinity, which is none."""
    if isinstance(timeout, bool) or not isinstance(timeout, (int, float)) or math.isnan(timeout):
        raise TypeError(f"timeout: expected a number of seconds, or None, not {timeout!r}")
    return None if timeout == math.inf else max(0, round(timeout * 1000))
