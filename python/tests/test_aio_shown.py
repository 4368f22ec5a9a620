"""What people see of a peer, in logs and in the examples' terminals: no command to the terminal, and not without end."""

import asyncio
import io
import logging
import re
import sys
import unicodedata
import unittest
from pathlib import Path
from typing import Any, Dict, List, Optional
from unittest import mock

import libacp
from aio_pair import AioCase, agent, host, talk
from hosts.terminal_abuse import EVIL
from libacp import aio
from libacp.aio import _log, _peer
from raw_agent import opened, raw_agent

CHAT = Path(__file__).resolve().parents[2] / "examples" / "python" / "chat.py"


def commands(text: str) -> List[str]:
    """The characters that are no text, but for line ends and tabs."""
    kinds = ("Cc", "Cf", "Cs", "Zl", "Zp")
    return [each for each in text if each not in "\n\t" and unicodedata.category(each) in kinds]


class Logged(AioCase):
    """The log as a host has it that has done no more than `logging.basicConfig`."""

    def setUp(self) -> None:
        super().setUp()
        self.out = io.StringIO()
        handler = logging.StreamHandler(self.out)
        handler.setFormatter(logging.Formatter("%(levelname)s: %(message)s"))
        logger = logging.getLogger("libacp.aio")
        logger.addHandler(handler)
        self.addCleanup(logger.removeHandler, handler)

    def clean(self) -> str:
        text: str = self.out.getvalue()
        self.assertEqual(commands(text), [])
        return text

    async def test_words_of_a_peer_in_messages(self) -> None:
        client = aio.Client()
        async with raw_agent(client) as (peer, agent):
            await opened(peer, agent)
            agent.send({"id": 1, "method": EVIL, "params": {}})
            update = {"sessionUpdate": EVIL, "toolCallId": EVIL}
            agent.send({"method": "session/update", "params": {"sessionId": EVIL, "update": update}})
            agent.send({"id": EVIL, "result": {}})
            await agent.answers(1)
        self.assertIn("\\x1b", self.clean())

    async def test_words_of_a_peer_in_errors(self) -> None:
        """A handler that fails with the error of its peer; the trace is logged."""

        async def ask(turn: aio.Turn) -> None:
            await turn.client.request("_acme/fail")

        client = aio.Client()

        @client.on_extension("_acme/fail")
        async def fail(peer: Any, params: Any) -> None:
            raise aio.RequestError(1, EVIL + "\nERROR: forged")

        async with talk(agent(prompt=ask), client) as peer:
            session = await peer.new_session("/")
            with self.assertRaises(libacp.PeerError):
                await session.prompt("?")
        text = self.clean()
        self.assertIn("Traceback", text)
        self.assertIn("PeerError", text)
        # What is not the log's own begins with a space.
        self.assertEqual([line for line in text.split("\n") if line.startswith("ERROR: forged")], [])

    async def test_words_of_a_client_that_does_not_release(self) -> None:
        class Odd(aio.Terminals):
            async def create(self, session: Any, params: Any) -> str:
                return EVIL

            async def release(self, session: Any, id: str) -> None:
                raise aio.RequestError(1, EVIL)

        async def run(turn: aio.Turn) -> None:
            async with turn.terminal("true"):
                pass

        async with talk(agent(prompt=run), aio.Client(terminals=Odd())) as peer:
            await (await peer.new_session("/")).prompt("?")
        self.assertIn("cannot be released", self.clean())

    async def test_a_flood_of_violations(self) -> None:
        told: List[str] = []
        client = aio.Client(on_violation=lambda violation: told.append(violation.rule))
        async with raw_agent(client) as (peer, agent):
            await opened(peer, agent)
            for number in range(50):
                agent.send(*({"id": number * 100 + each, "method": f"none{each}"} for each in range(100)))
                await agent.answers(*range(number * 100, number * 100 + 100))
        # The hook is told all, the log a few.
        self.assertEqual(len(told), 5000)
        lines = self.clean().splitlines()
        self.assertEqual(len([line for line in lines if "none" in line]), _log.LINES)
        level = _peer.LEVELS[rule.severity] if (rule := libacp.rule(told[0])) else logging.NOTSET
        more = f"{told[0]}: {5000 - _log.LINES} more like this were not logged"
        self.assertEqual(lines[-1], f"{logging.getLevelName(level)}: {more}")
        self.assertEqual(len(lines), _log.LINES + 1)

    async def test_a_flood_of_failures(self) -> None:
        tested = agent(prompt=lambda turn: None)

        @tested.on_extension("_acme/fail")
        async def fail(client: Any, params: Any) -> None:
            raise ValueError("again")

        async with talk(tested) as peer:
            for _ in range(100):
                with self.assertRaises(libacp.PeerError):
                    await peer.request("_acme/fail")
        self.assertEqual(self.clean().count("ValueError: again"), _log.LINES)
        self.assertIn("95 more like this", self.out.getvalue())

    async def test_lines_are_let_through_again_after_some_time(self) -> None:
        with mock.patch.object(_log, "SECONDS", 0.05):
            limited = _log.Limited()
            for round in range(3):
                for number in range(10):
                    limited.log("RULE", logging.WARNING, "line %d", number)
                # The other kinds are not held back.
                limited.log("OTHER", logging.WARNING, "other %d", round)
                await asyncio.sleep(0.1)
        expected = [f"WARNING: line {number}" for number in range(5)]
        expected += ["WARNING: other", "WARNING: RULE: 5 more like this were not logged"]
        found = [re.sub(r"other \d", "other", line) for line in self.clean().splitlines()]
        self.assertEqual(found, expected * 3)


    async def test_what_is_not_shown_is_not_counted(self) -> None:
        logger = logging.getLogger("libacp.aio")
        limited = _log.Limited()
        for least, expected in (
            (logging.WARNING, ["WARNING: RULE: 1 more like this was not logged"]),
            (logging.INFO, ["INFO: advice: 2 more like this were not logged", "WARNING: RULE: 1 more like this was not logged"]),
            (logging.CRITICAL, []),
        ):
            logger.setLevel(least)
            self.out.seek(0)
            self.out.truncate()
            for _ in range(_log.LINES + 2):
                limited.log("advice", logging.INFO, "advice")
            for _ in range(_log.LINES + 1):
                limited.log("RULE", logging.WARNING, "broken")
            limited.tell()
            lines = self.clean().splitlines()
            self.assertEqual([line for line in lines if "more like this" in line], expected)


