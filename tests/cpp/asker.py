"""An agent that asks for permission by the ids of tool calls alone, after updates that said what the calls are called: of
calls among the last 256 and before them, of one with another title, with a title in the request, that is over, that was
never told of, whose title is too long, and whose title would steer the user's terminal."""

import itertools
import json
import sys

REQUESTS = itertools.count(1)


def send(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def receive():
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    return json.loads(line)


def tell(session, kind, call, **members):
    update = {"sessionUpdate": kind, "toolCallId": call, **members}
    send(method="session/update", params={"sessionId": session, "update": update})


def ask(session, call, **members):
    number = f"ask-{next(REQUESTS)}"
    options = [{"optionId": kind, "name": kind, "kind": kind} for kind in ("allow_once", "reject_once")]
    params = {"sessionId": session, "toolCall": {"toolCallId": call, **members}, "options": options}
    send(id=number, method="session/request_permission", params=params)
    while receive().get("id") != number:
        pass


def turn(session, request):
    for number in range(300):
        tell(session, "tool_call", f"call-{number}", title=f"Call {number}", status="pending")
    ask(session, "call-299")
    ask(session, "call-44")
    ask(session, "call-43")
    tell(session, "tool_call_update", "call-299", title="Another title")
    tell(session, "tool_call_update", "call-299", status="in_progress")
    ask(session, "call-299")
    ask(session, "call-299", title="Of its own")
    tell(session, "tool_call_update", "call-298", status="completed")
    ask(session, "call-298")
    ask(session, "call-none")
    tell(session, "tool_call", "call-long", title="x" * 1025)
    ask(session, "call-long")
    tell(session, "tool_call_update", "call-297", title="Call 1\x1b")
    ask(session, "call-297")
    send(id=request, result={"stopReason": "end_turn"})


def main():
    while True:
        message = receive()
        method, params = message.get("method"), message.get("params")
        if method == "initialize":
            send(id=message["id"], result={"protocolVersion": 1})
        elif method == "session/new":
            send(id=message["id"], result={"sessionId": "s"})
        elif method == "session/prompt":
            turn(params["sessionId"], message["id"])


main()
