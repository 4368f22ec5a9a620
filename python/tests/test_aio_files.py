"""What the ready-made files hold under attack, and in which order they work. The crate below has its own tests (files/)."""

import asyncio
import ctypes
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path
from typing import Any, Callable, List, Optional

import libacp
from libacp import aio
from raw_agent import opened, raw_agent
from test_aio_access import INVALID, NOT_FOUND, AccessCase

SECONDS = float(os.environ.get("LIBACP_RACE_SECONDS", "15"))
LINUX = sys.platform == "linux"


async def ask_the_user(path: str) -> bool:
    await asyncio.sleep(0)
    return path == ".envrc"


# ANCHOR: may
async def may(path: str, writing: bool, root: str) -> bool:
    return aio.Files.guarded(path, writing, root) or await ask_the_user(path)


# ANCHOR_END: may


class FilesCase(AccessCase):
    async def serve(self, work: Callable[["aio.Turn"], Any], files: Optional[aio.Files] = None) -> None:
        await self.turn(work, files=files or aio.Files())

    async def write(self, turn: aio.Turn, path: Path, text: str) -> Any:
        """``None``, or the code of the error."""
        try:
            await turn.write_text_file(str(path), text)
        except libacp.PeerError as problem:
            self.assertNotIn(str(self.top), problem.message)
            return problem.code
        return None

    async def read(self, turn: aio.Turn, path: Path, **options: Any) -> Any:
        """The text, or the code of the error."""
        try:
            return await turn.read_text_file(str(path), **options)
        except libacp.PeerError as problem:
            self.assertNotIn(str(self.top), problem.message)
            return problem.code


