"""What has changed in a view."""

from __future__ import annotations

from typing import TYPE_CHECKING, Dict, FrozenSet, Iterable, Mapping, Optional, Tuple, Union

from ._attributes import Attributes
from ._entry import Entry

if TYPE_CHECKING:
    from ._entries import Compaction, Message, Terminal
    from ._view import View

NOTHING: Mapping[int, Entry] = {}


class Changes:
    """What has changed in a view since it was looked at before. It is true if anything has."""

    __slots__ = Attributes(
        __name__, "Changes", "view since revision reset first entries terminals removed names before"
    )

    view: View
    """The view."""
    since: int
    """The revision that was seen before; 0 if this is the first time."""
    revision: int
    """The revision of the view now."""
    reset: bool
    """Whether nothing of what was seen before is there any more, as the first time and after a load: all that is there
    is among what has changed.
    """
    first: int
    """The index of the first entry that is kept; those before it were dropped, to stay within the limits."""
    entries: Tuple[Entry, ...]
    """The entries that are new or have changed, in order."""
    terminals: Tuple[Terminal, ...]
    """The terminals that are new or have changed, in order."""
    removed: Tuple[int, ...]
    """The indexes of entries and terminals that were there and are not any more."""
    names: FrozenSet[str]
    """Which other members of the view have changed, such as ``state`` or ``title``."""
    before: Mapping[int, Entry]
    """The changed entries and terminals as they were seen before, by index. Empty for `View.since`, which does not
    know what you have seen.
    """

    def __init__(
        self,
        view: View,
        since: int,
        *,
        reset: bool,
        first: int,
        entries: Tuple[Entry, ...],
        terminals: Tuple[Terminal, ...],
        removed: Tuple[int, ...],
        names: FrozenSet[str],
    ) -> None:
        self.view = view
        self.since = since
        self.revision = view._revision
        self.reset = reset
        self.first = first
        self.entries = entries
        self.terminals = terminals
        self.removed = removed
        self.names = names
        self.before = NOTHING

    def added(self, entry: Union[Message, Compaction, Terminal]) -> str:
        """The text that a changed message, compaction or terminal has more than when it was seen before; all of it if
        it is new, or was changed other than by growing at its end.

        Raises:
            ValueError: for the changes of `View.since`.
        """
        if self.before is NOTHING:
            raise ValueError("`View.since` does not know what was seen before: use `View.follow`, or `added` of the entry")
        return entry.added(self.before.get(entry.index))

    def __bool__(self) -> bool:
        return bool(self.reset or self.entries or self.terminals or self.removed or self.names)

    def __repr__(self) -> str:
        found = [f"{len(self.entries)} entries", f"{len(self.terminals)} terminals", f"{len(self.removed)} removed"]
        return f"<Changes {self.since}..{self.revision}: {', '.join(found + (['reset'] if self.reset else sorted(self.names)))}>"


class Follower:
    """Somebody who follows a view, as `View.follow` returns it. It knows what it was given."""

    __slots__ = ("_view", "_revision", "_generation", "_first", "_seen")

    def __init__(self, view: View) -> None:
        self._view = view
        self._revision = self._generation = self._first = 0
        self._seen: Dict[int, Entry] = {}

    def take(self) -> Optional[Changes]:
        """What has changed since the last call, however much that is; the first time, everything that is there.
        ``None`` if nothing has.
        """
        changes = self._view._changes(self._revision, self._generation)
        self._generation = self._view._generation
        if changes is None:
            return None
        if changes.reset:
            self._seen.clear()
            self._first = changes.first
        dropped = self._drop(range(self._first, changes.first))
        changes.removed = (*dropped, *self._drop(changes.removed))
        self._revision, self._first = changes.revision, changes.first
        changes.before = before = {}
        for entry in (*changes.entries, *changes.terminals):
            seen = self._seen.get(entry.index)
            if seen is not None:
                before[entry.index] = seen
            self._seen[entry.index] = entry
        return changes if changes else None

    def _stale(self) -> bool:
        """Whether there is anything to take; cheap."""
        return self._view._now() != self._revision

    def _drop(self, indexes: Iterable[int]) -> Tuple[int, ...]:
        return tuple(index for index in indexes if self._seen.pop(index, None) is not None)
