"""What may have a handler is what the protocol has: the tables of `libacp.aio` beside those of the protocol's types."""

import re
import unittest
from pathlib import Path
from typing import Dict

import libacp
from libacp.aio import _methods, _on
from libacp.types import v1

PACKAGE = Path(libacp.__file__).parent
CALL = re.compile(r'def __call__\(self, method: Literal\["([^"]+)"\].*?"""(.*?)"""', re.S)
OVERLOAD = re.compile(r'method: Literal\["([^"]+)"\], /\)')


class Tables(unittest.TestCase):
    def test_drafts_and_needs_are_those_of_the_types(self) -> None:
        drafts: Dict[str, str] = {}
        needs: Dict[str, str] = {}
        for method, about in CALL.findall((PACKAGE / "types" / "v1.pyi").read_text("utf-8")):
            draft, need = re.search(r"Draft: `(\w+)`", about), re.search(r"capability `([\w.]+)`", about)
            if draft is not None:
                drafts[method] = draft[1]
            if need is not None:
                needs[method] = need[1]
        self.assertEqual(drafts, _methods.DRAFTS)
        told = {method: ".".join(path) for method, path in _methods.STATED.items()}
        self.assertEqual(needs, told)

    def test_every_method_has_the_type_of_its_handler(self) -> None:
        agent, client = Path(_on.__file__).read_text("utf-8").split("class OnClient")
        elsewhere = {"$/cancel_request", "session/prompt"}
        taken = {str(each) for each in (*v1.CLIENT_REQUESTS, *v1.CLIENT_NOTIFICATIONS)} - elsewhere
        self.assertEqual(set(OVERLOAD.findall(agent)), taken)
        taken = {str(each) for each in (*v1.AGENT_REQUESTS, *v1.AGENT_NOTIFICATIONS)} - elsewhere
        self.assertEqual(set(OVERLOAD.findall(client)), taken)

    def test_results_that_may_leave_out_members_have_all_of_them(self) -> None:
        for loose, whole in (
            (_on.NewSession, v1.NewSessionResponse),
            (_on.NewSession, v1.ForkSessionResponse),
            (_on.PromptEnd, v1.PromptResponse),
            (_on.Greeting, v1.InitializeResponse),
        ):
            self.assertEqual(set(loose.__annotations__), set(whole.__annotations__))


if __name__ == "__main__":
    unittest.main()
