"""The examples for `libacp.aio`, in the READMEs and in `examples/python`, do what they say."""

import asyncio
import re
import sys
import tempfile
import unittest
from pathlib import Path
from typing import List

import libacp
from aio_pair import AioCase, texts, updates
from libacp import aio

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples" / "python"


class Examples(AioCase):
    def setUp(self) -> None:
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.work = Path(folder.name).resolve()

    async def run_in(self, *command: str, typed: str = "") -> "tuple[int, str, str]":
        """The status of a program in the folder, and what it printed."""
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-B", *command, cwd=self.work, stdin=pipe, stdout=pipe, stderr=pipe
        )
        out, noise = await self.in_time(process.communicate(typed.encode()))
        assert process.returncode is not None
        return process.returncode, out.decode(), noise.decode()

    async def test_the_agents_and_clients_of_the_readmes(self) -> None:
        for readme in (ROOT / "README.md", ROOT / "python" / "README.md"):
            blocks: List[str] = re.findall(r"```python\n(.*?)```", readme.read_text("utf-8"), re.DOTALL)
            # What is remote has a test beside the web servers.
            blocks = [block for block in blocks if "libacp.aio" in block and "http" not in block]
            agent, client, *viewers = blocks
            (self.work / "agent.py").write_text(agent)
            (self.work / "client.py").write_text(client)
            status, printed, noise = await self.run_in("client.py")
            self.assertEqual((status, noise), (0, ""), readme)
            kinds = [line.split()[0] for line in printed.splitlines()]
            expected = ["tool_call", "tool_call_update", "tool_call_update", "agent_message_chunk"]
            self.assertEqual(kinds, expected, readme)
            self.assertIn("'text': 'HELLO'", printed)
            for viewer in viewers:
                (self.work / "viewer.py").write_text(viewer)
                status, printed, noise = await self.run_in("viewer.py")
                self.assertEqual((status, noise), (0, ""), readme)
                *_, shown, reason = printed.splitlines()
                self.assertRegex(shown, r"<Message 0 user 'hello'>, <ToolCall .* completed>, <Message 2 agent 'HELLO'>")
                self.assertEqual(reason, "end_turn")

    async def test_the_chat_with_the_agent_that_says_hello(self) -> None:
        (self.work / "f").write_text("a\nb\n")
        command = [str(EXAMPLES / "chat.py"), sys.executable, "-B", str(EXAMPLES / "hello_agent.py")]
        status, printed, noise = await self.run_in(*command, typed="f\nn\nmissing\nf\ny\n")
        self.assertEqual((status, noise), (0, ""))
        self.assertEqual(printed.count("(end_turn)"), 3)
        for said in ("  failed\nLeft as it was.", "There is no such file", "  in_progress\n  completed\nNumbered."):
            self.assertIn(said, printed)
        self.assertEqual((self.work / "f").read_text(), "  1 a\n  2 b\n")

    async def test_agents_to_copy_serve_any_client_and_end_with_it(self) -> None:
        """Two sessions at once, a client that offers nothing, and a method that they do not have."""
        book = ROOT / "docs" / "snippets" / "python" / "agent.py"
        readmes = [(ROOT / "README.md").read_text("utf-8"), (ROOT / "python" / "README.md").read_text("utf-8")]
        blocks = [block for text in readmes for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL)]
        agents = [block for block in blocks if "agent.run()" in block]
        self.assertEqual(len(agents), 2)
        for text in (*agents, book.read_text("utf-8"), (EXAMPLES / "hello_agent.py").read_text("utf-8")):
            (self.work / "agent.py").write_text(text)
            async with aio.spawn_agent([sys.executable, "-B", str(self.work / "agent.py")]) as peer:
                sessions = await asyncio.gather(*(peer.new_session(self.work) for _ in range(2)))
                for said in await self.in_time(asyncio.gather(*(updates(each.prompt("a")) for each in sessions))):
                    self.assertTrue(texts(said))
                with self.assertRaises(libacp.PeerError) as caught:
                    await peer.request("_example/unknown")
                self.assertEqual(caught.exception.code, libacp.ErrorCode.METHOD_NOT_FOUND)
            assert peer.process is not None
            self.assertEqual(peer.process.returncode, 0)

    async def test_the_script_between_the_hosts_that_play_it(self) -> None:
        script = str(ROOT / "tests" / "interop" / "script.json")
        agent = [sys.executable, "-B", str(EXAMPLES / "agent.py"), "--script", script]
        work = ["--script", script, "--work", str(self.work), "--"]
        status, printed, noise = await self.run_in(str(EXAMPLES / "client.py"), *work, *agent)
        self.assertEqual((status, noise), (0, ""), printed)


if __name__ == "__main__":
    unittest.main()
