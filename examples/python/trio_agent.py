"""An agent on trio that counts down from the number it is given. It speaks ACP on standard input and output."""

import itertools
from typing import Any, Dict

import libacp
import trio


class Agent:
    def __init__(self, nursery: trio.Nursery) -> None:
        self.connection = libacp.Connection("agent")
        self.nursery = nursery
        self.output = trio.lowlevel.FdStream(1)
        self.writing = trio.Lock()
        self.turns: Dict[str, trio.CancelScope] = {}
        self.numbers = itertools.count(1)

    async def serve(self) -> None:
        async for data in trio.lowlevel.FdStream(0):
            self.connection.receive_data(data)
            for event in self.connection.events():
                self.take(event)
            await self.flush()
        self.nursery.cancel_scope.cancel()

    def take(self, event: libacp.Event) -> None:
        if isinstance(event, libacp.Request):
            self.answer(event)
        elif isinstance(event, libacp.Notification) and event.method == "session/cancel":
            turn = self.turns.get(event.session or "")
            if turn is not None:
                turn.cancel()

    def answer(self, request: libacp.Request) -> None:
        if request.method == "initialize":
            self.connection.respond(request, {"agentInfo": {"name": "countdown", "version": "1.0"}})
        elif request.method == "session/new":
            self.connection.respond(request, {"sessionId": f"s-{next(self.numbers)}"})
        elif request.method == "session/prompt":
            self.nursery.start_soon(self.turn, request)
        else:
            data = {"method": request.method}
            self.connection.respond_error(request, libacp.ErrorCode.METHOD_NOT_FOUND, "Method not found", data)

    async def turn(self, request: libacp.Request) -> None:
        session = request.session or ""
        with trio.CancelScope() as self.turns[session]:
            await self.count(session, request.params["prompt"])
        stopped = self.turns.pop(session).cancelled_caught
        self.connection.respond(request, {"stopReason": "cancelled" if stopped else "end_turn"})
        await self.flush()

    async def count(self, session: str, prompt: Any) -> None:
        text = "".join(block["text"] for block in prompt if block["type"] == "text")
        for number in range(int(text) if text.isdecimal() else 3, 0, -1):
            chunk = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": f"{number} "}}
            self.connection.notify("session/update", {"sessionId": session, "update": chunk})
            await self.flush()
            await trio.sleep(0.1)

    async def flush(self) -> None:
        # A message is written to its end, also when the turn that it belongs to is cancelled meanwhile.
        with trio.CancelScope(shield=True):
            async with self.writing:
                while data := self.connection.data_to_send():
                    await self.output.send_all(data)


async def main() -> None:
    async with trio.open_nursery() as nursery:
        await Agent(nursery).serve()


if __name__ == "__main__":
    trio.run(main)
