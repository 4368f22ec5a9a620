"""The agent that a program makes: handlers, and the places where it is served."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import signal
from typing import TYPE_CHECKING, Any, Callable, ClassVar, List, Optional, Sequence, TypeVar, Union, cast

from libacp.names import Role

from .._attributes import Attributes
from ._client_peer import AgentSession, ClientPeer
from ._host import Host, Options
from ._methods import shape
from ._stdio import standard_streams
from ._turn import Turn
from ._wire import Reader, Writer

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from libacp.types import v1

    from ._on import Answer, NewSession, OnAgent, PromptEnd

    _OnPrompt = TypeVar("_OnPrompt", bound=Callable[[Turn], Answer[Union[v1.StopReason, PromptEnd, v1.PromptResponse]]])
    _OnNew = TypeVar("_OnNew", bound=Callable[[AgentSession], Answer[Union[NewSession, v1.NewSessionResponse]]])
    _OnLoad = TypeVar("_OnLoad", bound=Callable[[AgentSession], Answer[v1.LoadSessionResponse]])
    _OnResume = TypeVar("_OnResume", bound=Callable[[AgentSession], Answer[v1.ResumeSessionResponse]])
    _OnSession = TypeVar("_OnSession", bound=Callable[[AgentSession], Any])


class Agent(Host):
    """An agent: handlers for what clients ask, and a place to serve them.

        agent = Agent("echo", "1.0")

        @agent.prompt
        async def answer(turn):
            await turn.message(turn.text)

        agent.run()

    One agent can serve any number of clients at the same time, and each client any number of sessions. What it can do
    is told to clients by its handlers (one for ``session/load`` says that sessions can be loaded); `capabilities` adds
    what no handler shows, as ``{"promptCapabilities": {"image": True}}``. Logging in needs `auth_methods` and a handler
    for ``authenticate``.

    `options` are the hooks `on_violation`, `on_advice`, `on_error`, `on_late_response` and `on_session_end`; `timeout` in
    seconds for every request, `max_requests`, `expose_errors` and `trace`; and `framing`, `policy`, `policies`, `limits`,
    `drafts`, `cancel_grace`, `reminder`, `prompt_queueing` and `foreign_methods`, which `libacp.Config` describes.
    """

    _role: ClassVar[Role] = "agent"

    __slots__ = Attributes(__name__, "Agent", "auth_methods")

    auth_methods: List[v1.AuthMethod]
    """The ways to log in that clients are told."""

    def __init__(
        self,
        name: str,
        version: str = "0",
        *,
        title: Optional[str] = None,
        capabilities: Optional[v1.AgentCapabilities] = None,
        auth_methods: Sequence[v1.AuthMethod] = (),
        **options: Unpack[Options],
    ) -> None:
        super().__init__(name, version, title=title, capabilities=capabilities, options=options)
        self.auth_methods = list(auth_methods)

    @property
    def on(self) -> OnAgent:
        """Makes a function the handler of a method: ``@agent.on("session/set_mode")``. Extensions have `on_extension`.

        It is called with the session and the params for a method about a session, and with the peer and the params for
        any other. What the handler of a request returns is the result; ``None`` stands for an empty one. Requests are
        handled at the same time, each begun in the order in which they came, though those that read and write files are
        handled a few at a time; notifications one after the other, so that a handler that takes long, or waits for the
        peer, is better off with a task of its own.

        Raises `ValueError` for a method that would never be called, or that has a handler, and `TypeError` for a
        function that cannot be called as handlers are.
        """
        return cast("OnAgent", self._register)

    def prompt(self, handler: _OnPrompt) -> _OnPrompt:
        """Makes a function the handler of prompts. It is called with a `Turn`, and returns why the turn ended: a stop
        reason, a whole result, or ``None`` for ``end_turn``.

        When the client cancels, or is gone, the handler's task is cancelled, once; however it ends then, the answer is
        ``cancelled``.
        """
        shape("prompts", handler, ("turn",))
        self._add("session/prompt", handler)
        return handler

    def new_session(self, handler: _OnNew) -> _OnNew:
        """Makes a function the handler of new sessions. It is called with an `AgentSession`, and may return more
        members for the result, as ``modes``; a ``sessionId`` among them replaces the one that was made up. What it says
        with `AgentSession.update`, as its commands, follows the answer.
        """
        return self._open_with("session/new", handler)

    def load_session(self, handler: _OnLoad) -> _OnLoad:
        """Makes a function the handler of sessions that are to be loaded, and tells clients that they can be. It
        replays the conversation with `AgentSession.update` before it returns.
        """
        return self._open_with("session/load", handler)

    def resume_session(self, handler: _OnResume) -> _OnResume:
        """Makes a function the handler of sessions that are to be resumed, and tells clients that they can be. Nothing is
        replayed: what it says with `AgentSession.update` follows the answer.
        """
        return self._open_with("session/resume", handler)

    def _open_with(self, method: str, handler: _OnSession) -> _OnSession:
        shape(repr(method), handler, ("session",))
        self._add(method, functools.wraps(handler)(lambda session, params: handler(session)))
        return handler

    def _check(self, method: str) -> None:
        if method == "session/prompt":
            raise ValueError("prompts are handled with @agent.prompt, by a function that is called with a `Turn`")
        super()._check(method)

    def _complete(self) -> None:
        # Sessions can be closed without a handler.
        self._keeps({*self.handlers, "session/close"})

    def run(self) -> None:
        """Serves one client on standard input and output until it closes them; for a program that does nothing else.

        Meanwhile, what the program prints goes to standard error. The signals to interrupt and to terminate end it as
        the end of the input does.
        """
        with contextlib.suppress(KeyboardInterrupt, asyncio.CancelledError):
            asyncio.run(self._main())

    async def _main(self) -> None:
        serving = asyncio.ensure_future(self.serve())
        for each in (signal.SIGINT, signal.SIGTERM):
            # Not everywhere, and not outside of the main thread.
            with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
                asyncio.get_running_loop().add_signal_handler(each, serving.cancel)
        await serving

    async def serve(self, reader: Optional[Reader] = None, writer: Optional[Writer] = None) -> None:
        """Serves one client until it closes its side: on standard input and output, or on a pair of streams.

        ``asyncio.start_server(agent.serve, ...)`` serves all who connect. Cancelling ends the connection. Raises
        `ValueError` before anything is read where `capabilities` promise what no handler serves.
        """
        try:
            self._complete()
        except ValueError:
            if writer is not None:
                writer.close()
            raise
        if reader is not None and writer is not None:
            await ClientPeer(self, reader, writer)._run()
            return
        async with standard_streams() as (reader, writer):
            await ClientPeer(self, reader, writer)._run()
