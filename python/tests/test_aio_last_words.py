"""What agents print to standard error: handed on, and the last of it told where they end too early."""

import asyncio
import os
import pickle
import sys
import time
import unittest
from typing import Any, List

from aio_pair import AioCase
from libacp import aio

EVIL = "\x1b]0;owned\x07\u202ex"


def script(text: str) -> List[str]:
    return [sys.executable, "-S", "-E", "-c", text]


class LastWords(AioCase):
    async def ended(self, text: str, **how: Any) -> aio.AgentEnded:
        """How an agent ends that is this program."""
        with self.assertRaises(aio.AgentEnded) as caught:
            await self.in_time(asyncio.ensure_future(self.start(text, **how)))
        return caught.exception

    async def start(self, text: str, **how: Any) -> None:
        async with aio.spawn_agent(script(text), grace=0.5, **how):
            pass

    async def test_of_an_agent_that_cannot_start(self) -> None:
        heard: List[str] = []
        failing = f"import sys; sys.stderr.buffer.write({EVIL!r}.encode() + b'\\nno key\\xff\\r\\nlast'); sys.exit(3)"
        error = await self.ended(failing, stderr=heard.append)
        self.assertEqual((error.method, error.returncode), ("initialize", 3))
        self.assertEqual(error.stderr, (EVIL, "no key\ufffd", "last"))
        self.assertEqual(heard, [EVIL, "no key\ufffd", "last"])
        lines = str(error).split("\n")
        self.assertEqual(lines[0], "initialize: the agent ended with the status 3 before it answered; its last lines of stderr:")
        self.assertEqual(lines[1:], ["  \\x1b]0;owned\\x07\\u202ex", "  no key\ufffd", "  last"])
        self.assertEqual(pickle.loads(pickle.dumps(error)).stderr, error.stderr)

    async def test_what_is_sent_elsewhere_is_not_kept(self) -> None:
        error = await self.ended("import sys; print('no', file=sys.stderr)", stderr=asyncio.subprocess.DEVNULL)
        self.assertEqual(error.stderr, ())
        self.assertEqual(str(error), "initialize: the agent ended with the status 0 before it answered")

    async def test_it_has_a_bound(self) -> None:
        heard: List[str] = []
        flood = "import sys; sys.stderr.write('a' * 300000 + '\\n' + 'b' * 5000 + '\\n' + 'c\\n' * 18); sys.exit(1)"
        error = await self.ended(flood, stderr=heard.append)
        self.assertEqual(error.stderr[1:], ("b" * 1024, *["c"] * 18))
        self.assertEqual(error.stderr[0], "a" * 1024)
        self.assertEqual("".join(heard), "a" * 300000 + "b" * 5000 + "c" * 18)
        long = await self.ended("import sys; sys.stderr.write('a' * 100); sys.stderr.write('d\\n' * 5000)", stderr=len)
        self.assertEqual(long.stderr, ("d",) * 20)

    async def test_a_flood_of_lines_leaves_room_for_everything_else(self) -> None:
        heard = most = 0

        def hear(line: str) -> None:
            nonlocal heard
            heard += 1

        async def look() -> None:
            nonlocal most
            while True:
                before = heard
                await asyncio.sleep(0)
                most = max(most, heard - before)

        looking = asyncio.ensure_future(look())
        error = await self.ended("import sys; sys.stderr.write('\\n' * 200000); sys.exit('no')", stderr=hear)
        looking.cancel()
        self.assertEqual(error.stderr[-2:], ("", "no"))
        self.assertGreater(heard, 2000)
        self.assertLessEqual(most, 1000)

    async def test_a_hook_that_fails_is_logged(self) -> None:
        def fail(line: str) -> None:
            raise ValueError(line)

        with self.assertLogs("libacp.aio", "ERROR"):
            error = await self.ended("import sys; sys.exit('no')", stderr=fail)
        self.assertEqual(error.stderr, ("no",))

    async def test_one_that_leaves_its_output_to_a_child(self) -> None:
        left = "import subprocess, sys; subprocess.Popen(['sleep', '30'], stdout=subprocess.DEVNULL); sys.exit('no')"
        begun = time.monotonic()
        error = await self.ended(left, stderr=len)
        self.assertEqual((error.returncode, error.stderr), (1, ("no",)))
        # Also what has no end of its line yet.
        error = await self.ended(left.replace("sys.exit('no')", "sys.stderr.write('one\\ntwo'); sys.exit(1)"), stderr=len)
        self.assertEqual((error.returncode, error.stderr), (1, ("one", "two")))
        self.assertLess(time.monotonic() - begun, 8)

    async def client(self, agent: str, after: str, **how: Any) -> "asyncio.subprocess.Process":
        """A program that starts an agent, which has nothing else than its own standard error."""
        text = f"""
import asyncio, sys
from libacp import aio
async def main():
    try:
        async with aio.spawn_agent([sys.executable, "-S", "-E", "-c", {agent!r}], timeout=1.5, grace=0.2):
            pass
    except Exception as error:
        print(type(error).__name__, *getattr(error, "stderr", ()), flush=True)
{after}
asyncio.run(main())
"""
        return await asyncio.create_subprocess_exec(
            sys.executable, "-B", "-c", text, stdout=asyncio.subprocess.PIPE, **how
        )

    async def test_it_is_handed_on(self) -> None:
        process = await self.client("import sys; sys.exit('one\\ntwo')", "", stderr=asyncio.subprocess.PIPE)
        out, err = await self.in_time(process.communicate())
        self.assertEqual((out, err), (b"AgentEnded one two\n", b"one\ntwo\n"))

    @unittest.skipUnless(os.name == "posix", "closes it")
    async def test_nobody_has_to_hear_it(self) -> None:
        process = await self.client("import sys; sys.exit('one')", "", preexec_fn=lambda: os.close(2))
        out, _ = await self.in_time(process.communicate())
        self.assertEqual(out, b"AgentEnded one\n")

    async def test_one_that_is_not_heard_holds_up_nobody(self) -> None:
        # More than the pipes take; what the agent does not get rid of is its own affair.
        flood = "import sys, time; sys.stderr.write('x' * 1000000); sys.stderr.flush(); time.sleep(10)"
        process = await self.client(flood, "    import os; os._exit(0)", stderr=asyncio.subprocess.PIPE)
        assert process.stdout is not None
        self.assertEqual(await self.in_time(process.stdout.readline()), b"NoResult\n")
        await self.in_time(process.communicate())


if __name__ == "__main__":
    unittest.main()
