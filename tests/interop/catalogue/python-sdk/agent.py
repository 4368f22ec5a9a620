"""The agent of the catalogue on the official Python SDK: ``python agent.py --version 1 [--login]``.

A prompt whose first text is `step: ID` plays the turn of that step; `../steps.json` says what its client has to see. What
the SDK has no method for is told as not offered: `logout`, `session/delete`, and that a request was given up.
"""

from __future__ import annotations

import asyncio
import os
import sys
import uuid
from pathlib import Path
from typing import Any

import acp
from acp import schema

sys.path.insert(0, str(Path(__file__).parents[1] / "python"))

from turns import CHOICES, FORM, PLAYED, TITLES, TRACE, State, step  # noqa: E402

LOGIN = "--login" in sys.argv
CAPABILITIES = {
    "loadSession": True,
    "promptCapabilities": {"image": True, "embeddedContext": True},
    "sessionCapabilities": {"list": {}, "resume": {}, "close": {}, "additionalDirectories": {}},
}


def plain(value: Any) -> Any:
    return value.model_dump(mode="json", by_alias=True, exclude_none=True)


class Kept(State):
    """A session, whether it is open or not."""

    def __init__(self, cwd: str, further: list[str]) -> None:
        super().__init__()
        self.id = str(uuid.uuid4())
        self.cwd = cwd
        self.further = further
        self.turn: asyncio.Task[Any] | None = None


class Turn:
    """What a step says and asks."""

    def __init__(self, client: Any, client_name: str, session: Kept, blocks: list[Any], meta: Any) -> None:
        self.client, self.client_name, self.kept, self.blocks, self.meta = client, client_name, session, blocks, meta
        self.session_id, self.cwd, self.further = session.id, session.cwd, session.further
        self.step = blocks[0]["text"].removeprefix("step: ")

    async def update(self, update: Any) -> None:
        await say(self.client, self.session_id, update)

    async def message(self, text: str) -> None:
        await self.client.session_update(self.session_id, acp.update_agent_message_text(text))

    async def thought(self, text: str) -> None:
        await self.client.session_update(self.session_id, acp.update_agent_thought_text(text))


async def say(client: Any, session_id: str, update: Any) -> None:
    told = schema.SessionNotification.model_validate({"sessionId": session_id, "update": update})
    await client.session_update(session_id, told.update)


