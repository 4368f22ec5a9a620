"""Replays the host vectors of ``tests/hosts``, and sees those of ``wrong.json`` fail."""

import json
import unittest
from typing import Any, Callable, Dict

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


if __name__ == "__main__":
    unittest.main()
