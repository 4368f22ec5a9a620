"""A client on libacp that plays its role of the script.

``python client.py --script script.json --work DIR [--cwd DIR] [--trace FILE] -- AGENT ARGV...`` starts the agent, plays,
and ends with one line of JSON on standard output and the status 0, or 1 at the first difference.
"""

import argparse
import asyncio
import contextlib
import json
import os
import sys
from pathlib import Path
from typing import Any, Dict
from urllib.parse import quote

import libacp
from peer import Peer
from play import Play
from script import EXACT, Difference, Sum, compare, exact, load, named, texts
from workspace import Workspace

INFO = {"name": "libacp-example-python-client", "version": libacp.__version__, "_meta": dict([EXACT])}


def introduced(method: str, params: Dict[str, Any]) -> Dict[str, Any]:
    return {**params, "clientInfo": INFO} if method == "initialize" else params


def check_name(method: str, result: Any) -> None:
    if method == "initialize":
        info = result.get("agentInfo")
        named(info, "/steps/0/agentInfo")
        name, number = EXACT
        if (found := exact(info)) is not None:
            compare(number, found, f"/steps/0/agentInfo/_meta/{name.replace('/', '~1')}")


async def converse(options: argparse.Namespace, script: Dict[str, Any], play: Play, agent: Any) -> None:
    """The whole conversation, up to the agent's end."""
    workspace = Workspace()
    play.before_sending, play.after_result, play.perform = introduced, check_name, workspace.perform
    await play.run()
    if workspace.terminals or play.peer.connection.open_terminals:
        raise Difference("a terminal was not released")
    play.peer.writer.close()
    await play.ended()
    if status := await agent.wait():
        raise Difference(f"the agent ended with the status {status}")
    for name, expected in script["written"].items():
        total = Sum()
        total.add(Path(options.work, name).read_bytes())
        compare(expected, total.found(), name)
    lines = {"fromClient": play.peer.sent.lines, "fromAgent": play.peer.received.lines}
    compare(script["lines"], lines, "/lines")


async def main(options: argparse.Namespace) -> Dict[str, Any]:
    script = load(options.script)
    for name, rule in script["files"].items():
        Path(options.work, name).write_bytes("".join(texts(rule)).encode("utf-8"))
    names = {"cwd": options.cwd, "work": options.work, "work_uri": quote(options.work, safe="/")}
    pipe = asyncio.subprocess.PIPE
    agent = await asyncio.create_subprocess_exec(*options.agent, stdin=pipe, stdout=pipe)
    assert agent.stdin is not None and agent.stdout is not None
    trace = open(options.trace, "w", encoding="utf-8") if options.trace else None
    peer = Peer(libacp.Connection("client"), agent.stdout, agent.stdin, trace)
    play = Play(script, peer, names)
    try:
        await asyncio.wait_for(converse(options, script, play, agent), script["deadlineMs"] / 1000)
    except asyncio.TimeoutError:
        raise Difference(f"{play.at}: not done after {script['deadlineMs']} ms") from None
    finally:
        if agent.returncode is None:
            agent.kill()
            # Of an agent behind a shell, only the shell ends, and the wait would be for the agent's pipes.
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(agent.wait(), 1)
        if trace:
            trace.close()
    return {
        "messages_sent": peer.sent.lines,
        "messages_received": peer.received.lines,
        "bytes_sent": peer.sent.bytes,
        "bytes_received": peer.received.bytes,
        "updates": play.updates,
    }


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--script", required=True)
    parser.add_argument("--work", required=True, help="an absolute, existing folder")
    parser.add_argument("--cwd", default=os.getcwd())
    parser.add_argument("--trace")
    parser.add_argument("agent", nargs="+", help="the agent's program and its arguments, after --")
    return parser.parse_args()


if __name__ == "__main__":
    try:
        print(json.dumps({"ok": True, **asyncio.run(main(arguments()))}))
    except Exception as problem:
        kind = "" if isinstance(problem, Difference) else f"{type(problem).__name__}: "
        print(json.dumps({"ok": False, "error": f"{kind}{problem}"}))
        sys.exit(1)
