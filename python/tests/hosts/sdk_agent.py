"""An agent on the official Python SDK, which does in its turn everything that it can ask a client for."""

import asyncio
from typing import Any

import acp
from acp import helpers, schema


class Agent(acp.Agent):
    def __init__(self) -> None:
        self.client: Any = None
        self.cancelled = asyncio.Event()

    def on_connect(self, conn: Any) -> None:
        self.client = conn

    async def initialize(self, protocol_version: int, **_: Any) -> schema.InitializeResponse:
        info = schema.Implementation(name="official", version="1")
        return schema.InitializeResponse(protocol_version=protocol_version, agent_info=info)

    async def new_session(self, cwd: str, **_: Any) -> schema.NewSessionResponse:
        self.cwd = cwd
        return schema.NewSessionResponse(session_id="official-1")

    async def cancel(self, session_id: str, **_: Any) -> None:
        self.cancelled.set()

    async def prompt(self, session_id: str, prompt: Any, **_: Any) -> schema.PromptResponse:
        client, folder = self.client, self.cwd
        if prompt[0].text == "wait":
            await client.session_update(session_id, helpers.update_agent_message_text("waiting"))
            await self.cancelled.wait()
            return schema.PromptResponse(stop_reason="cancelled")
        await client.session_update(session_id, helpers.update_plan([helpers.plan_entry("Work")]))
        await client.session_update(session_id, helpers.update_agent_thought_text("hm"))
        call = helpers.start_edit_tool_call("call", "Write", f"{folder}/out.txt", None)
        await client.session_update(session_id, call)
        options = [schema.PermissionOption(option_id="yes", name="Yes", kind="allow_once")]
        update = schema.ToolCallUpdate(tool_call_id="call", title="Write")
        answer = await client.request_permission(session_id=session_id, tool_call=update, options=options)
        text = await client.read_text_file(session_id=session_id, path=f"{folder}/in.txt", line=2, limit=1)
        await client.write_text_file(session_id=session_id, path=f"{folder}/out.txt", content=text.content.upper())
        await client.session_update(session_id, helpers.update_tool_call("call", status="completed"))
        terminal = await client.create_terminal(session_id=session_id, command="cat", args=["out.txt"])
        named = {"session_id": session_id, "terminal_id": terminal.terminal_id}
        ended = await client.wait_for_terminal_exit(**named)
        output = await client.terminal_output(**named)
        await client.release_terminal(**named)
        try:
            await client.read_text_file(session_id=session_id, path="/etc/hostname")
            refused = 0
        except acp.RequestError as problem:
            refused = problem.code
        said = f"{answer.outcome.option_id} {ended.exit_code} {refused} {output.output}"
        await client.session_update(session_id, helpers.update_agent_message_text(said))
        return schema.PromptResponse(stop_reason="end_turn")


if __name__ == "__main__":
    asyncio.run(acp.run_agent(Agent()))
