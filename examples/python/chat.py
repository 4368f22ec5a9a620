"""A client for the terminal: ``python chat.py PROGRAM [ARGUMENT ...]`` starts an agent and talks with it.

The agent may read and write files in the working directory and run commands; what it asks first is for you to answer.
"""

import asyncio
import os
import sys
from typing import Optional

import libacp
from libacp import aio


async def ask(question: str) -> str:
    """A line of the user's; none at the end of the input."""
    print(question, end="", flush=True)
    line: str = await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline)
    return line.strip()


async def permit(request: aio.PermissionRequest) -> Optional[str]:
    title = request.tool_call.get("title") or "a tool"
    return request.allow() if await ask(f"\nAllow {title}? [y/n] ") == "y" else request.reject()


async def show(turn: aio.PromptTurn) -> None:
    try:
        await follow(turn)
    except libacp.Error as problem:
        print(f"\n({problem})")
    else:
        print(f"\n({turn.stop_reason})")


async def follow(turn: aio.PromptTurn) -> None:
    async for update in turn:
        if update["sessionUpdate"] == "agent_message_chunk" and update["content"]["type"] == "text":
            print(update["content"]["text"], end="", flush=True)
        elif update["sessionUpdate"] == "tool_call":
            print(f"\n* {update['title']}")
        elif update["sessionUpdate"] == "tool_call_update" and update.get("status"):
            print(f"  {update.get('status')}")
        elif update["sessionUpdate"] == "plan":
            print("\n".join(f"- [{entry['status']}] {entry['content']}" for entry in update["entries"]))


async def main() -> None:
    client = aio.Client("chat", "1.0", permission=permit, files=aio.Files(), terminals=aio.Terminals())
    async with aio.spawn_agent(sys.argv[1:], client) as agent:
        session = await agent.new_session(os.getcwd())
        while text := await ask("> "):
            await show(session.prompt(text))


if __name__ == "__main__":
    asyncio.run(main())
