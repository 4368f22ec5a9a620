"""What errors of a peer's say as text."""

import unittest
from typing import Any, List, Tuple

import libacp
from libacp import aio

EVIL = "\x1b]0;owned\x07\r\n\u202etext\u2066\x9b31m\ud800"


class Shown(unittest.TestCase):
    def test_what_the_data_says(self) -> None:
        cases: List[Tuple[Any, str]] = [
            (None, "Internal error (-32603)"),
            ({"details": "no key"}, "Internal error (-32603): no key"),
            ({"message": "no key"}, "Internal error (-32603): no key"),
            ({"error": {"message": "no key", "type": "auth"}}, "Internal error (-32603): no key"),
            ({"error": "no key"}, "Internal error (-32603): no key"),
            ("no key", "Internal error (-32603): no key"),
            ({"details": "", "message": "no key"}, "Internal error (-32603): no key"),
            # What says no more is not said twice; what is no text is for `data`.
            ({"details": "Internal error"}, "Internal error (-32603)"),
            ({"details": ["a"], "uri": "file:///a"}, "Internal error (-32603)"),
            ([1, 2], "Internal error (-32603)"),
            (5, "Internal error (-32603)"),
            ({"details": "one\n  two\n"}, "Internal error (-32603):\n  one\n    two"),
        ]
        for data, text in cases:
            with self.subTest(data):
                for kind in (libacp.PeerError, aio.RequestError):
                    self.assertEqual(str(kind(-32603, "Internal error", data)), text)

    def test_it_has_a_bound(self) -> None:
        long = str(libacp.PeerError(1, "a" * 100_000, {"details": "b" * 100_000}))
        self.assertLess(len(long), 3000)
        self.assertTrue(long.endswith("b…"))
        self.assertEqual(len(str(libacp.PeerError(1, "a", "line\n" * 1000)).split("\n")), 22)

    def test_it_steers_no_terminal(self) -> None:
        error = libacp.PeerError(1, EVIL, {"details": EVIL + "\nforged: line"})
        text = str(error)
        first, *more = text.split("\n")
        self.assertIn("\\x1b]0;owned\\x07\\r\\n\\u202e", first)
        self.assertTrue(all(line.startswith("  ") for line in more), more)
        self.assertTrue(text.replace("\n", "").isprintable())
        text.encode()
        self.assertEqual(error.message, EVIL)
        self.assertEqual(error.data["details"], EVIL + "\nforged: line")

    def test_printable(self) -> None:
        # What people write stays: joined emoji, spaces of all kinds, line ends.
        for text in ("caf\u00e9\u00a0!\n\tx", "\u3000日本", "👩\u200d💻", "مرحبا", ""):
            self.assertEqual(libacp.printable(text), text)
        self.assertEqual(libacp.printable(EVIL), "\\x1b]0;owned\\x07\\r\n\\u202etext\\u2066\\x9b31m\\ud800")
        self.assertEqual(libacp.printable("a\u2028b\x85c\x7f\x00"), "a\\u2028b\\x85c\\x7f\\x00")


if __name__ == "__main__":
    unittest.main()
