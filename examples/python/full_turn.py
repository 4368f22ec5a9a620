"""A turn of the full agent: everything that an agent can say, and everything that its client lets it do."""

from __future__ import annotations

import asyncio
import os
from typing import List

from full_store import Conversation
from libacp import aio
from libacp.types import v1

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
SILENCE = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA="
# One of each kind of content block.
BLOCKS: List[v1.ContentBlock] = [
    {"type": "text", "text": "a text"},
    {"type": "image", "mimeType": "image/png", "data": PIXEL},
    {"type": "audio", "mimeType": "audio/wav", "data": SILENCE},
    {"type": "resource_link", "uri": "file:///notes.md", "name": "notes.md"},
    {"type": "resource", "resource": {"uri": "file:///notes.md", "mimeType": "text/plain", "text": "a resource"}},
]
# What a client says in the _meta of its capabilities if it serves the extension of these examples.
EXTENSION = "libacp.dev/full"
COLOURS: v1.ElicitationPropertySchema = {
    "type": "string",
    "title": "Colour",
    "oneOf": [{"const": each, "title": each.title()} for each in ("red", "blue")],
}


class Tour:
    """All that a turn can do, in order; each step leaves out what the client does not offer."""

    def __init__(self, turn: aio.Turn, conversation: Conversation) -> None:
        self.turn = turn
        self.session = turn.session
        self.client = turn.client
        self.conversation = conversation

    async def run(self) -> None:
        for step in (self.think, self.show, self.edit, self.execute, self.question, self.extend, self.report):
            await step()

    async def think(self) -> None:
        await self.turn.plan([{"content": "look around", "priority": "high", "status": "in_progress"}, "answer"])
        await self.turn.thought("Let me see.", message_id="thought-1")

    async def show(self) -> None:
        """What the session was opened with, and each kind of content."""
        servers = ",".join(server["name"] for server in self.session.mcp_servers)
        kinds = ",".join(block["type"] for block in self.turn.blocks)
        roots = ",".join(os.path.basename(root) for root in self.session.roots[1:])
        await self.turn.message(f"blocks: {kinds}; servers: {servers}; directories: {roots}", message_id="answer-1")
        async with self.turn.tool_call("Look around", kind="search", name="look", raw_input={"deep": True}) as call:
            await call.update(content=[{"type": "content", "content": block} for block in BLOCKS])
            await call.complete(raw_output={"found": len(BLOCKS)})
        for block in BLOCKS[1:]:
            await self.turn.message(block, message_id="answer-2")

    async def edit(self) -> None:
        """A change to a file, which the user has to allow."""
        path = os.path.join(self.session.cwd, "full.txt")
        async with self.turn.tool_call("Edit full.txt", kind="edit", status="pending", locations=[path]) as call:
            await call.diff(path, "one\ntwo\nthree\n", "one\n")
            if not await call.ask_permission():
                return
            if self.client.can("fs/write_text_file"):
                await self.turn.write_text_file(path, "one\ntwo\nthree\n")
            if self.client.can("fs/read_text_file"):
                await call.text(await self.turn.read_text_file(path, line=2, limit=1))

    async def execute(self) -> None:
        """Two commands in terminals: one that ends, and one that is killed."""
        if not self.client.can("terminal/create"):
            return
        async with self.turn.tool_call("Run commands", kind="execute") as call:
            environment = {"GREETING": "hello"}
            command = ("sh", ["-c", 'echo "$GREETING"; exit 3'])
            async with self.turn.terminal(*command, env=environment, cwd=self.session.cwd, output_byte_limit=100) as terminal:
                await call.show(terminal)
                status = await terminal.wait()
                printed = await terminal.output()
            await call.text(f"{printed['output'].strip()} {status.get('exitCode')}")
            async with self.turn.terminal("sleep", ["30"]) as terminal:
                await terminal.kill()
                status = await terminal.wait()
            await call.text(f"killed: {status.get('signal')}")

    async def question(self) -> None:
        """A form, and a page on the web."""
        offered = self.client.capabilities.get("elicitation") or {}
        if offered.get("form") is not None:
            form: v1.CreateElicitationRequest = {
                "mode": "form",
                "sessionId": self.session.id,
                "message": "Which colour?",
                "requestedSchema": {"type": "object", "properties": {"colour": COLOURS}, "required": ["colour"]},
            }
            answer = await self.client.call("elicitation/create", form)
            filled_in = answer.get("content") if answer["action"] == "accept" else None
            await self.turn.message(f"colour: {answer['action']} {(filled_in or {}).get('colour')}")
        if offered.get("url") is not None:
            id = f"page-{os.urandom(4).hex()}"
            page: v1.CreateElicitationRequest = {
                "mode": "url",
                "sessionId": self.session.id,
                "message": "Please look",
                "url": "https://example.com/",
                "elicitationId": id,
            }
            answer = await self.client.call("elicitation/create", page)
            await self.turn.message(f"page: {answer['action']}")
            if answer["action"] == "accept":
                await self.client.notify("elicitation/complete", {"elicitationId": id})

    async def extend(self) -> None:
        """A method of one's own."""
        if (self.client.capabilities.get("_meta") or {}).get(EXTENSION):
            await self.session.notify("_libacp.dev/note", {"note": "from the agent"})
            answer = await self.session.request("_libacp.dev/echo", {"value": 42})
            await self.turn.message(f"echo: {answer['value']}")

    async def report(self) -> None:
        """What the turn has cost, and what else has changed."""
        session = self.client.capabilities.get("session") or {}
        if session.get("notices") is not None:
            await self.turn.update({"sessionUpdate": "notice", "severity": "warning", "title": "Nearly full"})
        if session.get("compaction") is not None:
            id = "c-1"
            summary: v1.ContentBlock = {"type": "text", "text": "We talked."}
            await self.turn.update({"sessionUpdate": "compaction_update", "compactionId": id, "status": "in_progress"})
            await self.turn.update({"sessionUpdate": "compaction_summary_chunk", "compactionId": id, "content": summary})
            await self.turn.update({"sessionUpdate": "compaction_update", "compactionId": id, "status": "completed"})
        cost: v1.Cost = {"amount": 0.25, "currency": "EUR"}
        await self.turn.update({"sessionUpdate": "usage_update", "used": 1000, "size": 200000, "cost": cost})
        await self.turn.plan([{"content": "look around", "priority": "high", "status": "completed"}])
        self.conversation.title = self.conversation.title or self.turn.text[:40] or "Untitled"
        self.conversation.touch()
        title, updated = self.conversation.title, self.conversation.updated
        await self.turn.update({"sessionUpdate": "session_info_update", "title": title, "updatedAt": updated})


async def wait(turn: aio.Turn) -> None:
    """A turn that goes on until it is cancelled."""
    async with turn.tool_call("Wait", kind="other"):
        await asyncio.Event().wait()
