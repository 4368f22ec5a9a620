"""Hooks and handlers of notifications. Nothing waits for them, and asynchronous ones run one after another."""

from __future__ import annotations

import asyncio
import collections
import inspect
import logging
from typing import Any, Callable, Deque, Optional, Tuple

import libacp

from ._current import CURRENT
from ._host import Host, awaited
from ._log import Limited


class Hooks:
    """Calls the hooks of one connection, and reports exceptions of hooks and other handlers."""

    def __init__(
        self, host: Host, limited: Limited, connection: libacp.Connection, go_on: Callable[[], None]
    ) -> None:
        self._host = host
        self._limited = limited
        self._connection = connection
        self._go_on = go_on
        # What is to be called, with its size; the first is being called.
        self._waiting: Deque[Tuple[str, Callable[..., Any], Tuple[Any, ...], int]] = collections.deque()
        self.task: Optional[asyncio.Task[None]] = None
        """Calls what waits; ``None`` where nothing does."""

    def call(
        self, name: str, handler: Callable[..., Any], *arguments: Any, of: Optional[libacp.Notification] = None
    ) -> None:
        """Calls a hook, immediately if none is waiting. If it waits, so does the notification that it is called because
        `of`.
        """
        if self._waiting or inspect.iscoroutinefunction(handler):
            self._later(name, handler, arguments, of)
            return
        # It is called in the midst of whatever has made the connection look.
        outer = CURRENT.set(None)
        try:
            done = handler(*arguments)
        except Exception as problem:
            self.failed("a hook or a handler of notifications failed", name, problem)
        else:
            if inspect.isawaitable(done):
                self._later(name, lambda: done, (), of)
        finally:
            CURRENT.reset(outer)

    def failed(self, what: str, name: str, problem: Exception) -> None:
        """Logs an exception of a handler, and passes it to the host's hook."""
        self._limited.log(what, logging.ERROR, what, exc_info=problem)
        self.tell(name, problem)

    def tell(self, name: str, problem: Exception) -> None:
        """Passes an exception to the host's hook."""
        if self._host.on_error is not None and name != "on_error":
            self.call("on_error", self._host.on_error, name, problem)

    def _later(
        self, name: str, handler: Callable[..., Any], arguments: Tuple[Any, ...], of: Optional[libacp.Notification]
    ) -> None:
        self._waiting.append((name, handler, arguments, self._connection.keep(of)))
        if self.task is None:
            self.task = asyncio.ensure_future(self._call_all())

    async def _call_all(self) -> None:
        CURRENT.set(None)
        while self._waiting:
            name, handler, arguments, size = self._waiting[0]
            if self._connection.take(size, len(self._waiting) == 1):
                self._go_on()
            try:
                await awaited(handler(*arguments))
            except Exception as problem:
                self.failed("a hook or a handler of notifications failed", name, problem)
            self._waiting.popleft()
        self.task = None
