"""Streams and sockets that break during a turn, servers that stop and come again, and clients that are slow."""

import asyncio
import gc
import unittest
from typing import Any, AsyncIterator, List

from serving import Proxy, Served, free_port, serving

from libacp import aio

SECONDS = 30.0


def kinds(events: List[Any]) -> List[str]:
    return [each["event"] for each in events]


async def until(holds: Any, seconds: float = SECONDS) -> None:
    end = asyncio.get_running_loop().time() + seconds
    while not holds():
        if asyncio.get_running_loop().time() > end:
            raise AssertionError("it did not come to that")
        await asyncio.sleep(0.02)


class Broken(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self) -> None:
        asyncio.get_running_loop().set_debug(False)

    async def test_connections_that_break_during_a_turn(self) -> None:
        """All of them at once, over HTTP: the streams are opened again, and the turn goes on."""
        events: List[Any] = []
        with serving("uvicorn") as served:
            async with Proxy(served.port).running() as proxy:
                async with aio.connect(proxy.url(), on_transport=events.append) as agent:
                    session = await agent.new_session("/tmp")
                    turn = session.prompt("sleep")
                    said = []
                    async for update in turn:
                        said.append(update["content"]["text"])  # type: ignore[typeddict-item]
                        if said == ["sleeping"]:
                            proxy.kill()
                    self.assertEqual((said, turn.stop_reason), (["sleeping", "awake"], "end_turn"))
                    self.assertIn("gap", kinds(events))
                    self.assertNotIn("lost", kinds(events))
                    self.assertEqual(await session.prompt("more").read_text(), "more")

    async def test_a_socket_that_breaks_during_a_turn(self) -> None:
        """The connection is gone, and with it the turn: nobody knows what became of it. The session is loaded again."""
        events: List[Any] = []
        updates: List[Any] = []
        client = aio.Client(on_update=lambda session, update: updates.append(update))
        with serving("uvicorn") as served:
            async with Proxy(served.port).running() as proxy:
                async with aio.connect(proxy.url("ws"), client, on_transport=events.append) as agent:
                    session = await agent.new_session("/tmp")
                    await session.prompt("before")
                    updates.clear()
                    with self.assertRaises(aio.OutcomeUnknown) as raised:
                        async for _ in session.prompt("sleep"):
                            proxy.kill()
                    self.assertEqual(raised.exception.method, "session/prompt")
                    await until(lambda: "attached" in kinds(events))
                    order = [each for each in kinds(events) if each in ("connected", "lost", "retrying", "attached")]
                    self.assertEqual(order, ["connected", "lost", "retrying", "connected", "attached"])
                    # Its history was told once more, and the host has it.
                    self.assertEqual(updates, [])
                    self.assertEqual(await session.prompt("more").read_text(), "more")

    async def test_a_server_that_comes_again(self) -> None:
        """Another process has other connections: calls are lost, and the next one works."""
        for scheme in ("http", "ws"):
            with self.subTest(scheme=scheme):
                events: List[Any] = []
                served = Served("uvicorn", "ours:app", free_port())
                served.start()
                try:
                    async with aio.connect(served.url(scheme), on_transport=events.append) as agent:
                        session = await agent.new_session("/tmp")
                        turn = session.prompt("sleep")
                        with self.assertRaises(aio.OutcomeUnknown):
                            async for _ in turn:
                                served.stop(9)
                                # Until it is there again, nobody knows that it has no such connection.
                                served.start()
                        await until(lambda: kinds(events).count("connected") == 2)
                        # Nothing of it is known to the new process.
                        await until(lambda: "detached" in kinds(events))
                        again = await agent.new_session("/tmp")
                        self.assertEqual(await again.prompt("more").read_text(), "more")
                        self.assertFalse(agent.closed)
                    self.assertEqual(kinds(events)[-1], "closed")
                finally:
                    served.stop()

    async def test_a_server_that_closes_the_socket(self) -> None:
        """It says why, and what it did not take is not sent again."""
        events: List[Any] = []
        with serving("uvicorn", "ours:narrow") as served:
            async with aio.connect(served.url("ws"), on_transport=events.append) as agent:
                session = await agent.new_session("/tmp")
                with self.assertRaises(aio.OutcomeUnknown):
                    await session.prompt("x" * 5000)
                lost = [(len(each["calls"]), each.get("code")) for each in events if each["event"] == "lost"]
                self.assertEqual(lost, [(1, 1009)])
                # The agent may have forgotten its session with the connection.
                again = await agent.new_session("/tmp")
                self.assertEqual(await again.prompt("more").read_text(), "more")

    async def test_no_reconnection(self) -> None:
        events: List[Any] = []
        with serving("uvicorn") as served:
            async with Proxy(served.port).running() as proxy:
                async with aio.connect(proxy.url("ws"), on_transport=events.append, reconnect=False) as agent:
                    session = await agent.new_session("/tmp")
                    with self.assertRaises(aio.OutcomeUnknown):
                        async for _ in session.prompt("sleep"):
                            proxy.kill()
                    await asyncio.wait_for(agent.wait_closed(), SECONDS)
                    with self.assertRaises(aio.RemoteEnded) as raised:
                        await agent.new_session("/tmp")
                    self.assertEqual(raised.exception.why, "unreachable")

    async def test_a_question_whose_connection_is_lost_is_taken_back(self) -> None:
        asked: List[str] = []

        async def permit(request: aio.PermissionRequest) -> Any:
            asked.append("asked")
            proxy.kill()
            try:
                await asyncio.sleep(SECONDS)
            except asyncio.CancelledError:
                asked.append("taken back")
                raise

        with serving("uvicorn") as served:
            async with Proxy(served.port).running() as proxy:
                async with aio.connect(proxy.url("ws"), aio.Client(permission=permit)) as agent:
                    session = await agent.new_session("/tmp")
                    with self.assertRaises(aio.OutcomeUnknown):
                        await session.prompt("ask")
                    await until(lambda: asked == ["asked", "taken back"])

    async def slow(self, scheme: str, **options: Any) -> int:
        """A client that reads nothing for a while; the bytes that have come when no more came."""
        with serving("hypercorn" if options else "uvicorn") as served:
            async with Proxy(served.port).running() as proxy:
                async with aio.connect(proxy.url(scheme), **options) as agent:
                    session = await agent.new_session("/tmp")
                    turn = session.prompt("flood 40000")
                    count = come = 0
                    async for _ in turn:
                        count += 1
                        if count == 10:
                            before = -1
                            while proxy.passed != before:
                                before = proxy.passed
                                await asyncio.sleep(1)
                            come = before
                            # Others go on meanwhile.
                            async with aio.connect(served.url(scheme), **options) as other:
                                said = await (await other.new_session("/tmp")).prompt("hi").read_text()
                            self.assertEqual(said, "hi")
                    self.assertEqual(count, 40000)
                    self.assertGreater(proxy.passed, 40_000_000)
                    return come

    async def test_a_client_that_is_slow(self) -> None:
        for scheme, options in (("ws", {}), ("http", {}), ("http", {"http2": True})):
            with self.subTest(scheme=scheme, **options):
                come = await asyncio.wait_for(self.slow(scheme, **options), 90)
                # The buffers of the machine are full, and so are ours; the agent waits with the rest.
                self.assertLess(come, 25_000_000)

    async def test_nothing_is_left_behind(self) -> None:
        """Cancelled, or closed in the middle: no task, and no socket."""
        with serving("uvicorn") as served:
            for scheme in ("http", "ws"):
                with self.subTest(scheme=scheme):
                    before = asyncio.all_tasks()

                    async def work() -> None:
                        async with aio.connect(served.url(scheme)) as agent:
                            session = await agent.new_session("/tmp")
                            await session.prompt("wait")

                    for seconds in (0.0, 0.01, 0.05, 0.1, 0.3, 1.0):
                        task = asyncio.ensure_future(work())
                        await asyncio.sleep(seconds)
                        task.cancel()
                        with self.assertRaises(asyncio.CancelledError):
                            await task
                    await asyncio.sleep(0.1)
                    self.assertEqual(asyncio.all_tasks() - before, set())
                    gc.collect()

    async def test_the_server_forgets_who_has_gone(self) -> None:
        """An application in this process: after clients leave, and after one is killed, there is no agent left."""
        import ours

        from libacp.http import asgi

        app = asgi(ours.make, times={"keep_alive": 200, "idle": 500})
        async with in_process(app) as port:
            for scheme in ("http", "ws"):
                async with aio.connect(f"{scheme}://127.0.0.1:{port}/acp") as agent:
                    await agent.new_session("/tmp")
                    self.assertEqual(app.connections, 1)
                await until(lambda: app.connections == 0 and app._hub is not None and not app._hub._tasks)
            async with Proxy(port).running() as proxy:
                async with aio.connect(proxy.url(), reconnect=False) as agent:
                    await agent.new_session("/tmp")
                    proxy.refuses = True
                    proxy.kill()
                    await until(lambda: app.connections == 0 and app._hub is not None and not app._hub._tasks)


def in_process(app: Any) -> Any:
    import contextlib

    import uvicorn

    @contextlib.asynccontextmanager
    async def running() -> "AsyncIterator[int]":
        port = free_port()
        config = uvicorn.Config(app, port=port, log_level="warning", timeout_graceful_shutdown=1)
        server = uvicorn.Server(config)
        task = asyncio.ensure_future(server.serve())
        await until(lambda: server.started)
        try:
            yield port
        finally:
            server.should_exit = True
            await task

    return running()


if __name__ == "__main__":
    unittest.main()
