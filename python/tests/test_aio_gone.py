"""An agent that dies while nobody asks it anything."""

import asyncio
import os
import signal
import sys
import unittest
from contextlib import asynccontextmanager
from typing import Any, AsyncIterator, List, Tuple

from aio_pair import AioCase
from libacp import aio

AGENT = """
from libacp import aio
agent = aio.Agent("idle", "1")
@agent.prompt
async def answer(turn):
    pass
@agent.load_session
async def load(session):
    pass
agent.run()
"""


@unittest.skipUnless(os.name == "posix", "ends it by a signal")
class Gone(AioCase):
    @asynccontextmanager
    async def killed(self, **how: Any) -> AsyncIterator[Tuple[aio.AgentPeer, aio.ClientSession]]:
        """An agent that has been killed, with a session."""
        async with aio.spawn_agent([sys.executable, "-B", "-c", AGENT], aio.Client(**how)) as peer:
            session = await peer.new_session("/")
            assert peer.process is not None
            os.kill(peer.process.pid, signal.SIGKILL)
            await self.in_time(peer.wait_closed())
            yield peer, session

    async def test_every_call_says_how_it_ended(self) -> None:
        async with self.killed() as (peer, session):
            async def iterate(turn: Any) -> None:
                async for _ in turn:
                    pass

            calls: List[Any] = [
                peer.new_session("/"),
                session.prompt("x"),
                iterate(session.prompt("x")),
                peer.load_session("s", "/"),
                iterate(peer.load_session("s", "/")),
                session.close(),
            ]
            for call in calls:
                with self.assertRaises(aio.AgentEnded) as caught:
                    await call
                self.assertEqual(caught.exception.returncode, -signal.SIGKILL)
                self.assertIn("the agent was killed by SIGKILL before it answered", str(caught.exception))

    async def test_its_sessions_end_with_it(self) -> None:
        ended: List[aio.ClientSession] = []
        async with self.killed(on_session_end=ended.append) as (peer, session):
            self.assertEqual((session.open, peer.sessions, ended), (False, {}, [session]))
        self.assertEqual(ended, [session])


if __name__ == "__main__":
    unittest.main()