class Permissions(unittest.TestCase):
    def test_once_is_never_widened_to_always(self) -> None:
        def request(*kinds: str) -> aio.PermissionRequest:
            options = [{"optionId": kind, "name": kind, "kind": kind} for kind in kinds]
            session: Any = None
            return aio.PermissionRequest(session, {"toolCall": {"toolCallId": "t"}, "options": options})

        cases: "List[tuple[aio.PermissionRequest, Optional[str], Optional[str]]]" = [
            (request("allow_always", "allow_once", "reject_once"), "allow_once", "allow_always"),
            (request("allow_always", "reject_once"), None, "allow_always"),
            (request("allow_once"), "allow_once", None),
            (request(), None, None),
        ]
        for each, once, always in cases:
            self.assertEqual((each.allow(), each.allow_always()), (once, always))
            self.assertEqual(asyncio.run(aio.allow_all(each)), once or always)
        self.assertEqual(request("reject_always").reject(), "reject_always")


class Chat(AioCase):
    """The example that prints what an agent says."""

    async def chat(self, kind: str, typed: str) -> str:
        command = [sys.executable, "-B", str(CHAT), *host("terminal_abuse.py", kind)]
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(
            *command, stdin=pipe, stdout=pipe, stderr=asyncio.subprocess.STDOUT
        )
        out, _ = await self.in_time(process.communicate(typed.encode()))
        self.assertEqual(process.returncode, 0, out)
        text: str = out.decode()
        self.assertEqual(commands(text), [], text)
        return text

    async def test_what_an_agent_says_is_no_command(self) -> None:
        printed = await self.chat("allow_once", "go\ny\nagain\n")
        self.assertIn("<a>", printed)
        # All of it is there to be read, on the line of the question.
        (question,) = [line for line in printed.split("\n") if line.startswith("Allow ")]
        self.assertIn("Rm -rf", question)
        self.assertIn("Read", question)
        self.assertIn("? [y/n] ", question)

    async def test_yes_is_never_for_good(self) -> None:
        expected: Dict[str, str] = {"y": "<r>", "always": "<a>", "n": "<r>", "": "<r>"}
        for answer, option in expected.items():
            printed = await self.chat("allow_always", f"go\n{answer}\n")
            self.assertIn("? [always/n] ", printed)
            self.assertIn(option, printed, answer)


if __name__ == "__main__":
    unittest.main()
