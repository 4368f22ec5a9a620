"""The limits of time of single calls: of each convenience, as of a plain request."""

import asyncio
import inspect
import unittest
from typing import Any, Awaitable, Callable, Dict, List

import libacp
from aio_pair import AioCase, agent, talk, texts
from libacp import aio
from raw_agent import opened, raw_agent

LIMIT = 0.1


class Clients(AioCase):
    async def test_every_call_to_an_agent(self) -> None:
        calls: Dict[str, Callable[[aio.AgentPeer, aio.ClientSession], Awaitable[Any]]] = {
            "session/new": lambda peer, session: peer.new_session("/", timeout=LIMIT),
            "session/load": lambda peer, session: peer.load_session("l", "/", timeout=LIMIT),
            "session/resume": lambda peer, session: peer.resume_session("r", "/", timeout=LIMIT),
            "session/prompt": lambda peer, session: session.prompt("x", timeout=LIMIT),
            "session/set_mode": lambda peer, session: session.set_mode("m", timeout=LIMIT),
            "session/set_config_option": lambda peer, session: session.set_config_option("c", "v", timeout=LIMIT),
            "session/close": lambda peer, session: session.close(timeout=LIMIT),
            "_any": lambda peer, session: peer.request("_any", timeout=LIMIT),
        }
        modes = {"currentModeId": "n", "availableModes": [{"id": each, "name": each} for each in "mn"]}
        option = {"id": "c", "name": "C", "type": "select", "currentValue": "v", "options": [{"value": "v", "name": "V"}]}
        for method, call in calls.items():
            with self.subTest(method):
                async with raw_agent(aio.Client()) as (peer, agent):
                    asking = asyncio.ensure_future(peer.new_session("/"))
                    await agent.answer("session/new", {"sessionId": "s", "modes": modes, "configOptions": [option]})
                    session = await asking
                    with self.assertRaises(libacp.NoResult) as caught:
                        await self.in_time(asyncio.ensure_future(_awaited(call(peer, session))))
                    self.assertEqual((caught.exception.outcome, caught.exception.method), ("timeout", method))
                    id = await agent.until(method)
                    cancelled = await agent.next()
                    self.assertEqual(cancelled["params"], {"requestId": id})

    async def test_a_turn_that_is_out_of_time_is_cancelled(self) -> None:
        async with raw_agent(aio.Client(cancel_grace=None)) as (peer, agent):
            session = await opened(peer, agent)
            turn = session.prompt("x", timeout=LIMIT)
            seen: List[Any] = []

            async def take() -> None:
                async for update in turn:
                    seen.append(update)

            taking = asyncio.ensure_future(take())
            id = await agent.until("session/prompt")
            chunk = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "a"}}
            agent.send({"method": "session/update", "params": {"sessionId": "s", "update": chunk}})
            with self.assertRaises(libacp.NoResult):
                await self.in_time(taking)
            self.assertEqual(texts(seen), "a")
            self.assertEqual([(await agent.next())["method"] for _ in range(2)], ["$/cancel_request", "session/cancel"])
            # It is sent once the agent has ended the turn.
            running = asyncio.ensure_future(_awaited(session.prompt("y", timeout=60)))
            with self.assertRaises(asyncio.TimeoutError):
                await asyncio.wait_for(agent.reader.readline(), 0.1)
            agent.send({"id": id, "result": {"stopReason": "cancelled"}})
            await agent.answer("session/prompt", {"stopReason": "end_turn"})
            self.assertEqual(await self.in_time(running), {"stopReason": "end_turn"})
            self.assertEqual(turn.result, None)

    async def test_what_is_no_limit(self) -> None:
        async with raw_agent(aio.Client(timeout=LIMIT)) as (peer, agent):
            endless = asyncio.ensure_future(peer.request("_a", timeout=float("inf")))
            id = await agent.until("_a")
            await asyncio.sleep(2 * LIMIT)
            agent.send({"id": id, "result": {}})
            self.assertEqual(await self.in_time(endless), {})
            wrong: List[Any] = ["5", float("nan"), True]
            for each in wrong:
                with self.assertRaises(TypeError) as caught:
                    await peer.request("_a", timeout=each)
                self.assertIn(f"expected a number of seconds, or None, not {each!r}", str(caught.exception))
                with self.assertRaises(TypeError):
                    aio.Client(timeout=each)
        self.assertIsNone(aio.Client(timeout=float("inf")).options["timeout"])

    async def test_a_session_that_was_not_loaded_in_time_is_not_open(self) -> None:
        async with raw_agent(aio.Client()) as (peer, agent):
            loading = peer.load_session("l", "/", timeout=LIMIT)
            with self.assertRaises(libacp.NoResult):
                async for _ in loading:
                    pass
            self.assertFalse(loading.session.open)
            self.assertEqual(peer.sessions, {})


