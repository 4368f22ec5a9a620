"""Replays the scenarios of ``tests/vectors`` through the installed module ``libacp``.

``python vectors.py [FOLDER]`` ends with ``N passed, N failed`` and status 1 when one failed or there was none. The
format is described in ``tests/vectors/README.md``.
"""

import base64
import json
import sys
from pathlib import Path

from expected import MISSING, Difference, Format, Frames, falsified, only, same
from viewed import look

import libacp


def members(expected, found, at):
    """The members that stand in `expected` must be equal."""
    for name, value in expected.items():
        actual = found.get(name, MISSING)
        if actual is MISSING:
            raise Difference(f"{at}: no member {name}")
        if not same(value, actual):
            raise Difference(f"{at}/{name}: expected {value!r}, found {actual!r}")


def chosen(snapshot, expected):
    """The members of a snapshot that are expected; all of them where nothing is."""
    return {name: value for name, value in snapshot.items() if expected is None or name in expected}


def id_text(value):
    return json.dumps(value, ensure_ascii=False)


def terminals(references):
    return [{"session": each.session, "terminal": each.terminal} for each in references]


def plain(found, getter):
    """What a getter gives, as the vectors write it."""
    if getter == "sessions":
        return sorted(found)
    if isinstance(found, list):
        return [plain(each, None) for each in found]
    if isinstance(found, libacp.OpenRequest):
        return found.serial
    if isinstance(found, libacp.TerminalRef):
        return terminals([found])[0]
    return found


# Which name each class of events has in the vectors.
KINDS = {
    libacp.Request: "request",
    libacp.Notification: "notification",
    libacp.Response: "response",
    libacp.LateResponse: "late_response",
    libacp.Cancel: "cancel",
    libacp.Answered: "answered",
    libacp.Violation: "violation",
    libacp.Advice: "advice",
    libacp.Closed: "closed",
}


def describe(event):
    """An event with the member names of the vectors."""
    known = {"event": KINDS[type(event)]}
    for name in ("method", "session", "update", "timing", "rule", "outcome", "pointer", "consequence", "frame"):
        if hasattr(event, name):
            known[name] = getattr(event, name)
    if isinstance(event, libacp.Violation):
        known.update(id=id_text(event.id) if event.has_id else None, code=event.code, excerpt=event.excerpt)
        known.update(message=event.message)
    elif hasattr(event, "id"):
        known["id"] = id_text(event.id)
    if isinstance(event, (libacp.Request, libacp.Notification)):
        known.update(params=event.params, params_text=event.params_json)
    elif isinstance(event, (libacp.Response, libacp.LateResponse)):
        result = None if event.result_json is None else event.result()
        known.update(result=result, result_text=event.result_json, code=None, message=None, data=None)
        if event.error is not None:
            known.update(code=event.error.code, message=event.error.message, data=event.error.data)
    elif isinstance(event, libacp.Advice):
        known.update(message=event.message, id=id_text(event.id) if event.has_id else None)
    elif isinstance(event, libacp.Closed):
        known.update(
            reason=event.reason,
            unanswered=[id_text(each) for each in event.unanswered],
            terminals=terminals(event.terminals),
        )
    return known


def value_of(call, name):
    """A member as an object, or exactly as text where the vector has it as text."""
    return libacp.RawJson(call[f"{name}_text"]) if f"{name}_text" in call else call.get(name)


