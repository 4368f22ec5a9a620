"""How the clients of the catalogue in Python run steps, compare, and tell."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from typing import Any, Awaitable, Callable, Dict, List, Mapping, Tuple

SECONDS = 30
NOTES = "one\ntwo\nthree\n"


class Wrong(Exception):
    """Something is not as it has to be."""


class NotOffered(Exception):
    """One side does not have what a step takes."""


def same(what: str, expected: Any, got: Any) -> None:
    """Objects that are expected ask for their members; null stands for what is not there."""
    if isinstance(expected, dict) and isinstance(got, dict):
        for name, value in expected.items():
            same(f"{what}/{name}", value, got.get(name))
    elif isinstance(expected, list) and isinstance(got, list) and len(expected) == len(got):
        for index, (one, other) in enumerate(zip(expected, got)):
            same(f"{what}/{index}", one, other)
    elif type(expected) is not type(got) or expected != got:
        raise Wrong(f"{what}: expected {short(expected)}, got {short(got)}")


def short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 200 else f"{text[:200]}... ({len(text)} characters)"


def fill(value: Any, cwd: str) -> Any:
    if isinstance(value, dict):
        repeated = "repeat" in value
        return value["repeat"] * value["times"] if repeated else {name: fill(each, cwd) for name, each in value.items()}
    if isinstance(value, list):
        return [fill(each, cwd) for each in value]
    return value.replace("{cwd}", cwd) if isinstance(value, str) else value


def diff(change: Any) -> Dict[str, Any]:
    """Version 1 has both texts, version 2 a patch."""
    if "newText" in change:
        old, new = (change.get("oldText") or "").splitlines(), change["newText"].splitlines()
        removed, added = [each for each in old if each not in new], [each for each in new if each not in old]
        return {"path": change["path"], "removed": removed, "added": added}
    lines = change["patch"]["text"].splitlines()
    begin = next(index for index, each in enumerate(lines) if each.startswith("@@"))
    removed, added = ([each[1:] for each in lines[begin:] if each.startswith(sign)] for sign in "-+")
    return {"path": change["changes"][0]["path"], "removed": removed, "added": added}


def check_written(step: Mapping[str, Any], work: str) -> None:
    """What a prompt has left on the disk."""
    for name, text in step.get("written", {}).items():
        with open(os.path.join(work, name), encoding="utf-8", newline="") as written:
            same(name, text, written.read())


def command_line() -> Tuple[Dict[str, str], List[str]]:
    """The options, and the agent."""
    split = sys.argv.index("--")
    return dict(zip(sys.argv[1:split:2], sys.argv[2:split:2])), sys.argv[split + 1 :]


async def play_all(options: Mapping[str, str], play: Callable[[Mapping[str, Any]], Awaitable[Any]]) -> None:
    """Plays all steps of a version, and prints a line for each."""
    work = options["--work"]
    os.makedirs(os.path.join(work, "listed"), exist_ok=True)
    with open(os.path.join(work, "notes.txt"), "w", encoding="utf-8", newline="") as notes:
        notes.write(NOTES)
    with open(options["--steps"], encoding="utf-8") as file:
        steps = [each for each in json.load(file)["steps"] if int(options["--version"]) in each["versions"]]
    counts: Dict[str, int] = {}
    for step in steps:
        ended = await _ended(step, play)
        word = ended.partition(" ")[0]
        counts[word] = counts.get(word, 0) + 1
        print(f"STEP {step['id']} {' '.join(ended.split())}", flush=True)
    print("RESULT", *[f"{word}={counts.get(word, 0)}" for word in ("passed", "not-offered", "failed")], flush=True)


async def _ended(step: Mapping[str, Any], play: Callable[[Mapping[str, Any]], Awaitable[Any]]) -> str:
    try:
        await asyncio.wait_for(play(step), SECONDS)
    except NotOffered as why:
        return f"not-offered {why}"
    except asyncio.TimeoutError:
        return f"failed not done within {SECONDS} s"
    except Exception as problem:
        name = "" if isinstance(problem, Wrong) else f"{type(problem).__name__}: "
        return f"failed {name}{str(problem)[:300]}"
    return "passed"
