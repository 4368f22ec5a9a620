"""Hostile requests, made up at random, to the ready-made files and terminals over a real folder.

Nothing outside of the session's roots is read or written, each request is answered exactly once, and nothing is left: no
process, no open file. ``LIBACP_TEST_FUZZ_SECONDS`` says how long, ``LIBACP_TEST_FUZZ_SEED`` with which round to begin.
"""

import asyncio
import contextlib
import os
import random
import tempfile
import time
import unittest
from pathlib import Path
from typing import Any, Dict, List, Tuple, Union

from aio_pair import AioCase, untaken, until
from libacp import aio
from processes import alive, left, mark
from raw_agent import RawAgent, opened, raw_agent

SECONDS = float(os.environ.get("LIBACP_TEST_FUZZ_SECONDS", "6"))
SEED = int(os.environ.get("LIBACP_TEST_FUZZ_SEED", str(int(time.time()))))
SECRET = "the words that nobody may read"
STEPS = [
    "..", "..", ".", "", "a", "a", "b", "file", "file", "file", "new", "new", "none",
    "link", "up", "out", "loop", "dangling", "folder", "pipe", "secret", "outside", "root", "\0", "\u00e9", "x" * 300, "~", "%2e%2e", "..\\..", "\ud800", "proc", "self", "cwd",
]
ELSEWHERE = [Path("/"), Path("/proc/self/root"), Path("")]
# Those that are there more often than not, and one that leads out halfway and back.
PLAIN = ["root/file", "root/new", "root/a/file", "root/folder/file", "second/file", "second/n/e/w", "root/up/root/file"]
SESSIONS: List[Any] = ["one", "two", "none", "", "One", "one\0", 1, None, ["one"], "x" * 5000]
ODD: List[Any] = [None, True, -1, 0, 1, 1.5, 2**70, "", "x", [], {}, ["a"], {"a": 1}]


def plant(top: Path) -> None:
    """A folder to work in, links out of it, and what must stay as it is."""
    outside, root = top / "outside", top / "root"
    for each in (outside, root / "a" / "b", root / "folder", top / "second"):
        each.mkdir(parents=True)
    for each in (top / "secret", outside / "secret", outside / "file"):
        each.write_text(SECRET)
    for each in (root / "file", root / "a" / "file", root / "folder" / "file", top / "second" / "file"):
        each.write_text("one\ntwo\nthree\n")
    links: "Dict[str, Union[str, Path]]" = {
        "link": outside / "secret",
        "up": top,
        "out": outside,
        "loop": "loop",
        "dangling": outside / "new",
        "a/b/up": "../../..",
    }
    for name, target in links.items():
        (root / name).symlink_to(target)
    os.mkfifo(root / "pipe")


def state(top: Path) -> List[Tuple[Any, ...]]:
    """All that is outside of the roots."""
    found = []
    for each in sorted([*top.iterdir(), *(top / "outside").rglob("*")]):
        about = each.lstat()
        text = each.read_text() if each.is_file() else ""
        # A root's own times change with what is made in it.
        found.append((str(each), about.st_mode, about.st_size if text else 0, text))
    return found


def open_files() -> int:
    folder = Path("/proc/self/fd")
    return len(os.listdir(folder)) if folder.exists() else 0


class Round:
    """One connection, and what its agent asks."""

    def __init__(self, seed: int, top: Path, name: str) -> None:
        self.random, self.top, self.name = random.Random(seed), top, name
        self.terminals: List[Any] = ["term-1", "none"]
        self.ids: List[Any] = []

    def path(self) -> Any:
        choose = self.random
        if choose.random() < 0.02:
            return choose.choice(ODD)
        if choose.random() < 0.3:
            return str(self.top / choose.choice(PLAIN))
        begin = choose.choice([self.top / "root"] * 6 + [self.top, self.top / "second", *ELSEWHERE])
        steps = choose.choices(STEPS, k=choose.choice([0, 1, 1, 1, 1, 2, 2, 2, 3, 4, 40]))
        return f"{begin}/{'/'.join(steps)}" if str(begin) != "." else "/".join(steps)

    def read(self) -> Dict[str, Any]:
        params = {"path": self.path()}
        for name in ("line", "limit"):
            if self.random.random() < 0.1:
                params[name] = self.random.choice(ODD)
        return params

    def write(self) -> Dict[str, Any]:
        content: Any = self.random.choice(["", "owned\n", "o" * 10_000, "o" * 30_000, "\u20ac\0"] * 8 + ODD)
        return {"path": self.path(), "content": content}

    def create(self) -> Dict[str, Any]:
        choose = self.random
        sleeping = ("sh", ["-c", f"sleep {self.name} & exec sleep {self.name}"])
        command: Any
        command, args = choose.choice(
            [sleeping, sleeping, ("true", []), ("echo", ["x"] * 100), ("/none", []), ("", []), ("\0", [])]
        )
        params: Dict[str, Any] = {"command": command, "args": args}
        if choose.random() < 0.3:
            params["cwd"] = self.path()
        if choose.random() < 0.2:
            params["env"] = choose.choice([[{"name": "A", "value": "b"}], [{"name": "a=\0", "value": ""}], *ODD])
        if choose.random() < 0.2:
            params["outputByteLimit"] = choose.choice(ODD)
        return params

    def terminal(self) -> Dict[str, Any]:
        return {"terminalId": self.random.choice(self.terminals[-6:])}

    def request(self) -> Dict[str, Any]:
        """A request, or a notification that cancels one."""
        kinds = {
            "fs/read_text_file": self.read,
            "fs/write_text_file": self.write,
            "terminal/create": self.create,
            "terminal/output": self.terminal,
            "terminal/wait_for_exit": self.terminal,
            "terminal/kill": self.terminal,
            "terminal/release": self.terminal,
        }
        if self.ids and self.random.random() < 0.05:
            return {"method": "$/cancel_request", "params": {"requestId": self.random.choice(self.ids)}}
        method = self.random.choice(list(kinds) + ["fs/read_text_file", "fs/write_text_file", "terminal/create"])
        session = self.random.choice(SESSIONS) if self.random.random() < 0.3 else self.random.choice(["one", "two"])
        params: Any = {"sessionId": session, **kinds[method]()}
        if self.random.random() < 0.03:
            params = self.random.choice(ODD)
        number = len(self.ids)
        id: Any = number if number % 2 else f"r{number}"
        self.ids.append(id)
        return {"id": id, "method": method, "params": params}


