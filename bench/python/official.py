"""The workloads on the official Python SDK."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from measure import CHUNKS, CONNECTIONS, DIFFS, FILES, PIECE, SECONDS, Inputs, Pass, Work, main, pipe

# Updates that the SDK's session state is given.
ACCUMULATED = 500


def works() -> "dict[str, Work]":
    import acp
    from acp import helpers, schema

    class Counter(acp.Client):
        """Counts updates."""

        def __init__(self) -> None:
            self.count = 0

        async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
            self.count += 1

    def decode(name: str, size: int) -> Work:
        async def work(inputs: Inputs) -> Pass:
            data, done, client = inputs.bytes(name), Pass(), Counter()
            size_ = size or len(data)
            lines = data.count(b"\n")
            reader, source = pipe()
            _, sink = pipe()
            connection = acp.connect_to_agent(client, sink, reader)
            pieces = [data[at : at + size_] for at in range(0, len(data), size_)]
            with done.timed():
                for piece in pieces:
                    # As it is with a pipe of the system's: what has come is read before there is more.
                    source.write(piece)
                    await source.drain()
                    await asyncio.sleep(0)
                while client.count < lines:
                    await asyncio.sleep(0)
            done.count = client.count
            await connection.close()
            return done

        return work

    def alone(name: str) -> Work:
        """The SDK's way from a line to the model, without its connection."""

        def work(inputs: Inputs) -> Pass:
            lines, done = inputs.lines(name), Pass()
            with done.timed():
                for line in lines:
                    schema.SessionNotification.model_validate(json.loads(line)["params"])
            done.count = len(lines)
            return done

        return work

    def shown(name: str) -> Work:
        """The same with the SDK's `SessionAccumulator`. It copies all that it has for each update, so it gets the first ones
        alone."""
        from acp.contrib.session_state import SessionAccumulator

        def work(inputs: Inputs) -> Pass:
            lines, done, accumulator = inputs.lines(name)[:ACCUMULATED], Pass(), SessionAccumulator()
            with done.timed():
                for line in lines:
                    accumulator.apply(schema.SessionNotification.model_validate(json.loads(line)["params"]))
            done.count = len(lines)
            return done

        return work

    async def many(inputs: Inputs) -> Pass:
        client, done = Counter(), Pass()
        lines = inputs.lines("small.jsonl")
        _, sink = pipe()
        ends = [pipe() for _ in range(CONNECTIONS)]
        connections = [acp.connect_to_agent(client, sink, reader) for reader, _ in ends]
        await asyncio.sleep(0)
        with done.timed():
            for second in range(1, SECONDS + 1):
                for _, source in ends:
                    source.write(lines[second])
                while client.count < second * CONNECTIONS:
                    await asyncio.sleep(0)
        done.count = client.count
        for connection in connections:
            await connection.close()
        return done

    class Agent(acp.Agent):
        """Answers the prompt after it has done its work."""

        def __init__(self, work: Any) -> None:
            self.work = work
            self.client: Any = None

        def on_connect(self, conn: Any) -> None:
            self.client = conn

        async def initialize(self, protocol_version: int, **_: Any) -> schema.InitializeResponse:
            return schema.InitializeResponse(protocol_version=protocol_version)

        async def new_session(self, **_: Any) -> schema.NewSessionResponse:
            return schema.NewSessionResponse(session_id="s-0")

        async def prompt(self, **_: Any) -> schema.PromptResponse:
            await self.work(self.client)
            return schema.PromptResponse(stop_reason="end_turn")

    class Client(acp.Client):
        """Adds up the text of updates, and has one file."""

        def __init__(self, file: str) -> None:
            self.file = file
            self.seen = 0

        async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
            if isinstance(update, schema.AgentMessageChunk):
                self.seen += len(update.content.text)
            elif isinstance(update, schema.ToolCallProgress):
                self.seen += sum(len(item.new_text) for item in update.content or [])

        async def read_text_file(self, **_: Any) -> schema.ReadTextFileResponse:
            return schema.ReadTextFileResponse(content=self.file)

    async def turn(work: Any, count: int, size: int, file: str = "") -> Pass:
        done, client = Pass(), Client(file)
        (agent_reads, client_writes), (client_reads, agent_writes) = pipe(), pipe()
        serving = asyncio.ensure_future(acp.run_agent(Agent(work), agent_writes, agent_reads))
        peer = acp.connect_to_agent(client, client_writes, client_reads)
        files = schema.FileSystemCapabilities(read_text_file=True)
        await peer.initialize(protocol_version=1, client_capabilities=schema.ClientCapabilities(fs=files))
        session = await peer.new_session(cwd="/work", mcp_servers=[])
        with done.timed():
            await peer.prompt(session_id=session.session_id, prompt=[helpers.text_block("Go")])
        assert client.seen == size, client.seen
        client_writes.close()
        await serving
        await peer.close()
        done.count = count
        return done

    async def chunks(inputs: Inputs) -> Pass:
        text = inputs.text("chunk.txt")

        async def work(client: Any) -> None:
            for _ in range(CHUNKS):
                await client.session_update("s-0", helpers.update_agent_message_text(text))

        return await turn(work, CHUNKS, CHUNKS * len(text))

    async def diffs(inputs: Inputs) -> Pass:
        old, new = inputs.text("old.txt"), inputs.text("new.txt")

        async def work(client: Any) -> None:
            await client.session_update("s-0", helpers.start_tool_call("call", "Edit"))
            for number in range(1, DIFFS + 1):
                content = [helpers.tool_diff_content("/work/main.rs", new, old)]
                status = "completed" if number == DIFFS else None
                await client.session_update("s-0", helpers.update_tool_call("call", content=content, status=status))

        return await turn(work, DIFFS, DIFFS * len(new))

    async def files(inputs: Inputs) -> Pass:
        text = inputs.text("file.txt")

        async def work(client: Any) -> None:
            for _ in range(FILES):
                answer = await client.read_text_file(session_id="s-0", path="/work/main.rs")
                assert answer.content == text

        return await turn(work, FILES, 0, text)

    return {
        "w1": chunks,
        "w2": diffs,
        "w3": files,
        "w4-small": decode("small.jsonl", PIECE),
        "w4-mix": decode("mix.jsonl", PIECE),
        "w4-small-alone": alone("small.jsonl"),
        "w4-mix-alone": alone("mix.jsonl"),
        "w4-small-view-alone": shown("small.jsonl"),
        "w4-mix-view-alone": shown("mix.jsonl"),
        "w5": many,
        "w6-whole": decode("big.jsonl", 0),
        "w6-4096": decode("big.jsonl", 4096),
        "w6-100": decode("big.jsonl", 100),
    }


main(works)
