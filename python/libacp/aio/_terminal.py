"""A terminal of the client, as the agent uses it."""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import TYPE_CHECKING, Any, AsyncIterator, Mapping, Optional, Type, cast

import libacp

from ._log import log
from ._told import Told

if TYPE_CHECKING:
    from libacp.types import v1

# Characters by which what was printed before is found again.
KNOWN = 256


class Terminal:
    """A command that the client runs; `Turn.terminal` creates it. Use it once, with ``async with``."""

    def __init__(self, session: Told, params: Mapping[str, Any]) -> None:
        self._session = session
        self._params = params
        self._id: Optional[str] = None
        self._entering = False

    @property
    def id(self) -> str:
        """The id of the terminal, available inside of the block."""
        if self._id is None:
            raise RuntimeError("this terminal is used with `async with`, and has no id before")
        return self._id

    async def __aenter__(self) -> Terminal:
        params = {"sessionId": self._session.id, **self._params}
        self._entering = True
        try:
            await self._session.client._wire.request("terminal/create", params, settle=self._created)
        except BaseException:
            # Cancelled; also when the answer was there already, and only had to be handed over.
            self._entering = False
            if self._id is not None:
                asyncio.ensure_future(self._release())
            raise
        return self

    async def __aexit__(
        self, kind: Optional[Type[BaseException]], problem: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        await self._release()

    async def wait(self, *, timeout: Optional[float] = None) -> v1.WaitForTerminalExitResponse:
        """Waits until the command has ended, and returns its ``exitCode`` or ``signal``."""
        return cast("v1.WaitForTerminalExitResponse", await self._ask("terminal/wait_for_exit", timeout))

    async def output(self, *, timeout: Optional[float] = None) -> v1.TerminalOutputResponse:
        """Returns the output so far: ``output``, whether it was ``truncated``, and ``exitStatus`` once the command has
        ended.
        """
        return cast("v1.TerminalOutputResponse", await self._ask("terminal/output", timeout))

    async def follow(self, *, interval: float = 0.2) -> AsyncIterator[str]:
        """Yields the output while the command prints it: ``async for text in terminal.follow(): ...``. It is requested
        every `interval` seconds; output that the client has discarded in between is missing.
        """
        seen = ""
        while True:
            now = await self.output()
            text = now["output"]
            new = text[len(seen) :] if text.startswith(seen) else text[_overlap(seen, text) :]
            if new:
                yield new
            if now.get("exitStatus") is not None:
                return
            seen = text
            await asyncio.sleep(interval)

    async def kill(self, *, timeout: Optional[float] = None) -> None:
        """Kills the command. Its output can still be read."""
        await self._ask("terminal/kill", timeout)

    async def _ask(self, method: str, timeout: Optional[float]) -> Any:
        return await self._session.request(method, {"terminalId": self.id}, timeout=timeout)

    def _created(self, response: libacp.Response, waited_for: bool) -> None:
        """A terminal that comes after its block was cancelled is released all the same."""
        if response.outcome == "result":
            self._id = response.result()["terminalId"]
            if not self._entering:
                asyncio.ensure_future(self._release())

    async def _release(self) -> None:
        params = {"sessionId": self._session.id, "terminalId": self.id}
        client = self._session.client
        try:
            # It goes out at once, also when this task is cancelled again.
            await client._wire.request("terminal/release", params, urgent=True)
        except libacp.Error as problem:
            if client.connection.phase != "closed":
                log.warning("the terminal %s cannot be released: %s", self.id, problem)

    def __repr__(self) -> str:
        return f"<Terminal {self._id!r}>"


def _overlap(before: str, after: str) -> int:
    """How much of the beginning of a text is the end of another, from which the front was cut."""
    end = before[-KNOWN:]
    found = after.find(end)
    return found + len(end) if end and found >= 0 else 0
