"""Agents as child processes: behind wrappers, in groups of their own, awaited, and what they log."""

import asyncio
import json
import os
import shlex
import shutil
import signal
import sys
import tempfile
import time
import unittest
from pathlib import Path
from typing import List

import libacp
from aio_pair import AioCase, agent, host, streams, texts, updates
from libacp import aio
from processes import alive, left, mark


def wrapped(*arguments: str) -> List[str]:
    """The stubborn agent behind a shell, which does not replace itself by it."""
    return ["sh", "-c", f"{shlex.join(host('stubborn.py', *arguments))}; true"]


def install(folder: Path, name: str, script: str) -> None:
    """A package of that name, whose program is a script of the shell's, as `npm install` leaves it."""
    package, programs = folder / "node_modules" / name, folder / "node_modules" / ".bin"
    package.mkdir(parents=True)
    programs.mkdir()
    (folder / "package.json").write_text(json.dumps({"name": "host", "dependencies": {name: "1.0.0"}}))
    (package / "package.json").write_text(json.dumps({"name": name, "version": "1.0.0", "bin": {name: "agent.sh"}}))
    (package / "agent.sh").write_text(f"#!/bin/sh\n{script}\n")
    (package / "agent.sh").chmod(0o755)
    (programs / name).symlink_to(package / "agent.sh")


@unittest.skipUnless(os.name == "posix", "process groups")
class Spawned(AioCase):
    async def test_what_is_behind_a_wrapper_ends_with_it(self) -> None:
        for how in ("", "deaf"):
            name = mark()
            async with aio.spawn_agent(wrapped(how, name), grace=0.2) as peer:
                self.assertEqual(len(alive(name)), 1)
                self.assertEqual(peer.info["name"], "stubborn")
            self.assertEqual(await left(name), [])

    @unittest.skipUnless(shutil.which("npx"), "npx is not here")
    async def test_what_npx_has_started_ends_with_it(self) -> None:
        for how in ("", "deaf"):
            name = mark()
            with tempfile.TemporaryDirectory() as folder:
                install(Path(folder), "stubborn-agent", shlex.join(wrapped(how, name)))
                command = ["npx", "--offline", "--no-install", "stubborn-agent"]
                async with aio.spawn_agent(command, cwd=folder, grace=0.2) as peer:
                    assert peer.process is not None
                    self.assertNotIn(peer.process.pid, alive(name))
                    self.assertEqual(len(alive(name)), 1)
                    begun = time.monotonic()
                self.assertEqual(await left(name), [])
                # Less than the grace that holds by default; a busy machine takes its time.
                self.assertLess(time.monotonic() - begun, 5)

    async def test_what_a_wrapper_leaves_behind_ends_too(self) -> None:
        name = mark()
        # The shell ends as soon as it is told to; what it has started in the background does not.
        command = ["sh", "-c", f"sleep {name} & exec {shlex.join(host('agent.py'))}"]
        async with aio.spawn_agent(command):
            self.assertEqual(len(alive(name)), 1)
        self.assertEqual(await left(name), [])

    async def test_a_group_of_its_own_is_an_option(self) -> None:
        for own in (True, False):
            async with aio.spawn_agent(host("agent.py"), own_group=own) as peer:
                assert peer.process is not None
                self.assertEqual(os.getpgid(peer.process.pid) == os.getpgrp(), not own)

    async def test_an_interrupt_in_the_terminal_leaves_the_agent_to_the_client(self) -> None:
        script = f"""
import asyncio, signal, sys
from libacp import aio
async def main():
    asyncio.get_running_loop().add_signal_handler(signal.SIGINT, print, "interrupted")
    async with aio.spawn_agent({host("stubborn.py")!r}, grace=0.2) as agent:
        session = await agent.new_session("/")
        print("ready", flush=True)
        async for update in session.prompt("1"):
            print(update["content"]["text"])
asyncio.run(main())
"""
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-B",
            "-c",
            script,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            start_new_session=True,
        )
        assert process.stdout is not None
        self.assertEqual(await self.in_time(process.stdout.readline()), b"ready\n")
        await asyncio.sleep(0.2)
        # As the terminal does: the whole group in the foreground gets it.
        os.killpg(process.pid, signal.SIGINT)
        out, _ = await self.in_time(process.communicate())
        self.assertEqual((out, process.returncode), (b"interrupted\nstill here\n", 0))

    async def test_it_is_awaited_and_closed(self) -> None:
        name = mark()
        peer = await aio.spawn_agent(host("stubborn.py", name), grace=0.2)
        session = await peer.new_session("/")
        self.assertEqual(texts(await updates(session.prompt("0"))), "still here")
        await peer.close()
        await peer.close()
        self.assertEqual(await left(name), [])
        with self.assertRaises(libacp.NoResult):
            await session.prompt("0")

    async def test_one_that_is_awaited_and_does_not_answer_is_gone(self) -> None:
        name = mark()
        with self.assertRaises(libacp.NoResult):
            await aio.spawn_agent(["sh", "-c", f"sleep {name}; true"], timeout=0.1, grace=0.1)
        self.assertEqual(await left(name), [])

    async def test_what_it_logs_goes_to_a_function(self) -> None:
        lines: List[str] = []
        async with aio.spawn_agent(host("stubborn.py"), grace=0.2, stderr=lines.append) as peer:
            session = await peer.new_session("/")
            await session.prompt("0")
            await session.prompt("0")
        self.assertEqual(lines, ["what it logs"] * 2)

    async def test_an_agent_that_ends_does_not_say_that_it_was_cancelled(self) -> None:
        program = """if True:
            import asyncio
            from libacp import aio
            agent = aio.Agent("test", "1", versions=(1, 2))
            @agent.prompt
            async def wait(turn):
                await turn.message("begun")
                await asyncio.sleep(60)
            agent.run()
        """
        for version in (1, 2):
            seen: List[str] = []
            client = aio.Client(versions=(version,), on_violation=lambda violation: seen.append(violation.rule))
            async with aio.spawn_agent([sys.executable, "-c", program], client) as peer:
                session = await peer.new_session("/")
                with self.subTest(version=version), self.assertRaises(libacp.PeerError) as caught:
                    async for _ in session.prompt("wait"):
                        assert peer.process is not None
                        peer.process.terminate()
                self.assertEqual((peer.version, caught.exception.code), (version, libacp.ErrorCode.REQUEST_CANCELLED))
            self.assertEqual(seen, [])


class Connected(AioCase):
    async def test_streams_are_awaited_and_closed(self) -> None:
        ours, theirs = await streams()
        serving = asyncio.ensure_future(agent(prompt=lambda turn: turn.message("hello")).serve(*theirs))
        peer = await aio.connect(*ours)
        session = await peer.new_session("/")
        self.assertEqual(texts(await updates(session.prompt(""))), "hello")
        await peer.close()
        await self.in_time(serving)

    async def test_the_block_may_be_closed_before_its_end(self) -> None:
        ours, theirs = await streams()
        serving = asyncio.ensure_future(agent(prompt=lambda turn: turn.message("hello")).serve(*theirs))
        async with aio.connect(*ours) as peer:
            await peer.close()
            await self.in_time(serving)


if __name__ == "__main__":
    unittest.main()
