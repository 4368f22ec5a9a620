"""What Python's `help` shows of the public classes: their attributes, each with its description."""

import copy
import inspect
import pickle
import pydoc
import re
import unittest
from typing import Any, Dict, Iterator, Tuple

import libacp
from libacp import aio, view


def classes() -> Iterator[Tuple[str, type]]:
    for module in (libacp, aio, view):
        for name in module.__all__:
            value = getattr(module, name)
            if inspect.isclass(value) and not issubclass(value, dict):
                yield f"{module.__name__}.{name}", value


def annotated(kind: type) -> Dict[str, Any]:
    """The public attributes that a class of this package declares; none that all instances share."""
    found: Dict[str, Any] = {}
    for base in kind.__mro__:
        if base.__module__.startswith("libacp"):
            found.update(getattr(base, "__annotations__", {}))
    return {name: type for name, type in found.items() if not name.startswith("_") and "ClassVar" not in str(type)}


class Help(unittest.TestCase):
    def test_attributes_are_shown_and_described(self) -> None:
        shown = 0
        for path, kind in classes():
            text = pydoc.plain(pydoc.render_doc(kind))
            for name in annotated(kind):
                with self.subTest(path, attribute=name):
                    found = re.search(rf"^ \|  {name}\n \|      (\w.+)", text, re.MULTILINE)
                    assert found is not None, text
                    shown += 1
                    self.assertGreater(len(found[1].split()), 1, found[1])
        # A walk that finds little has not walked.
        self.assertGreater(shown, 80)

    def test_the_text_is_that_of_the_source(self) -> None:
        text = pydoc.plain(pydoc.render_doc(aio.ClientSession))
        self.assertIn("roots\n |      The working directory and all additional directories, to which `Files` confines the agent.", text)

    def test_what_constructors_keep_is_in_the_description(self) -> None:
        for kind in (aio.Files, aio.ReadOnlyFiles, aio.Terminals):
            for name in inspect.signature(kind).parameters:
                self.assertIn(f"`{name}`", inspect.getdoc(kind) or "", kind)
                self.assertTrue(hasattr(kind(), name))

    def test_options_are_in_the_description(self) -> None:
        for kind in (aio.Agent, aio.Client):
            text = pydoc.plain(pydoc.render_doc(kind))
            for option in ("on_violation", "timeout", "policy", "trace", "foreign_methods", "cancel_grace"):
                self.assertIn(f"`{option}`", text, kind)

    def test_objects_stay_what_they_were(self) -> None:
        error = libacp.PeerError(1, "no", {"a": [1]})
        for again in (copy.copy(error), pickle.loads(pickle.dumps(error))):
            self.assertEqual((again.code, again.message, again.data), (1, "no", {"a": [1]}))
        client: Any = aio.Client()
        client.anything = 5
        self.assertEqual(client.anything, 5)


if __name__ == "__main__":
    unittest.main()
