"""Gives an agent many tasks, some at a time, and says how each went: ``harness.py COMMAND ...``."""

import asyncio
import json
import sys
import tempfile

import libacp
import libacp.aio

TASKS = {"first": "Say one", "second": "Say two", "third": "Say three"}
AT_A_TIME = 2
SECONDS = 60


async def attempt(command, name, task):
    """One task, with an agent and a folder of its own: what one does cannot help or disturb another."""
    said, logged = [], []
    # What asks first is refused: nobody is there to be asked. No request takes longer, nor does a turn.
    client = libacp.aio.Client(permission=libacp.aio.reject_all, timeout=SECONDS)
    try:
        with tempfile.TemporaryDirectory() as folder:
            async with libacp.aio.spawn_agent(command, client, stderr=logged.append) as agent:
                session = await agent.new_session(folder)
                turn = session.prompt(task)
                async for update in turn:
                    if update["sessionUpdate"] == "agent_message_chunk":
                        said.append(update["content"].get("text", ""))
                outcome = turn.stop_reason
    except (libacp.Error, OSError) as error:
        outcome = f"{type(error).__name__}: {error}"
    return {"task": name, "outcome": outcome, "said": "".join(said), "logged": len(logged)}


async def main(command):
    places = asyncio.Semaphore(AT_A_TIME)

    async def one(name, task):
        async with places:
            return await attempt(command, name, task)

    results = await asyncio.gather(*(one(name, task) for name, task in TASKS.items()))
    for result in results:
        print(json.dumps(result))
    return sum(result["outcome"] != "end_turn" for result in results)


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[1:])))
