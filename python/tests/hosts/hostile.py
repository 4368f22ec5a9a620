"""An agent without any library that does one thing wrong: ``hostile.py WAY``."""

import json
import os
import sys
import time
from typing import Any, BinaryIO, Dict

out: BinaryIO = sys.stdout.buffer


def send(message: Dict[str, Any]) -> None:
    out.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
    out.flush()


def say(text: str) -> None:
    update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}
    send({"method": "session/update", "params": {"sessionId": "s", "update": update}})


def prompted(way: str, id: Any) -> None:
    say("hello")
    if way == "dies":
        os._exit(7)
    if way == "half":
        out.write(b'{"jsonrpc":"2.0","id":%d,"result":{"stopRea' % id)
        out.flush()
        os._exit(0)
    if way == "closes":
        os.close(1)
        time.sleep(600)
    if way == "garbage":
        out.write(b"Traceback: not a message\n\xff\xfe\n[1,2]\n{\"jsonrpc\":\"2.0\",\"id\":99,\"result\":{}}\n")
        plan = {"sessionUpdate": "plan", "entries": []}
        send({"method": "session/update", "params": {"sessionId": "other", "update": plan}})
        send({"method": "fs/read_text_file", "id": 1, "params": {"sessionId": "s", "path": "relative"}})
        send({"id": id, "result": {"stopReason": "tired"}})
    elif way == "floods":
        for number in range(200_000):
            say(f"{number} " + "x" * 500)
    elif way == "bursts":
        for number in range(600):
            say(f"{number} ")
        os._exit(0)
    elif way != "silent":
        send({"id": id, "result": {"stopReason": "end_turn"}})


def main(way: str) -> None:
    for line in sys.stdin.buffer:
        message = json.loads(line)
        method, id = message.get("method"), message.get("id")
        if method == "initialize" and way != "mute":
            send({"id": id, "result": {"protocolVersion": 1, "agentCapabilities": {}}})
        elif method == "session/new":
            send({"id": id, "result": {"sessionId": "s"}})
        elif method == "session/prompt":
            prompted(way, id)
    if way == "stays":
        time.sleep(600)


if __name__ == "__main__":
    main(sys.argv[1])
