"""A session as a conversation, and what has changed in it. `_mirror` reads it from a connection."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, FrozenSet, Iterable, List, Mapping, Optional, Tuple, Union, cast

from ._attributes import Attributes
from ._entries import Compaction, Message, Plan, Terminal, ToolCall
from ._entry import Entry
from ._mirror import MEMBERS, Mirror

if TYPE_CHECKING:
    from . import types as _types
    from .views import ViewModes, ViewPrompt, ViewQuestion

# Whose message an id stands for, where it stands for several.
ROLES = ("agent", "user", "session", "thought")


class View(Mirror):
    """A session as a conversation: what a client shows, whichever version the peers speak. It is always up to date.

    The connection or the observer must have been made with ``view=True``. The view is empty before the session is
    known, and stays as it was read last when the connection has forgotten the session.

    Entries are objects that do not change. One that has not changed is the same object as before; of one that has, there
    is a new object. Values of other members are those of JSON, and new ones after each change; do not modify them.
    """

    __slots__ = ()

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
                told = self._connection.view_since(self._session, since) if not (self._lost or self._ended) else None
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
