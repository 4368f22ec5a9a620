"""W7 and W8 on the official Python SDK: its server and its clients, over sockets of the system's."""

from __future__ import annotations

import contextlib
from typing import Any

import httpx

from measure import CHUNKS, Inputs, Pass, Work, main
from remote import READS, served


def works() -> "dict[str, Work]":
    import acp
    from acp import helpers, schema
    from acp.http import create_http_stream
    from acp.http.asgi import create_asgi_app
    from acp.ws import create_websocket_stream

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
            self.seen += len(update.content.text)

        async def read_text_file(self, **_: Any) -> schema.ReadTextFileResponse:
            return schema.ReadTextFileResponse(content=self.file)

    async def turn(scheme: str, work: Any, count: int, size: int, file: str = "") -> Pass:
        done, client = Pass(), Client(file)
        async with served(create_asgi_app(lambda *_: Agent(work))) as address:
            url = f"{scheme}://{address}/acp"
            transport: Any = await create_websocket_stream(url) if scheme == "ws" else create_http_stream(url)
            peer = acp.connect_to_agent(client, transport)
            files = schema.FileSystemCapabilities(read_text_file=True)
            await peer.initialize(protocol_version=1, client_capabilities=schema.ClientCapabilities(fs=files))
            session = await peer.new_session(cwd="/work", mcp_servers=[])
            with done.timed():
                await peer.prompt(session_id=session.session_id, prompt=[helpers.text_block("Go")])
            assert client.seen == size, client.seen
            # Its requests for streams are still open then, and it may end with what became of one.
            with contextlib.suppress(httpx.HTTPError):
                await peer.close()
            await transport.close()
        done.count = count
        return done

    def chunks(scheme: str) -> Work:
        async def work(inputs: Inputs) -> Pass:
            text = inputs.text("chunk.txt")

            async def said(client: Any) -> None:
                for _ in range(CHUNKS):
                    await client.session_update("s-0", helpers.update_agent_message_text(text))

            return await turn(scheme, said, CHUNKS, CHUNKS * len(text))

        return work

    def reads(scheme: str) -> Work:
        async def work(inputs: Inputs) -> Pass:
            text = inputs.text("file.txt")

            async def asked(client: Any) -> None:
                for _ in range(READS):
                    answer = await client.read_text_file(session_id="s-0", path="/work/main.rs")
                    assert answer.content == text

            return await turn(scheme, asked, READS, 0, text)

        return work

    return {"w7-http": chunks("http"), "w7-ws": chunks("ws"), "w8-http": reads("http"), "w8-ws": reads("ws")}


main(works)
