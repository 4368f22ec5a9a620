"""Files for an agent, confined to the roots of its session.

A path is resolved first, symbolic links and all, and must be inside a root that was resolved the same way. Then it is
opened step by step from the root's own folder without following any link, so that whoever exchanges a folder for a link
in between gets an error and not a way out.
"""

from __future__ import annotations

import asyncio
import os
import stat
from typing import TYPE_CHECKING, Any, Callable, List, Optional, Tuple, TypeVar

import libacp

from ._errors import RequestError

if TYPE_CHECKING:
    from libacp.types import v1

    from ._session import ClientSession

T = TypeVar("T")
MODE = 0o666
STEPWISE = os.open in os.supports_dir_fd and hasattr(os, "O_NOFOLLOW")
# A pipe in the place of a file must not make anybody wait.
FLAGS = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
INVALID = libacp.ErrorCode.INVALID_PARAMS


class ReadOnlyFiles:
    """Lets agents read the text files in the roots of their sessions, of `most` bytes at most. UTF-8 only."""

    def __init__(self, *, most: int = 10_000_000) -> None:
        self.most = most
        """Bytes that a file may have."""

    async def read_text_file(self, session: ClientSession, params: v1.ReadTextFileRequest) -> str:
        """The lines that are asked for. They end with LF, and keep it."""
        return await _in_thread(self._read, session.roots, params["path"], params.get("line"), params.get("limit"))

    def _read(self, roots: List[str], path: str, line: Optional[int], limit: Optional[int]) -> str:
        with os.fdopen(_open(roots, path, os.O_RDONLY), "rb") as file:
            data = file.read(self.most + 1)
        if len(data) > self.most:
            raise RequestError(INVALID, f"The file has more than {self.most} bytes")
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            raise RequestError(INVALID, "The file is not UTF-8 text") from None
        if line is None and limit is None:
            return text
        # `splitlines` would also end lines at U+2028 and its like.
        lines = text.split("\n")
        kept = [each + "\n" for each in lines[:-1]] + lines[-1:]
        first = max(line or 1, 1) - 1
        return "".join(kept[first : None if limit is None else first + limit])


class Files(ReadOnlyFiles):
    """Lets agents read and write the text files in the roots of their sessions. Folders that are missing are made."""

    async def write_text_file(self, session: ClientSession, params: v1.WriteTextFileRequest) -> None:
        """Writes exactly the text that is given."""
        await _in_thread(self._write, session.roots, params["path"], params["content"])

    def _write(self, roots: List[str], path: str, content: str) -> None:
        data = content.encode("utf-8")
        if len(data) > self.most:
            raise RequestError(INVALID, f"The text has more than {self.most} bytes")
        with os.fdopen(_open(roots, path, os.O_WRONLY | os.O_CREAT), "wb") as file:
            file.truncate()
            file.write(data)


async def _in_thread(work: Callable[..., T], *arguments: Any) -> T:
    return await asyncio.get_running_loop().run_in_executor(None, work, *arguments)


def _open(roots: List[str], path: str, flags: int) -> int:
    """The file, open; the error of whatever stands against that."""
    try:
        root, steps = _inside(roots, path)
        opened = _step_by_step if STEPWISE else _at_once
        file = opened(root, steps, flags)
    except FileNotFoundError:
        raise RequestError(libacp.ErrorCode.RESOURCE_NOT_FOUND, "There is no such file") from None
    except (OSError, ValueError) as problem:
        reason = os.strerror(problem.errno) if isinstance(problem, OSError) and problem.errno else "Not a path"
        raise RequestError(INVALID, f"The file cannot be opened: {reason}") from None
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise RequestError(INVALID, "Not a regular file")
    return file


def _inside(roots: List[str], path: str) -> Tuple[str, List[str]]:
    """The root that a path is in, and the way from there; all of it resolved."""
    real = os.path.realpath(path)
    for each in roots:
        root = os.path.realpath(each) if each else ""
        if not root:
            continue
        try:
            inside = os.path.commonpath([root, real]) == root
        except ValueError:
            continue  # Another drive.
        if inside and real != root:
            return root, os.path.relpath(real, root).split(os.sep)
    raise RequestError(INVALID, "The path is outside of the session's roots")


def _step_by_step(root: str, steps: List[str], flags: int) -> int:
    folder = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for step in steps[:-1]:
            try:
                below = _folder(step, folder)
            except FileNotFoundError:
                if not flags & os.O_CREAT:
                    raise
                try:
                    os.mkdir(step, dir_fd=folder)
                except FileExistsError:
                    pass
                below = _folder(step, folder)
            os.close(folder)
            folder = below
        return os.open(steps[-1], flags | FLAGS | os.O_NOFOLLOW, MODE, dir_fd=folder)
    finally:
        os.close(folder)


def _at_once(root: str, steps: List[str], flags: int) -> int:
    path = os.path.join(root, *steps)
    if flags & os.O_CREAT:
        os.makedirs(os.path.dirname(path), exist_ok=True)
    return os.open(path, flags | FLAGS, MODE)


def _folder(step: str, within: int) -> int:
    return os.open(step, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=within)
