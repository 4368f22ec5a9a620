"""Replays the scenarios of ``tests/http`` through `libacp.http`, with bodies and streams in pieces of several sizes.

``python remote.py [FOLDER]`` ends with ``N passed, N failed`` and status 1 when one failed or there was none. The format is
described in ``tests/http/README.md``.
"""

import json
import sys
from pathlib import Path

from expected import Difference, same

import libacp
from libacp.http import Client, Server

SIZES = (1, 2, 3, 5, 16, 61, 256, sys.maxsize)
MEMBERS = {"name", "rule", "point", "server", "client", "steps"}


def text_of(value):
    """A message of a scenario as text: a text as it is, any other value as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def value_of(text):
    """A message as a scenario says it."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def only(value, *known):
    for name in value:
        if name not in known:
            raise Difference(f"{name} is no member of {value}")


def check(what, found, expected):
    """Whether a value is what was expected, of which it may have more members at the top."""
    if isinstance(found, dict) and isinstance(expected, dict):
        fits = all(
            all(same(each, found.get("headers", {}).get(header)) for header, each in value.items())
            if name == "headers"
            else name in found and same(value, found[name])
            for name, value in expected.items()
        )
    else:
        fits = same(expected, found)
    if not fits:
        raise Difference(f"{what} is {found}, expected {expected}")


def check_all(what, found, expected):
    if len(found) != len(expected):
        raise Difference(f"the list of {what}s is {found}, expected {expected}")
    for each, wanted in zip(found, expected):
        check(what, each, wanted)


def frame_of(frame):
    if frame["frame"] == "text":
        return value_of(frame["text"])
    return "ping" if frame["frame"] == "ping" else {"close": frame["code"]}


def response_of(sent):
    body = value_of(sent["body"]) if sent["body"] else None
    error = body.get("error", {}) if isinstance(body, dict) else {}
    rule = (error.get("data") or {}).get("rule")
    return {"status": sent["status"], "headers": dict(sent["headers"]), "body": body, "rule": rule}


def pairs(headers):
    return [(name, each) for name, value in headers.items() for each in (value if isinstance(value, list) else [value])]


def sent(call, *arguments):
    """What sending gives, and the misuse that it is."""
    try:
        return call(*arguments), None
    except libacp.Misuse as misuse:
        return None, {"rule": misuse.rule}


class Run:
    """What both sides have in common."""

    def __init__(self, size):
        self.size = size

    def play(self, steps):
        for at, step in enumerate(steps, 1):
            try:
                self.step(step)
            except Difference as problem:
                raise Difference(f"step {at}: {problem}") from None
        left = self.events()
        if left:
            raise Difference(f"left over: {left}")

    def send(self, step, *arguments):
        gives, misuse = sent(self.machine.send, *arguments)
        check("the misuse", misuse, step.get("misuse"))
        if misuse is None:
            check("what send returns", gives, step.get("gives"))

    def step(self, step):
        for name, does in self.STEPS.items():
            if name in step:
                return does(self, step)
        raise Difference(f"there is no step {step}")

    def expect(self, step):
        only(step, "expect")
        found = self.events()
        if step["expect"] != "any":
            check_all("event", found, step["expect"])

    def time(self, step):
        only(step, "time")
        self.machine.handle_timeout(step["time"])

    def wakes(self, step):
        only(step, "wakes")
        check("the next time", self.machine.poll_timeout(), step["wakes"])


