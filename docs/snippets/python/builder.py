import asyncio

import libacp.aio

agent = libacp.aio.Agent("builder", "1.0", versions=(1, 2))
builds = set()


@agent.prompt
async def answer(turn):
    turn.hold()
    if turn.text != "build":
        # What is refused is no part of the conversation.
        raise libacp.aio.RequestError(-32602, "This agent only builds")
    await turn.session.plan("build").set(["Build", "Say so"])
    terminal = await turn.display_terminal("make")
    await turn.session.background(terminal)
    builds.add(asyncio.create_task(build(turn.session, terminal)))
    await turn.message("It builds.")


async def build(session, terminal):
    await asyncio.sleep(0.5)
    await terminal.write("cc main.c\n")
    # The prompt has ended; nobody has asked for what follows. It begins before the build ends, so that the session is not
    # idle between them.
    async with session.work() as turn:
        await terminal.exit(0)
        await session.plan("build").remove()
        await turn.message("It is built.")


agent.run()
