"""An agent on `libacp.aio` whose prompts say what it is to do."""

import asyncio
import subprocess
import sys
from typing import Any

import libacp
from libacp import aio

agent = aio.Agent("tested", "1", title="The tested one")


@agent.prompt
async def perform(turn: aio.Turn) -> Any:
    what, _, rest = turn.text.partition(" ")
    if what == "echo":
        await turn.message(rest)
    elif what == "print":
        # Neither this process nor its children may get in between.
        print("this is no message")
        subprocess.run([sys.executable, "-c", "import sys; print('nor is this', len(sys.stdin.read()))"], check=True)
        sys.stdout.flush()
        await turn.message("said")
    elif what == "work":
        await work(turn, rest)
    elif what == "wait":
        await turn.message("waiting")
        try:
            await asyncio.sleep(600)
        finally:
            await turn.message("cleaned up")
    elif what == "stop":
        return rest
    elif what == "fail":
        raise RuntimeError(f"a secret: {rest}")
    elif what == "refuse":
        raise aio.RequestError(libacp.ErrorCode.AUTH_REQUIRED, "Log in first", {"reason": rest})
    elif what == "die":
        await turn.message("goodbye")
        sys.stderr.close()
        await asyncio.sleep(0.1)
        import os

        os._exit(int(rest))
    return None


async def work(turn: aio.Turn, folder: str) -> None:
    """Everything that a turn can do."""
    await turn.plan(["Read", {"content": "Write", "priority": "high", "status": "in_progress"}])
    await turn.thought("Let me see.")
    text = await turn.read_text_file(f"{folder}/in.txt", line=2, limit=1)
    async with turn.tool_call("Write out.txt", kind="edit", status="pending", locations=[f"{folder}/out.txt"]) as call:
        if await call.ask_permission():
            await turn.write_text_file(f"{folder}/out.txt", text.upper())
            await call.diff(f"{folder}/out.txt", text.upper())
    async with turn.terminal("cat", [f"{folder}/out.txt"], cwd=folder, env={"LANG": "C"}) as terminal:
        async with turn.tool_call("Show", kind="execute", raw_input={"command": "cat"}) as call:
            await call.show(terminal)
            ended = await terminal.wait()
            await call.complete(raw_output=ended)
        output = await terminal.output()
    await turn.message(f"{output['output']}{ended}")


if __name__ == "__main__":
    agent.run()
