"""The agent of the script on the official Python SDK: ``python agent.py --script script.json``."""

from __future__ import annotations

import argparse
import asyncio
import sys
from typing import Any
from urllib.parse import unquote

import acp
from acp import schema

from player import Player
from script import Difference, load
from sdk import plain, received, sent

INFO = schema.Implementation(name="libacp-interop-python-agent", version="0.1.0")


class ScriptAgent(acp.Agent):
    def __init__(self, script: dict[str, Any]) -> None:
        self.player = Player(script, "agent", self)
        self.client: Any = None

    def on_connect(self, conn: Any) -> None:
        self.client = conn

    # What the SDK calls. (It takes a sole parameter of the name `params` for its old calling convention.)

    async def initialize(self, **fields: Any) -> schema.InitializeResponse:
        result = await self.player.receive("initialize", received("initialize", fields))
        return schema.InitializeResponse.model_validate({**result, "agentInfo": plain(INFO)})

    async def new_session(self, **fields: Any) -> schema.NewSessionResponse:
        result = await self.player.receive("session/new", received("session/new", fields))
        return schema.NewSessionResponse.model_validate(result)

    async def prompt(self, **fields: Any) -> schema.PromptResponse:
        result = await self.player.receive("session/prompt", received("session/prompt", fields))
        return schema.PromptResponse.model_validate(result)

    async def cancel(self, session_id: str, **_: Any) -> None:
        self.player.push("notification", "session/cancel", {"sessionId": session_id})

    async def ext_method(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        return await self.player.receive(f"_{method}", params)

    # What the player calls.

    async def request(self, method: str, params: dict[str, Any]) -> Any:
        return await sent(self.client, method, params)

    async def notify(self, method: str, params: dict[str, Any]) -> None:
        await sent(self.client, method, params)

    async def perform(self, method: str, params: dict[str, Any], expected: Any) -> Any:
        return expected

    def bind(self, method: str, params: dict[str, Any]) -> None:
        names = self.player.names
        if method == "initialize":
            self.player.require_name("clientInfo", params.get("clientInfo"))
        elif method == "session/new":
            names["cwd"] = params["cwd"]
        elif method == "session/prompt" and "work" not in names:
            uris = [block["uri"] for block in params["prompt"] if block["type"] == "resource_link"]
            if not uris or not uris[0].startswith("file:///") or not uris[0].endswith("/notes.md"):
                raise Difference(f"{self.player.at}: the prompt links to no notes.md")
            names["work_uri"] = uris[0].removeprefix("file://").removesuffix("/notes.md")
            names["work"] = unquote(names["work_uri"], errors="strict")


async def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--script", required=True)
    agent = ScriptAgent(load(parser.parse_args().script))
    serving = asyncio.create_task(acp.run_agent(agent))
    serving.add_done_callback(lambda _: agent.player.push("eof", ""))
    await agent.player.run()
    await serving
    agent.player.expect_empty()


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except Exception as error:  # noqa: BLE001
        print(f"python agent: {error!r}", file=sys.stderr)
        sys.exit(1)
