"""Requests that bring updates before their answer: prompts, and sessions that are loaded."""

from __future__ import annotations

import asyncio
import collections
from types import TracebackType
from typing import TYPE_CHECKING, Any, AsyncIterator, Deque, Generator, Generic, Mapping, Optional, Tuple, Type, TypeVar, cast

import libacp

if TYPE_CHECKING:
    from libacp.types import v1

    from ._session import ClientSession

T = TypeVar("T")


class Exchange(Generic[T]):
    """A request that brings updates before its answer. It is sent at the first step.

    It can be iterated over, once, for the updates, or awaited for the answer; both together in this order.
    """

    def __init__(self, session: ClientSession, method: str, params: Mapping[str, Any]) -> None:
        self.session = session
        """The session that it is about."""
        self._method = method
        self._params = params
        self._asking: Optional[asyncio.Task[Any]] = None
        self._items: Deque[Tuple[Any, int]] = collections.deque()
        self._more = asyncio.Event()
        # Whether somebody iterates; otherwise updates go to the client's `on_update`.
        self._open = False
        # Whether nobody wants the answer any more, and whether the agent has been told.
        self._left = self._given_up = False
        self._over = asyncio.Event()

    def _made(self, result: Any) -> T:
        """What the answer amounts to."""
        raise NotImplementedError

    def _give_up(self, id: "int | str") -> None:
        """Nobody waits for the answer any more."""
        self._wire.cancel(id)

    @property
    def _wire(self) -> Any:
        return self.session.agent._wire

    def __aiter__(self) -> AsyncIterator[v1.SessionUpdate]:
        return self._updates()

    def __await__(self) -> Generator[Any, None, T]:
        return self._answer().__await__()

    async def __aenter__(self: E) -> E:
        return self

    async def __aexit__(
        self, kind: Optional[Type[BaseException]], problem: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self._leave()

    async def _updates(self) -> AsyncIterator[v1.SessionUpdate]:
        if self._asking is not None:
            raise RuntimeError("this has been iterated over, or awaited, before")
        self._open = True
        await self._begin()
        try:
            while True:
                while self._items:
                    update, size = self._items.popleft()
                    self.session.agent._taken(size)
                    yield cast("v1.SessionUpdate", update)
                if self._over.is_set():
                    break
                self._more.clear()
                await self._more.wait()
        finally:
            self._leave()
        await self._answer()

    async def _answer(self) -> T:
        if self._asking is None:
            await self._begin()
        assert self._asking is not None
        try:
            return self._made(await asyncio.shield(self._asking))
        except asyncio.CancelledError:
            self._leave()
            raise

    async def _begin(self) -> None:
        await self.session._free(self)
        self._asking = asyncio.ensure_future(self._ask())
        self.session.agent._watch(self._asking)

    async def _ask(self) -> Any:
        try:
            return await self.session.agent._ask(
                self._method, self._params, settle=self._settle, cancel=self._cancelled
            )
        except BaseException:
            # What has been sent ends with its answer, and not before.
            if not self._given_up:
                self._end()
            raise

    def _cancelled(self, id: "int | str") -> None:
        self._given_up = True
        self._give_up(id)

    def _settle(self, response: libacp.Response, waited_for: bool) -> None:
        self._end()

    def _end(self) -> None:
        self._over.set()
        self._more.set()
        self.session._done(self)

    def _take(self, update: Any, size: int) -> bool:
        """Takes an update, if somebody iterates."""
        if self._open:
            self._items.append((update, size))
            self._more.set()
        return self._open

    def _leave(self) -> None:
        """Nobody iterates any more, or waits."""
        self._open = False
        while self._items:
            self.session.agent._taken(self._items.popleft()[1])
        if self._asking is not None and not self._over.is_set():
            self._left = True
            self._asking.cancel()


E = TypeVar("E", bound="Exchange[Any]")


class PromptTurn(Exchange["v1.PromptResponse"]):
    """A prompt and its turn; `ClientSession.prompt` makes it.

        turn = session.prompt("Hello")
        async for update in turn:
            ...
        print(turn.stop_reason)

    Leaving the iteration early, or cancelling the task that iterates or waits, cancels the turn.
    """

    result: Optional[v1.PromptResponse] = None
    """The answer, once the turn is over."""

    @property
    def stop_reason(self) -> Optional[v1.StopReason]:
        """Why the turn ended, once it has."""
        return None if self.result is None else self.result["stopReason"]

    async def cancel(self) -> None:
        """Cancels the turn. The iteration goes on to its end, which the agent decides."""
        if not self._over.is_set():
            await self.session.cancel()

    def _made(self, result: Any) -> v1.PromptResponse:
        return cast("v1.PromptResponse", result)

    def _give_up(self, id: "int | str") -> None:
        self.session._cancel_now()

    def _settle(self, response: libacp.Response, waited_for: bool) -> None:
        if response.outcome == "result":
            self.result = response.result()
        super()._settle(response, waited_for)


class LoadingSession(Exchange["ClientSession"]):
    """A session that is being loaded; `AgentPeer.load_session` makes it.

    Await it for the session, or iterate over it first for the updates that the agent replays.
    """

    def _made(self, result: Any) -> ClientSession:
        return self.session

    async def _begin(self) -> None:
        # What is replayed comes before the session is open.
        self.session.agent._loading[self.session.id] = self.session
        await super()._begin()

    def _end(self) -> None:
        self.session.agent._loading.pop(self.session.id, None)
        super()._end()

    def _settle(self, response: libacp.Response, waited_for: bool) -> None:
        self.session.agent._opened(self.session, response, waited_for)
        super()._settle(response, waited_for)
