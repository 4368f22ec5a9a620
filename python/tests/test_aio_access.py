"""What agents reach through the ready-made files and terminals, and what they do not."""

import asyncio
import os
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple, Union

import libacp
from aio_pair import AioCase, agent, talk, until
from libacp import aio
from libacp.aio._terminals import Output

INVALID = libacp.ErrorCode.INVALID_PARAMS
NOT_FOUND = libacp.ErrorCode.RESOURCE_NOT_FOUND


class AccessCase(AioCase):
    """One turn after another in which the agent asks for one thing."""

    def setUp(self) -> None:
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.top = Path(os.path.realpath(folder.name))
        self.root = self.top / "root"
        self.root.mkdir()

    async def turn(self, handler: Any, *further: Path, **client: Any) -> None:
        problems = []

        async def guarded(turn: aio.Turn) -> None:
            try:
                await handler(turn)
            except Exception as problem:
                problems.append(problem)

        tested = agent(prompt=guarded)
        tested.given_capabilities = {"sessionCapabilities": {"additionalDirectories": {}}}
        async with talk(tested, aio.Client(**client)) as peer:
            session = await peer.new_session(str(self.root), additional_directories=[str(each) for each in further])
            await self.in_time(session.prompt("?"))
        for problem in problems:
            raise problem


class Files(AccessCase):
    async def ask(self, path: Union[str, Path], *further: Path, write: Optional[str] = None, **options: Any) -> Any:
        """The text that was read, or the code of the error."""
        result: List[Any] = []

        async def ask(turn: aio.Turn) -> None:
            try:
                if write is None:
                    result.append(await turn.read_text_file(str(path), **options))
                else:
                    await turn.write_text_file(str(path), write)
                    result.append(None)
            except libacp.PeerError as problem:
                self.assertNotIn(str(self.top), problem.message)
                result.append(problem.code)

        await self.turn(ask, *further, files=aio.Files(most=1000))
        (only,) = result
        return only

    async def test_lines(self) -> None:
        path = self.root / "text"
        path.write_bytes("eins\r\nzwei\u2028\ndrei\n\nletzte".encode())
        cases: List[Tuple[Dict[str, Any], str]] = [
            ({}, "eins\r\nzwei\u2028\ndrei\n\nletzte"),
            ({"line": 2}, "zwei\u2028\ndrei\n\nletzte"),
            ({"line": 2, "limit": 2}, "zwei\u2028\ndrei\n"),
            ({"limit": 1}, "eins\r\n"),
            ({"line": 5, "limit": 10}, "letzte"),
            ({"line": 6}, ""),
            ({"limit": 0}, ""),
        ]
        for options, text in cases:
            self.assertEqual(await self.ask(path, **options), text, options)

    async def test_what_is_written_is_what_was_given(self) -> None:
        path = self.root / "a" / "b" / "neu\u00df"
        text = "\ufeffa\r\n\tb\u2028\U0001f980\0"
        self.assertIsNone(await self.ask(path, write=text))
        self.assertEqual(path.read_bytes(), text.encode())
        self.assertIsNone(await self.ask(path, write="short"))
        self.assertEqual((path.read_bytes(), await self.ask(path)), (b"short", "short"))

    async def test_nothing_outside_of_the_roots(self) -> None:
        secret = self.top / "secret"
        secret.write_text("secret")
        (self.top / "rooted").mkdir()
        (self.root / "link").symlink_to(secret)
        (self.root / "up").symlink_to(self.top)
        (self.root / "dangling").symlink_to(self.top / "new")
        (self.root / "loop").symlink_to("loop")
        (self.root / "chain").symlink_to("up/secret")
        for path in (
            secret,
            self.root / ".." / "secret",
            self.root / "link",
            self.root / "up" / "secret",
            self.root / "dangling",
            self.root / "loop",
            self.root / "chain",
            f"{self.root}ed/x",
            self.root,
            "/etc/hostname",
        ):
            self.assertEqual(await self.ask(path), INVALID, path)
            self.assertEqual(await self.ask(path, write="owned"), INVALID, path)
        self.assertEqual(secret.read_text(), "secret")
        self.assertEqual(sorted(os.listdir(self.top)), ["root", "rooted", "secret"])

    async def test_links_and_roots_that_stay_inside(self) -> None:
        other = self.top / "other"
        other.mkdir()
        (other / "file").write_text("there")
        (self.root / "real").write_text("here")
        (self.root / "link").symlink_to("real")
        (self.root / "to-other").symlink_to(other)
        (self.top / "alias").symlink_to(other)
        self.assertEqual(await self.ask(self.root / "link"), "here")
        self.assertIsNone(await self.ask(self.root / "link", write="changed"))
        self.assertEqual((self.root / "real").read_text(), "changed")
        self.assertTrue((self.root / "link").is_symlink())
        self.assertEqual(await self.ask(self.root / "to-other" / "file"), INVALID)
        # A second root; and one that is itself a link.
        for root in (other, self.top / "alias"):
            self.assertEqual(await self.ask(self.root / "to-other" / "file", root), "there")
            self.assertEqual(await self.ask(root / "file", root), "there")

    async def test_what_is_no_text_file(self) -> None:
        os.mkfifo(self.root / "pipe")
        (self.root / "big").write_bytes(b"x" * 1001)
        (self.root / "full").write_bytes(b"x" * 1000)
        (self.root / "binary").write_bytes(b"\xff\x00")
        (self.root / "file").write_bytes(b"")
        self.assertEqual(await self.ask(self.root / "missing"), NOT_FOUND)
        for name in ("pipe", "big", "binary", "file/x"):
            self.assertEqual(await self.ask(self.root / name), INVALID, name)
        self.assertEqual(await self.ask(self.root / "full"), "x" * 1000)
        for name in ("pipe", "file/x"):
            self.assertEqual(await self.ask(self.root / name, write="x"), INVALID, name)
        self.assertEqual(await self.ask(self.root / "file", write="\u20ac" * 334), INVALID)
        self.assertEqual((self.root / "file").read_bytes(), b"")

    async def test_a_session_that_was_opened_by_hand_has_its_roots_too(self) -> None:
        (self.root / "file").write_text("inside")
        (self.top / "file").write_text("outside")
        said: List[Any] = []

        async def read(turn: aio.Turn) -> None:
            for path in (self.root / "file", self.top / "file"):
                try:
                    said.append(await turn.read_text_file(path))
                except libacp.PeerError as problem:
                    said.append(problem.code)
            async with turn.terminal("pwd") as terminal:
                await terminal.wait()
                said.append((await terminal.output())["output"])

        client = aio.Client(files=aio.Files(), terminals=aio.Terminals())
        async with talk(agent(prompt=read), client) as peer:
            name = await peer.request("session/new", {"cwd": str(self.root), "mcpServers": []})
            await peer.request("session/prompt", {**name, "prompt": [{"type": "text", "text": "?"}]})
        self.assertEqual(said, ["inside", INVALID, f"{self.root}\n"])

    async def test_what_is_not_offered_is_not_asked_for(self) -> None:
        async def write(turn: aio.Turn) -> None:
            self.assertEqual(turn.client.capabilities, {"fs": {"readTextFile": True}})
            await turn.write_text_file(f"{turn.session.cwd}/x", "")

        with self.assertRaises(libacp.CapabilityMisuse):
            await self.turn(write, files=aio.ReadOnlyFiles())


