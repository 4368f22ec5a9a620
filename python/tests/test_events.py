"""Event classes and exceptions as values: immutable, equal, hashable, readable, copied and pickled."""

import copy
import inspect
import pickle
import sys
import unittest
from typing import Any

import libacp
from pair import ready, with_session

EVENTS: "list[Any]" = [
    libacp.Request("session/prompt", {"a": 1}, 5, "s-1", 2),
    libacp.Request("_x/y"),
    libacp.Notification("session/update", {"a": "é"}, "s-1", "plan", "turn"),
    libacp.Response("r", "result", "_x/y", {"a": [1]}, serial=3),
    libacp.Response(1, "result", "_x/y"),
    libacp.Response(1, "error", "_x/y", error=libacp.PeerError(-32000, "Log in", {"a": 1})),
    libacp.Response(1, "timeout", "_x/y", session="s"),
    libacp.Cancel(None, "_x/y", "s", 9),
    libacp.Answered(4, "session/request_permission", "CANCEL-03", "s-1", 8),
    libacp.Violation("RPC-21", "not JSON", "/a", "m", None, True, 3, "{", "refused", -32700),
    libacp.Violation("RPC-21", "not JSON"),
    libacp.Advice("PERM-02", "no option", "/options", "session/request_permission"),
    libacp.Advice("PERM-02", "no option"),
    libacp.Advice("RPC-15", "late", "", "_x/y", 7),
    libacp.Advice("RPC-15", "late", "", "_x/y", None, True),
    libacp.Closed("end_of_stream", [1, "a", None], [libacp.TerminalRef("s", "t")]),
    libacp.TerminalRef("s", "t"),
    libacp.RawJson("{}"),
    libacp.Limits(frame=10),
]


class Values(unittest.TestCase):
    def test_copies_are_equal(self) -> None:
        for event in EVENTS:
            for other in (pickle.loads(pickle.dumps(event)), copy.copy(event), copy.deepcopy(event)):
                self.assertEqual(other, event)
                self.assertEqual(hash(other), hash(event))
                self.assertEqual(repr(other), repr(event))

    def test_different_ones_are_not(self) -> None:
        self.assertEqual(len(set(EVENTS)), len(EVENTS))
        for event in EVENTS:
            self.assertNotEqual(event, None)
        self.assertNotEqual(libacp.Cancel(1, "m"), libacp.Cancel("1", "m"))
        self.assertLess(libacp.TerminalRef("a", "b"), libacp.TerminalRef("b", "a"))

    def test_nothing_can_be_set(self) -> None:
        for event in EVENTS:
            names = [name for name, _ in inspect.getmembers(type(event), inspect.isdatadescriptor) if name[0] != "_"]
            self.assertTrue(names)
            for name in [*names, "other"]:
                with self.assertRaises(AttributeError):
                    setattr(event, name, 1)

    def test_repr(self) -> None:
        self.assertEqual(
            [repr(event) for event in EVENTS[:6]],
            [
                """Request(method='session/prompt', params={"a":1}, id=5, session='s-1', serial=2)""",
                """Request(method='_x/y', params={}, id=None, serial=0)""",
                "Notification(method='session/update', params={\"a\":\"é\"}, session='s-1', update='plan', timing='turn')",
                """Response(id='r', outcome='result', method='_x/y', result={"a":[1]}, serial=3)""",
                """Response(id=1, outcome='result', method='_x/y', result=null, serial=0)""",
                "Response(id=1, outcome='error', method='_x/y', error=PeerError(-32000, 'Log in', {'a': 1}), serial=0)",
            ],
        )
        self.assertEqual(
            repr(libacp.Advice("PERM-02", "no option", "/options", "_x/y")),
            "Advice(rule='PERM-02', message='no option', pointer='/options', method='_x/y')",
        )
        long = repr(libacp.Request("m", {"a": "é" * 1000}))
        self.assertLess(len(long), 250)
        self.assertIn("...", long)

    def test_events_that_contradict_themselves(self) -> None:
        with self.assertRaises(TypeError):
            libacp.Response(1, "error", "m")
        with self.assertRaises(TypeError):
            libacp.Response(1, "timeout", "m", {})
        with self.assertRaises(TypeError):
            libacp.Response(1, "error", "m", error=ValueError())  # type: ignore[arg-type]

    def test_the_names_stand_for_themselves(self) -> None:
        for event in EVENTS:
            self.assertIs(getattr(libacp, type(event).__name__), type(event))
            self.assertEqual(type(event).__module__, "libacp")
        for name in libacp.__all__:
            self.assertTrue(hasattr(libacp, name), name)
        with self.assertRaises(AttributeError):
            getattr(libacp, "nothing")


