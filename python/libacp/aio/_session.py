"""What a client knows of a session: where it is, its view, and what becomes of it. `_agents` has what is asked of it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, AsyncIterator, Dict, Generic, List, Mapping, Optional, Sequence, Tuple, TypeVar

from libacp.view import Changes, View

from .._attributes import Attributes
from ._host import StrPath
from ._peer import Peer
from ._watch import Watch

if TYPE_CHECKING:
    from libacp.names import SessionSnapshot

P = TypeVar("P", bound=Peer)
# Titles of tool calls that are remembered.
TITLES = 256


class Session(Generic[P]):
    """A session of a client's."""

    __slots__ = Attributes(__name__, "Session", "id agent cwd roots result data __dict__ __weakref__")

    id: str
    """The id of the session."""
    agent: P
    """The agent of the session."""
    cwd: str
    """The working directory."""
    roots: List[str]
    """The working directory and all additional directories, to which `Files` confines the agent."""
    result: Dict[str, Any]
    """The complete answer to the call that opened the session, with ``modes`` and ``configOptions`` if the agent has
    any, and ``_meta``.
    """
    data: Any
    """Any data that the client attaches to the session."""

    def __init__(self, agent: P, id: str, cwd: StrPath = "", further: Sequence[StrPath] = ()) -> None:
        self.agent = agent
        self.id = id
        self._place(*place(cwd, further))
        self.result = {}
        self.data = None
        self._view: Optional[View] = None
        # What the tool calls that are not over are called.
        self._titles: Dict[str, str] = {}
        # Calls that will end it, or open it, and are under way.
        self._closing = self._opening = 0
        # Whether it has ended, and nothing more is done in its name.
        self._over = False

    def _place(self, cwd: str, roots: List[str]) -> None:
        self.cwd, self.roots = cwd, roots

    @property
    def snapshot(self) -> Optional[SessionSnapshot]:
        """Everything that the agent has reported about the session, such as its plan, modes, tool calls and commands;
        ``None`` if the session is not open.
        """
        return self.agent.connection.session_snapshot(self.id)

    @property
    def view(self) -> View:
        """The session as a conversation, which is what a client shows. It is always up to date, and stays as it was
        read last when the session is over.

        Raises:
            RuntimeError: if the client was created without ``view=True``.
        """
        view = self._view
        if view is None or view.session != self.id:
            if not self.agent.connection.config.view:
                raise RuntimeError("no views are kept: create the client with `view=True`")
            view = self._view = View(self.agent.connection, self.id)
        return view

    def changes(self) -> AsyncIterator[Changes]:
        """Follows the view: iterates over what has changed, first over everything that is there. What changes while
        the body of the loop is busy is one item. The iteration ends when the session is over or the connection has
        ended. Leave it at any time; several may run at once.

            async for changes in session.changes():
                for entry in changes.entries:
                    ...

        Raises:
            RuntimeError: if the client was created without ``view=True``.
        """
        return Watch(self.agent, self.view)

    def forget_view(self) -> bool:
        """Lets the connection forget the view of a session that is over; otherwise it keeps the views of the 64 latest
        ones. Returns whether there was one. `view` stays as it is.
        """
        return self.view.forget()

    def _end_view(self) -> None:
        """It is over, and another session may get its id: what is shown of it stays as it is."""
        if self._view is not None:
            self._view._end()

    @property
    def _takes_terminals(self) -> bool:
        return not (self._over or self._closing)

    def _name(self, call: Mapping[str, Any]) -> None:
        id, title = str(call.get("toolCallId")), call.get("title")
        if call.get("status") in ("completed", "failed", "cancelled"):
            self._titles.pop(id, None)
        elif isinstance(title, str) and title:
            self._titles[id] = title
            if len(self._titles) > TITLES:
                del self._titles[next(iter(self._titles))]


def place(cwd: StrPath, further: Sequence[StrPath]) -> Tuple[str, List[str]]:
    """A working directory, and all roots."""
    own = os.fspath(cwd)
    return own, [own, *(os.fspath(each) for each in further)] if cwd else []

