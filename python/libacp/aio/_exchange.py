"""Requests that cause updates before their answer: what they have in common, and prompts."""

from __future__ import annotations

import asyncio
import collections
import warnings
from types import TracebackType
from typing import (
    TYPE_CHECKING,
    Any,
    AsyncIterator,
    Awaitable,
    Deque,
    Dict,
    Generator,
    Generic,
    List,
    Mapping,
    Optional,
    Protocol,
    Sequence,
    Tuple,
    Type,
    TypeVar,
    Union,
    cast,
)

import libacp

from .._attributes import Attributes
from ._wire import Call, Wire

if TYPE_CHECKING:
    from libacp.types import v1, v2

    # As on the wire, in the version that was agreed on.
    _Update = Union[v1.SessionUpdate, v2.SessionUpdate]
    _Told = Union[v1.SessionNotification, v2.UpdateSessionNotification]

R = TypeVar("R")
T = TypeVar("T")
# How long a question to the user waits for the updates before it to be handed on.
PATIENCE = 5.0


class Asked(Protocol):
    """The peer of an exchange."""

    connection: libacp.Connection
    _wire: Wire
    _exchanges: Dict[Optional[int], Exchange[Any, Any]]

    async def _ended_well(self, method: str, answer: Awaitable[R]) -> R: ...

    def _updated(self, session: Any, update: Any) -> None: ...


class About(Protocol):
    """The session of an exchange."""

    @property
    def agent(self) -> Asked: ...

    async def cancel(self) -> None: ...

    async def _free(self) -> None: ...


S = TypeVar("S", bound=About)


class Exchange(Generic[S, T]):
    """A request that causes updates before its answer. It is sent when it is first iterated over or awaited.

    Iterate over it, once, for the updates, which are as on the wire, await it for the answer, or do both in this order.
    """

    __slots__ = Attributes(__name__, "Exchange", "session __dict__ __weakref__")

    session: S
    """The session of the request."""

    def __init__(self, session: S, method: str, params: Mapping[str, Any], timeout: Optional[float]) -> None:
        self.session = session
        self._method = method
        self._params = params
        self._timeout = timeout
        self._call: Optional[Call] = None
        self._begun = False
        self._sending = asyncio.Lock()
        self._items: Deque[Tuple[Any, int]] = collections.deque()
        self._more = asyncio.Event()
        # Whether somebody iterates; otherwise updates go to the client's `on_update`.
        self._open = False
        # Whether who iterates wants all of each notification, and not its update alone.
        self._whole = False
        # The serial number of its call.
        self._serial = 0
        # How many updates were handed on; who waits for one to be handed on.
        self._got = 0
        self._iterating: Optional[asyncio.Task[Any]] = None
        self._waiting: Deque[Tuple[int, asyncio.Future[None]]] = collections.deque()
        self._over = asyncio.Event()

    def _move(self, session: S) -> None:
        """It is about another object of the session."""
        self.session = session

    def _made(self, result: Any) -> T:
        """What the answer amounts to."""
        raise NotImplementedError

    def __aiter__(self) -> AsyncIterator[_Update]:
        if self._call is not None or self._open:
            raise RuntimeError("this has been iterated over, or awaited, before")
        self._open = True
        return Updates(self)

    def notifications(self) -> AsyncIterator[_Told]:
        """Iterates over the complete params of each update, including ``_meta``, in place of the updates alone. The
        update itself is the field ``update``.
        """
        updates = self.__aiter__()
        self._whole = True
        return cast("AsyncIterator[_Told]", updates)

    def __await__(self) -> Generator[Any, None, T]:
        return self._answer().__await__()

    async def __aenter__(self: E) -> E:
        return self

    async def __aexit__(
        self, kind: Optional[Type[BaseException]], problem: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self._leave()

    async def _wait(self) -> None:
        """Waits for an update; raises `StopAsyncIteration` after the last, or what the agent has answered."""
        self._iterating = asyncio.current_task()
        if self._call is None:
            await self._start()
        try:
            while not self._items:
                if self._over.is_set():
                    await self._answer()
                    raise StopAsyncIteration
                self._more.clear()
                await self._more.wait()
        except asyncio.CancelledError:
            self._leave()
            raise

    async def _answer(self) -> T:
        call = self._call or await self._start()
        try:
            # What is cancelled here must not take the answer away from others.
            return self._made(await self.session.agent._ended_well(self._method, asyncio.shield(call.future)))
        except asyncio.CancelledError:
            self._leave()
            raise

    async def _start(self) -> Call:
        # Sending may have to wait, and whoever comes meanwhile is there for the same call.
        async with self._sending:
            if self._call is not None:
                return self._call
            return await self.session.agent._ended_well(self._method, self._begin())

    async def _begin(self) -> Call:
        self._begun = True
        agent = self.session.agent
        await self.session._free()
        if agent._wire.busy():
            await agent._wire.drain()
        call = self._call = self._ask()
        # Its error is no news to who has left early.
        call.future.add_done_callback(lambda future: future.cancelled() or future.exception())
        return call

    def _ask(self) -> Call:
        agent = self.session.agent
        return agent._wire.ask(self._method, self._params, timeout=self._timeout, settle=self._settle, sent=self._sent)

    def _sent(self, serial: int) -> None:
        self._serial = serial
        self.session.agent._exchanges[serial] = self

    def _settle(self, response: libacp.Response, waited_for: bool) -> None:
        self._settle_now()

    def _settle_now(self) -> None:
        self._over.set()
        self._more.set()
        self.session.agent._exchanges.pop(self._serial, None)

    def _take(self, params: Any, size: int) -> None:
        """Takes an update for who iterates."""
        self._items.append((params if self._whole else params["update"], size))
        if len(self._items) == 1:
            self._more.set()

    def _handed_on(self) -> None:
        while self._waiting and self._waiting[0][0] <= self._got:
            waiting = self._waiting.popleft()[1]
            if not waiting.done():
                waiting.set_result(None)

    async def _caught_up(self, askers: Sequence[object]) -> None:
        """Waits until the updates that are there have been handed on; not for ever, and not for who asks the agent
        something in the body of the loop: the answer may be behind the question.
        """
        if self._open and self._items and self._iterating not in askers:
            waiting: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append((self._got + len(self._items), waiting))
            await asyncio.wait([waiting], timeout=PATIENCE)

    def _leave(self) -> None:
        """Nobody iterates any more, or waits."""
        self._open = False
        agent = self.session.agent
        more = False
        while self._items:
            update, size = self._items.popleft()
            more |= agent.connection.take(size, not self._items)
            self._got += 1
            self._handed_on()
            agent._updated(self.session, update["update"] if self._whole else update)
        if more:
            agent._wire.dispatch()
        if self._call is not None and not self._over.is_set():
            agent._wire.give_up(self._call.id)


E = TypeVar("E", bound="Exchange[Any, Any]")


class Updates(AsyncIterator["_Update"]):
    """The iterator over the updates of an exchange.

    It is not a generator: when a loop is left early, its iterator is dropped and notices immediately, whereas a
    generator would be closed only in a later iteration of the event loop.
    """

    def __init__(self, exchange: Exchange[Any, Any]) -> None:
        self._exchange = exchange
        self._loop = asyncio.get_running_loop()

    async def __anext__(self) -> _Update:
        exchange = self._exchange
        items = exchange._items
        if not items:
            await exchange._wait()
        update, size = items.popleft()
        agent = exchange.session.agent
        more = agent.connection.take(size, not items)
        exchange._got += 1
        if exchange._waiting:
            exchange._handed_on()
        if more:
            agent._wire.dispatch()
        handed: _Update = update
        return handed

    async def aclose(self) -> None:
        """Ends the iteration."""
        self._exchange._leave()

    def __del__(self) -> None:
        try:
            here = asyncio.get_running_loop() is self._loop
        except RuntimeError:
            here = False
        if here:
            self._exchange._leave()
        elif not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._exchange._leave)


