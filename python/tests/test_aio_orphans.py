"""Agents whose client is ended by a signal: they get a moment to end by themselves, and nothing is left of them."""

import asyncio
import json
import os
import random
import signal
import tempfile
import time
import unittest
from pathlib import Path
from typing import Any

from aio_pair import AioCase, host
from processes import heeding_signals, left, mark

SIGNALS = (signal.SIGTERM, signal.SIGHUP)
# Says what has ended it, which takes a moment.
SAVES = """
import signal, sys, time
from libacp import aio
def save(what):
    time.sleep(0.1)
    open(sys.argv[1], "a").write(what)
signal.signal(signal.SIGTERM, lambda *_: (save("told "), sys.exit()))
async def main():
    await aio.Agent("saves").serve()
import asyncio
asyncio.run(main())
save("its input ")
if sys.argv[2] == "stays":
    time.sleep(600)
"""


@unittest.skipUnless(os.name == "posix", "signals")
class Orphans(AioCase):
    async def begin(self, *command: str, **options: Any) -> "asyncio.subprocess.Process":
        client = await asyncio.create_subprocess_exec(
            *host("spawning_client.py", json.dumps({"grace": 0.2, **options}), *command),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            preexec_fn=heeding_signals,
        )
        self.addCleanup(lambda: client.kill() if client.returncode is None else None)
        self.assertEqual(await self.line(client), "begins")
        return client

    async def line(self, client: "asyncio.subprocess.Process") -> str:
        assert client.stdout is not None
        line: bytes = await self.in_time(client.stdout.readline())
        return line.decode().strip()

    async def ended(self, number: int, *command: str, **options: Any) -> None:
        """Ends a client that has started this agent by a signal."""
        client = await self.begin(*command, **options)
        self.assertEqual(await self.line(client), "handled")
        client.send_signal(number)
        self.assertEqual(await self.in_time(client.wait()), -number)

    async def test_one_that_ignores_all_but_being_killed(self) -> None:
        for number in SIGNALS:
            for options in ({}, {"own_group": False}):
                with self.subTest(number, **options):
                    name = mark()
                    await self.ended(number, *host("stubborn.py", "deaf", name), **options)
                    self.assertEqual(await left(name), [])

    async def test_one_behind_a_wrapper(self) -> None:
        name = mark()
        script = " ".join(host("stubborn.py", "deaf", name))
        await self.ended(signal.SIGTERM, "sh", "-c", f"{script}; true")
        self.assertEqual(await left(name), [])

    async def test_one_that_heeds_its_input_is_not_hurried(self) -> None:
        self.assertEqual(await self.saved("ends"), "its input ")
        self.assertEqual(await self.saved("stays"), "its input told ")

    async def saved(self, how: str) -> str:
        """What an agent had the time to write down."""
        with tempfile.TemporaryDirectory() as folder:
            file, name = Path(folder, "saved"), mark()
            await self.ended(signal.SIGTERM, *host("agent.py")[:2], "-c", SAVES, str(file), how, name)
            self.assertEqual(await left(name), [])
            return file.read_text()

    async def test_one_that_is_being_started(self) -> None:
        for _ in range(5):
            name = mark()
            client = await self.begin(*host("stubborn.py", "deaf", name))
            await asyncio.sleep(random.random() * 0.02)
            client.send_signal(signal.SIGTERM)
            self.assertEqual(await self.in_time(client.wait()), -signal.SIGTERM)
            self.assertEqual(await left(name), [])

    async def test_a_second_signal_does_not_wait(self) -> None:
        name = mark()
        client = await self.begin(*host("stubborn.py", "deaf", name), grace=10)
        self.assertEqual(await self.line(client), "handled")
        begun = time.monotonic()
        client.send_signal(signal.SIGTERM)
        await asyncio.sleep(0.1)
        client.send_signal(signal.SIGTERM)
        await self.in_time(client.wait())
        # Far from the grace, which a busy machine does not come near.
        self.assertLess(time.monotonic() - begun, 8)
        self.assertEqual(await left(name), [])

    async def test_signals_are_left_alone_where_that_is_wanted(self) -> None:
        client = await self.begin(*host("agent.py"), signals=False)
        self.assertEqual(await self.line(client), "usual")
        client.send_signal(signal.SIGTERM)
        await self.in_time(client.wait())


if __name__ == "__main__":
    unittest.main()
