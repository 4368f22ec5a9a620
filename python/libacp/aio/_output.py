"""The output of a command, as far as it is kept."""

from __future__ import annotations

import codecs
from typing import Callable, Optional


class Output:
    """The end of what was printed: at most `limit` bytes of UTF-8, beginning with a whole character. `hear` gets all of it."""

    def __init__(self, limit: int, hear: Optional[Callable[[str], None]] = None) -> None:
        self._hear = hear
        self._limit = limit
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._kept = bytearray()
        self.truncated = False

    def add(self, data: bytes, final: bool = False) -> None:
        """Takes what was printed. What is not UTF-8 is replaced; half a character waits for the rest."""
        text = self._decoder.decode(data, final)
        if text and self._hear is not None:
            self._hear(text)
        self._kept += text.encode("utf-8")
        excess = len(self._kept) - self._limit
        if excess > 0:
            while excess < len(self._kept) and self._kept[excess] & 0xC0 == 0x80:
                excess += 1
            del self._kept[:excess]
            self.truncated = True

    @property
    def text(self) -> str:
        return self._kept.decode("utf-8")
