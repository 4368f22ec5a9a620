"""What a connection keeps of a session, mirrored in objects that do not change. `_view` shows it."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Any, Dict, Iterable, List, Optional, Tuple, Union

from ._entries import ENTRIES, Message, Terminal
from ._entry import Entry
from ._grown import Grown
from ._native import Observer

if TYPE_CHECKING:
    from ._native import Connection
    from .views import ViewChanges

# What a session has one of: its name here and in JSON, and what stands for what was not told.
MEMBERS: Dict[str, Tuple[str, Any]] = {
    "state": ("state", "idle"),
    "stop_reason": ("stopReason", None),
    "error": ("error", None),
    "usage": ("usage", None),
    "turn_usage": ("turnUsage", None),
    "title": ("title", None),
    "updated_at": ("updatedAt", None),
    "config_options": ("configOptions", None),
    "modes": ("modes", None),
    "commands": ("commands", None),
    "background": ("background", None),
    "questions": ("questions", []),
    "prompts": ("prompts", []),
    "replaying": ("replaying", False),
    "frozen": ("frozen", False),
    "turn": ("turn", 0),
    "trimmed": ("trimmed", 0),
    "dropped": ("dropped", 0),
}


class Mirror:
    """The entries and members of one view, as they were read last."""

    __slots__ = (
        "_connection", "_session", "_lock", "_revision", "_epoch", "_lost", "_generation", "_first", "_kept", "_ids",
        "_members", "_told", "_entries", "_terminals", "_ended", "__weakref__",
    )  # fmt: skip

    def __init__(self, connection: Union[Connection, Observer], session: str) -> None:
        keeps = connection._keeps_views if isinstance(connection, Observer) else connection.config.view
        if not keeps:
            raise ValueError(f"this {type(connection).__name__} keeps no views: it was made without `view=True`")
        self._connection = connection
        self._session = session
        self._lock = Lock()
        self._revision = self._epoch = 0
        # Whether what the connection has may be another view than the one that is mirrored.
        self._lost = False
        # How often it was.
        self._generation = 0
        # Whether it stays as it is, whatever the connection has under this id.
        self._ended = False
        self._clear()

    def _clear(self) -> None:
        self._first = 0
        self._kept: Dict[int, Entry] = {}
        self._ids: Dict[Tuple[str, str], int] = {}
        self._members = {name: value for name, (_, value) in MEMBERS.items()}
        # In which revision it was seen that a member has changed.
        self._told = dict.fromkeys(MEMBERS, 0)
        # They are made when somebody asks for them.
        self._entries: Optional[Tuple[Entry, ...]] = None
        self._terminals: Optional[Tuple[Terminal, ...]] = None

    def _member(self, name: str) -> Any:
        self._read()
        return self._members[name]

    def _find(self, kind: str, id: str) -> Optional[Entry]:
        self._read()
        index = self._ids.get((kind, id))
        return None if index is None else self._kept.get(index)

    def _now(self) -> Optional[int]:
        return self._revision if self._ended else self._connection.view_revision(self._session)

    def _end(self) -> None:
        """What is there now stays."""
        self._read()
        self._ended, self._lost = True, False

    def _read(self) -> None:
        """Takes over what the connection has."""
        if self._now() != self._revision or self._lost:
            with self._lock:
                self._pull()

    def _pull(self) -> Optional[ViewChanges]:
        revision = self._now()
        if revision is None:
            self._lost = self._revision > 0
            if self._lost:
                # It was over, or a load has failed that had not shown anything.
                self._members.update(replaying=False, frozen=True)
            return None
        another = self._lost or revision < self._revision
        if revision == self._revision and not another:
            return None
        told = self._connection.view_since(self._session, 0 if another else self._revision)
        if told is not None:
            self._take_over(told)
            self._lost = False
            self._generation += another
        return told

    def _take_over(self, told: ViewChanges) -> None:
        if told["reset"]:
            self._clear()
        heads: List[Any] = [*told["entries"], *told["terminals"]]
        if heads or told["removed"] or self._first != told["first"]:
            self._entries = self._terminals = None
        self._drop(range(self._first, told["first"]))
        self._drop(told["removed"])
        self._first = told["first"]
        # Entries and terminals share their numbers, and come in two lists.
        for head in sorted(heads, key=_index):
            self._put(head)
        for name, (json, _) in MEMBERS.items():
            if json in told:
                self._members[name] = told[json]  # type: ignore[literal-required]
                self._told[name] = told["revision"]
        # Where the connection is busy in another thread, all of this is done again.
        self._revision, self._epoch = told["revision"], told["epoch"]

    def _drop(self, indexes: Iterable[int]) -> None:
        for index in indexes:
            gone = self._kept.pop(index, None)
            if gone is not None and gone.id is not None and self._ids.get((_kind(gone), gone.id)) == index:
                del self._ids[_kind(gone), gone.id]

    def _put(self, head: Any) -> None:
        index, end = head["index"], head["end"]
        before = self._kept.get(index)
        content = None if before is None else before._content
        if end != (0 if content is None else content.end):
            content = self._grown(index, content)
        entry = self._kept[index] = ENTRIES.get(head["type"], Entry)(head, content)
        if entry.id is not None:
            self._ids[_kind(entry), entry.id] = index

    def _grown(self, index: int, content: Optional[Grown]) -> Optional[Grown]:
        """The content as it is now: the same object with more in it, or another one."""
        new = self._connection.view_content(self._session, index, 0 if content is None else content.end)
        if new is None:
            return content
        if content is None or new["from"] == 0:
            content = Grown(self._lock)
        content.add(new)
        return content


def _index(head: Dict[str, Any]) -> int:
    index: int = head["index"]
    return index


def _kind(entry: Entry) -> str:
    """What ids are unique among."""
    return entry.role if isinstance(entry, Message) else entry.type
