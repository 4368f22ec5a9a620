"""What the wheel brings besides the module."""

import unittest
from importlib import metadata
from pathlib import Path

import libacp
from stub_docs import documented


class Stub(unittest.TestCase):
    def test_the_docstrings_are_those_of_the_module(self) -> None:
        text = (Path(libacp.__file__).parent / "_native.pyi").read_text("utf-8")
        # In lists, as the difference of two long texts takes longer than anybody waits.
        self.assertEqual(documented(text).split("\n"), text.split("\n"), "python/tests/stub_docs.py writes them")


class Licenses(unittest.TestCase):
    def test_the_texts_are_there(self) -> None:
        files = {path.name: path.read_text("utf-8") for path in metadata.files("libacp") or [] if "LICENSE" in path.name}
        self.assertEqual(sorted(files), ["LICENSE-APACHE", "LICENSE-MIT"])
        self.assertIn("Apache License", files["LICENSE-APACHE"])
        self.assertIn("Permission is hereby granted", files["LICENSE-MIT"])
        named = metadata.metadata("libacp").get_all("License-File") or []
        self.assertEqual(sorted(named), sorted(files))


if __name__ == "__main__":
    unittest.main()
