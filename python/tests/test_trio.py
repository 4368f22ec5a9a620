"""The example on trio, where trio is installed; ``run.py`` says where."""

import asyncio
import os
import unittest
from pathlib import Path

import libacp
from aio_pair import AioCase, texts, updates
from libacp import aio

AGENT = Path(__file__).resolve().parents[2] / "examples" / "python" / "trio_agent.py"
PYTHON = os.environ.get("LIBACP_TEST_TRIO_PYTHON")


@unittest.skipIf(PYTHON is None, "there is no trio")
class Trio(AioCase):
    async def test_the_agent_counts_and_stops(self) -> None:
        async with aio.spawn_agent([str(PYTHON), "-B", str(AGENT)]) as peer:
            first, second = await peer.new_session("/"), await peer.new_session("/")
            both = asyncio.gather(updates(first.prompt("2")), updates(second.prompt("3")))
            self.assertEqual([texts(each) for each in await self.in_time(both)], ["2 1 ", "3 2 1 "])
            turn = first.prompt("1000000000")
            async for _ in turn:
                await turn.cancel()
            self.assertEqual(turn.stop_reason, "cancelled")
            with self.assertRaises(libacp.PeerError):
                await peer.request("_x/unknown")
            running = second.prompt("1000000000")
            await running.__aiter__().__anext__()
            # It ends with its input, also in a turn.
        assert peer.process is not None
        self.assertEqual(peer.process.returncode, 0)


if __name__ == "__main__":
    unittest.main()
