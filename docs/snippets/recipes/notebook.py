"""Cells of a notebook, whose event loop runs already: `await` stands at the top, and the agent lives from cell to cell."""

# ANCHOR: start
import os
import sys

import libacp.aio
from libacp.view import Message

client = libacp.aio.Client("notebook", "1.0", view=True)
agent = await libacp.aio.spawn_agent([sys.executable, "echo.py"], client)
session = await agent.new_session(os.getcwd())
# ANCHOR_END: start

# ANCHOR: ask
await session.prompt("Hello")
for entry in session.view.entries:
    if isinstance(entry, Message):
        print(f"{entry.role}: {entry.text}")
# ANCHOR_END: ask

# ANCHOR: close
await agent.close()
# ANCHOR_END: close
