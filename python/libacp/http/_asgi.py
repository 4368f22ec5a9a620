"""An ASGI application in front of an agent: HTTP, WebSocket and lifespan. It runs in uvicorn, hypercorn and granian, and inside
of Starlette or FastAPI, and imports none of them.
"""

from __future__ import annotations

import asyncio
from typing import Any, Awaitable, Callable, Iterable, List, MutableMapping, Optional, Tuple, Union

from .._native import Server
from ..aio import Agent
from ._hub import Exchange, Hub, Start, Step
from ._types import Report, ServerLimits, ServerOptions, ServerTimes

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

# Handed to the web server at once.
PIECE = 64 * 1024
# How long agents may take to end with the server.
GRACE = 5.0
# What a handshake has besides that the protocol of the application does not say.
HANDSHAKE = (b"upgrade", b"websocket"), (b"connection", b"Upgrade"), (b"sec-websocket-version", b"13")


class App:
    """An ASGI application; `libacp.http.asgi` makes it."""

    def __init__(
        self, start: Start, path: str, options: ServerOptions, on_report: Optional[Callable[[Report], object]]
    ) -> None:
        self._start = start
        self._path = path
        self._options = options
        self._on_report = on_report
        self._hub: Optional[Hub] = None

    @property
    def connections(self) -> int:
        """The number of open connections."""
        return 0 if self._hub is None else self._hub.server.connections

    async def close(self, grace: float = GRACE) -> None:
        """Ends all connections; their agents have `grace` seconds to end. The end of the lifespan does this as well."""
        hub, self._hub = self._hub, None
        if hub is not None:
            await hub.close(grace)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        kind = scope["type"]
        if kind == "http":
            await self._http(scope, receive, send)
        elif kind == "websocket":
            await self._websocket(scope, receive, send)
        elif kind == "lifespan":
            await self._lifespan(receive, send)
        else:
            raise NotImplementedError(f"there is no scope {kind!r}")

    def _of_loop(self) -> Hub:
        """The hub of this event loop: whoever runs one after the other, as tests do, begins anew."""
        hub = self._hub
        if hub is None or (hub.loop is not asyncio.get_running_loop() and hub.loop.is_closed()):
            hub = self._hub = Hub(self._options, self._start, self._on_report)
        if hub.loop is not asyncio.get_running_loop():
            raise RuntimeError("this application runs in another event loop already; make one for each")
        return hub

    def _target(self, scope: Scope) -> str:
        """What is asked for, as the server of the core knows it: below a mount, the path is what is left."""
        path, root = scope["path"], scope.get("root_path", "")
        rest = path[len(root) :] if root and path.startswith(root) else path
        if rest == self._path or (root and rest in ("", "/")):
            path = self._path
        query = scope.get("query_string", b"")
        return f"{path}?{query.decode('latin-1')}" if query else str(path)

    async def _lifespan(self, receive: Receive, send: Send) -> None:
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                await send({"type": "lifespan.startup.complete"})
            else:
                await self.close()
                await send({"type": "lifespan.shutdown.complete"})
                return

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        hub = self._of_loop()
        exchange = hub.begin()
        listening: Optional[asyncio.Task[None]] = None
        try:
            step = hub.request(exchange, scope["method"], self._target(scope), scope["headers"])
            if step["step"] != "respond":
                listening = asyncio.ensure_future(_listen(hub, exchange, receive, step["step"] == "body"))
            while step["step"] in ("body", "wait"):
                await exchange.wake.wait()
                exchange.wake.clear()
                if exchange.response is not None:
                    step = {"step": "respond", **exchange.response}
                elif exchange.gone:
                    return
                elif exchange.step is not None:
                    step, exchange.step = exchange.step, None
            await send({"type": "http.response.start", "status": step["status"], "headers": _headers(step)})
            if step["step"] == "respond":
                await send({"type": "http.response.body", "body": step["body"].encode()})
            else:
                await _stream(hub, exchange, send)
        except OSError:
            pass  # The client is gone.
        finally:
            if listening is not None:
                listening.cancel()
            hub.end(exchange)

    async def _websocket(self, scope: Scope, receive: Receive, send: Send) -> None:
        if (await receive())["type"] != "websocket.connect":
            return
        hub = self._of_loop()
        exchange = hub.begin()
        tasks: List[asyncio.Task[None]] = []
        try:
            headers = list(scope["headers"])
            known = {name.lower() for name, _ in headers}
            headers += [each for each in HANDSHAKE if each[0] not in known]
            step = hub.request(exchange, "GET", self._target(scope), headers)
            if step["step"] != "upgrade":
                await _deny(scope, step, send)
                return
            await send({"type": "websocket.accept", "headers": _headers(step)})
            tasks = [
                asyncio.ensure_future(_hear(hub, exchange, receive)),
                asyncio.ensure_future(_tell(hub, exchange, send)),
            ]
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        except OSError:
            pass  # The client is gone.
        finally:
            exchange.gone = True
            for task in tasks:
                task.cancel()
            hub.end(exchange)
            if tasks:
                await asyncio.wait(tasks)


