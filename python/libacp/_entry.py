"""What all entries of a view have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, List, Optional

if TYPE_CHECKING:
    from ._grown import Grown
    from .views import ViewBase


class Entry:
    """What all entries have. An entry is as it was when it was read: once it changes, the view has another object."""

    __slots__ = ("_head", "_content", "_items", "_length", "__weakref__")

    _head: ViewBase

    def __init__(self, head: Any, content: Optional[Grown]) -> None:
        self._head = head
        self._content = content
        # How much of the content it has.
        self._items = 0 if content is None else len(content.items)
        self._length = 0 if content is None else content.length

    @property
    def type(self) -> str:
        """What it is: ``message``, ``tool_call``, ``terminal``, ``plan``, ``compaction``, ``subagent``, ``notice`` or
        ``update``.
        """
        kind: str = self._head["type"]  # type: ignore[typeddict-item]
        return kind

    @property
    def index(self) -> int:
        """Its place in the conversation. It stays the same within an epoch; places of what is gone stay empty."""
        return self._head["index"]

    @property
    def revision(self) -> int:
        """The revision of the view in which it changed last."""
        return self._head["revision"]

    @property
    def turn(self) -> int:
        """The number of the turn that it belongs to, from 1; 0 before the first."""
        return self._head["turn"]

    @property
    def id(self) -> Optional[str]:
        """The id that the agent gave it, if there is one."""
        return self._head["id"]

    @property
    def meta(self) -> Dict[str, Any]:
        """The members of ``_meta``, merged name by name."""
        return self._head["meta"]

    @property
    def discarded(self) -> bool:
        """Whether the agent knows nothing of it any more: it has refused it, or its turn (`TURN-14`)."""
        return self._head["discarded"]

    @property
    def trimmed(self) -> bool:
        """Whether it is a stub: what it held was given up to stay within the limits."""
        return self._head["trimmed"]

    @property
    def truncated(self) -> bool:
        """Whether a part of it was given up to stay within the limits."""
        return self._head["truncated"]

    def continues(self, before: Optional[Entry]) -> bool:
        """Whether its content begins with that of an earlier object of the same entry, and at most has more at its
        end.
        """
        return before is not None and before._content is self._content and before._length <= self._length

    def _text(self) -> str:
        return "" if self._content is None else self._content.text(self._length)

    def _added(self, before: Optional[Entry]) -> str:
        if self._content is None:
            return ""
        start = before._length if before is not None and self.continues(before) else 0
        return self._content.between(start, self._length)

    def _blocks(self) -> List[Any]:
        return [] if self._content is None else self._content.blocks(self._items, self._length)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.index}{self._shown()}>"

    def _shown(self) -> str:
        return "" if self.id is None else f" {self.id!r}"
