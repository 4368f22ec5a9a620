"""Host vectors about clients."""

import asyncio
import contextlib
from typing import Any, Dict, Optional

from libacp import aio
from scenario import Difference
from scenario_run import GRACE, SECONDS, Run


class PlayedFiles:
    """Files with the answers of the scenario."""

    def __init__(self, given: Dict[str, Any]) -> None:
        if "fs/read_text_file" in given:
            self.read_text_file = self._read
        if "fs/write_text_file" in given:
            self.write_text_file = self._write
        self._given = given

    async def _read(self, session: aio.ClientSession, params: Any) -> str:
        return str(answer(self._given["fs/read_text_file"])["content"])

    async def _write(self, session: aio.ClientSession, params: Any) -> None:
        answer(self._given["fs/write_text_file"])


class PlayedTerminals:
    """Terminals with the answers of the scenario."""

    def __init__(self, given: Dict[str, Any]) -> None:
        self._given = given

    async def create(self, session: aio.ClientSession, params: Any) -> str:
        """The id of the scenario."""
        return str(self._answer("terminal/create")["terminalId"])

    async def output(self, session: aio.ClientSession, id: str) -> Any:
        """The output of the scenario."""
        return self._answer("terminal/output")

    async def wait_for_exit(self, session: aio.ClientSession, id: str) -> Any:
        """The exit of the scenario."""
        return self._answer("terminal/wait_for_exit")

    async def kill(self, session: aio.ClientSession, id: str) -> None:
        """Nothing."""
        self._answer("terminal/kill")

    async def release(self, session: aio.ClientSession, id: str) -> None:
        """Nothing."""
        self._answer("terminal/release")

    async def end(self, session: aio.ClientSession) -> None:
        """Nothing."""

    def _answer(self, method: str) -> Any:
        return answer(self._given.get(method, {}))


def answer(given: Any) -> Any:
    if "fail" in given:
        fail = given["fail"]
        raise aio.RequestError(fail["code"], fail["message"], fail.get("data"))
    return given


