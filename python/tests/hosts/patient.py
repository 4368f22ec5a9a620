"""A client with two agents, one of which is greedy: ``patient.py FOLDER METHOD COUNT SECONDS PATH``.

It prints what the greedy one got, by how many bytes its own memory grew, how long the other waited for answers, and how
much of that the loop worked.
"""

import asyncio
import json
import os
import sys
import time
from pathlib import Path
from typing import Any, Dict, List

from libacp import aio

HERE = Path(__file__).resolve().parent


def resident() -> int:
    """Bytes of memory that this process has."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


async def main(folder: str, *greedy: str) -> None:
    program = [sys.executable, "-B"]
    client = aio.Client(files=aio.Files(), terminals=aio.Terminals())
    async with aio.spawn_agent([*program, str(HERE / "agent.py")]) as neighbour, aio.spawn_agent(
        [*program, str(HERE / "greedy.py"), *greedy], client
    ) as agent:
        waits: List[float] = []
        works: List[float] = []
        peak = before = resident()
        other, session = await neighbour.new_session(folder), await agent.new_session(folder)

        async def wait() -> None:
            begun, worked = time.perf_counter(), time.thread_time()
            async for _ in other.prompt("echo hello"):
                pass
            waits.append(time.perf_counter() - begun)
            works.append(time.thread_time() - worked)
            await asyncio.sleep(0.005)

        # What the machine takes for it by itself.
        for _ in range(100):
            await wait()
        alone = sorted(waits)[98]
        waits.clear()
        works.clear()
        turn: "asyncio.Future[Any]" = asyncio.ensure_future(session.prompt("?")._answer())
        while not turn.done():
            await wait()
            peak = max(peak, resident())
        waits.sort()
        works.sort()
        result: Dict[str, Any] = dict((await turn)["_meta"])
        result.update(grown=peak - before, rounds=len(waits), alone=alone)
        result.update(p99=waits[len(waits) * 99 // 100], worked=works[len(works) * 99 // 100])
        print(json.dumps(result))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
