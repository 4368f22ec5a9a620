"""The class `Agent`: handlers, and ways to serve clients."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import signal
from typing import TYPE_CHECKING, Any, Callable, ClassVar, List, Optional, Sequence, TypeVar, Union, cast

from libacp.names import Role

from .._attributes import Attributes
from ._clients import AgentSession, ClientPeer, Turn
from ._host import Host, Options
from ._methods import shape
from ._stdio import standard_streams
from ._wire import Reader, Writer

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from libacp.types import v1

    from ._on import Answer, NewSession, OnAgent, PromptEnd

    _OnPrompt = TypeVar("_OnPrompt", bound=Callable[[Turn], Answer[Union[v1.StopReason, PromptEnd, v1.PromptResponse]]])
    _OnNew = TypeVar("_OnNew", bound=Callable[[AgentSession], Answer[Union[NewSession, v1.NewSessionResponse]]])
    _OnLoad = TypeVar("_OnLoad", bound=Callable[[AgentSession], Answer[v1.LoadSessionResponse]])
    _OnResume = TypeVar("_OnResume", bound=Callable[[AgentSession], Answer[v1.ResumeSessionResponse]])
    _OnCancel = TypeVar("_OnCancel", bound=Callable[[AgentSession, str], Any])
    _OnSession = TypeVar("_OnSession", bound=Callable[[AgentSession], Any])


class Agent(Host):
    """An agent: handlers for what clients request, and ways to serve clients.

        agent = Agent("echo", "1.0")

        @agent.prompt
        async def answer(turn):
            await turn.message(turn.text)

        agent.run()

    One agent can serve any number of clients at the same time, with any number of sessions each.

    Arguments:
        `name`, `version`, `title`: the name and version of the program, and the name to show to users.
        `capabilities`: capabilities to advertise in addition to those that follow from the registered handlers, such as
            ``{"promptCapabilities": {"image": True}}``. A handler for ``session/load`` advertises loading, and so on.
        `auth_methods`: the login methods to offer; they need a handler for ``authenticate``.
        `merge_chunks`: whether chunks of messages and thoughts are merged while the client is slow to read. Their text
            is joined, so that the client has fewer messages to handle, and nothing else changes. Chunks that differ in
            more than their text are not merged.
        `options`: the hooks `on_violation`, `on_advice`, `on_error`, `on_late_response` and `on_session_end`; `timeout`
            in seconds for every request; `max_requests`, `expose_errors` and `trace`; and `framing`, `policy`,
            `policies`, `limits`, `versions`, `drafts`, `cancel_grace`, `reminder`, `prompt_queueing` and
            `foreign_methods` of `libacp.Connection`.
    """

    _role: ClassVar[Role] = "agent"

    __slots__ = Attributes(__name__, "Agent", "auth_methods merge_chunks")

    auth_methods: List[v1.AuthMethod]
    """The login methods that are offered to clients."""
    merge_chunks: bool
    """Whether chunks are merged while a client is slow to read."""

    def __init__(
        self,
        name: str,
        version: str = "0",
        *,
        title: Optional[str] = None,
        capabilities: Optional[v1.AgentCapabilities] = None,
        auth_methods: Sequence[v1.AuthMethod] = (),
        merge_chunks: bool = False,
        **options: Unpack[Options],
    ) -> None:
        super().__init__(name, version, title=title, capabilities=capabilities, options=options)
        self.auth_methods = list(auth_methods)
        self.merge_chunks = merge_chunks

    @property
    def on(self) -> OnAgent:
        """Registers a handler for a method: ``@agent.on("session/set_mode")``. For extension methods, use
        `on_extension`.

        The handler is called with the session and the params if the method belongs to a session, and with the peer and
        the params otherwise. For a request, the return value is the result; ``None`` stands for an empty result.
        Handlers of requests run concurrently and start in the order in which the requests arrived; the number of those
        that read or write files is limited. Handlers of notifications run one after another, so one that takes long or
        waits for the peer should start a task.

        Raises:
            ValueError: if the method would never be called, or already has a handler.
            TypeError: if the function cannot be called with these arguments.
        """
        return cast("OnAgent", self._register)

    def prompt(self, handler: _OnPrompt) -> _OnPrompt:
        """Registers the handler for prompts. It is called with a `Turn` and returns why the turn ended: a stop reason,
        a complete result, or ``None`` for ``end_turn``.

        If the client cancels the turn or disconnects, the handler's task is cancelled once; the turn then ends as
        ``cancelled``, however the handler ends.
        """
        shape("prompts", handler, ("turn",))
        self._add("session/prompt", handler)
        return handler

    def new_session(self, handler: _OnNew) -> _OnNew:
        """Registers the handler for new sessions. It is called with an `AgentSession` and may return further fields of
        the result, such as ``modes``; a returned ``sessionId`` replaces the generated one. Updates that it sends
        with `AgentSession.update` follow the answer.
        """
        return self._open_with("session/new", handler)

    def load_session(self, handler: _OnLoad) -> _OnLoad:
        """Registers the handler for loading sessions, and advertises that sessions can be loaded. It replays the
        conversation with `AgentSession.update` before it returns.
        """
        return self._open_with("session/load", handler)

    def resume_session(self, handler: _OnResume) -> _OnResume:
        """Registers the handler for resuming sessions, and advertises that sessions can be resumed. It does not replay
        the conversation; updates that it sends with `AgentSession.update` follow the answer.
        """
        return self._open_with("session/resume", handler)

    def on_cancel_tool(self, handler: _OnCancel) -> _OnCancel:
        """Registers the handler that cancels one tool call (version 2), and offers that with each tool call. It is called
        with the session and the id of the tool call, and stops what that does; `ToolCall.cancelled` then reports it.

        Raises:
            ValueError: if the agent does not speak version 2.
        """
        return self._cancel_with("tool_call/cancel", "toolCallId", handler)

    def on_cancel_terminal(self, handler: _OnCancel) -> _OnCancel:
        """Registers the handler that cancels the command of one `DisplayTerminal` (version 2), and offers that with each.
        It is called with the session and the id of the terminal, and stops the command; `DisplayTerminal.exit` then
        reports that.

        Raises:
            ValueError: if the agent does not speak version 2.
        """
        return self._cancel_with("terminal/cancel", "terminalId", handler)

    def _cancel_with(self, method: str, id: str, handler: _OnCancel) -> _OnCancel:
        self._check(method)
        shape(repr(method), handler, ("session", "id"))
        self._add(method, functools.wraps(handler)(lambda session, params: handler(session, params[id])))
        return handler

    def _open_with(self, method: str, handler: _OnSession) -> _OnSession:
        shape(repr(method), handler, ("session",))
        self._add(method, functools.wraps(handler)(lambda session, params: handler(session)))
        return handler

    def _check(self, method: str) -> None:
        if method == "session/prompt":
            raise ValueError("prompts are handled with @agent.prompt, by a function that is called with a `Turn`")
        super()._check(method)

    def run(self) -> None:
        """Serves one client on standard input and output until the client closes them; for programs that do nothing
        else.

        Meanwhile, everything that the program prints goes to standard error. SIGINT and SIGTERM end it like the end of
        input.
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

        ``asyncio.start_server(agent.serve, ...)`` serves every client that connects. Cancelling the task closes the
        connection.

        Raises:
            ValueError: if `capabilities` advertise a method that has no handler, or lack one that a handler needs; nothing
                has been read then.
        """
        try:
            offered = self._offered(self.handlers)
        except ValueError:
            if writer is not None:
                writer.close()
            raise
        if reader is not None and writer is not None:
            await ClientPeer(self, offered, self.auth_methods, self.merge_chunks, reader, writer)._run()
            return
        async with standard_streams() as (reader, writer):
            await ClientPeer(self, offered, self.auth_methods, self.merge_chunks, reader, writer)._run()
