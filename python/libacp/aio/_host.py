"""What an agent and a client have in common before there is a connection: a name, a configuration, handlers."""

from __future__ import annotations

import inspect
import os
from typing import Any, Callable, Dict, Iterable, Mapping, Optional, TypedDict, TypeVar, Union

import libacp
from libacp.names import Framing, Policy, Severity

StrPath = Union[str, "os.PathLike[str]"]
H = TypeVar("H", bound=Callable[..., Any])


class Options(TypedDict, total=False):
    """What `libacp.Connection` takes beyond its role; see its documentation."""

    framing: Framing
    policy: Policy
    policies: Mapping[Severity, Policy]
    limits: libacp.Limits
    drafts: Iterable[str]
    cancel_grace: Optional[int]
    reminder: int
    prompt_queueing: bool
    foreign_methods: Iterable[str]


class Host:
    """A name, a configuration and handlers; `libacp.aio.Agent` and `libacp.aio.Client` are made of it."""

    def __init__(
        self,
        name: str,
        version: str,
        *,
        title: Optional[str],
        capabilities: Optional[Mapping[str, object]],
        on_violation: Optional[Callable[[libacp.Violation], object]],
        on_late_response: Optional[Callable[[libacp.LateResponse], object]],
        options: Options,
    ) -> None:
        self.name = name
        """The name that the peer is told."""
        self.version = version
        """The version that the peer is told."""
        self.title = title
        """The name that a user is to see."""
        self.given_capabilities: Dict[str, Any] = dict(capabilities or {})
        """The capabilities that were given, before those that follow from handlers."""
        self.on_violation = on_violation
        """Called with each `libacp.Violation` of a peer."""
        self.on_late_response = on_late_response
        """Called with each `libacp.LateResponse`, after what it opened was given back."""
        self.options = options
        """What the connections are configured with."""
        self.handlers: Dict[str, Callable[..., Any]] = {}
        """The handlers by method."""

    def on(self, method: str) -> Callable[[H], H]:
        """Makes a function the handler of a method: ``@host.on("session/set_mode")``.

        It is called with the session and the params for a method about a session, and with the peer and the params for
        any other. What the handler of a request returns is the result; ``None`` stands for an empty one. Requests are
        handled at the same time, each begun in the order in which they came, though those that read and write files are
        handled a few at a time; notifications one after the other, so that
        a handler that takes long, or waits for the peer, is better off with a task of its own.
        """

        def register(handler: H) -> H:
            self.handlers[method] = handler
            return handler

        return register

    @property
    def info(self) -> Dict[str, Any]:
        """Name, title and version, as `initialize` has them."""
        info = {"name": self.name, "version": self.version}
        return info if self.title is None else {**info, "title": self.title}


def merged(base: Mapping[str, Any], over: Mapping[str, Any]) -> Dict[str, Any]:
    """Objects put together member by member; where both have a value that is no object, `over` wins."""
    result = dict(base)
    for name, value in over.items():
        below = result.get(name)
        inner = isinstance(below, Mapping) and isinstance(value, Mapping)
        result[name] = merged(below, value) if inner and below is not None else value
    return result


async def awaited(result: Any) -> Any:
    """What a handler has returned, whether it is asynchronous or not."""
    return await result if inspect.isawaitable(result) else result


def content(what: Union[str, Mapping[str, Any]]) -> Mapping[str, Any]:
    """A content block; a string stands for a block of text."""
    return {"type": "text", "text": what} if isinstance(what, str) else what
