"""Signals to this process, and signals to the processes of terminals."""

import asyncio
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from aio_pair import AioCase
from libacp import aio
from processes import alive, left, mark
from raw_agent import opened, raw_agent

LAST_PID = Path("/proc/sys/kernel/ns_last_pid")
NOBODY = 65534
IMPORTS = "import asyncio, os, signal, sys\nfrom libacp import aio\nfrom libacp.aio import Terminals\n"


class Signals(AioCase):
    async def run_client(self, script: str) -> "tuple[int, str]":
        """A program that has terminals, and what it printed."""
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-B", "-c", IMPORTS + script, stdout=asyncio.subprocess.PIPE
        )
        out, _ = await self.in_time(process.communicate())
        assert process.returncode is not None
        return process.returncode, out.decode().strip()

    SESSION = """
class Session:
    cwd = "/"
async def run(terminals, *command):
    session = Session()
    id = await terminals.create(session, {"command": command[0], "args": list(command[1:])})
    return session, id
"""

    async def test_handlers_of_the_host_are_its_own(self) -> None:
        name = mark()
        script = self.SESSION + f"""
def mine(number, frame):
    print("mine", flush=True)
async def main():
    signal.signal(signal.SIGTERM, mine)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    terminals = Terminals()
    session, id = await run(terminals, "sleep", "{name}")
    print(signal.getsignal(signal.SIGTERM) is mine, signal.getsignal(signal.SIGHUP) is signal.SIG_IGN)
    os.kill(os.getpid(), signal.SIGTERM)
    os.kill(os.getpid(), signal.SIGHUP)
    await asyncio.sleep(0.1)
    print(terminals._running[id][1].status)
    # The end of the program ends it all the same.
asyncio.run(main())
"""
        self.assertEqual(await self.run_client(script), (0, "True True\nmine\nNone"))
        self.assertEqual(await left(name), [])

    async def test_a_handler_that_raises_while_a_command_starts(self) -> None:
        name = mark()
        script = self.SESSION + f"""
import subprocess
class Interrupted(subprocess.Popen):
    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        os.kill(os.getpid(), number)
def leave(number, frame):
    raise SystemExit
subprocess.Popen = Interrupted
async def main():
    global number
    for number, handler in ((signal.SIGINT, signal.default_int_handler), (signal.SIGTERM, leave)):
        signal.signal(number, handler)
        terminals = Terminals()
        try:
            await run(terminals, "sleep", "{name}")
        except (KeyboardInterrupt, SystemExit) as problem:
            print(type(problem).__name__)
        print(signal.getsignal(number) is handler, len(terminals._running))
    print("ready", flush=True)
    await asyncio.sleep(60)
asyncio.run(main())
"""
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-B", "-c", IMPORTS + script, stdout=asyncio.subprocess.PIPE
        )
        assert process.stdout is not None
        printed = [await self.in_time(process.stdout.readline()) for _ in range(5)]
        self.assertEqual(b"".join(printed), b"KeyboardInterrupt\nTrue 0\nSystemExit\nTrue 0\nready\n")
        # They are killed where they were begun, and not at the end of the program.
        self.assertEqual(await left(name), [])
        process.kill()
        await self.in_time(process.communicate())

    async def test_signals_are_as_they_were_once_nothing_runs(self) -> None:
        script = self.SESSION + """
async def main():
    usual = lambda: signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    terminals = Terminals()
    print(usual())
    session, id = await run(terminals, "sleep", "60")
    print(usual())
    await terminals.release(session, id)
    print(usual())
    await run(Terminals(signals=False), "sleep", "60")
    print(usual())
asyncio.run(main())
"""
        self.assertEqual(await self.run_client(script), (0, "True\nFalse\nTrue\nTrue"))

    async def test_a_copy_of_the_process_ends_nothing(self) -> None:
        name = mark()
        script = self.SESSION + f"""
async def main():
    terminals = Terminals()
    session, id = await run(terminals, "sleep", "{name}")
    child = os.fork()
    if child == 0:
        os.kill(os.getpid(), signal.SIGTERM)
    os.waitpid(child, 0)
    await asyncio.sleep(0.1)
    print(terminals._running[id][1].status)
asyncio.run(main())
"""
        self.assertEqual(await self.run_client(script), (0, "None"))
        self.assertEqual(await left(name), [])


