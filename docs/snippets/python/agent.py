import asyncio

import libacp.aio

agent = libacp.aio.Agent("shouter", "1.0")


@agent.prompt
async def answer(turn):
    async with turn.tool_call("Think about it", kind="think") as call:
        await asyncio.sleep(0.1)
        await call.text("Louder is better.")
    await turn.message(turn.text.upper())


agent.run()
