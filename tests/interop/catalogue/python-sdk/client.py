"""The client of the catalogue on the official Python SDK:
``python client.py --steps FILE --version 1 --work DIR -- AGENT ARGUMENT ...``.

It takes an agent through the steps of `../steps.json` and prints a line for each. The SDK has no method for `logout`,
`session/delete`, and giving up a request.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Any, Awaitable, Callable, Mapping

import acp
from acp import schema

sys.path.insert(0, str(Path(__file__).parents[1] / "python"))

from checks import NotOffered, Wrong, check_written, command_line, fill, play_all, same  # noqa: E402
from fold import Fold  # noqa: E402

LIMIT = 64 * 1024 * 1024
OFFERED = {
    "fs": {"readTextFile": True, "writeTextFile": True},
    "terminal": True,
    "elicitation": {"form": {}, "url": {}},
    "session": {"configOptions": {"boolean": {}}},
}
CAPABILITIES = {
    "loadSession": True,
    "promptCapabilities": {"image": True, "embeddedContext": True},
    "sessionCapabilities": {"list": {}, "resume": {}, "close": {}, "additionalDirectories": {}},
}


def plain(value: Any) -> Any:
    return value.model_dump(mode="json", by_alias=True, exclude_none=True)


class CatalogueClient(acp.Client):
    """What the client does for the agent, and what it has heard."""

    def __init__(self) -> None:
        self.folds: dict[str, Fold] = {}
        self.noted: asyncio.Queue[Any] = asyncio.Queue()
        self.asked = asyncio.Event()
        self.stop_waiting = asyncio.Event()
        self.terminals: dict[str, Any] = {}
        self.completed: list[str] = []

    def on_connect(self, conn: Any) -> None:
        self.agent = conn

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        self.folds.setdefault(session_id, Fold()).take(plain(update))

    async def request_permission(self, session_id: str, tool_call: Any, options: Any, **meta: Any) -> Any:
        self.asked.set()
        if tool_call.title == "wait":
            await self.stop_waiting.wait()
            return schema.RequestPermissionResponse.model_validate({"outcome": {"outcome": "cancelled"}})
        traced = tool_call.title == "meta" and meta.get("libacp.dev/trace") == "abc"
        kind = "allow_once" if tool_call.title == "allow" or traced else "reject_once"
        chosen = next(option.option_id for option in options if option.kind == kind)
        outcome = {"outcome": "selected", "optionId": chosen}
        return schema.RequestPermissionResponse.model_validate({"outcome": outcome})

    async def read_text_file(self, session_id: str, path: str, line: Any = None, limit: Any = None, **_: Any) -> Any:
        if not os.path.exists(path):
            raise acp.RequestError(-32002, "There is no such file")
        lines = Path(path).read_text(encoding="utf-8").splitlines(keepends=True)[(line or 1) - 1 :]
        return schema.ReadTextFileResponse(content="".join(lines[:limit]))

    async def write_text_file(self, session_id: str, path: str, content: str, **_: Any) -> None:
        Path(path).write_bytes(content.encode())

    async def create_terminal(self, session_id: str, command: str, args: Any = None, env: Any = None, **_: Any) -> Any:
        added = {each.name: each.value for each in env or ()}
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(command, *(args or ()), env={**os.environ, **added}, stdout=pipe)
        id = f"terminal-{len(self.terminals)}"
        self.terminals[id] = process, asyncio.ensure_future(process.communicate())
        return schema.CreateTerminalResponse(terminal_id=id)

    async def wait_for_terminal_exit(self, session_id: str, terminal_id: str, **_: Any) -> Any:
        process, printed = self.terminals[terminal_id]
        await printed
        code = process.returncode
        return schema.WaitForTerminalExitResponse.model_validate(
            {"exitCode": code} if code >= 0 else {"signal": str(-code)}
        )

    async def terminal_output(self, session_id: str, terminal_id: str, **how: Any) -> Any:
        status = plain(await self.wait_for_terminal_exit(session_id, terminal_id))
        output = (await self.terminals[terminal_id][1])[0].decode()
        found = {"output": output, "truncated": False, "exitStatus": status}
        return schema.TerminalOutputResponse.model_validate(found)

    async def kill_terminal(self, session_id: str, terminal_id: str, **_: Any) -> None:
        self.terminals[terminal_id][0].kill()

    async def release_terminal(self, session_id: str, terminal_id: str, **_: Any) -> None:
        pass

    async def create_elicitation(self, message: str, mode: Any, **_: Any) -> Any:
        if getattr(mode, "url", None):
            return acp.AcceptElicitationResponse(action="accept")
        if message != "Which colour?":
            return acp.DeclineElicitationResponse(action="decline")
        return acp.AcceptElicitationResponse(action="accept", content={"colour": "blue"})

    async def complete_elicitation(self, elicitation_id: str, **_: Any) -> None:
        self.completed.append(elicitation_id)

    async def ext_method(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        return params

    async def ext_notification(self, method: str, params: dict[str, Any]) -> None:
        self.noted.put_nowait(params)


class Lab:
    """An agent's process, and where the steps are played."""

    def __init__(self, argv: list[str], work: str) -> None:
        self.argv, self.work = argv, work
        self.here: CatalogueClient = CatalogueClient()

    async def start(self, *more: str) -> Any:
        pipe = asyncio.subprocess.PIPE
        self.process = await asyncio.create_subprocess_exec(*self.argv, *more, stdin=pipe, stdout=pipe, limit=LIMIT)
        self.here = CatalogueClient()
        self.agent = acp.connect_to_agent(
            self.here, self.process.stdin, self.process.stdout, use_unstable_protocol=True
        )
        self.hello = plain(
            await self.agent.initialize(
                1,
                schema.ClientCapabilities.model_validate(OFFERED),
                schema.Implementation(name="catalogue", version="1.0"),
            )
        )

    async def end(self) -> int:
        assert self.process.stdin is not None
        self.process.stdin.close()
        await self.agent.close()
        return await self.process.wait()

    def opened(self, id: str, result: Any) -> str:
        self.here.folds.setdefault(id, Fold()).open(plain(result) if result is not None else {})
        return id

    async def session(self, cwd: str = "", **how: Any) -> str:
        result = await self.agent.new_session(cwd or self.work, mcp_servers=[], **how)
        return self.opened(result.session_id, result)

    async def prompt(self, id: str, step: str, blocks: Any = ()) -> str:
        texts = [{"type": "text", "text": f"step: {step}"}, *blocks]
        self.here.folds[id].say("user", texts[0]["text"])
        asked = schema.PromptRequest.model_validate({"sessionId": id, "prompt": texts})
        result = await self.agent.prompt(id, asked.prompt, **{"libacp.dev/trace": "abc"})
        self.here.folds[id].shown["stop"] = result.stop_reason
        return result.stop_reason

    async def says(self, id: str, step: str, expected: str) -> None:
        before = len(self.here.folds[id].seen["text"])
        await self.prompt(id, step)
        same("text", expected, self.here.folds[id].seen["text"][before:])

    async def closed(self) -> str:
        id = await self.session()
        await self.says(id, "session.load.replay", "Remembered.")
        await self.agent.close_session(id)
        return id

    async def during(self, step: str, act: Callable[[str], Awaitable[Any]]) -> str:
        """Starts a turn, and does something once it has said a word."""
        id = await self.session()
        turn = asyncio.ensure_future(self.prompt(id, step))
        while not self.here.folds[id].seen["text"]:
            await asyncio.sleep(0.002)
        await act(id)
        same("stop reason", "cancelled", await turn)
        return id

    async def listed(self, cwd: str | None = None) -> dict[str, str]:
        return {each.session_id: each.cwd for each in (await self.agent.list_sessions(cwd)).sessions}

    async def configure(self, step: str, option: str, value: Any, expected: str) -> None:
        id = await self.session()
        result = await self.agent.set_config_option(option, id, value)
        same("options", value, self.here.folds[self.opened(id, result)].seen["options"][option])
        await self.says(id, step, expected)

    async def play(self, step: Mapping[str, Any]) -> None:
        name = step["id"].replace(".", "_").replace("-", "_")
        own = getattr(self, name, None)
        await (self.see(step) if own is None else own(step))

    async def see(self, step: Mapping[str, Any]) -> None:
        id = await self.session()
        await self.prompt(id, step["id"], fill(step.get("with", []), self.work))
        shown = {**self.here.folds[id].seen, "completed": self.here.completed}
        if shown["text"].startswith("not offered: "):
            raise NotOffered(shown["text"].partition(": ")[2])
        same("", fill(step["see"], self.work), shown)
        check_written(step, self.work)

    # The steps, by their ids.

    async def auth_login(self, step: Any) -> None:
        await self.start("--login")
        same("ways", ["key"], [method["id"] for method in self.hello["authMethods"]])
        await refused("session/new", -32000, self.session())
        await self.agent.authenticate("key")
        await self.session()

    async def auth_logout(self, step: Any) -> None:
        await self.end()
        raise NotOffered("the SDK's client has no logout")

    async def auth_none(self, step: Any) -> None:
        await self.start()
        same("ways", [], self.hello.get("authMethods", []))
        await self.session()

    async def init_version(self, step: Any) -> None:
        same("version", 1, self.hello["protocolVersion"])

    async def init_info(self, step: Any) -> None:
        same("info", {"name": "catalogue", "version": "1.0"}, self.hello["agentInfo"])

    async def init_capabilities(self, step: Any) -> None:
        same("capabilities", CAPABILITIES, self.hello["agentCapabilities"])

    async def session_new(self, step: Any) -> None:
        one, other = await self.session(), await self.session()
        if one == other:
            raise Wrong(f"ids: expected two, got {one} twice")
        same("", {"mode": "ask", "options": {"model": "small", "web": False}}, self.here.folds[one].seen)

    async def session_list(self, step: Any) -> None:
        folder = os.path.join(self.work, "listed")
        one, other = await self.session(folder), await self.session()
        same("all sessions", {one: folder, other: self.work}, await self.listed())
        same("sessions of a folder", [one], list(await self.listed(folder)))

    async def session_load_replay(self, step: Any) -> None:
        id = await self.closed()
        before = self.here.folds.pop(id).seen
        self.opened(id, await self.agent.load_session(self.work, id, mcp_servers=[]))
        same("", step["see"], self.here.folds[id].seen)
        same("before", before["transcript"], self.here.folds[id].seen["transcript"])
        await self.says(id, "session.load.replay", "Remembered.")

    async def session_load_unknown(self, step: Any) -> None:
        await refused("session/load", -32002, self.agent.load_session(self.work, "nobody", mcp_servers=[]))

    async def session_resume(self, step: Any) -> None:
        id = await self.closed()
        del self.here.folds[id]
        self.opened(id, await self.agent.resume_session(id, self.work, mcp_servers=[]))
        same("", {"transcript": [], "options": {"model": "small"}}, self.here.folds[id].seen)
        await self.says(id, "session.resume", "Remembered.")

    async def session_close(self, step: Any) -> None:
        await self.during("session.close", self.agent.close_session)

    async def session_delete(self, step: Any) -> None:
        raise NotOffered("the SDK's client deletes no sessions")

    async def session_multi(self, step: Any) -> None:
        ids = [await self.session(), await self.session()]
        said = ["".join(f"{id} {number};" for number in range(20)) for id in ids]
        await asyncio.gather(*[self.says(id, "session.multi", text) for id, text in zip(ids, said)])

    async def session_folders(self, step: Any) -> None:
        folder = os.path.join(self.work, "listed")
        await self.says(await self.session(additional_directories=[folder]), "session.folders", folder)

    async def mode_set(self, step: Any) -> None:
        id = await self.session()
        await self.agent.set_session_mode(id, "code")
        await self.says(id, "mode.set", "code small false")
        same("mode", "code", self.here.folds[id].seen["mode"])

    async def config_select(self, step: Any) -> None:
        await self.configure(step["id"], "model", "large", "ask large false")

    async def config_boolean(self, step: Any) -> None:
        await self.configure(step["id"], "web", True, "ask small true")

    async def config_grouped(self, step: Any) -> None:
        await self.configure(step["id"], "style", "haiku", "haiku")

    async def perm_cancelled(self, step: Any) -> None:
        id = await self.session()
        self.here.asked.clear()
        turn = asyncio.ensure_future(self.prompt(id, "perm.cancelled"))
        await self.here.asked.wait()
        await self.agent.cancel(id)
        self.here.stop_waiting.set()
        same("stop reason", "cancelled", await turn)

    async def cancel_prompt(self, step: Any) -> None:
        id = await self.during("cancel.prompt", self.agent.cancel)
        await self.says(id, "session.load.replay", "Remembered.")

    async def cancel_request_client(self, step: Any) -> None:
        raise NotOffered("the SDK's client gives up no requests")

    async def cancel_request_unknown(self, step: Any) -> None:
        raise NotOffered("the SDK's client gives up no requests")

    async def cancel_request_agent(self, step: Any) -> None:
        raise NotOffered("the SDK's client does not learn that a request was given up")

    async def ext_request(self, step: Any) -> None:
        params = {"value": [1, None, {"a": "ä"}]}
        same("echo", params, await self.agent.ext_method("libacp.dev/echo", params))

    async def ext_notification(self, step: Any) -> None:
        await self.agent.ext_notification("libacp.dev/note", {"note": "hello"})
        same("note", {"note": "hello"}, await self.here.noted.get())

    async def error_handler(self, step: Any) -> None:
        id = await self.session()
        await refused("the prompt", -32042, self.prompt(id, "error.handler"))
        await self.says(id, "session.load.replay", "Remembered.")

    async def error_unknown_method(self, step: Any) -> None:
        await refused("a method", -32601, self.agent.ext_method("libacp.dev/none", {}))

    async def conn_close(self, step: Any) -> None:
        other = Lab(self.argv, self.work)
        await other.start()
        waiting = asyncio.ensure_future(other.agent.ext_method("libacp.dev/wait", {}))
        note = await other.here.noted.get()
        if note["note"].startswith("not offered: "):
            raise NotOffered(note["note"].partition(": ")[2])
        status = await other.end()
        try:
            raise Wrong(f"the request has an answer: {await waiting}")
        except (ConnectionError, asyncio.CancelledError):
            same("status", 0, status)

    async def stdio_eof_exit(self, step: Any) -> None:
        same("status", 0, await self.end())


async def refused(what: str, code: int, call: Awaitable[object]) -> None:
    try:
        await call
    except acp.RequestError as problem:
        same(f"code of {what}", code, problem.code)
    else:
        raise Wrong(f"{what}: expected the error {code}, got a result")


async def main() -> None:
    options, argv = command_line()
    await play_all(options, Lab(argv, options["--work"]).play)


if __name__ == "__main__":
    asyncio.run(main())
