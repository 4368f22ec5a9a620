"""An agent without any library that runs a command through its client and stays: ``runner.py MARK``.

The command and the child that it leaves in its group sleep for MARK seconds, which names them.
"""

import json
import sys
from typing import Any, Dict


def send(message: Dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def main(mark: str) -> None:
    for line in sys.stdin:
        message = json.loads(line)
        method, id = message.get("method"), message.get("id")
        if method == "initialize":
            send({"id": id, "result": {"protocolVersion": 1, "agentCapabilities": {}}})
        elif method == "session/new":
            send({"id": id, "result": {"sessionId": "s"}})
        elif method == "session/prompt":
            script = f"sleep {mark} & exec sleep {mark}"
            params = {"sessionId": "s", "command": "sh", "args": ["-c", script]}
            send({"id": "t", "method": "terminal/create", "params": params})
        elif id == "t":
            update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "running"}}
            send({"method": "session/update", "params": {"sessionId": "s", "update": update}})


if __name__ == "__main__":
    main(sys.argv[1])
