import asyncio
import os
import sys

import libacp.aio


async def main():
    async with libacp.aio.spawn_agent([sys.executable, "agent.py"]) as agent:
        session = await agent.new_session(os.getcwd())
        turn = session.prompt("hello")
        async for update in turn:
            print(update["sessionUpdate"], update.get("title") or update.get("content"))
        print(turn.stop_reason)


asyncio.run(main())
