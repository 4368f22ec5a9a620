import libacp.aio

agent = libacp.aio.Agent("echo", "1.0")


@agent.prompt
async def answer(turn):
    await turn.message(f"You said: {turn.text}")


agent.run()
