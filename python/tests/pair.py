"""What the tests share: two connections that talk to each other without any transport."""

from typing import Any, Dict, List, Optional, Tuple

import libacp

CLIENT = {"clientCapabilities": {"fs": {"readTextFile": True, "writeTextFile": True}, "terminal": True}}
AGENT = {"agentCapabilities": {"loadSession": True}, "agentInfo": {"name": "tested", "version": "1"}}


def line(method: str, params: Any, id: Any = ...) -> bytes:
    """A message as a peer sends it."""
    import json

    message: Dict[str, Any] = {"jsonrpc": "2.0"}
    if id is not ...:
        message["id"] = id
    message.update(method=method, params=params)
    return json.dumps(message).encode() + b"\n"


class Pair:
    """A client and an agent; what each has seen."""

    def __init__(self, **config: Any) -> None:
        self.client = libacp.Connection("client", **config)
        self.agent = libacp.Connection("agent", **config)

    def pump(self, sender: libacp.Connection) -> "List[libacp.Event]":
        """Carries all bytes of one side to the other; the events that the other has from them."""
        receiver = self.agent if sender is self.client else self.client
        while data := sender.data_to_send():
            receiver.receive_data(data)
        return list(receiver.events())

    def one(self, sender: libacp.Connection) -> Any:
        """The same where there is exactly one event."""
        (event,) = self.pump(sender)
        return event

    def call(self, sender: libacp.Connection, method: str, params: Any, result: Any) -> "Tuple[Any, Any]":
        """A whole exchange: the request as it came, and the response."""
        receiver = self.agent if sender is self.client else self.client
        sender.request(method, params)
        request = self.one(sender)
        receiver.respond(request, result)
        return request, self.one(receiver)


def ready(client: Optional[Dict[str, Any]] = None, agent: Optional[Dict[str, Any]] = None, **config: Any) -> Pair:
    """A pair after `initialize`."""
    pair = Pair(**config)
    pair.call(pair.client, "initialize", CLIENT if client is None else client, AGENT if agent is None else agent)
    return pair


def with_session(**config: Any) -> Pair:
    """A pair with the session `s-1`."""
    pair = ready(**config)
    pair.call(pair.client, "session/new", {"cwd": "/work", "mcpServers": []}, {"sessionId": "s-1"})
    return pair