class Confined(FilesCase):
    async def test_nothing_is_made_behind_what_is_missing(self) -> None:
        """S2."""
        (self.top / "outside").mkdir()
        (self.root / "link").symlink_to(self.top / "outside")

        async def write(turn: aio.Turn) -> None:
            for path in ("none/../link/a/b", "none/../link/a", "none/../x", "link/a"):
                self.assertIn(await self.write(turn, self.root / path, "owned"), (INVALID, NOT_FOUND), path)

        await self.serve(write)
        self.assertEqual(sorted(os.listdir(self.root)), ["link"])
        self.assertEqual(os.listdir(self.top / "outside"), [])

    async def test_a_root_stays_the_folder_that_it_was(self) -> None:
        """S10: the name of a root inside of another comes to lead elsewhere."""
        (self.root / "ui").mkdir()
        (self.root / "ui" / "file").write_text("inside")
        (self.top / "outside").mkdir()
        (self.top / "outside" / "file").write_text("secret")

        async def read(turn: aio.Turn) -> None:
            self.assertEqual(await self.read(turn, self.root / "ui" / "file"), "inside")
            (self.root / "ui").rename(self.root / "moved")
            (self.root / "ui").symlink_to(self.top / "outside")
            self.assertEqual(await self.read(turn, self.root / "ui" / "file"), "inside")
            self.assertIsNone(await self.write(turn, self.root / "ui" / "file", "written"))

        await self.turn(read, self.root / "ui", files=aio.Files())
        self.assertEqual((self.root / "moved" / "file").read_text(), "written")
        self.assertEqual((self.top / "outside" / "file").read_text(), "secret")

    async def test_a_write_makes_few_folders(self) -> None:
        """S21."""

        async def write(turn: aio.Turn) -> None:
            self.assertEqual(await self.write(turn, self.root.joinpath(*["d"] * 65, "x"), ""), INVALID)
            self.assertEqual(os.listdir(self.root), [])
            self.assertIsNone(await self.write(turn, self.root.joinpath(*["d"] * 64, "x"), ""))

        await self.serve(write)

    async def test_what_editors_run_is_not_written(self) -> None:
        """S12: also not through a link; and what a hook of the client's is asked."""
        (self.root / ".git").mkdir()
        (self.root / ".git" / "config").write_text("[core]\n")
        (self.root / "notes").symlink_to(".git/config")
        asked: List[Any] = []

        async def write(turn: aio.Turn) -> None:
            for path in (".git/config", ".GIT/config", "notes", ".vscode/tasks.json", ".envrc"):
                self.assertEqual(await self.write(turn, self.root / path, "owned"), INVALID, path)
            self.assertEqual(await self.read(turn, self.root / "notes"), "[core]\n")

        async def decide(path: str, writing: bool, root: str) -> bool:
            asked.append((path, writing, root))
            return await may(path, writing, root)

        async def decided(turn: aio.Turn) -> None:
            self.assertIsNone(await self.write(turn, self.root / ".envrc", "export A=1"))
            self.assertEqual(await self.write(turn, self.root / "notes", "owned"), INVALID)
            self.assertEqual(await self.read(turn, self.root / "notes"), "[core]\n")

        await self.serve(write)
        self.assertEqual(sorted(os.listdir(self.root)), [".git", "notes"])
        await self.serve(decided, aio.Files(may=decide))
        root, config = str(self.root), os.path.join(".git", "config")
        self.assertEqual(asked, [(".envrc", True, root), (config, True, root), (config, False, root)])
        self.assertEqual((self.root / ".git" / "config").read_text(), "[core]\n")

    async def test_a_hook_that_fails_allows_nothing(self) -> None:
        told: List[Any] = []

        def fails(path: str, writing: bool, root: str) -> bool:
            raise ZeroDivisionError

        async def write(turn: aio.Turn) -> None:
            self.assertEqual(await self.write(turn, self.root / "x", ""), INVALID)

        before, sys.unraisablehook = sys.unraisablehook, lambda problem: told.append(problem.exc_type)
        try:
            await self.serve(write, aio.Files(may=fails))
        finally:
            sys.unraisablehook = before
        self.assertEqual((told, os.listdir(self.root)), ([ZeroDivisionError], []))

    @unittest.skipUnless(LINUX, "renameat2 is Linux's")
    async def test_a_folder_and_a_link_that_change_places(self) -> None:
        """S1: `LIBACP_RACE_SECONDS` makes it longer."""
        (self.root / "folder").mkdir()
        (self.root / "folder" / "file").write_text("inside")
        (self.top / "outside").mkdir()
        (self.top / "outside" / "file").write_text("secret")
        (self.root / "door").symlink_to(self.top / "outside")
        exchange = ctypes.CDLL(None, use_errno=True).renameat2
        one, other = os.fsencode(self.root / "folder"), os.fsencode(self.root / "door")
        stop, exchanges, read = threading.Event(), [0], {"inside": 0, INVALID: 0}
        written = {None: 0, INVALID: 0}

        def flip() -> None:
            while not stop.is_set():
                self.assertEqual(exchange(-100, one, -100, other, 2), 0)
                exchanges[0] += 1

        async def attack(turn: aio.Turn) -> None:
            end = time.monotonic() + SECONDS
            while time.monotonic() < end:
                # Whatever else comes is a KeyError.
                texts = [self.read(turn, self.root / name / "file") for name in ("folder", "door")]
                codes = [self.write(turn, self.root / name / "file", "inside") for name in ("folder", "door")]
                codes.append(self.write(turn, self.root / "door" / f"new{exchanges[0]}" / "file", ""))
                for text in await asyncio.gather(*texts):
                    read[text] += 1
                for code in await asyncio.gather(*codes):
                    written[code] += 1

        self.seconds += SECONDS
        flipper = threading.Thread(target=flip)
        flipper.start()
        try:
            await self.serve(attack)
        finally:
            stop.set()
            flipper.join()
        self.assertEqual(os.listdir(self.top / "outside"), ["file"])
        self.assertEqual((self.top / "outside" / "file").read_text(), "secret")
        self.assertTrue(all(read.values()) and all(written.values()) and exchanges[0] > 100, (read, written))


