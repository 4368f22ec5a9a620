"""An agent whose prompts say for how many seconds it is silent."""

import asyncio

from libacp.aio import Agent

agent = Agent("silent", "1.0")


@agent.prompt
async def prompt(turn):
    await turn.message("begun")
    await asyncio.sleep(float(turn.text))
    await turn.message("ended")


if __name__ == "__main__":
    agent.run()
