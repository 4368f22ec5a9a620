"""The Python agent of the catalogue with one title misspelt, which every client has to find at that step."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).with_name("python")))

import agent as catalogue


@catalogue.step("update.title")
async def misspelt(turn):
    await turn.update({"sessionUpdate": "session_info_update", "title": "A wlak"})


catalogue.agent.run()
