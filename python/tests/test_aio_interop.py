"""Whole turns with the official Python SDK in either role; `run.py` says where it is installed."""

import asyncio
import json
import os
import tempfile
import unittest
from pathlib import Path

import aio_pair
from aio_pair import AioCase, host, texts, updates
from libacp import aio

SDK = os.environ.get("LIBACP_TEST_SDK_PYTHON", "")


@unittest.skipUnless(SDK, "LIBACP_TEST_SDK_PYTHON names no interpreter that has the official SDK")
class Official(AioCase):
    def setUp(self) -> None:
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.work = os.path.realpath(folder.name)
        Path(self.work, "in.txt").write_bytes("eins\nzw\u00f6lf \U0001f980\ndrei".encode())

    async def test_its_agent(self) -> None:
        client = aio.Client(permission=aio.allow_all, files=aio.Files(), terminals=aio.Terminals())
        async with aio.spawn_agent([SDK, "-B", str(aio_pair.HOSTS / "sdk_agent.py")], client) as peer:
            self.assertEqual(peer.info["name"], "official")
            session = await peer.new_session(self.work)
            turn = session.prompt("work")
            seen = await self.in_time(updates(turn))
            self.assertEqual(turn.stop_reason, "end_turn")
            self.assertEqual(texts(seen), "yes 0 -32602 ZW\u00d6LF \U0001f980\n")
            kinds = ["plan", "agent_thought_chunk", "tool_call", "tool_call_update", "agent_message_chunk"]
            self.assertEqual([each["sessionUpdate"] for each in seen], kinds)
            waiting = session.prompt("wait")
            async for update in waiting:
                self.assertEqual(texts([update]), "waiting")
                await waiting.cancel()
            self.assertEqual(waiting.stop_reason, "cancelled")
            self.assertEqual(peer.connection.open_terminals, [])
        assert peer.process is not None
        self.assertEqual(peer.process.returncode, 0)
        self.assertEqual(Path(self.work, "out.txt").read_bytes().decode(), "ZW\u00d6LF \U0001f980\n")

    async def test_its_client(self) -> None:
        command = [SDK, "-B", str(aio_pair.HOSTS / "sdk_client.py"), self.work, *host("agent.py")]
        process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
        output, _ = await self.in_time(process.communicate())
        found = json.loads(output)
        self.assertEqual((found["agent"], found["status"]), ("tested", 0))
        self.assertEqual(found["stops"], ["end_turn", "cancelled"])
        asked = ["permission", "write", "create cat", "wait", "output", "release"]
        self.assertEqual(found["asked"], ["read 2 1", *asked])
        self.assertEqual(texts(found["seen"]), "printed{'exitCode': 3}waitingcleaned up")
        self.assertEqual(Path(self.work, "out.txt").read_bytes().decode(), "ZW\u00d6LF \U0001f980\n")


if __name__ == "__main__":
    unittest.main()
