"""An agent on libacp that plays its role of the script: ``python agent.py --script script.json``.

It speaks on standard input and output; the first difference goes to standard error and makes the status 1.
"""

import argparse
import asyncio
import sys
from typing import Any, Dict
from urllib.parse import unquote

import libacp
from peer import Peer
from play import Play, scripted
from script import EXACT, Difference, exact, load, named

INFO = {"name": "libacp-example-python-agent", "version": libacp.__version__}


async def standard_streams() -> "tuple[asyncio.StreamReader, asyncio.StreamWriter]":
    """Standard input and output as asyncio streams."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    transport, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, sys.stdout)
    return reader, asyncio.StreamWriter(transport, protocol, None, loop)


class Agent:
    def __init__(self, script: Dict[str, Any], peer: Peer) -> None:
        self.play = Play(script, peer, {})
        self.play.after_receiving = self.learn
        self.play.perform = self.perform

    def learn(self, method: str, params: Dict[str, Any]) -> None:
        """The folders that the script names are the client's to say."""
        names, place = self.play.names, self.play.at
        if method == "initialize":
            named(params.get("clientInfo"), f"{place}/clientInfo")
        elif method == "session/new":
            names["cwd"] = params["cwd"]
        elif method == "session/prompt" and "work" not in names:
            links = [block["uri"] for block in params["prompt"] if block["type"] == "resource_link"]
            if not links or not links[0].startswith("file:///") or not links[0].endswith("/notes.md"):
                raise Difference(f"{place}/prompt: expected a link to notes.md, got {links}")
            names["work_uri"] = links[0][len("file://") : -len("/notes.md")]
            names["work"] = unquote(names["work_uri"], errors="strict")

    async def perform(self, method: str, params: Any, expected: Any) -> Any:
        result = await scripted(method, params, expected)
        if method != "initialize":
            return result
        number = exact(params["clientInfo"])
        meta = {} if number is None else {"_meta": {EXACT[0]: number}}
        return {**result, "agentInfo": {**INFO, **meta}}


async def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--script", required=True)
    script = load(parser.parse_args().script)
    peer = Peer(libacp.Connection("agent"), *await standard_streams())
    play = Agent(script, peer).play
    await play.run()
    await play.ended()


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except Exception as problem:
        # In ASCII and on one line: it may carry what the client has sent.
        print(ascii(f"{type(problem).__name__}: {problem}"), file=sys.stderr)
        sys.exit(1)
