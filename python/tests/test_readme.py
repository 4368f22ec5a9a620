"""The examples of the README do what they say."""

import builtins
import logging
import re
import sys
import unittest
from pathlib import Path
from typing import Any, Dict, List

import libacp
import libacp.names
from pair import line, ready

README = Path(__file__).resolve().parents[1] / "README.md"


class Wire:
    def __init__(self) -> None:
        self.written: List[bytes] = []

    def write(self, data: bytes) -> None:
        self.written.append(data)


class Examples(unittest.TestCase):
    def setUp(self) -> None:
        self.blocks = re.findall(r"```python\n(.*?)```", README.read_text("utf-8"), re.DOTALL)

    @unittest.skipIf(sys.version_info < (3, 10), "match came with Python 3.10")
    def test_the_agent_answers_a_prompt(self) -> None:
        prompt = {"sessionId": "s-1", "prompt": [{"type": "text", "text": "Hi"}]}
        data = line("initialize", {"protocolVersion": 1}, 1)
        data += line("session/new", {"cwd": "/work", "mcpServers": []}, 2) + line("session/prompt", prompt, 3)
        # Nothing that a client may do ends it.
        data += line("session/new", {"cwd": "/work", "mcpServers": []}, 4) + line("_x/unknown", {}, 5)
        wire = Wire()
        exec(self.blocks[0], {"data": data, "transport": wire, "log": logging.getLogger("readme")})
        first, second, update, last, other, refused = b"".join(wire.written).splitlines()
        self.assertEqual(first, b'{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"agentCapabilities":{}}}')
        self.assertEqual(second, b'{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s-1"}}')
        self.assertIn(b'"text":"Hello!"', update)
        self.assertEqual(last, b'{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}')
        self.assertEqual(other, b'{"jsonrpc":"2.0","id":4,"result":{"sessionId":"s-2"}}')
        self.assertIn(b'"code":-32601', refused)

    @unittest.skipIf(sys.version_info < (3, 10), "int | str came with Python 3.10")
    def test_typed_calls_are_calls(self) -> None:
        names: Dict[str, Any] = {"connection": ready().client}
        (typed,) = [block for block in self.blocks if "SendClientRequest" in block]
        exec(typed, names)
        self.assertEqual([request.method for request in names["connection"].pending], ["session/new"])

    def test_all_names_of_the_table_exist(self) -> None:
        table = README.read_text("utf-8").partition("## Names")[2].partition("**Params")[0]
        for name in re.findall(r"`([A-Z]\w+)`", table):
            self.assertTrue(any(hasattr(place, name) for place in (libacp, libacp.names, builtins)), name)


if __name__ == "__main__":
    unittest.main()
