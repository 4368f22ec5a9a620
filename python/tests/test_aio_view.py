"""The view of a session in `libacp.aio`, and the loop over its changes."""

import asyncio
from typing import Any, List

import libacp
from aio_pair import AioCase, agent, talk, until
from libacp import aio, view


def viewing(**options: Any) -> aio.Client:
    return aio.Client("viewing", view=True, **options)


class Said(List[str]):
    """What the messages of a session have said, as somebody who follows it has it."""

    def take(self, changes: view.Changes) -> None:
        self.extend(changes.added(each) for each in changes.entries if isinstance(each, view.Message))


async def follow(session: aio.ClientSession, said: Said) -> None:
    async for changes in session.changes():
        said.take(changes)


class Views(AioCase):
    async def test_only_where_it_is_wanted(self) -> None:
        async def answer(turn: aio.Turn) -> None:
            await turn.message("Yes")

        async with talk(agent(prompt=answer)) as peer:
            session = await peer.new_session("/")
            for use in (lambda: session.view, session.changes, session.forget_view):
                with self.assertRaisesRegex(RuntimeError, "view=True"):
                    use()
            self.assertEqual(peer.connection.views, [])

    async def test_a_turn(self) -> None:
        async def answer(turn: aio.Turn) -> None:
            async with turn.tool_call("Dig") as call:
                await call.text("deep")
            await turn.message("Good ")
            await turn.message("morning")

        async with talk(agent(prompt=answer), viewing()) as peer:
            session = await peer.new_session("/")
            other = await peer.new_session("/")
            seen = session.view
            self.assertEqual((seen.entries, seen.state), ((), "idle"))
            # However the updates are received.
            await session.prompt("Hello")
            async for _ in session.prompt("Hello"):
                pass
            self.assertIs(session.view, seen)
            kinds = ["message", "tool_call", "message"] * 2
            self.assertEqual([each.type for each in seen.entries], kinds)
            self.assertEqual((seen.stop_reason, seen.turn, other.view.entries), ("end_turn", 2, ()))
        self.assertEqual([each.type for each in seen.entries], kinds)

    async def test_a_replay_is_followed(self) -> None:
        tested = agent(prompt=lambda turn: None)

        @tested.load_session
        async def load(session: aio.AgentSession) -> None:
            for word in ("Good ", "morning"):
                await session.update({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": word}})

        async with talk(tested, viewing()) as peer:
            loading = peer.load_session("old", "/")
            said = Said()
            following = asyncio.ensure_future(follow(loading.session, said))
            session = await loading
            await until(lambda: "".join(said) == "Good morning")
            self.assertIsInstance(session.view.entries[0], view.Message)
            self.assertFalse(session.view.replaying or following.done())
            await session.close()
            await self.in_time(following)
            self.assertTrue(session.view.frozen)
            self.assertTrue(session.forget_view())
            self.assertEqual((session.forget_view(), len(session.view.entries)), (False, 1))


class Following(AioCase):
    async def test_what_changes_while_the_body_is_busy_is_one(self) -> None:
        count = 2000

        async def answer(turn: aio.Turn) -> None:
            for number in range(count):
                await turn.message(f"{number} ")

        async with talk(agent(prompt=answer), viewing()) as peer:
            session = await peer.new_session("/")
            said, steps = Said(), 0
            turn = asyncio.ensure_future(_wait(session.prompt("Count")))
            async for changes in session.changes():
                said.take(changes)
                steps += 1
                if "".join(said).endswith(f" {count - 1} "):
                    break
                # Nobody holds up the agent, and nothing waits here.
                await asyncio.sleep(0.05)
            await turn
            self.assertEqual("".join(said), "Count" + "".join(f"{number} " for number in range(count)))
            self.assertLess(steps, 100)
            self.assertEqual(peer._wire.watchers, [])

    async def test_the_loop_ends_with_the_session(self) -> None:
        async with talk(agent(prompt=lambda turn: None), viewing()) as peer:
            session, other = await peer.new_session("/"), await peer.new_session("/")
            ends = [asyncio.ensure_future(follow(each, Said())) for each in (session, session, other)]
            await session.prompt("Hello")
            await session.close()
            await self.in_time(asyncio.wait(ends[:2]))
            self.assertEqual([each.exception() for each in ends[:2]], [None, None])
            self.assertFalse(ends[2].done())
            # There is all that was, and that it is over.
            told = [changes async for changes in session.changes()]
            self.assertEqual([len(each.entries) for each in told], [1])
            self.assertIn("frozen", told[0].names)
        await self.in_time(ends[2])

    async def test_the_loop_ends_with_a_load_that_fails(self) -> None:
        tested = agent(prompt=lambda turn: None)

        @tested.load_session
        async def load(session: aio.AgentSession) -> None:
            if session.id == "half":
                await session.update({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "a"}})
            raise aio.RequestError(-32000, "no")

        async with talk(tested, viewing()) as peer:
            for id in ("none", "half"):
                loading = peer.load_session(id, "/")
                following = asyncio.ensure_future(follow(loading.session, Said()))
                with self.assertRaises(libacp.PeerError):
                    await loading
                await self.in_time(following)
                seen = loading.session.view
                self.assertEqual((seen.entries, seen.replaying, seen.frozen), ((), False, True), id)

    async def test_the_loop_ends_with_the_connection(self) -> None:
        async def answer(turn: aio.Turn) -> None:
            await turn.message("last words")
            peer.connection.receive_eof()

        async with talk(agent(prompt=answer), viewing()) as peer:
            session = await peer.new_session("/")
            said = Said()
            following = asyncio.ensure_future(follow(session, said))
            with self.assertRaises(libacp.NoResult):
                await session.prompt("Hello")
            await self.in_time(following)
            self.assertIn("Hello", said)
        self.assertEqual([len(each.entries) > 0 async for each in session.changes()], [True])

    async def test_whoever_leaves_costs_nothing(self) -> None:
        async def answer(turn: aio.Turn) -> None:
            await turn.message("Yes")

        async with talk(agent(prompt=answer), viewing()) as peer:
            session = await peer.new_session("/")
            await session.prompt("Hello")
            async for changes in session.changes():
                break
            said = Said()
            following = asyncio.ensure_future(follow(session, said))
            await until(lambda: peer._wire.watchers)
            following.cancel()
            await asyncio.wait([following])
            self.assertTrue(following.cancelled())
            self.assertEqual(peer._wire.watchers, [])
            # The loop can go on where it was.
            steps = session.changes()
            await steps.__anext__()
            with self.assertRaises(asyncio.TimeoutError):
                await asyncio.wait_for(steps.__anext__(), 0.01)
            await session.prompt("Again")
            changes = await steps.__anext__()
            self.assertEqual([changes.added(each) for each in changes.entries if isinstance(each, view.Message)], ["Again", "Yes"])

    async def test_one_loop_is_for_one_task(self) -> None:
        async with talk(agent(prompt=lambda turn: None), viewing()) as peer:
            session = await peer.new_session("/")
            steps = session.changes()
            self.assertTrue((await steps.__anext__()).reset)
            first = asyncio.ensure_future(_next(steps))
            await until(lambda: peer._wire.watchers)
            with self.assertRaisesRegex(RuntimeError, "another task"):
                await steps.__anext__()
            await session.prompt("Hello")
            self.assertEqual(len((await self.in_time(first)).entries), 1)

    async def test_nothing_is_asked_or_answered_before_it_is_seen(self) -> None:
        """What comes before a question, or before the end of a turn, has been handed on by then."""
        said = Said()
        heard: List[str] = []

        async def answer(turn: aio.Turn) -> None:
            for number in range(3):
                async with turn.tool_call(f"Dig {number}") as call:
                    await turn.message(f"asks {number} ")
                    await call.ask_permission()
            await turn.message("done")

        async def permit(request: aio.PermissionRequest) -> Any:
            heard.append("".join(said))
            return request.allow()

        async with talk(agent(prompt=answer), viewing(permission=permit)) as peer:
            session = await peer.new_session("/")
            following = asyncio.ensure_future(follow(session, said))
            await until(lambda: peer._wire.watchers)
            for _ in range(2):
                said.clear()
                await session.prompt("Go ")
                self.assertEqual("".join(said), "Go asks 0 asks 1 asks 2 done")
            self.assertEqual(heard[:3], ["Go asks 0 ", "Go asks 0 asks 1 ", "Go asks 0 asks 1 asks 2 "])
        await self.in_time(following)


async def _wait(turn: aio.PromptTurn) -> None:
    await turn


async def _next(steps: Any) -> Any:
    return await steps.__anext__()


if __name__ == "__main__":
    import unittest

    unittest.main()
