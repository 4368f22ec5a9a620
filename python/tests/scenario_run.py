"""Replays one host vector: the streams, the peer that is played, and the two sequences of frames and events."""

import asyncio
import json
from typing import Any, Dict, List, Optional, Set

import libacp
from aio_pair import streams
from libacp import aio
from scenario import Difference, compare, filled

# Longer than anything takes that a scenario waits for.
# A busy machine takes its time.
SECONDS = 30.0
GRACE = 0.5
# Members that are compared only where they are stated.
LOOSE = ("params", "meta")


class Raised(Exception):
    """What the action `raise` raises: an error of the language."""


class Run:
    """One scenario, on either side."""

    def __init__(self, scenario: Any) -> None:
        self.scenario = scenario
        self.names: Dict[str, Any] = {}
        self.events: "asyncio.Queue[Dict[str, Any]]" = asyncio.Queue()
        self.labels: Dict[str, asyncio.Event] = {}
        self.calls: Dict[str, Any] = {}
        self.tasks: Dict[str, "asyncio.Task[None]"] = {}
        self.runs: Dict[str, int] = {}
        self.dropped: Set[str] = set()
        self.reader: Any = None
        self.writer: Any = None
        self.wrong: Optional[Difference] = None

    # What the sides add.

    def host(self, options: Dict[str, Any]) -> Any:
        """Makes the host with its handlers; raises where they cannot work."""
        raise NotImplementedError

    async def begin(self, reader: Any, writer: Any) -> None:
        """Connects the host, and plays `initialize` unless the steps do."""
        raise NotImplementedError

    async def end(self) -> None:
        """Ends the connection from the host's side."""
        raise NotImplementedError

    async def ended(self) -> None:
        """Waits until the host has noticed that the connection is over."""
        raise NotImplementedError

    async def call(self, step: Any) -> Any:
        """Calls the convenience for a method; what it gives, as the method's result has it."""
        raise NotImplementedError

    def subject(self, session: Optional[str]) -> Any:
        """What plain calls go through: a session, or the peer."""
        raise NotImplementedError

    async def perform(self, given: Any, action: Any) -> None:
        """A convenience of what a handler was given."""
        raise Difference("format", f"no handler here has the convenience {action['do']!r}")

    async def work(self, session: str, actions: Any) -> Any:
        """Work of an agent without a prompt."""
        raise Difference("format", "only agents work")

    def cancel(self, name: str) -> Any:
        """Cancels a turn in the way of the language."""
        raise Difference("format", "only clients cancel turns")

    # What both have.

    @property
    def newest(self) -> int:
        """The version in which `initialize` is played."""
        return int(max(self.scenario.get("host", {}).get("versions", [1])))

    def build(self) -> Any:
        options = dict(self.scenario.get("host", {}))
        if "timeout" in options:
            options["timeout"] /= 1000
        if "violation" in self.scenario.get("hooks", ()):
            options["on_violation"] = lambda event: self.tell(hook="violation", rule=event.rule)
        if "late_response" in self.scenario.get("hooks", ()):
            options["on_late_response"] = lambda event: self.tell(hook="late_response", method=event.method)
        if "advice" in self.scenario.get("hooks", ()):
            options["on_advice"] = lambda event: self.tell(hook="advice", rule=event.rule)
        if "error" in self.scenario.get("hooks", ()):
            options["on_error"] = lambda method, error: self.tell(hook="error", method=method)
        return self.host(options)

    async def play(self) -> None:
        expected = self.scenario.get("refused")
        if expected is not None:
            self.is_refused(expected)
            return
        self.build()
        ours, theirs = await streams()
        self.reader, self.writer = theirs
        try:
            await self.begin(*ours)
            for number, step in enumerate(self.scenario["steps"]):
                try:
                    for _ in range(step.get("times", 1)):
                        await self.step(step)
                except Difference as difference:
                    raise Difference(difference.kind, f"step {number}: {difference}") from None
            await self.finish()
        finally:
            for task in self.tasks.values():
                task.cancel()
            await asyncio.gather(*self.tasks.values(), return_exceptions=True)
            self.writer.close()
            await self.end()
        if self.wrong is not None:
            raise self.wrong

    def is_refused(self, expected: List[str]) -> None:
        try:
            self.build()
        except (ValueError, TypeError, libacp.Misuse) as problem:
            missing = [part for part in expected if part not in str(problem)]
            if missing:
                raise Difference("refused", f"{missing} not in {str(problem)!r}") from None
        else:
            raise Difference("refused", "nothing was refused")

    async def step(self, step: Any) -> None:
        if "send" in step:
            self.send(filled(step["send"], self.names))
        elif "out" in step:
            compare("frame", step["out"], await self.frame(step["out"]), self.names)
        elif "see" in step:
            try:
                found = await asyncio.wait_for(self.events.get(), SECONDS)
            except asyncio.TimeoutError:
                raise self.wrong or Difference("event", f"expected {step['see']}, and nothing happened") from None
            compare("event", step["see"], found, self.names, LOOSE)
        elif "call" in step or "request" in step:
            name = step.get("as", f"unnamed {len(self.tasks)}")
            self.tasks[name] = asyncio.ensure_future(self.tell_end(name, step.get("as"), self.called(step)))
            await asyncio.sleep(0)
        elif "work" in step:
            name = step.get("as", f"unnamed {len(self.tasks)}")
            worked = self.work(filled(step["work"], self.names), step["then"])
            self.tasks[name] = asyncio.ensure_future(self.tell_end(name, step.get("as"), worked))
            await asyncio.sleep(0)
        elif "notify" in step:
            name = f"unnamed {len(self.tasks)}"
            self.tasks[name] = asyncio.ensure_future(self.tell_end(name, None, self.called(step)))
            await asyncio.sleep(0)
        elif "go" in step:
            self.label(step["go"]).set()
        elif "cancel" in step:
            await self.cancel(step["cancel"])
        elif "drop" in step:
            self.dropped.add(step["drop"])
            self.tasks[step["drop"]].cancel()
            await asyncio.sleep(0)
        elif set(step) == {"wait"}:
            await asyncio.sleep(step["wait"] / 1000)
        elif "eof" in step:
            self.writer.write_eof()
            await self.ended()
        else:
            await self.end()

    async def called(self, step: Any) -> Any:
        given, session = filled(step.get("with", {}), self.names), filled(step.get("session"), self.names)
        if "call" in step:
            return await self.call({**step, "with": given, "session": session})
        subject = self.subject(session)
        if "notify" in step:
            return await subject.notify(step["notify"], given)
        return await subject.request(step["request"], given)

    async def tell_end(self, name: str, shown: Optional[str], work: Any) -> None:
        """Runs a call, and tells how it ended. One without a name is to succeed."""
        try:
            result = await work
        except asyncio.CancelledError:
            if name in self.dropped and shown is not None:
                self.tell(done=shown, error={"kind": "dropped"})
            raise
        except Difference as difference:
            self.wrong = difference
        except Exception as problem:
            error = described(problem)
            if shown is None or error is None:
                self.wrong = Difference("call", f"{name}: {type(problem).__name__}: {problem}")
            else:
                self.tell(done=shown, error=error)
        else:
            if shown is not None:
                self.tell(done=shown, result={} if result is None else result)

    async def finish(self) -> None:
        """The peer ends the connection, and nothing is left over."""
        if self.writer.can_write_eof() and not self.writer.is_closing():
            try:
                self.writer.write_eof()
            except OSError:
                pass
        await asyncio.wait_for(self.ended(), SECONDS)
        await self.end()
        while True:
            line = await asyncio.wait_for(self.reader.readline(), SECONDS)
            if not line:
                break
            raise Difference("left over", f"the frame {line.decode()}")
        if not self.events.empty():
            raise Difference("left over", f"the event {self.events.get_nowait()}")

    def send(self, frame: Any) -> None:
        self.writer.write(json.dumps({"jsonrpc": "2.0", **frame}).encode() + b"\n")

    async def frame(self, expected: Any) -> Any:
        try:
            line = await asyncio.wait_for(self.reader.readline(), SECONDS)
        except asyncio.TimeoutError:
            raise self.wrong or Difference("frame", f"expected {json.dumps(expected)}, and nothing came") from None
        if not line:
            raise self.wrong or Difference("frame", f"expected {json.dumps(expected)}, and the stream ended")
        frame = json.loads(line)
        assert frame.pop("jsonrpc") == "2.0", line
        return frame

    def tell(self, **event: Any) -> None:
        self.events.put_nowait(event)

    def label(self, name: str) -> asyncio.Event:
        return self.labels.setdefault(name, asyncio.Event())

    def actions(self, method: str) -> Any:
        """The actions of the next run of a handler."""
        runs = self.scenario["handlers"][method]
        number = self.runs[method] = self.runs.get(method, -1) + 1
        return runs[min(number, len(runs) - 1)] if runs else []

    async def handle(self, method: str, given: Any, event: Dict[str, Any]) -> Any:
        """A run of a handler, which begins with its event."""
        actions = self.actions(f"{method}#note" if event.pop("note", False) else method)
        self.tell(handler=method, **event)
        return await self.act(method, given, actions)

    async def act(self, method: str, given: Any, actions: Any) -> Any:
        session = getattr(given, "session", given)
        for each in actions:
            action = filled(each, self.names)
            if "return" in action:
                return action["return"]
            if "fail" in action:
                fail = action["fail"]
                raise aio.RequestError(fail["code"], fail["message"], fail.get("data"))
            if "raise" in action:
                raise Raised(action["raise"])
            if "update" in action:
                await session.update(action["update"])
            elif "notify" in action:
                await session.notify(action["notify"], action.get("with", {}))
            elif "data" in action:
                session.data = action["data"]
            elif "see" in action:
                self.tell(data=session.data)
            elif "wait" in action:
                await self.waited(method, action["wait"])
            elif "as" in action:
                await self.tell_end(action["as"], action["as"], self.said(given, action))
            else:
                await self.said(given, action)
        return None

    async def said(self, given: Any, action: Any) -> Any:
        if "request" in action:
            session = getattr(given, "session", given)
            return await session.request(action["request"], action.get("with", {}))
        return await self.perform(given, action)

    async def waited(self, method: str, label: str) -> None:
        try:
            await self.label(label).wait()
        except asyncio.CancelledError:
            self.tell(cancelled=method)
            raise


def described(problem: Exception) -> Optional[Dict[str, Any]]:
    """How the vectors name an error; nothing for one that they do not have."""
    if isinstance(problem, libacp.PeerError):
        return {"kind": "peer", "code": problem.code, "message": problem.message, "data": problem.data}
    if isinstance(problem, (aio.RequestError, Raised)):
        return {"kind": "failed"}
    if isinstance(problem, libacp.Misuse):
        return {"kind": "misuse", "rule": problem.rule}
    if isinstance(problem, libacp.NoResult):
        rule = getattr(problem, "rule", None)
        return {"kind": problem.outcome, **({} if rule is None else {"rule": rule})}
    return None