class Errors(unittest.TestCase):
    def test_each_kind_has_its_class(self) -> None:
        pair = with_session(limits=libacp.Limits(pending=1))
        client, agent = pair.client, pair.agent
        fresh = libacp.Connection("client")
        calls: "dict[str, Any]" = {
            "phase": lambda: fresh.request("session/new", {"cwd": "/w", "mcpServers": []}),
            "method": lambda: client.request("session/none"),
            "capability": lambda: ready(client={}).agent.request("terminal/create", {"sessionId": "s", "command": "x"}),
            "params": lambda: client.request("session/new", {"cwd": "not/absolute", "mcpServers": []}),
            "session": lambda: client.request("session/prompt", {"sessionId": "s-9", "prompt": []}),
            "id": lambda: agent.respond(99, {}),
            "limit": lambda: [client.request("_x/y") for _ in range(2)],
        }
        for kind, call in calls.items():
            with self.assertRaises(getattr(libacp, f"{kind.capitalize()}Misuse")) as raised:
                call()
            misuse = raised.exception
            assert isinstance(misuse, libacp.Misuse) and isinstance(misuse, libacp.Error)
            self.assertEqual(misuse.kind, kind)
            self.assertRegex(misuse.rule, r"\A[A-Z]+-\d+\Z")
            self.assertEqual(str(misuse), ": ".join(filter(None, (misuse.rule, misuse.pointer, misuse.message))))
            again = pickle.loads(pickle.dumps(misuse))
            self.assertEqual((type(again), again.args), (type(misuse), misuse.args))

    def test_a_place_is_named(self) -> None:
        with self.assertRaises(libacp.ParamsMisuse) as raised:
            ready().client.request("session/new", {"cwd": "not/absolute", "mcpServers": []})
        self.assertEqual(raised.exception.pointer, "/cwd")

    def test_codes(self) -> None:
        self.assertEqual(libacp.ErrorCode.PARSE_ERROR, -32700)
        self.assertEqual(libacp.ErrorCode.message(libacp.ErrorCode.AUTH_REQUIRED), "Authentication required")
        self.assertIn("session_fork", libacp.DRAFTS)

    def test_violations_tell_rule_place_and_answer(self) -> None:
        agent = ready().agent
        agent.receive_data(b'{"jsonrpc":"2.0","id":9,"method":"session/new","params":{"cwd":5,"mcpServers":[]}}\n')
        violation: Any = agent.next_event()
        self.assertEqual((violation.pointer, violation.method, violation.id), ("/cwd", "session/new", 9))
        self.assertEqual((violation.consequence, violation.code), ("refused", libacp.ErrorCode.INVALID_PARAMS))
        self.assertTrue(violation.excerpt.startswith('{"jsonrpc"'))
        self.assertEqual(violation.frame, 2)


MATCH = """
def kind(event):
    match event:
        case libacp.Request("session/prompt", {"a": number}):
            return "prompt", number
        case libacp.Request(method):
            return "request", method
        case libacp.Notification("session/update", _, update="plan"):
            return "plan"
        case libacp.Response(id, "error", error=libacp.PeerError(code=code)):
            return "error", id, code
        case libacp.Response(id, "result"):
            return "result", id
        case libacp.Cancel(id) | libacp.Answered(id):
            return "over", id
        case libacp.Violation(rule, message):
            return rule, message
        case libacp.Advice(rule, message, pointer=pointer):
            return "advice", rule, message, pointer
        case libacp.Closed("end_of_stream", unanswered=open):
            return "closed", open
"""


@unittest.skipIf(sys.version_info < (3, 10), "match came with Python 3.10")
class Match(unittest.TestCase):
    def test_events_can_be_matched(self) -> None:
        names: "dict[str, Any]" = {"libacp": libacp}
        exec(MATCH, names)
        found = [names["kind"](event) for event in EVENTS[:16]]
        self.assertEqual(found[:6], [("prompt", 1), ("request", "_x/y"), "plan", ("result", "r"), ("result", 1), ("error", 1, -32000)])
        self.assertEqual(found[6:9], [None, ("over", None), ("over", 4)])
        self.assertEqual(found[10:12], [("RPC-21", "not JSON"), ("advice", "PERM-02", "no option", "/options")])
        self.assertEqual(found[13:15], [("advice", "RPC-15", "late", "")] * 2)
        self.assertEqual(found[15:], [("closed", (1, "a", None))])


if __name__ == "__main__":
    unittest.main()
