"""Mistakes of authors: each is told at once, by name, with what was probably meant."""

import asyncio
import gc
import os
import stat
import tempfile
import unittest
import warnings
from pathlib import Path
from typing import Any, Callable, Dict, List, Type

import libacp
from aio_pair import AioCase, agent, streams, talk, texts, until, updates
from libacp import aio
from raw_agent import opened, raw_agent


async def two(session: Any, params: Any) -> None:
    """A handler with the right shape."""


async def one(turn: Any) -> None:
    """A handler with the right shape."""


async def yields(turn: Any) -> Any:
    yield {"sessionUpdate": "plan", "entries": []}


def yields_too(session: Any, params: Any) -> Any:
    yield None


def made(**options: Any) -> Any:
    return aio.Agent("tested", "1", **options)


def client(**options: Any) -> Any:
    return aio.Client(**options)


def twice(*register: Callable[[Any], Any]) -> Callable[[], None]:
    def run() -> None:
        tested = made()
        for each in register:
            each(tested)

    return run


MISTAKES: Dict[str, "tuple[Callable[[], Any], Type[Exception], List[str]]"] = {
    "a method that is misspelt": (lambda: made().on("session/setmode"), ValueError, ["session/setmode;", "session/set_mode?"]),
    "a method of the other side": (lambda: made().on("fs/read_text_file"), ValueError, ["sent by agents", "belongs to the client"]),
    "a method of the agent's side": (lambda: client().on("session/prompt"), ValueError, ["sent by clients", "belongs to the agent"]),
    "prompts by on": (lambda: made().on("session/prompt"), ValueError, ["@agent.prompt", "Turn"]),
    "a decorator without a method": (lambda: made().on(two), TypeError, ['@host.on("session/set_mode")']),
    "two handlers": (twice(lambda it: it.on_extension("_a")(two), lambda it: it.on_extension("_a")(two)), ValueError, ["'_a'", "already", "two"]),
    "two handlers of prompts": (twice(lambda it: it.prompt(one), lambda it: it.prompt(one)), ValueError, ["already", "one"]),
    "two handlers of new sessions": (twice(lambda it: it.new_session(one), lambda it: it.on("session/new")(two)), ValueError, ["already"]),
    "a misspelt option": (lambda: made(polcy="strict"), TypeError, ["'polcy'", "'policy'"]),
    "an option of clients": (lambda: made(permision=one), TypeError, ["'permision'"]),
    "a misspelt option of a client": (lambda: client(premission=one), TypeError, ["'permission'"]),
    "an unknown version": (lambda: made(versions=(1, 3)), ValueError, ["versions", "3"]),
    "a draft that there is not": (lambda: made(drafts=["session_frok"]), ValueError, ["'session_frok'", "'session_fork'"]),
    "a policy that there is not": (lambda: made(policy="strickt"), ValueError, ["strickt"]),
    "no request at a time": (lambda: made(max_requests=0), ValueError, ["max_requests", "from 1"]),
    "less than no request at a time": (lambda: client(max_requests=-1), ValueError, ["max_requests", "from 1"]),
    "requests that are no number": (lambda: made(max_requests="3"), TypeError, ["'str'", "integer"]),
    "a prompt handler that yields": (lambda: made().prompt(yields), TypeError, ["generator", "turn.message"]),
    "a handler that yields": (lambda: made().on_extension("_a")(yields_too), TypeError, ["generator"]),
    "a prompt handler with two arguments": (lambda: made().prompt(two), TypeError, ["(turn)"]),
    "a handler with one argument": (lambda: made().on("session/set_mode")(one), TypeError, ["(session, params)"]),
    "a session handler with two arguments": (lambda: made().new_session(two), TypeError, ["(session)"]),
    "a handler that is none": (lambda: made().prompt("echo"), TypeError, ["function", "'echo'"]),
    "a command in one text": (lambda: aio.spawn_agent("npx agent"), TypeError, ["list", "'npx agent'"]),
    "files twice": (lambda: client(files=aio.Files()).on("fs/read_text_file"), ValueError, ["`files`", "already"]),
    "permission twice": (lambda: client(permission=aio.allow_all).on("session/request_permission"), ValueError, ["already"]),
}


