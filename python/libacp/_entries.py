"""The kinds of entries of a view, as objects that do not change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, List, Literal, Optional, Type, Union

from ._entry import Entry

if TYPE_CHECKING:
    from . import types as _types
    from .views import (
        ViewCompactionHead,
        ViewMessageHead,
        ViewNotice,
        ViewPlan,
        ViewSubagent,
        ViewTerminalHead,
        ViewToolCallHead,
        ViewUpdate,
    )

    _Block = Union[_types.v1.ContentBlock, _types.v2.ContentBlock]
    _Item = Union[_types.v1.ToolCallContent, _types.v2.ToolCallContent]

# Characters of a text in a `repr`.
SHOWN = 40


class Message(Entry):
    """A message or a thought."""

    __slots__ = ()

    _head: ViewMessageHead

    @property
    def role(self) -> Literal["user", "agent", "thought", "session"]:
        """Whose message it is."""
        return self._head["role"]

    @property
    def pending(self) -> bool:
        """Whether it is a prompt that the agent has not taken up yet."""
        return self._head["pending"]

    @property
    def text(self) -> str:
        """All of its text, in one piece. Use `added` while it grows."""
        return self._text()

    @property
    def blocks(self) -> List[_Block]:
        """Its content; adjacent text is one block."""
        return self._blocks()

    def added(self, before: Optional[Entry]) -> str:
        """The text that it has more than an earlier object of the same message. This is all of its text if there is
        none, or if the text was changed other than by growing at its end (`continues`).
        """
        return self._added(before)

    @property
    def sender_session_id(self) -> Optional[str]:
        """Of the role ``session``: the session that sent it (version 2)."""
        return self._head.get("senderSessionId")

    @property
    def recipient_session_id(self) -> Optional[str]:
        """Of the role ``session``: the session that it was sent to (version 2)."""
        return self._head.get("recipientSessionId")

    @property
    def sender_message_id(self) -> Optional[str]:
        """Of the role ``session``: its id in the session that sent it (version 2)."""
        return self._head.get("senderMessageId")

    @property
    def recipient_message_id(self) -> Optional[str]:
        """Of the role ``session``: its id in the session that it was sent to (version 2)."""
        return self._head.get("recipientMessageId")

    def _shown(self) -> str:
        content = self._content
        start = "" if content is None else content.between(0, min(self._length, SHOWN))
        return f" {self.role} {start!r}{'...' if self._length > SHOWN else ''}"


class ToolCall(Entry):
    """A tool call, with all that was said of it."""

    __slots__ = ()

    _head: ViewToolCallHead

    @property
    def name(self) -> Optional[str]:
        """The name of the tool."""
        return self._head["name"]

    @property
    def title(self) -> Optional[str]:
        """What the tool does, for the user."""
        return self._head["title"]

    @property
    def kind(self) -> str:
        """The kind of tool; ``other`` where it was not told."""
        return self._head["kind"]

    @property
    def status(self) -> str:
        """``pending``, ``in_progress``, ``completed``, ``failed``, ``cancelled`` or another of version 2; ``pending``
        where it was not told.
        """
        return self._head["status"]

    @property
    def content(self) -> List[_Item]:
        """What it shows: content blocks, diffs and terminals."""
        return [] if self._content is None else self._content.items[: self._items]  # type: ignore[return-value]

    @property
    def locations(self) -> List[_types.v1.ToolCallLocation]:
        """The files that it is about."""
        return self._head["locations"]

    @property
    def raw_input(self) -> Any:
        """The input of the tool."""
        return self._head["rawInput"]

    @property
    def raw_output(self) -> Any:
        """The output of the tool."""
        return self._head["rawOutput"]

    @property
    def capabilities(self) -> Any:
        """What the client may do with it (version 2)."""
        return self._head["capabilities"]

    @property
    def permission(self) -> Optional[int]:
        """The serial number of the open request for permission that is about it; `View.questions` has the request."""
        return self._head["permission"]

    def _shown(self) -> str:
        return f" {self.id!r} {self.title!r} {self.status}"


class Terminal(Entry):
    """A terminal: one that the agent runs (version 2), or that the client runs for it (version 1)."""

    __slots__ = ()

    _head: ViewTerminalHead

    @property
    def command(self) -> Optional[str]:
        """The command; that of version 1 has its arguments behind it."""
        return self._head["command"]

    @property
    def cwd(self) -> Optional[str]:
        """The working directory of the command."""
        return self._head["cwd"]

    @property
    def size(self) -> Any:
        """The size of the terminal (version 2)."""
        return self._head["size"]

    @property
    def exit_status(self) -> Optional[Dict[str, Any]]:
        """How the command has ended: ``exitCode`` and ``signal``; ``None`` while it runs."""
        return self._head["exitStatus"]

    @property
    def capabilities(self) -> Any:
        """What the client may do with it (version 2)."""
        return self._head["capabilities"]

    @property
    def output(self) -> str:
        """What it has printed: the end of that. Use `added` while it grows."""
        return self._text()

    @property
    def before(self) -> int:
        """How many bytes came before `output`, and were given up."""
        return 0 if self._content is None else self._content.before

    def added(self, before: Optional[Entry]) -> str:
        """The output that it has more than an earlier object of the same terminal, as `Message.added`."""
        return self._added(before)


class Plan(Entry):
    """A plan; version 1 has one, whose id is ``main``."""

    __slots__ = ()

    _head: ViewPlan

    @property
    def plan(self) -> Any:
        """``{"type": "items", "planId", "entries"}``, or a plan of another type as it came."""
        return self._head["plan"]

    @property
    def entries(self) -> List[_types.v1.PlanEntry]:
        """The entries of a plan of the type ``items``; of others, none."""
        plan = self._head["plan"]
        items: List[_types.v1.PlanEntry] = []
        if type(plan) is dict and plan.get("type") == "items" and type(plan.get("entries")) is list:
            items = plan["entries"]
        return items


class Compaction(Entry):
    """A condensing of the agent's context."""

    __slots__ = ()

    _head: ViewCompactionHead

    @property
    def status(self) -> str:
        """``in_progress``, ``completed``, ``failed``, ``cancelled`` or another."""
        return self._head["status"]

    @property
    def error(self) -> Any:
        """Why it has failed."""
        return self._head["error"]

    @property
    def text(self) -> str:
        """All text of its summary, in one piece."""
        return self._text()

    @property
    def summary(self) -> List[_Block]:
        """Its summary; adjacent text is one block."""
        return self._blocks()

    def added(self, before: Optional[Entry]) -> str:
        """The text that its summary has more than an earlier object of the same compaction, as `Message.added`."""
        return self._added(before)


