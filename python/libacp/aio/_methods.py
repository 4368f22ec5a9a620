"""What a handler must be: a function with these arguments, which returns an object."""

from __future__ import annotations

import difflib
import inspect
from typing import Any, Callable, Collection, Mapping, Tuple


def nearest(name: str, known: Collection[str]) -> str:
    """A question for the name that was probably meant; empty where there is none nearby."""
    near = difflib.get_close_matches(name, list(known), 1)
    return f"; did you mean {near[0]!r}?" if near else ""


def shape(what: str, handler: Callable[..., Any], arguments: Tuple[str, ...]) -> None:
    """Raises `TypeError` for a handler that cannot be called with these arguments, or that yields."""
    if not callable(handler):
        raise TypeError(f"the handler of {what} must be a function, not {handler!r}")
    if inspect.isgeneratorfunction(handler) or inspect.isasyncgenfunction(handler):
        raise TypeError(
            f"the handler of {what} is a generator: it must be a coroutine function, which sends updates with "
            "`await turn.message(...)` or `await session.update(...)` in place of `yield`"
        )
    try:
        inspect.signature(handler).bind(*arguments)
    except TypeError:
        raise TypeError(f"the handler of {what} is called with ({', '.join(arguments)}), which it does not take") from None
    except ValueError:
        pass  # There are callables that have no signature.


def whole(method: str, result: Any) -> Mapping[str, Any]:
    """The result of a method of the specification, which is an object."""
    if result is None:
        return {}
    if type(result) is not dict and not isinstance(result, Mapping):
        or_text = "a stop reason, " if method == "session/prompt" else ""
        raise TypeError(f"the handler of {method!r} must return {or_text}a dict or None, not {type(result).__name__}: {result!r:.80}")
    return result
