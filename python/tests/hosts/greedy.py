"""An agent without any library that asks for more than it reads: ``greedy.py METHOD COUNT SECONDS PATH``.

In its prompt it sends so many requests at once, about a file or a terminal that has printed a MiB, reads nothing for so
long, then reads all answers. It ends the turn and says what it got, in the `_meta` of its answer.
"""

import json
import sys
import time
from collections import Counter
from typing import Any, BinaryIO, Dict

out: BinaryIO = sys.stdout.buffer
FIRST = 1000


def line(message: Dict[str, Any]) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"


def send(message: Dict[str, Any]) -> None:
    out.write(line(message))
    out.flush()


def call(method: str, params: Dict[str, Any]) -> Any:
    send({"id": 1, "method": method, "params": {"sessionId": "s", **params}})
    return json.loads(sys.stdin.buffer.readline())["result"]


def about(method: str, path: str) -> Dict[str, Any]:
    """The params of the requests."""
    if method == "fs/write_text_file":
        return {"path": path, "content": "x" * 1_000_000}
    if method == "fs/read_text_file":
        return {"path": path}
    terminal: Dict[str, Any] = call("terminal/create", {"command": "sh", "args": ["-c", "yes | head -c 1048576"]})
    call("terminal/wait_for_exit", terminal)
    return terminal


def ask(method: str, count: int, seconds: float, path: str) -> Dict[str, Any]:
    """Asks, waits, reads; whether there was one answer for each id, and how many of which sizes."""
    params = {"sessionId": "s", **about(method, path)}
    ids = range(FIRST, FIRST + count)
    for id in ids:
        out.write(line({"id": id, "method": method, "params": params}))
    out.flush()
    time.sleep(seconds)
    seen: "Counter[int]" = Counter()
    sizes: "Counter[int]" = Counter()
    while sum(seen.values()) < count:
        answer = sys.stdin.buffer.readline()
        # The id comes before the result, which may be long.
        head = json.loads(answer) if len(answer) < 10_000 else {"id": int(answer[:60].split(b'"id":')[1].split(b",")[0])}
        seen[head["id"]] += 1
        sizes[len(answer)] += 1
    return {"once": sorted(seen) == list(ids) and set(seen.values()) == {1}, "sizes": dict(sizes)}


def main(method: str, count: str, seconds: str, path: str) -> None:
    while text := sys.stdin.buffer.readline():
        message = json.loads(text)
        asked, id = message.get("method"), message.get("id")
        if asked == "initialize":
            send({"id": id, "result": {"protocolVersion": 1, "agentCapabilities": {}}})
        elif asked == "session/new":
            send({"id": id, "result": {"sessionId": "s"}})
        elif asked == "session/prompt":
            got = ask(method, int(count), float(seconds), path)
            send({"id": id, "result": {"stopReason": "end_turn", "_meta": got}})


if __name__ == "__main__":
    main(*sys.argv[1:])
