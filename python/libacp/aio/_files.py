"""Files for an agent, confined to the roots of its session.

The roots are opened together with the session, and a path is resolved from there directory by directory, so replacing a
directory by a link in between causes an error and opens no way out. The native module does this, without the GIL.
"""

from __future__ import annotations

import asyncio
import inspect
import weakref
from concurrent.futures import ThreadPoolExecutor
from pathlib import PurePath
from typing import TYPE_CHECKING, Awaitable, Callable, ClassVar, List, Optional, Tuple, Union

import libacp

from .. import _native
from ._errors import RequestError

if TYPE_CHECKING:
    from libacp.types import v1

    from ._agents import ClientSession

May = Callable[[str, bool, str], Union[bool, Awaitable[bool]]]
INVALID = libacp.ErrorCode.INVALID_PARAMS
# As many as the native module lets work at once.
AT_ONCE = 4


class ReadOnlyFiles:
    """Lets agents read the UTF-8 text files in the roots of their sessions.

    Arguments:
        `most`: maximum size of a file, in bytes.
        `may`: decides on each file. It is called with the path relative to its root, with all links resolved, whether
            the file is to be written, and the root. It runs on another thread, and the session's other file operations
            wait for it; a coroutine function runs in the event loop of the connection. By default `guarded` decides.
    """

    REPOSITORIES: ClassVar[Tuple[str, ...]] = _native.Files.guards[0]
    """Directories of version control systems; `guarded` forbids writing into them."""
    RUNS_UNASKED: ClassVar[Tuple[str, ...]] = _native.Files.guards[1]
    """Files, and directories with everything in them, that editors run without asking; `guarded` forbids writing them.
    """

    def __init__(self, *, most: int = 10_000_000, may: Optional[May] = None) -> None:
        self.most = most
        """Bytes that a file may have."""
        self.may = may
        """Decides on each file."""
        self._sessions: weakref.WeakKeyDictionary[ClientSession, _Opened] = weakref.WeakKeyDictionary()

    @staticmethod
    def guarded(path: str, writing: bool, root: str) -> bool:
        """The default for `may`: allows reading everything, and writing everything except what is below `REPOSITORIES`
        or in `RUNS_UNASKED`.
        """
        return _native.Files.guarded(path, writing, root)

    async def read_text_file(self, session: ClientSession, params: v1.ReadTextFileRequest) -> str:
        """Returns the requested lines, with their line feeds."""
        opened = self._of(session)
        path, line, limit = params["path"], params.get("line"), params.get("limit")
        text = await opened.do(path, lambda files: files.read(path, line, limit))
        return text or ""

    def begin(self, session: ClientSession) -> None:
        """Called when the session is opened: opens its roots, which keep referring to the same directories."""
        self._of(session)

    def end(self, session: ClientSession) -> None:
        """Called when the session has ended: closes its roots."""
        opened = self._sessions.pop(session, None)
        if opened is not None:
            opened.threads.shutdown(wait=False)

    def _of(self, session: ClientSession) -> _Opened:
        opened = self._sessions.get(session)
        if opened is None or opened.given != session.roots:
            opened = self._sessions[session] = _Opened(self, list(session.roots))
        return opened


class Files(ReadOnlyFiles):
    """Lets agents read and write the text files in the roots of their sessions. Missing directories are created.

    `most` and `may` are those of `ReadOnlyFiles`.
    """

    async def write_text_file(self, session: ClientSession, params: v1.WriteTextFileRequest) -> None:
        """Writes exactly the given text. The file keeps its mode, owner and links, and its old text if writing fails.
        """
        opened = self._of(session)
        await opened.do(params["path"], lambda files: files.write(params["path"], params["content"]))


class _Opened:
    """The files of one session. Its threads are its own, so that what hangs there holds up no other session."""

    def __init__(self, files: ReadOnlyFiles, roots: List[str]) -> None:
        may = None if files.may is None else _asking(files.may, asyncio.get_running_loop())
        self.given = roots
        self.native = _native.Files([each for each in roots if each], most=files.most, may=may)
        self.threads = ThreadPoolExecutor(AT_ONCE, "acp-files")

    async def do(self, path: str, begin: Callable[[_native.Files], _native.FileOperation]) -> Optional[str]:
        try:
            operation = begin(self.native)
        except UnicodeEncodeError:
            raise RequestError(INVALID, "Not Unicode text") from None
        except OverflowError:
            raise RequestError(INVALID, "Not the number of a line") from None
        try:
            text, code, message = await asyncio.get_running_loop().run_in_executor(self.threads, operation.run)
        finally:
            # One that was cancelled before it had begun; the trace of that keeps it.
            operation.forget()
        if code is not None:
            where = {"uri": _uri(path)} if code == libacp.ErrorCode.RESOURCE_NOT_FOUND else None
            raise RequestError(code, message or "", where)
        return text


def _uri(path: str) -> str:
    try:
        return PurePath(path).as_uri()
    except ValueError:
        return path


def _asking(may: May, loop: asyncio.AbstractEventLoop) -> Callable[[str, bool, str], bool]:
    def ask(path: str, writing: bool, root: str) -> bool:
        answer = may(path, writing, root)
        if inspect.isawaitable(answer):
            return asyncio.run_coroutine_threadsafe(_awaited(answer), loop).result()
        return answer

    return ask


async def _awaited(answer: Awaitable[bool]) -> bool:
    return await answer
