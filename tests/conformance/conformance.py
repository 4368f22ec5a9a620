"""Tests an agent: ``conformance.py --schema FILE [options] -- COMMAND ...``.

Each requirement gets a line: passed, failed with what was seen, not offered, or recorded. It ends with `N passed, N failed`,
and its status is 1 when a requirement has failed.
"""

import argparse
import concurrent.futures
import sys
from pathlib import Path
from typing import Dict, Iterable, List, NamedTuple, Optional, Sequence

import connection  # noqa: F401
import messages  # noqa: F401
import sessions  # noqa: F401
import turns  # noqa: F401
from kit import REQUIREMENTS, Kit, NotOffered, Recorded, Requirement, Settings
from process import Failed
from schema import Schema

# Most of the time a conversation waits.
AT_A_TIME = 6


class Verdict(NamedTuple):
    requirement: Requirement
    outcome: str
    seen: str

    def __str__(self) -> str:
        head = f"{self.requirement.id:<24} {self.requirement.tier}  {self.outcome:<11} {self.requirement.text}"
        return f"{head}: {self.seen}" if self.seen else head


def judged(kit: Kit, requirement: Requirement) -> Verdict:
    try:
        if requirement.over_all and not any(kit.lines()):
            raise Failed("the agent has written nothing")
        requirement.check(kit)
    except Failed as problem:
        # What is only recorded is neither right nor wrong.
        return Verdict(requirement, "recorded" if requirement.tier == "I" else "failed", str(problem))
    except NotOffered as problem:
        return Verdict(requirement, "not offered", str(problem))
    except Recorded as record:
        return Verdict(requirement, "recorded", str(record))
    except Exception as problem:
        # What an agent sends may have any shape, and one that nobody thought of is its failure as well.
        return Verdict(requirement, "failed", f"{type(problem).__name__}: {problem}")
    return Verdict(requirement, "passed", "")


def run(settings: Settings, only: Optional[Iterable[str]] = None) -> List[Verdict]:
    """Tests an agent; a verdict for each requirement, in the order of their ids."""
    wanted = [each for each in REQUIREMENTS if only is None or each.id in only]
    first = [each for each in wanted if not each.over_all]
    if len(first) < len(wanted):
        # What is about everything needs an ordinary conversation, with an error in it, at least.
        ordinary = ("PROMPT-001", "JSONRPC-004")
        first += [each for each in REQUIREMENTS if each.id in ordinary and each not in first]
    kit = Kit(settings)
    try:
        with concurrent.futures.ThreadPoolExecutor(AT_A_TIME) as pool:
            verdicts = list(pool.map(lambda each: judged(kit, each), first))
        verdicts += [judged(kit, each) for each in wanted if each.over_all]
    finally:
        kit.close()
    return sorted((each for each in verdicts if each.requirement in wanted), key=lambda each: each.requirement.id)


def problems(verdicts: Sequence[Verdict], expected: Dict[str, str]) -> List[str]:
    """What is wrong: a requirement that has failed, and one that was expected to fail and has not."""
    wrong = [str(each) for each in verdicts if each.outcome == "failed" and each.requirement.id not in expected]
    failed = {each.requirement.id for each in verdicts if each.outcome == "failed"}
    ran = {each.requirement.id for each in verdicts}
    return wrong + [f"{id:<24} was expected to fail: {why}" for id, why in expected.items() if id in ran - failed]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--schema", type=Path, required=True, help="schema.json of version 1")
    parser.add_argument("--login", help="the id of the way to log in")
    parser.add_argument("--allow-logout", action="store_true", help="log out, too")
    parser.add_argument("--prompt", default="Hello", help="what the agent is asked")
    parser.add_argument("--long-prompt", help="a prompt whose turn goes on until it is cancelled")
    parser.add_argument("--only", nargs="+", metavar="ID", help="these requirements alone")
    parser.add_argument("command", nargs="+", metavar="COMMAND")
    given = parser.parse_args()
    settings = Settings(
        given.command, Schema(given.schema), given.login, given.allow_logout, given.prompt, given.long_prompt
    )
    verdicts = run(settings, given.only)
    print(*verdicts, sep="\n")
    failed = sum(each.outcome == "failed" for each in verdicts)
    print(f"{sum(each.outcome == 'passed' for each in verdicts)} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
