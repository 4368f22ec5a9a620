"""What makes hosts shorter: titles of permissions, ends of sessions, output while it is printed, files of any client."""

import asyncio
import tempfile
import unittest
from pathlib import Path
from typing import Any, List, Optional

from aio_pair import AioCase, agent, streams, talk, texts, until, updates
from libacp import aio
from libacp.types import v1


class Comforts(AioCase):
    async def test_a_permission_has_the_title_of_its_tool_call(self) -> None:
        seen: List[str] = []

        async def permit(request: aio.PermissionRequest) -> Optional[str]:
            seen.append(request.title)
            return request.allow()

        async def ask(turn: aio.Turn) -> None:
            options: List[v1.PermissionOption] = [{"optionId": "yes", "name": "Yes", "kind": "allow_once"}]
            async with turn.tool_call("Known before", id="a"):
                for call in ("a", "b"):
                    await turn.ask_permission({"toolCallId": call}, options)
                await turn.ask_permission({"toolCallId": "a", "title": "Named"}, options)

        async with talk(agent(prompt=ask), aio.Client(permission=permit)) as peer:
            await (await peer.new_session("/")).prompt("")
        self.assertEqual(seen, ["Known before", "b", "Named"])

    async def test_a_permission_may_come_with_the_whole_tool_call(self) -> None:
        seen: List[Any] = []

        async def permit(request: aio.PermissionRequest) -> Optional[str]:
            seen.append(request.tool_call)
            return request.allow()

        async def ask(turn: aio.Turn) -> None:
            given: Any = {"kind": "edit", "locations": ["/a"], "raw_input": {"old": 1}, "meta": {"m": 1}}
            async with turn.tool_call("Edit", id="a", status="pending", **given) as call:
                await call.ask_permission()
                await call.diff("/a", "new", "old")
                await call.update(title="Edit twice", raw_input={"new": 2})
                await call.ask_permission(whole=True)

        async with talk(agent(prompt=ask), aio.Client(permission=permit)) as peer:
            await (await peer.new_session("/")).prompt("")
        short, whole = seen
        self.assertEqual(short, {"toolCallId": "a", "title": "Edit"})
        self.assertEqual(
            whole,
            {
                "toolCallId": "a",
                "title": "Edit twice",
                "kind": "edit",
                "status": "in_progress",
                "content": [{"type": "diff", "path": "/a", "newText": "new", "oldText": "old"}],
                "locations": [{"path": "/a"}],
                "rawInput": {"new": 2},
                "_meta": {"m": 1},
            },
        )

    async def test_both_sides_hear_of_the_end_of_a_session(self) -> None:
        ours: List[str] = []
        theirs: List[str] = []
        seen: List[aio.AgentSession] = []
        tested = aio.Agent("tested", "1", on_session_end=lambda session: theirs.append(session.id))
        tested.new_session(lambda session: seen.append(session))
        tested.on("session/delete")(lambda session, params: None)
        client = aio.Client(on_session_end=lambda session: ours.append(session.id))
        async with talk(tested, client) as peer:
            closed, deleted, left = [await peer.new_session("/") for _ in range(3)]
            await closed.close()
            self.assertEqual((ours, theirs), ([closed.id], [closed.id]))
            await peer.delete_session(deleted.id)
            self.assertIn(deleted.id, ours)
        self.assertEqual(sorted(ours), sorted([closed.id, deleted.id, left.id]))
        self.assertEqual(sorted(theirs), sorted([closed.id, deleted.id, left.id]))
        self.assertEqual((peer.sessions, seen[0].client.sessions), ({}, {}))
        self.assertEqual([session.open for session in seen], [False] * 3)

    async def test_a_session_that_is_opened_while_the_agent_ends_is_over_too(self) -> None:
        ended: List[str] = []
        seen: List[aio.AgentSession] = []
        opening, ending = asyncio.Event(), asyncio.Event()
        tested = aio.Agent("tested", "1", on_session_end=lambda session: ended.append(session.id))

        @tested.new_session
        async def slow(session: aio.AgentSession) -> None:
            seen.append(session)
            opening.set()
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                ending.set()

        ours, theirs = await streams()
        serving = asyncio.ensure_future(tested.serve(*theirs))
        async with aio.connect(*ours) as peer:
            asking = asyncio.ensure_future(peer.new_session("/"))
            await self.in_time(opening.wait())
            serving.cancel()
            await self.in_time(ending.wait())
            await asyncio.gather(serving, asking, return_exceptions=True)
        self.assertEqual((seen[0].client.sessions, ended), ({}, [asking.result().id]))

    async def test_output_is_followed_while_it_is_printed(self) -> None:
        pieces: List[str] = []

        async def run(turn: aio.Turn) -> None:
            async with turn.terminal("sh", ["-c", "for i in 1 2 3; do echo $i; sleep 0.2; done"]) as terminal:
                async for piece in terminal.follow(interval=0.05):
                    pieces.append(piece)

        async with talk(agent(prompt=run), aio.Client(terminals=aio.Terminals())) as peer:
            await (await peer.new_session("/")).prompt("")
        self.assertEqual("".join(pieces), "1\n2\n3\n")
        self.assertGreater(len(pieces), 1)

    async def test_a_client_hears_what_commands_print(self) -> None:
        heard: List[Any] = []

        def hear(session: aio.ClientSession, id: str, text: str) -> None:
            heard.append((session, id, text))
            raise ValueError("a hook that fails harms nobody")

        async def run(turn: aio.Turn) -> None:
            async with turn.terminal("printf", ["one\\ntwo"]) as terminal:
                await terminal.wait()
                await turn.message(f"{terminal.id} {(await terminal.output())['output']}")

        with self.assertLogs("libacp.aio", "ERROR"):
            async with talk(agent(prompt=run), aio.Client(terminals=aio.Terminals(on_output=hear))) as peer:
                session = await peer.new_session("/")
                said = texts(await updates(session.prompt("")))
        ((whose, id, _),) = {(whose, id, None) for whose, id, _ in heard}
        self.assertIs(whose, session)
        self.assertEqual(f"{id} {''.join(text for _, _, text in heard)}", said)

    async def test_output_whose_front_is_cut_is_followed(self) -> None:
        pieces: List[str] = []

        async def run(turn: aio.Turn) -> None:
            command = ["-c", "for i in 1 2 3 4; do printf %0300d $i; sleep 0.2; done"]
            async with turn.terminal("sh", command, output_byte_limit=600) as terminal:
                async for piece in terminal.follow(interval=0.05):
                    pieces.append(piece)

        async with talk(agent(prompt=run), aio.Client(terminals=aio.Terminals())) as peer:
            await (await peer.new_session("/")).prompt("")
        self.assertEqual("".join(pieces), "".join(f"{number:0300}" for number in range(1, 5)))

    async def test_meta_goes_out_with_all_that_a_turn_does(self) -> None:
        seen: List[Any] = []
        meta = {"trace": 1}

        class Own(aio.Files):
            async def read_text_file(self, session: aio.ClientSession, params: Any) -> str:
                seen.append(params.get("_meta"))
                return ""

            async def write_text_file(self, session: aio.ClientSession, params: Any) -> None:
                seen.append(params.get("_meta"))

        async def permit(request: aio.PermissionRequest) -> Any:
            seen.append(request.meta)
            return {"outcome": {"outcome": "selected", "optionId": request.allow()}, "_meta": {"back": 2}}

        async def speak(turn: aio.Turn) -> None:
            await turn.message("a", meta=meta)
            await turn.thought("b", meta=meta)
            await turn.plan(["c"], meta=meta)
            async with turn.tool_call("d", meta=meta) as call:
                seen.append((await call.ask_permission(meta=meta)).meta)
            await turn.read_text_file("/a", meta=meta)
            await turn.write_text_file("/a", "", meta=meta)

        async with talk(agent(prompt=speak), aio.Client(permission=permit, files=Own())) as peer:
            said = await updates((await peer.new_session("/")).prompt(""))
        self.assertEqual([each.get("_meta") for each in said], [meta, meta, meta, meta, None])
        self.assertEqual(seen, [meta, {"back": 2}, meta, meta])

    async def test_meta_beside_updates_is_there_for_who_wants_it(self) -> None:
        async def say(turn: aio.Turn) -> None:
            update: v1.SessionUpdate = {"sessionUpdate": "plan", "entries": []}
            await turn.session.update(update, meta={"n": 1})
            await turn.message("a")
            await turn.message("b")

        async def replay(session: aio.AgentSession) -> v1.LoadSessionResponse:
            await session.update({"sessionUpdate": "plan", "entries": []}, meta={"n": 2})
            return {}

        left: List[Any] = []
        client = aio.Client(on_update=lambda session, update: left.append(update))
        async with talk(agent(prompt=say, load_session=replay), client) as peer:
            session = await peer.new_session("/")
            turn = session.prompt("")
            seen = [params async for params in turn.notifications()]
            self.assertEqual([each.get("_meta") for each in seen], [{"n": 1}, None, None])
            self.assertEqual({each["sessionId"] for each in seen}, {session.id})
            self.assertEqual(texts(each["update"] for each in seen), "ab")
            self.assertEqual(turn.stop_reason, "end_turn")
            with self.assertRaises(RuntimeError):
                turn.notifications()
            loading = peer.load_session("l", "/")
            self.assertEqual([each.get("_meta") async for each in loading.notifications()], [{"n": 2}])
            # What was not taken when the loop is left goes to the hook as an update, as ever.
            turn = session.prompt("")
            async for _ in turn.notifications():
                await until(lambda: len(turn._items) == 2)
                break
            self.assertEqual(texts(left), "ab")

    async def test_sessions_are_resumed_by_a_handler_of_their_own(self) -> None:
        seen: List[Any] = []

        async def resume(session: aio.AgentSession) -> v1.ResumeSessionResponse:
            await session.update({"sessionUpdate": "plan", "entries": []})
            return {"_meta": {"id": session.id, "cwd": session.cwd}}

        client = aio.Client(on_update=lambda session, update: seen.append((session.id, update["sessionUpdate"])))
        async with talk(agent(prompt=lambda turn: None, resume_session=resume), client) as peer:
            self.assertTrue(peer.can("session/resume"))
            session = await peer.resume_session("r", "/work")
            self.assertEqual(session.result["_meta"], {"id": "r", "cwd": "/work"})
            await until(lambda: seen)
        self.assertEqual(seen, [("r", "plan")])
        with self.assertRaises(ValueError):
            agent(resume_session=resume).on("session/resume")(lambda session, params: {})

    async def test_what_peers_say_of_themselves(self) -> None:
        seen: List[Any] = []
        tested = agent(prompt=lambda turn: None)

        @tested.on("initialize")
        async def greet(client: aio.ClientPeer, params: Any) -> Any:
            seen.append((dict(client.greeting), client.extension("acme")))
            return {"_meta": {"back": 2}, "agentCapabilities": {"_meta": {"acme": {"v": 1}}}}

        client = aio.Client(capabilities={"_meta": {"acme": True}})
        ours, theirs = await streams()
        serving = asyncio.ensure_future(tested.serve(*theirs))
        async with aio.connect(*ours, client, meta={"there": 1}) as peer:
            self.assertEqual(peer.greeting.get("_meta"), {"back": 2})
            self.assertEqual(peer.greeting["protocolVersion"], 1)
            self.assertEqual((peer.extension("acme"), peer.extension("other")), ({"v": 1}, None))
            self.assertFalse(peer.closed)
        await serving
        self.assertTrue(peer.closed)
        ((greeting, extension),) = seen
        self.assertEqual((greeting["_meta"], extension), ({"there": 1}, True))

    async def test_a_turn_is_read_as_one_text(self) -> None:
        async def say(turn: aio.Turn) -> None:
            await turn.thought("hm")
            for each in ("Hello", ", ", turn.text):
                await turn.message(each)

        async with talk(agent(prompt=say)) as peer:
            turn = (await peer.new_session("/")).prompt("you")
            self.assertEqual(await turn.read_text(), "Hello, you")
            self.assertEqual(turn.stop_reason, "end_turn")

    async def test_files_are_read_through_any_client(self) -> None:
        class Unsaved:
            async def read_text_file(self, session: aio.ClientSession, params: Any) -> str:
                return "unsaved"

        async def read(turn: aio.Turn) -> None:
            await turn.message(await turn.read_text(turn.text))

        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "a")
            path.write_bytes(b"saved\r\n")
            for client, expected in ((aio.Client(), "saved\r\n"), (aio.Client(files=Unsaved()), "unsaved")):
                async with talk(agent(prompt=read), client) as peer:
                    session = await peer.new_session(folder)
                    self.assertEqual(texts(await updates(session.prompt(str(path)))), expected)


if __name__ == "__main__":
    unittest.main()
