"""A defect for each requirement: an agent that breaks it, and what the driver has to say about that."""

import time
from typing import Any, Callable, Dict, List, Optional, Tuple, Type

from agent import Agent, Message, Refused, later, text

BOOLEAN = {"type": "boolean", "id": "think", "name": "Think", "currentValue": True}


def without(member: str) -> Callable[[Message], Message]:
    return lambda result: {name: value for name, value in result.items() if name != member}


def having(**members: Any) -> Callable[[Message], Message]:
    return lambda result: {**result, **members}


def mode(result: Message) -> Message:
    return {**result, "modes": {**result["modes"], "currentModeId": "dream"}}


def options(change: Callable[[List[Message]], List[Message]]) -> Callable[[Message], Message]:
    return lambda result: {**result, "configOptions": change(result["configOptions"])}


def logins(*methods: Message) -> Callable[[Message], Message]:
    return having(authMethods=[{"id": "key", "name": "Key"}, *methods])


# What an answer is made into, by its method; an exception is an answer, too.
ANSWERS: Dict[str, Tuple[str, Callable[[Message], Any]]] = {
    "INIT-001": ("initialize", having(protocolVersion="1")),
    "INIT-002": ("initialize", having(protocolVersion=3)),
    "INIT-004": ("initialize", without("agentInfo")),
    "SCHEMA-001": ("initialize", having(agentCapabilities={"loadSession": "yes"})),
    "SCHEMA-002": ("session/new", having(made="today")),
    "SESSION-001": ("session/new", having(configOptions=[{"id": "model"}])),
    "SESSION-002": ("session/new", having(sessionId="s-1")),
    "PROMPT-001": ("session/prompt", having(stopReason="done")),
    "LOAD-001": ("session/load", having(modes={"currentModeId": "ask"})),
    "LOAD-003": ("session/load", lambda result: None),
    "RESUME-001": ("session/resume", lambda result: Refused(-32601, "Method not found")),
    "LIST-001": ("session/list", without("sessions")),
    "LIST-002": ("session/list", having(sessions=[{"sessionId": "s-1", "cwd": "/"}])),
    "DELETE-001": ("session/delete", lambda result: None),
    "CLOSE-001": ("session/close", lambda result: True),
    "MODES-001": ("session/new", mode),
    "CONFIG-001": ("session/new", options(lambda found: [{**each, "currentValue": "huge"} for each in found])),
    "CONFIG-002": ("session/set_config_option", options(lambda found: [{**each, "currentValue": "small"} for each in found])),
    "CONFIG-003": ("session/new", options(lambda found: [*found, BOOLEAN])),
    "AUTH-001": ("initialize", logins({"id": "key", "name": "Another"})),
    "AUTH-002": ("initialize", logins({"id": "shell", "name": "Shell", "type": "terminal"})),
    "AUTH-003": ("session/new", lambda result: Refused(-32000, "Authentication required")),
    "AUTH-004": ("logout", lambda result: None),
}
# What each prompt asks the client for.
ASKED: Dict[str, Tuple[str, Message]] = {
    "CLIENTCAP-001": ("fs/read_text_file", {"path": "/etc/hosts"}),
    "CLIENTCAP-002": ("terminal/create", {"command": "true"}),
    "CLIENTCAP-003": ("elicitation/create", {"mode": "form", "message": "Name?", "requestedSchema": {"type": "object"}}),
}
# Kinds of blocks that are refused all the same.
BLOCKS = {"PROMPT-003": "resource_link", "PROMPTCAP-001": "image", "PROMPTCAP-002": "audio", "PROMPTCAP-003": "resource"}


def answering(method: str, change: Callable[[Message], Any]) -> Type[Agent]:
    class Answering(Agent):
        def answer(self, about: str, id: Any, result: Any) -> None:
            changed = change(result) if about == method else result
            if isinstance(changed, Refused):
                self.refuse(about, id, changed.error)
            else:
                super().answer(about, id, changed)

    return Answering


def asking(method: str, params: Message) -> Type[Agent]:
    class Asking(Agent):
        def prompt(self, id: Any, about: Message) -> None:
            self.ask(method, {"sessionId": about["sessionId"], **params})
            super().prompt(id, about)

    return Asking


def refusing(wrong: Callable[[Message], bool]) -> Type[Agent]:
    class Refusing(Agent):
        def prompt(self, id: Any, params: Message) -> None:
            if wrong(params):
                self.refuse("session/prompt", id, {"code": -32602, "message": "Invalid params"})
            else:
                super().prompt(id, params)

    return Refusing


def has_block(kind: str) -> Callable[[Message], bool]:
    return lambda params: any(block["type"] == kind for block in params["prompt"])


class EchoesVersion(Agent):
    def initialize(self, params: Message) -> Any:
        return {**super().initialize(params), "protocolVersion": params["protocolVersion"]}


