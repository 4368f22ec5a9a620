"""A terminal of the agent's own, which the client shows."""

from __future__ import annotations

import base64
from typing import Any, Mapping, Optional, Union

from .._attributes import Attributes
from ._told import Told


class DisplayTerminal:
    """A command that the agent runs itself, as the client shows it; `Turn.display_terminal` creates it."""

    __slots__ = Attributes(__name__, "DisplayTerminal", "id _session _over __weakref__")

    id: str
    """The id of the terminal."""

    def __init__(self, session: Told, id: str) -> None:
        self._session = session
        self.id = id
        self._over = False

    async def write(self, output: Union[bytes, str]) -> None:
        """Reports what the command has printed. Bytes need not be whole characters."""
        self._running()
        data = base64.b64encode(output.encode("utf-8") if isinstance(output, str) else output).decode("ascii")
        await self._send("terminal_output_chunk", {"data": data})

    async def exit(self, code: Optional[int] = None, *, signal: Optional[str] = None) -> None:
        """Reports that the command has ended: with an exit code, by a signal such as ``SIGTERM``, or in a way that is not
        known.
        """
        self._running()
        status = {"exitCode": code, "signal": signal}
        await self._update({"exitStatus": {name: value for name, value in status.items() if value is not None}})
        self._over = True

    def _running(self) -> None:
        if self._over:
            raise RuntimeError(f"the command of the terminal {self.id!r} has ended, as was reported")

    async def _update(self, members: Mapping[str, Any]) -> None:
        await self._send("terminal_update", members)

    async def _send(self, kind: str, members: Mapping[str, Any]) -> None:
        await self._session._update({"sessionUpdate": kind, "terminalId": self.id, **members})

    def __repr__(self) -> str:
        return f"<DisplayTerminal {self.id!r}>"
