"""Host vectors about agents."""

import asyncio
import contextlib
from typing import Any, Dict, Optional

import scenario
from libacp import aio
from scenario_run import GRACE, SECONDS, Run


class AgentRun(Run):
    """A scenario in which the host is an agent, and the client is played."""

    agent: aio.Agent
    serving: "asyncio.Task[None]"
    client: Any = None

    def __init__(self, scenario: Any) -> None:
        super().__init__(scenario)
        # Those of the agent's own, by their ids.
        self.terminals: Dict[str, aio.DisplayTerminal] = {}

    def host(self, options: Dict[str, Any]) -> Any:
        self.agent = aio.Agent("vectors", "1", **options)
        for method in dict.fromkeys(name.partition("#")[0] for name in self.scenario.get("handlers", {})):
            if method == "session/prompt":
                self.agent.prompt(self.prompt)
            else:
                self.agent._register(method)(self.handler(method))
        # What an agent lacks is told when it serves, as it may still be given until then.
        self.agent._offered(self.agent.handlers)
        return self.agent

    async def prompt(self, turn: aio.Turn) -> Any:
        params = {"sessionId": turn.session.id, "prompt": turn.blocks, **({"_meta": turn.meta} if turn.meta else {})}
        self.client = turn.client
        return await self.handle("session/prompt", turn, {"session": turn.session.id, "id": turn.id, "params": params})

    def handler(self, method: str) -> Any:
        async def handle(given: Any, params: Any) -> Any:
            event: Dict[str, Any] = {"params": params}
            if isinstance(given, aio.AgentSession):
                event["session"] = given.id
            if aio.request_id() is not None:
                event["id"] = aio.request_id()
            elif f"{method}#note" in self.scenario["handlers"]:
                event["note"] = True
            self.client = getattr(given, "client", given)
            return await self.handle(method, given, event)

        return handle

    async def begin(self, reader: Any, writer: Any) -> None:
        self.serving = asyncio.ensure_future(self.agent.serve(reader, writer))
        if self.scenario.get("bare"):
            return
        peer = {} if self.newest == 1 else {"info": {"name": "peer", "version": "1"}}
        peer.update(self.scenario.get("peer", {}))
        self.send({"id": 0, "method": "initialize", "params": {"protocolVersion": self.newest, **peer}})
        if "initialize" in self.scenario.get("handlers", {}):
            await asyncio.wait_for(self.events.get(), SECONDS)
        answer = await self.frame("the answer to initialize")
        assert "result" in answer, answer

    async def ended(self) -> None:
        await asyncio.wait([self.serving], timeout=SECONDS)

    async def end(self) -> None:
        self.serving.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.wait_for(self.serving, GRACE + SECONDS)

    def subject(self, session: Optional[str]) -> Any:
        return self.client if session is None else self.client.sessions[session]

    async def work(self, session: str, actions: Any) -> Any:
        work = self.client.sessions[session].work()
        async with work as turn:
            self.client = turn.client
            reason = await self.act("work", turn, actions)
            work.stop_reason = reason or work.stop_reason
        return {"stopReason": work.stop_reason}

    async def perform(self, given: Any, action: Any) -> Any:
        what, with_ = action["do"], dict(action.get("with", {}))
        if what in ("message", "thought"):
            said = with_.pop("text", None) or with_.pop("content")
            return await getattr(given, what)(said, **with_)
        session = getattr(given, "session", given)
        if what == "plan":
            return await (session.plan(with_["id"]).set if "id" in with_ else given.plan)(with_["entries"])
        if what == "remove_plan":
            return await session.plan(with_["id"]).remove()
        if what == "background":
            return await session.background(aio.DisplayTerminal(session, with_["terminal"]))
        if what == "hold":
            return given.hold()
        if what == "insert":
            return await given.insert()
        if what == "ask_permission":
            return chosen(await given.ask_permission(with_["tool_call"], with_.get("options")))
        if what == "read_text_file":
            return {"content": await given.read_text_file(with_.pop("path"), **with_)}
        if what == "write_text_file":
            return await given.write_text_file(**with_)
        then = with_.pop("then", [])
        if what == "display_terminal":
            terminal = self.terminals[with_["id"]] = await given.display_terminal(with_.pop("command"), **with_)
            return await self.within(given, terminal, then)
        if what == "terminal":
            made = given.terminal(with_.pop("command"), **with_)
        else:
            made = given.tool_call(with_.pop("title"), **with_)
        async with made as inside:
            await self.within(given, inside, then)
        return None

    async def within(self, given: Any, made: Any, then: Any) -> None:
        """The actions inside of a tool call or a terminal."""
        for each in then:
            if each.get("do") in INSIDE:
                work = self.inside(made, each["do"], dict(each.get("with", {})))
                await (self.tell_end(each["as"], each["as"], work) if "as" in each else work)
            else:
                await self.act("session/prompt", given, [each])

    async def inside(self, made: Any, what: str, with_: Dict[str, Any]) -> Any:
        if what == "ask_permission":
            return chosen(await made.ask_permission(with_.get("options")))
        if what == "change":
            return await made.update(**with_)
        if what in ("text", "write"):
            return await getattr(made, what)(with_["text"])
        if what == "append":
            return await made.append(with_.get("text") or with_["content"])
        if what == "show":
            return await made.show(self.terminals[with_["terminal"]])
        if what == "background":
            return await made._session.background(made)
        if what == "diff":
            return await made.diff(with_["path"], with_["new_text"], with_.get("old_text"))
        return await getattr(made, what)(**with_)


INSIDE = frozenset(name for known in scenario.INSIDE.values() for name in known)


def chosen(permission: aio.Permission) -> Any:
    """What was chosen, as the method's result has it."""
    if permission.option_id is None:
        return {"outcome": {"outcome": "cancelled"}}
    return {"outcome": {"outcome": "selected", "optionId": permission.option_id}}
