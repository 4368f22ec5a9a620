"""What the requirements are made with: the agent's command, its ways to log in, and everything that was recorded."""

import contextlib
import tempfile
import threading
import time
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple, Union

from process import Agent, Failed, Line, brief, is_response, succeeded
from schema import Schema

# For what must not come.
QUIET = 0.4
# For an agent to end by itself.
SHUTDOWN = 2.0
AUTH_REQUIRED = -32000
HISTORY = {"user_message_chunk", "agent_message_chunk", "agent_thought_chunk", "tool_call", "tool_call_update", "plan"}


class NotOffered(Exception):
    """The agent does not offer what the requirement is about."""


class Recorded(Exception):
    """What was seen is no reason to pass or to fail."""


class Requirement(NamedTuple):
    id: str
    tier: str
    """M must hold, C must hold if the capability is offered, A is advised, I is recorded only."""
    text: str
    check: Callable[["Kit"], Optional[str]]
    over_all: bool
    """Whether it is about everything that was recorded, and so comes last."""


REQUIREMENTS: List[Requirement] = []


def requirement(id: str, tier: str, text: str, over_all: bool = False) -> Callable[[Any], Any]:
    def register(check: Callable[["Kit"], Optional[str]]) -> Any:
        REQUIREMENTS.append(Requirement(id, tier, text, check, over_all))
        return check

    return register


class Settings(NamedTuple):
    command: Sequence[str]
    schema: Schema
    login: Optional[str] = None
    """The method to log in by; the first that the agent does itself unless given."""
    allow_logout: bool = False
    prompt: str = "Hello"
    long_prompt: Optional[str] = None
    """A prompt whose turn goes on until it is cancelled."""
    patience: float = 20.0