class PrintsAtEnd(Agent):
    def ends(self) -> None:
        self.write(b"Bye\n")


class Latin1(Agent):
    def stop(self, id: Any, reason: Optional[str]) -> None:
        self.write('{"jsonrpc":"2.0","method":"_note","params":"é"}\n'.encode("latin-1"))
        super().stop(id, reason)


class TextIds(Agent):
    def answer(self, method: str, id: Any, result: Any) -> None:
        super().answer(method, str(id) if id == 4711 else id, result)


class TextCodes(Agent):
    def refuse(self, method: str, id: Any, error: Message) -> None:
        super().refuse(method, id, {**error, "code": str(error["code"])} if method == "conformance/unknown" else error)


class AnswersNotifications(Agent):
    def notified(self, method: str, params: Message) -> None:
        super().notified(method, params)
        self.send({"id": None, "result": {}})


class OwnCode(Agent):
    def refuse(self, method: str, id: Any, error: Message) -> None:
        super().refuse(method, id, {**error, "code": -32603} if error["code"] == -32601 else error)


class EndsOnWrong(Agent):
    def refuse(self, method: str, id: Any, error: Message) -> None:
        super().refuse(method, id, error)
        if error["code"] == -32602:
            raise SystemExit(1)


class NamesAnother(Agent):
    def update(self, session: str, update: Message) -> None:
        super().update(f"{session}-child", update)


class EndsCancelledTurns(Agent):
    def cancelled(self, session: str, id: Any) -> None:
        self.stop(id, "end_turn")


class TalksOn(Agent):
    def cancelled(self, session: str, id: Any) -> None:
        super().cancelled(session, id)
        later()
        self.update(session, text("agent_message_chunk", "One more thing"))


class ReplaysLate(Agent):
    def load(self, params: Message) -> Any:
        return self.find(params)[1].state

    def answer(self, method: str, id: Any, result: Any) -> None:
        super().answer(method, id, result)
        if method == "session/load":
            later()
            for session, each in self.sessions.items():
                for update in each.history:
                    self.update(session, update)


class ReplaysOnResume(Agent):
    resume = Agent.load


class KnowsWhatItDeletes(Agent):
    def delete(self, params: Message) -> Any:
        self.find(params)
        return super().delete(params)


class GoesOnWhenClosed(Agent):
    def close(self, params: Message) -> Any:
        id = self.waiting.pop(params["sessionId"], None)
        if id is not None:
            self.stop(id, "end_turn")
        return {}


class OneDirectory(Agent):
    def new(self, params: Message) -> Any:
        if params.get("additionalDirectories"):
            raise Refused(-32602, "One directory will do")
        return super().new(params)


class NamesMode(Agent):
    def update(self, session: str, update: Message) -> None:
        if update["sessionUpdate"] == "current_mode_update":
            update = {"sessionUpdate": "current_mode_update", "modeId": update["currentModeId"]}
        super().update(session, update)


class SecretLogin(Agent):
    logs_in = False

    def new(self, params: Message) -> Any:
        raise Refused(-32000, "Authentication required")


class Silent(Agent):
    def take(self, message: Message) -> None:
        if not message["method"].startswith("_"):
            super().take(message)


class TwoLines(Agent):
    def refuse(self, method: str, id: Any, error: Message) -> None:
        super().refuse(method, id, {**error, "message": f"{error['message']}\nTry another"})


class Stays(Agent):
    def ends(self) -> None:
        time.sleep(30)


DEFECTS: Dict[str, Type[Agent]] = {
    **{id: answering(*change) for id, change in ANSWERS.items()},
    **{id: asking(*what) for id, what in ASKED.items()},
    **{id: refusing(has_block(kind)) for id, kind in BLOCKS.items()},
    "META-001": refusing(lambda params: "_meta" in params),
    "TRANSPORT-001": PrintsAtEnd,
    "TRANSPORT-002": Latin1,
    "JSONRPC-001": TextIds,
    "JSONRPC-002": TextCodes,
    "JSONRPC-003": AnswersNotifications,
    "JSONRPC-004": OwnCode,
    "JSONRPC-005": EndsOnWrong,
    "INIT-003": EchoesVersion,
    "PROMPT-002": NamesAnother,
    "CANCEL-001": EndsCancelledTurns,
    "CANCEL-002": TalksOn,
    "LOAD-002": ReplaysLate,
    "RESUME-002": ReplaysOnResume,
    "DELETE-002": KnowsWhatItDeletes,
    "CLOSE-002": GoesOnWhenClosed,
    "ADDDIRS-001": OneDirectory,
    "MODES-002": NamesMode,
    "AUTH-005": SecretLogin,
    "EXT-001": Silent,
    "ERROR-001": TwoLines,
    "SHUTDOWN-001": Stays,
}
