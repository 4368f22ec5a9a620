"""An agent for the tests: ``agent.py FOLDER``. It keeps what its sessions were told in the folder, beyond its process.

A prompt says for how many seconds it is silent, or ``count N``: that many numbers, one each 50 milliseconds; ``ask``: a
question, and what became of it; ``process``: the number of its process; ``told``: what the session was told so far.
"""

import asyncio
import os
import sys
from pathlib import Path
from typing import List

from libacp.aio import Agent

agent = Agent("silent", "1.0")


def history(session) -> Path:
    return Path(sys.argv[1]) / session.id


def told(session) -> List[str]:
    file = history(session)
    return file.read_text().splitlines() if file.exists() else []


@agent.load_session
async def load(session) -> None:
    for text in told(session):
        await session.update({"sessionUpdate": "user_message_chunk", "content": {"type": "text", "text": text}})


@agent.prompt
async def prompt(turn):
    before, (word, *rest) = told(turn.session), turn.text.split()
    with history(turn.session).open("a") as file:
        file.write(f"{turn.text}\n")
    if word == "count":
        for number in range(int(rest[0])):
            await turn.message(f"{number} ")
            await asyncio.sleep(0.05)
    elif word == "ask":
        async with turn.tool_call("Look", kind="read") as call:
            permission = await call.ask_permission()
        await turn.message("allowed" if permission.allowed else "refused")
    elif word == "process":
        await turn.message(str(os.getpid()))
    elif word == "told":
        await turn.message(", ".join(before))
    else:
        await turn.message("begun")
        await asyncio.sleep(float(word))
        await turn.message("ended")


if __name__ == "__main__":
    agent.run()
