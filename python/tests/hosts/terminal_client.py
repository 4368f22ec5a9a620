"""A client that lets an agent run commands: ``terminal_client.py MARK``. It says when one runs, and stays.

It has no handling of signals of its own, but for SIGINT, which is Python's.
"""

import asyncio
import sys
from pathlib import Path

from libacp import aio

HERE = Path(__file__).resolve().parent


async def main(mark: str) -> None:
    client = aio.Client(terminals=aio.Terminals())
    agent = [sys.executable, "-S", "-E", str(HERE / "runner.py"), mark]
    async with aio.spawn_agent(agent, client, grace=0.2) as peer:
        session = await peer.new_session("/")
        print("asks", flush=True)
        async for _ in session.prompt("?"):
            print("runs", flush=True)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
