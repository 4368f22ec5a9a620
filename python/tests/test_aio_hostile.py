"""Peers of `libacp.aio` that do what they should not: they die, say nothing, talk nonsense, or raise."""

import asyncio
import json
import pickle
import socket
import time
import unittest
from typing import Any, Dict, List

import libacp
from aio_pair import AioCase, agent, host, streams, talk, texts, until, updates
from libacp import aio


class Agents(AioCase):
    """Each is a child process that knows no library."""

    async def prompted(self, way: str, client: "aio.Client | None" = None, **options: Any) -> List[Any]:
        """The updates of a turn with such an agent, and what its end raised."""
        seen: List[Any] = []
        async with aio.spawn_agent(host("hostile.py", way), client, **options) as peer:
            session = await peer.new_session("/")
            try:
                async for update in session.prompt("?"):
                    seen.append(update)
            except libacp.Error as problem:
                seen.append(problem)
        return seen

    async def test_one_that_dies_in_mid_turn(self) -> None:
        hello, problem = await self.in_time(self.prompted("dies"))
        self.assertEqual(texts([hello]), "hello")
        assert isinstance(problem, aio.AgentEnded)
        self.assertEqual((problem.returncode, problem.outcome, problem.method), (7, "closed", "session/prompt"))
        self.assertIn("ended with the status 7", str(problem))
        again = pickle.loads(pickle.dumps(problem))
        self.assertEqual((again.returncode, str(again)), (7, str(problem)))

    async def test_one_that_ends_within_a_message(self) -> None:
        _, problem = await self.in_time(self.prompted("half"))
        assert isinstance(problem, aio.AgentEnded)
        self.assertEqual(problem.returncode, 0)
        self.assertIn("FRAME-11", "".join(self.log))

    async def test_one_that_only_closes_its_output(self) -> None:
        _, problem = await self.in_time(self.prompted("closes", grace=0.2))
        assert isinstance(problem, aio.AgentEnded)
        self.assertIsNone(problem.returncode)
        self.assertIn("closed its output", str(problem))

    async def test_one_that_talks_nonsense(self) -> None:
        told: List[libacp.Violation] = []
        client = aio.Client(files=aio.Files(), on_violation=told.append)
        self.assertEqual(texts(await self.in_time(self.prompted("garbage", client))), "hello")
        expected = ["FRAME-04", "FRAME-04", "FRAME-03", "RPC-13", "SESS-52", "FS-03", "TURN-01"]
        self.assertEqual([each.rule for each in told], expected)
        self.assertEqual(len(self.log), len(told))
        # A client that is strict does not take a stop reason that does not exist.
        hello, problem = await self.in_time(self.prompted("garbage", aio.Client(files=aio.Files(), policy="strict")))
        assert isinstance(problem, libacp.NoResult)
        self.assertEqual(problem.outcome, "invalid")
        self.assertNotIn("Traceback", "".join(self.log))

    async def test_one_that_never_answers(self) -> None:
        before = time.monotonic()
        with self.assertRaises(libacp.NoResult) as caught:
            async with aio.spawn_agent(host("hostile.py", "mute"), timeout=0.3):
                self.fail("there is no agent")
        self.assertEqual((caught.exception.outcome, caught.exception.method), ("timeout", "initialize"))
        self.assertLess(time.monotonic() - before, 60)

    async def test_one_that_never_ends_its_turn(self) -> None:
        async with aio.spawn_agent(host("hostile.py", "silent")) as peer:
            session = await peer.new_session("/")
            with self.assertRaises(asyncio.TimeoutError):
                await asyncio.wait_for(updates(session.prompt("?")), 0.3)
            known = peer.connection.session("s")
            assert known is not None
            self.assertEqual(known.turn, "cancelling")
            # The next prompt waits for the end of the turn, and can be given up as well.
            with self.assertRaises(asyncio.TimeoutError):
                await asyncio.wait_for(session.prompt("?"), 0.1)
            with self.assertRaises(libacp.NoResult):
                await peer.request("_acme/x", timeout=0.1)
        self.assertEqual(self.log, [])

    async def test_one_that_does_not_go(self) -> None:
        before = time.monotonic()
        async with aio.spawn_agent(host("hostile.py", "stays"), grace=1) as peer:
            pass
        assert peer.process is not None
        self.assertEqual(peer.process.returncode, -15)
        self.assertLess(time.monotonic() - before, 60)

    async def test_one_that_is_not_there(self) -> None:
        with self.assertRaises(TypeError):
            async with aio.spawn_agent("agent --flag"):
                self.fail("there is no agent")
        with self.assertRaises(FileNotFoundError):
            async with aio.spawn_agent(["/nowhere/agent"]):
                self.fail("there is no agent")
        with self.assertRaises(aio.AgentEnded) as caught:
            async with aio.spawn_agent(["false"]):
                self.fail("there is no agent")
        self.assertEqual((caught.exception.returncode, caught.exception.method), (1, "initialize"))

    async def test_an_error_in_the_block_ends_the_agent_and_goes_on(self) -> None:
        with self.assertRaises(ZeroDivisionError):
            async with aio.spawn_agent(host("hostile.py", "silent"), grace=0.2) as peer:
                turn = asyncio.ensure_future(updates((await peer.new_session("/")).prompt("?")))
                await asyncio.sleep(0.1)
                raise ZeroDivisionError
        with self.assertRaises(libacp.NoResult):
            await turn
        assert peer.process is not None
        self.assertIsNotNone(peer.process.returncode)


