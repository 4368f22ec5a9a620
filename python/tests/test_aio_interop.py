"""Whole turns with official SDKs in either role: Python's, and TypeScript's in version 2. `run.py` says where they are."""

import asyncio
import json
import os
import tempfile
import unittest
from pathlib import Path
from typing import Any

import aio_pair
from aio_pair import AioCase, host, texts, updates
from libacp import aio

SDK = os.environ.get("LIBACP_TEST_SDK_PYTHON", "")
TYPESCRIPT = os.environ.get("LIBACP_TEST_TYPESCRIPT", "")
TOUR = Path(__file__).resolve().parents[2] / "tests" / "interop" / "version-2" / "tour.json"


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


@unittest.skipUnless(TYPESCRIPT, "LIBACP_TEST_TYPESCRIPT names no folder with hosts on the official TypeScript SDK")
class OfficialTypeScript(AioCase):
    """Version 2. Nobody breaks a rule, in either direction."""

    async def talk(self, *command: str) -> Any:
        process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE)
        output, errors = await self.in_time(process.communicate())
        self.assertEqual(process.returncode, 0, errors.decode())
        return json.loads(output)

    async def test_its_agent(self) -> None:
        script = ["node", os.path.join(TYPESCRIPT, "v2-agent.mjs"), "--script", str(TOUR)]
        found = await self.talk(*host("tour_client.py", "/project", *script))
        self.assertEqual((found["agent"], found["wrong"]), (["libacp-interop-agent", 2], []))
        self.assertEqual(found["modes"], ["ask", 2])
        self.assertEqual(found["turns"], [["end_turn", "user-1"], ["cancelled", "user-2"]])
        # The whole message that the agent sends at last takes the place of its chunks.
        self.assertEqual(found["text"], "Three \u2014 the last one is blank.\u2028\U0001f469\u200d\U0001f4bb")
        self.assertEqual(found["asked"], [["Run wc?", "It only reads.", "tool-1"], ["Delete three lines?", None, "tool-2"]])
        ours = ["state_update", "user_message", "tool_call_update", "state_update", "tool_call_update", "state_update"]
        self.assertEqual(found["kinds"], ours)
        self.assertEqual((found["listed"], found["replayed"]), (["Lines of notes.md"], 8))
        self.assertEqual(found["before"], found["after"])

    async def test_its_client(self) -> None:
        found = await self.talk("node", os.path.join(TYPESCRIPT, "v2-session.mjs"), "/work", "--", *host("program.py"))
        self.assertEqual((found["agent"], found["protocolVersion"], found["status"]), ("program", 2, 0))
        self.assertEqual(found["asked"], [["Write a", "tool_call", "w"]])
        stops = {what: turn["stop"] for what, turn in found["turns"].items()}
        self.assertEqual(stops, {"work": "end_turn", "wait": "cancelled", "refusal": "refusal", "break": "error"})
        self.assertEqual(found["turns"]["break"]["error"], {"code": -32603, "message": "Internal error"})
        chunks = ["agent_message_chunk"] * 2
        self.assertEqual(found["turns"]["wait"]["told"], ["user_message", "state_update", *chunks, "state_update"])
        self.assertEqual((found["modes"], found["titles"], found["loaded"]), (["ask", "code"], ["An old one"], 1))


if __name__ == "__main__":
    unittest.main()
