"""A client that has started an agent, and waits: options of `spawn_agent`, as JSON, and the command."""

import asyncio
import json
import signal
import sys

from libacp import aio


async def main() -> None:
    usual = signal.getsignal(signal.SIGTERM)
    print("begins", flush=True)
    async with aio.spawn_agent(sys.argv[2:], **json.loads(sys.argv[1])):
        print("handled" if signal.getsignal(signal.SIGTERM) is not usual else "usual", flush=True)
        await asyncio.sleep(600)


asyncio.run(main())