class Raw:
    """A client that writes its own lines."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    def send(self, *messages: Dict[str, Any]) -> None:
        self.writer.write(b"".join(json.dumps({"jsonrpc": "2.0", **each}).encode() + b"\n" for each in messages))

    async def next(self) -> Any:
        line = await asyncio.wait_for(self.reader.readline(), 10)
        return json.loads(line) if line else None

    async def opened(self) -> str:
        self.send({"id": "i", "method": "initialize", "params": {"protocolVersion": 1}})
        await self.next()
        self.send({"id": "n", "method": "session/new", "params": {"cwd": "/", "mcpServers": []}})
        return str((await self.next())["result"]["sessionId"])


def prompt(session: str, id: Any, text: str = "?") -> Dict[str, Any]:
    params = {"sessionId": session, "prompt": [{"type": "text", "text": text}]}
    return {"id": id, "method": "session/prompt", "params": params}


class Clients(AioCase):
    async def raw(self, tested: aio.Agent) -> Raw:
        ours, theirs = await streams()
        self.serving = asyncio.ensure_future(tested.serve(*theirs))
        return Raw(*ours)

    async def test_a_cancel_that_comes_with_its_prompt(self) -> None:
        begun: List[str] = []

        async def wait(turn: aio.Turn) -> None:
            begun.append(turn.text)

        raw = await self.raw(agent(prompt=wait))
        session = await raw.opened()
        # The handler has not begun when it is cancelled, and the prompt is answered all the same, once.
        raw.send(prompt(session, 1), {"method": "session/cancel", "params": {"sessionId": session}})
        self.assertEqual(await raw.next(), {"jsonrpc": "2.0", "id": 1, "result": {"stopReason": "cancelled"}})
        raw.send(prompt(session, 2), {"method": "$/cancel_request", "params": {"requestId": 2}})
        self.assertEqual(await raw.next(), {"jsonrpc": "2.0", "id": 2, "result": {"stopReason": "cancelled"}})
        self.assertEqual(begun, [])
        raw.send(prompt(session, 3))
        self.assertEqual((await raw.next())["result"], {"stopReason": "end_turn"})
        raw.writer.close()
        await self.in_time(self.serving)

    async def test_names_that_a_peer_makes_up_forge_no_log(self) -> None:
        raw = await self.raw(agent(prompt=lambda turn: None))
        await raw.opened()
        raw.send({"id": 9, "method": "made\nERROR: forged \x1b[31m" + "x" * 500})
        await raw.next()
        raw.writer.close()
        await self.in_time(self.serving)
        (line,) = self.log
        self.assertIn("made\\nERROR: forged \\x1b[31m", line)
        self.assertTrue(line.isprintable() and len(line) < 400, line)

    async def test_one_that_goes_in_mid_turn(self) -> None:
        ended: List[BaseException] = []

        async def ask(turn: aio.Turn) -> None:
            try:
                await turn.ask_permission({"toolCallId": "t"})
            except BaseException as problem:
                ended.append(problem)
                raise

        for half in (True, False):
            raw = await self.raw(agent(prompt=ask))
            raw.send(prompt(await raw.opened(), 1))
            self.assertEqual((await raw.next())["method"], "session/request_permission")
            if half:
                # One that only stopped writing still gets its answer.
                raw.writer.write_eof()
                self.assertEqual((await raw.next())["result"], {"stopReason": "cancelled"})
                self.assertIsNone(await raw.next())
            raw.writer.close()
            await self.in_time(self.serving)
        self.assertEqual([type(each) for each in ended], [asyncio.CancelledError] * 2)

    async def test_one_that_only_stops_reading(self) -> None:
        async def talk_on(turn: aio.Turn) -> None:
            while True:
                await turn.message("x" * 10_000)

        raw = await self.raw(agent(prompt=talk_on))
        raw.send(prompt(await raw.opened(), 1))
        raw.writer.get_extra_info("socket").shutdown(socket.SHUT_RD)
        # It still holds its end open for writing; an agent that nobody hears ends.
        await self.in_time(self.serving)
        raw.writer.close()

    async def test_handlers_that_return_nonsense(self) -> None:
        tested = agent(prompt=lambda turn: turn.message("sync is fine"))

        @tested.on_extension("_acme/set")
        async def a_set(client: Any, params: Any) -> Any:
            return {"of": {1, 2}}

        @tested.on_extension("_acme/quit")
        async def bad_error(client: Any, params: Any) -> Any:
            raise aio.RequestError(1, "no", data=object())

        async with talk(tested) as peer:
            for method in ("_acme/set", "_acme/quit"):
                with self.assertRaises(libacp.PeerError) as caught:
                    await peer.request(method)
                self.assertEqual(caught.exception.code, libacp.ErrorCode.INTERNAL_ERROR)
            self.assertEqual(texts(await updates((await peer.new_session("/")).prompt("?"))), "sync is fine")

    async def test_hooks_that_raise(self) -> None:
        def hook(*arguments: Any) -> None:
            raise ValueError("from a hook")

        async def ask(turn: aio.Turn) -> None:
            await turn.ask_permission({"toolCallId": "t"}, [])
            await turn.message("alive")

        client = aio.Client(on_violation=hook, on_update=hook)
        async with talk(agent(prompt=ask), client) as peer:
            session = await peer.new_session("/")
            await session.prompt("?")
            self.assertEqual(texts(await updates(session.prompt("?"))), "alive")
        self.assertIn("ERROR: a hook or a handler of notifications failed", self.log)

    async def test_a_permission_that_was_not_offered_is_an_error(self) -> None:
        async def wrong(request: aio.PermissionRequest) -> str:
            return "whatever"

        problems: List[Any] = []

        async def ask(turn: aio.Turn) -> None:
            try:
                await turn.ask_permission({"toolCallId": "t"})
            except libacp.PeerError as problem:
                problems.append(problem.code)

        async with talk(agent(prompt=ask), aio.Client(permission=wrong)) as peer:
            await (await peer.new_session("/")).prompt("?")
        self.assertEqual(problems, [libacp.ErrorCode.INTERNAL_ERROR])

    async def test_a_handler_that_does_not_end_is_given_up(self) -> None:
        stubborn = asyncio.Event()

        begun = asyncio.Event()

        async def ignore(turn: aio.Turn) -> None:
            begun.set()
            while not stubborn.is_set():
                try:
                    await stubborn.wait()
                except asyncio.CancelledError:
                    pass

        from libacp.aio import _client_peer

        self.addCleanup(setattr, _client_peer, "GRACE", _client_peer.GRACE)
        _client_peer.GRACE = 0.2
        raw = await self.raw(agent(prompt=ignore))
        raw.send(prompt(await raw.opened(), 1))
        await begun.wait()
        raw.writer.close()
        await self.in_time(self.serving)
        self.assertIn("WARNING: a handler does not end, and is given up", self.log)
        stubborn.set()
        await until(lambda: len(asyncio.all_tasks()) == 1)


if __name__ == "__main__":
    unittest.main()
