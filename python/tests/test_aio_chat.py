"""The example `chat.py` in a terminal."""

import asyncio
import os
import signal
import sys
import unittest
from pathlib import Path

from aio_pair import AioCase
from processes import heeding_signals

CHAT = Path(__file__).resolve().parents[2] / "examples" / "python" / "chat.py"
AGENT = """
import asyncio, os
from libacp import aio
agent = aio.Agent("chatting", "1")
@agent.prompt
async def answer(turn):
    if turn.text == "ask":
        async with turn.tool_call("Dig", status="pending") as call:
            await call.ask_permission()
    elif turn.text == "show":
        await turn.update({"sessionUpdate": "session_info_update", "title": "Holes"})
        await turn.message("Dig")
        await turn.message("ging")
        async with turn.tool_call("Dig", status="pending"):
            await turn.message(" on\\x1b[2J")
        await turn.plan(["one", "two"])
        await turn.update({"sessionUpdate": "usage_update", "used": 5, "size": 100})
    elif turn.text == "later":
        async def say():
            await asyncio.sleep(0.2)
            await turn.session.update({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "late"}})
        asyncio.ensure_future(say())
    elif turn.text == "stay":
        try:
            await turn.message("staying")
            await asyncio.sleep(600)
        except asyncio.CancelledError:
            await asyncio.sleep(2)
    await turn.message(f"pid {os.getpid()}.")
agent.run()
"""


@unittest.skipUnless(os.name == "posix", "needs a terminal")
class Chat(AioCase):
    seconds = 10.0

    async def asyncSetUp(self) -> None:
        await super().asyncSetUp()
        self.keyboard, theirs = os.openpty()
        self.seen = ""

        def terminal() -> None:
            heeding_signals()
            os.setsid()
            os.close(os.open(os.ttyname(0), os.O_RDWR))

        self.chat = await asyncio.create_subprocess_exec(
            *[sys.executable, "-B", str(CHAT), sys.executable, "-B", "-c", AGENT],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            preexec_fn=terminal,
        )
        os.close(theirs)
        self.screen = asyncio.StreamReader()
        pipe = os.fdopen(os.dup(self.keyboard), "rb", buffering=0)
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(self.screen), pipe
        )
        self.addCleanup(os.close, self.keyboard)
        self.addCleanup(transport.close)

    async def asyncTearDown(self) -> None:
        if self.chat.returncode is None:
            self.chat.kill()
            await self.chat.wait()

    async def shows(self, what: str) -> str:
        """Waits for a text on the screen; all up to its end."""

        async def read() -> None:
            while what not in self.seen:
                more = await self.screen.read(4096)
                assert more, self.seen
                self.seen += more.decode()

        await self.in_time(read())
        before, _, self.seen = self.seen.partition(what)
        return before

    def type(self, keys: str) -> None:
        os.write(self.keyboard, keys.encode())

    async def ends(self) -> None:
        self.assertEqual(await self.in_time(self.chat.wait()), 0)
        self.assertNotIn("Traceback", self.seen)

    async def test_ctrl_c_at_the_prompt_leaves(self) -> None:
        await self.shows("> ")
        self.type("\x03")
        await self.ends()

    async def test_what_it_shows(self) -> None:
        await self.shows("> ")
        self.type("show\n")
        await self.shows("show\r\n")
        shown = await self.shows("(end_turn, 5 of 100 tokens)")
        lines = ["# Holes", "Digging", "* Dig", "  completed", " on\\x1b[2J", "- [pending] one", "- [pending] two"]
        # What comes in one go is shown in the order of the conversation.
        self.assertEqual(sorted(shown.replace("\r", "").splitlines()[:-1]), sorted(lines))
        self.assertIn("pid ", shown)
        self.type("\n")
        await self.ends()

    async def test_what_comes_at_the_prompt(self) -> None:
        await self.shows("> ")
        self.type("later\n")
        await self.shows("(end_turn)")
        await self.shows("> ")
        await self.shows("late")
        self.type("\n")
        await self.ends()

    async def test_ctrl_c_ends_a_question_with_its_turn(self) -> None:
        await self.shows("> ")
        self.type("ask\n")
        await self.shows("Allow Dig?")
        self.type("\x03")
        await self.shows("(cancelled)")
        await self.shows("> ")
        self.type("again\n")
        await self.shows("(end_turn)")
        await self.shows("> ")
        self.type("\n")
        await self.ends()

    async def test_a_second_ctrl_c_in_a_turn_leaves(self) -> None:
        await self.shows("> ")
        self.type("stay\n")
        await self.shows("staying")
        self.type("\x03")
        await asyncio.sleep(0.3)
        self.type("\x03")
        await self.ends()

    async def test_an_agent_that_dies_at_the_prompt(self) -> None:
        await self.shows("> ")
        self.type("who\n")
        await self.shows("pid ")
        number = int(await self.shows("."))
        await self.shows("> ")
        os.kill(number, signal.SIGKILL)
        await self.shows("(the agent has ended)")
        await self.ends()


if __name__ == "__main__":
    unittest.main()
