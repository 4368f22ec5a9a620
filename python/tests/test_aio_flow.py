"""Slow readers and fast writers: what waits in memory is bounded, and nothing stands still that could go on."""

import asyncio
import contextlib
import gc
import json
import socket
import time
import tracemalloc
import unittest
import weakref
from typing import Any, Dict, List, Tuple

import libacp
from aio_pair import AioCase, agent, host, streams, talk, texts, until, updates
from libacp import aio

# What a client asks to get to its first turn.
CALLS: "List[Tuple[str, Dict[str, Any]]]" = [
    ("initialize", {"protocolVersion": 1}),
    ("session/new", {"cwd": "/", "mcpServers": []}),
    ("session/prompt", {"prompt": []}),
]
PIECE = "x" * 500
# What may be on its way through the kernel, the streams and the transports, beside what waits in iterators.
ON_THE_WAY = 3_000_000


async def still(what: Any) -> int:
    """The value of a counter, once it no longer grows."""
    last = -1
    while last != what():
        last = what()
        await asyncio.sleep(0.2)
    return last


class Slow(AioCase):
    async def test_a_slow_client_holds_the_agent_back(self) -> None:
        sent = [0]

        async def flood(turn: aio.Turn) -> None:
            for number in range(8_000):
                await turn.message(f"{number} {PIECE}")
                sent[0] = number + 1

        async with talk(agent(prompt=flood)) as peer:
            session = await peer.new_session("/")
            turn = session.prompt("?")
            expected = 0
            async for update in turn:
                self.assertEqual(texts([update]), f"{expected} {PIECE}")
                expected += 1
                if expected == 100:
                    # Nobody reads on; so the agent gets no further than what fits in between.
                    ahead = await self.in_time(still(lambda: sent[0])) - expected
                    self.assertLess(ahead * 600, ON_THE_WAY)
                    self.assertLess(peer.connection.buffered, 200_000)
                    self.assertLessEqual(len(turn._items), 256)
            self.assertEqual(expected, 8_000)

    async def test_chunks_are_merged_while_a_client_is_slow_to_read(self) -> None:
        async def flood(turn: aio.Turn) -> None:
            for number in range(8_000):
                await turn.message(f"{number} {PIECE}")

        tested = agent(prompt=flood)
        tested.merge_chunks = True
        async with talk(tested) as peer:
            session = await peer.new_session("/")
            seen: List[Any] = []
            async for update in session.prompt("?"):
                seen.append(update)
                if len(seen) == 100:
                    await asyncio.sleep(0.2)
        self.assertEqual(texts(seen), "".join(f"{number} {PIECE}" for number in range(8_000)))
        self.assertLess(len(seen), 8_000)
        self.assertLessEqual(max(len(texts([each])) for each in seen), 16 * 1024)

    async def test_a_flood_is_never_all_in_memory(self) -> None:
        """100 MB from a process that has never heard of waiting."""
        tracemalloc.start()
        self.addCleanup(tracemalloc.stop)
        seen = 0
        async with aio.spawn_agent(host("hostile.py", "floods"), grace=0.1) as peer:
            session = await peer.new_session("/")
            async for update in session.prompt("?"):
                seen += 1
                if seen == 2_000:
                    await asyncio.sleep(0.5)
                if seen == 8_000:
                    break
            _, peak = tracemalloc.get_traced_memory()
        self.assertEqual(seen, 8_000)
        self.assertLess(peak, ON_THE_WAY)

    async def test_the_last_words_of_an_agent_are_heard_by_a_slow_client(self) -> None:
        """Its process is gone, and cannot be written to, long before all that it has said is read."""
        seen: List[Any] = []
        async with aio.spawn_agent(host("hostile.py", "bursts")) as peer:
            session = await peer.new_session("/")
            assert peer.process is not None
            with self.assertRaises(aio.AgentEnded):
                async for update in session.prompt("?"):
                    seen.append(update)
                    if len(seen) == 1:
                        await until(lambda: peer.process is not None and peer.process.returncode is not None)
                        for _ in range(4):
                            await peer.notify("_acme/hello")
                            await asyncio.sleep(0.4)
        self.assertEqual(texts(seen), "hello" + "".join(f"{number} " for number in range(600)))

    async def test_the_body_of_a_loop_may_ask_the_agent(self) -> None:
        """The answer is behind more updates than are let in otherwise."""

        async def flood(turn: aio.Turn) -> None:
            for number in range(1_500):
                await turn.message(f"{number} {PIECE}")
            gate.set()
            await turn.client.request("_acme/done")

        tested = agent(prompt=flood)
        gate = asyncio.Event()

        @tested.on_extension("_acme/ask")
        async def ask(client: Any, params: Any) -> Dict[str, str]:
            await gate.wait()
            return {"it": "said"}

        client = aio.Client()

        @client.on_extension("_acme/done")
        async def done(peer: Any, params: Any) -> None:
            pass

        async with talk(tested, client) as peer:
            session = await peer.new_session("/")
            seen = 0
            async for _ in session.prompt("?"):
                if seen == 0:
                    self.assertEqual(await self.in_time(peer.request("_acme/ask")), {"it": "said"})
                seen += 1
        self.assertEqual(seen, 1_500)

    async def test_a_slow_agent_holds_the_client_back(self) -> None:
        """The agent's process sleeps in its prompt and reads nothing."""
        sent = 0

        async def tell() -> None:
            nonlocal sent
            while True:
                await peer.notify("_acme/tell", {"text": "x" * 10_000})
                sent += 1

        async with aio.spawn_agent(host("hostile.py", "closes"), grace=0.1) as peer:
            session = await peer.new_session("/")
            turn = session.prompt("?")
            async for _ in turn:
                telling = [asyncio.ensure_future(tell()) for _ in range(5)]
                before = await self.in_time(still(lambda: sent))
                self.assertLess(before * 10_000, 1_000_000)
                transport = peer.process.stdin.transport  # type: ignore[union-attr]
                # The transport's own limit, and one message.
                self.assertLess(transport.get_write_buffer_size(), 64 * 1024 + 11_000)
                for each in telling:
                    each.cancel()
                await asyncio.wait(telling)
                # What was cancelled while it waited has not been sent.
                self.assertEqual(sent, before)
                break

    async def test_answers_that_nobody_reads_stop_the_reading(self) -> None:
        async def nothing(turn: aio.Turn) -> None:
            pass

        ours, theirs = await streams()
        serving = asyncio.ensure_future(agent(prompt=nothing).serve(*theirs))
        bad = b'{"jsonrpc":"2.0","id":"' + b"i" * 100 + b'","method":"none"}\n'
        written = 0

        async def write() -> None:
            nonlocal written
            while True:
                ours[1].write(bad * 100)
                written += len(bad) * 100
                await ours[1].drain()

        writing = asyncio.ensure_future(write())
        stuck = await self.in_time(still(lambda: written))
        self.assertLess(stuck, 3 * ON_THE_WAY)
        writing.cancel()
        # Once somebody reads, everything is answered.
        ours[1].write_eof()
        answers = 0
        while line := await self.in_time(ours[0].readline()):
            answers += json.loads(line)["error"]["code"] == -32600 or 1
        self.assertGreaterEqual(answers * len(bad), stuck)
        ours[1].close()
        await self.in_time(serving)

    async def test_handlers_of_notifications_keep_order_and_hold_the_peer_back(self) -> None:
        handled: List[int] = []
        gate = asyncio.Event()
        tested = agent(prompt=lambda turn: turn.message("?"))

        @tested.on_extension("_acme/tell")
        async def tell(client: Any, params: Any) -> None:
            await gate.wait()
            handled.append(params["number"])

        sent = 0

        async def tell_all() -> None:
            nonlocal sent
            for number in range(8_000):
                await peer.notify("_acme/tell", {"number": number, "text": PIECE})
                sent += 1

        async with talk(tested) as peer:
            telling = asyncio.ensure_future(tell_all())
            self.assertLess(await self.in_time(still(lambda: sent)) * 560, ON_THE_WAY)
            gate.set()
            await self.in_time(telling)
            await until(lambda: len(handled) == 8_000)
            self.assertEqual(handled, list(range(8_000)))

    async def test_a_busy_turn_hears_that_it_is_cancelled(self) -> None:
        """Sending never keeps the loop for itself, also when everything goes out at once."""

        async def chatter(turn: aio.Turn) -> None:
            while True:
                await turn.message(".")

        async with talk(agent(prompt=chatter)) as peer:
            session = await peer.new_session("/")
            turn = session.prompt("?")
            begun = time.monotonic()
            count = 0
            async for _ in turn:
                count += 1
                if count == 10:
                    await turn.cancel()
            self.assertEqual(turn.stop_reason, "cancelled")
            self.assertLess(time.monotonic() - begun, 5)


