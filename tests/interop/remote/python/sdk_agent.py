"""The agent of the remote script on the official Python SDK, as its ASGI application `app`."""

import asyncio
from typing import Any, Dict, List

from acp import helpers, schema
from acp.http.asgi import create_asgi_app

HISTORY: Dict[str, List[str]] = {}


class Agent:
    def __init__(self, client: Any) -> None:
        self.client = client
        self.cancelled = asyncio.Event()

    async def initialize(self, protocol_version: int, **_: Any) -> schema.InitializeResponse:
        return schema.InitializeResponse(
            protocol_version=protocol_version,
            agent_info=schema.Implementation(name="sdk", version="1"),
            agent_capabilities=schema.AgentCapabilities(load_session=True),
        )

    async def new_session(self, cwd: str, **_: Any) -> schema.NewSessionResponse:
        name = f"sdk-{len(HISTORY) + 1}"
        HISTORY[name] = []
        return schema.NewSessionResponse(session_id=name)

    async def load_session(self, cwd: str, session_id: str, **_: Any) -> schema.LoadSessionResponse:
        for text in HISTORY[session_id]:
            await self.client.session_update(session_id, helpers.update_user_message_text(text))
        return schema.LoadSessionResponse()

    async def cancel(self, session_id: str, **_: Any) -> None:
        self.cancelled.set()

    async def prompt(self, session_id: str, prompt: Any, **_: Any) -> schema.PromptResponse:
        text = prompt[0].text

        async def say(said: str) -> None:
            await self.client.session_update(session_id, helpers.update_agent_message_text(said))

        if text.startswith("has "):
            await say("yes" if text[4:] in HISTORY else "no")
            return schema.PromptResponse(stop_reason="end_turn")
        HISTORY[session_id].append(text)
        if text == "ask":
            call = helpers.start_read_tool_call("call", "Look", "/tmp/x")
            await self.client.session_update(session_id, call)
            options = [schema.PermissionOption(option_id="yes", name="Yes", kind="allow_once")]
            update = schema.ToolCallUpdate(tool_call_id="call", title="Look")
            asked = self.client.request_permission(session_id=session_id, tool_call=update, options=options)
            allowed = (await asked).outcome.outcome == "selected"
            await self.client.session_update(session_id, helpers.update_tool_call("call", status="completed"))
            await say("allowed" if allowed else "refused")
        elif text == "wait":
            await say("waiting")
            await self.cancelled.wait()
            return schema.PromptResponse(stop_reason="cancelled")
        else:
            await say(text)
        return schema.PromptResponse(stop_reason="end_turn")


app = create_asgi_app(Agent)
