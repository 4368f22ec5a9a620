"""The client of the remote script on the official Python SDK: ``sdk_client.py ADDRESS WAY``."""

import asyncio
import contextlib
from typing import Any, AsyncIterator, Dict, List, Tuple

import acp
import steps
from acp import schema, text_block
from acp.http import create_http_stream
from acp.ws import create_websocket_stream

Found = Tuple[Any, Any]


class Heard:
    def __init__(self) -> None:
        self.said: Dict[str, List[Tuple[str, str]]] = {}
        self.came = asyncio.Event()

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        content = getattr(update, "content", None)
        if getattr(content, "text", None) is not None:
            self.said.setdefault(session_id, []).append((update.session_update, content.text))
            self.came.set()

    async def request_permission(self, options: Any, **_: Any) -> schema.RequestPermissionResponse:
        chosen = schema.AllowedOutcome(outcome="selected", option_id=options[0].option_id)
        return schema.RequestPermissionResponse(outcome=chosen)


class Client:
    def __init__(self, address: str, _: str) -> None:
        self.address = address

    async def enter(self, stack: contextlib.AsyncExitStack) -> Tuple[Found, Any]:
        if self.address.startswith("ws"):
            transport = await create_websocket_stream(self.address)
        else:
            transport = create_http_stream(self.address)
        heard = Heard()
        agent: Any = acp.connect_to_agent(heard, transport)
        agent.heard = heard
        stack.push_async_callback(transport.close)
        stack.push_async_callback(agent.close)
        answer = await agent.initialize(protocol_version=1)
        return answer.protocol_version, agent

    @contextlib.asynccontextmanager
    async def connected(self) -> AsyncIterator[Any]:
        async with contextlib.AsyncExitStack() as stack:
            yield await steps.step("initialize", lambda: self.enter(stack))

    async def new(self, agent: Any) -> Found:
        session = (await agent.new_session(cwd="/tmp", mcp_servers=[])).session_id
        return session != "", session

    async def say(self, agent: Any, session: str, text: str) -> Tuple[str, str]:
        said = agent.heard.said[session] = []
        answer = await agent.prompt(session_id=session, prompt=[text_block(text)])
        # It has no order between updates and answers: what was said before the answer may be handed on after it.
        await asyncio.sleep(0.2)
        return "".join(each for kind, each in said if kind == "agent_message_chunk"), answer.stop_reason

    async def prompt(self, agent: Any, session: str, text: str) -> Found:
        return await self.say(agent, session, text), None

    async def cancelled(self, agent: Any, session: str) -> Found:
        agent.heard.came.clear()
        turn = asyncio.ensure_future(agent.prompt(session_id=session, prompt=[text_block("wait")]))
        await agent.heard.came.wait()
        await agent.cancel(session_id=session)
        return (await turn).stop_reason, None

    async def load(self, session: str) -> Found:
        async with contextlib.AsyncExitStack() as stack:
            _, agent = await self.enter(stack)
            await agent.load_session(session_id=session, cwd="/tmp", mcp_servers=[])
            await asyncio.sleep(0.2)
            told = [text for kind, text in agent.heard.said.get(session, []) if kind == "user_message_chunk"]
            return [*told, (await self.say(agent, session, "more"))[0]], None

    async def second(self, agent: Any, session: str) -> Found:
        _, second = await self.new(agent)
        return [second != session, (await self.say(agent, second, "again"))[0]], second

    async def delete(self, agent: Any, session: str, second: str) -> Found:
        had, _ = await self.say(agent, session, f"has {second}")
        await agent.delete_session(session_id=second)
        return [had, (await self.say(agent, session, f"has {second}"))[0]], None


asyncio.run(steps.play(Client(*steps.arguments())))
