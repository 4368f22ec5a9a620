"""Requests and WebSockets of clients, by httpx and websockets. Both are imported when an address needs them, and are no part of
what a type checker has to find.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
from typing import TYPE_CHECKING, Any, AsyncIterator, Iterable, NamedTuple, Optional, Tuple
from urllib.parse import SplitResult, urlunsplit

if TYPE_CHECKING:
    from ssl import SSLContext

# Seconds that a connection may take to be made. How long a response may take is for the state machine to say.
CONNECT = 30.0
# Servers end connections that nobody uses, some after five seconds. One that ends while a request is under way leaves it
# unknown whether that has arrived, so none is used again that late.
KEEP = 2.0
MISSING = "a remote agent needs httpx and websockets: pip install 'libacp[http]'"


class Opened(NamedTuple):
    """What became of a handshake."""

    status: int
    headers: Iterable[Tuple[str, str]]
    socket: Any

    async def leave(self) -> None:
        """Closes the socket."""
        if self.socket is not None:
            await self.socket.close()


class Requests:
    """What makes the requests of one client."""

    def __init__(
        self, url: str, parts: SplitResult, http2: Optional[bool], ssl: Optional[SSLContext], most: int
    ) -> None:
        self._url = url
        self._origin = urlunsplit((parts.scheme, parts.netloc, "", "", ""))
        self._ssl, self._most = ssl, most
        self._http: Any = None
        self._apart: Any = None
        """Makes a client for one stream of events, where these are not to share a connection."""
        self._unsent: Tuple[type, ...] = ()
        try:
            if parts.scheme in ("http", "https"):
                self._http = self._client(importlib.import_module("httpx"), parts.scheme, http2)
            else:
                self._connect: Any = importlib.import_module("websockets.asyncio.client").connect
                self._refusal: Any = importlib.import_module("websockets.exceptions").InvalidStatus
        except ImportError as missing:
            raise ImportError(MISSING) from missing

    def _client(self, httpx: Any, scheme: str, http2: Optional[bool]) -> Any:
        # It takes long to import, and only this needs it.
        from http.cookiejar import CookieJar, DefaultCookiePolicy

        self._unsent = (httpx.ConnectError, httpx.ConnectTimeout, httpx.LocalProtocolError)
        if http2 is None:
            http2 = importlib.util.find_spec("h2") is not None
            first = True
        else:
            # Without TLS nothing is agreed on: who wants HTTP/2 there begins with it.
            first = not http2 or scheme == "https"
        # It takes long to be made, and all clients can share it.
        verify = self._ssl or (httpx.create_ssl_context() if scheme == "https" else False)

        def client() -> Any:
            return httpx.AsyncClient(
                http1=first,
                http2=http2,
                verify=verify,
                timeout=httpx.Timeout(None, connect=CONNECT),
                limits=httpx.Limits(max_connections=None, max_keepalive_connections=16, keepalive_expiry=KEEP),
                follow_redirects=False,
                # The state machine has the cookies, for both transports.
                cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
                headers={"accept": "*/*", "accept-encoding": "identity"},
            )

        # Of an HTTP/2 connection of httpx, whichever stream waits first reads for all, and a stream whose response has come
        # is woken in its turn: behind a stream of events on which nothing happens, it waits until that gets something.
        # Nor is there a second stream where the server does not say how many it allows.
        if http2 and (scheme == "https" or not first):
            self._apart = client
        return client()

    @contextlib.asynccontextmanager
    async def stream(self, action: Any) -> AsyncIterator[Any]:
        """Makes a request."""
        body = action["body"]
        what = {"headers": action["headers"], "content": body.encode() if body else None}
        async with contextlib.AsyncExitStack() as stack:
            http = self._http
            if self._apart is not None and action["method"] == "GET":
                http = await stack.enter_async_context(self._apart())
            yield await stack.enter_async_context(http.stream(action["method"], self._origin + action["target"], **what))

    async def socket(self, action: Any) -> Opened:
        """Opens a WebSocket; a refusal is a response like any other."""
        secure = {} if self._ssl is None else {"ssl": self._ssl}
        opening = self._connect(
            self._url,
            additional_headers=action["headers"],
            max_size=self._most,
            # As over HTTP: what is compressed takes memory for each connection, and says something of its content.
            compression=None,
            open_timeout=None,
            close_timeout=1,
            **secure,
        )
        # A server that sends its clients elsewhere is reported (HTTP-25), and not followed with their credentials.
        opening.process_redirect = lambda problem: problem
        try:
            socket = await opening
        except self._refusal as refused:
            return Opened(refused.response.status_code, refused.response.headers.raw_items(), None)
        return Opened(101, socket.response.headers.raw_items(), socket)

    def was_not_sent(self, problem: BaseException) -> bool:
        """Whether the server cannot have any of a request that came to this."""
        return isinstance(problem, self._unsent)

    async def close(self) -> None:
        """Lets go of all connections."""
        if self._http is not None:
            await self._http.aclose()
