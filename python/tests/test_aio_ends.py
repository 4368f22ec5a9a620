"""No command outlives its session, its connection or its client."""

import asyncio
import os
import random
import signal
import sys
import unittest
from typing import Any, Dict, List

import libacp
from aio_pair import AioCase, host, until
from libacp import aio
from processes import alive, heeding_signals, left, mark
from raw_agent import create, opened, raw_agent

ROUNDS = int(os.environ.get("LIBACP_TEST_ROUNDS", "25"))


class Sessions(AioCase):
    """A terminal belongs to a session that is open."""

    def setUp(self) -> None:
        super().setUp()
        self.mark = mark()
        self.terminals = aio.Terminals()
        self.client = aio.Client(terminals=self.terminals)

    async def nothing_left(self) -> None:
        self.assertEqual(await left(self.mark), [])
        await until(lambda: not self.terminals._running)

    async def runs(self, count: int) -> None:
        await until(lambda: len(alive(self.mark)) == count)

    async def test_a_terminal_that_comes_with_the_end_of_its_session(self) -> None:
        for round in range(ROUNDS):
            async with raw_agent(self.client) as (peer, agent):
                session = await opened(peer, agent)
                closing = asyncio.ensure_future(session.close())
                close = await agent.until("session/close")
                messages: List[Dict[str, Any]] = [create("t", self.mark), {"id": close, "result": {}}]
                agent.send(*messages if round % 2 else reversed(messages))
                answer = (await agent.answers("t"))["t"]
                await closing
                self.assertEqual(answer["error"]["code"], libacp.ErrorCode.RESOURCE_NOT_FOUND)
                await self.nothing_left()

    async def test_a_terminal_while_its_session_is_closing(self) -> None:
        async with raw_agent(self.client) as (peer, agent):
            session = await opened(peer, agent)
            agent.send(create("before", self.mark))
            terminal = (await agent.answers("before"))["before"]["result"]["terminalId"]
            closing = asyncio.ensure_future(session.close())
            close = await agent.until("session/close")
            # It may still look at what it has, and give it back.
            params = {"sessionId": "s", "terminalId": terminal}
            agent.send(create("t", self.mark), {"id": "o", "method": "terminal/output", "params": params})
            answers = await agent.answers("t", "o")
            self.assertEqual(answers["t"]["error"]["code"], libacp.ErrorCode.RESOURCE_NOT_FOUND)
            self.assertIn("result", answers["o"])
            # A session that cannot be closed stays open.
            agent.send({"id": close, "error": {"code": 1, "message": "no"}})
            with self.assertRaises(libacp.PeerError):
                await closing
            agent.send(create("after", self.mark))
            self.assertIn("result", (await agent.answers("after"))["after"])
            await self.runs(4)
        await self.nothing_left()

    async def test_a_session_that_is_closed_by_a_request(self) -> None:
        async with raw_agent(self.client) as (peer, agent):
            await opened(peer, agent)
            agent.send(create("t", self.mark))
            await agent.answers("t")
            closing = asyncio.ensure_future(peer.request("session/close", {"sessionId": "s"}))
            await agent.answer("session/close", {})
            await closing
            await self.nothing_left()

    async def test_sessions_that_are_made_up(self) -> None:
        async with raw_agent(self.client) as (peer, agent):
            agent.send(create("1", self.mark, "none"), create("2", self.mark, "none", "/"))
            answers = list((await agent.answers("1", "2")).values())
            asking = asyncio.ensure_future(peer.new_session("/"))
            opening = await agent.until("session/new")
            agent.send(create("3", self.mark, cwd="/"), create("4", self.mark, "none", "/"))
            answers += (await agent.answers("3", "4")).values()
            agent.send({"id": opening, "result": {"sessionId": "s"}})
            await asking
            agent.send(create("5", self.mark, "none", "/"))
            answers += (await agent.answers("5")).values()
            for each in answers:
                self.assertEqual(each["error"]["code"], libacp.ErrorCode.RESOURCE_NOT_FOUND)
            self.assertEqual(alive(self.mark), [])

    async def test_a_new_session_with_the_id_of_an_open_one(self) -> None:
        async with raw_agent(self.client) as (peer, agent):
            first = await opened(peer, agent, "/usr")
            agent.send(create("t", self.mark))
            await agent.answers("t")
            with self.assertRaises(libacp.NoResult) as caught:
                await opened(peer, agent, "/etc")
            self.assertEqual((caught.exception.outcome, caught.exception.method), ("invalid", "session/new"))
            # The first one keeps what it has.
            self.assertIs(peer.sessions["s"], first)
            self.assertEqual(first.roots, ["/usr"])
            await self.runs(2)
            # By hand as well.
            asking = asyncio.ensure_future(peer.request("session/new", {"cwd": "/etc", "mcpServers": []}))
            await agent.answer("session/new", {"sessionId": "s"})
            await asking
            self.assertIs(peer.sessions["s"], first)
            closing = asyncio.ensure_future(first.close())
            await agent.answer("session/close", {})
            await closing
            await self.nothing_left()

    async def test_a_session_that_is_opened_once_more(self) -> None:
        """It stays the same object; what ran in it before ends."""
        async with raw_agent(self.client) as (peer, agent):
            first = await opened(peer, agent)
            agent.send(create("t", self.mark))
            await agent.answers("t")
            asking = asyncio.ensure_future(peer.resume_session("s", "/"))
            await agent.answer("session/resume", {})
            second = await asking
            self.assertIs(peer.sessions["s"], second)
            self.assertIs(first, second)
            await self.nothing_left()

    async def test_a_session_that_could_not_be_opened(self) -> None:
        for way in ("load", "resume", "by hand"):
            async with raw_agent(self.client) as (peer, agent):
                work: Any
                if way == "load":
                    work = peer.load_session("s", "/")._answer()
                elif way == "resume":
                    work = peer.resume_session("s", "/")
                else:
                    work = peer.request("session/load", {"sessionId": "s", "cwd": "/", "mcpServers": []})
                asking = asyncio.ensure_future(work)
                opening = await agent.until("session/resume" if way == "resume" else "session/load")
                agent.send(create("t", self.mark))
                await agent.answers("t")
                agent.send({"id": opening, "error": {"code": 1, "message": "no"}})
                with self.assertRaises(libacp.PeerError):
                    await asking
                await self.nothing_left()

    async def test_a_session_that_came_too_late(self) -> None:
        for cancelled in (True, False):
            async with raw_agent(self.client) as (peer, agent):
                if cancelled:
                    with self.assertRaises(asyncio.TimeoutError):
                        await asyncio.wait_for(peer.new_session("/"), 0.05)
                else:
                    with self.assertRaises(libacp.NoResult):
                        await peer.request("session/new", {"cwd": "/", "mcpServers": []}, timeout=0.05)
                agent.send({"id": await agent.until("session/new"), "result": {"sessionId": "s"}})
                close = await agent.until("session/close")
                agent.send(create("t", self.mark, cwd="/"), {"id": close, "result": {}})
                self.assertIn("error", (await agent.answers("t"))["t"])
                self.assertEqual(peer.sessions, {})
                await self.nothing_left()

    async def test_terminals_of_a_host_that_come_too_late(self) -> None:
        """The same for terminals that are not the ready-made ones."""
        given: List[str] = []

        class Slow(aio.Terminals):
            async def create(self, session: aio.ClientSession, params: Any) -> str:
                begun.set()
                try:
                    await gate.wait()
                except asyncio.CancelledError:
                    pass
                return "slow"

            async def release(self, session: aio.ClientSession, id: str) -> None:
                given.append(id)

        begun, gate = asyncio.Event(), asyncio.Event()
        async with raw_agent(aio.Client(terminals=Slow())) as (peer, agent):
            session = await opened(peer, agent)
            agent.send(create("t", self.mark))
            await self.in_time(begun.wait())
            closing = asyncio.ensure_future(session.close())
            await agent.answer("session/close", {})
            await closing
            gate.set()
            self.assertIn("error", (await agent.answers("t"))["t"])
            await until(lambda: given == ["slow"])