class Hostile(AioCase):
    def setUp(self) -> None:
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.top = Path(os.path.realpath(folder.name))
        plant(self.top)

    async def test_hostile_requests(self) -> None:
        before, most, begun, seed = state(self.top), 0, time.monotonic(), SEED
        while time.monotonic() - begun < SECONDS:
            name = mark()
            try:
                await self.round(Round(seed, self.top, name), name)
                # How they end.
                self.assertEqual(await left(name), [])
                self.assertEqual(state(self.top), before)
                # The first round opens what stays: the loop's own.
                most = most or open_files() + 1
                await until(lambda: open_files() <= most)
            except BaseException:
                print(f"LIBACP_TEST_FUZZ_SEED={seed}")
                for pid in alive(name):
                    os.kill(pid, 9)
                raise
            seed += 1

    async def round(self, round: Round, name: str) -> None:
        terminals = aio.Terminals(most=6)
        client = aio.Client(files=aio.Files(most=20_000), terminals=terminals)
        answers: Dict[Any, Any] = {}
        requests: "asyncio.Queue[Any]" = asyncio.Queue()
        async with raw_agent(client) as (peer, agent):
            one = await opened(peer, agent, str(self.top / "root"), "one")
            await opened(peer, agent, str(self.top / "second"), "two")
            listening = asyncio.ensure_future(self.listen(round, agent, answers, requests))
            flipping = asyncio.ensure_future(self.flip(round))
            for number in range(30):
                agent.send(*(round.request() for _ in range(round.random.randrange(1, 8))))
                if number == 20:
                    # What comes now is about a session that is closing, and then closed.
                    closing = asyncio.ensure_future(one.close())
                    id = await requests.get()
                    before, after = ([round.request() for _ in range(5)] for _ in range(2))
                    agent.send(*before, {"id": id, "result": {}}, *after)
                    await closing
                await asyncio.sleep(round.random.choice([0, 0, 0.002]))
            flipping.cancel()
            # Commands that somebody waits for end with their session.
            closing = asyncio.ensure_future(peer.request("session/close", {"sessionId": "two"}))
            agent.send({"id": await requests.get(), "result": {}})
            await self.in_time(closing)
            await until(lambda: set(answers) >= set(round.ids))
            self.assertEqual(set(answers), set(round.ids))
            self.assertEqual((untaken(peer), peer._waiting, peer._jobs), (True, 0, {}))
            listening.cancel()
        await until(lambda: not terminals._running)

    async def listen(
        self, round: Round, agent: RawAgent, answers: Dict[Any, Any], requests: "asyncio.Queue[Any]"
    ) -> None:
        while message := await agent.next():
            if "method" in message:
                if "id" in message:
                    requests.put_nowait(message["id"])
                continue
            assert message["id"] not in answers, f"answered twice: {message['id']}"
            answers[message["id"]] = message
            assert SECRET not in str(message), "a secret was read"
            if "terminalId" in (message.get("result") or {}):
                round.terminals.append(message["result"]["terminalId"])

    async def flip(self, round: Round) -> None:
        """A folder and a link out take each other's place."""
        root = self.top / "root"
        with contextlib.suppress(OSError):
            while True:
                for a, b, c in (("folder", "aside", "out"), ("out", "aside", "folder")):
                    os.rename(root / a, root / b)
                    os.rename(root / c, root / a)
                    os.rename(root / b, root / c)
                    await asyncio.sleep(0)


if __name__ == "__main__":
    unittest.main()