class Sending(AioCase):
    async def test_what_is_sent_is_written_before_the_handler_goes_on(self) -> None:
        """A handler that works on without a pause is heard all the same."""
        heard: List[bytes] = []
        others = [0]
        ours, theirs = socket.socketpair()

        async def work(turn: aio.Turn) -> None:
            begun = others[0]
            for number in range(200):
                await turn.message(f"<{number}>")
                heard.append(ours.recv(1000))
            others.append(others[0] - begun)

        async def count() -> None:
            while True:
                others[0] += 1
                await asyncio.sleep(0)

        counting = asyncio.ensure_future(count())
        serving = asyncio.ensure_future(agent(prompt=work).serve(*await asyncio.open_connection(sock=theirs)))
        ours.setblocking(False)
        session = ""
        for id, (method, params) in enumerate(CALLS):
            given = {**params, "sessionId": session} if session else params
            ours.send(json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": given}).encode() + b"\n")
            answer = b""
            while not answer.endswith(b"}\n"):
                await asyncio.sleep(0.001)
                with contextlib.suppress(BlockingIOError):
                    answer += ours.recv(10_000)
            session = json.loads(answer)["result"].get("sessionId", session)
        for number, each in enumerate(heard):
            self.assertEqual(texts([json.loads(each)["params"]["update"]]), f"<{number}>")
        # But not alone.
        self.assertEqual(len(heard), 200)
        self.assertGreaterEqual(others[1], 3)
        ours.close()
        await self.in_time(serving)
        counting.cancel()

    async def test_each_request_has_its_own_time(self) -> None:
        tested = agent(prompt=lambda turn: turn.message("?"))

        @tested.on_extension("_acme/slow")
        async def slow(client: Any, params: Any) -> None:
            await asyncio.sleep(params["seconds"])

        ended: List[float] = []

        async def ask(timeout: float, seconds: float = 600) -> None:
            try:
                await peer.request("_acme/slow", {"seconds": seconds}, timeout=timeout)
            except libacp.NoResult as problem:
                self.assertEqual(problem.outcome, "timeout")
                ended.append(timeout)

        async with talk(tested) as peer:
            begun = time.monotonic()
            # Answered in time, on a busy machine too; later than the one before it; earlier.
            await self.in_time(asyncio.gather(ask(1, 0), ask(2.5), ask(2), ask(1.5)))
            self.assertGreaterEqual(time.monotonic() - begun, 2.5)
            await self.in_time(ask(0.1))
        self.assertEqual(ended, [1.5, 2, 2.5, 0.1])


class Kept(AioCase):
    async def test_nothing_is_kept_of_what_is_over(self) -> None:
        seen: List[Any] = []

        async def work(turn: aio.Turn) -> None:
            seen.append(weakref.ref(turn))
            async with turn.tool_call("Look") as call:
                await call.text("x")
            await turn.ask_permission({"toolCallId": "t"})
            await turn.client.request("_acme/here")
            await turn.message("done")

        client = aio.Client()

        @client.on_extension("_acme/here")
        async def here(peer: Any, params: Any) -> None:
            pass

        async with talk(agent(prompt=work), client) as peer:
            session = await peer.new_session("/")
            for number in range(50):
                turn = session.prompt("?")
                seen.append(weakref.ref(turn))
                if number % 3 == 0:
                    async for _ in turn:
                        break
                else:
                    await updates(turn)
            await session.prompt("?")
            del turn
            await until(lambda: not peer.connection.pending)
            gc.collect()
            alive = [each for each in seen if each() is not None]
            self.assertLessEqual(len(alive), 2)
            self.assertEqual((len(peer._jobs), len(peer._hooks._waiting), len(peer._wire._calls)), (0, 0, 0))


class Interleaved(AioCase):
    async def test_a_session_that_nobody_looks_at_costs_the_others_nothing_for_long(self) -> None:
        """Two sessions on one pipe: the one that is only awaited is not in the way of the one that is read slowly."""

        async def say(turn: aio.Turn) -> None:
            for number in range(1_000):
                await turn.message(f"{turn.text}{number} ")

        async with talk(agent(prompt=say)) as peer:
            one, two = await peer.new_session("/"), await peer.new_session("/")
            awaited = asyncio.ensure_future(two.prompt("b"))
            seen = await self.in_time(updates(one.prompt("a")))
            self.assertEqual(texts(seen), "".join(f"a{number} " for number in range(1_000)))
            self.assertEqual(await self.in_time(awaited), {"stopReason": "end_turn"})


    async def test_a_session_that_is_not_read_on_leaves_room_for_the_others(self) -> None:
        async def say(turn: aio.Turn) -> None:
            for number in range(int(turn.text)):
                await turn.message(f"{number} ")

        async with talk(agent(prompt=say)) as peer:
            one, two = await peer.new_session("/"), await peer.new_session("/")
            waiting = one.prompt("250")
            async for _ in waiting:
                # More than half of what may wait is here, and stays.
                await until(lambda: len(waiting._items) == 249)
                self.assertEqual(len(await self.in_time(updates(two.prompt("1000")))), 1_000)
                break


if __name__ == "__main__":
    unittest.main()
