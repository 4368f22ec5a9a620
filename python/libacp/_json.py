"""Reads the JSON text that the native module does not read itself. Imported when it is first needed."""

import json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Union


def loads(text: str) -> "Any":
    """The value of a JSON text."""
    try:
        return json.loads(text)
    except ValueError:
        # Where the core has accepted the text, this is Python's own limit on the digits of an int.
        return json.loads(text, parse_int=_number)


def _number(digits: str) -> "Union[int, float]":
    try:
        return int(digits)
    except ValueError:
        return float(digits)
