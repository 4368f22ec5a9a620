"""The types of views, for annotations: sessions as conversations. ``Connection`` and ``Observer`` keep views if they are
made with ``view=True``. What was not told is ``None``. Not needed at run time.
"""

from typing import Any, Dict, List, Literal, Optional, TypedDict, Union

from . import types as _types

_Block = Union["_types.v1.ContentBlock", "_types.v2.ContentBlock"]
_Item = Union["_types.v1.ToolCallContent", "_types.v2.ToolCallContent"]


class ViewQuestion(TypedDict):
    """A question of the agent's that has no answer yet: a request for permission, or an elicitation."""

    serial: int
    """The serial number of the request."""
    id: str
    """The id of the request, as JSON text."""
    method: str
    """The method of the request."""
    toolCallId: Optional[str]
    """The tool call that it is about."""
    params: Any
    """The params of the request; ``None`` if they are long."""


class ViewPrompt(TypedDict):
    """A prompt of the client's that has no answer yet."""

    serial: int
    """The serial number of the request."""
    id: str
    """The id of the request, as JSON text."""
    index: Optional[int]
    """The index of its message."""
    messageId: Optional[str]
    """The id of its message, once the agent has said it."""


class ViewModes(TypedDict):
    """The mode in force and those that are offered."""

    currentModeId: str
    """The id of the mode in force."""
    availableModes: "Optional[List[_types.v1.SessionMode]]"
    """The modes that are offered."""


class ViewBase(TypedDict):
    """What every entry has, and every terminal."""

    index: int
    """Its place in the conversation. It stays the same within an epoch; places of what is gone stay empty."""
    revision: int
    """The revision of the view in which it changed last."""
    rewritten: int
    """The revision in which its content changed other than by growing at its end."""
    turn: int
    """The number of the turn that it belongs to, from 1; 0 before the first."""
    id: Optional[str]
    """The id that the agent gave it, if there is one."""
    meta: Dict[str, Any]
    """The members of ``_meta``, merged name by name."""
    discarded: bool
    """Whether the agent knows nothing of it any more: it has refused it, or its turn (TURN-14)."""
    trimmed: bool
    """Whether it is a stub: what it held was given up to stay within the limits."""
    truncated: bool
    """Whether a part of it was given up to stay within the limits."""
    end: int
    """How far its content reaches: a position for ``view_content``. 0 for what has no content."""


class _Between(TypedDict, total=False):
    senderSessionId: Optional[str]
    recipientSessionId: Optional[str]
    senderMessageId: Optional[str]
    recipientMessageId: Optional[str]


class ViewMessageHead(ViewBase, _Between):
    """A message or a thought, without its blocks."""

    type: Literal["message"]
    role: Literal["user", "agent", "thought", "session"]
    """Whose message it is."""
    pending: bool
    """Whether it is a prompt that the agent has not taken up yet."""


class ViewMessage(ViewMessageHead):
    """A message or a thought."""

    blocks: List[_Block]
    """Its content; adjacent text is one block."""


class ViewToolCallHead(ViewBase):
    """A tool call, without its content."""

    type: Literal["tool_call"]
    name: Optional[str]
    """The name of the tool."""
    title: Optional[str]
    kind: str
    """The kind of tool; ``other`` where it was not told."""
    status: str
    """``pending`` where it was not told."""
    locations: "List[_types.v1.ToolCallLocation]"
    rawInput: Any
    rawOutput: Any
    capabilities: Any
    permission: Optional[int]
    """The serial number of the open request for permission that is about it."""


class ViewToolCall(ViewToolCallHead):
    """A tool call."""

    content: List[_Item]


class ViewTerminalHead(ViewBase):
    """A terminal, without its output."""

    type: Literal["terminal"]
    command: Optional[str]
    """The command; that of version 1 has its arguments behind it."""
    cwd: Optional[str]
    size: Any
    exitStatus: Optional[Dict[str, Any]]
    """How the command has ended: ``exitCode`` and ``signal``; ``None`` while it runs."""
    capabilities: Any


class ViewTerminal(ViewTerminalHead):
    """A terminal."""

    output: str
    """What it has printed, as text: the end of that."""
    before: int
    """How many bytes came before the output, and were given up."""


class ViewPlan(ViewBase):
    """A plan; version 1 has one, whose id is ``main``."""

    type: Literal["plan"]
    plan: Any
    """``{"type": "items", "planId", "entries"}``, or a plan of another type as it came."""


class ViewCompactionHead(ViewBase):
    """A condensing of the agent's context, without its summary."""

    type: Literal["compaction"]
    status: str
    error: Any


class ViewCompaction(ViewCompactionHead):
    """A condensing of the agent's context."""

    summary: List[_Block]


class ViewSubagent(ViewBase):
    """A session that belongs to this one; its ``id`` is that of the session."""

    type: Literal["subagent"]
    title: Optional[str]
    description: Optional[str]
    capabilities: Any
    state: "Optional[_types.v2.StateUpdate]"
    cwd: Optional[str]
    additionalDirectories: List[str]