class Terminals(AccessCase):
    async def run_one(self, script: str, terminals: "aio.Terminals | None" = None, **options: Any) -> Any:
        """How a command ended, and what it printed."""
        result: Dict[str, Any] = {}

        async def run(turn: aio.Turn) -> None:
            async with turn.terminal(sys.executable, ["-c", script], **options) as terminal:
                result["status"] = await terminal.wait()
                result.update(await terminal.output())
                self.assertEqual(result.pop("exitStatus"), result["status"])

        await self.turn(run, terminals=terminals or aio.Terminals())
        return result

    async def test_a_command_and_its_surroundings(self) -> None:
        script = "import os, sys; print(os.getcwd(), os.environ['A'], sys.stdin.read() == '')\n"
        script += "print('e', file=sys.stderr); exit(3)"
        result = await self.run_one(script, env={"A": "\u00e4"})
        self.assertEqual(result["status"], {"exitCode": 3})
        self.assertEqual(sorted(result["output"].splitlines()), sorted([f"{self.root} \u00e4 True", "e"]))
        (self.root / "in").mkdir()
        result = await self.run_one("import os; print(os.getcwd())", cwd=str(self.root / "in"))
        self.assertEqual((result["output"], result["truncated"]), (f"{self.root}/in\n", False))
        result = await self.run_one("import os; print(len(os.environ))", aio.Terminals(env={}), env={"B": "b"})
        self.assertLess(int(result["output"]), 4)
        result = await self.run_one("import os, signal; os.kill(os.getpid(), signal.SIGTERM)")
        self.assertEqual(result["status"], {"signal": "SIGTERM"})

    async def test_output_past_its_limit_begins_with_a_whole_character(self) -> None:
        whole = "".join(f"{number}\u00e9\u20ac\U0001f980" for number in range(500))
        script = "import sys; text = ''.join(f'{n}\\u00e9\\u20ac\\U0001f980' for n in range(500))\n"
        script += "sys.stdout.buffer.write(text.encode())"
        data = whole.encode()
        for limit in range(90, 104):
            result = await self.run_one(script, output_byte_limit=limit)
            output = result["output"]
            self.assertTrue(result["truncated"])
            self.assertTrue(whole.endswith(output))
            size = len(output.encode())
            # As much as fits: what follows the cut is less than the character that was cut.
            self.assertTrue(limit - 4 < size <= limit, (limit, size))
            self.assertEqual(output, data[-limit:].decode("utf-8", "ignore"))
        result = await self.run_one(script, output_byte_limit=len(data))
        self.assertEqual((result["output"], result["truncated"]), (whole, False))
        # The client's own limit goes first, and none at all is none at all.
        result = await self.run_one(script, aio.Terminals(output_byte_limit=10), output_byte_limit=1000)
        self.assertEqual(result["output"], "9\u00e9\u20ac\U0001f980")
        result = await self.run_one(script, output_byte_limit=0)
        self.assertEqual((result["output"], result["truncated"]), ("", True))

    def test_pieces_of_characters(self) -> None:
        whole = "a\u00e9\u20ac\U0001f980z" * 20
        data = whole.encode()
        for limit in range(0, 40):
            for piece in (1, 2, 3, 5, 7, 64):
                output = Output(limit)
                for at in range(0, len(data), piece):
                    output.add(data[at : at + piece])
                    self.assertLessEqual(len(output.text.encode()), limit)
                output.add(b"", final=True)
                self.assertEqual(output.text, data[len(data) - limit :].decode("utf-8", "ignore") if limit else "")
        # What is replaced is longer than it was, and is held to the limit like the rest.
        broken = Output(10)
        broken.add(b"\xff" * 10)
        self.assertEqual((broken.text, broken.truncated), ("\ufffd" * 3, True))
        half = Output(10)
        half.add(b"a\xe2\x82")
        self.assertEqual(half.text, "a")
        half.add(b"", final=True)
        self.assertEqual(half.text, "a\ufffd")

    async def test_endless_output_takes_no_memory(self) -> None:
        sizes = []

        async def run(turn: aio.Turn) -> None:
            async with turn.terminal("sh", ["-c", "yes"], output_byte_limit=1000) as terminal:
                while not (await terminal.output())["truncated"]:
                    await asyncio.sleep(0.01)
                await asyncio.sleep(0.3)
                sizes.append(len((await terminal.output())["output"]))
                await terminal.kill()
                self.assertEqual(await terminal.wait(), {"signal": "SIGKILL"})
                sizes.append(len((await terminal.output())["output"]))

        await self.turn(run, terminals=aio.Terminals())
        self.assertEqual(sizes, [1000, 1000])

    async def test_release_ends_the_command_and_its_children(self) -> None:
        async def run(turn: aio.Turn) -> None:
            script = "sleep 600 & echo $! > pid; wait"
            async with turn.terminal("sh", ["-c", script]):
                await until(lambda: (self.root / "pid").exists() and (self.root / "pid").read_text())

        await self.turn(run, terminals=aio.Terminals())
        pid = int((self.root / "pid").read_text())

        def gone() -> bool:
            try:
                return "State:\tZ" in Path(f"/proc/{pid}/status").read_text()
            except OSError:
                return True

        await until(gone)

    async def test_children_that_hold_the_output_open_hold_nobody_up(self) -> None:
        async def run(turn: aio.Turn) -> None:
            async with turn.terminal("sh", ["-c", "echo said; sleep 600 & exit 4"]) as terminal:
                self.assertEqual(await terminal.wait(), {"exitCode": 4})
                self.assertEqual((await terminal.output())["output"], "said\n")

        await self.turn(run, terminals=aio.Terminals())

    async def test_a_client_that_goes_takes_its_terminals_along(self) -> None:
        terminals = aio.Terminals()

        async def run(turn: aio.Turn) -> None:
            await turn.session.request("terminal/create", {"command": "sleep", "args": ["600"]})

        await self.turn(run, terminals=terminals)
        self.assertEqual(terminals._running, {})

    async def test_what_cannot_be_started(self) -> None:
        codes = []

        async def run(turn: aio.Turn) -> None:
            for command, args in (("/nowhere/command", []), (str(self.root), []), ("echo", ["\0"])):
                try:
                    async with turn.terminal(command, args):
                        pass
                except libacp.PeerError as problem:
                    codes.append(problem.code)
            async with turn.terminal("sleep", ["600"]):
                try:
                    async with turn.terminal("true"):
                        pass
                except libacp.PeerError as problem:
                    codes.append(problem.code)

        await self.turn(run, terminals=aio.Terminals(most=1))
        self.assertEqual(codes, [INVALID] * 3 + [libacp.ErrorCode.INTERNAL_ERROR])


if __name__ == "__main__":
    unittest.main()
