"""The observer: which side is told apart, what is known, recordings in any split, and what is refused."""

import base64
import json
import unittest
from pathlib import Path
from typing import Any, Dict, Iterator, List, Tuple

import libacp

RECORDINGS = Path(__file__).resolve().parents[2] / "tests" / "recordings"
Tally = Dict[Tuple[str, str], int]


def say(observer: libacp.Observer, side: Any, **members: Any) -> None:
    observer.receive_data(side, json.dumps({"jsonrpc": "2.0", **members}).encode() + b"\n")


def broken(observer: libacp.Observer) -> List[Tuple[str, str]]:
    return [(side, event.rule) for side, event in observer.events() if isinstance(event, libacp.Violation)]


def opened(version: int, view: bool = False) -> libacp.Observer:
    """Both have said hello in this version, and a session is open."""
    observer = libacp.Observer(view=view)
    info = {"info": {"name": "x", "version": "1"}} if version == 2 else {}
    client = {**info, "capabilities": {}} if version == 2 else {"clientCapabilities": {}}
    agent = {**info, "capabilities": {"session": {}}} if version == 2 else {"agentCapabilities": {}}
    say(observer, "client", id=0, method="initialize", params={"protocolVersion": version, **client})
    say(observer, "agent", id=0, result={"protocolVersion": version, **agent})
    say(observer, "client", id=1, method="session/new", params={"cwd": "/w", "mcpServers": []})
    say(observer, "agent", id=1, result={"sessionId": "s-1"})
    kinds = [(side, type(event)) for side, event in observer.events()]
    assert kinds == [("client", libacp.Request), ("agent", libacp.Response)] * 2, kinds
    return observer


def records(name: str) -> Iterator[Tuple[Any, bytes]]:
    for line in (RECORDINGS / f"{name}.jsonl").read_bytes().split(b"\n"):
        record = json.loads(line) if line else {"d": "#"}
        if record["d"] != "#":
            data = base64.b64decode(record["b64"]) if "b64" in record else record["s"].encode()
            yield "client" if record["d"] == ">" else "agent", data