class Files(AioCase):
    async def test_files_hear_of_the_begin_and_the_end_of_a_session(self) -> None:
        told: List[Any] = []

        class Own(aio.ReadOnlyFiles):
            def begin(self, session: aio.ClientSession) -> None:
                told.append(("begin", session.roots, list(agent.seen)))

            async def end(self, session: aio.ClientSession) -> None:  # type: ignore[override]
                told.append(("end", session.roots))

        async with raw_agent(aio.Client(files=Own())) as (peer, agent):
            agent.seen.clear()
            session = await opened(peer, agent, "/usr")
            self.assertEqual(told, [("begin", ["/usr"], [])])
            closing = asyncio.ensure_future(session.close())
            await agent.answer("session/close", {})
            await closing
            self.assertEqual(told.pop(), ("end", ["/usr"]))
            # One that is not opened after all.
            asking = asyncio.ensure_future(peer.request("session/new", {"cwd": "/etc", "mcpServers": []}))
            agent.send({"id": await agent.until("session/new"), "error": {"code": 1, "message": "no"}})
            with self.assertRaises(libacp.PeerError):
                await asking
            await until(lambda: told[-1] == ("end", ["/etc"]))
            # One that is left open.
            await opened(peer, agent, "/var")
        self.assertEqual(told[-1], ("end", ["/var"]))
        self.assertEqual([each[0] for each in told], ["begin", "begin", "end", "begin", "end"])


