"""Cells of a notebook, whose event loop runs already: `await` stands at the top, and the agent lives from cell to cell."""

# ANCHOR: start
import contextlib
import os
import sys

import libacp.aio

cells = contextlib.AsyncExitStack()
agent = await cells.enter_async_context(libacp.aio.spawn_agent([sys.executable, "echo.py"]))
session = await agent.new_session(os.getcwd())
# ANCHOR_END: start

# ANCHOR: ask
async for update in session.prompt("Hello"):
    if update["sessionUpdate"] == "agent_message_chunk":
        print(update["content"]["text"])
# ANCHOR_END: ask

# ANCHOR: close
await cells.aclose()
# ANCHOR_END: close
