"""The conversation of ``tests/interop/script.json``: its texts, placeholders, checksums and comparisons.

Nothing here knows libacp; ``play.py`` puts the two together.
"""

import json
import re
from pathlib import Path
from typing import Any, Dict, Iterator, List, Optional


# A number that no double holds, in the `_meta` of the hosts' names: the client sends it, an agent that knows the member
# sends it back. The script itself cannot have one, as one of the official SDKs rounds it.
EXACT = ("libacp.dev/exact", 9_007_199_254_740_993)


class Difference(Exception):
    """What happened is not what the script says."""


def load(path: str) -> Dict[str, Any]:
    script: Dict[str, Any] = json.loads(Path(path).read_text("utf-8"))
    if script["format"] != 1:
        raise Difference(f"a script of format 1 is expected, this one has {script['format']}")
    return script


def texts(rule: Any) -> Iterator[str]:
    """The texts of a text rule."""
    if isinstance(rule, str):
        yield rule
    elif "repeat" in rule:
        yield rule["repeat"] * rule["times"]
    else:
        for number in range(rule["from"], rule["to"] + 1):
            yield rule["series"].replace("{i}", str(number))


def filled(value: Any, names: Dict[str, str]) -> Any:
    """The value with the placeholders of its strings replaced by what is known."""
    if isinstance(value, str):
        return re.sub(r"\{(\w+)\}", lambda found: names.get(found.group(1), found.group()), value)
    if isinstance(value, list):
        return [filled(item, names) for item in value]
    if isinstance(value, dict):
        return {name: filled(item, names) for name, item in value.items()}
    return value


class Sum:
    """Length and FNV-1a checksum of texts put together."""

    def __init__(self) -> None:
        self.length = 0
        self.value = 0x811C9DC5

    def add(self, data: bytes) -> None:
        self.length += len(data)
        value = self.value
        for byte in data:
            value = (value ^ byte) * 0x01000193 & 0xFFFFFFFF
        self.value = value

    def found(self) -> Dict[str, Any]:
        return {"bytes": self.length, "fnv1a32": f"{self.value:08x}"}


def compare(expected: Any, found: Any, place: str, exact: bool = False) -> None:
    """Raises at the first place where what was found does not fit what is expected.

    Members that are not expected are let be, and ``null`` or ``{}`` may be absent; not so where it is to be `exact`.
    """
    if not exact and found is None and (expected is None or expected == {}):
        return
    if isinstance(expected, dict) and isinstance(found, dict):
        for name in expected if not exact else {**expected, **found}:
            if exact and (name not in expected or name not in found):
                raise Difference(f"{place}/{name}: stands on one side only")
            compare(expected[name], found.get(name), f"{place}/{name}", exact)
    elif isinstance(expected, list) and isinstance(found, list):
        if len(expected) != len(found):
            raise Difference(f"{place}: expected {len(expected)} items, got {len(found)}")
        for index, (item, other) in enumerate(zip(expected, found)):
            compare(item, other, f"{place}/{index}", exact)
    # Python takes True for 1; the protocol does not.
    elif type(expected) is not type(found) or expected != found:
        raise Difference(f"{place}: expected {shown(expected)}, got {shown(found)}")


def shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 120 else f"{text[:120]}... ({len(text)} characters)"


def kept_together(chunks: List[Any]) -> Iterator[str]:
    """The texts of a list of text rules, one after the other."""
    for rule in chunks:
        yield from texts(rule)


def named(info: Optional[Dict[str, Any]], place: str) -> None:
    """Both sides introduce themselves; the names are their own."""
    if not info or not info.get("name") or not info.get("version"):
        raise Difference(f"{place}: expected a name and a version, got {shown(info)}")


def exact(info: Dict[str, Any]) -> Any:
    """The exact number in what a side says about itself, as it came; ``None`` when there is none."""
    return (info.get("_meta") or {}).get(EXACT[0])
