"""Rules: the catalogue, what a host is advised of, and which broken ones it is told of."""

import json
import pathlib
import types
import unittest
from typing import Any, Dict

import libacp
from pair import with_session

# PERM-02, a warning: sent, it is advised against; received, it is let through and reported.
ASK: Dict[str, Any] = {"sessionId": "s-1", "toolCall": {"toolCallId": "t"}, "options": []}


class Catalogue(unittest.TestCase):
    def test_a_rule_by_its_id(self) -> None:
        rule = libacp.rule("PERM-02")
        assert rule is not None
        self.assertEqual((rule.id, rule.level, rule.severity), ("PERM-02", "MUST", "warning"))
        self.assertEqual((rule.send, rule.receive, rule.track), (True, True, False))
        self.assertTrue(rule.text.endswith("."))
        again = libacp.rule("PERM-02")
        self.assertEqual((rule, hash(rule), repr(rule)), (again, hash(again), repr(again)))
        self.assertNotEqual(rule, libacp.rule("PERM-03"))
        start = "Rule(id='PERM-02', level='MUST', severity='warning', send=True, receive=True, track=False, text="
        self.assertEqual(repr(rule), f"{start}{rule.text!r})")
        with self.assertRaises(AttributeError):
            setattr(rule, "text", "")

    def test_ids_of_no_rule(self) -> None:
        for id in ("", "PERM", "PERM-", "PERM-999", "perm-02", "NONE-01", "é"):
            self.assertIsNone(libacp.rule(id))


    def test_every_rule_has_the_severity_that_the_core_gives_it(self) -> None:
        path = pathlib.Path(__file__).parents[2] / "core" / "protocol" / "rules.json"
        areas = json.loads(path.read_text(encoding="utf-8"))
        rules = [rule for area in areas for rule in area["rules"]]
        self.assertGreater(len(rules), 300)
        for known in rules:
            rule = libacp.rule(known["id"])
            assert rule is not None, known["id"]
            self.assertEqual((rule.id, rule.severity, rule.text), (known["id"], known["severity"], known["text"]))


class Told(unittest.TestCase):
    def exchange(self, **config: Any) -> "tuple[list[libacp.Event], list[libacp.Event]]":
        """What the sender and the receiver of an odd request are told."""
        pair = with_session(**config)
        pair.client.request("session/prompt", {"sessionId": "s-1", "prompt": []})
        pair.pump(pair.client)
        pair.agent.request("session/request_permission", ASK)
        return list(pair.agent.events()), pair.pump(pair.agent)

    def test_the_sender_is_advised_and_the_receiver_told(self) -> None:
        (advice,), (violation, request) = self.exchange()
        assert isinstance(advice, libacp.Advice) and isinstance(violation, libacp.Violation)
        self.assertEqual((advice.rule, advice.pointer, advice.method), ("PERM-02", "/options", "session/request_permission"))
        self.assertIn("option", advice.message)
        self.assertEqual((violation.rule, violation.pointer, violation.consequence), ("PERM-02", "/options", "delivered"))
        self.assertIsInstance(request, libacp.Request)

    def test_a_policy_for_its_severity_goes_first(self) -> None:
        for config in (
            {"policy": "off"},
            {"policies": {"warning": "off"}},
            {"policy": "strict", "policies": types.MappingProxyType({"warning": "off", "error": "strict"})},
        ):
            _, received = self.exchange(**config)
            self.assertEqual([type(event) for event in received], [libacp.Request], config)
        for config in ({"policies": {"note": "off", "error": "off"}}, {"policy": "off", "policies": {"warning": "tolerant"}}):
            _, received = self.exchange(**config)
            self.assertEqual([type(event) for event in received], [libacp.Violation, libacp.Request], config)
        for config in ({"policy": "strict"}, {"policies": {"warning": "strict"}}):
            _, (violation,) = self.exchange(**config)
            assert isinstance(violation, libacp.Violation)
            self.assertEqual((violation.rule, violation.consequence), ("PERM-02", "refused"), config)


if __name__ == "__main__":
    unittest.main()