class Agents(AioCase):
    async def test_every_call_to_a_client(self) -> None:
        async def never(session: Any, params: Any) -> Any:
            await asyncio.Event().wait()

        async def created(session: Any, params: Any) -> Any:
            return {"terminalId": "t"}

        client = aio.Client()
        for method in ("session/request_permission", "fs/read_text_file", "fs/write_text_file"):
            client.on(method)(never)
        for method in ("output", "wait_for_exit", "kill"):
            client.on(f"terminal/{method}")(never)  # type: ignore[call-overload]
        client.on("terminal/create")(created)
        client.on("terminal/release")(lambda session, params: None)
        ended: Dict[str, libacp.NoResult] = {}

        async def work(turn: aio.Turn) -> None:
            async with turn.tool_call("t") as call, turn.terminal("true") as terminal:
                calls: Dict[str, Callable[[], Awaitable[Any]]] = {
                    "call.ask_permission": lambda: call.ask_permission(timeout=LIMIT),
                    "turn.ask_permission": lambda: turn.ask_permission(call, timeout=LIMIT),
                    "turn.ask_permission of params": lambda: turn.ask_permission({"toolCallId": call.id}, timeout=LIMIT),
                    "turn.read_text_file": lambda: turn.read_text_file("/a", timeout=LIMIT),
                    "turn.read_text": lambda: turn.read_text("/a", timeout=LIMIT),
                    "turn.write_text_file": lambda: turn.write_text_file("/a", "b", timeout=LIMIT),
                    "terminal.wait": lambda: terminal.wait(timeout=LIMIT),
                    "terminal.output": lambda: terminal.output(timeout=LIMIT),
                    "terminal.kill": lambda: terminal.kill(timeout=LIMIT),
                }
                for name, each in calls.items():
                    try:
                        await each()
                    except libacp.NoResult as problem:
                        ended[name] = problem
                self.assertEqual(set(ended), set(calls))

        async with talk(agent(prompt=work), client) as peer:
            await self.in_time(asyncio.ensure_future(_awaited((await peer.new_session("/")).prompt("?"))))
        self.assertEqual({each.outcome for each in ended.values()}, {"timeout"})


class Signatures(unittest.TestCase):
    def test_every_call_takes_a_limit(self) -> None:
        """What gets the answer of a peer has `timeout`; a new one without it is found here."""
        missing = []
        for kind in (aio.AgentPeer, aio.ClientPeer, aio.ClientSession, aio.AgentSession, aio.Turn, aio.Terminal):
            for name, member in inspect.getmembers(kind, inspect.isfunction):
                waits = "_wire.request" in inspect.getsource(member) or ".request(" in inspect.getsource(member)
                if not name.startswith("_") and waits and "timeout" not in inspect.signature(member).parameters:
                    missing.append(f"{kind.__name__}.{name}")
        self.assertEqual(missing, [])


async def _awaited(work: Awaitable[Any]) -> Any:
    return await work


if __name__ == "__main__":
    unittest.main()
