"""Threads, and what a peer's garbage may do."""

import random
import sys
import threading
import time
import unittest

import libacp
from pair import line, ready, with_session


class Threads(unittest.TestCase):
    def test_use_by_two_threads_is_refused_and_changes_nothing(self) -> None:
        agent = ready().agent
        # Small messages in one long frame: reading it takes long, and is done without the GIL.
        big = line("_x/big", {"items": [{"n": n, "text": "é\\"} for n in range(200_000)]})
        refused = 0
        for _ in range(20):
            agent.receive_data(big)
            seen: "list[object]" = []
            reader = threading.Thread(target=lambda: seen.append(agent.next_event()))
            reader.start()
            while reader.is_alive():
                try:
                    agent.phase
                except RuntimeError as error:
                    self.assertIn("in use by another thread", str(error))
                    refused += 1
            reader.join()
            self.assertIsInstance(seen[0], libacp.Notification)
            if refused:
                break
        self.assertGreater(refused, 0)
        self.assertEqual(agent.phase, "ready")

    def test_long_work_leaves_the_gil_to_others(self) -> None:
        agent = ready().agent
        big = line("_x/big", {"items": [[n] for n in range(3_000_000)]})
        # On a busy machine the other thread may not get a processor in time. Without the release it never does.
        for _ in range(20):
            beats, seconds = self.beats(agent, big)
            if beats > 2:
                break
        self.assertGreater(beats, 2, f"{beats} beats in {seconds:.3f} s")

    def beats(self, agent: libacp.Connection, message: bytes) -> "tuple[int, float]":
        """How often another thread runs while a message is read, and how long that takes."""
        agent.receive_data(message)
        old = sys.getswitchinterval()
        # Without the release, the main thread would hold the GIL for the whole call, whatever the interval.
        sys.setswitchinterval(0.0005)
        stamps: "list[float]" = []
        stop = threading.Event()

        def beat() -> None:
            while not stop.is_set():
                stamps.append(time.perf_counter())
                time.sleep(0.0005)

        beater = threading.Thread(target=beat)
        beater.start()
        try:
            start = time.perf_counter()
            event = agent.next_event()
            end = time.perf_counter()
        finally:
            stop.set()
            beater.join()
            sys.setswitchinterval(old)
        self.assertIsInstance(event, libacp.Notification)
        return sum(start + 0.001 < stamp < end - 0.001 for stamp in stamps), end - start

    def test_a_connection_may_move_between_threads(self) -> None:
        pair = with_session()
        failures: "list[BaseException]" = []

        def work() -> None:
            try:
                pair.call(pair.client, "_x/y", {}, {})
            except BaseException as failure:
                failures.append(failure)

        for _ in range(5):
            thread = threading.Thread(target=work)
            thread.start()
            thread.join()
        self.assertEqual(failures, [])


class Garbage(unittest.TestCase):
    def test_nothing_that_a_peer_sends_raises(self) -> None:
        chance = random.Random(20)
        content = {"type": "text", "text": "x"}
        update = {"sessionId": "s-1", "update": {"sessionUpdate": "agent_message_chunk", "content": content}}
        seeds = [
            line("session/update", update),
            line("session/prompt", {"sessionId": "s-1", "prompt": [content]}, 3),
            line("fs/read_text_file", {"sessionId": "s-1", "path": "/a", "line": 1}, "x"),
            b'{"jsonrpc":"2.0","id":1,"result":{}}\n',
            b'{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m"}}\n',
            b"[1,2,3]\n",
            b"Content-Length: 5\r\n\r\n{}",
        ]
        events = 0
        pair = with_session()
        for side in (pair.client, pair.agent):
            for _ in range(3000):
                data = bytearray(chance.choice(seeds))
                for _ in range(chance.randrange(4)):
                    data[chance.randrange(len(data))] = chance.randrange(256)
                side.receive_data(data)
                for event in side.events():
                    events += 1
                    repr(event)
                    if isinstance(event, (libacp.Request, libacp.Notification)):
                        event.params
                side.data_to_send()
        self.assertGreater(events, 3000)


if __name__ == "__main__":
    unittest.main()