class Serving(Run):
    """A server."""

    def __init__(self, options, size):
        super().__init__(size)
        self.options = options
        self.machine = Server(options)
        for block in range(1, 61):
            self.machine.add_entropy(bytes([block]) * 16)
        self.keys = []

    def key(self, number):
        if not 1 <= number <= len(self.keys):
            raise Difference(f"no connection {number}")
        return self.keys[number - 1]

    def events(self):
        found = []
        while (event := self.machine.poll_event()) is not None:
            if event["event"] == "opened":
                self.keys.append(event["connection"])
            if event.get("connection") is not None:
                event["connection"] = self.keys.index(event["connection"]) + 1
            if "json" in event:
                event["json"] = value_of(event["json"])
            if event["event"] == "respond":
                event = {**response_of(event["response"]), "event": "respond", "exchange": event["exchange"]}
            found.append(event)
        return found

    def request(self, step):
        only(step, "request", "method", "target", "headers", "body", "body_text", "bare", "open", "gives")
        exchange, method = step["request"], step.get("method", "POST")
        headers = {}
        if not step.get("bare"):
            headers["host"] = "localhost:7332"
            usual = {"POST": ("content-type", "application/json"), "GET": ("accept", "text/event-stream")}.get(method)
            headers.update([usual] if usual else [])
        headers.update(step.get("headers", {}))
        # As any of them come: texts, bytes, a mapping where nothing comes twice.
        given = pairs(headers)
        if self.size % 2:
            given = [(name.encode(), value.encode()) for name, value in given]
        elif len(given) == len({name.lower() for name, _ in given}):
            given = dict(given)
        found = self.machine.request(exchange, method, step.get("target", "/acp"), given)
        if found["step"] == "body" and not step.get("open"):
            rest = (step["body_text"] if "body_text" in step else text_of(step.get("body"))).encode()
            while found["step"] == "body":
                piece, rest = rest[: self.size], rest[self.size :]
                found = self.machine.body(exchange, piece, not rest)
        kind = found["step"]
        if kind == "respond":
            found = response_of(found)
        elif kind in ("stream", "upgrade"):
            found = {kind: found["status"], "headers": dict(found["headers"])}
        else:
            found = kind
        check("the response", found, step.get("gives"))

    def stream(self, step):
        only(step, "stream", "messages", "bytes", "take")
        exchange, most, data = step["stream"], step.get("take", sys.maxsize), b""
        while len(data) < most:
            piece = self.machine.transmit(exchange, min(self.size, most - len(data)))
            if not piece:
                break
            data += piece
            self.machine.consume(exchange, len(piece))
        text = data.decode()
        if "bytes" in step:
            return check("the stream", text, step["bytes"])
        events = text.split("\n\n")
        if not events[-1]:
            events.pop()
        start = "data: "
        found = [value_of(each[len(start) :]) if each.startswith(start) else each for each in events]
        check("the list of messages", found, step.get("messages"))

    def text(self, step):
        only(step, "text", "on")
        self.machine.text(step["on"], text_of(step["text"]))

    def frames(self, step):
        only(step, "frames", "are")
        found, wanted = [], step["are"]
        while (frame := self.machine.frame(step["frames"])) is not None:
            frame = frame_of(frame)
            each = wanted[len(found)] if len(found) < len(wanted) else None
            if isinstance(each, dict) and isinstance(each.get("rule"), str) and isinstance(frame, dict):
                error = frame.get("error", {})
                frame = {"error": error.get("code"), "rule": (error.get("data") or {}).get("rule")}
            found.append(frame)
        check("the list of frames", found, wanted)

    def send_message(self, step):
        only(step, "send", "to", "gives", "misuse")
        self.send(step, self.key(step["to"]), text_of(step["send"]))

    def small(self, step):
        only(step, "closed", "close", "binary", "pong")
        (name, value), *more = step.items()
        if more:
            raise Difference(f"there is no step {step}")
        getattr(self.machine, name)(self.key(value) if name == "close" else value)

    def pause(self, step):
        only(step, "pause", "paused")
        self.machine.pause(self.key(step["pause"]), step["paused"])

    def fail(self, step):
        only(step, "fail", "why")
        self.machine.fail(self.key(step["fail"]), step["why"])

    def hungry(self, step):
        only(step, "hungry", "is")
        check("hunger", self.machine.is_hungry(step["hungry"]), step["is"])

    def entropy(self, step):
        only(step, "entropy")
        self.machine = Server(self.options)

    STEPS = {
        "request": request,
        "expect": Run.expect,
        "send": send_message,
        "stream": stream,
        "text": text,
        "frames": frames,
        "closed": small,
        "close": small,
        "fail": fail,
        "binary": small,
        "pong": small,
        "pause": pause,
        "time": Run.time,
        "wakes": Run.wakes,
        "hungry": hungry,
        "entropy": entropy,
    }


