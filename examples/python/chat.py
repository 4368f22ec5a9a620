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
from libacp.view import Changes, Message, Notice, Plan, ToolCall, View


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


def standing(view: View) -> str:
    """How the work has ended, and how full the context is."""
    usage = view.usage
    used = f", {usage['used']} of {usage['size']} tokens" if usage else ""
    return f"({shown(view.stop_reason or '')}{used})"


class Screen:
    """Prints a conversation while it grows: each time what is new in its view."""

    def __init__(self) -> None:
        # The message that the cursor is behind.
        self.writing: Optional[int] = None

    def end(self) -> None:
        if self.writing is not None:
            print()
        self.writing = None

    def line(self, text: str) -> None:
        self.end()
        print(text)

    def draw(self, changes: Changes) -> None:
        if "title" in changes.names and changes.view.title:
            self.line(f"# {shown(changes.view.title)}")
        for entry in changes.entries:
            before = changes.before.get(entry.index)
            if isinstance(entry, Message) and entry.role == "agent":
                if self.writing != entry.index or not entry.continues(before):
                    self.end()
                print(libacp.printable(entry.added(before)), end="", flush=True)
                self.writing = entry.index
            elif isinstance(entry, ToolCall):
                known = before if isinstance(before, ToolCall) else None
                if known is None or known.title != entry.title:
                    self.line(f"* {shown(entry.title or '')}")
                if entry.status != (known.status if known else "pending"):
                    self.line(f"  {shown(entry.status)}")
            elif isinstance(entry, Plan):
                for step in entry.entries:
                    self.line(f"- [{shown(step['status'])}] {shown(step['content'])}")
            elif isinstance(entry, Notice):
                self.line(f"! {shown(entry.title or '')}")


class Chat:
    def __init__(self) -> None:
        self.keyboard = Keyboard()
        self.screen = Screen()
        self.turn: Optional[aio.PromptTurn] = None
        self.cancelling: Optional["asyncio.Task[None]"] = None

    async def permit(self, request: aio.PermissionRequest) -> Optional[str]:
        # What is allowed for good is never asked for by the way.
        answers = {"y": request.allow(), "always": request.allow_always()}
        offered = "/".join(answer for answer, option in answers.items() if option)
        self.screen.end()
        answer = await self.keyboard.ask(f"Allow {shown(request.title)}? [{offered}/n] ")
        return answers.get(answer) or request.reject()

    async def talk(self, agent: aio.AgentPeer) -> None:
        session = await agent.new_session(os.getcwd())
        watching = asyncio.ensure_future(self.watch(session))
        while (text := await self.keyboard.ask("> ")) and not agent.closed:
            self.turn = session.prompt(text)
            try:
                await self.turn
            except libacp.Error as problem:
                self.screen.line(f"({shown(str(problem))})")
            else:
                self.screen.line(standing(session.view))
            self.turn = self.cancelling = None
        watching.cancel()

    async def watch(self, session: aio.ClientSession) -> None:
        """What comes is shown, also at the prompt, until there is no session."""
        async for changes in session.changes():
            self.screen.draw(changes)
        self.screen.line("\n(the agent has ended)")
        self.keyboard.end()

    def interrupted(self, talking: "asyncio.Task[None]") -> None:
        """Ctrl-C: the turn first, then the chat."""
        if self.turn is None or self.cancelling is not None:
            talking.cancel()
        else:
            self.cancelling = asyncio.ensure_future(self.turn.cancel())


async def main() -> None:
    chat = Chat()
    client = aio.Client(
        "chat", "1.0", permission=chat.permit, files=aio.Files(), terminals=aio.Terminals(), view=True
    )
    async with aio.spawn_agent(sys.argv[1:], client) as agent:
        talking = asyncio.ensure_future(chat.talk(agent))
        if os.name == "posix":
            asyncio.get_running_loop().add_signal_handler(signal.SIGINT, chat.interrupted, talking)
        await asyncio.wait([talking])
        if not talking.cancelled():
            talking.result()


if __name__ == "__main__":
    asyncio.run(main())
