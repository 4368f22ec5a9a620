"""Hosts that do what they should not: threads, forks, exits, calls out of calls, values that nobody expects.

Nothing here may crash, hang, or leave a connection that lies about what it has sent. Programs that end in odd ways run as
child processes; their output is what they are judged by.
"""

import copy
import gc
import json
import os
import pickle
import subprocess
import sys
import threading
import time
import unittest
from typing import Any, Callable, Dict, List

import libacp
from pair import line, ready, with_session

SECONDS = 60.0


def program(code: str) -> "subprocess.CompletedProcess[str]":
    """Runs a program that has the module and a connection with a session."""
    here = os.path.dirname(os.path.abspath(__file__))
    head = f"import sys; sys.path.insert(0, {here!r})" + """
import os, threading, libacp
from pair import line, ready, with_session
# Reading it takes long, and is done without the GIL.
BIG = b'{"jsonrpc":"2.0","method":"_x/big","params":{"items":[' + b"[1]," * 2_000_000 + b'0]}}\\n'
"""
    command = [sys.executable, "-X", "faulthandler", "-W", "ignore::DeprecationWarning", "-B", "-c", head + code]
    return subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)


class Threads(unittest.TestCase):
    def test_a_connection_that_all_threads_use_at_once(self) -> None:
        agent = with_session().agent
        agent.data_to_send()
        small, big = line("_x/y", {"a": 1}), line("_x/big", {"items": list(range(30_000))})
        sent: List[bytes] = []
        accepted: List[str] = []
        seen: List[libacp.Event] = []
        refused: List[str] = []
        wrong: List[BaseException] = []
        deadline = time.monotonic() + 1.5

        def ask(number: int) -> None:
            accepted.append(json.dumps(agent.request("_x/ask", {"n": number})))

        def tell(number: int) -> None:
            agent.notify("_x/tell", {"n": number})
            accepted.append("-")

        def take(number: int) -> None:
            event = agent.next_event()
            if event is not None:
                seen.append(event)

        def cancel(number: int) -> None:
            for request in agent.pending[:1]:
                agent.cancel(request.id or 0)

        work: "List[Callable[[int], Any]]" = [
            ask,
            tell,
            take,
            cancel,
            lambda number: agent.receive_data(big if number % 50 == 0 else small),
            lambda number: sent.append(agent.data_to_send()),
            lambda number: (agent.snapshot(), agent.phase, agent.sessions, repr(agent)),
            lambda number: agent.handle_timeout(number),
        ]

        def hammer(start: int) -> None:
            number = start
            while time.monotonic() < deadline:
                number += 1
                try:
                    work[number % len(work)](number)
                except RuntimeError as error:
                    refused.append(str(error))
                except libacp.LimitMisuse:
                    pass
                except BaseException as failure:
                    wrong.append(failure)
                    return

        old = sys.getswitchinterval()
        sys.setswitchinterval(1e-5)
        threads = [threading.Thread(target=hammer, args=(start,), daemon=True) for start in range(8)]
        try:
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(SECONDS)
        finally:
            sys.setswitchinterval(old)
        self.assertFalse(any(thread.is_alive() for thread in threads))
        self.assertEqual(wrong, [])
        self.assertTrue(all("in use by another thread" in message for message in refused), set(refused))
        seen.extend(agent.events())
        sent.append(agent.data_to_send())
        # What was accepted was sent, whole, once; the pieces are in no order, as nobody has ordered the writing.
        messages = [json.loads(text) for piece in sent for text in piece.splitlines()]
        asked = [json.dumps(message["id"]) for message in messages if message["method"] == "_x/ask"]
        told = [message for message in messages if message["method"] == "_x/tell"]
        self.assertEqual(sorted(asked), sorted(id for id in accepted if id != "-"))
        self.assertEqual(len(told), accepted.count("-"))
        self.assertTrue(all(isinstance(event, (libacp.Notification, libacp.Response)) for event in seen))
        self.assertGreater(len(seen), 100)
        self.assertEqual(agent.phase, "ready")

    def test_one_iterator_that_all_threads_take_from(self) -> None:
        agent = ready().agent
        for number in range(2_000):
            agent.receive_data(line("_x/y", {"n": number}))
        events, seen = agent.events(), []

        def take() -> None:
            while True:
                try:
                    for event in events:
                        seen.append(event)
                    return
                except RuntimeError:
                    pass

        threads = [threading.Thread(target=take, daemon=True) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(SECONDS)
        numbers = [event.params["n"] for event in seen if isinstance(event, libacp.Notification)]
        self.assertEqual(sorted(numbers), list(range(2_000)))

    def test_deep_values_in_a_thread_with_a_small_stack(self) -> None:
        deep: Any = None
        for _ in range(120):
            deep = [deep]
        pair = ready()
        done: List[Any] = []
        old = threading.stack_size(256 * 1024)
        try:
            thread = threading.Thread(target=lambda: done.append(pair.call(pair.client, "_x/y", {"a": deep}, {})))
            thread.start()
            thread.join(SECONDS)
        finally:
            threading.stack_size(old)
        self.assertEqual(done[0][0].params, {"a": deep})


class Reentrancy(unittest.TestCase):
    def test_a_loop_over_events_may_do_anything_with_the_connection(self) -> None:
        pair = with_session()
        agent = pair.agent
        agent.receive_data(line("_x/y", {"round": 0}))
        rounds = 0
        for event in agent.events():
            if isinstance(event, libacp.Notification):
                rounds += 1
                agent.notify("_x/seen", event.params)
                if rounds < 10:
                    agent.receive_data(line("_x/y", {"round": rounds}))
                else:
                    agent.close()
                list(agent.events())[1:]
                agent.receive_data(line("_x/y", {}))
        self.assertGreaterEqual(rounds, 1)
        self.assertEqual(len(agent.data_to_send().splitlines()), rounds)

    def test_the_collector_may_call_back_at_any_time(self) -> None:
        pair = with_session()
        outcomes: List[str] = []

        def collected(phase: str, info: Dict[str, int]) -> None:
            try:
                pair.agent.next_event()
                pair.agent.notify("_x/from_gc", {})
                outcomes.append("done")
            except RuntimeError:
                outcomes.append("refused")

        thresholds = gc.get_threshold()
        gc.callbacks.append(collected)
        try:
            gc.set_threshold(3)
            for number in range(100):
                try:
                    pair.agent.receive_data(line("_x/y", {"a": [{}, [], {"b": [number]}]}))
                    for event in pair.agent.events():
                        json.dumps(event.params)  # type: ignore[union-attr]
                    pair.agent.snapshot()
                    pair.agent.pending
                    pair.agent.sessions
                    pair.agent.notify("_x/own", {"a": [{"b": [[]]} for _ in range(10)]})
                except RuntimeError as error:
                    self.assertIn("in use", str(error))
        finally:
            gc.callbacks.remove(collected)
            gc.set_threshold(*thresholds)
        self.assertGreater(outcomes.count("done"), 3)
        for text in pair.agent.data_to_send().splitlines():
            json.loads(text)

    def test_values_that_change_while_they_are_written(self) -> None:
        client = ready().client
        looks = 0

        class Key(str):
            """Looked up by Python code, which changes what is being written."""

            def __hash__(self) -> int:
                nonlocal looks
                looks += changing
                if changing and looks % 3 == 0:
                    more[f"new{looks}"] = {}
                    items.pop()
                elif changing and looks % 3 == 1:
                    items.append({self: 4})
                    more.pop(f"new{looks - 1}", None)
                return str.__hash__(self)

        changing = False
        items: List[Any] = [{Key("a"): 1, Key("b"): [2]} for _ in range(50)]
        more: Dict[str, Any] = {Key(number): {Key("c"): 3} for number in range(50)}
        changing = True
        for _ in range(20):
            client.notify("_x/y", {"list": items, "more": more})
        self.assertGreater(looks, 1_000)
        written = client.data_to_send().splitlines()
        self.assertEqual([json.loads(text)["method"] for text in written], ["_x/y"] * 20)


class Odd(unittest.TestCase):
    def test_values_that_json_does_not_have(self) -> None:
        client = ready().client
        ring: List[Any] = []
        ring.append((ring,))

        class Hostile(dict):  # type: ignore[type-arg]
            def items(self) -> Any:
                raise ZeroDivisionError

            __len__ = __iter__ = __getitem__ = items  # type: ignore[assignment]

        class Number(int):
            def __repr__(self) -> str:
                return "}, no number"

            __str__ = __index__ = __repr__  # type: ignore[assignment]

        class Real(float):
            def __repr__(self) -> str:
                return "}, no number"

        for params in (ring, {"a": float("nan")}, {"a": {(1, 2): 3}}, {b"a": 1}, {"a": ...}):
            with self.assertRaises(libacp.Misuse):
                client.notify("_x/y", params)  # type: ignore[arg-type]
        self.assertEqual(client.data_to_send(), b"")
        client.notify("_x/y", Hostile(a=[Number(7), Real(0.5), Number(2**70)]))
        self.assertIn(b'"params":{"a":[7,0.5,1180591620717411303424]}', client.data_to_send())

    def test_arguments_out_of_all_bounds(self) -> None:
        pair = ready()
        client = pair.client
        huge = 10**40
        wrong: "List[Callable[[], Any]]" = [
            lambda: client.consume(-1),
            lambda: client.consume(huge),
            lambda: client.transmit(-1),
            lambda: client.transmit(huge),
            lambda: client.pace(0),
            lambda: client.pace(-1),
            lambda: client.pace(huge),
            lambda: client.keep(object()),  # type: ignore[arg-type]
            lambda: client.take(-1, False),
            lambda: client.take(huge, False),
            lambda: client.served(None),  # type: ignore[arg-type]
            lambda: client.handle_timeout(-1),
            lambda: client.handle_timeout(huge),
            lambda: client.handle_timeout(float("nan")),  # type: ignore[arg-type]
            lambda: client.request("_x/y", timeout=-1),
            lambda: client.request("_x/y", timeout=huge),
            lambda: client.request("_x/y", id=huge),
            lambda: client.request("_x/y", id=float("inf")),  # type: ignore[arg-type]
            lambda: client.request(b"_x/y"),  # type: ignore[arg-type]
            lambda: client.request(None),  # type: ignore[arg-type]
            lambda: client.respond([], {}),  # type: ignore[arg-type]
            lambda: client.cancel(object()),  # type: ignore[arg-type]
            lambda: client.respond_error(1, huge, "x"),
            lambda: client.receive_data("text"),  # type: ignore[arg-type]
            lambda: client.receive_data(None),  # type: ignore[arg-type]
            lambda: client.session(huge),  # type: ignore[arg-type]
            lambda: libacp.Limits(frame=-1),
            lambda: libacp.Limits(depth=huge),
            lambda: libacp.Connection("client", timeout=huge),
            lambda: libacp.Connection("client", timeout=-1),
            lambda: libacp.Connection("client", drafts="x" * 100_000),
            lambda: libacp.Connection("\ud800"),  # type: ignore[arg-type]
            lambda: libacp.cut_output("text", -1),
            lambda: libacp.cut_output("\ud800", 1),
        ]
        for number, call in enumerate(wrong):
            with self.subTest(number), self.assertRaises((TypeError, ValueError, OverflowError, libacp.Misuse)):
                call()
        self.assertEqual((client.data_to_send(), client.phase), (b"", "ready"))
        self.assertEqual(pair.call(client, "_x/y", {}, {"ok": True})[1].result(), {"ok": True})

    def test_what_stands_for_the_outside_world_is_not_copied(self) -> None:
        connection = ready().client
        for attempt in (copy.copy, copy.deepcopy, pickle.dumps):
            with self.assertRaises(TypeError):
                attempt(connection)
        with self.assertRaises(TypeError):
            type("Own", (libacp.Connection,), {})
        with self.assertRaises(TypeError):
            libacp.Connection.__new__(libacp.Connection)  # type: ignore[call-arg]
        with self.assertRaises(AttributeError):
            connection.phase = "ready"  # type: ignore[misc]

    def test_bytes_of_memory_that_is_gone_or_odd(self) -> None:
        agent = ready().agent
        array = bytearray(line("_x/y", {}))
        view = memoryview(array)
        agent.receive_data(view[::-1][::-1])
        view.release()
        with self.assertRaises(ValueError):
            agent.receive_data(view)
        array.clear()
        self.assertEqual(len(list(agent.events())), 1)
        agent.receive_data(memoryview(line("_x/y", {})).cast("B"))
        self.assertEqual(len(list(agent.events())), 1)


class Ends(unittest.TestCase):
    """Programs that end, or divide, while connections are open."""

    def ends(self, code: str, output: str, status: int = 0) -> None:
        done = program(code)
        self.assertEqual((done.returncode, done.stdout), (status, output), done.stderr)
        # What Python says of tasks that were left alone is no failure of ours.
        self.assertTrue(status or done.stderr == "", done.stderr)
        self.assertNotRegex(done.stderr, "(?i)fatal|panic")

    def test_with_open_connections(self) -> None:
        self.ends(
            """
pair = with_session()
pair.agent.receive_data(line("_x/y", {}) * 100)
events = pair.agent.events()
kept = next(events)
pair.ring = [pair, events, kept]
class Last:
    def __del__(self):
        print(pair.agent.phase, kept.params, len(list(events)))
pair.last = Last()
libacp.kept = pair  # as long as the module
""",
            "ready {} 99\n",
        )

    def test_in_the_middle_of_a_call_without_the_gil(self) -> None:
        # The work takes seconds; the program is over before it is done, and the thread never comes back.
        self.ends(
            """
agent = ready().agent
agent.receive_data(BIG)
threading.Thread(target=agent.next_event, daemon=True).start()
while True:
    try:
        agent.phase
    except RuntimeError:
        break
print("busy")
""",
            "busy\n",
        )

    def test_with_an_agent_that_serves(self) -> None:
        code = """
import asyncio, socket
from libacp import aio
async def all_of(turn):
    return [update async for update in turn]
async def main(ready):
    ours, theirs = socket.socketpair()
    agent = aio.Agent("ends", "1")
    agent.prompt(lambda turn: asyncio.sleep(1000))
    serving = asyncio.ensure_future(agent.serve(*await asyncio.open_connection(sock=theirs)))
    async with aio.connect(*await asyncio.open_connection(sock=ours)) as peer:
        session = await peer.new_session("/")
        turn = session.prompt("?")
        waiting = asyncio.ensure_future(all_of(turn))
        await asyncio.sleep(0.05)
        ready()
        %s
"""
        # A thread that is not waited for, and an exit out of the middle of the loop.
        daemon = "begun = threading.Event()\nthreading.Thread(target=lambda: asyncio.run(main(begun.set)), daemon=True).start()\nbegun.wait(30)\nprint('on')\n"
        self.ends(code % "await asyncio.sleep(1000)" + daemon, "on\n")
        self.ends(code % "raise SystemExit(3)" + "asyncio.run(main(lambda: print('on', flush=True)))\n", "on\n", 3)

    @unittest.skipUnless(hasattr(os, "fork"), "needs fork")
    def test_a_fork_divides_the_connection(self) -> None:
        self.ends(
            """
pair = with_session()
pair.client.notify("_x/before", {})
child = os.fork()
pair.client.notify("_x/child" if child == 0 else "_x/parent", {})
seen = [event.method for event in pair.pump(pair.client)]
print(seen, flush=True)
if child == 0:
    pair.client.close()
    sys.exit(0)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) if hasattr(os, "waitstatus_to_exitcode") else 0, flush=False)
pair.call(pair.client, "_x/y", {}, {})
print(pair.client.phase)
""".replace("print(seen, flush=True)", "if child: os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)\nprint(seen, flush=True)"),
            "['_x/before', '_x/child']\n['_x/before', '_x/parent']\n0\nready\n",
        )

    @unittest.skipUnless(hasattr(os, "fork"), "needs fork")
    def test_a_fork_while_another_thread_is_inside(self) -> None:
        # In the child nobody will ever leave the connection: it is refused there, and not waited for.
        self.ends(
            """
agent = ready().agent
agent.receive_data(BIG)
seen = []
thread = threading.Thread(target=lambda: seen.append(agent.next_event()))
thread.start()
while True:
    try:
        agent.phase
    except RuntimeError:
        child = os.fork()
        break
if child == 0:
    try:
        agent.phase
    except RuntimeError as error:
        print("child:", "in use" in str(error), flush=True)
    os._exit(0)
os.waitpid(child, 0)
thread.join()
print(seen[0].method, agent.phase)
""",
            "child: True\n_x/big ready\n",
        )


if __name__ == "__main__":
    unittest.main()