class Ordered(FilesCase):
    async def test_operations_take_effect_in_their_order(self) -> None:
        """S7: also under another name of the file."""
        (self.root / "file").write_text("")
        (self.root / "link").symlink_to("file")
        long, short = "A" * 3_000_000, "B" * 1000

        async def work(turn: aio.Turn) -> None:
            for _ in range(30):
                done = await asyncio.gather(
                    self.write(turn, self.root / "file", long),
                    self.read(turn, self.root / "link", limit=1),
                    self.write(turn, self.root / "link", short),
                    self.read(turn, self.root / "file"),
                )
                self.assertTrue(list(done) == [None, long, None, short])

        await self.serve(work)

    async def test_one_that_is_cancelled_before_it_begins_holds_up_none(self) -> None:
        gate = threading.Event()
        self.addCleanup(gate.set)
        files = aio.Files(may=lambda path, writing, root: gate.wait(60))
        with tempfile.TemporaryDirectory() as folder:
            async with raw_agent(aio.Client(files=files)) as (peer, played):
                session = await opened(peer, played, folder)

                def write(text: str) -> "asyncio.Task[None]":
                    path = os.path.join(folder, "file")
                    params: Any = {"sessionId": session.id, "path": path, "content": text}
                    return asyncio.ensure_future(files.write_text_file(session, params))

                # As many as work at once, and one behind them.
                working = [write(str(number)) for number in range(4)]
                behind = write("behind")
                await asyncio.sleep(0.2)
                behind.cancel()
                kept: Optional[BaseException] = None
                try:
                    await behind
                except asyncio.CancelledError as problem:
                    # Its trace holds whatever the task had.
                    kept = problem
                last = write("last")
                gate.set()
                await self.in_time(asyncio.gather(*working, last))
                assert kept is not None and kept.__traceback__ is not None
                self.assertEqual(Path(folder, "file").read_text(), "last")

    async def test_a_write_that_fails_leaves_the_old_text(self) -> None:
        """S8: under a limit for files, which a full disk is as well."""
        old = "the user's own\n" * 600
        (self.root / "file").write_text(old)
        os.chmod(self.root / "file", 0o751)
        os.link(self.root / "file", self.root / "twin")

        async def write(turn: aio.Turn) -> None:
            soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
            resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, hard))
            try:
                code = await self.write(turn, self.root / "file", "x" * 3_000_000)
            finally:
                resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
            self.assertEqual(code, libacp.ErrorCode.INTERNAL_ERROR)
            self.assertEqual((self.root / "file").read_text(), old)
            self.assertIsNone(await self.write(turn, self.root / "file", "new"))

        await self.serve(write)
        self.assertEqual((self.root / "twin").read_text(), "new")
        self.assertEqual(os.stat(self.root / "file").st_mode & 0o777, 0o751)

    @unittest.skipUnless(LINUX, "memory is read from /proc")
    def test_a_window_costs_its_own_size(self) -> None:
        """S11: in a process of its own, whose memory it is."""
        (self.root / "file").write_text("a\n" * 5_000_000)
        script = (
            "import asyncio, sys, types\nfrom libacp import aio\n"
            "def peak(): return int(open('/proc/self/status').read().split('VmHWM:')[1].split()[0])\n"
            "session = type('Session', (), {'roots': [sys.argv[1]]})()\n"
            "async def main():\n"
            "    files, before = aio.Files(), peak()\n"
            "    asked = {'path': sys.argv[1] + '/file', 'limit': 1}\n"
            "    texts = await asyncio.gather(*(files.read_text_file(session, {**asked, 'line': line})\n"
            "                                   for line in range(4_000_000, 4_000_006)))\n"
            "    assert texts == ['a\\n'] * 6, texts\n"
            "    print(peak() - before)\n"
            "asyncio.run(main())\n"
        )
        grown = int(subprocess.check_output([sys.executable, "-B", "-c", script, str(self.root)]))
        self.assertLess(grown, 4096, "KiB for six lines")

    async def test_what_is_not_text_is_told(self) -> None:
        async def work(turn: aio.Turn) -> None:
            session = type("Session", (), {"roots": [str(self.root)]})()
            for path, text in ((f"{self.root}/\ud800", ""), (f"{self.root}/x", "\ud800")):
                with self.assertRaises(aio.RequestError):
                    await aio.Files().write_text_file(session, {"sessionId": "", "path": path, "content": text})

        await self.serve(work)


if __name__ == "__main__":
    unittest.main()