class Asking(Run):
    """A client."""

    def __init__(self, options, size):
        super().__init__(size)
        self.machine = Client(options, seed=1)

    def events(self):
        found = []
        while (action := self.machine.poll_action()) is not None:
            if "headers" in action:
                action["headers"] = dict(action["headers"])
            for name in ("body", "json"):
                if name in action:
                    action[name] = value_of(action[name]) if action[name] else None
            if action["event"] == "frame":
                action["frame"] = frame_of(action["frame"])
            found.append(action)
        return found

    def send_message(self, step):
        only(step, "send", "gives", "misuse")
        self.send(step, text_of(step["send"]))

    def response(self, step):
        only(step, "response", "status", "headers")
        self.machine.response(step["response"], step["status"], pairs(step.get("headers", {})))

    def data(self, step):
        only(step, "data", "events", "json", "raw")
        text = step.get("raw", "") + "".join(f"data: {text_of(each)}\n\n" for each in step.get("events", ()))
        if "json" in step:
            text += text_of(step["json"])
        data = text.encode()
        while data:
            self.machine.data(step["data"], data[: self.size])
            data = data[self.size :]

    def end(self, step):
        only(step, "end")
        self.machine.end(step["end"])

    def failed(self, step):
        only(step, "failed", "sent")
        self.machine.failed(step["failed"], step["sent"])

    def text(self, step):
        only(step, "text", "on")
        self.machine.text(step["on"], text_of(step["text"]))

    def binary(self, step):
        only(step, "binary")
        self.machine.binary(step["binary"])

    def closed(self, step):
        only(step, "closed", "code")
        self.machine.closed(step["closed"], step["code"])

    def set_header(self, step):
        only(step, "set_header")
        for name, value in step["set_header"].items():
            self.machine.set_header(name, value)

    def plain(self, step):
        only(step, "close", "retry")
        (name,) = step
        getattr(self.machine, name)()

    STEPS = {
        "expect": Run.expect,
        "send": send_message,
        "response": response,
        "data": data,
        "end": end,
        "failed": failed,
        "text": text,
        "binary": binary,
        "closed": closed,
        "time": Run.time,
        "wakes": Run.wakes,
        "set_header": set_header,
        "close": plain,
        "retry": plain,
    }


def put_in(steps, include):
    """The steps with those that are included."""
    found = []
    for step in steps:
        if "include" not in step:
            found.append(step)
        elif step["include"] in include:
            found += put_in(include[step["include"]], include)
        else:
            raise Difference(f"there is nothing of the name {step['include']} to include")
    return found


def problem_of(line, include):
    """The name of a scenario, and why it failed; None when it passed."""
    name = "?"
    try:
        scenario = json.loads(line)
        name = scenario["name"]
        only(scenario, *MEMBERS)
        asks = "client" in scenario
        steps, options = put_in(scenario["steps"], include), scenario.get("client" if asks else "server", {})
        for size in SIZES:
            try:
                (Asking if asks else Serving)(options, size).play(steps)
            except Difference as problem:
                return name, f"in pieces of {size}: {problem}"
    except Difference as problem:
        return name, str(problem)
    except Exception as problem:
        return name, f"{type(problem).__name__}: {problem}"
    return name, None


def main():
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[1] / "http"
    include = json.loads((folder / "include.json").read_text("utf-8"))
    passed = failed = 0
    for path in sorted(folder.glob("*.jsonl")):
        for number, line in enumerate(path.read_text("utf-8").split("\n"), 1):
            if not line:
                continue
            name, problem = problem_of(line, include)
            if problem is None:
                passed += 1
            else:
                failed += 1
                print(f"{path.name}:{number}: {name}: {problem}")
    replayed = passed + failed
    wrong = 0
    # What is expected wrongly must fail.
    for line in (folder / "wrong.ndjson").read_text("utf-8").splitlines():
        name, problem = problem_of(line, include)
        wrong += 1
        if problem is None:
            failed += 1
            print(f"wrong.ndjson: {line}: passed")
    if wrong < 10:
        failed += 1
        print(f"wrong.ndjson: only {wrong} scenarios")
    print(f"note: vectors of the remote transports replayed in Python: {replayed}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
