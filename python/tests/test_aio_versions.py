"""Agents and clients in either version: the same programs, and what differs is what the protocol has differently."""

import asyncio
from contextlib import asynccontextmanager
from typing import Any, AsyncIterator, Dict, List, Optional, Tuple

import libacp
from aio_pair import AioCase, streams, talk, until, updates
from hosts.program import MODES, Program
from libacp import aio

# Who speaks what, and what they agree on.
PAIRS: List[Tuple[Tuple[int, ...], Tuple[int, ...], int]] = [
    ((1,), (1,), 1),
    ((2,), (2,), 2),
    ((1, 2), (1, 2), 2),
    ((1,), (1, 2), 1),
    ((2,), (1, 2), 2),
    ((1, 2), (1,), 1),
    ((1, 2), (2,), 2),
]


class Seen:
    """What a client has noticed."""

    def __init__(self, versions: Tuple[int, ...], **options: Any) -> None:
        self.wrong: List[Any] = []
        self.asked: List[aio.PermissionRequest] = []
        self.between: List[Any] = []
        self.client = aio.Client(
            "seen",
            "4",
            versions=versions,
            view=True,
            permission=options.pop("permission", self.permit),
            on_update=lambda session, update: self.between.append(update),
            on_violation=self.wrong.append,
            on_advice=self.wrong.append,
            **options,
        )

    def permit(self, request: aio.PermissionRequest) -> Any:
        self.asked.append(request)
        return request.allow()


class VersionsCase(AioCase):
    @asynccontextmanager
    async def pair(
        self, ours: Tuple[int, ...] = (1,), theirs: Optional[Tuple[int, ...]] = None, **options: Any
    ) -> AsyncIterator[Tuple[Program, Seen, aio.AgentPeer]]:
        """The program and a client; in the end, neither has broken a rule, nor been told to do better."""
        program, seen = Program(versions=theirs or ours), Seen(ours, **options)
        async with talk(program.agent, seen.client) as peer:
            yield program, seen, peer
        mistakes = [each for each in program.seen if isinstance(each, (libacp.Violation, libacp.Advice))]
        self.assertEqual((mistakes, seen.wrong), ([], []))

    async def both(self, test: Any) -> List[Any]:
        """The test in each version; what it gives."""
        found = []
        for version in (1, 2):
            with self.subTest(version=version):
                async with self.pair((version,)) as (program, seen, peer):
                    self.assertEqual((peer.version, peer.connection.version), (version, version))
                    found.append(await self.in_time(test(program, seen, peer)))
        return found


class Agreed(VersionsCase):
    async def test_each_pair_agrees_and_talks(self) -> None:
        for theirs, ours, agreed in PAIRS:
            with self.subTest(agent=theirs, client=ours):
                async with self.pair(ours, theirs) as (program, seen, peer):
                    self.assertEqual(peer.version, agreed)
                    self.assertEqual((peer.info["name"], peer.info["version"]), ("program", "3"))
                    self.assertTrue(peer.capabilities["loadSession"])
                    session = await peer.new_session("/work")
                    turn = session.prompt("refusal")
                    self.assertEqual(await self.in_time(turn.read_text()), "refusal?")
                    self.assertEqual(turn.stop_reason, "refusal")
                    self.assertEqual(turn.message_id is not None, agreed == 2)

    async def test_nothing_in_common(self) -> None:
        for theirs, ours in [((1,), (2,)), ((2,), (1,))]:
            with self.subTest(agent=theirs, client=ours):
                reader, writer = await streams()
                serving = asyncio.ensure_future(Program(versions=theirs).agent.serve(*writer))
                with self.assertRaises((libacp.PeerError, libacp.NoResult)):
                    async with aio.connect(*reader, Seen(ours).client):
                        pass
                await self.in_time(serving)

    async def test_what_the_peers_know_of_each_other(self) -> None:
        async def look(program: Program, seen: Seen, peer: aio.AgentPeer) -> Any:
            known: List[Any] = []

            @program.agent.on("initialize")
            async def greet(client: aio.ClientPeer, params: Any) -> Any:
                known.append((client.info, client.version))

            return peer.greeting["agentInfo"]

        self.assertEqual(await self.both(look), [{"name": "program", "version": "3"}] * 2)

    async def test_an_unknown_version(self) -> None:
        for host in (aio.Agent, aio.Client):
            with self.assertRaisesRegex(ValueError, "version 3"):
                host("a", "1", versions=[3])