class ClientRun(Run):
    """A scenario in which the host is a client, and the agent is played."""

    client: aio.Client
    peer: aio.AgentPeer
    closing: Any = None

    def host(self, options: Dict[str, Any]) -> Any:
        files, terminals, later = (options.pop(name, None) for name in ("files", "terminals", "later"))
        if files is not None:
            options["files"] = aio.Files() if files is True else PlayedFiles(files)
        if terminals is not None:
            options["terminals"] = aio.Terminals() if terminals is True else PlayedTerminals(terminals)
        set_later = {name: options.pop(name) for name in later or ()}
        if "update" in self.scenario.get("hooks", ()):
            options["on_update"] = self.updated
        handlers = dict.fromkeys(name.partition("#")[0] for name in self.scenario.get("handlers", {}))
        if "session/request_permission" in handlers:
            options["permission"] = self.permit
        self.client = aio.Client("vectors", "1", **options)
        for method in handlers:
            if method != "session/request_permission":
                self.client._register(method)(self.handler(method))
        for name, value in set_later.items():
            setattr(self.client, name, value)
        self.opened: Dict[str, aio.ClientSession] = {}
        self.turns: Dict[str, Any] = {}
        # What a client lacks is told when it connects, as it may still be given until then.
        self.client._offered(self.client._served())
        return self.client

    def updated(self, session: aio.ClientSession, update: Any) -> None:
        self.tell(hook="update", session=session.id, **{"is": update})

    async def permit(self, request: aio.PermissionRequest) -> Any:
        params = {"sessionId": request.session.id, "toolCall": request.tool_call, "options": request.options}
        if request.meta:
            params["_meta"] = request.meta
        if self.peer.version == 2:
            params["title"] = request.title
        for name in ("description", "subject"):
            if getattr(request, name) is not None:
                params[name] = getattr(request, name)
        event = {"session": request.session.id, "id": aio.request_id(), "params": params}
        return await self.handle("session/request_permission", request.session, event)

    def handler(self, method: str) -> Any:
        async def handle(given: Any, params: Any) -> Any:
            event: Dict[str, Any] = {"params": params}
            if isinstance(given, aio.ClientSession):
                event["session"] = given.id
            if aio.request_id() is not None:
                event["id"] = aio.request_id()
            elif f"{method}#note" in self.scenario["handlers"]:
                event["note"] = True
            return await self.handle(method, given, event)

        return handle

    async def begin(self, reader: Any, writer: Any) -> None:
        self.stack = contextlib.AsyncExitStack()
        if self.scenario.get("bare"):
            self.opening = asyncio.ensure_future(self.tell_end("initialize", "initialize", self.connect(reader, writer)))
            return
        self.opening = asyncio.ensure_future(self.connect(reader, writer))
        asked = await self.frame("initialize")
        assert asked["method"] == "initialize", asked
        two = {"info": {"name": "peer", "version": "1"}, "capabilities": {"session": {}}}
        peer = {**({} if self.newest == 1 else two), **self.scenario.get("peer", {})}
        self.send({"id": asked["id"], "result": {"protocolVersion": self.newest, **peer}})
        await asyncio.wait_for(self.opening, SECONDS)

    async def connect(self, reader: Any, writer: Any) -> Any:
        self.peer = await self.stack.enter_async_context(aio.connect(reader, writer, self.client, grace=GRACE))
        return self.peer.greeting

    async def ended(self) -> None:
        with contextlib.suppress(Exception):
            await asyncio.wait_for(asyncio.shield(self.opening), SECONDS)
        if hasattr(self, "peer"):
            await asyncio.wait([self.peer._ended], timeout=SECONDS)

    async def end(self) -> None:
        with contextlib.suppress(Exception):
            await asyncio.wait_for(self.opening, SECONDS)
        await self.stack.aclose()

    def subject(self, session: Optional[str]) -> Any:
        return self.peer if session is None else self.session(session)

    def session(self, id: str) -> aio.ClientSession:
        # The object that the host was given first: a client has one for each session that is open.
        return self.opened.get(id) or self.peer.sessions.get(id) or aio.ClientSession(self.peer, id)

    async def called(self, step: Any) -> Any:
        if self.scenario.get("bare"):
            await asyncio.wait([self.opening])
        return await super().called(step)

    def cancel(self, name: str) -> Any:
        return self.turns[name].cancel()

    async def call(self, step: Any) -> Any:
        method, given = step["call"], dict(step["with"])
        meta = {"meta": given.pop("_meta")} if "_meta" in given else {}
        if method in ("session/new", "session/load", "session/resume"):
            return await self.open(step, method, given, meta)
        if method == "session/list":
            return {"sessions": [each async for each in self.peer.list_sessions(given.get("cwd"), **meta)]}
        if method == "session/delete":
            id = step["session"] or given["sessionId"]
            self.opened.pop(id, None)
            return await self.peer.delete_session(id, **meta)
        if method == "authenticate":
            return await self.peer.authenticate(given["methodId"], **meta)
        if method == "logout":
            return await self.peer.logout(**meta)
        session = self.session(step["session"])
        if method == "session/prompt":
            turn = self.turns[step.get("as", "")] = session.prompt(given["prompt"], **meta)
            return await self.followed(step, turn)
        if method == "session/set_mode":
            return await session.set_mode(given["modeId"], **meta)
        if method == "session/set_config_option":
            return {"configOptions": await session.set_config_option(given["configId"], given["value"], **meta)}
        if method == "session/close":
            closed = await session.close(**meta)
            self.opened.pop(step["session"], None)
            return closed
        if method == "session/cancel":
            return await session.cancel(**meta)
        if method == "tool_call/cancel":
            return await session.cancel_tool_call(given["toolCallId"], **meta)
        raise Difference("format", f"there is no call for {method}")

    async def open(self, step: Any, method: str, given: Any, meta: Any) -> Any:
        how = {"mcp_servers": given.pop("mcpServers", []), **meta}
        if "additionalDirectories" in given:
            how["additional_directories"] = given.pop("additionalDirectories")
        if method == "session/new":
            session = await self.peer.new_session(given.pop("cwd"), **how)
        elif method == "session/resume":
            session = await self.peer.resume_session(step["session"], given.pop("cwd"), **how)
        else:
            loading = self.peer.load_session(step["session"], given.pop("cwd"), **how)
            session = await self.followed(step, loading)
        self.opened.setdefault(session.id, session)
        return {"sessionId": session.id, **session.result}

    async def followed(self, step: Any, exchange: Any) -> Any:
        if "begin" in step:
            await self.label(step["begin"]).wait()
        most, count = step.get("iterate"), 0
        if most is not None and most is not False:
            async for update in exchange:
                count += 1
                self.tell(update=step["as"], **{"is": update})
                if count == 1 and "wait" in step:
                    await self.label(step["wait"]).wait()
                if most is not True and count == most:
                    break
            if most is not True and count == most:
                return {}
        return await exchange
