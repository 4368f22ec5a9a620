"""Replays the host vectors of ``tests/hosts``, and sees those of ``wrong.json`` fail."""

import json
import unittest
from typing import Any, Callable, Dict, List, Tuple

import libacp
from aio_pair import AioCase
from scenario import FOLDER, Difference, check, scenarios
from scenario_agent import AgentRun
from scenario_client import ClientRun
from scenario_run import Run

RUNS: Dict[str, Callable[[Any], Run]] = {"agent": AgentRun, "client": ClientRun}


class HostCase(AioCase):
    async def replay(self, side: str) -> None:
        found = scenarios(side)
        skipped = 0
        for scenario in found:
            with self.subTest(scenario["name"]):
                check(scenario)
                if "python" in scenario.get("gaps", {}):
                    skipped += 1
                    continue
                await self.in_time(RUNS[side](scenario).play())
        print(f"\n{side}: {len(found) - skipped} scenarios, and {skipped} that are not for Python")

    async def test_agents_do_what_the_vectors_say(self) -> None:
        await self.replay("agent")

    async def test_clients_do_what_the_vectors_say(self) -> None:
        await self.replay("client")

    async def test_the_wrong_ones_fail_as_they_must(self) -> None:
        for side, wrong in json.loads((FOLDER / "wrong.json").read_text("utf-8")).items():
            for scenario in wrong:
                kind = scenario.pop("fails")
                with self.subTest(scenario["name"]):
                    with self.assertRaises(Difference) as caught:
                        check(scenario)
                        await self.in_time(RUNS[side](scenario).play())
                    self.assertEqual(caught.exception.kind, kind, caught.exception)


class Merging(unittest.TestCase):
    """Chunks that wait, as ``merging.json`` has them."""

    def written(self, said: List[Any], framing: Any, merges: bool) -> List[Any]:
        connection = libacp.Connection("agent", framing=framing, handlers=[])
        connection.merge_chunks(merges)
        new: Dict[str, Any] = {"cwd": "/work", "mcpServers": []}
        asked: List[Tuple[str, Any, Any]] = [
            ("initialize", {"protocolVersion": 1}, {}),
            ("session/new", new, {"sessionId": "s"}),
            ("session/new", new, {"sessionId": "t"}),
        ]
        for id, (method, params, result) in enumerate(asked):
            connection.receive_data(json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).encode())
            if framing == "lines":
                connection.receive_data(b"\n")
            request = connection.next_event()
            assert isinstance(request, libacp.Request)
            connection.respond(request, result)
        frames: List[bytes] = []

        def take() -> None:
            while data := connection.data_to_send():
                frames.extend(data.splitlines())

        take()
        for step in said:
            if step == "taken":
                take()
            else:
                connection.notify("session/update", step)
        take()
        return [frame["params"] for frame in map(json.loads, frames) if frame.get("method") == "session/update"]

    def test_chunks_of_one_message_are_merged_while_they_wait(self) -> None:
        for case in json.loads((FOLDER / "merging.json").read_text("utf-8")):
            for framing in ("lines", "messages"):
                with self.subTest(case["name"], framing=framing):
                    self.assertEqual(self.written(case["said"], framing, True), case["written"])
                    said = [each for each in case["said"] if each != "taken"]
                    self.assertEqual(self.written(case["said"], framing, False), said)


if __name__ == "__main__":
    unittest.main()