class ViewNotice(ViewBase):
    """Something that the user is told in passing."""

    type: Literal["notice"]
    severity: str
    title: Optional[str]
    description: Optional[str]


class ViewUpdate(ViewBase):
    """An update that this version of the library does not know."""

    type: Literal["update"]
    sessionUpdate: str
    """Its kind."""
    update: Any
    """The update as it came."""


ViewEntry = Union[ViewMessage, ViewToolCall, ViewPlan, ViewCompaction, ViewSubagent, ViewNotice, ViewUpdate]
"""An entry of a conversation."""
ViewHead = Union[
    ViewMessageHead, ViewToolCallHead, ViewPlan, ViewCompactionHead, ViewSubagent, ViewNotice, ViewUpdate
]
"""An entry without what can be long and grows."""

class ViewSnapshot(TypedDict):
    """The result of ``view``: a session as a conversation."""

    revision: int
    """A number that grows with each change."""
    epoch: int
    """A number that grows when the conversation is replaced by another one: by what a replay told, or because the view was
    forgotten.
    """
    state: str
    """``idle``, ``running``, ``requires_action``, ``unknown`` or a state of the agent's own. In version 1 it is
    ``running`` while a prompt is open.
    """
    stopReason: Optional[str]
    """Why the work ended last; ``None`` while it goes on."""
    error: Optional[Dict[str, Any]]
    """The JSON-RPC error that the work ended with."""
    usage: Optional[Dict[str, Any]]
    """How much of the context is used, and what it has cost: ``used``, ``size``, ``cost``."""
    turnUsage: Optional[Dict[str, Any]]
    """The tokens of the last turn, as the agent told them at its end."""
    title: Optional[str]
    """The title of the session."""
    updatedAt: Optional[str]
    """When the session was active last, as the agent told it."""
    configOptions: "Optional[List[_types.v2.SessionConfigOption]]"
    """The config options, with the names of version 2 whichever the peers speak."""
    modes: Optional[ViewModes]
    """The mode in force and those that are offered."""
    commands: "Optional[List[_types.v1.AvailableCommand]]"
    """The commands that a user can type."""
    background: "Optional[List[_types.v2.BackgroundWork]]"
    """What runs beside the foreground work (version 2)."""
    questions: List[ViewQuestion]
    """The agent's questions that have no answer yet, oldest first."""
    prompts: List[ViewPrompt]
    """The client's prompts that have no answer yet, oldest first."""
    replaying: bool
    """Whether a conversation is being replayed."""
    frozen: bool
    """Whether the session is over, so that the view changes no more."""
    turn: int
    """How many turns there were."""
    trimmed: int
    """How many entries have become stubs."""
    dropped: int
    """How many entries were dropped altogether."""
    entries: List[ViewEntry]
    """The entries in order."""
    terminals: List[ViewTerminal]
    """The terminals, in the order in which they were first told of."""


class _Changed(TypedDict, total=False):
    state: str
    stopReason: Optional[str]
    error: Optional[Dict[str, Any]]
    usage: Optional[Dict[str, Any]]
    turnUsage: Optional[Dict[str, Any]]
    title: Optional[str]
    updatedAt: Optional[str]
    configOptions: "Optional[List[_types.v2.SessionConfigOption]]"
    modes: Optional[ViewModes]
    commands: "Optional[List[_types.v1.AvailableCommand]]"
    background: "Optional[List[_types.v2.BackgroundWork]]"
    questions: List[ViewQuestion]
    prompts: List[ViewPrompt]
    replaying: bool
    frozen: bool
    turn: int
    trimmed: int
    dropped: int


class ViewChanges(_Changed):
    """The result of ``view_since``: what has changed, and of what a session has one of those members that have."""

    revision: int
    """The revision of the view now."""
    epoch: int
    reset: bool
    """Whether another conversation is shown: nothing of what was read before is there any more, positions included."""
    first: int
    """The index of the first entry that is kept; those before it were dropped."""
    entries: List[ViewHead]
    """The entries that are new or have changed."""
    terminals: List[ViewTerminalHead]
    """The terminals that are new or have changed."""
    removed: List[int]
    """The indexes of entries and terminals that are not there any more."""


_Of = TypedDict("_Of", {"from": int})


class _Content(TypedDict, total=False):
    blocks: List[_Block]
    summary: List[_Block]
    content: List[_Item]
    output: str
    before: int


class ViewContent(_Of, _Content):
    """The result of ``view_content``: ``blocks`` of a message, ``summary`` of a compaction, ``content`` of a tool call,
    ``output`` and ``before`` of a terminal. Its ``from`` is the position; 0 if this is all of the content.
    """

    end: int
    """The position to read from the next time."""
    continues: bool
    """Whether the first block goes on with the last one that was read; of a terminal, whether its text goes on."""
