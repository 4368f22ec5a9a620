"""The driver finds what is wrong: ``test_driver.py --schema FILE``.

It passes an agent that does everything right, and for each requirement it fails one that does that one thing wrong.
"""

import argparse
import concurrent.futures
import sys
from pathlib import Path
from typing import List, Optional

from agent import WAIT
from conformance import Verdict, run
from defects import DEFECTS
from kit import REQUIREMENTS, Settings
from schema import Schema

AGENT = Path(__file__).resolve().parent / "agent.py"
# What agents do about these is neither right nor wrong.
RECORDED = {each.id for each in REQUIREMENTS if each.tier == "I"}
# Only an agent without logins can have it.
NO_LOGIN = "AUTH-005"


def tested(schema: Schema, defect: Optional[str], only: Optional[List[str]] = None) -> List[Verdict]:
    # As the agent is small, and short of everything: without site packages it starts in half the time.
    command = [sys.executable, "-S", str(AGENT), *([] if defect is None else [defect])]
    return run(Settings(command, schema, allow_logout=True, long_prompt=WAIT, patience=3), only)


def good(schema: Schema) -> List[str]:
    """An agent that does everything right passes everything."""
    expected = {NO_LOGIN: "not offered", **{id: "recorded" for id in RECORDED}}
    verdicts = tested(schema, None)
    return [str(each) for each in verdicts if each.outcome != expected.get(each.requirement.id, "passed")]


def bad(schema: Schema, id: str) -> List[str]:
    """An agent with a defect fails there."""
    (verdict,) = tested(schema, id, [id])
    if verdict.outcome != "failed" or not verdict.seen:
        return [f"the defect {id} was not found: {verdict}"]
    return []


def gone(schema: Schema) -> List[str]:
    """An agent that cannot be started, and one that ends at once, pass nothing."""
    wrong = []
    for command in (["no-such-agent"], [sys.executable, "-c", ""]):
        wrong += [f"{command}: {each}" for each in run(Settings(command, schema)) if each.outcome == "passed"]
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--schema", type=Path, required=True)
    schema = Schema(parser.parse_args().schema)
    wrong = [f"no defect for {each.id}" for each in REQUIREMENTS if each.id not in {*DEFECTS, *RECORDED}]
    tasks = [lambda: good(schema), lambda: gone(schema), *(lambda id=id: bad(schema, id) for id in DEFECTS)]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda task: task(), tasks))
    wrong += [each for task in found for each in task]
    print(*wrong, sep="\n", end="\n" if wrong else "")
    print(f"{sum(not task for task in found)} passed, {len(wrong)} failed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
