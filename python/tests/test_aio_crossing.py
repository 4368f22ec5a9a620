"""What crosses what: calls that are given up before they are sent, answers that say more than they should, two who wait."""

import asyncio
import os
import tempfile
import unittest
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, AsyncIterator, List, Tuple

import libacp
from aio_pair import AioCase, agent, streams, talk, until
from libacp import aio
from processes import left, mark
from raw_agent import CAPABILITIES, RawAgent, create, opened, raw_agent


class Plain:
    """A writer of the host's own: each send waits for it."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self.write, self.drain, self.close = writer.write, writer.drain, writer.close


@asynccontextmanager
async def plain_agent(client: aio.Client) -> AsyncIterator[Tuple[aio.AgentPeer, RawAgent]]:
    """The same as `raw_agent`, with such a writer."""
    (reader, writer), theirs = await streams()
    agent = RawAgent(*theirs)
    greeting = asyncio.ensure_future(
        agent.answer("initialize", {"protocolVersion": 1, "agentCapabilities": CAPABILITIES})
    )
    async with aio.connect(reader, Plain(writer), client) as peer:
        await greeting
        yield peer, agent
        theirs[1].close()


def said(session: str, text: str) -> Any:
    update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}
    return {"method": "session/update", "params": {"sessionId": session, "update": update}}


def question(id: int, session: str) -> Any:
    options = [{"optionId": "yes", "name": "Yes", "kind": "allow_once"}]
    params = {"sessionId": session, "toolCall": {"toolCallId": "t", "title": "T"}, "options": options}
    return {"id": id, "method": "session/request_permission", "params": params}


class GivenUp(AioCase):
    async def test_what_was_not_sent_leaves_nothing(self) -> None:
        async with plain_agent(aio.Client(permission=aio.allow_all)) as (peer, theirs):
            given_up = asyncio.ensure_future(peer.resume_session("s", "/work"))
            await asyncio.sleep(0)
            given_up.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await given_up
            for _ in range(2):
                resuming = asyncio.ensure_future(peer.resume_session("s", "/work"))
                await theirs.answer("session/resume", {})
                session = await self.in_time(resuming)
                theirs.send(question(7, "s"))
                answer = (await theirs.answers(7))[7]
                self.assertEqual(answer["result"]["outcome"], {"outcome": "selected", "optionId": "yes"})
                closing = asyncio.ensure_future(session.close())
                await theirs.answer("session/close", {})
                await self.in_time(closing)

    async def test_a_close_that_was_not_sent_closes_nothing(self) -> None:
        class Terminals(aio.Terminals):
            async def create(self, session: aio.ClientSession, params: Any) -> str:
                return "t-1"

            async def release(self, session: aio.ClientSession, id: str) -> None:
                pass

        async with plain_agent(aio.Client(terminals=Terminals())) as (peer, theirs):
            opening = asyncio.ensure_future(peer.new_session("/work"))
            await theirs.answer("session/new", {"sessionId": "s"})
            session = await self.in_time(opening)
            closing = asyncio.ensure_future(session.close())
            await asyncio.sleep(0)
            closing.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await closing
            theirs.send({"id": 7, "method": "terminal/create", "params": {"sessionId": "s", "command": "true"}})
            self.assertEqual((await theirs.answers(7))[7].get("result"), {"terminalId": "t-1"})

    async def test_a_prompt_for_which_two_wait_is_sent_once(self) -> None:
        async with plain_agent(aio.Client()) as (peer, theirs):
            opening = asyncio.ensure_future(peer.new_session("/work"))
            await theirs.answer("session/new", {"sessionId": "s"})
            turn = (await self.in_time(opening)).prompt("hello")

            async def wait() -> Any:
                return await turn

            both = asyncio.gather(wait(), wait())
            await theirs.answer("session/prompt", {"stopReason": "end_turn"})
            self.assertEqual(await self.in_time(both), [{"stopReason": "end_turn"}] * 2)
            self.assertEqual([each["method"] for each in theirs.seen].count("session/prompt"), 1)


class Loads(AioCase):
    async def test_the_answer_to_a_load_names_no_session(self) -> None:
        ended: List[str] = []
        client = aio.Client(on_session_end=lambda session: ended.append(session.id))
        async with raw_agent(client) as (peer, theirs):
            opening = asyncio.ensure_future(peer.new_session("/other"))
            await theirs.answer("session/new", {"sessionId": "other"})
            other = await self.in_time(opening)
            loading = asyncio.ensure_future(_loaded(peer))
            await theirs.answer("session/load", {"sessionId": "other"})
            session = await self.in_time(loading)
            self.assertEqual((session.id, session.open, other.open, ended), ("s", True, True, []))
            self.assertEqual(other.roots, ["/other"])

    async def test_the_view_of_a_session_that_is_over_does_not_show_another(self) -> None:
        async with raw_agent(aio.Client(view=True)) as (peer, theirs):
            sessions = []
            for text in ("first", "second"):
                loading = asyncio.ensure_future(_loaded(peer))
                load = await theirs.until("session/load")
                theirs.send(said("s", text), {"id": load, "result": {}})
                session = await self.in_time(loading)
                sessions.append((session, session.view))
                closing = asyncio.ensure_future(session.close())
                await theirs.answer("session/close", {})
                await self.in_time(closing)
            for (session, view), text in zip(sessions, ("first", "second")):
                self.assertIs(session.view, view)
                self.assertEqual([entry.text for entry in view.entries], [text])
                self.assertTrue(view.frozen)
                self.assertTrue(view.follow().take())

    @unittest.skipUnless(os.name == "posix", "runs a command of the system")
    async def test_a_session_that_is_loaded_once_more_has_its_new_directories_and_no_terminals(self) -> None:
        folder, name = tempfile.TemporaryDirectory(), mark()
        self.addCleanup(folder.cleanup)
        first, second = (Path(os.path.realpath(folder.name), each) for each in ("first", "second"))
        for root in (first, second):
            root.mkdir()
            (root / "file").write_text(root.name)

        async with raw_agent(aio.Client(files=aio.Files(), terminals=aio.Terminals())) as (peer, theirs):

            async def read(id: int, root: Path) -> Any:
                params = {"sessionId": "s", "path": str(root / "file")}
                theirs.send({"id": id, "method": "fs/read_text_file", "params": params})
                answer = (await theirs.answers(id))[id]
                return answer.get("result") or answer["error"]["code"]

            session = await opened(peer, theirs, str(first))
            theirs.send(create(5, name))
            await theirs.answers(5)
            self.assertEqual(await read(6, first), {"content": "first"})
            loading = asyncio.ensure_future(_loaded(peer, str(second)))
            await theirs.answer("session/load", {})
            self.assertIs(await self.in_time(loading), session)
            self.assertEqual((session.roots, await left(name)), ([str(second)], []))
            self.assertEqual((await read(7, second), await read(8, first)), ({"content": "second"}, -32602))


async def _loaded(peer: aio.AgentPeer, cwd: str = "/work") -> aio.ClientSession:
    return await peer.load_session("s", cwd)


class Named(AioCase):
    async def test_a_session_that_is_opened_when_nobody_waits_for_it_any_more_is_closed(self) -> None:
        asked: List[str] = []

        async def permission(request: aio.PermissionRequest) -> None:
            asked.append(request.session.id)

        async with raw_agent(aio.Client(permission=permission)) as (peer, theirs):
            opening = asyncio.ensure_future(peer.new_session("/work"))
            id = await theirs.until("session/new")
            opening.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await opening
            self.assertEqual((await theirs.next())["method"], "$/cancel_request")
            # It asks in the name of the session before it knows that this is given back.
            theirs.send({"id": id, "result": {"sessionId": "s"}}, question(7, "s"))
            both = [await theirs.next() for _ in range(2)]
            (close,) = [each for each in both if each.get("method") == "session/close"]
            (answer,) = [each for each in both if "method" not in each]
            self.assertEqual((close["params"], answer["id"], "error" in answer), ({"sessionId": "s"}, 7, True))
            theirs.send({"id": close["id"], "result": {}})
            self.assertEqual((asked, peer.sessions), ([], {}))

    @unittest.skipUnless(os.name == "posix", "runs a command of the system")
    async def test_a_new_session_with_the_name_of_an_open_one_is_none(self) -> None:
        name = mark()
        async with raw_agent(aio.Client(terminals=aio.Terminals())) as (peer, theirs):
            session = await opened(peer, theirs, "/")
            theirs.send(create(5, name))
            await theirs.answers(5)
            opening = asyncio.ensure_future(peer.new_session("/tmp"))
            await theirs.answer("session/new", {"sessionId": "s"})
            with self.assertRaises(libacp.NoResult) as caught:
                await self.in_time(opening)
            self.assertEqual(caught.exception.outcome, "invalid")
            self.assertIs(peer.sessions["s"], session)
            self.assertEqual((session.open, session.cwd, len(await left(name, 0.2))), (True, "/", 2))


class Agents(AioCase):
    async def test_a_cancelled_prompt_ends_as_cancelled_however_its_handler_ends(self) -> None:
        begun = asyncio.Event()

        async def answer(turn: aio.Turn) -> Any:
            begun.set()
            try:
                await asyncio.sleep(600)
            except asyncio.CancelledError:
                if turn.text == "refuse":
                    raise aio.RequestError(-32001, "in the middle of it") from None
                if turn.text == "fail":
                    raise ValueError("in the middle of it") from None
                return 5
            return None

        wrong: List[str] = []
        tested = agent(prompt=answer)
        tested.on_error = lambda method, problem: wrong.append(type(problem).__name__)
        async with talk(tested) as peer:
            session = await peer.new_session("/work")
            for text in ("refuse", "fail", "return"):
                begun.clear()
                prompt = asyncio.ensure_future(_ended(session.prompt(text)))
                await begun.wait()
                # As a client cancels a request, and not the turn.
                id = peer.connection.pending[0].id
                assert id is not None
                peer.connection.cancel(id)
                peer._wire.dispatch()
                self.assertEqual(await self.in_time(prompt), {"stopReason": "cancelled"}, text)
        self.assertEqual(wrong, ["ValueError"])

    async def test_a_session_that_is_replaced_has_ended(self) -> None:
        ended: List[aio.AgentSession] = []

        async def load(session: aio.AgentSession) -> None:
            loaded.append(session)

        loaded: List[aio.AgentSession] = []
        tested = agent(prompt=lambda turn: None, load_session=load)
        tested.on_session_end = ended.append
        async with talk(tested) as peer:
            for _ in range(2):
                await peer.load_session("s", "/work")
            await until(lambda: ended)
            self.assertEqual((len(loaded), ended), (2, loaded[:1]))
        self.assertEqual(ended, loaded)


async def _ended(turn: aio.PromptTurn) -> Any:
    return await turn


if __name__ == "__main__":
    unittest.main()
