"""Policies for requests for permission: the cases of ``tests/policies``, and clients that have one."""

from __future__ import annotations

import json
import unittest
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, List

import libacp
from aio_pair import AioCase, talk
from libacp import aio
from libacp.names import PermissionDecision

if TYPE_CHECKING:
    from libacp.types import v1

CASES = Path(__file__).resolve().parents[2] / "tests/policies/permissions.jsonl"


def feed(client: libacp.Connection, message: Dict[str, Any]) -> List[libacp.Request]:
    client.receive_data(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
    client.data_to_send()
    return [event for event in client.events() if isinstance(event, libacp.Request)]


def client_of(case: Dict[str, Any]) -> libacp.Connection:
    """A client with the session `s`, which has been told the updates of a case."""
    version = case["version"]
    client = libacp.Connection("client", view=case.get("view", True), versions=[version])
    info: Dict[str, Any] = {"name": "a", "version": "1"}
    more: Dict[str, Any] = {"additionalDirectories": {}}
    if version == 1:
        client.request("initialize", {})
        hello = {"protocolVersion": 1, "agentCapabilities": {"sessionCapabilities": more}}
    else:
        client.request("initialize", {"info": info})
        hello = {"protocolVersion": 2, "info": info, "capabilities": {"session": more}}
    feed(client, {"id": 1, "result": hello})
    client.request("session/new", {"cwd": "/work", "additionalDirectories": ["/more"], "mcpServers": []})
    feed(client, {"id": 2, "result": {"sessionId": "s"}})
    client.request("session/prompt", {"sessionId": "s", "prompt": [{"type": "text", "text": "Hi"}]})
    for update in case["told"]:
        feed(client, {"method": "session/update", "params": {"sessionId": "s", "update": update}})
    return client


class Policies(unittest.TestCase):
    def test_cases(self) -> None:
        cases = [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()]
        self.assertGreater(len(cases), 50)
        for case in cases:
            with self.subTest(case["name"]):
                if "decides" in case:
                    self.decided(case)
                else:
                    self.refused(case)

    def decided(self, case: Dict[str, Any]) -> None:
        policy, client = libacp.PermissionPolicy(case["policy"]), client_of(case)
        (asked,) = feed(client, {"id": 9, "method": "session/request_permission", "params": case["params"]})
        decision: Dict[str, Any] = dict(policy.decide(client, asked.params))
        self.assertEqual({name: decision[name] for name in case["decides"]}, case["decides"])
        self.assertEqual(policy.decisions, [decision])

    def refused(self, case: Dict[str, Any]) -> None:
        with self.assertRaises(ValueError) as caught:
            libacp.PermissionPolicy(case["policyText"])
        text = str(caught.exception)
        self.assertIn(case["wrong"]["message"], text)
        self.assertTrue(text.startswith(case["wrong"]["pointer"]), text)


POLICY = {"rules": [{"action": "allow", "kind": "read"}, {"action": "deny", "kind": "delete"}]}


class Clients(AioCase):
    async def outcomes(self, versions: List[int]) -> None:
        asked: List[str] = []
        told: List[PermissionDecision] = []

        async def permit(request: aio.PermissionRequest) -> Any:
            asked.append(request.title)
            return request.allow()

        async def work(turn: aio.Turn) -> None:
            kinds: List[v1.ToolKind] = ["read", "delete", "edit"]
            for kind in kinds:
                async with turn.tool_call(kind, kind=kind, status="pending") as call:
                    granted = await call.ask_permission()
                    await turn.message(f"{kind} {granted.allowed} ")

        client = aio.Client(
            "asked", permission=permit, permission_policy=POLICY, on_decision=lambda _, made: told.append(made), versions=versions
        )
        worker = aio.Agent("asks", versions=versions)
        worker.prompt(work)
        async with talk(worker, client) as peer:
            session = await peer.new_session("/")
            said = await session.prompt("Go").read_text()
        self.assertEqual(said, "read True delete False edit True ")
        self.assertEqual(asked, ["edit"])
        self.assertEqual([(made["action"], made["rule"]) for made in told], [("allow", "/rules/0"), ("deny", "/rules/1"), ("ask", None)])

    async def test_what_no_rule_is_about_goes_to_the_user(self) -> None:
        for versions in ([1], [2]):
            with self.subTest(versions=versions):
                await self.outcomes(versions)

    def test_mistakes(self) -> None:
        with self.assertRaisesRegex(ValueError, "/rules/0/kind: .*did you mean read"):
            aio.Client("wrong", permission_policy={"rules": [{"action": "allow", "kind": "reed"}]})
        client = aio.Client("twice", permission_policy=POLICY)
        client.on("session/request_permission")(lambda session, params: {"outcome": {"outcome": "cancelled"}})
        with self.assertRaisesRegex(ValueError, "permission_policy"):
            client._served()


if __name__ == "__main__":
    unittest.main()
