"""What may have a handler is what the protocol has: those that the core takes beside the protocol's types."""

import re
import unittest
from pathlib import Path
from typing import Any, Iterable

import libacp
from libacp import _native
from libacp.aio import _on
from libacp.names import Role
from libacp.types import v1

PACKAGE = Path(libacp.__file__).parent
CALL = re.compile(r'def __call__\(self, method: Literal\["([^"]+)"\].*?"""(.*?)"""', re.S)
TERMINAL = ["terminal/create", "terminal/output", "terminal/wait_for_exit", "terminal/kill", "terminal/release"]
OVERLOAD = re.compile(r'method: Literal\["([^"]+)"\], /\)')


def config(role: Role, drafts: Iterable[str] = ()) -> libacp.Config:
    return libacp.Connection(role, drafts=drafts).config


class Tables(unittest.TestCase):
    def test_drafts_and_needs_are_those_of_the_types(self) -> None:
        said = CALL.findall((PACKAGE / "types" / "v1.pyi").read_text("utf-8"))
        for method, about in said:
            role: Role = "agent" if method in (*v1.CLIENT_REQUESTS, *v1.CLIENT_NOTIFICATIONS) else "client"
            draft, need = re.search(r"Draft: `(\w+)`", about), re.search(r"capability `([\w.]+)`", about)
            with self.subTest(method):
                why = _native.why_no_handler(config(role), method, {})
                if method == "$/cancel_request":
                    self.assertIn("has no handler", why or "")
                    continue
                self.assertEqual(draft is not None, "the draft " in (why or ""))
                self.assertIn("" if draft is None else f"the draft {draft[1]},", why or "")
                on = config(role, libacp.DRAFTS)
                why = _native.why_no_handler(on, method, {})
                self.assertIn("" if why is None else f"the capability {need and need[1]},", why or "")
                capabilities, wrong = _native.offers(on, TERMINAL if method in TERMINAL else [method], {})
                if need is None:
                    self.assertEqual((capabilities, wrong), _native.offers(on, [], {}))
                elif wrong is not None:
                    self.assertIn(f"the capability {need[1]},", wrong[1])
                else:
                    found: Any = capabilities
                    for step in need[1].split("."):
                        found = found[step]
                    self.assertIn(found, (True, {}))
        self.assertGreater(len(said), 40)

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
