"""An agent as its author writes it, without a word about versions; as a program, it serves both."""

import asyncio
import sys
from typing import Any, List

import libacp
from libacp import aio

MODES: Any = {"currentModeId": "ask", "availableModes": [{"id": "ask", "name": "Ask"}, {"id": "code", "name": "Code"}]}


class Program:
    """An agent as its author writes it, without a word about versions; and what it has noticed."""

    def __init__(self, **options: Any) -> None:
        self.seen: List[Any] = []
        self.go = asyncio.Event()
        self.agent = agent = aio.Agent("program", "3", on_violation=self.wrong, on_advice=self.wrong, **options)
        agent.prompt(self.prompt)
        agent.new_session(self.new)
        agent.load_session(self.load)
        agent.on("session/list")(self.list)
        agent.on("session/set_mode")(self.set_mode)

    def wrong(self, event: Any) -> None:
        self.seen.append(event)

    async def new(self, session: aio.AgentSession) -> Any:
        commands: Any = [{"name": "plan", "description": "Plans", "input": {"hint": "what"}}]
        await session.update({"sessionUpdate": "available_commands_update", "availableCommands": commands})
        return {"modes": MODES}

    async def load(self, session: aio.AgentSession) -> Any:
        await session.update({"sessionUpdate": "user_message_chunk", "content": {"type": "text", "text": "Before"}})
        await session.update({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "After"}})
        return {"modes": MODES}

    async def list(self, client: aio.ClientPeer, params: Any) -> Any:
        return {"sessions": [{"sessionId": "old", "cwd": "/old", "title": "An old one"}]}

    async def set_mode(self, session: aio.AgentSession, params: Any) -> None:
        self.seen.append(("mode", params["modeId"]))

    async def prompt(self, turn: aio.Turn) -> Any:
        what = turn.text
        if what == "work":
            await self.work(turn)
        elif what == "wait":
            await turn.message("waiting")
            try:
                await asyncio.sleep(600)
            finally:
                await turn.message(", cleaned up")
        elif what == "go":
            await turn.message(f"{turn.session.cwd} begins")
            await self.go.wait()
            await turn.message(", ends")
        elif what == "fail":
            raise aio.RequestError(-32050, "No paper", {"tray": 2})
        elif what == "break":
            raise RuntimeError("a secret")
        elif what == "ask":
            try:
                await turn.ask_permission({"toolCallId": "c", "title": "Run"})
            except libacp.Error:
                self.seen.append("withdrawn")
                raise
        elif what == "mode":
            await turn.update({"sessionUpdate": "current_mode_update", "currentModeId": "code"})
        else:
            await turn.message(f"{what}?")
            return what
        return None

    async def work(self, turn: aio.Turn) -> None:
        await turn.plan(["Read", {"content": "Write", "priority": "high", "status": "in_progress"}])
        await turn.thought("Let me see.")
        call = turn.tool_call("Write a", id="w", kind="edit", status="pending", locations=["/work/a"])
        async with call:
            if await call.ask_permission():
                await call.diff("/work/a", "two\n", "one\n")
                await call.text("written")
        async with turn.tool_call("Look", id="l", kind="read") as call:
            await call.fail("nothing there")
        await turn.message("Do")
        await turn.message("ne.")


if __name__ == "__main__":
    program = Program(versions=[1, 2])
    program.agent.run()
    # Neither side has broken a rule.
    sys.exit(sum(isinstance(each, (libacp.Violation, libacp.Advice)) for each in program.seen))
