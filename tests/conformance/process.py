"""An agent's process, and everything that went to and fro: JSON lines over pipes, without any ACP library."""

import contextlib
import json
import os
import queue
import signal
import subprocess
import tempfile
import threading
import time
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Union

Id = Union[int, str]
# Stands in the queue for the end of the output.
END = None


class Failed(Exception):
    """The agent does not do what a requirement says; the text is what was seen."""


class Line(NamedTuple):
    """A line that the agent has written."""

    raw: bytes
    message: Any
    """What it says, or None where it is no JSON."""
    ends: bool
    """Whether a line feed ends it."""
    method: Optional[str]
    """The method of the request that it answers."""


def is_response(message: Any) -> bool:
    return isinstance(message, dict) and "method" not in message and ("result" in message or "error" in message)


def brief(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=True)
    return text if len(text) <= 240 else text[:237] + "..."


class Agent:
    """One process. What it asks for is answered at once: a permission with its first option, the rest is not there."""

    def __init__(self, command: Sequence[str], folder: str, patience: float) -> None:
        self.lines: List[Line] = []
        self.status: Optional[int] = None
        self.error_bytes = b""
        self.patience = patience
        self._methods: Dict[Id, str] = {}
        self._next_id = 0
        self._queue: "queue.Queue[Optional[bytes]]" = queue.Queue()
        self._stderr = tempfile.TemporaryFile()
        # A group of its own, so that nothing that it has started outlives it.
        self._process = subprocess.Popen(
            list(command),
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            start_new_session=True,
        )
        self._started = time.monotonic()
        # How long it took until it said something.
        self._start = 0.0
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        for raw in self._process.stdout:
            self._start = self._start or time.monotonic() - self._started
            self._queue.put(raw)
        self._queue.put(END)

    def write(self, data: bytes) -> None:
        """Writes bytes as they are."""
        try:
            self._process.stdin.write(data)
            self._process.stdin.flush()
        except OSError:
            raise Failed(f"the agent has closed its input; {self._end_seen()}") from None

    def send(self, message: Any) -> None:
        self.write(json.dumps(message).encode() + b"\n")

    def notify(self, method: str, params: Any) -> None:
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def request(self, method: str, params: Any, id: Optional[Id] = None) -> Id:
        """Sends a request; its id."""
        if id is None:
            id, self._next_id = self._next_id, self._next_id + 1
        self._methods[id] = method
        self.send({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
        return id

    def answer(self, id: Id) -> Dict[str, Any]:
        """Waits for the answer to a request."""
        until = time.monotonic() + self.patience
        for line in self.lines:
            if self._answers(line, id):
                return line.message
        while True:
            line = self.next(until - time.monotonic())
            if line is None:
                raise Failed(f"no answer to {self._methods[id]} in {self.patience:g} s")
            if self._answers(line, id):
                return line.message

    def response(self) -> Dict[str, Any]:
        """Waits for an answer, to whatever it is."""
        until = time.monotonic() + self.patience
        while True:
            line = self.next(until - time.monotonic())
            if line is None:
                raise Failed(f"no answer in {self.patience:g} s")
            if is_response(line.message):
                return line.message

    def ask(self, method: str, params: Any, id: Optional[Id] = None) -> Dict[str, Any]:
        """Sends a request and waits for its answer."""
        return self.answer(self.request(method, params, id))

    def result(self, method: str, params: Any) -> Any:
        """As `ask`; the result, where there has to be one."""
        return succeeded(method, self.ask(method, params))

    def next(self, seconds: float) -> Optional[Line]:
        """The next line, if one comes in time."""
        try:
            raw = self._queue.get(timeout=max(seconds, 0))
        except queue.Empty:
            return None
        if raw is END:
            self._queue.put(END)
            raise Failed(f"the agent has closed its output; {self._end_seen()}")
        return self._take(raw)

    def quiet(self, seconds: float) -> List[Line]:
        """Everything that comes in a period."""
        until, seen = time.monotonic() + seconds, []
        with contextlib.suppress(Failed):
            while (line := self.next(until - time.monotonic())) is not None:
                seen.append(line)
        return seen

    def end(self, seconds: float) -> bool:
        """
        Closes the agent's input; whether it ends by itself in time. What it writes until then is kept.

        A runtime finishes what it does beside the program before the process ends, as Node does with the WebAssembly that
        it is optimising. Under load that takes as much longer as the start did, so that time is added.
        """
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds + self._start)
        by_itself = self._process.poll() is not None
        with contextlib.suppress(OSError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self.status = self._process.wait()
        while True:
            try:
                raw = self._queue.get(timeout=1)
            except queue.Empty:
                break
            if raw is END:
                break
            self._take(raw)
        self._stderr.seek(0)
        self.error_bytes = self._stderr.read()
        return by_itself

    def _take(self, raw: bytes) -> Line:
        try:
            message = json.loads(raw)
        except ValueError:
            message = None
        id = message.get("id") if is_response(message) else None
        known = id is not None and isinstance(id, (int, str)) and not isinstance(id, bool)
        line = Line(raw, message, raw.endswith(b"\n"), self._methods.get(id) if known else None)
        self.lines.append(line)
        if isinstance(message, dict) and "method" in message and "id" in message:
            with contextlib.suppress(Failed):
                self._serve(message)
        return line

    def _serve(self, request: Dict[str, Any]) -> None:
        answer = {"jsonrpc": "2.0", "id": request["id"]}
        if request["method"] == "session/request_permission":
            try:
                chosen = {"outcome": "selected", "optionId": request["params"]["options"][0]["optionId"]}
            except (KeyError, IndexError, TypeError):
                chosen = {"outcome": "cancelled"}
            self.send({**answer, "result": {"outcome": chosen}})
        else:
            self.send({**answer, "error": {"code": -32601, "message": "Method not found"}})

    @staticmethod
    def _answers(line: Line, id: Id) -> bool:
        if not is_response(line.message):
            return False
        found = line.message.get("id")
        return type(found) is type(id) and found == id

    def _end_seen(self) -> str:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(1)
        self._stderr.seek(0)
        said = self._stderr.read()[-200:].decode("utf-8", "replace").strip()
        return f"status {self._process.poll()}, standard error {ascii(said)}"


def succeeded(method: str, answer: Dict[str, Any]) -> Any:
    """The result of an answer that has to have one."""
    if "result" not in answer:
        raise Failed(f"{method} was answered with the error {brief(answer.get('error'))}")
    return answer["result"]
