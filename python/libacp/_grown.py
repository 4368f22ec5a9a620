"""What the objects of an entry share while its content grows, so that reading it costs as much as the content."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, List, Optional

if TYPE_CHECKING:
    from threading import Lock

    from .views import ViewContent

# So many short texts that came one by one become one text.
SHORT = 256


class Grown:
    """A content that grows at its end. An object of its entry knows how many items and characters there were."""

    __slots__ = ("end", "before", "items", "length", "_starts", "_parts", "_short", "_lock")

    def __init__(self, lock: Lock) -> None:
        self.end: int = 0
        """The position to read on from."""
        self.before: int = 0
        """Bytes of a terminal that came before the text."""
        # ``None`` for a block of nothing but text, which is in the text.
        self.items: List[Optional[Dict[str, Any]]] = []
        self.length: int = 0
        # Where in the text each item begins.
        self._starts: List[int] = []
        self._parts: List[str] = []
        self._short: int = 0
        # It is held by who adds.
        self._lock = lock

    def add(self, new: ViewContent) -> None:
        self.end = new["end"]
        self.before = new.get("before", 0)
        self._say(new.get("output", ""))
        self.items.extend(new.get("content", ()))  # type: ignore[arg-type]
        blocks: List[Any] = [*new.get("blocks", ()), *new.get("summary", ())]
        for number, block in enumerate(blocks):
            # A tolerant policy lets through what is no block.
            told = block if type(block) is dict and block.get("type") == "text" else {}
            text = told.get("text")
            if number > 0 or not new["continues"]:
                self.items.append(None if len(told) == 2 and type(text) is str else block)
                self._starts.append(self.length)
            if type(text) is str:
                self._say(text)

    def _say(self, text: str) -> None:
        if not text:
            return
        self._parts.append(text)
        self.length += len(text)
        self._short += 1
        if self._short == SHORT:
            self._parts[-SHORT:] = ["".join(self._parts[-SHORT:])]
            self._short = 0

    def text(self, length: int) -> str:
        """The first characters; they are joined when somebody asks for them, and stay so."""
        with self._lock:
            parts, self._parts = self._parts, []
            more = "".join(parts[1:])
            whole = parts.pop(0) if parts else ""
            # Where nobody has the shorter text any more, CPython makes it longer instead of copying it.
            whole += more
            self._parts.append(whole)
            self._short = 0
        return whole[:length]

    def between(self, start: int, end: int) -> str:
        """The characters from one on; it costs as much as they are."""
        found: List[str] = []
        with self._lock:
            at = self.length
            for part in reversed(self._parts):
                if at <= start:
                    break
                at -= len(part)
                if at < end:
                    found.append(part[max(start - at, 0) : end - at])
        return "".join(reversed(found))

    def blocks(self, count: int, length: int) -> List[Any]:
        """The first blocks, with so much text."""
        text, starts = self.text(length), [*self._starts[:count], length]
        shown = zip(self.items[:count], starts, starts[1:])
        return [{"type": "text", "text": text[start:end]} if item is None else item for item, start, end in shown]
