"""The format of the host vectors in ``tests/hosts``, and how what they expect is compared with what is found."""

import difflib
import json
from pathlib import Path
from typing import Any, Collection, Dict, List

FOLDER = Path(__file__).resolve().parents[2] / "tests" / "hosts"
SIDES = ("agent", "client")

SCENARIO = ("name", "host", "peer", "bare", "hooks", "handlers", "steps", "refused", "gaps")
HOST = (
    "policy",
    "drafts",
    "capabilities",
    "auth_methods",
    "timeout",
    "max_requests",
    "expose_errors",
    "versions",
    "later",
    "files",
    "terminals",
    "merge_chunks",
)
LANGUAGES = ("python", "javascript", "rust")
HOOKS = ("update", "violation", "advice", "error", "late_response")
# What may stand beside each step, action and event.
STEPS: Dict[str, Collection[str]] = {
    "send": ("times",),
    "out": (),
    "see": ("times",),
    "call": ("with", "as", "session", "iterate", "wait", "begin"),
    "request": ("with", "as", "session"),
    "notify": ("with", "session"),
    "work": ("then", "as"),
    "go": (),
    "cancel": (),
    "drop": (),
    "close": (),
    "eof": (),
    "wait": (),
}
ACTIONS: Dict[str, Collection[str]] = {
    "update": (),
    "do": ("with", "as"),
    "request": ("with", "as"),
    "notify": ("with",),
    "wait": (),
    "data": (),
    "see": (),
    "return": (),
    "fail": (),
    "raise": (),
}
EVENTS: Dict[str, Collection[str]] = {
    "handler": ("session", "id", "params"),
    "cancelled": (),
    "data": (),
    "update": ("is", "meta"),
    "done": ("result", "error"),
    "hook": ("session", "is", "rule", "method"),
}
ERROR = ("kind", "code", "message", "data", "rule")
# The conveniences of `do`, and what each takes.
WORDS = ("text", "content", "message_id")
CALL = ("title", "kind", "status", "content", "locations", "raw_input", "raw_output")
DO: Dict[str, Collection[str]] = {
    "message": WORDS,
    "thought": WORDS,
    "plan": ("entries", "id"),
    "remove_plan": ("id",),
    "hold": (),
    "insert": (),
    "background": ("terminal",),
    "display_terminal": ("id", "command", "cwd", "then"),
    "tool_call": ("id", "then", *CALL),
    "ask_permission": ("tool_call", "options"),
    "read_text_file": ("path", "line", "limit"),
    "write_text_file": ("path", "content"),
    "terminal": ("command", "args", "env", "cwd", "output_byte_limit", "then"),
}
# Those of a tool call and of a terminal, in their `then`.
INSIDE: Dict[str, Dict[str, Collection[str]]] = {
    "tool_call": {
        "text": ("text",),
        "diff": ("path", "new_text", "old_text"),
        "change": CALL,
        "complete": ("raw_output",),
        "fail": ("text",),
        "ask_permission": ("options",),
        "append": ("text", "content"),
        "show": ("terminal",),
        "cancelled": (),
        "background": (),
    },
    "display_terminal": {"write": ("text",), "exit": ("code", "signal"), "background": ()},
    "terminal": {"wait": (), "output": (), "kill": ()},
}


class Difference(Exception):
    """A scenario went another way than it says. `kind` is what ``wrong.json`` names."""

    def __init__(self, kind: str, text: str) -> None:
        super().__init__(f"{kind}: {text}")
        self.kind = kind


def only(what: str, value: Any, known: Collection[str]) -> None:
    if not isinstance(value, dict):
        raise Difference("format", f"{what} is no object: {value!r}")
    for name in value:
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            raise Difference("format", f"{what} has no member {name!r}; it has {near or sorted(known)}")


def kind_of(what: str, value: Any, kinds: Dict[str, Collection[str]]) -> str:
    """The one kind of a step, an action or an event, with nothing beside it that it does not have."""
    found = [name for name in kinds if isinstance(value, dict) and name in value]
    # An event of a handler's name or a step of a call may have a member that is a kind as well.
    found = [name for name in found if not any(name in kinds[other] for other in found)]
    if len(found) != 1:
        raise Difference("format", f"{what} of no known kind, or of two: {value!r}")
    only(f"{what} {found[0]!r}", value, (found[0], *kinds[found[0]]))
    return found[0]


