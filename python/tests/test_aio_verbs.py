"""What agents say beside messages: prompts that are held, work without a prompt, plans, terminals, what runs in the background."""

import asyncio
import base64
import json
import unittest
from contextlib import asynccontextmanager
from typing import Any, AsyncIterator, Awaitable, Callable, Dict, List, Optional

import libacp
from aio_pair import AioCase, streams, talk, until
from libacp import aio

Handler = Callable[[aio.Turn], Awaitable[Any]]


def text(said: str) -> Dict[str, Any]:
    return {"type": "text", "text": said}


class RawClient:
    """A client that writes its own lines, in either version. It drops ids that the agent makes up."""

    def __init__(self, version: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.version, self.reader, self.writer = version, reader, writer
        self.session = ""

    def send(self, *messages: Dict[str, Any]) -> None:
        self.writer.write(b"".join(json.dumps({"jsonrpc": "2.0", **each}).encode() + b"\n" for each in messages))

    async def next(self) -> Any:
        return json.loads(await asyncio.wait_for(self.reader.readline(), 30))

    async def nothing(self) -> None:
        """Nothing comes: the answer to a question is the next thing."""
        self.send({"id": "none", "method": "_none", "params": {}})
        answer = await self.next()
        assert answer.get("id") == "none", answer

    async def told(self) -> Any:
        """The next update, without ids of messages; or the next answer, as its result or its code."""
        message = await self.next()
        if "params" not in message:
            return message.get("result", message.get("error", {}).get("code"))
        update = message["params"].get("update", message["params"])
        return {name: value for name, value in update.items() if name != "messageId"}

    async def open(self) -> None:
        who: Any = {"info": {"name": "raw", "version": "1"}} if self.version == 2 else {}
        self.send({"id": "i", "method": "initialize", "params": {"protocolVersion": self.version, **who}})
        assert (await self.next())["result"]["protocolVersion"] == self.version
        self.send({"id": "n", "method": "session/new", "params": {"cwd": "/work", "mcpServers": []}})
        self.session = (await self.next())["result"]["sessionId"]

    def prompt(self, id: int, said: str = "?") -> None:
        params = {"sessionId": self.session, "prompt": [text(said)]}
        self.send({"id": id, "method": "session/prompt", "params": params})

    def tell(self, method: str, **params: Any) -> None:
        self.send({"method": method, "params": {"sessionId": self.session, **params}})

    def ask(self, id: int, method: str, **params: Any) -> None:
        self.send({"id": id, "method": method, "params": {"sessionId": self.session, **params}})


def state(name: str, **more: Any) -> Dict[str, Any]:
    return {"sessionUpdate": "state_update", "state": name, **more}


ECHO = {"sessionUpdate": "user_message", "content": [text("?")]}
RUNNING = state("running")
IDLE = state("idle", stopReason="end_turn")


def chunk(said: str) -> Dict[str, Any]:
    return {"sessionUpdate": "agent_message_chunk", "content": text(said)}


class VerbCase(AioCase):
    def agent(self, version: int, handler: Optional[Handler] = None, **options: Any) -> aio.Agent:
        """An agent whose sessions are in `opened`; what is wrong is in `wrong`."""
        self.opened: List[aio.AgentSession] = []
        self.wrong: List[Any] = []

        async def idle(turn: aio.Turn) -> None:
            pass

        hooks: Any = {"on_violation": self.wrong.append, "on_advice": self.wrong.append}
        made = aio.Agent("verbs", "1", versions=(version,), **hooks, **options)
        made.prompt(handler or idle)
        made.new_session(lambda session: self.opened.append(session))
        return made

    @asynccontextmanager
    async def raw(self, version: int, tested: aio.Agent) -> AsyncIterator[RawClient]:
        """A client of one's own; in the end, neither side has broken a rule."""
        ours, theirs = await streams()
        serving = asyncio.ensure_future(tested.serve(*theirs))
        client = RawClient(version, *ours)
        await client.open()
        yield client
        client.writer.close()
        await self.in_time(serving)
        self.assertEqual(self.wrong, [])

    async def told(self, client: RawClient, *expected: Any) -> None:
        for each in expected:
            told = await client.told()
            if isinstance(each, dict) and "messageId" in each:
                self.assertEqual(set(told), {"messageId"})
            else:
                self.assertEqual(told, each)


ANSWERED = {"messageId": "any"}


class Prompts(VerbCase):
    async def test_a_prompt_is_a_message_once_its_handler_waits(self) -> None:
        go = asyncio.Event()

        async def wait(turn: aio.Turn) -> None:
            await go.wait()

        async with self.raw(2, self.agent(2, wait)) as client:
            client.prompt(1)
            await self.told(client, ANSWERED, ECHO, RUNNING)
            await client.nothing()
            go.set()
            await self.told(client, IDLE)

    async def test_a_held_prompt_can_be_refused(self) -> None:
        go = asyncio.Event()

        async def refuse(turn: aio.Turn) -> None:
            turn.hold()
            await go.wait()
            raise aio.RequestError(-32050, "No paper")

        for version in (1, 2):
            go.clear()
            async with self.raw(version, self.agent(version, refuse)) as client:
                client.prompt(1)
                await client.nothing()
                go.set()
                self.assertEqual(await client.told(), -32050)
                await client.nothing()

    async def test_a_held_prompt_is_inserted(self) -> None:
        go = asyncio.Event()

        async def hold(turn: aio.Turn) -> None:
            turn.hold()
            await go.wait()
            await turn.insert()
            await turn.insert()
            go.clear()
            await go.wait()
            raise aio.RequestError(-32050, "No paper")

        error = state("idle", stopReason="error", error={"code": -32050, "message": "No paper"})
        cases: Any = [(1, [], [-32050]), (2, [ANSWERED, ECHO, RUNNING], [error])]
        for version, inserted, failed in cases:
            go.clear()
            async with self.raw(version, self.agent(version, hold)) as client:
                client.prompt(1)
                await client.nothing()
                go.set()
                await self.told(client, *inserted)
                await until(lambda: not go.is_set())
                await client.nothing()
                go.set()
                await self.told(client, *failed)

    async def test_the_first_output_inserts_a_held_prompt(self) -> None:
        async def hold(turn: aio.Turn) -> str:
            turn.hold()
            await asyncio.sleep(0)
            await turn.message("Hello")
            return "max_tokens"

        async def result(turn: aio.Turn) -> None:
            turn.hold()
            await asyncio.sleep(0)

        async with self.raw(2, self.agent(2, hold)) as client:
            client.prompt(1)
            await self.told(client, ANSWERED, ECHO, RUNNING, chunk("Hello"), state("idle", stopReason="max_tokens"))
        async with self.raw(2, self.agent(2, result)) as client:
            client.prompt(1)
            await self.told(client, ANSWERED, ECHO, RUNNING, IDLE)

    async def test_a_cancelled_prompt_leaves_no_message(self) -> None:
        async def hold(turn: aio.Turn) -> None:
            turn.hold()
            await asyncio.sleep(60)

        for version, answer in [(1, {"stopReason": "cancelled"}), (2, -32800)]:
            async with self.raw(version, self.agent(version, hold)) as client:
                client.prompt(1)
                await client.nothing()
                client.tell("session/cancel")
                self.assertEqual(await client.told(), answer)
                await client.nothing()

    async def test_it_is_too_late_to_hold(self) -> None:
        seen: List[libacp.Misuse] = []

        async def late(turn: aio.Turn) -> None:
            await turn.message("Hello")
            try:
                turn.hold()
            except libacp.Misuse as misuse:
                seen.append(misuse)

        async with self.raw(2, self.agent(2, late)) as client:
            client.prompt(1)
            await self.told(client, ANSWERED, ECHO, RUNNING, chunk("Hello"), IDLE)
        self.assertEqual([each.rule for each in seen], ["LIFE-24"])

    async def test_a_handler_that_is_no_coroutine(self) -> None:
        async with self.raw(2, self.agent(2, lambda turn: turn.hold())) as client:  # type: ignore[arg-type, return-value]
            client.prompt(1)
            await self.told(client, ANSWERED, ECHO, RUNNING, IDLE)


class Working(VerbCase):
    async def test_work_without_a_prompt(self) -> None:
        for version, before, after in [(1, [], []), (2, [RUNNING], [IDLE])]:
            async with self.raw(version, self.agent(version)) as client:
                (session,) = self.opened
                async with session.work() as turn:
                    self.assertEqual((turn.blocks, turn.text, turn.id, turn.session), ((), "", None, session))
                    await turn.message("By itself")
                await self.told(client, *before, chunk("By itself"), *after)
                # Neither its number nor its task is kept.
                self.assertEqual(session.client._works, {})
                client.prompt(1)
                await self.told(client, *([{"stopReason": "end_turn"}] if version == 1 else [ANSWERED, ECHO, RUNNING, IDLE]))

    async def test_the_end_of_work(self) -> None:
        error = {"code": -32603, "message": "Internal error"}
        async with self.raw(2, self.agent(2)) as client:
            (session,) = self.opened
            work = session.work()
            async with work:
                work.stop_reason = "refusal"
            await self.told(client, RUNNING, state("idle", stopReason="refusal"))
            with self.assertRaisesRegex(RuntimeError, "once"):
                async with work:
                    pass
            with self.assertRaises(ZeroDivisionError):
                async with session.work():
                    raise ZeroDivisionError
            await self.told(client, RUNNING, state("idle", stopReason="error", error=error))
            with self.assertRaises(aio.RequestError):
                async with session.work():
                    raise aio.RequestError(-32050, "No paper", {"tray": 2})
            refused = {"code": -32050, "message": "No paper", "data": {"tray": 2}}
            await self.told(client, RUNNING, state("idle", stopReason="error", error=refused))
            # What cannot be told ends the work all the same.
            work = session.work()
            with self.assertRaises(libacp.Misuse):
                async with work:
                    work.stop_reason = "tired"  # type: ignore[assignment]
            await self.told(client, RUNNING, state("idle", stopReason="error", error=error))
            async with session.work():
                pass
            await self.told(client, RUNNING, IDLE)

    async def test_prompts_wait_for_work(self) -> None:
        for version in (1, 2):
            async with self.raw(version, self.agent(version)) as client:
                (session,) = self.opened
                async with session.work() as turn:
                    await self.told(client, *([RUNNING] if version == 2 else []))
                    client.prompt(1)
                    await client.nothing()
                    with self.assertRaises(libacp.Misuse) as caught:
                        async with session.work():
                            self.fail("the session works")
                    self.assertEqual(caught.exception.rule, "LIFE-25")
                    await turn.message("Done")
                ends = [{"stopReason": "end_turn"}] if version == 1 else [IDLE, ANSWERED, ECHO, RUNNING, IDLE]
                await self.told(client, chunk("Done"), *ends)

    async def test_the_client_cancels_work(self) -> None:
        seen: List[str] = []

        async def run(session: aio.AgentSession) -> None:
            async with session.work() as turn:
                try:
                    await asyncio.sleep(60)
                finally:
                    seen.append(f"cancelled: {turn.cancelled}")
            # What the program does after it goes on.
            await asyncio.sleep(0)
            seen.append("after")

        for version in (1, 2):
            seen.clear()
            async with self.raw(version, self.agent(version)) as client:
                task = asyncio.ensure_future(run(self.opened[0]))
                await until(lambda: self.opened[0].client._works)
                client.tell("session/cancel")
                await self.in_time(task)
                self.assertEqual(seen, ["cancelled: True", "after"])
                self.assertEqual(getattr(task, "cancelling", lambda: 0)(), 0)
                await self.told(client, *([RUNNING, state("idle", stopReason="cancelled")] if version == 2 else []))
                client.prompt(1)
                self.assertIn("stopReason" if version == 1 else "messageId", await client.told())
                if version == 2:
                    await self.told(client, ECHO, RUNNING, IDLE)

    async def test_a_cancel_that_nobody_waits_for(self) -> None:
        """It comes while the block does not wait any more, and goes no further than the block."""
        async with self.raw(2, self.agent(2)) as client:
            (session,) = self.opened
            async with session.work() as turn:
                turn._cancel(False)
            self.assertTrue(turn.cancelled)
            await asyncio.sleep(0)
            await self.told(client, RUNNING, state("idle", stopReason="cancelled"))

    async def test_the_program_cancels_work(self) -> None:
        async def run(session: aio.AgentSession) -> None:
            async with session.work():
                await asyncio.sleep(60)

        async with self.raw(2, self.agent(2)) as client:
            task = asyncio.ensure_future(run(self.opened[0]))
            await self.told(client, RUNNING)
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task
            await self.told(client, state("idle", stopReason="cancelled"))

    async def test_a_session_is_closed_after_its_work(self) -> None:
        async def run(session: aio.AgentSession) -> None:
            async with session.work() as turn:
                try:
                    await asyncio.sleep(60)
                except asyncio.CancelledError:
                    await asyncio.sleep(0.05)
                    await turn.message("Cleaned up")
                    raise

        for version, before, after in [(1, [], []), (2, [RUNNING], [state("idle", stopReason="cancelled")])]:
            async with self.raw(version, self.agent(version)) as client:
                task = asyncio.ensure_future(run(self.opened[0]))
                await until(lambda: self.opened[0].client._works)
                client.ask(1, "session/close")
                await self.told(client, *before, chunk("Cleaned up"), *after, {})
                await self.in_time(task)
                with self.assertRaises(libacp.Misuse) as caught:
                    async with self.opened[0].work():
                        self.fail("the session is closed")
                self.assertEqual(caught.exception.rule, "SESS-01")

    async def test_the_end_of_the_connection_ends_work(self) -> None:
        for version in (1, 2):
            async with self.raw(version, self.agent(version)) as client:
                (session,) = self.opened

                async def run() -> None:
                    async with session.work():
                        await asyncio.sleep(60)
                    with self.assertRaises(libacp.NoResult):
                        async with session.work():
                            self.fail("there is nobody")

                task = asyncio.ensure_future(run())
                await until(lambda: session.client._works)
                client.writer.close()
                await self.in_time(task)

    async def test_questions_during_work(self) -> None:
        async with self.raw(2, self.agent(2)) as client:
            (session,) = self.opened

            async def run() -> Any:
                permission: Any = None
                async with session.work() as turn:
                    permission = await turn.ask_permission({"toolCallId": "t", "title": "Run"})
                return permission

            task = asyncio.ensure_future(run())
            await self.told(client, RUNNING)
            asked = await client.next()
            self.assertEqual(asked["method"], "session/request_permission")
            await self.told(client, state("requires_action"))
            client.send({"id": asked["id"], "result": {"outcome": {"outcome": "selected", "optionId": "allow"}}})
            await self.told(client, RUNNING, IDLE)
            self.assertTrue(await self.in_time(task))


class Beside(VerbCase):
    """Plans, terminals, and what is in the background."""

    async def test_plans(self) -> None:
        entry = {"content": "Read", "priority": "medium", "status": "pending"}

        def plan(id: str, *entries: Any) -> Any:
            return {"sessionUpdate": "plan_update", "plan": {"type": "items", "planId": id, "entries": list(entries)}}

        for version, drafts in [(1, ()), (2, ()), (2, ("plan_operations",))]:
            async with self.raw(version, self.agent(version, drafts=drafts)) as client:
                (session,) = self.opened
                await session.plan("a").set(["Read"])
                await session.plan("b").set([entry], meta={"x": 1})  # type: ignore[list-item]
                await session.plan("b").remove()
                if version == 1:
                    shown = {"sessionUpdate": "plan", "entries": [entry]}
                    await self.told(client, shown, {**shown, "_meta": {"x": 1}}, {"sessionUpdate": "plan", "entries": []})
                    continue
                gone: Any = {"sessionUpdate": "plan_removed", "planId": "b"} if drafts else plan("b")
                await self.told(client, plan("a", entry), {**plan("b", entry), "_meta": {"x": 1}}, gone)

    async def test_content_is_appended(self) -> None:
        one, two = ({"type": "content", "content": text(said)} for said in ("one", "two"))

        async def work(turn: aio.Turn) -> None:
            async with turn.tool_call("Print", id="t") as call:
                await call.append("one")
                await call.append(two)  # type: ignore[arg-type]
                await call.text("three")

        three = [one, two, {"type": "content", "content": text("three")}]
        begun = {"sessionUpdate": "tool_call", "toolCallId": "t", "title": "Print", "status": "in_progress", "kind": "other"}
        update = {"sessionUpdate": "tool_call_update", "toolCallId": "t"}
        ends = [{**update, "content": three}, {**update, "status": "completed"}]
        async with self.raw(1, self.agent(1, work)) as client:
            client.prompt(1)
            await self.told(client, begun, {**update, "content": [one]}, {**update, "content": [one, two]}, *ends)
        async with self.raw(2, self.agent(2, work)) as client:
            client.prompt(1)
            added = [{"sessionUpdate": "tool_call_content_chunk", "toolCallId": "t", "content": each} for each in (one, two)]
            await self.told(client, ANSWERED, ECHO, RUNNING, {**begun, **update}, *added, *ends, IDLE)

    async def test_terminals_of_the_agent(self) -> None:
        async def work(turn: aio.Turn) -> None:
            terminal = await turn.display_terminal("make test", cwd="/work", id="m")
            async with turn.tool_call("Test", id="t") as call:
                await call.show(terminal)
                await terminal.write("käse\n")
                await terminal.write(b"\xff")
                await terminal.exit(2)
                with self.assertRaisesRegex(RuntimeError, "'m' has ended"):
                    await terminal.write("more")

        async with self.raw(2, self.agent(2, work)) as client:
            client.prompt(1)
            update = {"sessionUpdate": "terminal_update", "terminalId": "m"}
            call: Any = {"sessionUpdate": "tool_call_update", "toolCallId": "t"}
            more = [base64.b64encode(data).decode() for data in ("käse\n".encode(), b"\xff")]
            await self.told(
                client,
                ANSWERED,
                ECHO,
                RUNNING,
                {**update, "command": "make test", "cwd": "/work"},
                {**call, "title": "Test", "status": "in_progress", "kind": "other"},
                {**call, "content": [{"type": "terminal", "terminalId": "m"}]},
                *({"sessionUpdate": "terminal_output_chunk", "terminalId": "m", "data": data} for data in more),
                {**update, "exitStatus": {"exitCode": 2}},
                {**call, "status": "completed"},
                IDLE,
            )
        async with self.raw(1, self.agent(1, work)) as client:
            client.prompt(1)
            told = [await client.told() for _ in range(6)]
            self.assertEqual([each["sessionUpdate"] for each in told], ["tool_call"] + ["tool_call_update"] * 5)
            (item,) = told[4]["content"]
            self.assertIn("käse", item["content"]["text"])
            self.assertIn("make test", item["content"]["text"])
            self.assertEqual(told[5]["status"], "completed")

    async def test_the_background(self) -> None:
        background = [{"type": "tool_call", "toolCallId": "t"}, {"type": "terminal", "terminalId": "m"}]
        go = asyncio.Event()

        async def work(turn: aio.Turn) -> None:
            async def build() -> None:
                async with turn.tool_call("Build", id="t") as call:
                    await turn.session.background(call)
                    begun.set()
                    await go.wait()

            begun = asyncio.Event()
            self.built = asyncio.ensure_future(build())
            await begun.wait()
            self.terminal = await turn.display_terminal("make", id="m")
            await turn.session.background(self.terminal)

        async with self.raw(2, self.agent(2, work)) as client:
            client.prompt(1)
            begun = {"sessionUpdate": "tool_call_update", "toolCallId": "t", "title": "Build", "status": "in_progress", "kind": "other"}
            terminal = {"sessionUpdate": "terminal_update", "terminalId": "m"}
            await self.told(client, ANSWERED, ECHO, RUNNING, begun, {**RUNNING, "background": background[:1]})
            await self.told(client, {**terminal, "command": "make"}, {**RUNNING, "background": background})
            await self.told(client, {**IDLE, "background": background})
            client.tell("session/cancel")
            go.set()
            ended = {"sessionUpdate": "tool_call_update", "toolCallId": "t", "status": "completed"}
            await self.told(client, ended, state("idle", background=background[1:]))
            await self.terminal.exit(signal="SIGTERM")
            await self.told(client, {**terminal, "exitStatus": {"signal": "SIGTERM"}}, state("idle", background=[]))
            await self.built
            with self.assertRaises(libacp.Misuse) as caught:
                await self.opened[0].background(aio.DisplayTerminal(self.opened[0], "made up"))
            self.assertEqual(caught.exception.rule, "LIFE-32")
        go.clear()
        async with self.raw(1, self.agent(1, work)) as client:
            client.prompt(1)
            self.assertEqual((await client.told())["sessionUpdate"], "tool_call")
            self.assertEqual(await client.told(), {"stopReason": "end_turn"})
            go.set()
            self.assertEqual((await client.told())["status"], "completed")
            # Version 1 has no background, and the library says so.
            self.assertEqual([each.rule for each in self.wrong], ["TOOL-32"])
            self.wrong.clear()

    async def test_one_thing_is_cancelled(self) -> None:
        asked: List[Any] = []
        calls: Dict[str, "asyncio.Task[None]"] = {}

        async def work(turn: aio.Turn) -> None:
            async def print_all() -> None:
                async with turn.tool_call("Print", id="t") as call:
                    try:
                        await asyncio.sleep(60)
                    except asyncio.CancelledError:
                        await call.cancelled()

            calls["t"] = asyncio.ensure_future(print_all())
            await calls["t"]
            terminal = await turn.display_terminal("make", id="m")
            await asyncio.wait_for(stopped.wait(), 30)
            await terminal.exit(signal="SIGTERM")

        stopped = asyncio.Event()
        tested = self.agent(2, work)

        @tested.on_cancel_tool
        async def cancel_tool(session: aio.AgentSession, id: str) -> None:
            asked.append((session, id))
            calls[id].cancel()

        @tested.on_cancel_terminal
        def cancel_terminal(session: aio.AgentSession, id: str) -> None:
            asked.append((session, id))
            stopped.set()

        async with self.raw(2, tested) as client:
            client.prompt(1)
            await self.told(client, ANSWERED, ECHO, RUNNING)
            self.assertEqual((await client.told())["capabilities"], {"cancel": {}})
            client.ask(2, "tool_call/cancel", toolCallId="t")
            answers = [await client.told(), await client.told()]
            self.assertIn({}, answers)
            (end,) = [each for each in answers if each]
            self.assertEqual((end["status"], end["capabilities"]), ("cancelled", None))
            self.assertEqual((await client.told())["capabilities"], {"cancel": {}})
            client.ask(3, "terminal/cancel", terminalId="m")
            answers = [await client.told(), await client.told()]
            self.assertIn({}, answers)
            (end,) = [each for each in answers if each]
            self.assertEqual((end["exitStatus"], end["capabilities"]), ({"signal": "SIGTERM"}, None))
            await self.told(client, IDLE)
            self.assertEqual(asked, [(self.opened[0], "t"), (self.opened[0], "m")])
        with self.assertRaisesRegex(ValueError, "tool_call/cancel is of version 2"):
            self.agent(1).on_cancel_tool(cancel_tool)


class Views(VerbCase):
    """Both versions are the same to who looks at the view, as far as version 1 has words for it."""

    async def conversation(self, version: int) -> Any:
        async def work(turn: aio.Turn) -> Optional[str]:
            if turn.text == "refuse":
                turn.hold()
                await asyncio.sleep(0)
                raise aio.RequestError(-32050, "No paper")
            turn.hold()
            await turn.insert()
            await turn.session.plan("tests").set(["Run them"])
            async with turn.tool_call("Build", id="t", kind="execute") as call:
                await call.append("one")
                await call.append(", two")
            await turn.message("Done")
            return None

        tested = self.agent(version, work)
        client = aio.Client("seen", versions=(version,), view=True, on_violation=self.wrong.append)
        async with talk(tested, client) as peer:
            session = await peer.new_session("/work")
            await session.prompt("go")
            with self.assertRaises(libacp.PeerError):
                await session.prompt("refuse")
            (own,) = self.opened
            async with own.work() as turn:
                await turn.message("And more")
            await until(lambda: "And more" in "".join(getattr(each, "text", "") for each in session.view.entries))
            view = session.view
            tool: Any = view.tool("t")
            (plan,) = [each for each in view.entries if isinstance(each, libacp.view.Plan)]
            said = [(each.role, each.text) for each in view.entries if isinstance(each, libacp.view.Message)]
            self.assertEqual(self.wrong, [])
            return (
                [(role, what) for role, what in said if what != "refuse"],
                ([item["content"]["text"] for item in tool.content], tool.status),
                [entry["content"] for entry in plan.entries],
            )

    async def test_what_a_client_shows_is_the_same(self) -> None:
        one, two = [await self.in_time(self.conversation(version)) for version in (1, 2)]
        self.assertEqual(one[0], [("user", "go"), ("agent", "Done"), ("agent", "And more")])
        self.assertEqual(one[1:], ((["one", ", two"], "completed"), ["Run them"]))
        self.assertEqual(one, two)


if __name__ == "__main__":
    unittest.main()
