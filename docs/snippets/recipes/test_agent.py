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
        self.violations = []

    def tearDown(self):
        # A rule that the agent has broken is a failure, whatever else came of it.
        self.assertEqual(self.violations, [])

    def start(self):
        # An agent that hangs fails its test, too.
        client = libacp.aio.Client(on_violation=self.violations.append, timeout=20)
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
            self.assertEqual(await session.prompt("Hello").read_text(), "code, large, no servers: Hello")

        async with self.start() as agent:
            await agent.authenticate("token")
            self.assertEqual([each["sessionId"] async for each in agent.list_sessions(os.getcwd())], [session.id])
            self.assertEqual([each async for each in agent.list_sessions("/elsewhere")], [])
            loading = agent.load_session(session.id, os.getcwd())
            past = [update["content"]["text"] async for update in loading]
            self.assertEqual(past, ["Hello", "code, large, no servers: Hello"])
            loaded = await loading
            self.assertEqual(loaded.result["modes"]["currentModeId"], "code")

        async with self.start() as agent:
            await agent.authenticate("token")
            resumed = await agent.resume_session(session.id, os.getcwd())
            self.assertEqual(await resumed.prompt("Again").read_text(), "code, large, no servers: Again")
            with self.assertRaises(libacp.PeerError):
                await agent.load_session("../agent", os.getcwd())

    async def test_servers_are_handed_on(self):
        async with self.start() as agent:
            await agent.authenticate("token")
            server = {"name": "files", "command": "/bin/files", "args": [], "env": []}
            session = await agent.new_session(os.getcwd(), mcp_servers=[server])
            self.assertEqual(await session.prompt("Hello").read_text(), "ask, small, files: Hello")


if __name__ == "__main__":
    unittest.main(verbosity=2)
