"""The class `Client`: what it offers to agents, and how it answers permission requests."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Awaitable, Callable, ClassVar, Dict, Mapping, Optional, Protocol, Union, cast

import libacp
from libacp.names import Role

from .._attributes import Attributes
from ._client_sessions import Offering
from ._errors import no_session
from ._host import Options, awaited
from ._methods import shape
from ._permissions import PermissionRequest, reject_all

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from libacp.names import PermissionDecision
    from libacp.types import v1

    from ._agents import ClientSession
    from ._on import OnClient

    _Choice = Union[None, str, v1.PermissionOption, v1.RequestPermissionResponse]
    _Permit = Callable[[PermissionRequest], Union[_Choice, Awaitable[_Choice]]]


class ReadFiles(Protocol):
    """Reads files for agents. An implementation that also has ``write_text_file(session, params)`` writes files too.

    If it has ``begin(session)``, that is called before the agent can use a session, and ``end(session)`` after the
    session has ended.
    """

    async def read_text_file(self, session: ClientSession, params: v1.ReadTextFileRequest, /) -> str:
        """Returns the requested text."""
        ...


class WriteFiles(Protocol):
    """Writes files for agents."""

    async def write_text_file(self, session: ClientSession, params: v1.WriteTextFileRequest, /) -> None:
        """Writes a file."""
        ...


class RunTerminals(Protocol):
    """Runs commands for agents."""

    async def create(self, session: ClientSession, params: v1.CreateTerminalRequest, /) -> str:
        """Starts a command and returns the id of its terminal."""
        ...

    async def output(self, session: ClientSession, id: str, /) -> v1.TerminalOutputResponse:
        """Returns the output of the command so far."""
        ...

    async def wait_for_exit(self, session: ClientSession, id: str, /) -> v1.TerminalExitStatus:
        """Waits until the command has ended, and returns how it ended."""
        ...

    async def kill(self, session: ClientSession, id: str, /) -> None:
        """Kills the command."""
        ...

    async def release(self, session: ClientSession, id: str, /) -> None:
        """Releases the terminal."""
        ...

    async def end(self, session: ClientSession, /) -> None:
        """Called when the session has ended."""
        ...


class Client(Offering):
    """A client: its name, and what agents may do through it. By default agents may do nothing.

    Arguments:
        `name`, `version`, `title`: the name and version of the program, and the name to show to users.
        `permission`: answers permission requests. It is called with a `PermissionRequest` and returns an option or its
            id, ``None`` for no choice, or a complete result. When the turn is cancelled, so is its task; the request
            has been answered by then.
        `permission_policy`: a `libacp.PermissionPolicy`, or what one is made of. It answers the requests that a rule of
            it allows or denies, and `permission` gets the others. Sessions are kept as conversations then (`view`), which
            say what a request is about.
        `on_decision`: called with the session and each decision of the policy, also with those that leave a request to
            `permission`.
        `files`, `terminals`: serve the agent's file and terminal requests, such as `Files`, `ReadOnlyFiles` and
            `Terminals`. What they support is advertised to agents.
        `capabilities`: capabilities to advertise in addition to those that follow from the rest.
        `on_update`: called with the session and each update that no iterator receives, as on the wire: between turns,
            and in turns that are only awaited.
        `view`: whether sessions are kept as conversations, in `ClientSession.view`.
        `options`: the hooks `on_violation`, `on_advice`, `on_error`, `on_late_response` and `on_session_end`; `timeout`
            in seconds for every request; `max_requests`, `expose_errors` and `trace`; and `framing`, `policy`,
            `policies`, `limits`, `versions`, `drafts`, `cancel_grace`, `reminder`, `prompt_queueing` and
            `foreign_methods` of `libacp.Connection`.
    """

    _role: ClassVar[Role] = "client"

    __slots__ = Attributes(__name__, "Client", "permission permission_policy on_decision files terminals on_update")

    permission: _Permit
    """Answers permission requests."""
    permission_policy: Optional[libacp.PermissionPolicy]
    """Answers the permission requests that a rule of it allows or denies."""
    on_decision: Optional[Callable[[ClientSession, PermissionDecision], object]]
    """Called with the session and each decision of the policy."""
    files: Union[ReadFiles, WriteFiles, None]
    """Reads and writes files; a change applies to later connections."""
    terminals: Optional[RunTerminals]
    """Runs commands; a change applies to later connections."""
    on_update: Optional[Callable[[ClientSession, v1.SessionUpdate], object]]
    """Called with the updates that no iterator receives."""

    def __init__(
        self,
        name: str = "libacp",
        version: str = libacp.__version__,
        *,
        title: Optional[str] = None,
        permission: _Permit = reject_all,
        permission_policy: Union[libacp.PermissionPolicy, Mapping[str, object], str, None] = None,
        on_decision: Optional[Callable[[ClientSession, PermissionDecision], object]] = None,
        files: Union[ReadFiles, WriteFiles, None] = None,
        terminals: Optional[RunTerminals] = None,
        capabilities: Optional[v1.ClientCapabilities] = None,
        on_update: Optional[Callable[[ClientSession, v1.SessionUpdate], object]] = None,
        view: bool = False,
        **options: Unpack[Options],
    ) -> None:
        super().__init__(
            name,
            version,
            title=title,
            capabilities=capabilities,
            options=options,
        )
        if permission_policy is not None and not isinstance(permission_policy, libacp.PermissionPolicy):
            permission_policy = libacp.PermissionPolicy(permission_policy)
        self.permission_policy = permission_policy
        self.on_decision = on_decision
        self.options["view"] = bool(view) or permission_policy is not None
        shape("requests for permission", permission, ("request",))
        self.permission = permission
        self.files = files
        self.terminals = terminals
        self.on_update = on_update

    @property
    def on(self) -> OnClient:
        """Registers a handler for a method: ``@client.on("elicitation/create")``. For extension methods, use
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
        return cast("OnClient", self._register)

    def _served(self) -> Dict[str, Callable[..., Any]]:
        """The handlers of a connection that is made now: its files and terminals are those of now, too."""
        served: Dict[str, Callable[..., Any]] = {}
        files, terminals = self.files, self.terminals
        if "session/request_permission" not in self.handlers:
            served["session/request_permission"] = self._permit
        elif self.permission is not reject_all or self.permission_policy is not None:
            given = "permission" if self.permission_policy is None else "permission_policy"
            raise ValueError(f"'session/request_permission' has a handler, and `{given}` is given as well")
        for method, call in FILES.items():
            if hasattr(files, method.partition("/")[2]):
                served[method] = partial(call, files)
        if terminals is not None:
            served.update((method, partial(call, terminals)) for method, call in TERMINALS.items())
        for method in self.handlers:
            if method in served:
                what = "files" if method in FILES else "terminals"
                raise ValueError(f"{method!r} has a handler, and `{what}` serves it as well")
        served.update(self.handlers)
        return served

    def _otherwise_served(self, method: str) -> str:
        option = "files" if method in FILES else "terminals" if method in TERMINALS else None
        return f"; the option `{option}` serves it as well" if option else ""

    def _check(self, method: str) -> None:
        if method == "session/request_permission" and self.permission is not reject_all:
            raise ValueError("'session/request_permission' is handled by `permission` already")
        if method in FILES and hasattr(self.files, method.partition("/")[2]):
            raise ValueError(f"{method!r} is handled by `files` already")
        if method in TERMINALS and self.terminals is not None:
            raise ValueError(f"{method!r} is handled by `terminals` already")
        super()._check(method)

    def _about_session(self, method: str) -> bool:
        return super()._about_session(method) or method in FILES or method in TERMINALS

    async def _permit(self, session: ClientSession, params: Mapping[str, Any]) -> Any:
        if self.permission_policy is not None:
            decision = self.permission_policy.decide(session.agent.connection, params)
            if self.on_decision is not None:
                session.agent._hooks.call("on_decision", self.on_decision, session, decision)
            if decision["action"] != "ask":
                return _chosen(decision["optionId"])
        choice = await awaited(self.permission(PermissionRequest(session, params)))
        if isinstance(choice, Mapping) and "outcome" in choice:
            return choice
        return _chosen(choice if choice is None or isinstance(choice, str) else choice["optionId"])


