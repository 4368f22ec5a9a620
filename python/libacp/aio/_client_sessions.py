"""The sessions of a client: which are open, and what happens when one is opened, opened anew or over.

`_agent_peer` stands on this.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any, Callable, Dict, Generic, Iterable, List, Mapping, Optional, Sequence, Set, Tuple, TypeVar, cast

import libacp

from .._attributes import Attributes
from ._errors import RequestError
from ._host import Host, StrPath, awaited
from ._peer import Peer
from ._session import Session, place
from ._wire import Reader, Writer

S = TypeVar("S", bound=Session[Any])
# Calls that open a session, and those after which it may not be open any more.
OPENING = ("session/new", "session/fork", "session/load", "session/resume")
NAMED_BY_AGENT = ("session/new", "session/fork")
ENDING = ("session/close", "session/delete", "session/archive")
LIFE = frozenset(OPENING + ENDING)


class Offering(Host):
    """A client, as its peer sees it."""

    files: Any
    terminals: Any
    on_update: Optional[Callable[[Any, Any], object]]

    def _served(self) -> Dict[str, Callable[..., Any]]:
        """The handlers of a connection that is made now."""
        raise NotImplementedError


class SessionsPeer(Peer, Generic[S]):
    """The part of the agent's object that manages its sessions."""

    __slots__ = Attributes(__name__, "SessionsPeer", "sessions")

    sessions: Dict[str, S]
    """The open sessions by id."""
    _host: Offering

    def __init__(self, client: Offering, served: Iterable[str], reader: Reader, writer: Writer) -> None:
        self.sessions = {}
        # Those that were set when the connection was made.
        self._disk, self._commands = client.files, client.terminals
        # Those that are being loaded, and replayed meanwhile.
        self._loading: Dict[str, S] = {}
        # Those that were opened by a `request` of the host's own, or that the agent has opened below another.
        self._adopted: Set[S] = set()
        # Those that came too late, and are given back.
        self._given_up: Set[str] = set()
        self._endings: Set[asyncio.Task[None]] = set()
        super().__init__(client, client._connection(served, reader), reader, writer)

    def _new(self, id: str, cwd: StrPath = "", further: Sequence[StrPath] = ()) -> S:
        """Another object for a session."""
        raise NotImplementedError

    def _is_open(self, session: S) -> bool:
        return self.sessions.get(session.id) is session

    def _object(self, session: S) -> S:
        """The one object of a session that is open, or that is being opened."""
        return self.sessions.get(session.id) or self._loading.get(session.id) or session

    def _not_opened(self, session: S) -> None:
        """A call that was to open a session has failed; one that is open stays so."""
        if not session._opening and not self._is_open(session):
            self._end_session(session)

    def _opened(self, session: S, response: libacp.Response, waited_for: bool, opening: Opening[S]) -> None:
        """A session is open from the place of the answer on; what follows it may be about it already."""
        if response.outcome != "result":
            self._not_opened(session)
            return
        session.result = response.result()
        # Others were named by the client, whatever their answers have besides.
        id = session.result["sessionId"] if response.method in NAMED_BY_AGENT else session.id
        before = self.sessions.get(id)
        if before is None and not waited_for and response.method in NAMED_BY_AGENT:
            self._given_up.add(id)
            if self.connection.can("session/close"):
                self.connection.request("session/close", {"sessionId": id})
            self._end_session(session)
            return
        if before is not None and before is not session:
            if response.method in NAMED_BY_AGENT:
                # It keeps its roots and its terminals; there is no second one.
                self._end_session(session)
                return
            self._leave(before)
        session.id = id
        self._given_up.discard(id)
        self.sessions[id] = session
        if before is session:
            self._opened_anew(session, opening)

    def _opened_anew(self, session: S, opening: Opening[S]) -> None:
        """A session that was open is opened by another call: what ran in it ends, and its roots are the new ones."""
        if self._commands is not None:
            for terminal in opening.terminals:
                self._end_with(partial(self._commands.release, session, terminal))
        if (session.cwd, session.roots) != opening.place:
            session._place(*opening.place)
            self._begin(session)

    def _life(self, method: str, params: Mapping[str, object]) -> Callable[[Optional[libacp.Response], bool], None]:
        """What follows the answer to a request of the host's own that opens or ends a session; ``None`` is not sent."""
        if method in OPENING:
            where = place(
                cast(str, params.get("cwd") or ""), cast("Sequence[StrPath]", params.get("additionalDirectories") or ())
            )
            id = "" if method in NAMED_BY_AGENT else str(params.get("sessionId", ""))
            session = self._object(self._new(id, where[0], where[1][1:]))
            opening = Opening(self, session, where)
            if not self._is_open(session):
                self._adopted.add(session)
        else:
            found = self.sessions.get(str(params.get("sessionId")))
            if found is None:
                return lambda response, waited_for: self._sweep()
            session = found
            session._closing += 1

        def settle(response: Optional[libacp.Response], waited_for: bool) -> None:
            if method in ENDING:
                session._closing -= 1
                if response is not None and response.outcome == "result":
                    self._ends_with(method, session)
            else:
                opening.end()
                if response is None:
                    self._not_opened(session)
                else:
                    self._opened(session, response, waited_for, opening)
            self._sweep()

        return settle

    def _ends_with(self, method: str, session: S) -> None:
        if method in ("session/close", "session/delete") or self.connection.session(session.id) is None:
            self._leave(session)
            session._end_view()

    def _sweep(self) -> None:
        """Leaves what was adopted and is not open any more: below a session that has ended, or never loaded."""
        for session in [each for each in self._adopted if self.sessions.get(each.id) is each]:
            if self.connection.session(session.id) is None:
                self._leave(session)
                session._end_view()

    def _leave(self, session: S) -> None:
        if self.sessions.get(session.id) is session:
            del self.sessions[session.id]
            self._session_over(session)
        self._adopted.discard(session)
        self._end_session(session)

    def _end_session(self, session: S) -> None:
        """From here on, nothing is done in the name of a session, and its terminals end."""
        if session._over:
            return
        session._over = True
        self._adopted.discard(session)
        files: Any = self._disk
        terminals = self._commands
        ends = [] if terminals is None else [terminals.end]
        if files is not terminals and hasattr(type(files), "end"):
            ends.append(files.end)
        for end in ends:
            self._end_with(partial(end, session))

    def _end_with(self, end: Callable[[], Any]) -> None:
        ending = asyncio.ensure_future(self._close_for(end))
        self._endings.add(ending)
        ending.add_done_callback(self._endings.discard)

    async def _close_for(self, end: Callable[[], Any]) -> None:
        try:
            await awaited(end())
        except RequestError:
            pass  # A terminal that is not there any more.
        except Exception as problem:
            self._hooks.failed("the terminals or files of a session cannot be ended", "end", problem)

    def _begin(self, session: S) -> None:
        """Before the agent hears of a session: its roots are what they are now."""
        files = self._disk
        try:
            # Not what an object makes up when it is asked for.
            if hasattr(type(files), "begin"):
                getattr(files, "begin")(session)
        except Exception as problem:
            self._hooks.failed("the files of a session cannot be opened", "begin", problem)

    async def _all_ended(self) -> None:
        if self._endings:
            await asyncio.wait(self._endings)

    def _adopt(self, id: str) -> Optional[S]:
        """A session that the agent has opened below another, or that was opened late."""
        snapshot = None if id in self._given_up else self.connection.session_snapshot(id)
        if snapshot is None:
            return None
        session = self.sessions[id] = self._new(id, snapshot["cwd"] or "", snapshot["roots"][1:])
        self._adopted.add(session)
        self._begin(session)
        return session


class Opening(Generic[S]):
    """A call that opens a session, while it has no answer."""

    def __init__(self, agent: SessionsPeer[S], session: S, place: Tuple[str, List[str]]) -> None:
        self.agent = agent
        self.session = session
        self.place = place
        """The working directory and the roots that the session has once it is open."""
        snapshot = agent.connection.session_snapshot(session.id) if agent._is_open(session) else None
        self.terminals = [] if snapshot is None else list(snapshot["terminals"])
        """The terminals of a session that is open already: they end when it is opened anew."""
        self._over = False
        session._opening += 1
        if not agent._is_open(session):
            agent._begin(session)
        if session.id:
            # What is asked in its name before the answer is asked of this session, and not of one that is adopted.
            agent._loading[session.id] = session

    def end(self) -> None:
        """The answer is there, or never comes."""
        if not self._over:
            self._over = True
            self.session._opening -= 1
            if self.session._opening == 0 and self.agent._loading.get(self.session.id) is self.session:
                del self.agent._loading[self.session.id]
