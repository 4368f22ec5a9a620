"""A session as a conversation, mirrored from a connection in objects that do not change."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Any, Dict, FrozenSet, Iterable, List, Optional, Tuple, Union, cast

from ._changes import Changes, Follower
from ._entries import ENTRIES, Message, Plan, Terminal, ToolCall
from ._entry import Entry
from ._grown import Grown
from ._native import Observer

if TYPE_CHECKING:
    from . import types as _types
    from ._native import Connection
    from .views import ViewChanges, ViewModes, ViewPrompt, ViewQuestion

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
# Whose message an id stands for, where it stands for several.
ROLES = ("agent", "user", "session", "thought")


class View:
    """A session as a conversation: what a client shows, whichever version the peers speak. It is always up to date.

    The connection or the observer must have been made with ``view=True``. The view is empty before the session is
    known, and stays as it was read last when the connection has forgotten the session.

    Entries are objects that do not change. One that has not changed is the same object as before; of one that has, there
    is a new object. Values of other members are those of JSON, and new ones after each change; do not modify them.
    """

    __slots__ = (
        "_connection", "_session", "_lock", "_revision", "_epoch", "_lost", "_generation", "_first", "_kept", "_ids",
        "_members", "_told", "_entries", "_terminals", "__weakref__",
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

    @property
    def session(self) -> str:
        """The id of the session."""
        return self._session

    @property
    def revision(self) -> int:
        """A number that grows with each change."""
        self._read()
        return self._revision

    @property
    def epoch(self) -> int:
        """A number that grows when the conversation is replaced by another one: by what a replay told, or because the
        view was forgotten.
        """
        self._read()
        return self._epoch

    @property
    def entries(self) -> Tuple[Entry, ...]:
        """The entries in order: objects of the classes `Message`, `ToolCall`, `Plan`, `Compaction`, `Subagent`,
        `Notice` and `Update`.
        """
        self._read()
        found = self._entries
        if found is None:
            with self._lock:
                kept = self._kept.values()
                found = self._entries = tuple(each for each in kept if type(each) is not Terminal)
        return found

    @property
    def terminals(self) -> Tuple[Terminal, ...]:
        """The terminals, in the order in which they were first told of."""
        self._read()
        found = self._terminals
        if found is None:
            with self._lock:
                found = self._terminals = tuple(each for each in self._kept.values() if type(each) is Terminal)
        return found

    @property
    def state(self) -> str:
        """``idle``, ``running``, ``requires_action``, ``unknown`` or a state of the agent's own. In version 1 it is
        ``running`` while a prompt is open.
        """
        return cast(str, self._member("state"))

    @property
    def stop_reason(self) -> Optional[str]:
        """Why the work ended last; ``None`` while it goes on."""
        return cast("Optional[str]", self._member("stop_reason"))

    @property
    def error(self) -> Optional[Dict[str, Any]]:
        """The JSON-RPC error that the work ended with."""
        return cast("Optional[Dict[str, Any]]", self._member("error"))

    @property
    def usage(self) -> Optional[Dict[str, Any]]:
        """How much of the context is used, and what it has cost: ``used``, ``size``, ``cost``."""
        return cast("Optional[Dict[str, Any]]", self._member("usage"))

    @property
    def turn_usage(self) -> Optional[Dict[str, Any]]:
        """The tokens of the last turn, as the agent told them at its end."""
        return cast("Optional[Dict[str, Any]]", self._member("turn_usage"))

    @property
    def title(self) -> Optional[str]:
        """The title of the session."""
        return cast("Optional[str]", self._member("title"))

    @property
    def updated_at(self) -> Optional[str]:
        """When the session was active last, as the agent told it."""
        return cast("Optional[str]", self._member("updated_at"))

    @property
    def config_options(self) -> Optional[List[_types.v2.SessionConfigOption]]:
        """The config options, with the names of version 2 whichever the peers speak."""
        return cast("Optional[List[_types.v2.SessionConfigOption]]", self._member("config_options"))

    @property
    def modes(self) -> Optional[ViewModes]:
        """The mode in force and those that are offered."""
        return cast("Optional[ViewModes]", self._member("modes"))

    @property
    def commands(self) -> Optional[List[_types.v1.AvailableCommand]]:
        """The commands that a user can type."""
        return cast("Optional[List[_types.v1.AvailableCommand]]", self._member("commands"))

    @property
    def background(self) -> Optional[List[_types.v2.BackgroundWork]]:
        """What runs beside the foreground work (version 2)."""
        return cast("Optional[List[_types.v2.BackgroundWork]]", self._member("background"))

    @property
    def questions(self) -> List[ViewQuestion]:
        """The agent's questions that have no answer yet, oldest first."""
        return cast("List[ViewQuestion]", self._member("questions"))

    @property
    def prompts(self) -> List[ViewPrompt]:
        """The client's prompts that have no answer yet, oldest first."""
        return cast("List[ViewPrompt]", self._member("prompts"))

    @property
    def replaying(self) -> bool:
        """Whether a conversation is being replayed."""
        return cast(bool, self._member("replaying"))

    @property
    def frozen(self) -> bool:
        """Whether the session is over, so that the view changes no more."""
        return cast(bool, self._member("frozen"))

    @property
    def turn(self) -> int:
        """How many turns there were."""
        return cast(int, self._member("turn"))

    @property
    def trimmed(self) -> int:
        """How many entries have become stubs, to stay within the limits."""
        return cast(int, self._member("trimmed"))

    @property
    def dropped(self) -> int:
        """How many entries were dropped altogether, to stay within the limits."""
        return cast(int, self._member("dropped"))

    def message(self, id: str) -> Optional[Message]:
        """The message of this id: the agent's or the user's; one id may stand for a thought as well, which comes last."""
        for role in ROLES:
            found = self._find(role, id)
            if found is not None:
                return cast(Message, found)
        return None

    def tool(self, id: str) -> Optional[ToolCall]:
        """The tool call of this id."""
        return cast("Optional[ToolCall]", self._find("tool_call", id))

    def terminal(self, id: str) -> Optional[Terminal]:
        """The terminal of this id."""
        return cast("Optional[Terminal]", self._find("terminal", id))

    def plan(self, id: str = "main") -> Optional[Plan]:
        """The plan of this id; version 1 has one plan, which is called ``main``."""
        return cast("Optional[Plan]", self._find("plan", id))

    def since(self, revision: int) -> Changes:
        """What has changed since a revision of this view; since 0, everything that is there."""
        changes = self._changes(revision)
        if changes is not None:
            return changes
        nothing: FrozenSet[str] = frozenset()
        return Changes(
            self, revision, reset=False, first=self._first, entries=(), terminals=(), removed=(), names=nothing
        )

    def follow(self) -> Follower:
        """Begins to follow the view: each `Follower.take` returns what has changed since the one before."""
        return Follower(self)

    def forget(self) -> bool:
        """Lets the connection forget the view, if the session is over; whether it had one. This object stays as it is."""
        self._read()
        return self._connection.forget_view(self._session)

    def _member(self, name: str) -> Any:
        self._read()
        return self._members[name]

    def _find(self, kind: str, id: str) -> Optional[Entry]:
        self._read()
        index = self._ids.get((kind, id))
        return None if index is None else self._kept.get(index)

    def _now(self) -> Optional[int]:
        return self._connection.view_revision(self._session)

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

    def _changes(self, since: int, generation: Optional[int] = None) -> Optional[Changes]:
        """What has changed since a revision, of a view that may have been another one; ``None`` if nothing has."""
        with self._lock:
            known = self._revision
            told = self._pull()
            if generation not in (None, self._generation):
                since = 0
            if since == self._revision:
                return None
            if told is None or (since != known and not told["reset"]):
                told = self._connection.view_since(self._session, since) if not self._lost else None
            if told is None:
                return self._remembered(since)
            kept = self._kept
            names = frozenset(name for name, (json, _) in MEMBERS.items() if json in told)
            return Changes(
                self,
                since,
                reset=told["reset"],
                first=told["first"],
                entries=tuple(kept[head["index"]] for head in told["entries"] if head["index"] in kept),
                terminals=tuple(
                    cast(Terminal, kept[head["index"]]) for head in told["terminals"] if head["index"] in kept
                ),
                removed=tuple(told["removed"]),
                names=names,
            )

    def _remembered(self, since: int) -> Changes:
        """The same of a view that the connection has forgotten."""
        changed = [entry for entry in self._kept.values() if entry.revision > since]
        return Changes(
            self,
            since,
            reset=since == 0,
            first=self._first,
            entries=tuple(entry for entry in changed if type(entry) is not Terminal),
            terminals=tuple(entry for entry in changed if type(entry) is Terminal),
            removed=(),
            names=frozenset(name for name, revision in self._told.items() if revision > since),
        )

    def __repr__(self) -> str:
        return f"<View {self._session!r} {self.state}, {len(self.entries)} entries>"


def _index(head: Dict[str, Any]) -> int:
    index: int = head["index"]
    return index


def _kind(entry: Entry) -> str:
    """What ids are unique among."""
    return entry.role if isinstance(entry, Message) else entry.type
