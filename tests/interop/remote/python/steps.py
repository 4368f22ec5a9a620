"""What both Python clients of the remote script have in common: the steps, and how they are told."""

import asyncio
import json
import sys
from typing import Any, Awaitable, Callable

# More than a step takes; a peer that does not answer costs no more than this.
LIMIT = 6.0


def tell(**what: Any) -> None:
    print(json.dumps(what), flush=True)


async def step(name: str, work: Callable[[], Awaitable[Any]]) -> Any:
    """Does a step and tells what came of it; what `work` has returned beside it."""
    try:
        found, more = await asyncio.wait_for(work(), LIMIT)
    except asyncio.TimeoutError:
        tell(step=name, cannot=f"no end within {LIMIT:.0f} s")
    except Exception as problem:
        tell(step=name, cannot=f"{type(problem).__name__}: {problem}")
    else:
        tell(step=name, found=found)
        return more


def arguments() -> "tuple[str, str]":
    """The address, and the way there."""
    _, address, way = sys.argv
    return address, way


async def play(client: Any) -> None:
    """Plays the script with a client that has a method for each step."""
    async with client.connected() as agent:
        session = await step("new", lambda: client.new(agent))
        await step("prompt", lambda: client.prompt(agent, session, "hello"))
        await step("permission", lambda: client.prompt(agent, session, "ask"))
        await step("cancel", lambda: client.cancelled(agent, session))
        await step("load", lambda: client.load(session))
        second = await step("second", lambda: client.second(agent, session))
        await step("delete", lambda: client.delete(agent, session, second))
