"""The agent of the catalogue on the official Python SDK: ``python agent.py --version 1 [--login]``.

A prompt whose first text is `step: ID` plays the turn of that step; `../steps.json` says what its client has to see. What
the SDK has no method for is told as not offered: `logout`, `session/delete`, and that a request was given up.
"""

from __future__ import annotations

import asyncio
import os
import sys
import uuid
from typing import Any

import acp
from acp import schema

LOGIN = "--login" in sys.argv
DIGITS = "0123456789" * 100_000
COLOURS = {"type": "string", "oneOf": [{"const": each, "title": each} for each in ("red", "blue")]}
FORM = {"type": "object", "properties": {"colour": COLOURS}, "required": ["colour"]}
CHOICES = [
    {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
    {"optionId": "no", "name": "No", "kind": "reject_once"},
]
CAPABILITIES = {
    "loadSession": True,
    "promptCapabilities": {"image": True, "embeddedContext": True},
    "sessionCapabilities": {"list": {}, "resume": {}, "close": {}, "additionalDirectories": {}},
}


def plain(value: Any) -> Any:
    return value.model_dump(mode="json", by_alias=True, exclude_none=True)


class Kept:
    """A session, whether it is open or not."""

    def __init__(self, cwd: str, further: list[str]) -> None:
        self.id = str(uuid.uuid4())
        self.cwd = cwd
        self.further = further
        self.mode = "ask"
        self.options: dict[str, Any] = {"model": "small", "web": False}
        self.history: list[Any] = []
        self.turn: asyncio.Task[str] | None = None

    @property
    def opened(self) -> dict[str, Any]:
        modes = [{"id": each, "name": each} for each in ("ask", "code")]
        return {"modes": {"currentModeId": self.mode, "availableModes": modes}, "configOptions": self.listed}

    @property
    def listed(self) -> list[Any]:
        models = [{"value": each, "name": each} for each in ("small", "large")]
        return [
            {"type": "select", "id": "model", "name": "Model", "currentValue": self.options["model"], "options": models},
            {"type": "boolean", "id": "web", "name": "Search the web", "currentValue": self.options["web"]},
        ]


class Turn:
    """What a step says and asks."""

    def __init__(self, client: Any, session: Kept, blocks: list[Any], meta: Any) -> None:
        self.client, self.session, self.blocks, self.meta = client, session, blocks, meta

    @property
    def notes(self) -> str:
        return os.path.join(self.session.cwd, "notes.txt")

    async def update(self, kind: str, /, **members: Any) -> None:
        await say(self.client, self.session.id, {"sessionUpdate": kind, **members})

    async def message(self, text: str) -> None:
        await self.client.session_update(self.session.id, acp.update_agent_message_text(text))

    async def thought(self, text: str) -> None:
        await self.client.session_update(self.session.id, acp.update_agent_thought_text(text))

    async def call(self, title: str, **members: Any) -> str:
        id = str(uuid.uuid4())
        await self.update("tool_call", toolCallId=id, title=title, **{"status": "in_progress", **members})
        return id

    async def change(self, id: str, **members: Any) -> None:
        await self.update("tool_call_update", toolCallId=id, **members)


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
        told = [block for block in blocks if block["type"] == "text"]
        session.history += [{"sessionUpdate": "user_message_chunk", "content": block} for block in told]
        step = blocks[0]["text"].removeprefix("step: ")
        area, _, what = step.partition(".")
        play = getattr(self, area.replace("-", "_") + "_turn")
        session.turn = asyncio.ensure_future(play(Turn(self.client, session, blocks, meta), what))
        try:
            reason = await session.turn or "end_turn"
        except asyncio.CancelledError:
            reason = "cancelled"
        finally:
            session.turn = None
        return schema.PromptResponse.model_validate({"stopReason": reason})

    async def init_turn(self, turn: Turn, what: str) -> None:
        await turn.message(f"client {self.client_name}")

    async def session_turn(self, turn: Turn, what: str) -> None:
        if what == "close":
            await self.cancel_turn(turn, what)
        elif what == "folders":
            await turn.message(" ".join(turn.session.further))
        elif what == "multi":
            for number in range(20):
                await turn.message(f"{turn.session.id} {number};")
                await asyncio.sleep(0.001)
        else:
            await turn.message("Remembered.")
            said = {"type": "text", "text": "Remembered."}
            turn.session.history.append({"sessionUpdate": "agent_message_chunk", "content": said})

    async def cancel_turn(self, turn: Turn, what: str) -> None:
        await turn.message("Waiting.")
        await asyncio.Event().wait()

    async def prompt_turn(self, turn: Turn, what: str) -> None:
        if what == "stream":
            for number in range(10):
                await turn.message(f"{number} ")
            return await turn.message('ä😀\u2028\x01"\\.')
        block = turn.blocks[1]
        resource = block.get("resource", {})
        shown = {
            "image": [block.get("mimeType"), block.get("data")],
            "resource": [resource.get("uri"), resource.get("text")],
            "resource_link": [block.get("uri"), block.get("name")],
        }
        await turn.message(" ".join([block["type"], *shown[block["type"]]]))

    async def update_turn(self, turn: Turn, what: str) -> None:
        text = {"type": "content", "content": {"type": "text", "text": "found it"}}
        if what == "thought":
            await turn.thought("Let me ")
            await turn.thought("see.")
            await turn.message("Seen.")
        elif what == "plan":
            for status in ("in_progress", "completed"):
                look = {"content": "look", "priority": "high", "status": status}
                answer = {"content": "answer", "priority": "medium", "status": "pending"}
                await turn.update("plan", entries=[look, answer])
        elif what == "tool_call":
            begin: Any = {"kind": "search", "status": "pending", "locations": [{"path": turn.notes}]}
            id = await turn.call("Look around", **begin, rawInput={"deep": True})
            await turn.change(id, status="in_progress")
            await turn.change(id, content=[text])
            await turn.change(id, status="completed", rawOutput={"found": 1})
        elif what == "tool_call.failed":
            await turn.change(await turn.call("Try"), status="failed")
            await turn.message("Never mind.")
        elif what == "diff":
            id = await turn.call("Edit notes.txt", kind="edit")
            diff = {"type": "diff", "path": turn.notes, "oldText": "one\ntwo\nthree\n", "newText": "one\n2\nthree\n"}
            await turn.change(id, content=[diff])
            await turn.change(id, status="completed")
        elif what == "commands":
            tour = {"name": "tour", "description": "Tour", "input": {"hint": "where to"}}
            commands = [{"name": "wait", "description": "Wait"}, tour]
            await turn.update("available_commands_update", availableCommands=commands)
        elif what == "mode":
            await turn.update("current_mode_update", currentModeId="code")
        elif what == "options":
            turn.session.options["model"] = "large"
            await turn.update("config_option_update", configOptions=turn.session.listed)
        elif what == "usage":
            await turn.update("usage_update", used=1000, size=200000, cost={"amount": 0.25, "currency": "EUR"})
        else:
            await turn.update("session_info_update", title="A walk")

    async def stop_turn(self, turn: Turn, what: str) -> str:
        return what

    async def mode_turn(self, turn: Turn, what: str) -> None:
        options = turn.session.options
        await turn.message(f"{turn.session.mode} {options['model']} {str(options['web']).lower()}")

    config_turn = mode_turn

    async def perm_turn(self, turn: Turn, what: str) -> None:
        title = {"selected": "allow", "rejected": "reject", "cancelled": "wait"}[what]
        id = await turn.call(title, status="pending")
        call = {"sessionId": turn.session.id, "toolCall": {"toolCallId": id, "title": title}, "options": CHOICES}
        asked = schema.RequestPermissionRequest.model_validate(call)
        answer = await turn.client.request_permission(turn.session.id, asked.tool_call, asked.options)
        allowed = getattr(answer.outcome, "option_id", None) == "yes"
        await turn.change(id, status="completed" if allowed else "failed")
        await turn.message("allowed" if allowed else "rejected")

    async def fs_turn(self, turn: Turn, what: str) -> None:
        path = os.path.join(turn.session.cwd, {"write": "out.txt", "missing": "none.txt"}.get(what, "notes.txt"))
        if what == "write":
            await turn.client.write_text_file(turn.session.id, path, "a\r\nä😀")
            return await turn.message("written")
        lines = {"line": 2, "limit": 1} if what == "read-range" else {}
        try:
            found = (await turn.client.read_text_file(turn.session.id, path, **lines)).content
        except acp.RequestError as problem:
            found = f"error {problem.code}"
        await turn.message(found.rstrip("\n") if lines else found)

    async def term_turn(self, turn: Turn, what: str) -> None:
        args: Any = ("sleep", ["30"])
        if what == "run":
            greeting = schema.EnvVariable(name="GREETING", value="hello")
            args = ("sh", ["-c", 'echo "$GREETING"; exit 3'], [greeting])
        id = (await turn.client.create_terminal(turn.session.id, *args)).terminal_id
        if what == "kill":
            await turn.client.kill_terminal(turn.session.id, id)
        ended = await turn.client.wait_for_terminal_exit(turn.session.id, id)
        printed = (await turn.client.terminal_output(turn.session.id, id)).output.strip()
        await turn.client.release_terminal(turn.session.id, id)
        killed = "killed" if ended.signal else "not killed"
        await turn.message(f"{printed} {ended.exit_code}" if what == "run" else killed)

    async def elicit_turn(self, turn: Turn, what: str) -> None:
        message = "Which colour?" if what == "form" else "Anything else?"
        form = {"sessionId": turn.session.id, "mode": "form", "requestedSchema": FORM}
        mode = schema.ElicitationFormSessionMode.model_validate(form)
        answer = plain(await turn.client.create_elicitation(message, mode))
        await turn.message(" ".join([answer["action"], *answer.get("content", {}).values()]))

    async def ext_turn(self, turn: Turn, what: str) -> None:
        answer = await turn.client.ext_method("libacp.dev/echo", {"value": 42})
        await turn.message(f"echo {answer['value']}")

    async def meta_turn(self, turn: Turn, what: str) -> None:
        await turn.message(f"trace {turn.meta.get('libacp.dev/trace')}")

    async def error_turn(self, turn: Turn, what: str) -> None:
        raise acp.RequestError(-32042, "No such thing", {"thing": "x"})

    async def big_turn(self, turn: Turn, what: str) -> None:
        if what == "update-1m":
            return await turn.message(DIGITS)
        text = turn.blocks[1]["text"]
        await turn.message(f"{len(text)} {'the same' if text == DIGITS else 'different'}")

    async def view_turn(self, turn: Turn, what: str) -> None:
        await turn.thought("Hm.")
        await turn.message("First.")
        await turn.change(await turn.call("Look"), status="completed")
        await turn.message("Second.")


if __name__ == "__main__":
    asyncio.run(acp.run_agent(CatalogueAgent(), use_unstable_protocol=True))
