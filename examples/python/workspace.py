"""What an editor does for an agent: files, permissions, terminals. Real ones."""

import asyncio
import os
from pathlib import Path
from typing import Any, Dict, Tuple

Running = Tuple["asyncio.subprocess.Process", "asyncio.Future[bytes]", int]


class Workspace:
    def __init__(self) -> None:
        self.terminals: Dict[str, Running] = {}
        self.made = 0

    async def perform(self, method: str, params: Dict[str, Any], expected: Any) -> Any:
        """The result of a request; what the script expects it to be plays no part."""
        if method.startswith("_"):
            return params
        work = {
            "fs/read_text_file": self.read,
            "fs/write_text_file": self.write,
            "session/request_permission": self.permit,
            "terminal/create": self.create,
            "terminal/wait_for_exit": self.wait,
            "terminal/output": self.output,
            "terminal/release": self.release,
        }
        return await work[method](params)

    async def read(self, params: Dict[str, Any]) -> Any:
        # `splitlines` would also end lines at U+2028 and its like.
        lines = Path(params["path"]).read_bytes().decode("utf-8").split("\n")
        lines = [line + "\n" for line in lines[:-1]] + lines[-1:]
        first = params.get("line", 1) - 1
        last = first + params["limit"] if "limit" in params else len(lines)
        return {"content": "".join(lines[first:last])}

    async def write(self, params: Dict[str, Any]) -> Any:
        Path(params["path"]).write_bytes(params["content"].encode("utf-8"))
        return {}

    async def permit(self, params: Dict[str, Any]) -> Any:
        chosen = next(option for option in params["options"] if option["kind"] == "allow_once")
        return {"outcome": {"outcome": "selected", "optionId": chosen["optionId"]}}

    async def create(self, params: Dict[str, Any]) -> Any:
        process = await asyncio.create_subprocess_exec(
            params["command"],
            *params.get("args", []),
            cwd=params.get("cwd"),
            env={**os.environ, **{each["name"]: each["value"] for each in params.get("env", [])}},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        assert process.stdout is not None
        self.made += 1
        name = f"term-{self.made}"
        reading = asyncio.ensure_future(process.stdout.read())
        self.terminals[name] = (process, reading, params.get("outputByteLimit", 1 << 20))
        return {"terminalId": name}

    async def wait(self, params: Dict[str, Any]) -> Any:
        process, reading, _ = self.terminals[params["terminalId"]]
        await reading
        status = await process.wait()
        return {"exitCode": status} if status >= 0 else {"signal": str(-status)}

    async def output(self, params: Dict[str, Any]) -> Any:
        _, reading, limit = self.terminals[params["terminalId"]]
        output = await reading
        # What is cut off is cut off at the beginning, and never inside a character.
        kept = output[max(0, len(output) - limit) :].decode("utf-8", "ignore")
        return {"output": kept, "truncated": len(output) > limit, "exitStatus": await self.wait(params)}

    async def release(self, params: Dict[str, Any]) -> Any:
        process, reading, _ = self.terminals.pop(params["terminalId"])
        if process.returncode is None:
            process.kill()
        await reading
        return {}
