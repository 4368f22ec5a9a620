"""An agent that numbers the lines of the file that a prompt names. It speaks ACP on standard input and output."""

import os

import libacp
from libacp import aio

agent = aio.Agent("hello", "1.0")


@agent.prompt
async def number_lines(turn: aio.Turn) -> None:
    if not turn.client.can("fs/read_text_file"):
        await turn.message("I number the lines of files, and your editor offers none to agents.")
        return
    path = os.path.join(turn.session.cwd, turn.text.strip())
    try:
        before = await turn.read_text_file(path)
    except libacp.PeerError as problem:
        await turn.message(f"{path}: {problem.message}")
        return
    async with turn.tool_call(f"Number {path}", kind="edit", status="pending", locations=[path]) as call:
        after = "".join(f"{number:3} {line}\n" for number, line in enumerate(before.splitlines(), 1))
        await call.diff(path, after, before)
        if turn.client.can("fs/write_text_file") and await call.ask_permission():
            await turn.write_text_file(path, after)
    await turn.message("Numbered." if call.status == "completed" else "Left as it was.")


if __name__ == "__main__":
    agent.run()
