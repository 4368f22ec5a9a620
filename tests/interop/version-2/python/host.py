"""A client or an agent on libacp that plays its side of a script of ``..``: ``python host.py client|agent ARGV...``.

``../README.md`` says what a script has and what the arguments are. Read ``play`` for how a side of it is played.
"""

import argparse
import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any, Dict, List

# The streams are those of the example hosts.
sys.path.insert(0, str(Path(__file__).parents[4] / "examples" / "python"))

import libacp
from agent import standard_streams
from peer import Peer


class Difference(Exception):
    """What happened is not what the script says."""


class Play:
    """One side of a script that is being played."""

    def __init__(self, script: Dict[str, Any], peer: Peer, names: Dict[str, str]) -> None:
        self.script, self.peer, self.names = script, peer, names
        self.role: str = peer.connection.role
        self.at = ""
        self.updates = 0
        # What waits for its answer, by the name that the script gives it: the id of an own request, or the event.
        self.open: Dict[str, Any] = {}

    async def play(self) -> None:
        for index, step in enumerate(self.script["steps"]):
            self.at = f"/steps/{index}"
            await (self.act(step) if step["from"] == self.role else self.wait(step))
        self.at = "the end"
        if self.open:
            raise Difference(f"{self.at}: {', '.join(self.open)} has no answer")

    async def act(self, step: Dict[str, Any]) -> None:
        """A step of this side."""
        if "request" in step:
            id = await self.peer.request(step["request"], self.filled(step["params"]))
            self.open[step.get("as", step["request"])] = id
        elif "answer" not in step:
            method, params = self.notification(step)
            await self.peer.notify(method, self.filled(params))
        elif step.get("core"):
            # libacp has answered it by itself, and says so.
            answered, request = await self.event(libacp.Answered), self.open.pop(step["answer"])
            if answered.serial != request.serial:
                raise Difference(f"{self.at}: expected the answer to {request}, got {answered}")
        else:
            await self.peer.respond(self.open.pop(step["answer"]), self.filled(step["result"]))

    async def wait(self, step: Dict[str, Any]) -> None:
        """A step of the other side, which must be what comes next."""
        if "answer" in step:
            response, id = await self.event(libacp.Response), self.open.pop(step["answer"])
            if response.id != id or response.outcome != "result":
                raise Difference(f"{self.at}: expected the result of {step['answer']}, got {response}")
            self.compare(step["result"], response.result(), "")
            return
        event: Any
        if "request" in step:
            event, method, params = await self.event(libacp.Request), step["request"], step["params"]
            self.open[step.get("as", method)] = event
        else:
            event, (method, params) = await self.event(libacp.Notification), self.notification(step)
            self.updates += "update" in step
        if event.method != method:
            raise Difference(f"{self.at}: expected {method}, got {event.method}")
        self.compare(params, event.params, "")

    async def end(self) -> None:
        closed = await self.event(libacp.Closed)
        if closed != libacp.Closed("end_of_stream"):
            raise Difference(f"{self.at}: something is left open: {closed}")

    async def event(self, kind: type) -> Any:
        """The next event, which must be of this kind; rules that the peer breaks are told, and the play goes on."""
        while isinstance(event := await self.peer.event(), libacp.Violation):
            parts = {name: getattr(event, name) or "" for name in ("method", "pointer", "message")}
            print(json.dumps({"violation": event.rule, **parts}), file=sys.stderr, flush=True)
        if not isinstance(event, kind):
            raise Difference(f"{self.at}: expected a {kind.__name__}, got {event}")
        return event

    def notification(self, step: Dict[str, Any]) -> "tuple[str, Any]":
        if "update" in step:
            return "session/update", {"sessionId": self.script["session"], "update": step["update"]}
        return step["notify"], step["params"]

    def filled(self, value: Any) -> Any:
        """The value with what is known in the place of its placeholders."""
        if isinstance(value, str):
            for name, text in self.names.items():
                value = value.replace(f"{{{name}}}", text)
            return value
        if isinstance(value, list):
            return [self.filled(item) for item in value]
        return {name: self.filled(item) for name, item in value.items()} if isinstance(value, dict) else value

    def compare(self, expected: Any, found: Any, pointer: str) -> None:
        """Raises at the first place where what was found is not what is expected; further members are let be."""
        if isinstance(expected, dict) and isinstance(found, dict):
            for name, value in expected.items():
                self.compare(value, found.get(name), f"{pointer}/{name}")
            return
        if isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
            for index, (item, other) in enumerate(zip(expected, found)):
                self.compare(item, other, f"{pointer}/{index}")
            return
        if expected == "{cwd}" and isinstance(found, str):
            self.names.setdefault("cwd", found)
        expected = self.filled(expected)
        # Python takes True for 1; the protocol does not.
        if type(expected) is not type(found) or expected != found:
            raise Difference(f"{self.at}{pointer}: expected {expected!r}, got {found!r}")