class CatalogueAgent(acp.Agent):
    def __init__(self) -> None:
        self.kept: dict[str, Kept] = {}
        self.logged_in = not LOGIN
        self.client: Any = None
        self.client_name = ""

    def on_connect(self, conn: Any) -> None:
        self.client = conn

    def find(self, id: str) -> Kept:
        if id not in self.kept:
            raise acp.RequestError(-32002, "There is no such session")
        return self.kept[id]

    async def initialize(self, protocol_version: int, client_info: Any = None, **_: Any) -> Any:
        self.client_name = client_info.name
        info = {"name": "catalogue", "version": "1.0"}
        ways = [{"id": "key", "name": "Key"}] if LOGIN else []
        hello = {"protocolVersion": 1, "agentInfo": info, "agentCapabilities": CAPABILITIES, "authMethods": ways}
        return schema.InitializeResponse.model_validate(hello)

    async def authenticate(self, method_id: str, **_: Any) -> None:
        self.logged_in = True

    async def new_session(self, cwd: str, additional_directories: Any = None, **_: Any) -> Any:
        if not self.logged_in:
            raise acp.RequestError.auth_required()
        session = Kept(cwd, additional_directories or [])
        self.kept[session.id] = session
        return schema.NewSessionResponse.model_validate({"sessionId": session.id, **session.opened})

    async def load_session(self, session_id: str, **_: Any) -> Any:
        for update in self.find(session_id).history:
            await say(self.client, session_id, update)
        return schema.LoadSessionResponse.model_validate(self.find(session_id).opened)

    async def resume_session(self, session_id: str, **_: Any) -> Any:
        return schema.ResumeSessionResponse.model_validate(self.find(session_id).opened)

    async def list_sessions(self, cwd: str | None = None, **_: Any) -> Any:
        sessions = [{"sessionId": each.id, "cwd": each.cwd} for each in self.kept.values() if cwd in (None, each.cwd)]
        return schema.ListSessionsResponse.model_validate({"sessions": sessions})

    async def close_session(self, session_id: str, **_: Any) -> None:
        await self.cancel(session_id)
        turn = self.find(session_id).turn
        if turn is not None:
            await asyncio.wait([turn])

    async def set_session_mode(self, session_id: str, mode_id: str, **_: Any) -> None:
        self.find(session_id).mode = mode_id
        await say(self.client, session_id, {"sessionUpdate": "current_mode_update", "currentModeId": mode_id})

    async def set_config_option(self, session_id: str, config_id: str, value: Any, **_: Any) -> Any:
        session = self.find(session_id)
        session.options[config_id] = value
        return schema.SetSessionConfigOptionResponse.model_validate({"configOptions": session.listed})

    async def cancel(self, session_id: str, **_: Any) -> None:
        turn = self.find(session_id).turn
        if turn is not None:
            turn.cancel()

    async def ext_method(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        if method == "libacp.dev/wait":
            await self.client.ext_notification("libacp.dev/noted", {"note": "not offered: requests go on to their end"})
            return {}
        if method != "libacp.dev/echo":
            raise acp.RequestError.method_not_found(f"_{method}")
        return params

    async def ext_notification(self, method: str, params: dict[str, Any]) -> None:
        await self.client.ext_notification("libacp.dev/noted", params)

    async def prompt(self, session_id: str, prompt: list[Any], **meta: Any) -> Any:
        session = self.find(session_id)
        blocks = [plain(block) for block in prompt]
        for block in blocks:
            if block["type"] == "text":
                session.remember("user_message", block)
        turn = Turn(self.client, self.client_name, session, blocks, meta)
        session.turn = asyncio.ensure_future(PLAYED[turn.step](turn))
        try:
            reason = await session.turn or "end_turn"
        except asyncio.CancelledError:
            reason = "cancelled"
        finally:
            session.turn = None
        return schema.PromptResponse.model_validate({"stopReason": reason})


@step(*TITLES)
async def permission(turn: Turn) -> None:
    title = TITLES[turn.step]
    await turn.update({"sessionUpdate": "tool_call", "toolCallId": title, "title": title, "status": "pending"})
    call = {"sessionId": turn.session_id, "toolCall": {"toolCallId": title, "title": title}, "options": CHOICES}
    asked = schema.RequestPermissionRequest.model_validate(call)
    meta = TRACE if title == "meta" else {}
    answer = await turn.client.request_permission(turn.session_id, asked.tool_call, asked.options, **meta)
    allowed = getattr(answer.outcome, "option_id", None) == "yes"
    status = "completed" if allowed else "failed"
    await turn.update({"sessionUpdate": "tool_call_update", "toolCallId": title, "status": status})
    await turn.message("allowed" if allowed else "rejected")


@step("cancel-request.agent")
async def give_up(turn: Turn) -> None:
    await turn.message("not offered: the SDK knows no $/cancel_request")


@step("fs.read", "fs.read-range", "fs.missing", "fs.write")
async def files(turn: Turn) -> None:
    path = os.path.join(turn.cwd, {"fs.write": "out.txt", "fs.missing": "none.txt"}.get(turn.step, "notes.txt"))
    if turn.step == "fs.write":
        await turn.client.write_text_file(turn.session_id, path, "a\r\nä😀")
        return await turn.message("written")
    lines = {"line": 2, "limit": 1} if turn.step == "fs.read-range" else {}
    try:
        found = (await turn.client.read_text_file(turn.session_id, path, **lines)).content
    except acp.RequestError as problem:
        found = f"error {problem.code}"
    await turn.message(found.rstrip("\n") if lines else found)


@step("term.run", "term.kill")
async def terminals(turn: Turn) -> None:
    args: Any = ("sleep", ["30"])
    if turn.step == "term.run":
        greeting = schema.EnvVariable(name="GREETING", value="hello")
        args = ("sh", ["-c", 'echo "$GREETING"; exit 3'], [greeting])
    id = (await turn.client.create_terminal(turn.session_id, *args)).terminal_id
    if turn.step == "term.kill":
        await turn.client.kill_terminal(turn.session_id, id)
    ended = await turn.client.wait_for_terminal_exit(turn.session_id, id)
    printed = (await turn.client.terminal_output(turn.session_id, id)).output.strip()
    await turn.client.release_terminal(turn.session_id, id)
    killed = "killed" if ended.signal else "not killed"
    await turn.message(f"{printed} {ended.exit_code}" if turn.step == "term.run" else killed)


@step("elicit.form", "elicit.decline")
async def elicit(turn: Turn) -> None:
    message = "Which colour?" if turn.step == "elicit.form" else "Anything else?"
    form = {"sessionId": turn.session_id, "mode": "form", "requestedSchema": FORM}
    mode = schema.ElicitationFormSessionMode.model_validate(form)
    answer = plain(await turn.client.create_elicitation(message, mode))
    await turn.message(" ".join([answer["action"], *answer.get("content", {}).values()]))


@step("elicit.complete")
async def visit(turn: Turn) -> None:
    link = {"sessionId": turn.session_id, "mode": "url", "url": "https://example.com/visit", "elicitationId": "visit"}
    mode = schema.ElicitationUrlSessionMode.model_validate(link)
    answer = plain(await turn.client.create_elicitation("Visit", mode))
    await turn.client.complete_elicitation("visit")
    await turn.message(answer["action"])


@step("ext.client")
async def ask_echo(turn: Turn) -> None:
    answer = await turn.client.ext_method("libacp.dev/echo", {"value": 42})
    await turn.message(f"echo {answer['value']}")


@step("error.handler")
async def refuse(turn: Turn) -> None:
    raise acp.RequestError(-32042, "No such thing", {"thing": "x"})


if __name__ == "__main__":
    asyncio.run(acp.run_agent(CatalogueAgent(), use_unstable_protocol=True))
