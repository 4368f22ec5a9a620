"""JSON that the native module does not handle itself. Imported when it is first needed."""

import json
from decimal import Decimal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Union

# Digits that `int` reads whatever `sys.set_int_max_str_digits` was told.
_CHUNK = 640
# Longer numbers stay decimal: a frame full of digits would take minutes to become an `int`.
_MOST = 20_000


def loads(text: str) -> "Any":
    """The value of a JSON text."""
    return json.loads(text, parse_int=_number)


def digits(number: int) -> str:
    """The text of an int, of any size."""
    return str(Decimal(number))


def _number(text: str) -> "Union[int, Decimal]":
    if len(text) - text.startswith("-") > _MOST:
        return Decimal(text)
    return -_read(text[1:]) if text.startswith("-") else _read(text)


def _read(text: str) -> int:
    if len(text) <= _CHUNK:
        return int(text)
    low = len(text) // 2
    shift: int = 10**low
    return _read(text[:-low]) * shift + _read(text[-low:])
