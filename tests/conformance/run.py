"""The suite: the driver itself, then all agents, and the full hosts beside each other. Ends with `N passed, N failed`."""

import concurrent.futures
import sys
from typing import List

from agents import ROOT, Tested, tested
from beside import SDK, Outcome, Task, script, tasks
from conformance import problems, run
from kit import Settings
from schema import Schema

SCHEMA = SDK / "node_modules" / "@agentclientprotocol" / "sdk" / "schema" / "v1" / "schema.json"
# Conversations mostly wait.
AT_A_TIME = 4


def driver() -> Outcome:
    """The driver finds what is wrong."""
    return script([sys.executable, str(ROOT / "tests" / "conformance" / "test_driver.py"), "--schema", str(SCHEMA)])


def requirements(agent: Tested, schema: Schema) -> Outcome:
    """An agent meets the requirements, but for those that it is known not to meet."""
    if agent.build is not None:
        agent.build()
    verdicts = run(Settings(agent.command, schema, **agent.options))
    passed = sum(verdict.outcome == "passed" for verdict in verdicts)
    return passed, problems(verdicts, agent.fails)


def main() -> int:
    schema = Schema(SCHEMA)
    all_tasks: List[Task] = [("driver", driver)]
    all_tasks += [(agent.name, lambda agent=agent: requirements(agent, schema)) for agent in tested()]
    all_tasks += tasks()
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(AT_A_TIME) as pool:
        outcomes = pool.map(lambda task: task[1](), all_tasks)
        for (name, _), (passed, wrong) in zip(all_tasks, outcomes):
            print(*(f"{name}: {line}" for line in wrong), f"{name}: {passed} passed, {len(wrong)} failed", sep="\n", flush=True)
            failed += len(wrong)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