class Ends(AioCase):
    """Each way in which a client or an agent may end, again and again."""

    async def test_the_end_of_the_block(self) -> None:
        for _ in range(ROUNDS):
            name, terminals = mark(), aio.Terminals()
            async with raw_agent(aio.Client(terminals=terminals)) as (peer, agent):
                await opened(peer, agent)
                # One that runs, and one that comes with the end.
                agent.send(create(1, name))
                await agent.answers(1)
                agent.send(create(2, name))
                await asyncio.sleep(random.random() * 0.005)
            self.assertEqual(await left(name), [])
            await until(lambda: not terminals._running)

    async def test_the_end_of_the_stream(self) -> None:
        for _ in range(ROUNDS):
            name, terminals = mark(), aio.Terminals()
            async with raw_agent(aio.Client(terminals=terminals)) as (peer, agent):
                await opened(peer, agent)
                agent.send(create(1, name))
                await agent.answers(1)
                agent.send(create(2, name))
                agent.writer.close()
                await asyncio.sleep(random.random() * 0.005)
                # The host has not left its block.
                self.assertEqual(await left(name), [])
                await until(lambda: not terminals._running)

    async def test_an_agent_that_is_killed(self) -> None:
        for round in range(ROUNDS):
            name = mark()
            agent = [sys.executable, "-S", "-E", host("runner.py")[-1], name]
            client = aio.Client(terminals=aio.Terminals())
            async with aio.spawn_agent(agent, client, grace=0.5) as peer:
                session = await peer.new_session("/")
                assert peer.process is not None
                turn = session.prompt("?")
                with self.assertRaises(aio.AgentEnded):
                    if round % 2:
                        asking = asyncio.ensure_future(turn._answer())
                        await asyncio.sleep(random.random() * 0.02)
                        peer.process.kill()
                        await asking
                    async for _ in turn:
                        # The agent is one that has the mark, too.
                        await until(lambda: len(alive(name)) == 3)
                        peer.process.kill()
                self.assertEqual(await left(name), [])

    async def test_a_client_that_a_signal_ends(self) -> None:
        signals = [signal.SIGTERM, signal.SIGHUP, signal.SIGINT]
        for first in range(0, ROUNDS, 5):
            rounds = range(first, min(first + 5, ROUNDS))
            await asyncio.gather(*(self.ended(signals[n % 3], n % 2 == 0) for n in rounds))

    async def ended(self, number: signal.Signals, settled: bool) -> None:
        name = mark()
        process = await asyncio.create_subprocess_exec(
            *host("terminal_client.py", name),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            preexec_fn=heeding_signals,
        )
        assert process.stdout is not None
        self.assertEqual(await self.in_time(process.stdout.readline()), b"asks\n")
        if settled:
            self.assertEqual(await self.in_time(process.stdout.readline()), b"runs\n")
            await until(lambda: len([pid for pid in alive(name) if pid != process.pid]) >= 3)
        else:
            await asyncio.sleep(random.random() * 0.02)
        process.send_signal(number)
        status = await self.in_time(process.wait())
        if number != signal.SIGINT:
            self.assertEqual(status, -number)
        self.assertEqual(await left(name), [], number)


if __name__ == "__main__":
    unittest.main()