def connection(role: str, script: Dict[str, Any]) -> libacp.Connection:
    return libacp.Connection(role, versions=(1, 2) if script["protocol"] == 2 else (1,))


async def agent(options: argparse.Namespace, script: Dict[str, Any]) -> None:
    trace = open(options.trace, "w", encoding="utf-8") if options.trace else None
    play = Play(script, Peer(connection("agent", script), *await standard_streams(), trace), {})
    try:
        await play.play()
        await play.end()
    finally:
        if trace:
            trace.close()


async def client(options: argparse.Namespace, script: Dict[str, Any]) -> Dict[str, Any]:
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*options.agent, stdin=pipe, stdout=pipe)
    assert process.stdin is not None and process.stdout is not None
    trace = open(options.trace, "w", encoding="utf-8") if options.trace else None
    peer = Peer(connection("client", script), process.stdout, process.stdin, trace)
    play = Play(script, peer, {"cwd": options.cwd})
    try:
        await asyncio.wait_for(converse(play, process), script["deadlineMs"] / 1000)
    except asyncio.TimeoutError:
        raise Difference(f"{play.at}: not done after {script['deadlineMs']} ms") from None
    finally:
        if process.returncode is None:
            process.kill()
        if trace:
            trace.close()
    sums = {"messages_sent": peer.sent.lines, "messages_received": peer.received.lines}
    sums.update({"bytes_sent": peer.sent.bytes, "bytes_received": peer.received.bytes})
    return {**sums, "updates": play.updates}


async def converse(play: Play, process: asyncio.subprocess.Process) -> None:
    await play.play()
    play.peer.writer.close()
    await play.end()
    if status := await process.wait():
        raise Difference(f"the agent ended with the status {status}")


def main(role: str, arguments: List[str]) -> None:
    parser = argparse.ArgumentParser()
    for name in ("--script", "--work", "--trace"):
        parser.add_argument(name)
    parser.add_argument("--cwd", default=os.getcwd())
    parser.add_argument("agent", nargs="*", help="the agent's program and its arguments, after --")
    options = parser.parse_args(arguments)
    script: Dict[str, Any] = json.loads(Path(options.script).read_text("utf-8"))
    if role == "client":
        print(json.dumps({"ok": True, **asyncio.run(client(options, script))}))
    elif role == "agent":
        asyncio.run(agent(options, script))
    else:
        raise Difference(f"expected client or agent, got {role}")


if __name__ == "__main__":
    role = sys.argv[1] if len(sys.argv) > 1 else ""
    try:
        main(role, sys.argv[2:])
    except Exception as problem:
        error = f"{'' if isinstance(problem, Difference) else type(problem).__name__ + ': '}{problem}"
        if role == "client":
            print(json.dumps({"ok": False, "error": error}))
        else:
            # In ASCII and on one line: it may carry what the client has sent.
            print(ascii(error), file=sys.stderr)
        sys.exit(1)
