"""An agent without any library whose words are commands to a terminal: ``terminal_abuse.py ALWAYS``.

It says them wherever a client may print them. With ALWAYS, its permission can only be had for good. At the end it says
which option it got, in plain words.
"""

import json
import sys
from typing import Any, Dict

# Clipboard, title, the line that is overwritten, C1, direction, line ends of Unicode.
EVIL = "\x1b]52;c;aGk=\x07\x1b]0;t\x07Rm -rf\r\x1b[2KRead"
EVIL += "\x9b31m\u202ednah\u202c\u2066x\u2069\u061c\u200f\u2028z\u2029\x00\x7f\x85"


def send(message: Dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def update(**update: Any) -> None:
    send({"method": "session/update", "params": {"sessionId": "s", "update": update}})


def main(kind: str) -> None:
    prompt: Any = None
    for line in sys.stdin:
        message = json.loads(line)
        method, id = message.get("method"), message.get("id")
        if method == "initialize":
            send({"id": id, "result": {"protocolVersion": 1, "agentCapabilities": {}}})
        elif method == "session/new":
            send({"id": id, "result": {"sessionId": "s"}})
        elif method == "session/prompt" and prompt is None:
            prompt = id
            update(sessionUpdate="agent_message_chunk", content={"type": "text", "text": EVIL})
            update(sessionUpdate="tool_call", toolCallId="t", title=EVIL)
            update(sessionUpdate="tool_call_update", toolCallId="t", status=EVIL)
            entry = {"content": EVIL, "priority": "high", "status": "pending"}
            update(sessionUpdate="plan", entries=[entry])
            options = [
                {"optionId": "a", "name": EVIL, "kind": kind},
                {"optionId": "r", "name": EVIL, "kind": "reject_once"},
            ]
            params = {"sessionId": "s", "toolCall": {"toolCallId": "t", "title": EVIL}, "options": options}
            send({"id": "p", "method": "session/request_permission", "params": params})
            send({"id": EVIL, "method": EVIL, "params": {}})
        elif id == "p":
            text = f"<{message['result']['outcome'].get('optionId')}>"
            update(sessionUpdate="agent_message_chunk", content={"type": "text", "text": text})
            send({"id": prompt, "result": {"stopReason": EVIL}})
        elif method == "session/prompt":
            send({"id": id, "error": {"code": 1, "message": EVIL}})


if __name__ == "__main__":
    main(sys.argv[1])
