"""The script of ../script.json: loading, placeholders, generated texts and the comparison.

Read next: player.py, which plays it.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

PLACEHOLDER = re.compile(r"\{(cwd|work|work_uri)\}")


class Difference(Exception):
    """Something came that the script does not expect."""


def load(path: str) -> dict[str, Any]:
    script = json.loads(Path(path).read_text(encoding="utf-8"))
    if script["format"] != 1:
        raise Difference(f"script format {script['format']}, expected 1")
    return script


def expand(rule: Any) -> list[str]:
    """The texts that a text rule stands for."""
    if isinstance(rule, str):
        return [rule]
    if "repeat" in rule:
        return [rule["repeat"] * rule["times"]]
    return [rule["series"].replace("{i}", str(i)) for i in range(rule["from"], rule["to"] + 1)]


def fill(value: Any, names: dict[str, str]) -> Any:
    """Puts the values of the placeholders into every string of ``value``."""
    if isinstance(value, str):
        return PLACEHOLDER.sub(lambda found: names.get(found[1], found[0]), value)
    if isinstance(value, list):
        return [fill(item, names) for item in value]
    if isinstance(value, dict):
        return {key: fill(item, names) for key, item in value.items()}
    return value


class Checksum:
    """Running length and FNV-1a (32 bits) over UTF-8."""

    def __init__(self) -> None:
        self.bytes = 0
        self._hash = 0x811C9DC5

    def add(self, text: str) -> Checksum:
        data = text.encode("utf-8")
        value = self._hash
        for byte in data:
            value = ((value ^ byte) * 0x01000193) & 0xFFFFFFFF
        self._hash = value
        self.bytes += len(data)
        return self

    @property
    def fnv1a32(self) -> str:
        return f"{self._hash:08x}"


def difference(expected: Any, actual: Any, at: str = "") -> str | None:
    """The first difference between what the script expects and what came."""
    if actual is None and (expected is None or expected == {}):
        return None
    if isinstance(expected, dict) and isinstance(actual, dict):
        pairs = ((f"{at}/{key}", item, actual.get(key)) for key, item in expected.items())
    elif isinstance(expected, list) and isinstance(actual, list):
        if len(expected) != len(actual):
            return f"{at}: {len(expected)} items expected, {len(actual)} came"
        pairs = ((f"{at}/{i}", item, actual[i]) for i, item in enumerate(expected))
    else:
        same = type(expected) is type(actual) and expected == actual
        return None if same else f"{at}: expected {brief(expected)}, got {brief(actual)}"
    return next((found for place, a, b in pairs if (found := difference(a, b, place))), None)


def exact_difference(expected: Any, actual: Any) -> str | None:
    """Extension payloads have no schema that could add or drop a member: they must be equal."""
    return None if expected == actual else f": expected {brief(expected)}, got {brief(actual)}"


def brief(value: Any) -> str:
    text = json.dumps(value, default=str)
    return text if len(text) <= 160 else f"{text[:160]}... ({len(text)} characters)"
