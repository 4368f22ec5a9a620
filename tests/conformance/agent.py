"""A small agent that offers everything and libacp has no part in: ``agent.py [DEFECT]``.

Without a defect it fulfils all requirements; each defect of defects.py breaks one. A prompt of `WAIT` waits to be cancelled.
"""

import json
import sys
import time
from typing import Any, Dict, Iterator, List, Optional, Tuple

WAIT = "wait"
VERSION = 1
Message = Dict[str, Any]


class Refused(Exception):
    """A request that gets an error."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.error = {"code": code, "message": message}


def select(value: str) -> Message:
    options = [{"value": each, "name": each.title()} for each in ("small", "large")]
    return {"type": "select", "id": "model", "name": "Model", "currentValue": value, "options": options}


def text(kind: str, what: str) -> Message:
    return {"sessionUpdate": kind, "content": {"type": "text", "text": what}}


class Session:
    def __init__(self, cwd: str) -> None:
        self.cwd = cwd
        self.model = "small"
        self.mode = "ask"
        self.history: List[Message] = []

    @property
    def state(self) -> Message:
        modes = [{"id": each, "name": each.title()} for each in ("ask", "code")]
        return {
            "modes": {"currentModeId": self.mode, "availableModes": modes},
            "configOptions": [select(self.model)],
        }


class Agent:
    """Subclasses have the defects. It is single-threaded: a turn that waits is an entry of `waiting`."""

    methods = {
        "initialize": "initialize",
        "authenticate": "authenticate",
        "logout": "logout",
        "session/new": "new",
        "session/load": "load",
        "session/resume": "resume",
        "session/list": "list",
        "session/delete": "delete",
        "session/close": "close",
        "session/set_mode": "set_mode",
        "session/set_config_option": "set_option",
    }
    logs_in = True

    def __init__(self) -> None:
        self.sessions: Dict[str, Session] = {}
        self.waiting: Dict[str, Any] = {}
        self.logged_in = not self.logs_in
        self.asked = 0

    # The wire

    def serve(self) -> None:
        for raw in sys.stdin.buffer:
            try:
                message = json.loads(raw)
            except ValueError:
                self.send({"id": None, "error": {"code": -32700, "message": "Parse error"}})
                continue
            if not isinstance(message, dict) or not isinstance(message.get("method"), str):
                # An answer to what a defect has asked for, or no message at all.
                if "result" not in message and "error" not in message:
                    self.send({"id": None, "error": {"code": -32600, "message": "Invalid request"}})
                continue
            self.take(message)
        self.ends()

    def take(self, message: Message) -> None:
        method, params = message["method"], message.get("params") or {}
        if "id" not in message:
            self.notified(method, params)
            return
        if method == "session/prompt":
            self.prompt(message["id"], params)
            return
        try:
            if method not in self.methods:
                raise Refused(-32601, "Method not found")
            self.answer(method, message["id"], getattr(self, self.methods[method])(params))
        except Refused as refusal:
            self.refuse(method, message["id"], refusal.error)

    def answer(self, method: str, id: Any, result: Any) -> None:
        self.send({"id": id, "result": result})

    def refuse(self, method: str, id: Any, error: Message) -> None:
        self.send({"id": id, "error": error})

    def send(self, message: Message) -> None:
        self.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def write(self, data: bytes) -> None:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()

    def ask(self, method: str, params: Message) -> None:
        """Asks for something whose answer does not matter."""
        self.asked += 1
        self.send({"id": f"asked-{self.asked}", "method": method, "params": params})

    def ends(self) -> None:
        """The input is closed."""

    # What is served

    def initialize(self, params: Message) -> Any:
        methods = [{"id": "key", "name": "Key", "type": "agent"}, {"id": "web", "name": "Web"}]
        return {
            "protocolVersion": VERSION,
            "agentInfo": {"name": "plain", "version": "1"},
            "agentCapabilities": {
                "loadSession": True,
                "promptCapabilities": {"image": True, "audio": True, "embeddedContext": True},
                "sessionCapabilities": {
                    each: {} for each in ("resume", "list", "delete", "close", "additionalDirectories")
                },
                "auth": {"logout": {}},
            },
            **({"authMethods": methods} if self.logs_in else {}),
        }

    def authenticate(self, params: Message) -> Any:
        self.logged_in = True
        return {}

    def logout(self, params: Message) -> Any:
        self.logged_in = False
        return {}

    def new(self, params: Message) -> Any:
        if not self.logged_in:
            raise Refused(-32000, "Authentication required")
        if not isinstance(params.get("cwd"), str):
            raise Refused(-32602, "cwd is no string")
        session = self.name()
        self.sessions[session] = Session(params["cwd"])
        return {"sessionId": session, **self.sessions[session].state}

    def name(self) -> str:
        return f"s-{len(self.sessions) + 1}"

    def find(self, params: Message) -> Tuple[str, Session]:
        id = params.get("sessionId")
        if id not in self.sessions:
            raise Refused(-32002, "Resource not found")
        return id, self.sessions[id]

    def load(self, params: Message) -> Any:
        id, session = self.find(params)
        for update in session.history:
            self.update(id, update)
        return session.state

    def resume(self, params: Message) -> Any:
        return self.find(params)[1].state

    def list(self, params: Message) -> Any:
        wanted = params.get("cwd")
        found = [(id, each.cwd) for id, each in self.sessions.items() if wanted in (None, each.cwd)]
        return {"sessions": [{"sessionId": id, "cwd": cwd} for id, cwd in found]}

    def delete(self, params: Message) -> Any:
        self.sessions.pop(params["sessionId"], None)
        return {}

    def close(self, params: Message) -> Any:
        self.cancel(params["sessionId"])
        return {}

    def set_mode(self, params: Message) -> Any:
        id, session = self.find(params)
        session.mode = params["modeId"]
        self.update(id, {"sessionUpdate": "current_mode_update", "currentModeId": session.mode})
        return {}

    def set_option(self, params: Message) -> Any:
        session = self.find(params)[1]
        session.model = params["value"]
        return {"configOptions": session.state["configOptions"]}

    def notified(self, method: str, params: Message) -> None:
        if method == "session/cancel":
            self.cancel(params.get("sessionId"))

    # Turns

    def prompt(self, id: Any, params: Message) -> None:
        try:
            name, session = self.find(params)
        except Refused as refusal:
            self.refuse("session/prompt", id, refusal.error)
            return
        asked = "".join(each.get("text", "") for each in params["prompt"] if each["type"] == "text")
        session.history.append(text("user_message_chunk", asked))
        for update in self.said(asked):
            session.history.append(update)
            self.update(name, update)
        if asked == WAIT:
            self.waiting[name] = id
            return
        self.stop(id, "end_turn")

    def said(self, asked: str) -> Iterator[Message]:
        yield text("agent_message_chunk", f"You said: {asked}")

    def stop(self, id: Any, reason: Optional[str]) -> None:
        self.answer("session/prompt", id, {"stopReason": reason})

    def cancel(self, session: Any) -> None:
        id = self.waiting.pop(session, None)
        if id is not None:
            self.cancelled(session, id)

    def cancelled(self, session: str, id: Any) -> None:
        self.stop(id, "cancelled")

    def update(self, session: str, update: Message) -> None:
        self.send({"method": "session/update", "params": {"sessionId": session, "update": update}})


def later() -> None:
    """Long enough to come after an answer that was read."""
    time.sleep(0.05)


if __name__ == "__main__":
    # The table is made of the class above, so it comes after it.
    from defects import DEFECTS

    (DEFECTS[sys.argv[1]] if len(sys.argv) > 1 else Agent)().serve()