def replayed(name: str, pieces: int) -> Tally:
    """What each side of a recording is accused of, with each message in so many pieces; byte by byte for 0."""
    observer, tally = libacp.Observer(), {}  # type: Tuple[libacp.Observer, Tally]
    for side, data in records(name):
        size = max(1, -(-len(data) // pieces)) if pieces else 1
        for at in range(0, len(data), size):
            observer.receive_data(side, data[at : at + size])
            for one in broken(observer):
                tally[one] = tally.get(one, 0) + 1
    return tally


class Sides(unittest.TestCase):
    def test_each_side_is_told_what_is_its_own_fault(self) -> None:
        for version in (1, 2):
            observer = opened(version)
            self.assertEqual((observer.version, observer.phase), (version, "ready"))
            say(observer, "client", id=2, method="session/new", params={"cwd": "w", "mcpServers": []})
            say(observer, "agent", id=7, result={})
            seen = list(observer.events())
            self.assertEqual([side for side, _ in seen], ["client", "agent"])
            event = seen[0][1]
            assert isinstance(event, libacp.Violation)
            self.assertEqual((event.rule, event.pointer, event.method, event.id), ("SESS-04", "/cwd", "session/new", 2))
            self.assertEqual((event.consequence, event.frame), ("refused", 3))
            rule = libacp.rule(event.rule)
            assert rule is not None
            self.assertEqual(rule.severity, "error")

    def test_after_noise_the_next_message_is_understood(self) -> None:
        observer = opened(1)
        observer.receive_data("client", b"\xff noise\n")
        observer.receive_data("agent", bytearray(b"noise\n"))
        say(observer, "agent", method="_x")
        seen = list(observer.events())
        self.assertEqual([(side, type(event).__name__) for side, event in seen],
                         [("client", "Violation"), ("agent", "Violation"), ("agent", "Notification")])

    def test_recordings_are_seen_as_the_core_sees_them(self) -> None:
        listed: Dict[str, Tally] = {}
        for line in (RECORDINGS / "observed.txt").read_text("utf-8").splitlines():
            name, side, rule, count = line.split()
            listed.setdefault(name, {})[side, rule] = int(count)
        names = sorted(str(path.relative_to(RECORDINGS).with_suffix("")) for path in RECORDINGS.glob("**/*.jsonl"))
        self.assertGreaterEqual(len(names), 17)
        for name in (each.replace("\\", "/") for each in names):
            for pieces in (1, 2):
                self.assertEqual(replayed(name, pieces), listed.get(name, {}), name)
        for name in ("agent-official-py-0.12.1", "version-2/both-official-kt-0.30.1"):
            self.assertEqual(replayed(name, 0), listed[name], name)


class Known(unittest.TestCase):
    def test_what_is_known_of_a_conversation(self) -> None:
        observer = opened(2)
        self.assertEqual((observer.capabilities("client"), observer.capabilities("agent")), ({}, {"session": {}}))
        say(observer, "client", id=2, method="session/list", params={})
        self.assertGreater(observer.buffered, 40)
        self.assertEqual(broken(observer), [])
        self.assertEqual(observer.buffered, 0)
        self.assertEqual([each.method for each in observer.open_requests("client")], ["session/list"])
        self.assertEqual(observer.open_requests("agent"), [])
        self.assertEqual(list(observer.sessions), ["s-1"])
        session, snapshot = observer.session("s-1"), observer.session_snapshot("s-1")
        assert session is not None and snapshot is not None
        self.assertEqual((session.turn, snapshot["turn"]), ("idle", "idle"))
        self.assertIsNone(observer.session("none") or observer.session_snapshot("none"))
        self.assertEqual(observer.snapshot()["version"], 2)
        self.assertEqual(repr(observer), "<libacp.Observer ready version=2 sessions=1>")

    def test_both_ends_are_the_end(self) -> None:
        observer = opened(1)
        say(observer, "client", id=2, method="_x/a")
        observer.receive_eof("client")
        self.assertEqual([type(event) for _, event in observer.events()], [libacp.Request])
        observer.receive_eof("agent")
        ends = [(side, type(event)) for side, event in observer.events()]
        self.assertEqual(ends, [("client", libacp.Response), ("agent", libacp.Closed)])
        observer.receive_data("client", b"{}\n")
        self.assertIsNone(observer.next_event())
        self.assertEqual(observer.phase, "closed")


class Misused(unittest.TestCase):
    def test_configurations_that_there_are_not(self) -> None:
        wrong: List[Tuple[Dict[str, Any], type, str]] = [
            ({"framing": "tcp"}, ValueError, "framing"),
            ({"policy": "lax"}, ValueError, "policy"),
            ({"versions": []}, ValueError, "versions"),
            ({"versions": [3]}, ValueError, "versions"),
            ({"drafts": ["none"]}, ValueError, "drafts"),
            ({"foreign_methods": ["session/new"]}, ValueError, "foreign_methods"),
            ({"role": "client"}, TypeError, "role"),
        ]
        for options, error, name in wrong:
            with self.assertRaisesRegex(error, name):
                libacp.Observer(**options)

    def test_versions_are_those_that_can_be_followed(self) -> None:
        observer = libacp.Observer(versions=[1])
        say(observer, "client", id=0, method="initialize", params={"protocolVersion": 1})
        say(observer, "agent", id=0, result={"protocolVersion": 2, "info": {"name": "a", "version": "1"}, "capabilities": {}})
        self.assertEqual([side for side, _ in broken(observer)], ["agent"])

    def test_views_are_read_while_they_grow(self) -> None:
        observer = opened(2, view=True)
        self.assertEqual((observer.views, opened(2).views, opened(2).view("s-1")), (["s-1"], [], None))
        shown, revision, position = "", 0, 0
        for word in ["Good ", "mor", "ning."] * 100:
            update = {"sessionUpdate": "agent_message_chunk", "messageId": "m", "content": {"type": "text", "text": word}}
            say(observer, "agent", method="session/update", params={"sessionId": "s-1", "update": update})
            list(observer.events())
            changes = observer.view_since("s-1", revision)
            content = observer.view_content("s-1", 0, position)
            assert changes is not None and content is not None
            self.assertEqual([head["end"] for head in changes["entries"]], [content["end"]])
            self.assertEqual(content["blocks"], [{"type": "text", "text": word}])
            self.assertEqual((content["from"], content["continues"]), (position, position > 0))
            shown += word
            revision, position = changes["revision"], content["end"]
        self.assertEqual((observer.view_revision("s-1"), observer.view_text("s-1", 0)), (revision, shown))
        view = observer.view("s-1")
        assert view is not None
        self.assertEqual(view["entries"][0]["type"], "message")
        self.assertEqual((observer.view_content("s-1", 1, 0), observer.forget_view("s-1")), (None, False))
        say(observer, "client", id=2, method="session/close", params={"sessionId": "s-1"})
        say(observer, "agent", id=2, result={})
        list(observer.events())
        self.assertEqual((observer.forget_view("s-1"), observer.views), (True, []))

    def test_sides_and_bytes_that_there_are_not(self) -> None:
        observer = libacp.Observer()
        for call in (lambda: observer.receive_data("editor", b""), lambda: observer.receive_eof("editor"),  # type: ignore[arg-type]
                     lambda: observer.capabilities("x"), lambda: observer.open_requests("")):  # type: ignore[arg-type]
            with self.assertRaisesRegex(ValueError, "side: expected one of"):
                call()
        with self.assertRaisesRegex(TypeError, "expected bytes"):
            observer.receive_data("client", "text")  # type: ignore[arg-type]


if __name__ == "__main__":
    unittest.main()
