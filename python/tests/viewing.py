"""What the tests of views share: a client whose agent says what it is told to."""

import json
from typing import Any, List, Optional

import libacp
from libacp import view
from pair import line

SESSION = "s-1"


class Client:
    """A client with a session, and what its agent says."""

    def __init__(self, version: int = 1, **config: Any) -> None:
        self.connection = libacp.Connection("client", view=True, versions=[version], **config)
        info = {"info": {"name": "x", "version": "1"}} if version == 2 else {}
        client: Any = {**info, "capabilities": {}} if version == 2 else {"clientCapabilities": {"terminal": True}}
        self.connection.request("initialize", client)
        sessions = {"sessionCapabilities": {"close": {}}, "loadSession": True}
        agent: Any = {**info, "capabilities": {"session": {}}} if version == 2 else {"agentCapabilities": sessions}
        self.answer({"protocolVersion": version, **agent})
        self.connection.request("session/new", {"cwd": "/work", "mcpServers": []})
        self.answer({"sessionId": SESSION})
        self.asked = 0

    def hear(self, data: bytes) -> "List[libacp.Event]":
        self.connection.receive_data(data)
        return list(self.connection.events())

    def answer(self, result: Any) -> None:
        """The agent answers what was asked last."""
        id = self.connection.pending[-1].id
        self.hear(json.dumps({"jsonrpc": "2.0", "id": id, "result": result}).encode() + b"\n")

    def update(self, kind: str, /, **members: Any) -> None:
        found = self.hear(line("session/update", {"sessionId": SESSION, "update": {"sessionUpdate": kind, **members}}))
        assert [type(each) for each in found] == [libacp.Notification], found

    def say(self, text: str, kind: str = "agent_message_chunk", **more: Any) -> None:
        self.update(kind, content={"type": "text", "text": text}, **more)

    def ask(self, method: str, **params: Any) -> Any:
        """A request of the agent's."""
        self.asked += 1
        (request,) = self.hear(line(method, {"sessionId": SESSION, **params}, self.asked))
        return request

    def prompt(self, text: str) -> None:
        self.connection.request("session/prompt", {"sessionId": SESSION, "prompt": [{"type": "text", "text": text}]})

    @property
    def view(self) -> libacp.View:
        return libacp.View(self.connection, SESSION)


def message(entry: Optional[view.Entry]) -> view.Message:
    assert isinstance(entry, view.Message), entry
    return entry
