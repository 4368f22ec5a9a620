"""Plays one role of the script against a peer, and checks everything that comes.

Events come in the order of the bytes, so one task does it all: it sends its own steps, and for the other side's steps it
takes the next event, whatever it is, and compares.
"""

import json
import sys
from typing import Any, Awaitable, Callable, Dict, List, Tuple, Type, TypeVar, Union

import libacp
from peer import Peer
from script import Difference, Sum, compare, filled, kept_together

E = TypeVar("E", bound=Union[libacp.Request, libacp.Notification, libacp.Response, libacp.Answered, libacp.Closed])
# A request that waits for its step of the script: its place there, the step, and its id or its event.
Open = Tuple[str, Dict[str, Any], Any]


class Play:
    def __init__(self, script: Dict[str, Any], peer: Peer, names: Dict[str, str]) -> None:
        self.script, self.peer, self.names = script, peer, names
        self.role: str = peer.connection.role
        self.at = ""
        self.updates = 0
        self.messages = Sum()
        self.open: Dict[str, Open] = {}
        # What a host of this role does beside the script.
        self.before_sending: Callable[[str, Dict[str, Any]], Dict[str, Any]] = lambda method, params: params
        self.after_receiving: Callable[[str, Dict[str, Any]], None] = lambda method, params: None
        self.after_result: Callable[[str, Any], None] = lambda method, result: None
        self.perform: Callable[[str, Any, Any], Awaitable[Any]] = scripted

    async def run(self) -> None:
        await self.steps(self.script["steps"], "/steps")
        totals = self.messages.found()
        found = {"updates": self.updates, "messageBytes": totals["bytes"], "messageFnv1a32": totals["fnv1a32"]}
        compare(self.script["totals"], found, "/totals")
        self.at = "the end"

    async def ended(self) -> None:
        """The connection ends, with nothing left open."""
        closed = await self.expect(libacp.Closed)
        if closed != libacp.Closed("end_of_stream"):
            raise Difference(f"{self.at}: something is left open: {closed}")

    async def expect(self, kind: Type[E]) -> E:
        event = await self.peer.event()
        while isinstance(event, libacp.Violation):
            tell(event)
            event = await self.peer.event()
        if not isinstance(event, kind):
            raise Difference(f"{self.at}: expected a {kind.__name__}, got {event}")
        return event

    async def steps(self, steps: List[Dict[str, Any]], place: str) -> None:
        for index, step in enumerate(steps):
            self.at = f"{place}/{index}"
            mine = step["by"] == self.role
            if "chunks" in step:
                await self.chunks(step, mine)
            elif "notify" in step:
                await self.notification(step["notify"], filled(step["params"], self.names), mine)
            elif "answer" in step:
                await self.answer(step["answer"], mine)
            elif mine:
                await self.ask(step, self.at)
            else:
                await self.be_asked(step, self.at)

    async def notification(self, method: str, params: Any, mine: bool) -> None:
        self.updates += method == "session/update"
        if mine:
            await self.peer.notify(method, params)
            return
        event = await self.expect(libacp.Notification)
        self.same_call(method, params, event)

    async def chunks(self, step: Dict[str, Any], mine: bool) -> None:
        session = self.script["steps"][1]["result"]["sessionId"]
        count, total = 0, Sum()
        for text in kept_together(step["chunks"]):
            update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}
            await self.notification("session/update", {"sessionId": session, "update": update}, mine)
            count += 1
            total.add(text.encode())
            self.messages.add(text.encode())
        expected = {name: step[name] for name in ("count", "bytes", "fnv1a32")}
        compare(expected, {"count": count, **total.found()}, self.at)

    async def ask(self, step: Dict[str, Any], place: str) -> None:
        method = step["request"]
        params = self.before_sending(method, filled(step["params"], self.names))
        id = await self.peer.request(method, params)
        if "open" in step:
            self.open[step["open"]] = (place, step, id)
            return
        await self.steps(step.get("during", []), f"{place}/during")
        await self.be_answered(step, place, id)

    async def be_answered(self, step: Dict[str, Any], place: str, id: Any) -> None:
        self.at = place
        response = await self.expect(libacp.Response)
        if response.id != id or response.outcome != "result":
            raise Difference(f"{place}: expected the result of {step['request']} ({id}), got {response}")
        self.after_result(step["request"], response.result())
        compare(step["result"], response.result(), place, step["request"].startswith("_"))

    async def be_asked(self, step: Dict[str, Any], place: str) -> None:
        method = step["request"]
        request = await self.expect(libacp.Request)
        self.after_receiving(method, request.params)
        self.same_call(method, filled(step["params"], self.names), request)
        if "open" in step:
            self.open[step["open"]] = (place, step, request)
            return
        await self.steps(step.get("during", []), f"{place}/during")
        self.at = place
        result = await self.perform(method, request.params, step["result"])
        compare(step["result"], result, place, method.startswith("_"))
        await self.peer.respond(request, result)

    async def answer(self, name: str, mine: bool) -> None:
        place, step, open = self.open.pop(name)
        if not mine:
            await self.be_answered(step, place, open)
            return
        # Cancelling the turn has answered its permission request: nobody can forget that, and here it is said.
        answered = await self.expect(libacp.Answered)
        if (answered.id, answered.serial) != (open.id, open.serial):
            raise Difference(f"{self.at}: expected the answer to {open}, got {answered}")

    def same_call(self, method: str, params: Any, event: Union[libacp.Request, libacp.Notification]) -> None:
        if event.method != method:
            raise Difference(f"{self.at}: expected {method}, got {event.method}")
        compare(params, event.params, self.at, method.startswith("_"))


def tell(violation: libacp.Violation) -> None:
    """Says what the peer did wrong, as one line of JSON on standard error; nothing of it is lost, so the play goes on."""
    parts = {name: getattr(violation, name) or "" for name in ("method", "pointer", "message")}
    print(json.dumps({"violation": violation.rule, **parts}), file=sys.stderr, flush=True)


async def scripted(method: str, params: Any, expected: Any) -> Any:
    """The agent's way to a result: it is what the script says."""
    return expected
