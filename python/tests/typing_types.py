"""What the generated types promise, checked by ``mypy --strict`` and ``pyright``; and run, what they are at run time.

Each ``type: ignore[...]`` is a mistake that the checkers must find: where one does not, it reports the comment.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, List, Union, get_args, get_type_hints

from libacp.types import v1, v2

if TYPE_CHECKING:
    from typing_extensions import assert_never, assert_type


# Session updates of version 1: closed, so that a chain can be exhaustive.
def update(update: v1.SessionUpdate) -> str:
    if (
        update["sessionUpdate"] == "agent_message_chunk"
        or update["sessionUpdate"] == "agent_thought_chunk"
        or update["sessionUpdate"] == "user_message_chunk"
    ):
        return text(update["content"])
    if update["sessionUpdate"] == "tool_call":
        assert_type(update, v1.SessionUpdateToolCall)
        return update["title"]
    if update["sessionUpdate"] == "tool_call_update":
        return update.get("title") or ""
    if update["sessionUpdate"] == "plan":
        update["content"]  # type: ignore[typeddict-item]
        return ",".join(entry["content"] for entry in update["entries"])
    if update["sessionUpdate"] == "usage_update":
        used = update.get("used")
        assert_type(used, Union[int, None])
        return str(used)
    assert_never(update)  # type: ignore[arg-type]


def text(block: v1.ContentBlock) -> str:
    if block["type"] == "text":
        return block["text"]
    if block["type"] == "image" or block["type"] == "audio":
        return block["mimeType"]
    if block["type"] == "resource_link":
        return block["uri"]
    if block["type"] == "resource":
        resource = block["resource"]
        assert_type(resource["uri"], str)
        return resource["uri"]
    assert_never(block)


# Permission outcomes.
def outcome(outcome: v1.RequestPermissionOutcome) -> Union[str, None]:
    outcome["optionId"]  # type: ignore[typeddict-item]
    return outcome["optionId"] if outcome["outcome"] == "selected" else None


chosen: v1.RequestPermissionResponse = {"outcome": {"outcome": "selected", "optionId": "yes"}}
dismissed: v1.RequestPermissionResponse = {"outcome": {"outcome": "cancelled"}}
unnamed: v1.RequestPermissionResponse = {"outcome": {"outcome": "selected"}}  # type: ignore[typeddict-item]


# Open unions of version 2 narrow as well; unknown variants have a type to cast to.
def block(block: v2.ContentBlock) -> str:
    return block["text"] if block["type"] == "text" else block["type"]


other: v2.ContentBlockOther = {"type": "_acme.dev/chart"}


# A union within a union: both tags narrow.
def state(update: v2.SessionUpdate) -> str:
    if update["sessionUpdate"] == "state_update":
        if update["state"] == "requires_action":
            assert_type(update, v2.SessionUpdateStateUpdateRequiresAction)
        return update["state"]
    return ""


# Patches of version 2 keep, clear or set.
keep: v2.ToolCallUpdate = {"toolCallId": "t1"}
clear: v2.ToolCallUpdate = {"toolCallId": "t1", "title": None}
put: v2.ToolCallUpdate = {"toolCallId": "t1", "title": "Read"}
misset: v2.ToolCallUpdate = {"toolCallId": "t1", "title": 1}  # type: ignore[typeddict-item]

# Members beside a union's, required ones, nulls and extensions.
session: v1.NewSessionRequest = {
    "cwd": "/work",
    "mcpServers": [
        {"name": "stdio", "command": "/bin/mcp", "args": [], "env": []},
        {"type": "http", "name": "http", "url": "https://localhost", "headers": []},
    ],
    "_meta": {"acme.dev/trace": "1"},
}
bare: v1.NewSessionRequest = {"cwd": "/", "mcpServers": [], "_meta": None}
homeless: v1.NewSessionRequest = {"mcpServers": []}  # type: ignore[typeddict-item]
misspelt: v1.NewSessionRequest = {"cwd": "/", "mcpServers": [], "servers": []}  # type: ignore[typeddict-unknown-key]


def server(server: v1.McpServer) -> str:
    if "type" in server:
        return server["url"] if server["type"] == "http" else server["name"]
    return server["command"]


def option(option: v1.SessionConfigOption) -> Union[str, bool]:
    assert_type(option["name"], str)
    return option["currentValue"] if option["type"] == "boolean" else option["currentValue"].upper()


# Values: closed in version 1, open in version 2.
stop: v1.StopReason = "end_turn"
invented: v1.StopReason = "_tired"  # type: ignore[assignment]
role: v2.Role = "_narrator"


# Methods by sender give params and results.
async def turn(call: v1.CallAgent, send: v1.SendClientRequest[int], tell: v1.SendClientNotification[None]) -> None:
    opened = await call("session/new", bare)
    assert_type(opened, v1.NewSessionResponse)
    answer = await call(
        "session/prompt", {"sessionId": opened["sessionId"], "prompt": [{"type": "text", "text": "hello"}]}
    )
    assert_type(answer["stopReason"], v1.StopReason)
    assert_type(send("session/new", bare), int)
    tell("session/cancel", {"sessionId": opened["sessionId"]})
    await call("session/request_permission", {})  # type: ignore[call-overload]
    await call("session/prompt", {"sessionId": 1, "prompt": []})  # type: ignore[call-overload]


def handler(method: v1.AgentRequest) -> str:
    return v1.AGENT_REQUESTS[method][0]


def check_runtime() -> None:
    """The types are real: whoever inspects annotations or makes validators from them sees what the stubs say."""
    for module in (v1, v2):
        names = dir(module)
        assert "SessionUpdate" in names and "CLIENT_REQUESTS" in names
        for name in names:
            getattr(module, name)
        tables: List[Dict[Any, Any]] = [dict(module.CLIENT_REQUESTS), dict(module.AGENT_REQUESTS)]
        for table in tables:
            for params, result in table.values():
                assert getattr(module, params) is not None and getattr(module, result) is not None
    assert v1.NewSessionRequest.__required_keys__ == {"cwd", "mcpServers"}
    assert "_meta" in v1.NewSessionRequest.__optional_keys__
    assert v1.NewSessionRequest.__module__ == "libacp.types.v1"
    assert get_type_hints(v1.ToolCall)["toolCallId"] is str
    assert get_args(v1.StopReason)[0] == "end_turn"
    assert v1.ContentBlockText in get_args(v1.ContentBlock)
    assert v1.SessionUpdateToolCall is v1.SessionUpdateToolCall
    assert get_args(v2.Role)[-1] is str
    assert v1.ERROR_CODES["request_cancelled"] == -32800
    assert v1.SendClientRequest[int] is not None
    assert dict(v1.NewSessionRequest(cwd="/", mcpServers=[])) == {"cwd": "/", "mcpServers": []}
    try:
        getattr(v1, "NoSuchType")
    except AttributeError as error:
        assert "NoSuchType" in str(error)
    else:
        raise AssertionError("a type that is not there was made")


if __name__ == "__main__":
    check_runtime()