class Turns(VersionsCase):
    async def test_everything_that_a_turn_does(self) -> None:
        async def work(program: Program, seen: Seen, peer: aio.AgentPeer) -> Any:
            session = await peer.new_session("/work")
            turn = session.prompt("work")
            await updates(turn)
            self.assertEqual(turn.stop_reason, "end_turn")
            (asked,) = seen.asked
            self.assertEqual((asked.title, asked.tool_call["toolCallId"], asked.session), ("Write a", "w", session))
            self.assertEqual(program.seen, [])
            return drawn(session)

        one, two = await self.both(work)
        self.assertEqual(one, two)
        self.assertEqual([each[0] for each in one["entries"]], ["user", "plan", "thought", "w", "l", "agent"])
        self.assertEqual(one["entries"][-1], ("agent", "Done."))

    async def test_a_turn_that_is_cancelled(self) -> None:
        async def cancel(program: Program, seen: Seen, peer: aio.AgentPeer) -> Any:
            session = await peer.new_session("/work")
            turn, said = session.prompt("wait"), []
            async for update in turn:
                if update["sessionUpdate"] == "agent_message_chunk":
                    said.append(update["content"])
                    await turn.cancel()
            self.assertEqual([each["text"] for each in said], ["waiting", ", cleaned up"])  # type: ignore[typeddict-item]
            self.assertEqual(turn.stop_reason, "cancelled")
            # Leaving the loop is enough, and the next prompt has its own end.
            async for update in session.prompt("wait"):
                if update["sessionUpdate"] == "agent_message_chunk":
                    break
            again = session.prompt("max_tokens")
            self.assertEqual(await again.read_text(), "max_tokens?")
            return again.stop_reason

        self.assertEqual(await self.both(cancel), ["max_tokens"] * 2)

    async def test_a_question_ends_with_its_turn(self) -> None:
        async def ask(program: Program, seen: Seen, peer: aio.AgentPeer) -> None:
            ended: List[str] = []

            async def never(request: aio.PermissionRequest) -> None:
                seen.asked.append(request)
                try:
                    await asyncio.sleep(600)
                except asyncio.CancelledError:
                    ended.append(request.title)
                    raise

            seen.client.permission = never
            session = await peer.new_session("/work")
            turn = session.prompt("ask")
            running = asyncio.ensure_future(updates(turn))
            await until(lambda: seen.asked)
            await turn.cancel()
            await running
            self.assertEqual((turn.stop_reason, ended), ("cancelled", ["Run"]))

        await self.both(ask)

    async def test_errors_of_handlers(self) -> None:
        async def fail(program: Program, seen: Seen, peer: aio.AgentPeer) -> Any:
            session, errors = await peer.new_session("/work"), []
            for what in ("fail", "break"):
                turn = session.prompt(what)
                with self.assertRaises(libacp.PeerError) as caught:
                    await updates(turn)
                errors.append((caught.exception.code, caught.exception.message, caught.exception.data))
                self.assertIsNone(turn.stop_reason)
            self.assertEqual(await session.prompt("refusal").read_text(), "refusal?")
            return errors

        one, two = await self.both(fail)
        self.assertEqual(one, two)
        self.assertEqual(one, [(-32050, "No paper", {"tray": 2}), (-32603, "Internal error", None)])

    async def test_two_sessions_at_once(self) -> None:
        async def both(program: Program, seen: Seen, peer: aio.AgentPeer) -> Any:
            sessions = [await peer.new_session("/a"), await peer.new_session("/b")]
            reading = [asyncio.ensure_future(each.prompt("go").read_text()) for each in sessions]
            await until(lambda: all("begins" in str(drawn(each)) for each in sessions))
            program.go.set()
            return await asyncio.gather(*reading)

        self.assertEqual(await self.both(both), [["/a begins, ends", "/b begins, ends"]] * 2)

    async def test_a_second_prompt_waits_in_version_2(self) -> None:
        async with self.pair((2,)) as (program, seen, peer):
            session = await peer.new_session("/a")
            first, second = session.prompt("go"), session.prompt("refusal")
            reading = [asyncio.ensure_future(each.read_text()) for each in (first, second)]
            await until(lambda: "begins" in str(drawn(session)))
            self.assertFalse(any(each.done() for each in reading))
            program.go.set()
            found = await self.in_time(asyncio.gather(*reading))
            self.assertEqual(found, ["/a begins, ends", "refusal?"])
            self.assertEqual((first.stop_reason, second.stop_reason), ("end_turn", "refusal"))
            self.assertNotEqual(first.message_id, second.message_id)

    async def test_the_connection_ends_in_a_turn(self) -> None:
        async def end(program: Program, seen: Seen, peer: aio.AgentPeer) -> None:
            session = await peer.new_session("/a")
            turn = session.prompt("go")
            with self.assertRaises(libacp.NoResult) as caught:
                async for update in turn:
                    if update["sessionUpdate"] == "agent_message_chunk":
                        peer.connection.receive_eof()
                        peer._wire.dispatch()
            self.assertEqual(caught.exception.outcome, "closed")

        await self.both(end)


