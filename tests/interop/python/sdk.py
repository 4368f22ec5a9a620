"""Between the script's JSON and the Python SDK's methods, keyword arguments and models.

Read next: agent.py, client.py, which use it in both directions.
"""

from __future__ import annotations

from typing import Any

from acp import schema
from pydantic import BaseModel

# Method of the protocol -> the SDK's name for it, its parameters.
CALLS: dict[str, tuple[str, type[BaseModel]]] = {
    "initialize": ("initialize", schema.InitializeRequest),
    "session/new": ("new_session", schema.NewSessionRequest),
    "session/prompt": ("prompt", schema.PromptRequest),
    "session/cancel": ("cancel", schema.CancelNotification),
    "session/update": ("session_update", schema.SessionNotification),
    "session/request_permission": ("request_permission", schema.RequestPermissionRequest),
    "fs/read_text_file": ("read_text_file", schema.ReadTextFileRequest),
    "fs/write_text_file": ("write_text_file", schema.WriteTextFileRequest),
    "terminal/create": ("create_terminal", schema.CreateTerminalRequest),
    "terminal/output": ("terminal_output", schema.TerminalOutputRequest),
    "terminal/release": ("release_terminal", schema.ReleaseTerminalRequest),
    "terminal/wait_for_exit": ("wait_for_terminal_exit", schema.WaitForTerminalExitRequest),
}


def plain(value: Any) -> Any:
    """A model as JSON; anything else as it is."""
    return value.model_dump(mode="json", by_alias=True, exclude_none=True) if isinstance(value, BaseModel) else value


def received(method: str, fields: dict[str, Any]) -> Any:
    """The parameters that the SDK took apart for a handler, as JSON."""
    _, model = CALLS[method]
    return plain(model(**fields))


async def sent(connection: Any, method: str, params: dict[str, Any]) -> Any:
    """Sends a request or notification through the SDK; its result as JSON."""
    if method.startswith("_"):
        return await connection.ext_method(method[1:], params)
    name, model = CALLS[method]
    parsed = model.model_validate(params)
    fields = {field: getattr(parsed, field) for field in model.model_fields if field != "field_meta"}
    return plain(await getattr(connection, name)(**fields))
