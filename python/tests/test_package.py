"""What the wheel brings besides the module."""

import unittest
from importlib import metadata


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