def check(scenario: Any) -> None:
    """Fails for whatever the format does not have, wherever it stands."""
    only("a scenario", scenario, SCENARIO)
    if not isinstance(scenario.get("name"), str) or ("steps" in scenario) == ("refused" in scenario):
        raise Difference("format", "a scenario has a name, and either steps or what is refused")
    only("gaps", scenario.get("gaps", {}), LANGUAGES)
    # What is refused may be an option that there is not.
    if "refused" not in scenario:
        only("host", scenario.get("host", {}), HOST)
    only("hooks", dict.fromkeys(scenario.get("hooks", ())), HOOKS)
    for runs in scenario.get("handlers", {}).values():
        for run in runs:
            for action in run:
                check_action(action)
    for step in scenario.get("steps", ()):
        kind = kind_of("a step", step, STEPS)
        for action in step.get("then", ()):
            check_action(action)
        if kind == "see":
            check_event(step["see"])


def check_action(action: Any) -> None:
    if kind_of("an action", action, ACTIONS) == "do":
        check_do(action, DO)
    elif action.get("see", "data") != "data":
        raise Difference("format", f"only data can be seen: {action!r}")


def check_do(action: Any, known: Dict[str, Collection[str]]) -> None:
    what, given = action["do"], action.get("with", {})
    if what not in known:
        raise Difference("format", f"there is no convenience {what!r}; there are {sorted(known)}")
    only(f"the convenience {what!r}", given, known[what])
    for each in given.get("then", ()):
        if "do" in each and each["do"] in INSIDE[what]:
            only("an action", each, ("do", "with", "as"))
            check_do(each, INSIDE[what])
        else:
            check_action(each)


def check_event(event: Any) -> None:
    if kind_of("an event", event, EVENTS) == "done" and "error" in event:
        only("an error", event["error"], ERROR)
    if "hook" in event and event["hook"] not in HOOKS:
        raise Difference("format", f"there is no hook {event['hook']!r}")


def same(expected: Any, found: Any, names: Dict[str, Any]) -> bool:
    """Equality of JSON values, which tells ``true`` from 1. ``<NAME>`` binds a name, ``<any>`` is anything."""
    if isinstance(expected, str) and expected.startswith("<") and expected.endswith(">"):
        if expected == "<any>":
            return True
        if isinstance(found, bool) or not isinstance(found, (str, int)):
            return False
        return same(names.setdefault(expected, found), found, {}) if expected in names else bind(names, expected, found)
    if type(expected) is not type(found):
        return False
    if isinstance(expected, dict):
        return expected.keys() == found.keys() and all(same(each, found[name], names) for name, each in expected.items())
    if isinstance(expected, list):
        return len(expected) == len(found) and all(same(each, other, names) for each, other in zip(expected, found))
    return bool(expected == found)


def bind(names: Dict[str, Any], name: str, found: Any) -> bool:
    names[name] = found
    return True


def filled(value: Any, names: Dict[str, Any]) -> Any:
    """A value with what its names are bound to."""
    if isinstance(value, str):
        return names.get(value, value)
    if isinstance(value, dict):
        return {name: filled(each, names) for name, each in value.items()}
    if isinstance(value, list):
        return [filled(each, names) for each in value]
    return value


def compare(kind: str, expected: Any, found: Any, names: Dict[str, Any], loose: Collection[str] = ()) -> None:
    """Compares a frame or an event; of the `loose` members only those that are stated."""
    kept = {name: value for name, value in found.items() if name in expected or name not in loose}
    if "error" in expected and isinstance(kept.get("error"), dict) and kind == "event":
        stated = {"kind", *expected["error"]}
        kept["error"] = {name: value for name, value in kept["error"].items() if name in stated}
    if not same(expected, kept, names):
        raise Difference(kind, f"expected {json.dumps(expected)}, found {json.dumps(found, default=repr)}")


def scenarios(side: str) -> List[Any]:
    """All scenarios of a side; names are unique."""
    found: List[Any] = []
    for path in sorted((FOLDER / side).glob("*.json")):
        found += json.loads(path.read_text("utf-8"))
    assert len({each["name"] for each in found}) == len(found), f"{side}: a name stands twice"
    return found
