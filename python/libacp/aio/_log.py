"""The log. Text of peers in it has no control characters and is bounded."""

from __future__ import annotations

import asyncio
import logging
import traceback
from typing import Any, Dict, Optional, Tuple

log = logging.getLogger("libacp.aio")
# So many lines of one kind in so many seconds; then one that says how many more there were.
LINES = 5
SECONDS = 10.0


def shown(text: str) -> str:
    """The text with an escape for whatever does not print: control characters, line ends, marks of direction."""
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)


class Clean(logging.Filter):
    """Makes what is logged printable. Messages and errors may carry what a peer has said."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Changes a record where it has to be, and lets it pass."""
        try:
            text = record.getMessage()
            clean = shown(text)
            if clean != text:
                record.msg, record.args = clean, ()
        except Exception:
            record.msg, record.args = "what was to be logged here cannot be printed", ()
        error = record.exc_info[1] if record.exc_info else None
        if error is not None and not record.exc_text:
            # Formatters print this in the place of the error's own trace. Lines are indented: an error's text may have
            # line ends, too.
            try:
                lines = "".join(traceback.format_exception(type(error), error, error.__traceback__)).split("\n")
            except Exception:
                lines = [type(error).__name__]
            record.exc_text = "\n".join(f"  {shown(line)}" for line in lines if line)
        return True


log.addFilter(Clean())


class Limited:
    """The log of one connection: what a peer can make it say again and again, it says a few times."""

    def __init__(self) -> None:
        self._counts: Dict[Tuple[str, int], int] = {}
        self._timer: Optional[asyncio.TimerHandle] = None

    def log(self, kind: str, level: int, message: str, *arguments: Any, **how: Any) -> None:
        """Logs a line of this kind: a rule, or a fixed text. Kinds must be few."""
        if not log.isEnabledFor(level):
            # Nobody reads it, and so nobody misses it.
            return
        count = self._counts[kind, level] = self._counts.get((kind, level), 0) + 1
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(SECONDS, self.tell)
        if count <= LINES:
            log.log(level, message, *arguments, **how)

    def tell(self) -> None:
        """Says how much was left out, and begins anew."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        counts, self._counts = self._counts, {}
        for (kind, level), count in counts.items():
            if count > LINES:
                # On the level of what it is about: where that is not shown, nor is this.
                more, was = count - LINES, "was" if count - LINES == 1 else "were"
                log.log(level, "%s: %d more like this %s not logged", kind, more, was)
