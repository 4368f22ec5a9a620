import asyncio
import os
import sys

import libacp.aio


async def main():
    client = libacp.aio.Client(view=True, versions=(1, 2))
    async with libacp.aio.spawn_agent([sys.executable, "builder.py"], client) as agent:
        session = await agent.new_session(os.getcwd())
        try:
            await session.prompt("sing")
        except libacp.PeerError as error:
            print("refused:", error.message)
        await session.prompt("build")
        print("background:", *(each["type"] for each in session.view.background))
        async for changes in session.changes():
            if session.view.state == "idle" and not session.view.background:
                break
        for entry in session.view.entries:
            if isinstance(entry, libacp.view.Message) and not entry.discarded:
                print(f"{entry.role}: {entry.text}")
        (terminal,) = session.view.terminals
        print(terminal.command, terminal.output.split(), terminal.exit_status)


asyncio.run(main())
