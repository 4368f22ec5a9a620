"""The full hosts beside each other, and beside the official TypeScript SDK."""

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Callable, Dict, List, Tuple

from agents import NODE, ROOT, TARGET, WORK, full

SDK = TARGET / "interop-typescript"
PATIENCE = 120
LOGIN = ["--login"]
# What a full client prints beside a full agent, but for the order of what comes at the same time.
EXPECTED = (Path(__file__).resolve().parent / "full_client.out").read_text("utf-8").splitlines()
# What it prints of logging in.
OF_LOGIN = ("ways to log in", "a session before", "a session after")
# An agent tells its commands a moment after it has answered; a client that is quick is in its next turn by then.
MEANWHILE = "meanwhile: "
# How many were right, and what was wrong.
Outcome = Tuple[int, List[str]]
Task = Tuple[str, Callable[[], Outcome]]


def clients() -> Dict[str, List[str]]:
    """The full clients' commands."""
    return {
        "python": [sys.executable, str(ROOT / "examples" / "python" / "full_client.py")],
        "node": ["node", str(NODE / "full-client.mjs")],
        "rust": [str(TARGET / "debug" / "acp-full-client")],
    }


def ran(command: List[str]) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, cwd=WORK)


def wherever(line: str) -> str:
    """A line that may stand in a turn or between turns."""
    return line[len(MEANWHILE) :] if line.startswith(MEANWHILE + "commands: ") else line


def counted(last: str) -> int:
    """How many have passed, as a closing line has it."""
    passed, word, failed, *_ = last.split() if last.count(" ") >= 3 else ("0", "", "1")
    return int(passed) if word == "passed," and failed == "0" else 0


def script(command: List[str]) -> Outcome:
    """A program that ends with `N passed, N failed`."""
    done = ran(command)
    *said, last = done.stdout.splitlines() or [""]
    passed = counted(last)
    if done.returncode == 0 and passed:
        return passed, []
    return 0, [*said, last, f"it ended with {done.returncode}", *done.stderr.splitlines()[-5:]]


def transcript(command: List[str], login: bool) -> Outcome:
    """A full client prints what it has to print."""
    done = ran(command)
    found = sorted(wherever(line) for line in done.stdout.splitlines())
    expected = sorted(wherever(line) for line in EXPECTED if login or not line.startswith(OF_LOGIN))
    wrong = [f"not printed: {line}" for line in expected if line not in found]
    wrong += [f"printed: {line}" for line in found if line not in expected]
    if not wrong and len(found) != len(expected):
        wrong.append(f"printed {len(found)} lines, not {len(expected)}")
    if done.returncode != 0:
        wrong += [f"it ended with {done.returncode}", *done.stderr.splitlines()[-5:]]
    return int(not wrong), wrong


def reported(client: List[str], login: List[str]) -> Outcome:
    """A full client beside the official SDK's agent, which looks at each of its answers."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report"
        agent = ["node", str(SDK / "full-agent.mjs"), *login, "--report", str(report)]
        _, wrong = transcript([*client, *agent], bool(login))
        if not report.exists():
            return 0, [*wrong, "the agent has reported nothing"]
        *said, last = report.read_text("utf-8").splitlines()
        return counted(last), wrong + said


def tasks() -> List[Task]:
    found: List[Task] = []
    for login in ([], LOGIN):
        how = " with login" if login else ""
        for name, agent in full().items():
            beside = ["node", str(SDK / "full-client.mjs"), *login, "--", *agent, *login]
            found.append((f"full agent in {name}{how}, beside the SDK", lambda beside=beside: script(beside)))
        for name, client in clients().items():
            found.append(
                (f"full client in {name}{how}, beside the SDK", lambda client=client, login=login: reported(client, login))
            )
    for client_name, client in clients().items():
        for agent_name, agent in full().items():
            command = [*client, *agent, *LOGIN]
            title = f"full client in {client_name}, full agent in {agent_name}"
            found.append((title, lambda command=command: transcript(command, True)))
    return found