def _chosen(option: Optional[str]) -> Any:
    if option is None:
        return {"outcome": {"outcome": "cancelled"}}
    return {"outcome": {"outcome": "selected", "optionId": option}}


async def _read(files: Any, session: ClientSession, params: Any) -> Any:
    return {"content": await files.read_text_file(session, params)}


async def _write(files: Any, session: ClientSession, params: Any) -> Any:
    await files.write_text_file(session, params)


async def _create(terminals: RunTerminals, session: ClientSession, params: Any) -> Any:
    if not session._takes_terminals:
        raise no_session()
    id = await terminals.create(session, params)
    if session._over:
        # It has ended meanwhile, and with it all terminals that were there then.
        await terminals.release(session, id)
        raise no_session()
    return {"terminalId": id}


async def _output(terminals: RunTerminals, session: ClientSession, params: Any) -> Any:
    return await terminals.output(session, params["terminalId"])


async def _wait(terminals: RunTerminals, session: ClientSession, params: Any) -> Any:
    return await terminals.wait_for_exit(session, params["terminalId"])


async def _kill(terminals: RunTerminals, session: ClientSession, params: Any) -> Any:
    await terminals.kill(session, params["terminalId"])


async def _release(terminals: RunTerminals, session: ClientSession, params: Any) -> Any:
    await terminals.release(session, params["terminalId"])


FILES: Dict[str, Callable[..., Awaitable[Any]]] = {"fs/read_text_file": _read, "fs/write_text_file": _write}
TERMINALS: Dict[str, Callable[..., Awaitable[Any]]] = {
    "terminal/create": _create,
    "terminal/output": _output,
    "terminal/wait_for_exit": _wait,
    "terminal/kill": _kill,
    "terminal/release": _release,
}
