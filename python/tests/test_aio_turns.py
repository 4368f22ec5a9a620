"""Whole turns between `libacp.aio` and agents in child processes, and what handlers and callers see of them."""

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from typing import Any, Dict, List

import libacp
from aio_pair import AioCase, agent, host, talk, texts, until, updates
from libacp import aio
from libacp.types import v1


class Processes(AioCase):
    def setUp(self) -> None:
        super().setUp()
        self.work = os.path.realpath(self.enterWith(tempfile.TemporaryDirectory()))

    def enterWith(self, context: Any) -> Any:
        self.addCleanup(context.__exit__, None, None, None)
        return context.__enter__()

    async def test_everything_that_a_turn_can_do(self) -> None:
        Path(self.work, "in.txt").write_bytes("eins\nzwei\r\ndrei".encode())
        asked: List[aio.PermissionRequest] = []

        async def decide(request: aio.PermissionRequest) -> "str | None":
            asked.append(request)
            return request.allow()

        client = aio.Client("editor", "2", permission=decide, files=aio.Files(), terminals=aio.Terminals())
        async with aio.spawn_agent(host("agent.py"), client) as peer:
            self.assertEqual(peer.info, {"name": "tested", "version": "1", "title": "The tested one"})
            session = await peer.new_session(self.work)
            turn = session.prompt(f"work {self.work}")
            self.assertIsNone(turn.stop_reason)
            seen = await self.in_time(updates(turn))
            self.assertEqual((turn.stop_reason, await turn), ("end_turn", {"stopReason": "end_turn"}))
            self.assertEqual(peer.connection.open_terminals, [])
        assert peer.process is not None
        self.assertEqual(peer.process.returncode, 0)
        self.assertEqual(Path(self.work, "out.txt").read_bytes(), b"ZWEI\r\n")
        self.assertEqual([request.tool_call["title"] for request in asked], ["Write out.txt"])
        self.assertEqual(texts(seen), "ZWEI\r\n{'exitCode': 0}")
        kinds = [each["sessionUpdate"] for each in seen]
        self.assertEqual(kinds[:2], ["plan", "agent_thought_chunk"])
        self.assertEqual([each["priority"] for each in seen[0]["entries"]], ["medium", "high"])
        calls: Dict[str, List[Any]] = {}
        for each in seen:
            if "toolCallId" in each:
                calls.setdefault(each["toolCallId"], []).append(each.get("status"))
        edit, show = calls.values()
        self.assertEqual(edit, ["pending", "in_progress", None, "completed"])
        self.assertEqual(show, ["in_progress", None, "completed"])
        self.assertEqual(self.log, [])

    async def test_a_refusal_fails_the_tool_call(self) -> None:
        Path(self.work, "in.txt").write_text("a\nb\n")
        client = aio.Client(files=aio.Files(), terminals=aio.Terminals())
        async with aio.spawn_agent(host("agent.py"), client) as peer:
            session = await peer.new_session(self.work)
            seen = await self.in_time(updates(session.prompt(f"work {self.work}")))
        statuses = [each["status"] for each in seen if each.get("status")]
        self.assertEqual(statuses[:2], ["pending", "failed"])
        self.assertFalse(Path(self.work, "out.txt").exists())

    async def test_prints_do_not_come_between(self) -> None:
        read, write = os.pipe()
        async with aio.spawn_agent(host("agent.py"), stderr=write) as peer:
            os.close(write)
            session = await peer.new_session(self.work)
            self.assertEqual(texts(await self.in_time(updates(session.prompt("print")))), "said")
        with open(read) as log:
            self.assertEqual(sorted(log.read().splitlines()), ["nor is this 0", "this is no message"])
        self.assertEqual(self.log, [])

    async def test_standard_input_from_a_file_and_its_end(self) -> None:
        lines = b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}\n{"jsonrpc":"2'
        source, target = Path(self.work, "in"), Path(self.work, "out")
        source.write_bytes(lines)
        with open(source, "rb") as stdin, open(target, "wb") as stdout:
            quiet = asyncio.subprocess.DEVNULL
            process = await asyncio.create_subprocess_exec(*host("agent.py"), stdin=stdin, stdout=stdout, stderr=quiet)
            self.assertEqual(await self.in_time(process.wait()), 0)
        self.assertIn(b'"agentInfo":{"name":"tested"', target.read_bytes())

    async def test_signals_end_it_quietly(self) -> None:
        pipe = asyncio.subprocess.PIPE
        for each in (signal.SIGINT, signal.SIGTERM):
            process = await asyncio.create_subprocess_exec(*host("agent.py"), stdin=pipe, stdout=pipe, stderr=pipe)
            assert process.stdin is not None and process.stdout is not None
            process.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}\n')
            await self.in_time(process.stdout.readline())
            process.send_signal(each)
            _, noise = await self.in_time(process.communicate())
            self.assertEqual((process.returncode, noise), (0, b""))

    async def test_the_end_of_the_input_ends_a_turn(self) -> None:
        async with aio.spawn_agent(host("agent.py"), grace=10) as peer:
            session = await peer.new_session(self.work)
            async for update in session.prompt("wait"):
                self.assertEqual(texts([update]), "waiting")
                break
        assert peer.process is not None
        self.assertEqual(peer.process.returncode, 0)

    async def test_the_answers_of_a_prompt(self) -> None:
        async with aio.spawn_agent(host("agent.py"), stderr=asyncio.subprocess.DEVNULL) as peer:
            session = await peer.new_session(self.work)
            self.assertEqual(await session.prompt("stop max_tokens"), {"stopReason": "max_tokens"})
            with self.assertRaises(libacp.PeerError) as caught:
                await session.prompt("refuse because")
            problem = caught.exception
            self.assertEqual((problem.code, problem.message), (libacp.ErrorCode.AUTH_REQUIRED, "Log in first"))
            self.assertEqual(problem.data, {"reason": "because"})
            with self.assertRaises(libacp.PeerError) as caught:
                await session.prompt("fail with this")
            self.assertEqual(caught.exception.code, libacp.ErrorCode.INTERNAL_ERROR)
            self.assertNotIn("secret", str(caught.exception) + str(caught.exception.data))
            # A reason that does not exist is the agent's mistake, and no reason to leave the client waiting.
            with self.assertRaises(libacp.PeerError):
                await session.prompt("stop tired")
            self.assertEqual(texts(await updates(session.prompt(["echo ", {"type": "text", "text": "on"}]))), "on")


