"""A client for the terminal: ``python chat.py PROGRAM [ARGUMENT ...]`` starts an agent and talks with it.

The agent may read and write files in the working directory and run commands; what it asks first is for you to answer.
Ctrl-C ends a turn; at the prompt, or pressed again, it ends the chat.
"""

import asyncio
import contextlib
import os
import signal
import sys
import threading
from typing import Optional

import libacp
from libacp import aio


class Keyboard:
    """Lines of the user's. A thread that waits for one holds up nobody who wants to leave."""

    def __init__(self) -> None:
        self._lines: "asyncio.Queue[str]" = asyncio.Queue()
        self._loop = asyncio.get_running_loop()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        # Not `sys.stdin`, whose lock the interpreter wants at its end. The loop may be closed before the last line.
        with contextlib.suppress(RuntimeError), open(0, closefd=False) as lines:
            for line in iter(lines.readline, ""):
                self._loop.call_soon_threadsafe(self._lines.put_nowait, line)
            self._loop.call_soon_threadsafe(self.end)

    def end(self) -> None:
        """Whoever waits for a line gets none."""
        self._lines.put_nowait("")

    async def ask(self, question: str) -> str:
        """A line of the user's; none at the end of the input."""
        print(question, end="", flush=True)
        return (await self._lines.get()).strip()


def shown(text: str) -> str:
    """What an agent says, in one line and without what a terminal takes for a command."""
    return " ".join(libacp.printable(text).split())


class Chat:
    def __init__(self) -> None:
        self.keyboard = Keyboard()
        self.turn: Optional[aio.PromptTurn] = None
        self.cancelling: Optional["asyncio.Task[None]"] = None

    async def permit(self, request: aio.PermissionRequest) -> Optional[str]:
        # What is allowed for good is never asked for by the way.
        answers = {"y": request.allow(), "always": request.allow_always()}
        offered = "/".join(answer for answer, option in answers.items() if option)
        answer = await self.keyboard.ask(f"\nAllow {shown(request.title)}? [{offered}/n] ")
        return answers.get(answer) or request.reject()

    async def talk(self, agent: aio.AgentPeer) -> None:
        session = await agent.new_session(os.getcwd())
        watching = asyncio.ensure_future(self.watch(agent))
        while (text := await self.keyboard.ask("> ")) and not agent.closed:
            self.turn = session.prompt(text)
            await show(self.turn)
            self.turn = self.cancelling = None
        watching.cancel()

    async def watch(self, agent: aio.AgentPeer) -> None:
        """At the prompt nobody waits for the agent."""
        await agent.wait_closed()
        print("\n(the agent has ended)")
        self.keyboard.end()

    def interrupted(self, talking: "asyncio.Task[None]") -> None:
        """Ctrl-C: the turn first, then the chat."""
        if self.turn is None or self.cancelling is not None:
            talking.cancel()
        else:
            self.cancelling = asyncio.ensure_future(self.turn.cancel())


async def show(turn: aio.PromptTurn) -> None:
    try:
        await follow(turn)
    except libacp.Error as problem:
        print(f"\n({shown(str(problem))})")
    else:
        print(f"\n({shown(turn.stop_reason or '')})")


async def follow(turn: aio.PromptTurn) -> None:
    async for update in turn:
        if update["sessionUpdate"] == "agent_message_chunk" and update["content"]["type"] == "text":
            print(libacp.printable(update["content"]["text"]), end="", flush=True)
        elif update["sessionUpdate"] == "tool_call":
            print(f"\n* {shown(update['title'])}")
        elif update["sessionUpdate"] == "tool_call_update" and update.get("status"):
            print(f"  {shown(update.get('status') or '')}")
        elif update["sessionUpdate"] == "plan":
            print("\n".join(f"- [{shown(entry['status'])}] {shown(entry['content'])}" for entry in update["entries"]))


async def main() -> None:
    chat = Chat()
    client = aio.Client("chat", "1.0", permission=chat.permit, files=aio.Files(), terminals=aio.Terminals())
    async with aio.spawn_agent(sys.argv[1:], client) as agent:
        talking = asyncio.ensure_future(chat.talk(agent))
        if os.name == "posix":
            asyncio.get_running_loop().add_signal_handler(signal.SIGINT, chat.interrupted, talking)
        await asyncio.wait([talking])
        if not talking.cancelled():
            talking.result()


if __name__ == "__main__":
    asyncio.run(main())