class Numbers(AioCase):
    """What is signalled is the command, and not what has its number later."""

    @unittest.skipUnless(os.access(LAST_PID, os.W_OK), "needs to choose the number of the next process")
    async def test_a_number_that_is_used_again(self) -> None:
        name = mark()
        async with raw_agent(aio.Client(terminals=aio.Terminals())) as (peer, agent):
            await opened(peer, agent)
            # The command ends; a child that has left its group still holds its output.
            script = f"setsid sleep {name} & echo $$"
            params = {"sessionId": "s", "command": "sh", "args": ["-c", script]}
            agent.send({"id": 1, "method": "terminal/create", "params": params})
            terminal = {"sessionId": "s", "terminalId": (await agent.answers(1))[1]["result"]["terminalId"]}
            agent.send({"id": 2, "method": "terminal/wait_for_exit", "params": terminal})
            await agent.answers(2)
            agent.send({"id": 3, "method": "terminal/output", "params": terminal})
            number = int((await agent.answers(3))[3]["result"]["output"])
            others = [self.with_number(number) for _ in range(3)]
            agent.send({"id": 4, "method": "terminal/kill", "params": terminal})
            agent.send({"id": 5, "method": "terminal/release", "params": terminal})
            await agent.answers(4, 5)
            for other in others:
                try:
                    self.assertIsNone(other.poll(), "another process was killed")
                finally:
                    other.kill()
                    other.wait()
        for pid in alive(name):
            os.kill(pid, signal.SIGKILL)

    def with_number(self, number: int) -> "subprocess.Popen[bytes]":
        LAST_PID.write_text(str(number - 1))
        other = subprocess.Popen(["sleep", "60"], start_new_session=True)
        return other

    @unittest.skipUnless(hasattr(os, "geteuid") and os.geteuid() == 0 and shutil.which("setpriv"), "needs to be root")
    async def test_a_command_that_may_not_be_killed_holds_nobody_up(self) -> None:
        """The client is nobody; one command has made itself another user."""
        name = mark()
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o755)
            program = Path(folder, "other-user")
            setpriv = shutil.which("setpriv")
            assert setpriv is not None
            shutil.copy(setpriv, program)
            program.chmod(0o755 | stat.S_ISUID)
            script = Signals.SESSION + f"""
import logging, time
logging.basicConfig(stream=sys.stdout, format="%(message)s")
os.setgroups([])
os.setresgid({NOBODY}, {NOBODY}, {NOBODY})
os.setresuid({NOBODY}, {NOBODY}, {NOBODY})
async def main():
    terminals = Terminals()
    other, id = await run(terminals, "{program}", "--reuid=0", "--clear-groups", "sleep", "{name}")
    own = await terminals.create(other, {{"command": "sleep", "args": ["{name}"]}})
    await asyncio.sleep(0.3)
    begun = time.monotonic()
    for way in (terminals.kill, terminals.release):
        try:
            await way(other, id)
        except aio.RequestError as problem:
            print(problem.message)
    await terminals.end(other)
    print(time.monotonic() - begun < 5, list(terminals._running) == [id])
asyncio.run(main())
"""
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-B", "-c", IMPORTS + script, stdout=asyncio.subprocess.PIPE
            )
            printed = (await self.in_time(process.communicate()))[0].decode()
        remaining = alive(name)
        for pid in remaining:
            os.kill(pid, signal.SIGKILL)
        self.assertEqual(len(remaining), 1, printed)
        for line in ("The command may not be ended", "The command does not end", "True True"):
            self.assertIn(line, printed)
        self.assertIn("does not end: process", printed)


if __name__ == "__main__":
    unittest.main()
