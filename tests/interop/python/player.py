"""Plays one role of the script: sends its steps, waits for the other role's and compares them.

Everything that arrives (requests, notifications, results) passes through one queue in the order in which the SDK
hands it over, and must be what the script has next. Read next: client.py, agent.py.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any, Protocol

from script import Checksum, Difference, difference, exact_difference, expand, fill


@dataclass
class Item:
    kind: str
    name: str
    value: Any = None
    error: BaseException | None = None
    reply: asyncio.Future[Any] = field(default_factory=lambda: asyncio.get_running_loop().create_future())


class Io(Protocol):
    async def request(self, method: str, params: dict[str, Any]) -> Any: ...

    async def notify(self, method: str, params: dict[str, Any]) -> None: ...

    async def perform(self, method: str, params: dict[str, Any], expected: Any) -> Any: ...

    def bind(self, method: str, params: dict[str, Any]) -> None: ...


class Player:
    def __init__(self, script: dict[str, Any], role: str, io: Io) -> None:
        self.script, self.role, self.io = script, role, io
        self.names: dict[str, str] = {}
        self.updates = 0
        self.messages = Checksum()
        self.at = ""
        self._queue: asyncio.Queue[Item] = asyncio.Queue()
        self._open: dict[str, tuple[str, dict[str, Any], Item | None]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def push(self, kind: str, name: str, value: Any = None) -> None:
        self._queue.put_nowait(Item(kind, name, value))

    async def receive(self, method: str, params: Any) -> Any:
        """What a handler awaits: the answer, when the script comes to it."""
        item = Item("request", method, params)
        self._queue.put_nowait(item)
        return await item.reply

    async def run(self) -> None:
        await self._play(self.script["steps"], "/steps")
        self.at = "end"
        self.expect_empty()
        totals = {
            "updates": self.updates,
            "messageBytes": self.messages.bytes,
            "messageFnv1a32": self.messages.fnv1a32,
        }
        self._check(self.script["totals"], totals)

    def expect_empty(self) -> None:
        while not self._queue.empty():
            item = self._queue.get_nowait()
            if item.kind != "eof":
                raise Difference(f"{self.at}: unexpected {item.kind} {item.name}")

    def require_name(self, member: str, info: Any) -> None:
        if not isinstance(info, dict) or not info.get("name") or not info.get("version"):
            raise Difference(f"{self.at}: {member} lacks a name or a version")

    async def _take(self, kind: str, name: str) -> Item:
        item = await self._queue.get()
        if (item.kind, item.name) != (kind, name):
            raise Difference(f"{self.at}: expected {kind} {name}, got {item.kind} {item.name}")
        return item

    def _check(self, expected: Any, actual: Any, method: str = "") -> None:
        compare = exact_difference if method.startswith("_") else difference
        if found := compare(expected, actual):
            raise Difference(f"{self.at}{found}")

    async def _play(self, steps: list[dict[str, Any]], path: str) -> None:
        for index, step in enumerate(steps):
            self.at = at = f"{path}/{index}"
            if "chunks" in step:
                await self._chunks(step)
            elif "notify" in step:
                await self._notify(step["by"], step["notify"], step["params"])
            elif "answer" in step:
                await self._answer(step)
            else:
                await self._request(step, at)

    async def _chunks(self, step: dict[str, Any]) -> None:
        total = Checksum()
        texts = [text for rule in step["chunks"] for text in expand(rule)]
        session = self.script["steps"][1]["result"]["sessionId"]
        for text in texts:
            update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}
            params = await self._notify(step["by"], "session/update", {"sessionId": session, "update": update})
            came = params["update"]["content"]["text"]
            total.add(came)
            self.messages.add(came)
        expected = {key: step[key] for key in ("count", "bytes", "fnv1a32")}
        self._check(expected, {"count": len(texts), "bytes": total.bytes, "fnv1a32": total.fnv1a32})

    async def _notify(self, by: str, method: str, template: Any) -> Any:
        self.updates += method == "session/update"
        params = fill(template, self.names)
        if by == self.role:
            await self.io.notify(method, params)
            return params
        item = await self._take("notification", method)
        self._check(params, item.value, method)
        return item.value

    async def _answer(self, step: dict[str, Any]) -> None:
        at, request, item = self._open[step["answer"]]
        if item is not None:
            item.reply.set_result(request["result"])
        else:
            await self._result(request, at)

    async def _request(self, step: dict[str, Any], at: str) -> None:
        method = step["request"]
        item = None
        if step["by"] == self.role:
            task = asyncio.create_task(self._send(at, method, fill(step["params"], self.names)))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
            # The task queues the message in its first run: what is sent next must come after it.
            await asyncio.sleep(0)
        else:
            item = await self._take("request", method)
            self.io.bind(method, item.value)
            self._check(fill(step["params"], self.names), item.value, method)
        if "open" in step:
            self._open[step["open"]] = (at, step, item)
            return
        await self._play(step.get("during", []), f"{at}/during")
        self.at = at
        if item is None:
            await self._result(step, at)
            return
        result = await self.io.perform(method, item.value, step["result"])
        self._check(step["result"], result, method)
        item.reply.set_result(result)

    async def _send(self, at: str, method: str, params: dict[str, Any]) -> None:
        item = Item("result", at)
        try:
            item.value = await self.io.request(method, params)
        except Exception as error:
            item.error = error
        self._queue.put_nowait(item)

    async def _result(self, step: dict[str, Any], at: str) -> None:
        item = await self._take("result", at)
        if item.error is not None:
            raise Difference(f"{at}: {step['request']} failed: {item.error!r}")
        if step["request"] == "initialize":
            self.require_name("agentInfo", item.value.get("agentInfo"))
        self._check(step["result"], item.value, step["request"])
