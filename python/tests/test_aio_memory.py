"""What an agent that asks for more than it reads costs its client: some memory, and its neighbours nothing."""

import asyncio
import json
import os
import tempfile
import unittest
from pathlib import Path
from typing import Any, Dict, List, Set

import libacp
from aio_pair import AioCase, host, streams, untaken, until
from libacp import aio
from raw_agent import opened, raw_agent

MIB = 1024 * 1024
MOST = 64 * MIB
# The longest wait of ninety-nine in a hundred rounds with another agent.
P99 = 0.1
# A machine that does much else makes everybody wait: then it is so many times what the neighbour waits by itself, or so
# much processor time of the loop that serves both, and it is tried again.
TIMES = 4
WORKED = 0.05
TRIES = 3
# By hand: 1000.
READS = os.environ.get("LIBACP_TEST_READS", "40")
FILE = ("x" * 99 + "\n") * 100_000


@unittest.skipUnless(Path("/proc/self/statm").exists(), "looks at memory as Linux tells of it")
class Greedy(AioCase):
    """Each in a client process of its own, with the greedy agent and a neighbour as its children."""

    def setUp(self) -> None:
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(os.path.realpath(folder.name))

    async def ask(self, method: str, count: str, path: Path) -> Dict[str, Any]:
        """What the agent got, and what that took."""
        result: Dict[str, Any] = {}
        for _ in range(TRIES):
            command = host("patient.py", str(self.folder), method, count, "1", str(path))
            process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
            out, _ = await asyncio.wait_for(process.communicate(), 600)
            self.assertEqual(process.returncode, 0)
            result = json.loads(out)
            self.assertTrue(result["once"], result)
            self.assertLess(result["grown"], MOST)
            if result["p99"] < max(P99, TIMES * result["alone"]) or result["worked"] < WORKED:
                return result
        self.fail(f"the neighbour waited too long: {result}")

    async def test_many_reads_of_a_long_file(self) -> None:
        (self.folder / "big").write_text(FILE)
        result = await self.ask("fs/read_text_file", READS, self.folder / "big")
        (size,) = result["sizes"]
        self.assertGreater(int(size), len(FILE))

    async def test_a_thousand_reads(self) -> None:
        (self.folder / "middling").write_text(FILE[:200_000])
        await self.ask("fs/read_text_file", "1000", self.folder / "middling")

    async def test_many_long_writes(self) -> None:
        await self.ask("fs/write_text_file", "300", self.folder / "new")
        self.assertEqual((self.folder / "new").stat().st_size, 1_000_000)

    async def test_many_looks_at_a_terminal(self) -> None:
        await self.ask("terminal/output", "200", self.folder)


def read(id: Any, path: str = "/f") -> Dict[str, Any]:
    return {"id": id, "method": "fs/read_text_file", "params": {"sessionId": "s", "path": path}}


class Files:
    """Files of a host's own, which tell who reads."""

    def __init__(self) -> None:
        self.now = self.peak = 0
        self.begun: List[str] = []
        self.gate = asyncio.Event()

    async def read_text_file(self, session: aio.ClientSession, params: Any) -> str:
        self.begun.append(params["path"])
        self.now += 1
        self.peak = max(self.peak, self.now)
        try:
            await self.gate.wait()
            await asyncio.sleep(0.001)
        finally:
            self.now -= 1
        return str(params["path"])


class Waiting(AioCase):
    """Requests wait in order, and each is answered."""

    async def test_a_few_files_at_a_time(self) -> None:
        files = Files()
        async with raw_agent(aio.Client(files=files)) as (peer, agent):
            await opened(peer, agent)
            agent.send(*(read(number, f"/{number}") for number in range(100)))
            await until(lambda: len(files.begun) == 4)
            # What takes no file does not wait for one.
            agent.send({"id": "p", "method": "session/request_permission", "params": ask("s")})
            self.assertIn("result", (await agent.answers("p"))["p"])
            files.gate.set()
            answers = await agent.answers(*range(100))
            self.assertEqual([answers[number]["result"]["content"] for number in range(100)], files.begun)
            self.assertEqual((files.peak, files.begun), (4, [f"/{number}" for number in range(100)]))

    async def test_one_that_is_cancelled_while_it_waits(self) -> None:
        files = Files()
        async with raw_agent(aio.Client(files=files)) as (peer, agent):
            await opened(peer, agent)
            agent.send(*(read(number, f"/{number}") for number in range(8)))
            await until(lambda: len(files.begun) == 4)
            for number in (0, 5, 6):
                agent.send({"method": "$/cancel_request", "params": {"requestId": number}})
            answers = await agent.answers(0, 5, 6)
            codes: Set[int] = {each["error"]["code"] for each in answers.values()}
            self.assertEqual(codes, {libacp.ErrorCode.REQUEST_CANCELLED})
            files.gate.set()
            await agent.answers(1, 2, 3, 4, 7)
            self.assertEqual(files.begun, ["/0", "/1", "/2", "/3", "/4", "/7"])
            self.assertEqual((untaken(peer), peer._waiting), (True, 0))

    async def test_what_waits_ends_with_the_connection(self) -> None:
        files = Files()
        async with raw_agent(aio.Client(files=files)) as (peer, agent):
            await opened(peer, agent)
            agent.send(*(read(number) for number in range(20)))
            await until(lambda: len(files.begun) == 4)
        self.assertEqual(len(files.begun), 4)
        self.assertEqual((peer._jobs, peer._waiting), ({}, 0))

    async def test_two_that_say_much_at_once(self) -> None:
        """Both peers write what the other does not read before it has written: nobody waits for ever."""
        long = "x" * 8_000_000

        heard: List[int] = []
        client, tested = aio.Client(), aio.Agent("tested")
        for each in (client, tested):
            each.on_extension("_acme/long")(lambda peer, params: heard.append(len(params["text"])))
        ours, theirs = await streams()

        @tested.on_extension("_acme/go")
        async def go(client: Any, params: Any) -> None:
            for _ in range(3):
                await client.notify("_acme/long", {"text": long})

        serving = asyncio.ensure_future(tested.serve(*theirs))
        async with aio.connect(*ours, client) as peer:
            going = asyncio.ensure_future(peer.request("_acme/go"))
            for _ in range(3):
                await self.in_time(peer.notify("_acme/long", {"text": long}))
            await self.in_time(going)
            await until(lambda: len(heard) == 6)
        await self.in_time(serving)


def ask(session: str) -> Dict[str, Any]:
    """The params of a request for permission."""
    options = [{"optionId": "no", "name": "No", "kind": "reject_once"}]
    return {"sessionId": session, "toolCall": {"toolCallId": "t"}, "options": options}


if __name__ == "__main__":
    unittest.main()
