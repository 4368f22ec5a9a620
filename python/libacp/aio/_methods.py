"""What may have a handler: the methods that the other side sends, what shows that they are served, and what they need."""

from __future__ import annotations

import difflib
import inspect
from typing import Any, Callable, Collection, Dict, Mapping, Optional, Set, Tuple

Path = Tuple[str, ...]

# The draft of each method that has one.
DRAFTS: Dict[str, str] = {
    "mcp/message": "mcp_over_acp",
    "providers/list": "llm_providers",
    "providers/set": "llm_providers",
    "providers/disable": "llm_providers",
    "auth/status": "auth_status",
    "auth/status_update": "auth_status",
    "session/fork": "session_fork",
    "session/archive": "session_archive",
    "session/unarchive": "session_archive",
    "session/status": "session_status",
    "session/options": "session_options",
    "session/set_title": "session_set_title",
    "proxy/initialize": "proxy_chains",
    "proxy/successor": "proxy_chains",
    "nes/start": "nes",
    "nes/suggest": "nes",
    "nes/close": "nes",
    "nes/accept": "nes",
    "nes/reject": "nes",
    "document/didOpen": "nes",
    "document/didChange": "nes",
    "document/didClose": "nes",
    "document/didSave": "nes",
    "document/didFocus": "nes",
    "mcp/connect": "mcp_connections",
    "mcp/disconnect": "mcp_connections",
}
# The capability that a handler shows, and its value.
SHOWN: Dict[str, Tuple[Path, Any]] = {
    "session/load": (("loadSession",), True),
    "session/resume": (("sessionCapabilities", "resume"), {}),
    "session/list": (("sessionCapabilities", "list"), {}),
    "session/delete": (("sessionCapabilities", "delete"), {}),
    "session/close": (("sessionCapabilities", "close"), {}),
    "session/fork": (("sessionCapabilities", "fork"), {}),
    "session/archive": (("sessionCapabilities", "archive"), {}),
    "session/status": (("sessionCapabilities", "status"), {}),
    "session/options": (("sessionCapabilities", "options"), {}),
    "session/set_title": (("sessionCapabilities", "title"), {}),
    "providers/list": (("providers",), {}),
    "auth/status": (("auth", "status"), {}),
    "logout": (("auth", "logout"), {}),
    "fs/read_text_file": (("fs", "readTextFile"), True),
    "fs/write_text_file": (("fs", "writeTextFile"), True),
}
# Methods whose capability says more than that they are served, so that it must be given.
NEEDED: Dict[str, Path] = {
    "elicitation/create": ("elicitation",),
    "elicitation/complete": ("elicitation", "url"),
    "nes/start": ("nes",),
    "nes/suggest": ("nes",),
    "nes/close": ("nes",),
    "nes/accept": ("nes",),
    "nes/reject": ("nes",),
    "document/didOpen": ("nes", "events", "document", "didOpen"),
    "document/didChange": ("nes", "events", "document", "didChange"),
    "document/didClose": ("nes", "events", "document", "didClose"),
    "document/didSave": ("nes", "events", "document", "didSave"),
    "document/didFocus": ("nes", "events", "document", "didFocus"),
}
# Methods that only make sense together: `terminal` is one capability for all of them.
TERMINAL = ("terminal/create", "terminal/output", "terminal/wait_for_exit", "terminal/kill", "terminal/release")
# The capability that says of each method that it is served; those without one are served by all, or need none.
STATED: Dict[str, Path] = {
    **{method: path for method, (path, _) in SHOWN.items()},
    **NEEDED,
    **dict.fromkeys(TERMINAL, ("terminal",)),
    "session/unarchive": SHOWN["session/archive"][0],
    "providers/set": SHOWN["providers/list"][0],
    "providers/disable": SHOWN["providers/list"][0],
}


def nearest(name: str, known: Collection[str]) -> str:
    """A question for the name that was probably meant; empty where there is none nearby."""
    near = difflib.get_close_matches(name, list(known), 1)
    return f"; did you mean {near[0]!r}?" if near else ""


