"""The client of the script on the official Python SDK.

``python client.py --script script.json --work DIR [--cwd DIR] [--trace FILE] -- AGENT ARGV...``
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import time
from pathlib import Path
from typing import IO, Any
from urllib.parse import quote

import acp
from acp import schema

from player import Player
from script import Checksum, Difference, difference, expand, load
from sdk import plain, received, sent

START = time.monotonic()
INFO = {"name": "libacp-interop-python-client", "version": "0.1.0"}
LIMIT = 50 * 1024 * 1024


class Tap:
    """Counts, and on demand records, the lines that pass in one direction."""

    def __init__(self, direction: str, trace: IO[str] | None) -> None:
        self.direction, self.trace = direction, trace
        self.lines = self.bytes = 0
        self._rest = bytearray()

    def feed(self, data: bytes) -> None:
        self.bytes += len(data)
        *lines, rest = data.split(b"\n")
        for line in lines:
            self._rest += line
            self.lines += 1
            if self.trace:
                ms = round((time.monotonic() - START) * 1000, 3)
                text = bytes(self._rest).decode("utf-8", "replace")
                self.trace.write(json.dumps({"d": self.direction, "ms": ms, "s": text}) + "\n")
            self._rest.clear()
        self._rest += rest


class Workspace:
    """What the client really does for the agent."""

    def __init__(self) -> None:
        self.terminals: dict[str, tuple[asyncio.subprocess.Process, asyncio.Task[bytes], int]] = {}

    async def perform(self, method: str, params: dict[str, Any]) -> Any:
        if method.startswith("_"):
            return params
        return await getattr(self, method.replace("/", "_"))(params)

    async def fs_read_text_file(self, params: dict[str, Any]) -> Any:
        text = Path(params["path"]).read_bytes().decode("utf-8")
        lines = [line + "\n" for line in text.split("\n")]
        lines[-1] = lines[-1][:-1]
        start = params.get("line", 1) - 1
        return {"content": "".join(lines[start : start + params.get("limit", len(lines))])}

    async def fs_write_text_file(self, params: dict[str, Any]) -> Any:
        Path(params["path"]).write_bytes(params["content"].encode("utf-8"))
        return {}

    async def session_request_permission(self, params: dict[str, Any]) -> Any:
        for option in params["options"]:
            if option["kind"] == "allow_once":
                return {"outcome": {"outcome": "selected", "optionId": option["optionId"]}}
        return {"outcome": {"outcome": "cancelled"}}

    async def terminal_create(self, params: dict[str, Any]) -> Any:
        process = await asyncio.create_subprocess_exec(
            params["command"],
            *params.get("args", []),
            cwd=params.get("cwd"),
            env={**os.environ, **{item["name"]: item["value"] for item in params.get("env", [])}},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        assert process.stdout
        reading = asyncio.create_task(process.stdout.read())
        name = f"term-{len(self.terminals) + 1}"
        self.terminals[name] = process, reading, params.get("outputByteLimit", LIMIT)
        return {"terminalId": name}

    async def terminal_wait_for_exit(self, params: dict[str, Any]) -> Any:
        process, reading, _ = self.terminals[params["terminalId"]]
        await reading
        return self._status(await process.wait())

    async def terminal_output(self, params: dict[str, Any]) -> Any:
        process, reading, limit = self.terminals[params["terminalId"]]
        output = await reading
        kept = output[-limit:].decode("utf-8", "ignore")
        return {"output": kept, "truncated": len(output) > limit, "exitStatus": self._status(await process.wait())}

    async def terminal_release(self, params: dict[str, Any]) -> Any:
        del self.terminals[params["terminalId"]]
        return {}

    @staticmethod
    def _status(code: int) -> Any:
        return {"exitCode": code} if code >= 0 else {"signal": str(-code)}


class ScriptClient(acp.Client):
    def __init__(self, script: dict[str, Any]) -> None:
        self.player = Player(script, "client", self)
        self.workspace = Workspace()
        self.agent: Any = None

    # What the SDK calls.

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        self.player.push("notification", "session/update", {"sessionId": session_id, "update": plain(update)})

    async def request_permission(self, **fields: Any) -> schema.RequestPermissionResponse:
        result = await self._receive("session/request_permission", fields)
        return schema.RequestPermissionResponse.model_validate(result)

    async def read_text_file(self, **fields: Any) -> schema.ReadTextFileResponse:
        result = await self._receive("fs/read_text_file", fields)
        return schema.ReadTextFileResponse.model_validate(result)

    async def write_text_file(self, **fields: Any) -> schema.WriteTextFileResponse:
        result = await self._receive("fs/write_text_file", fields)
        return schema.WriteTextFileResponse.model_validate(result)

    async def create_terminal(self, **fields: Any) -> schema.CreateTerminalResponse:
        result = await self._receive("terminal/create", fields)
        return schema.CreateTerminalResponse.model_validate(result)

    async def terminal_output(self, **fields: Any) -> schema.TerminalOutputResponse:
        result = await self._receive("terminal/output", fields)
        return schema.TerminalOutputResponse.model_validate(result)

    async def release_terminal(self, **fields: Any) -> schema.ReleaseTerminalResponse:
        result = await self._receive("terminal/release", fields)
        return schema.ReleaseTerminalResponse.model_validate(result)

    async def wait_for_terminal_exit(self, **fields: Any) -> schema.WaitForTerminalExitResponse:
        result = await self._receive("terminal/wait_for_exit", fields)
        return schema.WaitForTerminalExitResponse.model_validate(result)

    async def ext_method(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        return await self.player.receive(f"_{method}", params)

    async def _receive(self, method: str, fields: dict[str, Any]) -> Any:
        return await self.player.receive(method, received(method, fields))

    # What the player calls.

    async def request(self, method: str, params: dict[str, Any]) -> Any:
        if method == "initialize":
            params = {**params, "clientInfo": INFO}
        return await sent(self.agent, method, params)

    async def notify(self, method: str, params: dict[str, Any]) -> None:
        await sent(self.agent, method, params)

    async def perform(self, method: str, params: dict[str, Any], expected: Any) -> Any:
        return await self.workspace.perform(method, params)

    def bind(self, method: str, params: dict[str, Any]) -> None: ...


async def converse(options: argparse.Namespace, script: dict[str, Any], client: ScriptClient, taps: list[Tap]) -> None:
    player = client.player
    work = options.work
    player.names = {"cwd": options.cwd, "work": work, "work_uri": quote(work, safe="/")}
    pipe = asyncio.subprocess.PIPE
    child = await asyncio.create_subprocess_exec(*options.agent, stdin=pipe, stdout=pipe, limit=LIMIT)
    assert child.stdin and child.stdout
    to_agent, from_agent = taps
    # The SDK insists on asyncio's own stream classes, so the counting sits in front of their methods.
    write, feed = child.stdin.write, child.stdout.feed_data
    child.stdin.write = lambda data: (to_agent.feed(data), write(data))[1]  # type: ignore[method-assign]
    child.stdout.feed_data = lambda data: (from_agent.feed(data), feed(data))[1]  # type: ignore[method-assign]
    ended = asyncio.create_task(child.wait())
    ended.add_done_callback(lambda _: player.push("eof", ""))
    try:
        client.agent = acp.connect_to_agent(client, child.stdin, child.stdout)
        await player.run()
        child.stdin.close()
        if code := await ended:
            raise Difference(f"the agent ended with {code}")
        await client.agent.close()
        player.expect_empty()
    finally:
        if child.returncode is None:
            child.kill()
    if client.workspace.terminals:
        raise Difference("a terminal was not released")
    for name, expected in script["written"].items():
        total = Checksum().add(Path(work, name).read_bytes().decode("utf-8"))
        if found := difference(expected, {"bytes": total.bytes, "fnv1a32": total.fnv1a32}):
            raise Difference(f"{name}{found}")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--script", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--cwd", default=os.getcwd())
    parser.add_argument("--trace")
    own, agent = sys.argv[1:], []
    if "--" in own:
        cut = own.index("--")
        own, agent = own[:cut], own[cut + 1 :]
    options = parser.parse_args(own)
    options.agent = agent
    if not agent or not os.path.isabs(options.work):
        parser.error("an absolute --work and an agent are needed")
    return options


async def main(options: argparse.Namespace) -> dict[str, Any]:
    script = load(options.script)
    for name, rule in script["files"].items():
        Path(options.work, name).write_bytes("".join(expand(rule)).encode("utf-8"))
    trace = open(options.trace, "w", encoding="utf-8") if options.trace else None
    taps = [Tap(">", trace), Tap("<", trace)]
    client = ScriptClient(script)
    try:
        await asyncio.wait_for(converse(options, script, client, taps), script["deadlineMs"] / 1000)
    except asyncio.TimeoutError:
        raise Difference(f"{client.player.at}: no answer within {script['deadlineMs']} ms") from None
    finally:
        if trace:
            trace.close()
    to_agent, from_agent = taps
    if found := difference(script["lines"], {"fromClient": to_agent.lines, "fromAgent": from_agent.lines}):
        raise Difference(f"lines{found}")
    return {
        "messages_sent": to_agent.lines,
        "messages_received": from_agent.lines,
        "bytes_sent": to_agent.bytes,
        "bytes_received": from_agent.bytes,
        "updates": client.player.updates,
    }


if __name__ == "__main__":
    try:
        print(json.dumps({"ok": True, **asyncio.run(main(arguments()))}))
    except Exception as failure:  # noqa: BLE001
        print(json.dumps({"ok": False, "error": str(failure) or repr(failure)}))
        sys.exit(1)