async def _listen(hub: Hub, exchange: Exchange, receive: Receive, reads: bool) -> None:
    """Passes in the body of a request, and notices that its client is gone."""
    while True:
        message = await receive()
        if message["type"] != "http.request":
            exchange.gone = True
            exchange.wake.set()
            return
        if reads:
            step = hub.body(exchange, message.get("body", b""), not message.get("more_body", False))
            reads = step["step"] == "body"
            if not reads:
                exchange.step = step
                exchange.wake.set()


async def _stream(hub: Hub, exchange: Exchange, send: Send) -> None:
    # Some servers send the head with the first piece of the body, however short.
    await send({"type": "http.response.body", "body": b"", "more_body": True})
    transmit, number = hub.server.transmit, exchange.number
    while True:
        exchange.wake.clear()
        data = transmit(number, PIECE)
        if data:
            await send({"type": "http.response.body", "body": data, "more_body": True})
            if exchange.gone:
                return
            hub.written(exchange, len(data))
        elif exchange.gone:
            return
        elif exchange.finished:
            await send({"type": "http.response.body", "body": b""})
            return
        else:
            await exchange.wake.wait()


async def _hear(hub: Hub, exchange: Exchange, receive: Receive) -> None:
    """Passes in the frames of a socket, as fast as its agent reads."""
    while True:
        if not hub.server.is_hungry(exchange.number):
            await hub.fed(exchange)
        message = await receive()
        if message["type"] != "websocket.receive":
            return
        text = message.get("text")
        if text is None:
            hub.binary(exchange)
        else:
            hub.text(exchange, text)


async def _tell(hub: Hub, exchange: Exchange, send: Send) -> None:
    """Sends the frames of a socket, as fast as its client reads."""
    while True:
        frame = hub.frame(exchange)
        if frame is None:
            await exchange.wake.wait()
            exchange.wake.clear()
        elif frame["frame"] == "text":
            await send({"type": "websocket.send", "text": frame["text"]})
        elif frame["frame"] == "close":
            await send({"type": "websocket.close", "code": frame["code"], "reason": frame["reason"]})
            return
        else:
            # Applications cannot ping. Their servers do, and end the sockets that do not answer.
            hub.pong(exchange)


async def _deny(scope: Scope, step: Step, send: Send) -> None:
    """Refuses a handshake, with its status where the server can say it."""
    if "websocket.http.response" not in (scope.get("extensions") or {}):
        await send({"type": "websocket.close", "code": 1008})
        return
    headers = _headers(step)
    await send({"type": "websocket.http.response.start", "status": step["status"], "headers": headers})
    await send({"type": "websocket.http.response.body", "body": step["body"].encode()})


def _headers(step: Step) -> List[Tuple[bytes, bytes]]:
    return [(name.encode(), value.encode()) for name, value in step["headers"]]


def asgi(
    agent: Union[Agent, Start],
    *,
    path: str = "/acp",
    hosts: Iterable[str] = (),
    any_host: bool = False,
    origins: Iterable[str] = (),
    token: Optional[str] = None,
    prefix: str = "",
    strict: bool = False,
    tolerates: Iterable[str] = (),
    limits: Optional[ServerLimits] = None,
    times: Optional[ServerTimes] = None,
    on_report: Optional[Callable[[Report], object]] = None,
) -> App:
    """Makes an ASGI application that serves an agent over Streamable HTTP and WebSocket:

        app = libacp.http.asgi(agent)

    and then ``uvicorn module:app``, or hypercorn, or granian; or ``Mount("/acp", app)`` in Starlette, whose clients ask for
    ``/acp/`` then. It has state, so it needs one worker process, or a load balancer that looks at ``Acp-Connection-Id``.

    By default it answers only to names of this machine, and to no page of another origin.

    Arguments:
        `agent`: an agent, which serves all connections; or a function that makes one for each connection.
        `path`: the path of the endpoint.
        `hosts`: values of ``Host`` that are answered besides those of this machine, such as ``agents.example.com``.
        `any_host`: whether any ``Host`` is answered, for servers behind a proxy that checks it.
        `origins`: origins of web pages that may use the agent, such as ``https://editor.example.com``.
        `token`: what each request has to carry, as ``Authorization: Bearer TOKEN``.
        `prefix`: what the ids of connections begin with, for load balancers.
        `strict`: whether everything that the draft of the transport forbids is refused.
        `tolerates`: what is tolerated all the same; see `ServerOptions`.
        `limits`, `times`: bounds, and times in milliseconds, in place of the defaults; see `ServerLimits`, `ServerTimes`.
        `on_report`: called with each `Report` of a rule that a client broke.

    Raises:
        ValueError: for an option that has no such value.
    """
    options: ServerOptions = {
        "path": path,
        "hosts": list(hosts),
        "any_host": any_host,
        "origins": list(origins),
        "prefix": prefix,
        "strict": strict,
        "tolerates": list(tolerates),
        "limits": limits or {},
        "times": times or {},
    }
    if token is not None:
        options["token"] = token
    # What cannot be is told now, and not to the first client.
    Server(options)
    return App((lambda: agent) if isinstance(agent, Agent) else agent, path, options, on_report)