class Told(AioCase):
    def test_mistakes_are_told_when_they_are_made(self) -> None:
        for name, (mistake, kind, parts) in MISTAKES.items():
            with self.subTest(name):
                with self.assertRaises(kind) as caught:
                    mistake()
                for part in parts:
                    self.assertIn(part, str(caught.exception))

    async def test_a_capability_that_nothing_serves_is_told_before_anything_is_said(self) -> None:
        tested = made(capabilities={"loadSession": True})
        (reader, writer), theirs = await streams()
        with self.assertRaises(ValueError) as caught:
            await tested.serve(*theirs)
        self.assertEqual(
            str(caught.exception),
            "capabilities: loadSession says that session/load is served, and no handler serves it; "
            "give its handler, or leave the capability out",
        )
        self.assertEqual(await self.in_time(reader.read()), b"")
        writer.close()
        with self.assertRaises(ValueError) as caught:
            async with aio.connect(reader, writer, client(capabilities={"terminal": True})):
                pass
        self.assertIn("no handler serves it", str(caught.exception))
        self.assertIn("the option `terminals`", str(caught.exception))
        with self.assertRaises(ValueError):
            await aio.spawn_agent(["/there/is/no/such/agent"], client(capabilities={"terminal": True}))

    async def test_capabilities_that_are_served_are_told(self) -> None:
        """Also that of a draft, and closing, which needs no handler."""
        tested = made(capabilities={"sessionCapabilities": {"close": {}, "archive": {}}}, drafts=["session_archive"])
        tested.on("session/archive")(two)
        with self.assertRaisesRegex(ValueError, "session/unarchive"):
            tested._offered(tested.handlers)
        tested.on("session/unarchive")(two)
        async with talk(tested, client(drafts=["session_archive"])) as peer:
            self.assertTrue(peer.can("session/unarchive"))
        # What is off is not read, and promises nothing.
        made(capabilities={"sessionCapabilities": {"archive": {}}})._offered(())
        filled = client(files=aio.ReadOnlyFiles(), capabilities={"fs": {"readTextFile": True}})
        async with talk(made(), filled):
            pass

    def test_a_handler_that_needs_a_capability_is_told_of_it(self) -> None:
        with self.assertRaisesRegex(ValueError, "elicitation/create needs the capability elicitation, .*`capabilities`"):
            client().on("elicitation/create")
        asked = client(capabilities={"elicitation": {"form": {}}})
        asked.on("elicitation/create")(two)
        self.assertEqual(asked._offered(asked._served()), {"elicitation": {"form": {}}})
        # A handler of `initialize` may say it to each client.
        suggests = made(drafts=["nes"])
        suggests.on("nes/start")(two)
        with self.assertRaisesRegex(ValueError, "nes/start needs the capability nes,"):
            suggests._offered(suggests.handlers)
        suggests.on("initialize")(two)
        self.assertNotIn("nes", suggests._offered(suggests.handlers))

    async def in_turn(self, body: Callable[[aio.Turn], Any]) -> List[Any]:
        """What a handler of prompts let out."""
        seen: List[Any] = []
        tested = made(on_error=lambda method, problem: seen.append(problem))
        tested.prompt(body)
        async with talk(tested, aio.Client(terminals=aio.Terminals())) as peer:
            session = await peer.new_session("/")
            with self.assertRaises(libacp.PeerError):
                await session.prompt("")
        return seen

    async def test_a_text_in_the_place_of_arguments(self) -> None:
        async def body(turn: Any) -> None:
            async with turn.terminal("echo", "-l"):
                pass

        (seen,) = await self.in_turn(body)
        self.assertIsInstance(seen, TypeError)
        self.assertIn("['-l']", str(seen))

    async def test_a_tool_call_outside_of_its_block(self) -> None:
        async def early(turn: aio.Turn) -> None:
            await turn.tool_call("Read").text("too early")

        async def late(turn: aio.Turn) -> None:
            async with turn.tool_call("Read") as call:
                pass
            await call.text("too late")

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            (first,) = await self.in_turn(early)
        (second,) = await self.in_turn(late)
        self.assertIn("not reported yet", str(first))
        self.assertIn("over", str(second))
        self.assertIsInstance(first, RuntimeError)
        self.assertIsInstance(second, RuntimeError)

    async def test_results_that_are_none(self) -> None:
        async def body(turn: aio.Turn) -> Any:
            return 42

        (seen,) = await self.in_turn(body)
        self.assertIn("'session/prompt' must return a stop reason, a dict or None, not int: 42", str(seen))

    async def test_what_is_forgotten_is_warned_of(self) -> None:
        async def body(turn: aio.Turn) -> None:
            turn.tool_call("Never")

        gc.collect()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            async with talk(agent(prompt=body)) as peer:
                session = await peer.new_session("/")
                session.prompt("never sent")
                gc.collect()
                await session.prompt("sent")
                gc.collect()
        told = [str(each.message) for each in caught if each.category is RuntimeWarning]
        self.assertEqual(len(told), 2, told)
        self.assertIn("async for", told[0])
        self.assertIn("'Never' was never reported", told[1])

    async def test_terminals_without_all_of_their_handlers(self) -> None:
        offering = client()
        offering.on("terminal/create")(two)
        ours, theirs = await streams()
        with self.assertRaises(ValueError) as caught:
            await aio.connect(*ours, offering)
        self.assertIn("terminal/wait_for_exit", str(caught.exception))
        for _, writer in (ours, theirs):
            writer.close()