class Scenario:
    # Events that were falsified before: most come from the same few includes.
    falsified = set()

    def __init__(self, scenario, includes, format):
        self.format = format
        only("a scenario", scenario, format.rules["scenario"])
        config = dict(scenario["config"])
        format.config(config)
        if "limits" in config:
            config["limits"] = libacp.Limits(**config["limits"])
        self.framing = config.get("framing", "lines")
        self.frames = Frames(self.framing)
        self.connection = libacp.Connection(config.pop("role"), **config)
        self.includes = includes
        self.copies = {}

    def play(self, steps, at=""):
        for index, step in enumerate(steps):
            place = f"{at}/{index}"
            if "include" in step:
                self.play(self.includes[step["include"]], f"{place}({step['include']})")
            else:
                self.step(step, place)

    def step(self, step, at):
        kind = self.format.step(step)
        if kind == "get":
            self.get(step, at)
            return
        if kind == "view":
            # What was told and is to be sent meanwhile is for other scenarios.
            for _ in self.connection.events():
                pass
            self.messages()
            look(self.connection, step, self.copies, f"{at}/view")
            return
        action = getattr(self, f"do_{kind}")
        if "misuse" not in step:
            returned = action(step[kind], at)
            if "returns" in step:
                members({"returns": step["returns"]}, {"returns": id_text(returned)}, at)
            return
        waiting = self.connection.transmit()
        try:
            action(step[kind], at)
        except libacp.Misuse as misuse:
            found = {"kind": misuse.kind, "rule": misuse.rule, "pointer": misuse.pointer}
            self.format.misuse(step["misuse"], found)
        else:
            raise Difference(f"{at}: expected misuse {step['misuse']}, but it was accepted")
        if self.connection.transmit() != waiting:
            raise Difference(f"{at}: misuse has sent something")

    def end(self):
        self.do_expect([], "/end")
        self.do_transmit([], "/end")

    def feed(self, data):
        self.frames.feed(data)
        self.connection.receive_data(data)

    def do_feed(self, text, at):
        self.feed(text.encode())

    def do_feed_base64(self, text, at):
        self.feed(base64.b64decode(text))

    def do_feed_repeat(self, repeat, at):
        self.feed(repeat["text"].encode() * repeat["times"])

    def do_eof(self, _, at):
        self.frames.end()
        self.connection.receive_eof()

    def do_time(self, now, at):
        self.connection.handle_timeout(now)

    def do_request(self, call, at):
        own = json.loads(call["id"]) if "id" in call else ...
        return self.connection.request(call["method"], value_of(call, "params"), id=own, timeout=call.get("timeout", ...))

    def do_notify(self, call, at):
        self.connection.notify(call["method"], value_of(call, "params"))

    def do_respond(self, call, at):
        self.connection.respond(json.loads(call["id"]), value_of(call, "result"))

    def do_respond_error(self, call, at):
        self.connection.respond_error(json.loads(call["id"]), call["code"], call["message"], value_of(call, "data"))

    def do_cancel(self, call, at):
        self.connection.cancel(json.loads(call["id"]))

    def do_close(self, _, at):
        self.connection.close()

    def do_expect(self, expected, at):
        found = [describe(event) for event in self.connection.events()]
        for index, (event, actual) in enumerate(zip(expected, found)):
            self.same_event(event, actual, f"{at}/expect/{index}")
        if len(expected) != len(found):
            rest = found[len(expected) :] or expected[len(found) :]
            raise Difference(f"{at}: expected {len(expected)} events, found {len(found)}; the first odd one: {rest[0]}")

    def same_event(self, expected, found, at):
        try:
            self.format.event(expected, found, self.frames)
        except Difference as why:
            raise Difference(f"{at}: {why}; {found}") from None
        key = json.dumps([expected, found])
        if key in self.falsified:
            return
        self.falsified.add(key)
        for false in falsified(found):
            try:
                self.format.event(expected, false, self.frames)
            except Difference:
                continue
            raise Difference(f"{at}: nobody notices {false}")

    def do_transmit(self, expected, at):
        found = self.messages()
        if expected != found:
            raise Difference(f"{at}: expected to send {expected}, found {found}")

    def do_state(self, expected, at):
        connection = self.connection
        found = {
            "connection": chosen(connection.snapshot(), expected.get("connection")),
            "phase": connection.phase,
            "version": connection.version,
            "pending": [id_text(each.id) for each in connection.pending],
            "unanswered": [id_text(each.id) for each in connection.unanswered],
            "timeout": connection.poll_timeout(),
            "capabilities": connection.capabilities,
            "terminals": terminals(connection.open_terminals),
            "sessions": {
                name: chosen(connection.session_snapshot(name), expected.get("sessions", {}).get(name))
                for name in connection.sessions
            },
        }
        members(expected, found, f"{at}/state")

    def get(self, step, at):
        """Asks what a getter gives, by its name."""
        if "gives" not in step:
            raise Difference(f"{at}: what it gives is not stated")
        found = getattr(self.connection, step["get"])
        if callable(found):
            found = found(*step.get("with", []))
        elif "with" in step:
            raise Difference(f"{at}: {step['get']} takes nothing")
        members({"gives": step["gives"]}, {"gives": plain(found, step["get"])}, at)

    def do_cut_output(self, call, at):
        members({"gives": call["gives"]}, {"gives": libacp.cut_output(call["output"], call["limit"])}, at)

    def do_can(self, expected, at):
        for method, answer in expected.items():
            misuse = self.connection.why_not(method)
            found = True if misuse is None else misuse.rule
            if self.connection.can(method) != (misuse is None) or not same(answer, found):
                raise Difference(f"{at}/can/{method}: expected {answer}, found {found}")

    def messages(self):
        """What waits for the peer, message by message."""
        if self.framing == "messages":
            return [message.decode() for message in iter(self.connection.data_to_send, b"")]
        data = self.connection.data_to_send()
        found = []
        while data:
            if self.framing == "lines":
                message, end, data = data.partition(b"\n")
                if not end:
                    raise Difference("a line without its end was sent")
            else:
                head, _, data = data.partition(b"\r\n\r\n")
                length = int(head.removeprefix(b"Content-Length: "))
                message, data = data[:length], data[length:]
            found.append(message.decode())
        return found


def problem_of(line, includes, format):
    """The name of a scenario, and why it failed; None when it passed."""
    name = "?"
    try:
        scenario = json.loads(line)
        name = scenario["name"]
        run = Scenario(scenario, includes, format)
        run.play(scenario["steps"])
        run.end()
    except Difference as problem:
        return name, str(problem)
    except Exception as problem:
        return name, f"{type(problem).__name__}: {problem}"
    return name, None


def main():
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[1] / "vectors"
    includes = json.loads((folder / "include.json").read_text("utf-8"))
    format = Format(folder / "format.json")
    passed = failed = 0
    for path in sorted(folder.rglob("*.jsonl")):
        for number, line in enumerate(path.read_text("utf-8").split("\n"), 1):
            if not line.strip():
                continue
            name, problem = problem_of(line, includes, format)
            if problem is None:
                passed += 1
            else:
                failed += 1
                print(f"{path.relative_to(folder)}:{number}: {name}: {problem}")
    replayed = passed + failed
    # What is expected wrongly must fail.
    for line in (folder / "wrong.ndjson").read_text("utf-8").splitlines():
        name, problem = problem_of(line, includes, format)
        if problem is None:
            failed += 1
            print(f"wrong.ndjson: {name}: passed")
    print(f"note: each member of {len(Scenario.falsified)} events was falsified")
    print(f"note: vectors replayed in Python: {replayed}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
