"""W7 and W8 on libacp: `libacp.http` on both sides, over sockets of the system's."""

from __future__ import annotations

from typing import Any, Callable

from measure import CHUNKS, Inputs, Pass, Work, main
from remote import READS, served


def works() -> "dict[str, Work]":
    import libacp.aio as aio
    import libacp.http

    class File:
        """A client's files, which all have this text."""

        def __init__(self, text: str) -> None:
            self._text = text

        async def read_text_file(self, session: Any, params: Any) -> str:
            return self._text

    async def turn(scheme: str, handler: Callable[[Any], Any], count: int, size: int, files: Any) -> Pass:
        """A turn of the agent's, in which the client sees so much text."""
        agent, done = aio.Agent("bench", "1"), Pass()
        agent.prompt(handler)
        async with served(libacp.http.asgi(agent)) as address:
            async with aio.connect(f"{scheme}://{address}/acp", aio.Client(files=files)) as peer:
                session = await peer.new_session("/work")
                seen = 0
                with done.timed():
                    async for update in session.prompt("Go"):
                        seen += len(update["content"]["text"])
                assert seen == size, seen
        done.count = count
        return done

    def chunks(scheme: str) -> Work:
        async def work(inputs: Inputs) -> Pass:
            text = inputs.text("chunk.txt")

            async def answer(turn: Any) -> None:
                for _ in range(CHUNKS):
                    await turn.message(text)

            return await turn(scheme, answer, CHUNKS, CHUNKS * len(text), None)

        return work

    def reads(scheme: str) -> Work:
        async def work(inputs: Inputs) -> Pass:
            text = inputs.text("file.txt")

            async def answer(turn: Any) -> None:
                for _ in range(READS):
                    assert await turn.read_text_file("/work/main.rs") == text

            return await turn(scheme, answer, READS, 0, File(text))

        return work

    return {"w7-http": chunks("http"), "w7-ws": chunks("ws"), "w8-http": reads("http"), "w8-ws": reads("ws")}


main(works)
