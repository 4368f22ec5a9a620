# pyright: strict, reportUnusedExpression=false
"""What type checkers must make of a program that uses libacp. Checked and never run."""

from typing import Any, Optional

import libacp
from libacp.names import ConnectionSnapshot, Id, MisuseKind, Outcome, Phase, Policy, SessionSnapshot
from libacp.types import v1


def kind(event: libacp.Event) -> str:
    """Every kind of event is told apart, and there is no other."""
    if isinstance(event, (libacp.Request, libacp.Notification)):
        text: str = event.params_json
        return event.method + text
    if isinstance(event, libacp.Response):
        outcome: Outcome = event.outcome
        error: Optional[libacp.PeerError] = event.error
        return outcome if error is None else error.message
    if isinstance(event, (libacp.Cancel, libacp.Answered)):
        return event.method
    if isinstance(event, (libacp.Violation, libacp.Advice)):
        rule = libacp.rule(event.rule)
        return event.rule if rule is None else rule.severity + rule.text
    if isinstance(event, libacp.LateResponse):
        late: Outcome = event.outcome
        return late + event.method
    closed: libacp.Closed = event
    return closed.reason


def converse(data: bytes) -> "list[Id]":
    """The calls, with the types that they take and give."""
    connection = libacp.Connection("client", limits=libacp.Limits(frame=1 << 20), drafts=["nes"], policies={"note": "off"})
    id: "int | str" = connection.request("initialize", {"clientCapabilities": {}}, timeout=5_000)
    connection.request("_x/z", timeout=None)
    connection.request("_x/y", libacp.RawJson("{}"), id="mine")
    connection.receive_data(memoryview(data))
    for event in connection.events():
        kind(event)
        if isinstance(event, libacp.Request):
            connection.respond(event, {"a": [1, None]})
            connection.respond_error(event.id, libacp.ErrorCode.INTERNAL_ERROR, "no")
    connection.cancel(id)
    phase: Phase = connection.phase
    quiet: "Policy | None" = connection.config.policies.get("note")
    print(quiet)
    session = connection.session(phase)
    if session is not None:
        terminals: "dict[str, bool]" = session.terminals
        print(terminals)
    snapshot: "SessionSnapshot | None" = connection.session_snapshot("s")
    if snapshot is not None and snapshot["configOptions"] is not None:
        print([option["id"] for option in snapshot["configOptions"]], snapshot["modes"])
    whole: ConnectionSnapshot = connection.snapshot()
    kinds: "list[tuple[str, str]]" = [(method["methodId"], method["kind"]) for method in whole["loginMethods"]]
    print(kinds, whole["login"], whole["providers"], connection.peer_extension("x.example") is None)
    text: "str | None" = connection.command_text("s", "web", "acp")
    inside: bool = connection.in_roots("s", "/work")
    print(text, inside)
    output: v1.TerminalOutputResponse = {**libacp.cut_output("abc", 2), "exitStatus": {"exitCode": 0}}
    connection.respond(1, output)
    try:
        connection.notify("session/cancel", {"sessionId": "s"})
    except libacp.Misuse as misuse:
        known: "MisuseKind | None" = misuse.kind
        print(known, misuse.rule, misuse.pointer)
    sent: bytes = connection.transmit(100)
    connection.consume(len(sent))
    return [request.id for request in connection.pending]


def typed(connection: libacp.Connection, event: libacp.Request) -> None:
    """The generated types of the protocol, where a host wants its params checked."""
    ask: "v1.SendClientRequest[int | str]" = connection.request
    id: "int | str" = ask("session/new", {"cwd": "/work", "mcpServers": []})
    ask("session/new", {"cwd": 5, "mcpServers": []})  # type: ignore[call-overload]
    tell: "v1.SendAgentNotification[None]" = connection.notify
    tell("session/update", {"sessionId": "s", "update": {"sessionUpdate": "plan", "entries": []}})
    prompt: v1.PromptRequest = event.params
    for block in prompt["prompt"]:
        if block["type"] == "text":
            print(block["text"], id)
    result: v1.PromptResponse = {"stopReason": "end_turn"}
    connection.respond(event, result)


def wrong(connection: libacp.Connection, event: libacp.Request, anything: Any) -> None:
    """Each of these is a mistake that a checker must see."""
    libacp.Connection("server")  # type: ignore[arg-type]
    libacp.Connection("client", framing="json")  # type: ignore[arg-type]
    libacp.Connection("client", policies={"info": "off"})  # type: ignore[dict-item]
    connection.request("_x/y", id=1.5)  # type: ignore[arg-type]
    connection.request("_x/y", 5)  # type: ignore[arg-type]
    connection.request("_x/y", timeout="5")  # type: ignore[arg-type]
    connection.receive_data("text")  # type: ignore[arg-type]
    connection.phase == "open"  # type: ignore[comparison-overlap]
    event.method = "other"  # type: ignore[misc]
    connection.respond(5.5, anything)  # type: ignore[arg-type]
    event.outcome  # type: ignore[attr-defined]