class Prompt(Exchange[S, "v1.PromptResponse"]):
    """A prompt and its turn."""

    __slots__ = Attributes(__name__, "Prompt", "result")

    result: Optional[v1.PromptResponse]
    """The answer, once the turn is over."""

    def __init__(self, session: S, params: Mapping[str, Any], timeout: Optional[float]) -> None:
        super().__init__(session, "session/prompt", params, timeout)
        self.result = None
        self._cancelled = False

    @property
    def stop_reason(self) -> Optional[v1.StopReason]:
        """The stop reason, once the turn is over."""
        return None if self.result is None else self.result["stopReason"]

    @property
    def message_id(self) -> Optional[str]:
        """The id of the message that the prompt has become (version 2), once the turn is over."""
        return cast("Optional[str]", None if self.result is None else self.result.get("messageId"))

    async def cancel(self) -> None:
        """Cancels the turn. The iteration continues until the agent ends the turn. A prompt that was not sent yet is
        not sent, and ends as ``cancelled``.
        """
        self._cancelled = True
        if self._call is not None and not self._over.is_set():
            await self.session.cancel()

    async def read_text(self) -> str:
        """Runs the turn to its end and returns the concatenated text of the agent's messages. In version 2 a message that
        is sent whole takes the place of its chunks.
        """
        said: List[Tuple[Optional[str], str]] = []
        async for update in self:
            if update["sessionUpdate"] == "agent_message_chunk":
                said.append((update.get("messageId"), _text(update["content"])))
            elif update["sessionUpdate"] == "agent_message" and "content" in update:
                # Version 2: it takes the place of what the message has said.
                id, text = update["messageId"], "".join(map(_text, update["content"] or ()))
                place = next((place for place, (one, _) in enumerate(said) if one == id), len(said))
                said = [each for each in said if each[0] != id]
                said.insert(place, (id, text))
        return "".join(text for _, text in said)

    def _ask(self) -> Call:
        if not self._cancelled:
            return super()._ask()
        call = Call(0, asyncio.get_running_loop().create_future(), None)
        self.result = {"stopReason": "cancelled"}
        call.future.set_result(self.result)
        super()._settle_now()
        return call

    def __del__(self) -> None:
        # As for a coroutine that is forgotten.
        if not self._begun and not self._cancelled:
            warnings.warn(
                f"a prompt of {self.session!r} was never sent: iterate over it with `async for`, or await it",
                RuntimeWarning,
                stacklevel=2,
            )

    def _made(self, result: Any) -> v1.PromptResponse:
        return cast("v1.PromptResponse", result)

    def _settle(self, response: libacp.Response, waited_for: bool) -> None:
        if response.outcome == "result":
            self.result = response.result()
        super()._settle(response, waited_for)


def _text(block: Mapping[str, Any]) -> str:
    return str(block["text"]) if block["type"] == "text" else ""
