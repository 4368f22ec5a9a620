"""Cells of a notebook, whose event loop runs already: `await` stands at the top, and the agent lives from cell to cell."""

# ANCHOR: start
import os
import sys

import libacp.aio

agent = await libacp.aio.spawn_agent([sys.executable, "echo.py"])
session = await agent.new_session(os.getcwd())
# ANCHOR_END: start

# ANCHOR: ask
print(await session.prompt("Hello").read_text())
# ANCHOR_END: ask

# ANCHOR: close
await agent.close()
# ANCHOR_END: close
