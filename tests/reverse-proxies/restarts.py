"""A proxy that is killed and started again during turns, between `acp connect` and `acp serve`.

An official client talks to `acp connect` over its standard streams, and must notice no more than that a call has failed. It is
the Python SDK's. Over HTTP the connection outlives its streams, so that the turns end as they would have; a WebSocket is its
connection: its turn fails with an error that says so, and the session is opened again in another process of the agent. Where
streams are resumed, nothing is missing.
"""

import asyncio
import contextlib
import os
import time
from typing import Any, Callable, ContextManager, Dict, List

import acp
from acp import schema, text_block

# How long the proxy is away: shorter than a second attempt takes, and longer than all attempts to open a stream that a
# server refuses.
PAUSES = (0.0, 6.0)
# Seconds from the start of a turn to its end, at most.
LIMIT = 40.0
# Seconds for all of it.
WHOLE = 180.0
# How many numbers are told before the proxy is killed, and how many there are.
BEFORE, ALL = 20, 60


class Restarted:
    """A proxy that can be killed."""

    def __init__(self, start: Callable[[], ContextManager[Any]], stack: contextlib.ExitStack) -> None:
        self.start, self.stack = start, stack
        self.process = stack.enter_context(start())

    async def restart(self, pause: float) -> None:
        self.process.kill()
        self.process.wait()
        await asyncio.sleep(pause)
        self.process = self.stack.enter_context(self.start())


class Heard:
    """The official client: what it is told, and how it answers."""

    def __init__(self) -> None:
        self.said: List[str] = []
        self.came = asyncio.Event()
        self.asked = asyncio.Event()
        self.may_answer = asyncio.Event()

    def observe(self, event: Any) -> None:
        """In the order of the lines, which the SDK's own tasks do not keep."""
        params = event.message.get("params") or {}
        update = params.get("update") or {}
        if event.direction.value == "incoming" and event.message.get("method") == "session/update":
            text = (update.get("content") or {}).get("text", update["sessionUpdate"])
            self.said.append(text if update["sessionUpdate"] == "agent_message_chunk" else f"{update['sessionUpdate']}: {text}")
            self.came.set()

    async def until(self, count: int) -> None:
        while len(self.said) < count:
            self.came.clear()
            await self.came.wait()

    async def session_update(self, **_: Any) -> None:
        pass

    async def request_permission(self, options: Any, **_: Any) -> schema.RequestPermissionResponse:
        self.asked.set()
        await self.may_answer.wait()
        chosen = schema.AllowedOutcome(outcome="selected", option_id=options[0].option_id)
        return schema.RequestPermissionResponse(outcome=chosen)


class Conversation:
    """One session of the client, through the proxy."""

    def __init__(self, agent: Any, heard: Heard, proxy: Restarted, log: List[str]) -> None:
        self.agent, self.heard, self.proxy, self.log = agent, heard, proxy, log
        self.websocket = self.resumes = False
        self.session = ""
        self.prompts: List[str] = []

    def prompt(self, text: str) -> "asyncio.Task[Any]":
        self.heard.said.clear()
        self.prompts.append(text)
        sent = self.agent.prompt(session_id=self.session, prompt=[text_block(text)])
        return asyncio.ensure_future(asyncio.wait_for(sent, LIMIT))

    async def answer(self, text: str) -> str:
        turn = await self.prompt(text)
        assert turn.stop_reason == "end_turn", turn
        return "".join(self.heard.said)

    async def lost(self, turn: "asyncio.Task[Any]") -> None:
        """The turn fails, and the error says that nobody knows what has become of it (HTTP-18)."""
        try:
            ended = await turn
        except acp.RequestError as error:
            assert error.data == {"rule": "HTTP-18", "outcome": "unknown"}, error.data
        else:
            raise AssertionError(f"a turn without a connection has ended: {ended}")

    async def counted(self, pause: float) -> None:
        """The proxy is killed while numbers come."""
        before = len(self.log)
        turn = self.prompt(f"count {ALL}")
        await self.heard.until(BEFORE)
        await self.proxy.restart(pause)
        if self.websocket:
            await self.lost(turn)
        else:
            assert (await turn).stop_reason == "end_turn"
        numbers = [int(text) for text in self.heard.said]
        assert numbers == sorted(set(numbers)), f"not once and in order: {numbers}"
        said = " ".join(self.log[before:])
        if self.websocket:
            assert numbers == list(range(len(numbers))), f"missing before the loss: {numbers}"
            assert "whose outcome is unknown" in said, said
        else:
            assert numbers[-1] == ALL - 1, f"the end is missing: {numbers}"
            if self.resumes:
                assert len(numbers) == ALL and "missing" not in said, f"{numbers}: {said}"
            else:
                # What the proxy had in its hands is lost with it, and that is said.
                assert "messages may be missing" in said, said

    async def asked(self) -> None:
        """The proxy is killed while a question waits for its answer."""
        turn = self.prompt("ask")
        await self.heard.asked.wait()
        await self.proxy.restart(1.0)
        if self.websocket:
            await self.lost(turn)
        self.heard.may_answer.set()
        if not self.websocket:
            assert (await turn).stop_reason == "end_turn"
            assert self.heard.said[-1] == "allowed", self.heard.said

    async def processes(self, before: int) -> int:
        """The agent's process, which is another one if its connection was lost. None is left behind."""
        now = int(await self.answer("process"))
        assert (now != before) == self.websocket, f"{before}, then {now}"
        end = time.monotonic() + 10
        while self.websocket and os.path.exists(f"/proc/{before}"):
            assert time.monotonic() < end, f"{before} is still there"
            await asyncio.sleep(0.1)
        return now


async def converse(command: List[str], url: str, proxy: Restarted, resumes: bool) -> None:
    heard, log = Heard(), []
    connect = [*command, "connect", *(["--resumable"] if resumes else []), url]
    spawned = acp.spawn_agent_process(heard, *connect, observers=[heard.observe])
    async with spawned as (agent, process):
        reading = asyncio.ensure_future(read(process.stderr, log))
        talk = Conversation(agent, heard, proxy, log)
        talk.websocket, talk.resumes = url.startswith("ws"), resumes
        await agent.initialize(protocol_version=1)
        talk.session = (await agent.new_session(cwd="/tmp", mcp_servers=[])).session_id
        pid = int(await talk.answer("process"))
        for pause in PAUSES:
            await talk.counted(pause)
            pid = await talk.processes(pid)
        await talk.asked()
        pid = await talk.processes(pid)
        told = await talk.answer("told")
        assert told == ", ".join(talk.prompts[:-1]), f"{told}, and not {talk.prompts}"
        assert process.returncode is None, f"`acp connect` has ended: {log}"
    await reading


async def read(stream: Any, log: List[str]) -> None:
    while line := await stream.readline():
        log.append(line.decode().strip())


def test(command: List[str], url: str, start: Callable[[], ContextManager[Any]], resumes: bool = False) -> None:
    """The whole of it with one client; ``start`` starts the proxy and waits until it listens."""
    with contextlib.ExitStack() as stack:
        asyncio.run(asyncio.wait_for(converse(command, url, Restarted(start, stack), resumes), WHOLE))
