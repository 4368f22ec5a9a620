"""An agent that does not end with its input; its last argument marks it."""

import asyncio
import signal
import sys
import time

from libacp import aio

agent = aio.Agent("stubborn", "1")


@agent.prompt
async def answer(turn: aio.Turn) -> None:
    await asyncio.sleep(float(turn.text))
    print("what it logs", file=sys.stderr, flush=True)
    await turn.message("still here")


if __name__ == "__main__":
    if "deaf" in sys.argv:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    asyncio.run(agent.serve())
    time.sleep(600)