def requests(role: str) -> Collection[str]:
    """The requests that may be sent to a side."""
    from libacp.types import v1

    return v1.CLIENT_REQUESTS if role == "agent" else v1.AGENT_REQUESTS


def known(role: str) -> Tuple[Set[str], Set[str]]:
    """The methods that may be sent to a side, and those that it sends itself."""
    from libacp.types import v1

    both: Dict[str, Set[str]] = {
        "agent": {*v1.CLIENT_REQUESTS, *v1.CLIENT_NOTIFICATIONS},
        "client": {*v1.AGENT_REQUESTS, *v1.AGENT_NOTIFICATIONS},
    }
    other = "client" if role == "agent" else "agent"
    return both[role], both[other]


def why_not(
    role: str, method: str, *, drafts: Collection[str], foreign: Collection[str], capabilities: Mapping[str, Any]
) -> Optional[str]:
    """Why a handler of a method could never be called; ``None`` for one that can."""
    if method.startswith("_") or method in foreign:
        return None
    if method == "$/cancel_request":
        return "'$/cancel_request' has no handler: it cancels the task of the handler that serves the request"
    taken, sent = known(role)
    if method not in taken:
        if method in sent:
            other = "client" if role == "agent" else "agent"
            return f"{method!r} is sent by {role}s: a handler of it belongs to the {other}'s side"
        hint = nearest(method, taken)
        return f"there is no method {method!r}{hint or '; extension methods begin with an underscore'}"
    draft = DRAFTS.get(method)
    if draft is not None and draft not in drafts:
        return f"{method!r} is part of a draft that is off: switch it on with drafts=[{draft!r}]"
    if at(capabilities, NEEDED.get(method, ())) is None:
        where = ".".join(NEEDED[method])
        return f"{method!r} needs the capability {where!r}, which no handler shows: give it with capabilities={{...}}"
    return None


def at(capabilities: Any, path: Path) -> Any:
    """What stands at a place in capabilities; ``None`` for nothing."""
    for step in path:
        capabilities = capabilities.get(step) if isinstance(capabilities, Mapping) else None
    return capabilities


def unserved(
    role: str, served: Collection[str], *, drafts: Collection[str], capabilities: Mapping[str, Any]
) -> Optional[str]:
    """Why capabilities that were given by hand are wrong: they promise a request that nothing serves."""
    for method in requests(role) if capabilities else ():
        draft, path = DRAFTS.get(method), STATED.get(method)
        if path is None or method in served or (draft is not None and draft not in drafts):
            continue
        if at(capabilities, path) not in (None, False):
            option = "files" if method.startswith("fs/") else "terminals" if method in TERMINAL else None
            how = f"@{role}.on({method!r})" + (f", or the option `{option}`" if option else "")
            return (
                f"`capabilities` says that {method!r} is served, by {'.'.join(path)!r}, and nothing serves it: "
                f"give it a handler with {how}, or leave the capability out"
            )
    return None


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


def shown(methods: Collection[str]) -> Dict[str, Any]:
    """The capabilities that handlers of these methods show."""
    found: Dict[str, Any] = {}
    for method in methods:
        path, value = SHOWN.get(method, ((), None))
        below = found
        for step in path[:-1]:
            below = below.setdefault(step, {})
        if path:
            below[path[-1]] = value
    if all(method in methods for method in TERMINAL):
        found["terminal"] = True
    return found


def whole(method: str, result: Any) -> Mapping[str, Any]:
    """The result of a method of the specification, which is an object."""
    if result is None:
        return {}
    if type(result) is not dict and not isinstance(result, Mapping):
        or_text = "a stop reason, " if method == "session/prompt" else ""
        raise TypeError(f"the handler of {method!r} must return {or_text}a dict or None, not {type(result).__name__}: {result!r:.80}")
    return result
