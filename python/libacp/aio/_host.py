"""What agents and clients have in common before there is a connection: a name, a configuration and handlers."""

from __future__ import annotations

import inspect
import os
from operator import index
from typing import Any, Callable, ClassVar, Dict, Iterable, Mapping, Optional, TypedDict, TypeVar, Union

import libacp
from libacp.names import Framing, Policy, Role, Severity

from .. import _native
from .._attributes import Attributes
from ._methods import nearest, shape
from ._seconds import milliseconds

StrPath = Union[str, "os.PathLike[str]"]
H = TypeVar("H", bound=Callable[..., Any])
Trace = Union[StrPath, Callable[[str, bytes], object]]


class Options(TypedDict, total=False):
    """The options of agents and clients. Those without a description are the arguments of `libacp.Connection`."""

    on_violation: Optional[Callable[[libacp.Violation], object]]
    """Called with each `libacp.Violation` by the peer."""
    on_advice: Optional[Callable[[libacp.Advice], object]]
    """Called with each `libacp.Advice` about this side's own messages."""
    on_error: Optional[Callable[[str, Exception], object]]
    """Called with the method and the exception if a handler fails or its result cannot be sent."""
    on_late_response: Optional[Callable[[libacp.LateResponse], object]]
    """Called with each `libacp.LateResponse`, after the session or terminal that it opened was closed or released."""
    on_session_end: Optional[Callable[[Any], object]]
    """Called with each session that was open and has ended: it was closed or deleted, or its connection has ended."""
    timeout: Optional[float]
    """The timeout, in seconds, of every request that has none of its own."""
    max_requests: Optional[int]
    """The maximum number of requests of the peer that are handled at the same time, from 1. At that number reading
    stops, so that even the cancellation of one of them is not noticed.
    """
    expose_errors: bool
    """Whether the text of an exception that a handler raises is sent to the peer, in ``data.details`` of the error."""
    trace: Optional[Trace]
    """Where to record all messages: a file, which gets one line per message with the process, the role and ``->``
    (sent) or ``<-`` (received) before it; or a function, which is called with the arrow and the bytes. The default
    is the file that the environment variable ``LIBACP_TRACE`` names, if it is set.
    """
    framing: Framing
    policy: Policy
    policies: Mapping[Severity, Policy]
    limits: libacp.Limits
    versions: Iterable[int]
    drafts: Iterable[str]
    cancel_grace: Optional[int]
    reminder: int
    prompt_queueing: bool
    foreign_methods: Iterable[str]


HOOKS = ("on_violation", "on_advice", "on_error", "on_late_response", "on_session_end")
OWN = ("max_requests", "expose_errors", "trace")


