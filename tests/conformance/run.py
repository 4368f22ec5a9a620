"""The suite: the driver itself, then all agents, and the full hosts beside the official SDK. Ends with `N passed, N failed`."""

import concurrent.futures
import subprocess
import sys
from typing import Callable, List, Tuple

from agents import ROOT, TARGET, WORK, Tested, full, tested
from conformance import problems, run
from kit import Settings
from schema import Schema

SDK = TARGET / "interop-typescript"
SCHEMA = SDK / "node_modules" / "@agentclientprotocol" / "sdk" / "schema" / "v1" / "schema.json"
PATIENCE = 120
# What failed, and how much was right.
Outcome = Tuple[int, List[str]]


def driver() -> Outcome:
    """The driver finds what is wrong."""
    return script([sys.executable, str(ROOT / "tests" / "conformance" / "test_driver.py"), "--schema", str(SCHEMA)])


def script(command: List[str]) -> Outcome:
    """A program that ends with `N passed, N failed`."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, cwd=WORK)
    *said, last = done.stdout.splitlines() or [""]
    words = last.split()
    if done.returncode == 0 and words[1:2] == ["passed,"]:
        return int(words[0]), []
    return 0, said + [last, f"it ended with {done.returncode}", *done.stderr.splitlines()[-5:]]


def requirements(agent: Tested, schema: Schema) -> Outcome:
    """An agent meets the requirements, but for those that it is known not to meet."""
    verdicts = run(Settings(agent.command, schema, **agent.options))
    passed = sum(verdict.outcome == "passed" for verdict in verdicts)
    return passed, problems(verdicts, agent.fails)


def main() -> int:
    schema = Schema(SCHEMA)
    tasks: List[Tuple[str, Callable[[], Outcome]]] = [("driver", driver)]
    tasks += [(agent.name, lambda agent=agent: requirements(agent, schema)) for agent in tested()]
    for name, command in full().items():
        for login in ([], ["--login"]):
            beside = ["node", str(SDK / "full-client.mjs"), *login, "--", *command, *login]
            tasks.append((f"full {' '.join([name, *login])} beside the SDK", lambda beside=beside: script(beside)))
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        for (name, _), (passed, wrong) in zip(tasks, pool.map(lambda task: task[1](), tasks)):
            print(*(f"{name}: {line}" for line in wrong), f"{name}: {passed} passed, {len(wrong)} failed", sep="\n", flush=True)
            failed += len(wrong)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
