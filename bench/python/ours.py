"""The workloads on libacp: W1 to W3 on `libacp.aio`, the others on the connection itself."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Callable

from measure import CHUNKS, CONNECTIONS, DIFFS, FILES, PIECE, SECONDS, Inputs, Pass, Work, main, pipe

if TYPE_CHECKING:
    import libacp

# The answer that opens the session of W4: all that the mix changes.
SESSION = (
    b'{"sessionId":"s-0","modes":{"currentModeId":"ask","availableModes":[{"id":"ask","name":"Ask"},'
    b'{"id":"code","name":"Code"}]},"configOptions":[{"id":"model","name":"Model","category":"model",'
    b'"type":"select","currentValue":"big","options":[{"value":"big","name":"Big"},{"value":"small","name":"Small"}]}]}'
)
GO = "Go"


def works() -> "dict[str, Work]":
    import libacp
    import libacp.aio as aio

    def client(session: bytes) -> libacp.Connection:
        """A client whose one session is at work."""
        client = libacp.Connection("client")
        client.request("initialize", {"clientCapabilities": {}})
        answers = [b'{"protocolVersion":1,"agentCapabilities":{}}', session]
        calls = [("session/new", {"cwd": "/work", "mcpServers": []}), ("session/prompt", {"sessionId": "s-0", "prompt": []})]
        for number, (answer, (method, params)) in enumerate(zip(answers, calls), 1):
            client.receive_data(b'{"jsonrpc":"2.0","id":%d,"result":%s}\n' % (number, answer))
            (event,) = client.events()
            assert isinstance(event, libacp.Response), event
            client.request(method, params)
        client.data_to_send()
        return client

    def objects(connection: libacp.Connection) -> int:
        """Takes all events, and their params as Python objects."""
        count = 0
        for event in connection.events():
            event.params["update"]
            count += 1
        return count

    def untouched(connection: libacp.Connection) -> int:
        """Takes all events, and leaves their params as bytes."""
        count = 0
        for event in connection.events():
            assert type(event) is libacp.Notification, event
            count += 1
        return count

    def decode(name: str, size: int, drain: Callable[[libacp.Connection], int]) -> Work:
        def work(inputs: Inputs) -> Pass:
            data, done, connection = inputs.bytes(name), Pass(), client(SESSION)
            size_ = size or len(data)
            pieces = [data[at : at + size_] for at in range(0, len(data), size_)] if size_ > 1 else None
            with done.timed():
                for piece in pieces if pieces is not None else (data[at : at + 1] for at in range(len(data))):
                    connection.receive_data(piece)
                    done.count += drain(connection)
            return done

        return work

    def many(inputs: Inputs) -> Pass:
        clients, done = [client(b'{"sessionId":"s-0"}') for _ in range(CONNECTIONS)], Pass()
        lines = inputs.lines("small.jsonl")
        with done.timed():
            for second in range(1, SECONDS + 1):
                line = lines[second]
                for connection in clients:
                    connection.receive_data(line)
                    done.count += objects(connection)
                    connection.handle_timeout(second * 1000)
                    assert not connection.data_to_send()
                    connection.poll_timeout()
        return done

    class File:
        """A client's files, which all have this text."""

        def __init__(self, text: str) -> None:
            self._text = text

        async def read_text_file(self, session: Any, params: Any) -> str:
            return self._text

    async def turn(handler: Callable[[Any], Any], count: int, size: int, of: Callable[[Any], int], files: Any) -> Pass:
        """A turn of the agent's, in which the client sees so much text."""
        agent, done = aio.Agent("bench", "1"), Pass()
        agent.prompt(handler)
        (agent_reads, client_writes), (client_reads, agent_writes) = pipe(), pipe()
        serving = asyncio.ensure_future(agent.serve(agent_reads, agent_writes))
        async with aio.connect(client_reads, client_writes, aio.Client(files=files)) as peer:
            session = await peer.new_session("/work")
            seen = 0
            with done.timed():
                async for update in session.prompt(GO):
                    seen += of(update)
            assert seen == size, seen
        await serving
        done.count = count
        return done

    async def chunks(inputs: Inputs) -> Pass:
        text = inputs.text("chunk.txt")

        async def answer(turn: Any) -> None:
            for _ in range(CHUNKS):
                await turn.message(text)

        return await turn(answer, CHUNKS, CHUNKS * len(text), lambda update: len(update["content"]["text"]), None)

    async def diffs(inputs: Inputs) -> Pass:
        old, new = inputs.text("old.txt"), inputs.text("new.txt")

        async def answer(turn: Any) -> None:
            await turn.update({"sessionUpdate": "tool_call", "toolCallId": "call", "title": "Edit"})
            for number in range(1, DIFFS + 1):
                diff = {"type": "diff", "path": "/work/main.rs", "oldText": old, "newText": new}
                update = {"sessionUpdate": "tool_call_update", "toolCallId": "call", "content": [diff]}
                if number == DIFFS:
                    update["status"] = "completed"
                await turn.update(update)

        def size(update: Any) -> int:
            return sum(len(item["newText"]) for item in update.get("content", []))

        return await turn(answer, DIFFS, DIFFS * len(new), size, None)

    async def files(inputs: Inputs) -> Pass:
        text = inputs.text("file.txt")

        async def answer(turn: Any) -> None:
            for _ in range(FILES):
                assert await turn.read_text_file("/work/main.rs") == text

        return await turn(answer, FILES, 0, lambda update: 1, File(text))

    return {
        "w1": chunks,
        "w2": diffs,
        "w3": files,
        "w4-small": decode("small.jsonl", PIECE, objects),
        "w4-mix": decode("mix.jsonl", PIECE, objects),
        "w4-small-bytes": decode("small.jsonl", PIECE, untouched),
        "w4-mix-bytes": decode("mix.jsonl", PIECE, untouched),
        "w5": many,
        "w6-whole": decode("big.jsonl", 0, untouched),
        "w6-4096": decode("big.jsonl", 4096, untouched),
        "w6-100": decode("big.jsonl", 100, untouched),
        "w6-1": decode("big.jsonl", 1, untouched),
    }


main(works)
