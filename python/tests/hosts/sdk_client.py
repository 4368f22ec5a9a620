"""A client on the official Python SDK: ``sdk_client.py FOLDER AGENT ARGV...``; it tells what it saw as JSON."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any, List

import acp
from acp import schema, text_block


class Client(acp.Client):
    def __init__(self) -> None:
        self.seen: List[Any] = []
        self.asked: List[str] = []
        self.agent: Any = None

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        self.seen.append(update.model_dump(mode="json", by_alias=True, exclude_none=True))
        content = self.seen[-1].get("content")
        if isinstance(content, dict) and content.get("text") == "waiting":
            await self.agent.cancel(session_id=session_id)

    async def request_permission(self, options: Any, **_: Any) -> schema.RequestPermissionResponse:
        self.asked.append("permission")
        chosen = schema.AllowedOutcome(outcome="selected", option_id=options[0].option_id)
        return schema.RequestPermissionResponse(outcome=chosen)

    async def read_text_file(self, path: str, line: Any = None, limit: Any = None, **_: Any) -> Any:
        self.asked.append(f"read {line} {limit}")
        lines = Path(path).read_bytes().decode().split("\n")
        return schema.ReadTextFileResponse(content=lines[line - 1] + "\n")

    async def write_text_file(self, path: str, content: str, **_: Any) -> Any:
        self.asked.append("write")
        Path(path).write_bytes(content.encode())
        return schema.WriteTextFileResponse()

    async def create_terminal(self, command: str, args: Any = None, **_: Any) -> Any:
        self.asked.append(f"create {command}")
        return schema.CreateTerminalResponse(terminal_id="t")

    async def wait_for_terminal_exit(self, **_: Any) -> Any:
        self.asked.append("wait")
        return schema.WaitForTerminalExitResponse(exit_code=3)

    async def terminal_output(self, **_: Any) -> Any:
        self.asked.append("output")
        status = schema.TerminalExitStatus(exit_code=3)
        return schema.TerminalOutputResponse(output="printed", truncated=False, exit_status=status)

    async def release_terminal(self, **_: Any) -> Any:
        self.asked.append("release")
        return schema.ReleaseTerminalResponse()


async def main(folder: str, *command: str) -> None:
    client = Client()
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe)
    client.agent = agent = acp.connect_to_agent(client, process.stdin, process.stdout)
    can = schema.ClientCapabilities(
        fs=schema.FileSystemCapabilities(read_text_file=True, write_text_file=True), terminal=True
    )
    hello = await agent.initialize(protocol_version=1, client_capabilities=can)
    session = await agent.new_session(cwd=folder, mcp_servers=[])
    name = {"session_id": session.session_id}
    worked = await agent.prompt(prompt=[text_block(f"work {folder}")], **name)
    waited = await agent.prompt(prompt=[text_block("wait")], **name)
    process.stdin.close()
    status = await asyncio.wait_for(process.wait(), 10)
    found = {
        "agent": hello.agent_info.name,
        "stops": [worked.stop_reason, waited.stop_reason],
        "seen": client.seen,
        "asked": client.asked,
        "status": status,
    }
    print(json.dumps(found))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
