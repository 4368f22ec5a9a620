"""Cancelling: at every step of everything that waits, from either side."""

import asyncio
import contextlib
import os
import tempfile
import unittest
from typing import Any, Dict, List

import libacp
from aio_pair import AioCase, agent, talk, texts, until, updates
from libacp import aio


class Watched(aio.Terminals):
    """Terminals that can be counted."""

    @property
    def running(self) -> int:
        return len(self._running)


class Undecided:
    """A user who never says yes or no, until nobody asks any more."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()
        self.left = asyncio.Event()

    async def __call__(self, request: aio.PermissionRequest) -> None:
        self.asked.set()
        try:
            await asyncio.sleep(600)
        except asyncio.CancelledError:
            self.left.set()
            raise


async def work(turn: aio.Turn) -> None:
    """Waits in every way that a turn can."""
    folder = turn.session.cwd
    await turn.plan(["a"])
    async with turn.tool_call("Ask", status="pending") as call:
        await turn.ask_permission(call)
        await call.text("asked")
    await turn.write_text_file(f"{folder}/out", "text")
    await turn.read_text_file(f"{folder}/out")
    async with turn.terminal("true") as terminal:
        async with turn.tool_call("Run") as call:
            await call.show(terminal)
            await terminal.wait()
            await terminal.output()
    await turn.message("done")


def balanced(seen: List[Dict[str, Any]]) -> bool:
    """Whether every tool call has an end."""
    begun = [each["toolCallId"] for each in seen if each["sessionUpdate"] == "tool_call"]
    ended = [each["toolCallId"] for each in seen if each.get("status") in ("completed", "failed")]
    return sorted(begun) == sorted(ended)


async def steps(number: int, task: "asyncio.Future[Any]") -> bool:
    """Lets everything run for some rounds of the loop; whether the task still does."""
    for _ in range(number):
        if task.done():
            return False
        await asyncio.sleep(0)
    return not task.done()


class EveryAwait(AioCase):
    async def test_of_the_client(self) -> None:
        """The task that opens a session and prompts is cancelled after 0, 1, 2 ... rounds, until it gets through."""
        terminals = Watched()
        client = aio.Client(permission=aio.allow_all, files=aio.Files(), terminals=terminals)

        async def say(turn: aio.Turn) -> None:
            await (work(turn) if turn.text == "work" else turn.message("fine"))

        with tempfile.TemporaryDirectory() as folder:
            async with talk(agent(prompt=say), client) as peer:
                ready = await peer.new_session(os.path.realpath(folder))

                async def conversation() -> None:
                    session = await peer.new_session(os.path.realpath(folder))
                    await updates(session.prompt("work"))
                    await session.close()

                rounds, cancelled, alive = 0, 0, True
                while alive:
                    task = asyncio.ensure_future(conversation())
                    alive = await steps(rounds, task)
                    task.cancel()
                    try:
                        await task
                    except asyncio.CancelledError:
                        cancelled += 1
                    # Whatever was going on, the connection goes on.
                    self.assertEqual(texts(await self.in_time(updates(ready.prompt("?")))), "fine", rounds)
                    await until(lambda: not peer.connection.pending and not peer.connection.unanswered)
                    await until(lambda: not terminals.running and not peer.connection.open_terminals)
                    rounds += 1 if rounds < 100 else 5
        self.assertGreater(cancelled, 30)
        self.assertEqual([line for line in self.log if "ERROR" in line], [])

    async def test_of_the_agent(self) -> None:
        """The turn is cancelled by the client after 0, 1, 2 ... rounds, until it gets through."""
        ends: List[str] = []
        terminals = Watched()
        client = aio.Client(permission=aio.allow_all, files=aio.Files(), terminals=terminals)
        with tempfile.TemporaryDirectory() as folder:
            async with talk(agent(prompt=work), client) as peer:
                session = await peer.new_session(os.path.realpath(folder))
                rounds, alive = 0, True
                while alive:
                    turn = session.prompt("work")
                    task = asyncio.ensure_future(updates(turn))
                    alive = await steps(rounds, task)
                    await turn.cancel()
                    seen = await self.in_time(task)
                    assert turn.stop_reason is not None
                    ends.append(turn.stop_reason)
                    self.assertTrue(balanced(seen), (rounds, seen))
                    await until(lambda: not terminals.running and not peer.connection.open_terminals)
                    rounds += 1 if rounds < 100 else 5
        self.assertGreater(ends.count("cancelled"), 30)
        self.assertEqual(ends[-1], "end_turn")
        self.assertEqual([line for line in self.log if "advice: CANCEL-01" not in line], [])


class Requests(AioCase):
    async def test_a_request_that_is_cancelled_is_cancelled_at_the_peer(self) -> None:
        seen: List[str] = []

        async def nothing(turn: aio.Turn) -> None:
            pass

        tested = agent(prompt=nothing)

        @tested.on_extension("_acme/slow")
        async def slow(client: Any, params: Any) -> None:
            seen.append("begun")
            try:
                await asyncio.sleep(600)
            finally:
                seen.append("cancelled")

        async with talk(tested) as peer:
            task = asyncio.ensure_future(peer.request("_acme/slow"))
            await until(lambda: seen)
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task
            await until(lambda: len(seen) == 2 and not peer.connection.pending)
        self.assertEqual(self.log, [])

    async def test_a_question_that_is_given_up_is_taken_back(self) -> None:
        user = Undecided()

        async def ask(turn: aio.Turn) -> None:
            asking = asyncio.ensure_future(turn.ask_permission({"toolCallId": "t"}))
            await user.asked.wait()
            asking.cancel()
            await asyncio.wait([asking])
            await turn.message("given up")

        async with talk(agent(prompt=ask), aio.Client(permission=user)) as peer:
            self.assertEqual(texts(await updates((await peer.new_session("/")).prompt("?"))), "given up")
            await self.in_time(user.left.wait())

    async def test_a_cancelled_turn_ends_its_questions_by_the_rule(self) -> None:
        user = Undecided()

        async def ask(turn: aio.Turn) -> None:
            await turn.ask_permission({"toolCallId": "t"})

        async with talk(agent(prompt=ask), aio.Client(permission=user)) as peer:
            session = await peer.new_session("/")
            turn = session.prompt("?")
            task = asyncio.ensure_future(updates(turn))
            await user.asked.wait()
            await session.cancel()
            await self.in_time(task)
            self.assertEqual(turn.stop_reason, "cancelled")
            self.assertTrue(user.left.is_set())
        # Neither side had anything to say to that: no cancel of a request that was answered, no second answer.
        self.assertEqual(self.log, [])


class Turns(AioCase):
    async def test_the_ways_to_leave_a_turn(self) -> None:
        ended: List[bool] = []
        running = asyncio.Event()

        async def wait(turn: aio.Turn) -> None:
            await turn.message("begun")
            if turn.text == "quick":
                return
            running.set()
            try:
                await asyncio.sleep(600)
            finally:
                ended.append(turn.cancelled)

        async def leaves_early(turn: aio.PromptTurn) -> None:
            async for _ in turn:
                break

        async def leaves_its_block(turn: aio.PromptTurn) -> None:
            async with turn:
                async for _ in turn:
                    return

        async def raises(turn: aio.PromptTurn) -> None:
            async for _ in turn:
                raise KeyError

        async def is_cancelled(turn: aio.PromptTurn) -> None:
            await cancelled_later(asyncio.ensure_future(updates(turn)))

        async def is_cancelled_waiting(turn: aio.PromptTurn) -> None:
            async def wait_for_it() -> None:
                await turn

            await cancelled_later(asyncio.ensure_future(wait_for_it()))

        async def cancelled_later(task: "asyncio.Future[Any]") -> None:
            await running.wait()
            task.cancel()
            await asyncio.wait([task])
            self.assertTrue(task.cancelled())

        ways = (leaves_early, leaves_its_block, raises, is_cancelled, is_cancelled_waiting)
        async with talk(agent(prompt=wait)) as peer:
            session = await peer.new_session("/")
            for number, way in enumerate(ways, 1):
                running.clear()
                turn = session.prompt("wait")
                with contextlib.suppress(KeyError):
                    await self.in_time(way(turn))
                # The next prompt waits for the end of this turn.
                self.assertEqual(texts(await self.in_time(updates(session.prompt("quick")))), "begun", way)
                self.assertEqual((ended, turn.stop_reason), ([True] * number, "cancelled"), way)
        self.assertEqual(self.log, [])

    async def test_a_turn_that_is_cancelled_goes_on_to_its_end(self) -> None:
        async def tidy(turn: aio.Turn) -> str:
            await turn.message("1")
            try:
                await asyncio.sleep(600)
            except asyncio.CancelledError:
                # It is cancelled once, whatever the client sends, and has its time.
                for _ in range(5):
                    await asyncio.sleep(0.01)
                await turn.message("2")
            return "end_turn"

        async with talk(agent(prompt=tidy)) as peer:
            session = await peer.new_session("/")
            turn = session.prompt("?")
            said = []
            async for update in turn:
                said.append(texts([update]))
                if len(said) == 1:
                    await turn.cancel()
                    await turn.cancel()
            self.assertEqual((said, turn.stop_reason), (["1", "2"], "cancelled"))

    async def test_cancelling_one_session_leaves_the_others(self) -> None:
        begun: List[aio.Turn] = []
        gate = asyncio.Event()

        async def wait(turn: aio.Turn) -> None:
            begun.append(turn)
            await gate.wait()

        async with talk(agent(prompt=wait)) as peer:
            sessions = [await peer.new_session("/") for _ in range(3)]
            turns = [session.prompt("?") for session in sessions]
            tasks = [asyncio.ensure_future(updates(turn)) for turn in turns]
            await until(lambda: len(begun) == 3)
            await sessions[1].cancel()
            await self.in_time(tasks[1])
            gate.set()
            await self.in_time(asyncio.gather(*tasks))
            self.assertEqual([turn.stop_reason for turn in turns], ["end_turn", "cancelled", "end_turn"])

    async def test_closing_a_session_ends_its_turn_first(self) -> None:
        order: List[str] = []

        async def wait(turn: aio.Turn) -> None:
            await turn.message("begun")
            try:
                await asyncio.sleep(600)
            finally:
                await turn.message("cleaned up")
                order.append("turn")

        tested = agent(prompt=wait)

        @tested.on("session/close")
        async def close(session: aio.AgentSession, params: Any) -> None:
            order.append("session")

        async with talk(tested) as peer:
            session = await peer.new_session("/")
            turn = session.prompt("?")
            seen = []
            closing = None
            async for update in turn:
                seen.append(update)
                closing = closing or asyncio.ensure_future(session.close())
            assert closing is not None
            await self.in_time(closing)
            self.assertEqual((texts(seen), turn.stop_reason), ("beguncleaned up", "cancelled"))
        self.assertEqual(order, ["turn", "session"])
        self.assertEqual(self.log, [])

    async def test_a_second_prompt_is_refused_while_one_runs(self) -> None:
        refused = asyncio.Event()

        async def wait(turn: aio.Turn) -> None:
            await turn.message("begun")
            await refused.wait()

        async with talk(agent(prompt=wait)) as peer:
            session = await peer.new_session("/")
            turn = session.prompt("?")
            async for _ in turn:
                with self.assertRaises(libacp.PhaseMisuse) as caught:
                    await session.prompt("!")
                self.assertEqual(caught.exception.rule, "TURN-03")
                refused.set()
            self.assertEqual(turn.stop_reason, "end_turn")
            with self.assertRaises(RuntimeError):
                await updates(turn)


if __name__ == "__main__":
    unittest.main()
