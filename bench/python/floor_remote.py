"""The floor of W7 and W8: the same texts through the same libraries, with no JSON made or read and no protocol around."""

from __future__ import annotations

import asyncio
import json
from typing import Any, Optional

from measure import CHUNKS, Inputs, Pass, Work, main
from remote import READS, served


def update(words: str) -> str:
    content = {"type": "text", "text": words}
    params = {"sessionId": "s", "update": {"sessionUpdate": "agent_message_chunk", "content": content}}
    return json.dumps({"jsonrpc": "2.0", "method": "session/update", "params": params})


def question() -> str:
    params = {"sessionId": "s", "path": "/work/main.rs"}
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": "fs/read_text_file", "params": params})


def answer(file: str) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"content": file}})


class Server:
    """Says so many texts: one after the other, or each after the answer to the one before."""

    def __init__(self, count: int, said: str, waits: bool) -> None:
        self.count, self.said, self.waits = count, said, waits
        self.answered: "asyncio.Queue[None]" = asyncio.Queue()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            for _ in range(2):
                await send({"type": f"{(await receive())['type']}.complete"})
        elif scope["type"] == "websocket":
            await self._socket(receive, send)
        elif scope["method"] == "GET":
            await self._events(receive, send)
        else:
            assert (await receive())["body"]
            self.answered.put_nowait(None)
            await send({"type": "http.response.start", "status": 202, "headers": [(b"content-length", b"0")]})
            await send({"type": "http.response.body", "body": b""})

    async def _socket(self, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        for told in range(self.count):
            if self.waits or told == 0:
                assert (await receive())["text"]
            await send({"type": "websocket.send", "text": self.said})
        await receive()

    async def _events(self, receive: Any, send: Any) -> None:
        headers = [(b"content-type", b"text/event-stream")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b":\n\n", "more_body": True})
        event = f"data: {self.said}\n\n".encode()
        for told in range(self.count):
            if self.waits or told == 0:
                await self.answered.get()
            await send({"type": "http.response.body", "body": event, "more_body": True})
        await send({"type": "http.response.body", "body": b""})


def works() -> "dict[str, Work]":
    import httpx
    import websockets

    async def socket(count: int, said: str, reply: Optional[str]) -> Pass:
        done = Pass()
        async with served(Server(count, said, reply is not None)) as address:
            async with websockets.connect(f"ws://{address}/acp", compression=None) as peer:
                with done.timed():
                    await peer.send("begin")
                    for told in range(count):
                        assert await peer.recv() == said
                        if reply is not None and told + 1 < count:
                            await peer.send(reply)
        done.count = count
        return done

    async def stream(count: int, said: str, reply: Optional[str]) -> Pass:
        done, size = Pass(), len(f"data: {said}\n\n")
        async with served(Server(count, said, reply is not None)) as address:
            url = f"http://{address}/acp"
            async with httpx.AsyncClient(timeout=None) as http, http.stream("GET", url) as events:
                pieces = events.aiter_raw()
                seen = len(await pieces.__anext__()) - len(":\n\n")
                with done.timed():
                    await http.post(url, content="begin")
                    told = 0
                    async for piece in pieces:
                        seen += len(piece)
                        while reply is not None and told < min(seen // size, count - 1):
                            told += 1
                            await http.post(url, content=reply)
                assert seen == count * size, seen
        done.count = count
        return done

    def chunks(way: Any) -> Work:
        return lambda inputs: way(CHUNKS, update(inputs.text("chunk.txt")), None)

    def reads(way: Any) -> Work:
        return lambda inputs: way(READS, question(), answer(inputs.text("file.txt")))

    return {"w7-http": chunks(stream), "w7-ws": chunks(socket), "w8-http": reads(stream), "w8-ws": reads(socket)}


main(works)
