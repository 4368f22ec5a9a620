"""Terminals for an agent: child processes, each in its own process group, with bounded output."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import weakref
from functools import partial
from typing import TYPE_CHECKING, Callable, Dict, Mapping, Optional, Tuple

import libacp

from ._errors import RequestError
from ._log import log
from ._output import Output
from ._process import END, Printed, Process

if TYPE_CHECKING:
    from libacp.types import v1

    from ._agents import ClientSession

__all__ = ["Output", "Terminals"]

NOT_FOUND = libacp.ErrorCode.RESOURCE_NOT_FOUND
INTERNAL = libacp.ErrorCode.INTERNAL_ERROR


class Terminals:
    """Runs the commands of agents as child processes without input. An agent that gets this can do anything.

    A command is killed when its terminal is released, when its session or connection ends, or when this process ends,
    together with the children that stayed in its process group.

    Arguments:
        `output_byte_limit`: the maximum number of bytes of output to keep, if the agent asks for no less. The end of
            the output is kept, cut at a character.
        `most`: the maximum number of terminals at a time.
        `env`: the environment of the commands, to which the agent can add; by default that of this process.
        `signals`: whether commands also end when SIGTERM, SIGHUP or SIGINT ends this process. While commands run that
            were started in the main thread, such a signal has a handler, unless the host has set its own or ignores the
            signal.
        `on_output`: called with the session, the id of the terminal and the text whenever a command prints something.
    """

    def __init__(
        self,
        *,
        output_byte_limit: int = 1024 * 1024,
        most: int = 64,
        env: Optional[Mapping[str, str]] = None,
        signals: bool = True,
        on_output: Optional[Callable[[ClientSession, str, str], object]] = None,
    ) -> None:
        self.output_byte_limit = output_byte_limit
        """Bytes of output that are kept at most."""
        self.most = most
        """Terminals at a time."""
        self.env = env
        """What commands see of the environment, before the agent adds to it."""
        self.signals = signals
        """Whether commands end when a signal ends this process that it does not handle itself."""
        self.on_output = on_output
        """Called with what commands print, as it comes."""
        self._running: Dict[str, Tuple[ClientSession, Process]] = {}
        self._over: weakref.WeakSet[ClientSession] = weakref.WeakSet()
        self._starting = 0
        self._numbers = itertools.count(1)

    async def create(self, session: ClientSession, params: v1.CreateTerminalRequest) -> str:
        """Starts a command, in the directory that the agent names or in that of the session, and returns the id of its
        terminal.
        """
        if len(self._running) + self._starting >= self.most:
            raise RequestError(INTERNAL, f"There are {self.most} terminals already")
        self._starting += 1
        id = f"term-{next(self._numbers)}"
        try:
            printed = Printed()
            try:
                await printed.connect()
                process = self._start(session, params, printed, partial(self._heard, session, id))
            except BaseException:
                printed.close()
                raise
            finally:
                os.close(printed.theirs)
        finally:
            self._starting -= 1
        self._running[id] = (session, process)
        return id

    def _heard(self, session: ClientSession, id: str, text: str) -> None:
        try:
            if self.on_output is not None:
                self.on_output(session, id, text)
        except Exception:
            log.exception("on_output failed for the terminal %s", id)

    def _start(
        self, session: ClientSession, params: v1.CreateTerminalRequest, printed: Printed, hear: Callable[[str], None]
    ) -> Process:
        if session in self._over:
            raise RequestError(NOT_FOUND, "The session is over")
        wanted = params.get("outputByteLimit")
        limit = self.output_byte_limit if wanted is None else min(wanted, self.output_byte_limit)
        env = dict(os.environ if self.env is None else self.env)
        env.update(_variable(each) for each in params.get("env") or ())
        command = [params["command"], *(params.get("args") or ())]
        cwd = params.get("cwd") or session.cwd
        try:
            return Process.start(command, printed, Output(limit, hear), cwd=cwd, env=env, signals=self.signals)
        except (OSError, ValueError) as problem:
            reason = os.strerror(problem.errno) if isinstance(problem, OSError) and problem.errno else "not a command"
            what = f"The command cannot be started: {reason}"
            raise RequestError(libacp.ErrorCode.INVALID_PARAMS, what) from None

    async def output(self, session: ClientSession, id: str) -> v1.TerminalOutputResponse:
        """Returns the output so far, and the exit status once the command has ended."""
        process = self._find(session, id)
        result: v1.TerminalOutputResponse = {"output": process.output.text, "truncated": process.output.truncated}
        status = process.status
        if status is not None:
            result["exitStatus"] = status
        return result

    async def wait_for_exit(self, session: ClientSession, id: str) -> v1.TerminalExitStatus:
        """Waits until the command has ended, and returns its exit status."""
        # Whoever waits may be cancelled; the command goes on.
        return await asyncio.shield(self._find(session, id).ended)

    async def kill(self, session: ClientSession, id: str) -> None:
        """Kills the command and keeps the terminal."""
        try:
            self._find(session, id).kill()
        except PermissionError:
            raise RequestError(INTERNAL, "The command may not be ended") from None

    async def release(self, session: ClientSession, id: str) -> None:
        """Kills the command and removes the terminal. If the command does not end, that is an error and the terminal
        stays.
        """
        process = self._find(session, id)
        if not await process.end():
            raise RequestError(INTERNAL, "The command does not end")
        self._forget(id)

    async def end(self, session: ClientSession) -> None:
        """Releases all terminals of a session that has ended. A command that does not end still counts as a terminal
        until it does.
        """
        self._over.add(session)
        own = {id: process for id, (owner, process) in self._running.items() if owner is session}
        for id, process in own.items():
            process.exited.add_done_callback(partial(self._forget, id))
            with contextlib.suppress(PermissionError):
                process.kill()
        if own:
            await asyncio.wait([process.exited for process in own.values()], timeout=END)
        for id, process in own.items():
            if process.exited.done():
                self._forget(id)
            else:
                log.warning("a command of a session that is over does not end: process %d", process.pid)

    def _forget(self, id: str, exited: Optional[asyncio.Future[Optional[int]]] = None) -> None:
        _, process = self._running.pop(id, (None, None))
        if process is not None:
            process.give_up()

    def _find(self, session: ClientSession, id: str) -> Process:
        owner, process = self._running.get(id, (None, None))
        if process is None or owner is not session:
            raise RequestError(NOT_FOUND, "There is no such terminal")
        return process


def _variable(given: v1.EnvVariable) -> Tuple[str, str]:
    """What an agent adds to the environment: its name and its value."""
    name, value = given["name"], given["value"]
    if not name or "=" in name or "\0" in name:
        raise RequestError(libacp.ErrorCode.INVALID_PARAMS, "Not the name of an environment variable")
    if "\0" in value:
        raise RequestError(libacp.ErrorCode.INVALID_PARAMS, "Not the value of an environment variable")
    return name, value