class Seen(AioCase):
    async def test_the_trace_has_every_message(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "trace"
            seen: List[Any] = []
            tested = made(trace=lambda *what: seen.append(what))
            tested.prompt(lambda turn: turn.message("hello"))
            os.environ["LIBACP_TRACE"] = str(path)
            try:
                async with talk(tested) as peer:
                    session = await peer.new_session("/")
                    await session.prompt("x" * 200_000)
            finally:
                del os.environ["LIBACP_TRACE"]
            self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o600)
            lines = path.read_text().splitlines()
            own = aio.Client(trace=path)
            async with talk(agent(prompt=lambda turn: turn.message("again")), own):
                pass
            self.assertEqual(len(path.read_text().splitlines()), len(lines) + 2)
        methods = [direction.decode() if isinstance(direction, bytes) else direction for direction, _ in seen]
        self.assertEqual(methods, ["<-", "->", "<-", "->", "<-", "->", "->"])
        self.assertTrue(all(libacp.RawJson(message) for _, message in seen))
        self.assertEqual([line.split(" ", 3)[:3] for line in lines][0], [str(os.getpid()), "client", "->"])
        self.assertEqual([line.split(" ", 3)[3].encode() for line in lines], [message for _, message in seen])

    async def test_what_is_queued_when_a_loop_is_left_goes_to_the_hook(self) -> None:
        seen: List[str] = []

        def take(session: aio.ClientSession, update: Any) -> None:
            seen.append(update["content"]["text"])


        async def body(turn: aio.Turn) -> None:
            for number in range(3):
                await turn.message(str(number))

        async with talk(agent(prompt=body), aio.Client(on_update=take)) as peer:
            session = await peer.new_session("/")
            async for update in session.prompt(""):
                self.assertEqual(texts([update]), "0")
                await asyncio.sleep(0.1)
                break
            await until(lambda: len(seen) == 2)
        self.assertEqual(seen, ["1", "2"])

    async def test_a_file_that_is_missing_is_named_by_its_uri(self) -> None:
        async with raw_agent(aio.Client(files=aio.Files())) as (peer, played):
            with tempfile.TemporaryDirectory() as folder:
                await opened(peer, played, folder)
                path = f"{folder}/not there"
                played.send({"id": "r", "method": "fs/read_text_file", "params": {"sessionId": "s", "path": path}})
                answer = (await played.answers("r"))["r"]["error"]
        self.assertEqual(answer["code"], libacp.ErrorCode.RESOURCE_NOT_FOUND)
        self.assertEqual(answer["data"], {"uri": Path(path).as_uri()})

    async def test_a_session_that_is_only_named_is_not_open(self) -> None:
        seen: List[Any] = []

        async def delete(session: aio.AgentSession, params: Any) -> None:
            seen.append((session.id, session.open, session.cwd, session.roots))

        tested = agent(prompt=one)
        tested.on("session/delete")(delete)
        async with talk(tested) as peer:
            session = await peer.new_session("/work")
            await peer.delete_session("gone")
            self.assertTrue(session.open)
            await peer.delete_session(session.id)
            self.assertFalse(session.open)
        self.assertEqual(seen, [("gone", False, "", []), (session.id, True, "/work", ["/work"])])


if __name__ == "__main__":
    unittest.main()