class Kit:
    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.schema = settings.schema
        self.agents: List[Agent] = []
        self._folder = tempfile.TemporaryDirectory(prefix="conformance-")
        self.cwd = self._folder.name
        self._lock = threading.Lock()
        self._told: Union[None, Dict[str, Any], Failed] = None

    def close(self) -> None:
        self._folder.cleanup()

    # Conversations

    @contextlib.contextmanager
    def started(self) -> Iterator[Agent]:
        """A fresh process; what it writes is kept to the end."""
        try:
            agent = Agent(self.settings.command, self.cwd, self.settings.patience)
        except OSError as problem:
            raise Failed(f"the agent cannot be started: {problem}") from None
        try:
            yield agent
        finally:
            agent.end(SHUTDOWN)
            self.agents.append(agent)

    @contextlib.contextmanager
    def initialized(self) -> Iterator[Agent]:
        with self.started() as agent:
            self.initialize(agent)
            yield agent

    @contextlib.contextmanager
    def opened(self, **more: Any) -> Iterator[Tuple[Agent, str]]:
        """A process with a session, logged in if need be."""
        with self.initialized() as agent:
            result = self.new(agent, **more)
            yield agent, result["sessionId"]

    def initialize(self, agent: Agent, version: int = 1) -> Dict[str, Any]:
        """A client that offers nothing."""
        info = {"name": "conformance", "version": "1"}
        params = {"protocolVersion": version, "clientCapabilities": {}, "clientInfo": info}
        result = agent.result("initialize", params)
        if not isinstance(result, dict):
            raise Failed(f"initialize was answered with {brief(result)}")
        return result

    def new(self, agent: Agent, **more: Any) -> Dict[str, Any]:
        params = {"cwd": self.cwd, "mcpServers": [], **more}
        answer = agent.ask("session/new", params)
        if "error" in answer and answer["error"].get("code") == AUTH_REQUIRED and self.login_method() is not None:
            self.log_in(agent)
            answer = agent.ask("session/new", params)
        result = succeeded("session/new", answer)
        if not isinstance(result, dict) or not isinstance(result.get("sessionId"), str):
            raise Failed(f"session/new was answered with {brief(result)}")
        return result

    def log_in(self, agent: Agent) -> None:
        agent.result("authenticate", {"methodId": self.login_method()})

    def prompt(self, agent: Agent, session: str, text: Optional[str] = None, *more: Any, **members: Any) -> Dict[str, Any]:
        """A whole turn; the answer to its prompt."""
        return agent.answer(self.begin(agent, session, text, *more, **members))

    def begin(self, agent: Agent, session: str, text: Optional[str] = None, *more: Any, **members: Any) -> Any:
        """Begins a turn; the id of its prompt."""
        blocks = [{"type": "text", "text": text or self.settings.prompt}, *more]
        return agent.request("session/prompt", {"sessionId": session, "prompt": blocks, **members})

    def stopped(self, answer: Dict[str, Any]) -> str:
        """The stop reason of a turn, which has to be one of the defined ones."""
        result = succeeded("session/prompt", answer)
        reason = result.get("stopReason") if isinstance(result, dict) else None
        if reason not in self.schema.stop_reasons:
            raise Failed(f"session/prompt was answered with {brief(result)}")
        return reason

    def begin_long(self, agent: Agent, session: str) -> Any:
        """Begins a turn that is to be running when it is interrupted; the id of its prompt."""
        id = self.begin(agent, session, self.settings.long_prompt)
        if self.settings.long_prompt is not None:
            until = time.monotonic() + QUIET
            # Something of the turn itself shows that it runs.
            while (line := agent.next(until - time.monotonic())) is not None and not history([line], session):
                pass
        return id

    def interrupted(self, answer: Dict[str, Any]) -> None:
        """The turn has to have ended as cancelled, unless it may have ended before."""
        reason = self.stopped(answer)
        if reason == "cancelled":
            return
        if self.settings.long_prompt is None:
            raise Recorded(f"the turn had ended with {reason} before")
        raise Failed(f"the turn ended with {reason}")

    def valid(self, method: str, value: Any) -> None:
        """A result has to be what the schema says."""
        wrong = self.schema.wrong_result(method, value)
        if wrong is not None:
            raise Failed(wrong)

    # What the agent has told

    def told(self) -> Dict[str, Any]:
        """The agent's answer to initialize."""
        with self._lock:
            if self._told is None:
                try:
                    with self.started() as agent:
                        self._told = self.initialize(agent)
                except Failed as problem:
                    self._told = problem
            if isinstance(self._told, Failed):
                raise self._told
            return self._told

    def offers(self, *path: str) -> None:
        """Leaves the requirement where a capability is not offered."""
        value: Any = self.told().get("agentCapabilities")
        for name in path:
            value = value.get(name) if isinstance(value, dict) else None
        if value is None or value is False:
            raise NotOffered(".".join(path))

    def methods(self) -> List[Dict[str, Any]]:
        """The ways to log in."""
        found = self.told().get("authMethods")
        return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []

    def login_method(self) -> Optional[str]:
        by_agent = [each.get("id") for each in self.methods() if each.get("type", "agent") == "agent"]
        return self.settings.login or (by_agent[0] if by_agent else None)

    # What was recorded

    def lines(self) -> Iterator[Line]:
        return (line for agent in self.agents for line in agent.lines)

    def errors(self) -> Iterator[Any]:
        return (line.message["error"] for line in self.lines() if is_response(line.message) and "error" in line.message)

    def asked(self, prefix: str) -> List[str]:
        """The methods with a prefix that the agent has called."""
        messages = [line.message for line in self.lines() if isinstance(line.message, dict)]
        methods = [message["method"] for message in messages if isinstance(message.get("method"), str)]
        return [method for method in methods if method.startswith(prefix)]


def updates(lines: Sequence[Line], session: Optional[str] = None) -> List[Dict[str, Any]]:
    """The updates among lines, of one session or of all."""
    found = []
    for line in lines:
        message = line.message
        if isinstance(message, dict) and message.get("method") == "session/update" and isinstance(message.get("params"), dict):
            params = message["params"]
            if session in (None, params.get("sessionId")) and isinstance(params.get("update"), dict):
                found.append(params["update"])
    return found


def history(lines: Sequence[Line], session: str) -> List[Dict[str, Any]]:
    """The updates that belong to the conversation."""
    return [update for update in updates(lines, session) if update.get("sessionUpdate") in HISTORY]
