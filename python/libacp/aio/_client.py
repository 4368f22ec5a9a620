"""The client that a program makes: what it lets agents do, and how it decides."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Awaitable, Callable, ClassVar, Dict, Mapping, Optional, Protocol, Union, cast

import libacp
from libacp.names import Role

from .._attributes import Attributes
from ._errors import no_session
from ._host import Host, Options, awaited
from ._methods import shape
from ._permissions import PermissionRequest, reject_all

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from libacp.types import v1

    from ._on import OnClient
    from ._session import ClientSession

    _Choice = Union[None, str, v1.PermissionOption, v1.RequestPermissionResponse]
    _Permit = Callable[[PermissionRequest], Union[_Choice, Awaitable[_Choice]]]


class ReadFiles(Protocol):
    """What reads files for agents. One that also has ``write_text_file(session, params)`` writes them.

    Where there is a ``begin(session)``, it is called before the agent hears of a session, and ``end(session)`` once it
    is over.
    """

    async def read_text_file(self, session: ClientSession, params: v1.ReadTextFileRequest, /) -> str:
        """The text that is asked for."""
        ...


class WriteFiles(Protocol):
    """What writes files for agents."""

    async def write_text_file(self, session: ClientSession, params: v1.WriteTextFileRequest, /) -> None:
        """Writes a file."""
        ...


class RunTerminals(Protocol):
    """What runs commands for agents."""

    async def create(self, session: ClientSession, params: v1.CreateTerminalRequest, /) -> str:
        """Starts a command; the terminal's id."""
        ...

    async def output(self, session: ClientSession, id: str, /) -> v1.TerminalOutputResponse:
        """What was printed."""
        ...

    async def wait_for_exit(self, session: ClientSession, id: str, /) -> v1.TerminalExitStatus:
        """Waits for the command's end."""
        ...

    async def kill(self, session: ClientSession, id: str, /) -> None:
        """Ends the command."""
        ...

    async def release(self, session: ClientSession, id: str, /) -> None:
        """Forgets the terminal."""
        ...

    async def end(self, session: ClientSession, /) -> None:
        """The session is over."""
        ...


class Client(Host):
    """A client: its name, and what agents may do through it. Without anything: nothing at all.

    `permission` decides on tool calls: it is called with a `PermissionRequest`, and returns an option or its id, or
    ``None`` for no choice; a whole result, where its ``_meta`` matters. When the turn is cancelled, so is its task, and
    the answer has been given already. `files` and `terminals` do what agents ask for; `Files`, `ReadOnlyFiles` and
    `Terminals` are ready to use, and what there is is what agents are told. `on_update` gets the session and the update
    where no iterator takes it: between turns, and in turns that are only awaited.

    `options` are the hooks `on_violation`, `on_advice`, `on_error`, `on_late_response` and `on_session_end`; `timeout` in
    seconds for every request, `max_requests`, `expose_errors` and `trace`; and `framing`, `policy`, `policies`, `limits`,
    `drafts`, `cancel_grace`, `reminder`, `prompt_queueing` and `foreign_methods`, which `libacp.Config` describes.
    """

    _role: ClassVar[Role] = "client"

    __slots__ = Attributes(__name__, "Client", "permission files terminals on_update")

    permission: _Permit
    """Decides on tool calls."""
    files: Union[ReadFiles, WriteFiles, None]
    """Reads and writes files, for connections that are made from then on."""
    terminals: Optional[RunTerminals]
    """Runs commands, for connections that are made from then on."""
    on_update: Optional[Callable[[ClientSession, v1.SessionUpdate], object]]
    """Gets the updates that no iterator takes."""

    def __init__(
        self,
        name: str = "libacp",
        version: str = libacp.__version__,
        *,
        title: Optional[str] = None,
        permission: _Permit = reject_all,
        files: Union[ReadFiles, WriteFiles, None] = None,
        terminals: Optional[RunTerminals] = None,
        capabilities: Optional[v1.ClientCapabilities] = None,
        on_update: Optional[Callable[[ClientSession, v1.SessionUpdate], object]] = None,
        **options: Unpack[Options],
    ) -> None:
        super().__init__(
            name,
            version,
            title=title,
            capabilities=capabilities,
            options=options,
        )
        shape("requests for permission", permission, ("request",))
        self.permission = permission
        self.files = files
        self.terminals = terminals
        self.on_update = on_update

    @property
    def on(self) -> OnClient:
        """Makes a function the handler of a method: ``@client.on("elicitation/create")``. Extensions have `on_extension`.

        It is called with the session and the params for a method about a session, and with the peer and the params for
        any other. What the handler of a request returns is the result; ``None`` stands for an empty one. Requests are
        handled at the same time, each begun in the order in which they came, though those that read and write files are
        handled a few at a time; notifications one after the other, so that a handler that takes long, or waits for the
        peer, is better off with a task of its own.

        Raises `ValueError` for a method that would never be called, or that has a handler, and `TypeError` for a
        function that cannot be called as handlers are.
        """
        return cast("OnClient", self._register)

    def _served(self) -> Dict[str, Callable[..., Any]]:
        """The handlers of a connection that is made now: its files and terminals are those of now, too."""
        served: Dict[str, Callable[..., Any]] = {}
        files, terminals = self.files, self.terminals
        if "session/request_permission" not in self.handlers:
            served["session/request_permission"] = self._permit
        elif self.permission is not reject_all:
            raise ValueError("'session/request_permission' has a handler, and `permission` is given as well")
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
        missing = [method for method in TERMINALS if method not in served]
        if missing and len(missing) < len(TERMINALS):
            raise ValueError(f"a client that runs commands serves all methods of terminals; without handler: {missing}")
        self._keeps(served)
        return served

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
        choice = await awaited(self.permission(PermissionRequest(session, params)))
        if choice is None:
            return {"outcome": {"outcome": "cancelled"}}
        if isinstance(choice, Mapping) and "outcome" in choice:
            return choice
        chosen = choice if isinstance(choice, str) else choice["optionId"]
        return {"outcome": {"outcome": "selected", "optionId": chosen}}


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
