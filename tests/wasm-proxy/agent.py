"""An agent that does what the proxy is there for; plain JSON, so that nothing stands between it and the proxy."""

import json
import sys


def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def update(which, **members):
    send({"method": "session/update", "params": {"sessionId": "s-1", "update": {"sessionUpdate": which, **members}}})


def say(text):
    update("agent_message_chunk", content={"type": "text", "text": text})


def receive():
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    return json.loads(line)


def ask(number, method, params):
    """Asks the client and says what it answered."""
    send({"id": number, "method": method, "params": {"sessionId": "s-1", **params}})
    answer = receive()
    assert answer["id"] == number, answer
    say(f"{method}: {json.dumps(answer.get('result', answer.get('error')), sort_keys=True)}")


def permission(number, title):
    tool_call = {"toolCallId": f"t-{number}", "title": title, "kind": "execute"}
    options = [
        {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
        {"optionId": "no", "name": "No", "kind": "reject_once"},
    ]
    ask(number, "session/request_permission", {"toolCall": tool_call, "options": options})


def turn(blocks):
    say(f"{len(blocks)} blocks, first: {blocks[0]['text']}")
    for piece in ("the key is s", "k-12", "34, keep ", "it; s", "o be it"):
        say(piece)
    update("tool_call", toolCallId="t-1", title="cat sk-777", kind="execute", status="pending")
    update("tool_call_update", toolCallId="t-1", rawOutput={"lines": ["token=sk-888"]})
    update("tool_call", toolCallId="t-2", title="rm", kind="execute", status="pending")
    permission(1, "cat notes")
    permission(2, "rm -rf /")
    ask(3, "terminal/create", {"command": "sh", "args": ["-c", "rm x"]})
    ask(4, "fs/read_text_file", {"path": "/work/a"})
    say("bye sk-")


while True:
    request = receive()
    method = request["method"]
    if method == "initialize":
        result = {"protocolVersion": 1, "agentCapabilities": {}}
    elif method == "session/new":
        result = {"sessionId": "s-1"}
    elif method == "session/prompt":
        turn(request["params"]["prompt"])
        result = {"stopReason": "end_turn"}
    else:
        raise SystemExit(f"unexpected {method}")
    send({"id": request["id"], "result": result})
