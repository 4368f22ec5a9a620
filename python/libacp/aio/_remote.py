"""An agent at an address: what drives a `libacp.http.Client`. `_requests` makes the requests and holds the socket."""

from __future__ import annotations

import asyncio
import json
import random
from typing import Any, Awaitable, Callable, Dict, Mapping, Optional, Set, Union
from urllib.parse import urlsplit

import libacp

from .._native import Client as Machine
from ..http._types import ClientLimits, ClientOptions, ClientTimes, ClosedWhy, TransportEvent
from ._errors import OutcomeUnknown, RemoteEnded
from ._host import awaited
from ._log import Limited, log
from ._pipe import Clock, Inbox, Outbox
from ._requests import Requests

Authorize = Callable[[int, Optional[str]], Union[None, Mapping[str, str], Awaitable[Optional[Mapping[str, str]]]]]
OnTransport = Callable[[TransportEvent], object]
# What may wait for the socket; then the connection has to wait.
SOCKET = 256 * 1024
# How long the end of a conversation may take to be told.
FAREWELL = 2.0
SCHEMES = ("http", "https", "ws", "wss")
# What a call that was lost is answered with, as the core writes it.
LOST = {"rule": "HTTP-18", "outcome": "unknown"}


class Remote:
    """A conversation with an agent at an address."""

    def __init__(
        self,
        url: str,
        *,
        headers: Optional[Mapping[str, str]],
        on_transport: Optional[OnTransport],
        authorize: Optional[Authorize],
        reconnect: bool,
        resumable: bool,
        strict: bool,
        http2: Optional[bool],
        ssl: Any,
        limits: Optional[ClientLimits],
        times: Optional[ClientTimes],
    ) -> None:
        parts = urlsplit(url)
        if parts.scheme not in SCHEMES or not parts.hostname:
            raise ValueError("expected an address such as https://agents.example.com/acp, with http, https, ws or wss")
        self._websocket = parts.scheme in ("ws", "wss")
        options: ClientOptions = {
            "target": (parts.path or "/") + (f"?{parts.query}" if parts.query else ""),
            "host": parts.hostname,
            "secure": parts.scheme in ("https", "wss"),
            "websocket": self._websocket,
            "reconnect": reconnect,
            "resumable": resumable,
            "strict": strict,
            "limits": limits or {},
            "times": times or {},
        }
        self._machine = Machine(options, seed=random.getrandbits(63))
        for name, value in (headers or {}).items():
            self._machine.set_header(name, value)
        self._on_transport, self._authorize = on_transport, authorize
        self._limited = Limited()
        self._clock = Clock(self._machine.poll_timeout, self._time_is_up)
        self._most = (limits or {}).get("message", 64 << 20)
        self._requests = Requests(url, parts, http2, ssl, self._most)
        self._tasks: Dict[int, asyncio.Task[None]] = {}
        self._others: Set[asyncio.Task[None]] = set()
        self._frames: "asyncio.Queue[Any]" = asyncio.Queue()
        # Bytes of frames that wait.
        self._queued = 0
        self._pumping = self._known = False
        self.inbox = Inbox()
        self.outbox = Outbox(self._send)
        self.loading: Callable[[str], bool] = lambda session: True
        """Whether the host itself loads a session, and wants its history."""
        self.why: Optional[ClosedWhy] = None
        """Why the conversation is over."""
        self.status: Optional[int] = None
        """The status that ended it, if one did."""
        self.problem: Optional[BaseException] = None
        """What went wrong last."""
        self._answered: Optional[int] = None
        """What the server answered last, if that was no success."""
        self._acts: Dict[str, Callable[[Any], None]] = {
            "request": lambda action: self._begin(action, self._exchange(action)),
            "connect": lambda action: self._begin(action, self._socket(action)),
            "frame": self._frame,
            "abort": self._abort,
            "message": self._message,
            "lost": self._lost,
            "closed": self._closed,
            "unauthorized": self._unauthorized,
        }

    def explain(self, problem: libacp.Error, method: str) -> Optional[libacp.NoResult]:
        """What became of a call that ended so; ``None`` where the transport has nothing to do with it."""
        lost = isinstance(problem, libacp.PeerError) and problem.data == LOST
        outcome = problem.outcome if isinstance(problem, libacp.NoResult) else None
        # A server that is there and answers for an agent that is not, such as a proxy.
        put_off = outcome == "timeout" and not self._known and self._answered is not None
        if not lost and outcome != "closed" and not put_off:
            return None
        if lost and method != "initialize":
            return OutcomeUnknown(method)
        why = self.why or "unreachable"
        ended = RemoteEnded(method, why, self._answered if why == "unreachable" else self.status)
        ended.__cause__ = self.problem
        return ended

    async def close(self) -> None:
        """Ends the conversation, and all that is open for it."""
        self._machine.close()
        self._pump()
        self._clock.stop()
        self.inbox.end()
        self.outbox.close()
        try:
            if self._tasks:
                await asyncio.wait(list(self._tasks.values()), timeout=FAREWELL)
        finally:
            tasks = [*self._tasks.values(), *self._others]
            for task in tasks:
                task.cancel()
            if tasks:
                await asyncio.wait(tasks, timeout=FAREWELL)
            await self._requests.close()
            self._limited.tell()

    # Out.

    def _send(self, data: bytes) -> Optional[str]:
        if self._queued > SOCKET:
            return "full"
        self._tick()
        try:
            return self._machine.send(data)
        except libacp.IdMisuse:
            return None  # An answer to a question of a connection that was lost.
        except libacp.Misuse as problem:
            self._cannot_be_sent(data, problem)
            return None
        finally:
            self._pump()

    def _cannot_be_sent(self, data: bytes, problem: libacp.Misuse) -> None:
        """Answers a call that this transport cannot carry, such as one session too many."""
        message = json.loads(data)
        self._limited.log(problem.rule, 30, "%s", problem)
        if "id" in message and "method" in message:
            error = {"code": libacp.ErrorCode.INTERNAL_ERROR, "message": problem.message, "data": {"rule": problem.rule}}
            self.inbox.put(json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": error}))

    def _frame(self, action: Any) -> None:
        frame = action["frame"]
        if frame["frame"] == "text":
            self._queued += len(frame["text"])
        self._frames.put_nowait(frame)

    # In.

    def _tick(self) -> None:
        self._machine.handle_timeout(self._clock.now())

    def _time_is_up(self) -> None:
        self._tick()
        self._pump()

    def _pump(self) -> None:
        """Does what the state machine asks for."""
        if self._pumping:
            return
        self._pumping = True
        try:
            while True:
                while (action := self._machine.poll_action()) is not None:
                    act = self._acts.get(action["event"])
                    if act is None:
                        self._tell(action)
                    else:
                        act(action)
                if self.outbox.get_write_buffer_size() and self._queued <= SOCKET and self._machine.is_hungry():
                    before = self.outbox.get_write_buffer_size()
                    self.outbox.flush()
                    if self.outbox.get_write_buffer_size() < before:
                        continue
                break
        finally:
            self._pumping = False
        self._clock.set()

    def _tell(self, action: Any) -> None:
        kind = action["event"]
        if kind == "connected":
            self._known = True
        elif kind == "violation":
            self._limited.log(action["rule"], 30, "%s: %s", action["rule"], action["message"])
        if self._on_transport is not None:
            try:
                self._on_transport(action)
            except Exception:
                log.exception("on_transport failed")
        if kind == "retrying" and not self._known and self.problem is not None:
            # Nobody is there. What was there once, and is gone, is waited for.
            self.why = "unreachable"
            self._machine.close()

    def _message(self, action: Any) -> None:
        text = action["json"]
        if action["replayed"]:
            message = json.loads(text)
            if message.get("method") == "session/update" and "id" not in message:
                if not self.loading(message["params"].get("sessionId", "")):
                    # Told once more because the connection was lost: the host has it.
                    return
        self.inbox.put(text)

    def _lost(self, action: Any) -> None:
        self._tell(action)
        for id in action["calls"]:
            self.inbox.put(Machine.lost_answer(id))
        for id in action["questions"]:
            cancel = {"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": id}}
            self.inbox.put(json.dumps(cancel))

    def _closed(self, action: Any) -> None:
        self.why = self.why or action["why"]
        self.status = action.get("status", self.status)
        self._tell(action)
        self.inbox.end()
        self.outbox.close()

    def _unauthorized(self, action: Any) -> None:
        self._tell(action)
        self._aside(self._ask_for_credentials(action["status"], action["challenge"]))

    async def _ask_for_credentials(self, status: int, challenge: Optional[str]) -> None:
        headers = None
        if self._authorize is not None:
            try:
                headers = await awaited(self._authorize(status, challenge))
                for name, value in (headers or {}).items():
                    self._machine.set_header(name, value)
            except Exception as problem:
                log.exception("authorize failed")
                self.problem, headers = problem, None
        self._tick()
        if headers is None:
            self.why, self.status = "refused", status
            self._machine.close()
        else:
            self._machine.retry()
        self._pump()

    def _aside(self, work: Any) -> None:
        task = asyncio.ensure_future(work)
        self._others.add(task)
        task.add_done_callback(self._others.discard)

    # Requests.

    def _begin(self, action: Any, work: Any) -> None:
        number = action["exchange"]
        task = self._tasks[number] = asyncio.ensure_future(work)
        task.add_done_callback(lambda _: self._tasks.pop(number, None))

    def _abort(self, action: Any) -> None:
        task = self._tasks.get(action["exchange"])
        if task is not None:
            task.cancel()

    async def _exchange(self, action: Any) -> None:
        """A request, and its response."""
        machine, number = self._machine, action["exchange"]
        try:
            async with self._requests.stream(action) as response:
                self._tick()
                self._head(number, response.status_code, response.headers.raw)
                async for piece in response.aiter_bytes():
                    self._tick()
                    machine.data(number, piece)
                    self._pump()
                    if not self.inbox.room.is_set():
                        await self.inbox.room.wait()
            self._tick()
            machine.end(number)
        except Exception as problem:
            self._failed(number, problem)
        self._pump()

    async def _socket(self, action: Any) -> None:
        """A WebSocket, from its handshake to its end."""
        machine, number = self._machine, action["exchange"]
        self._frames, self._queued = asyncio.Queue(), 0
        writer: Optional[asyncio.Task[None]] = None
        try:
            opened = await self._requests.socket(action)
            self._tick()
            self._head(number, opened.status, list(opened.headers))
            if opened.socket is not None:
                try:
                    writer = asyncio.ensure_future(self._write(opened.socket, self._frames))
                    async for message in opened.socket:
                        self._tick()
                        if isinstance(message, str):
                            machine.text(number, message)
                        else:
                            machine.binary(number)
                        self._pump()
                        if not self.inbox.room.is_set():
                            await self.inbox.room.wait()
                finally:
                    code = opened.socket.close_code
                    await opened.leave()
                    if code is not None:
                        machine.closed(number, code)
            self._tick()
            machine.end(number)
        except Exception as problem:
            self._failed(number, problem)
        finally:
            if writer is not None:
                writer.cancel()
        self._pump()

    async def _write(self, socket: Any, frames: "asyncio.Queue[Any]") -> None:
        try:
            while True:
                frame = await frames.get()
                kind = frame["frame"]
                if kind == "text":
                    await socket.send(frame["text"])
                    self._queued -= len(frame["text"])
                    if self.outbox.get_write_buffer_size():
                        self._pump()
                elif kind == "close":
                    await socket.close(frame["code"], frame["reason"])
                    return
                # The library pings by itself.
        except Exception:
            pass  # Whoever reads notices.

    def _head(self, number: int, status: int, headers: Any) -> None:
        self._answered = None if status < 300 else status
        self._machine.response(number, status, headers)
        self._pump()

    def _failed(self, number: int, problem: BaseException) -> None:
        self.problem, self._answered = problem, None
        self._tick()
        self._machine.failed(number, not self._requests.was_not_sent(problem))


def is_address(text: str) -> bool:
    """Whether a text is the address of a remote agent."""
    return text.partition("://")[0].lower() in SCHEMES and "://" in text
