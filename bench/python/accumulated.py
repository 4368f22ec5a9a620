"""What the official SDK's session state holds of a session of so many messages of forty bytes: `accumulated.py`.

Each `apply` also copies all of it into a snapshot, which is left out: it is as large again, and 10,000 of them take minutes.
"""

from __future__ import annotations

import json
import tracemalloc
from typing import Any

from acp import schema
from acp.contrib.session_state import SessionAccumulator

MESSAGES = 10_000


class Accumulator(SessionAccumulator):
    """Takes no snapshots."""

    def snapshot(self) -> Any:
        return None


def message(number: int) -> Any:
    content = {"type": "text", "text": "Forty bytes of what the agent says now.."}
    update = {"sessionUpdate": "agent_message_chunk", "messageId": f"message-{number:05}", "content": content}
    line = json.dumps({"sessionId": "s-0", "update": update})
    return schema.SessionNotification.model_validate(json.loads(line))


def held() -> int:
    """The bytes that are allocated for it and stay. What the first message loads is not among them."""
    Accumulator().apply(message(0))
    tracemalloc.start()
    accumulator = Accumulator()
    for number in range(MESSAGES):
        accumulator.apply(message(number))
    size, _ = tracemalloc.get_traced_memory()
    messages = accumulator._agent_messages
    assert len(messages) == MESSAGES, len(messages)
    return size


print(json.dumps({"bytes": held()}))