class Subagent(Entry):
    """A session that belongs to this one; its `id` is that of the session."""

    __slots__ = ()

    _head: ViewSubagent

    @property
    def title(self) -> Optional[str]:
        """The title of the session."""
        return self._head["title"]

    @property
    def description(self) -> Optional[str]:
        """What it does."""
        return self._head["description"]

    @property
    def capabilities(self) -> Any:
        """What the client may do with it."""
        return self._head["capabilities"]

    @property
    def state(self) -> Optional[_types.v2.StateUpdate]:
        """What it does, as the agent has told it last: ``{"state": "running"}``."""
        return self._head["state"]

    @property
    def cwd(self) -> Optional[str]:
        """Its working directory."""
        return self._head["cwd"]

    @property
    def additional_directories(self) -> List[str]:
        """Its additional directories."""
        return self._head["additionalDirectories"]


class Notice(Entry):
    """Something that the user is told in passing."""

    __slots__ = ()

    _head: ViewNotice

    @property
    def severity(self) -> str:
        """``info``, ``warning``, ``error`` or another."""
        return self._head["severity"]

    @property
    def title(self) -> Optional[str]:
        """What it says in short."""
        return self._head["title"]

    @property
    def description(self) -> Optional[str]:
        """What it says."""
        return self._head["description"]


class Update(Entry):
    """An update that this version of the library does not know."""

    __slots__ = ()

    _head: ViewUpdate

    @property
    def kind(self) -> str:
        """Its ``sessionUpdate``."""
        return self._head["sessionUpdate"]

    @property
    def update(self) -> Any:
        """The update as it came."""
        return self._head["update"]


ENTRIES: Dict[str, Type[Entry]] = {
    "message": Message,
    "tool_call": ToolCall,
    "terminal": Terminal,
    "plan": Plan,
    "compaction": Compaction,
    "subagent": Subagent,
    "notice": Notice,
    "update": Update,
}