class Handlers(AioCase):
    async def test_sessions_are_made_loaded_listed_and_closed(self) -> None:
        kept: List[str] = []

        async def made(session: aio.AgentSession) -> Dict[str, Any]:
            session.data = session.roots
            kept.append(session.id)
            return {"modes": {"currentModeId": "a", "availableModes": [{"id": i, "name": i} for i in "ab"]}}

        async def load(session: aio.AgentSession) -> None:
            for number in range(300):
                text: v1.ContentBlockText = {"type": "text", "text": f"{number},"}
                await session.update({"sessionUpdate": "agent_message_chunk", "content": text})

        async def say(turn: aio.Turn) -> None:
            await turn.message(repr(turn.session.data))

        tested = agent(prompt=say, new_session=made, load_session=load)
        modes: List[Any] = []
        ended: List[str] = []

        @tested.on("session/set_mode")
        async def set_mode(session: aio.AgentSession, params: Any) -> None:
            modes.append((session.id, params["modeId"]))

        @tested.on("session/list")
        async def list_them(client: aio.ClientPeer, params: Any) -> Any:
            at = int(params.get("cursor", "0"))
            more = {"nextCursor": str(at + 1)} if at < 2 else {}
            return {"sessions": [{"sessionId": f"{client.info['name']}-{at}", "cwd": "/"}], **more}

        @tested.on("session/close")
        async def close(session: aio.AgentSession, params: Any) -> None:
            ended.append(session.id)

        @tested.on_extension("_acme/sum")
        async def total(client: aio.ClientPeer, params: Any) -> Any:
            return {"sum": sum(params["of"])}

        async with talk(tested, aio.Client("lister", "1")) as peer:
            session = await peer.new_session("/work")
            self.assertEqual(session.result["modes"]["currentModeId"], "a")
            await session.set_mode("b")
            self.assertEqual(modes, [(session.id, "b")])
            assert session.snapshot is not None and session.snapshot["modes"] is not None
            self.assertEqual((session.snapshot["modes"]["currentModeId"], session.snapshot["roots"]), ("b", ["/work"]))
            self.assertEqual(texts(await updates(session.prompt("?"))), "['/work']")
            listed = [each["sessionId"] async for each in peer.list_sessions()]
            self.assertEqual(listed, ["lister-0", "lister-1", "lister-2"])
            self.assertEqual(await peer.request("_acme/sum", {"of": [1, 2, 3]}), {"sum": 6})
            with self.assertRaises(libacp.PeerError) as caught:
                await peer.request("_acme/other")
            self.assertEqual(caught.exception.code, libacp.ErrorCode.METHOD_NOT_FOUND)
            loading = peer.load_session("old", "/work")
            replayed = await updates(loading)
            self.assertEqual(texts(replayed), "".join(f"{number}," for number in range(300)))
            again = await loading
            self.assertEqual((again.id, again.cwd, peer.sessions["old"]), ("old", "/work", again))
            await again.close()
            self.assertEqual((ended, sorted(peer.sessions)), (["old"], [session.id]))
            with self.assertRaises(libacp.CapabilityMisuse) as misuse:
                await peer.resume_session("old", "/work")
            self.assertEqual(misuse.exception.rule, "SESS-10")
        self.assertEqual(self.log, [])

    async def test_misuse_is_raised_where_it_is_made(self) -> None:
        raised: List[libacp.Misuse] = []

        async def wrong(turn: aio.Turn) -> None:
            for work in (
                turn.read_text_file("/a"),
                turn.tool_call("t", locations=["relative"]).__aenter__(),
                turn.terminal("ls").__aenter__(),
                turn.update({"sessionUpdate": "plan"}),  # type: ignore[misc, arg-type]
                turn.session.request("session/prompt", {}),
            ):
                try:
                    await work
                except libacp.Misuse as misuse:
                    raised.append(misuse)
            await turn.message("still there")

        async with talk(agent(prompt=wrong)) as peer:
            session = await peer.new_session("/")
            self.assertEqual(texts(await updates(session.prompt("?"))), "still there")
            with self.assertRaises(libacp.ParamsMisuse) as caught:
                await peer.new_session("relative")
            self.assertEqual((caught.exception.rule, caught.exception.pointer), ("SESS-04", "/cwd"))
            with self.assertRaises(libacp.SessionMisuse):
                await aio.ClientSession(peer, "unknown").prompt("?")
        self.assertEqual(
            [(type(each).__name__, each.rule, each.pointer) for each in raised],
            [
                ("CapabilityMisuse", "FS-01", ""),
                ("ParamsMisuse", "TOOL-10", "/update/locations/0/path"),
                ("CapabilityMisuse", "TERM-01", ""),
                ("ParamsMisuse", "PLAN-04", "/update/entries"),
                ("MethodMisuse", "RPC-27", ""),
            ],
        )

    async def test_updates_between_turns_go_to_the_hook(self) -> None:
        ready = asyncio.Event()

        async def later(session: aio.AgentSession) -> None:
            async def announce() -> None:
                await ready.wait()
                await session.update({"sessionUpdate": "available_commands_update", "availableCommands": []})

            session.data = asyncio.ensure_future(announce())

        seen: List[Any] = []

        async def hook(session: aio.ClientSession, update: Any) -> None:
            await asyncio.sleep(0)
            seen.append((session, update["sessionUpdate"]))

        async def say(turn: aio.Turn) -> None:
            await turn.message("x")

        async with talk(agent(new_session=later, prompt=say), aio.Client(on_update=hook)) as peer:
            session = await peer.new_session("/")
            ready.set()
            await until(lambda: seen)
            await session.prompt("?")
            await until(lambda: len(seen) == 2)
            self.assertEqual(seen, [(session, "available_commands_update"), (session, "agent_message_chunk")])
            self.assertEqual(len(await updates(session.prompt("?"))), 1)
            self.assertEqual(len(seen), 2)

    async def test_what_is_said_while_a_session_is_opened_follows_the_answer(self) -> None:
        async def opened(session: aio.AgentSession) -> Dict[str, Any]:
            command: v1.AvailableCommand = {"name": "go", "description": "Goes"}
            await session.update({"sessionUpdate": "available_commands_update", "availableCommands": [command]})
            await session.update({"sessionUpdate": "session_info_update", "title": "T"})
            return {"sessionId": "mine"}

        seen: List[Any] = []
        client = aio.Client(on_update=lambda session, update: seen.append((session, update["sessionUpdate"])))
        async with talk(agent(prompt=lambda turn: turn.message("x"), new_session=opened), client) as peer:
            session = await peer.new_session("/")
            await until(lambda: len(seen) == 2)
            self.assertEqual(seen, [(session, "available_commands_update"), (session, "session_info_update")])
            assert session.snapshot is not None and session.snapshot["commands"] is not None
            self.assertEqual((session.id, session.snapshot["commands"][0]["name"]), ("mine", "go"))
        self.assertEqual(self.log, [])

    async def test_violations_are_logged_and_told(self) -> None:
        told: List[libacp.Violation] = []

        async def ask(turn: aio.Turn) -> None:
            await turn.ask_permission({"toolCallId": "t"}, [])

        async with talk(agent(prompt=ask), aio.Client(on_violation=told.append)) as peer:
            await (await peer.new_session("/")).prompt("?")
        self.assertEqual([each.rule for each in told], ["PERM-02"])
        self.assertEqual([line.split(":")[:2] for line in self.log], [["INFO", " advice"], ["WARNING", " PERM-02"]])

    async def test_a_request_that_is_long_open_is_reminded_of(self) -> None:
        reminded = asyncio.Event()

        async def wait(turn: aio.Turn) -> None:
            await reminded.wait()

        tested = aio.Agent("tested", reminder=1000)
        tested.prompt(wait)
        async with talk(tested) as peer:
            session = await peer.new_session("/")
            # Idle time does not count.
            await asyncio.sleep(1.2)
            self.assertEqual(self.log, [])
            begun = time.monotonic()
            turn = asyncio.ensure_future(updates(session.prompt("?")))
            await until(lambda: self.log)
            self.assertGreater(time.monotonic() - begun, 0.9)
            reminded.set()
            await turn
        self.assertTrue(all(line.startswith("INFO: advice: ") for line in self.log), self.log)

    async def test_sessions_do_not_wait_for_each_other(self) -> None:
        order: List[str] = []
        gates: Dict[str, asyncio.Event] = {}

        async def in_turn(turn: aio.Turn) -> None:
            gates[turn.text] = gate = asyncio.Event()
            for number in range(50):
                await turn.message(f"{turn.text}{number} ")
            await gate.wait()
            order.append(turn.text)

        names = [f"s{number}" for number in range(8)]
        async with talk(agent(prompt=in_turn)) as peer:
            sessions = [await peer.new_session("/") for _ in names]
            turns = [asyncio.ensure_future(updates(session.prompt(name))) for session, name in zip(sessions, names)]
            await until(lambda: len(gates) == len(names))
            for name in reversed(names):
                gates[name].set()
                await until(lambda: order and order[-1] == name)
            for name, seen in zip(names, await self.in_time(asyncio.gather(*turns))):
                self.assertEqual(texts(seen), "".join(f"{name}{number} " for number in range(50)))
        self.assertEqual(order, names[::-1])

    async def test_one_agent_serves_many_clients(self) -> None:
        async def say(turn: aio.Turn) -> None:
            await turn.message(turn.client.info["name"])

        server = await asyncio.start_server(agent(prompt=say).serve, "127.0.0.1", 0)
        host, port = server.sockets[0].getsockname()[:2]

        async def visit(name: str) -> str:
            async with aio.connect(*await asyncio.open_connection(host, port), aio.Client(name)) as peer:
                return texts(await updates((await peer.new_session("/")).prompt("?")))

        names = [f"client-{number}" for number in range(10)]
        self.assertEqual(await self.in_time(asyncio.gather(*map(visit, names))), names)
        server.close()
        await server.wait_closed()


class Help(unittest.TestCase):
    def test_everything_is_documented(self) -> None:
        for name in aio.__all__:
            thing = getattr(aio, name)
            self.assertTrue(thing.__doc__, name)
            for attribute, value in vars(thing).items() if isinstance(thing, type) else ():
                if not attribute.startswith("_") and (callable(value) or isinstance(value, property)):
                    self.assertTrue(value.__doc__, f"{name}.{attribute}")

    def test_it_is_not_imported_before_it_is_wanted(self) -> None:
        code = "import sys, libacp; assert 'asyncio' not in sys.modules; libacp.aio.Agent"
        subprocess.run([sys.executable, "-I", "-c", code], check=True)


if __name__ == "__main__":
    unittest.main()