class Sessions(VersionsCase):
    async def test_loading_replays(self) -> None:
        async def load(program: Program, seen: Seen, peer: aio.AgentPeer) -> Any:
            loading = peer.load_session("old", "/old")
            kinds = [each["sessionUpdate"] async for each in loading]
            session = await loading
            self.assertIs(session, peer.sessions["old"])
            self.assertEqual([each for each in kinds if each.endswith("_chunk")], ["user_message_chunk", "agent_message_chunk"])
            self.assertEqual(await session.prompt("refusal").read_text(), "refusal?")
            return session.result["modes"], drawn(session)

        one, two = await self.both(load)
        self.assertEqual(one, two)
        self.assertEqual(one[0], MODES)

    async def test_listing_resuming_closing(self) -> None:
        async def list(program: Program, seen: Seen, peer: aio.AgentPeer) -> Any:
            session = await peer.new_session("/work")
            await session.close()
            self.assertFalse(session.open)
            return [each async for each in peer.list_sessions()]

        one, two = await self.both(list)
        self.assertEqual(one, two)
        self.assertEqual(one[0]["title"], "An old one")

    async def test_closing_ends_the_turn(self) -> None:
        async def close(program: Program, seen: Seen, peer: aio.AgentPeer) -> Any:
            session = await peer.new_session("/work")
            turn = session.prompt("wait")
            reading = asyncio.ensure_future(turn.read_text())
            await until(lambda: "waiting" in str(drawn(session)))
            await session.close()
            self.assertEqual(await reading, "waiting, cleaned up")
            return turn.stop_reason

        self.assertEqual(await self.both(close), ["cancelled"] * 2)

    async def test_modes(self) -> None:
        async def modes(program: Program, seen: Seen, peer: aio.AgentPeer) -> Any:
            session = await peer.new_session("/work")
            self.assertEqual(session.result["modes"], MODES)
            await session.set_mode("code")
            self.assertEqual(program.seen, [("mode", "code")])
            await session.prompt("mode")
            await until(lambda: session.view.modes is not None and session.view.modes["currentModeId"] == "code")
            return session.view.modes

        one, two = await self.both(modes)
        self.assertEqual(one, two)

    async def test_commands_follow_the_new_session(self) -> None:
        async def commands(program: Program, seen: Seen, peer: aio.AgentPeer) -> Any:
            session = await peer.new_session("/work")
            await until(lambda: session.view.commands)
            return [each["name"] for each in session.view.commands or ()]

        self.assertEqual(await self.both(commands), [["plan"]] * 2)


def drawn(session: aio.ClientSession) -> Dict[str, Any]:
    """What the view of a session shows, without what is made up for each."""
    seen = session.view
    entries: List[Any] = []
    for each in seen.entries:
        entry: Any = each
        if each.type == "message":
            entries.append((entry.role, entry.text))
        elif each.type == "tool_call":
            content = [shown(item) for item in entry.content]
            entries.append((entry.id, entry.title, entry.kind, entry.status, entry.locations, content))
        elif each.type == "plan":
            entries.append(("plan", entry.plan))
        else:
            entries.append((each.type, entry))
    return {"entries": entries, "state": seen.state, "stop": seen.stop_reason, "modes": seen.modes}


def shown(item: Any) -> Any:
    """An item of a tool call's content; a diff by the file that it changes."""
    if item["type"] == "diff":
        return "diff", item.get("path") or [each["path"] for each in item["changes"]][0]
    return item


if __name__ == "__main__":
    import unittest

    unittest.main()
