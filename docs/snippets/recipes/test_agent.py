"""Tests of an agent, as editors would start it: by its command, over its standard streams."""

import os
import sys
import tempfile
import unittest

import libacp
import libacp.aio

COMMAND = [sys.executable, "agent.py"]


class AgentTest(unittest.IsolatedAsyncioTestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.environment = {**os.environ, "RECIPES_STORE": folder.name, "RECIPES_TOKEN": "t"}
        self.violations, self.replayed = [], []

    def tearDown(self):
        # A rule that the agent has broken is a failure, whatever else came of it.
        self.assertEqual(self.violations, [])

    def start(self):
        client = libacp.aio.Client(
            on_violation=self.violations.append,
            # What no loop over a prompt takes, as the past of a session that is loaded.
            on_update=lambda session, update: self.replayed.append(update),
        )
        return libacp.aio.spawn_agent(COMMAND, client, env=self.environment)

    async def test_a_login_comes_first(self):
        async with self.start() as agent:
            with self.assertRaises(libacp.PeerError) as refused:
                await agent.new_session(os.getcwd())
            self.assertEqual(refused.exception.code, libacp.ErrorCode.AUTH_REQUIRED)
            await agent.authenticate("token")
            await agent.new_session(os.getcwd())

    async def test_settings_and_sessions_last(self):
        async with self.start() as agent:
            await agent.authenticate("token")
            session = await agent.new_session(os.getcwd())
            await session.set_mode("code")
            await session.set_config_option("model", "large")
            with self.assertRaises(libacp.Misuse):
                await session.set_mode("none")
            updates = [update async for update in session.prompt("Hello")]
            self.assertEqual(updates[-1]["content"]["text"], "code, large, no servers: Hello")

        async with self.start() as agent:
            await agent.authenticate("token")
            session = await agent.load_session(session.id, os.getcwd())
            past = [update["content"]["text"] for update in self.replayed if "content" in update]
            self.assertEqual(past, ["Hello", "code, large, no servers: Hello"])
            self.assertEqual(session.result["modes"]["currentModeId"], "code")

    async def test_servers_are_handed_on(self):
        async with self.start() as agent:
            await agent.authenticate("token")
            server = {"name": "files", "command": "/bin/files", "args": [], "env": []}
            session = await agent.new_session(os.getcwd(), mcp_servers=[server])
            updates = [update async for update in session.prompt("Hello")]
            self.assertEqual(updates[-1]["content"]["text"], "ask, small, files: Hello")


if __name__ == "__main__":
    unittest.main(verbosity=2)