class Host:
    """The common base of `libacp.aio.Agent` and `libacp.aio.Client`: a name, a configuration and handlers."""

    _role: ClassVar[Role]

    __slots__ = Attributes(
        __name__,
        "Host",
        "name version title given_capabilities on_violation on_advice on_error on_late_response on_session_end "
        "max_requests expose_errors trace options handlers __dict__ __weakref__",
    )

    name: str
    """The name that the peer receives."""
    version: str
    """The version that the peer receives."""
    title: Optional[str]
    """The name to show to users."""
    given_capabilities: Dict[str, Any]
    """The capabilities that were passed to the constructor, without those that follow from handlers."""
    on_violation: Optional[Callable[[libacp.Violation], object]]
    """Called with each `libacp.Violation` by a peer."""
    on_advice: Optional[Callable[[libacp.Advice], object]]
    """Called with each `libacp.Advice` about this side's own messages."""
    on_error: Optional[Callable[[str, Exception], object]]
    """Called with the method and the exception if a handler fails or its result cannot be sent."""
    on_late_response: Optional[Callable[[libacp.LateResponse], object]]
    """Called with each `libacp.LateResponse`, after the session or terminal that it opened was closed or released."""
    on_session_end: Optional[Callable[[Any], object]]
    """Called with each session that was open and has ended."""
    max_requests: Optional[int]
    """The maximum number of requests of a peer that are handled at the same time."""
    expose_errors: bool
    """Whether the text of exceptions that handlers raise is sent to the peer."""
    trace: Optional[Trace]
    """Where all messages are recorded."""
    options: Dict[str, Any]
    """The arguments for `libacp.Connection`."""
    handlers: Dict[str, Callable[..., Any]]
    """The handlers by method."""

    def __init__(
        self,
        name: str,
        version: str,
        *,
        title: Optional[str],
        capabilities: Optional[Mapping[str, object]],
        options: Options,
    ) -> None:
        given: Dict[str, Any] = dict(options)
        who = type(self).__name__
        for option in given:
            if option not in Options.__annotations__:
                also = ("title", "capabilities", *inspect.signature(type(self)).parameters)
                hint = nearest(option, {*Options.__annotations__, *also})
                raise TypeError(f"{who}() has no option {option!r}{hint}")
        self.name = name
        self.version = version
        self.title = title
        self.given_capabilities = dict(capabilities or {})
        for hook in HOOKS:
            setattr(self, hook, given.pop(hook, None))
        self.max_requests = given.pop("max_requests", None)
        if self.max_requests is not None and index(self.max_requests) < 1:
            raise ValueError("max_requests: expected a number from 1")
        self.expose_errors = given.pop("expose_errors", False)
        self.trace = given.pop("trace", None)
        self.options = {option: value for option, value in given.items() if option != "timeout"}
        if given.get("timeout") is not None:
            limit = milliseconds(given["timeout"])
            self.options["timeout"] = None if limit is None else max(1, limit)
        for several in ("versions", "drafts", "foreign_methods"):
            # They are read for each connection.
            if several in self.options:
                self.options[several] = list(self.options[several])
        for draft in self.options.get("drafts", ()):
            if draft not in libacp.DRAFTS:
                raise ValueError(f"there is no draft {draft!r}{nearest(str(draft), libacp.DRAFTS)}")
        self.handlers = {}
        # What cannot be configured is told now, and not when somebody connects.
        self._config

    def on_extension(self, method: str) -> Callable[[H], H]:
        """Registers a handler for an extension method, whose name begins with an underscore, or for one of
        `foreign_methods`: ``@host.on_extension("_example/ping")``. It is called like the handlers of `on`, with any
        params.
        """
        return self._register(method)

    def _register(self, method: str) -> Callable[[H], H]:
        if not isinstance(method, str):
            raise TypeError('a method is missing: write @host.on("session/set_mode")')
        self._check(method)

        def register(handler: H) -> H:
            shape(repr(method), handler, ("session" if self._about_session(method) else "peer", "params"))
            self._add(method, handler)
            return handler

        return register

    def _check(self, method: str) -> None:
        why = _native.why_no_handler(self._config, method, self.given_capabilities)
        if why is not None:
            raise ValueError(why)

    def _offered(self, served: Iterable[str]) -> Dict[str, Any]:
        """The capabilities of a host that serves these methods.

        Raises:
            ValueError: if a method needs a capability that is not given, or a capability one that is not served.
        """
        capabilities, wrong = _native.offers(self._config, served, self.given_capabilities)
        if wrong is not None:
            method, message = wrong
            raise ValueError(message + self._otherwise_served(method))
        return capabilities or {}

    def _otherwise_served(self, method: str) -> str:
        """What serves a method without a handler of it, to be told where that is missing."""
        return ""

    @property
    def _config(self) -> libacp.Config:
        return libacp.Connection(self._role, **self.options).config

    def _connection(self, served: Iterable[str], reader: object) -> libacp.Connection:
        """A connection that serves these methods. A reader of whole messages says so."""
        options = self.options
        framing = getattr(reader, "framing", None)
        if framing is not None:
            options = {**options, "framing": framing}
        return libacp.Connection(self._role, handlers=served, **options)

    def _about_session(self, method: str) -> bool:
        return method.startswith("session/") and method != "session/list"

    def _add(self, method: str, handler: Callable[..., Any]) -> None:
        before = self.handlers.get(method)
        if before is not None:
            what = getattr(before, "__qualname__", repr(before))
            raise ValueError(f"{method!r} has a handler already: {what}")
        self.handlers[method] = handler

    @property
    def info(self) -> Dict[str, Any]:
        """The name, title and version in the form of `initialize`."""
        info = {"name": self.name, "version": self.version}
        return info if self.title is None else {**info, "title": self.title}


async def awaited(result: Any) -> Any:
    """Returns the result of a handler, whether or not it is asynchronous."""
    return await result if inspect.isawaitable(result) else result


def content(what: Union[str, Mapping[str, Any]]) -> Mapping[str, Any]:
    """A content block; a string stands for a text block."""
    return {"type": "text", "text": what} if isinstance(what, str) else what


def with_meta(params: Dict[str, Any], meta: Optional[Mapping[str, Any]]) -> Dict[str, Any]:
    """Adds ``_meta`` to params, if there is any."""
    return params if meta is None else {**params, "_meta": dict(meta)}
