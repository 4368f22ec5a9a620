"""Looks up what the book's pages name of this tree: files, tests, rules, and the names of the C and C++ headers.

Ends with ``N passed, N failed``.
"""

import re
import sys
from pathlib import Path
from typing import Callable, List, Tuple

from ending import end

ROOT = Path(__file__).resolve().parents[2]
SRC = ROOT / "docs" / "src"
# Folders at the root whose files pages name.
TOP = "core|docs|examples|ffi|ffi-files|files|include|python|tests|wasm|xtask"


def texts(*patterns: str) -> str:
    return "\n".join(path.read_text("utf-8") for pattern in patterns for path in sorted(ROOT.glob(pattern)))


HEADERS = texts("include/*.h")
CLASSES = texts("include/**/*.hpp")
TESTS = texts("core/src/**/*.rs", "core/tests/**/*.rs", "files/tests/*.rs", "python/tests/*.py")
RULES = (SRC / "rules.md").read_text("utf-8")


def word(name: str, text: str) -> bool:
    return re.search(rf"\b{re.escape(name)}\b", text) is not None


# What is between backticks, what it is, and whether that is there.
KINDS: List[Tuple[str, str, Callable[[str], bool]]] = [
    (rf"(?:{TOP})/[\w./-]+", "file", lambda name: (ROOT / name).exists()),
    (r"(?:acp|ACP)_[A-Za-z0-9_]+", "name in a C header", lambda name: word(name, HEADERS)),
    (r"acp::[\w:]+", "name in a C++ header", lambda name: all(word(part, CLASSES) for part in name.split("::")[1:])),
    (r"[a-z]+(?:_[a-z0-9]+){4,}", "test", lambda name: re.search(rf"(?:fn|def) {name}\(", TESTS) is not None),
    (r"[A-Z]+-\d+", "rule", lambda name: f"`{name}` |" in RULES),
]


# What registries show, without the rest of the tree.
SHOWN = ["core/README.md", "python/README.md", "wasm/README.md"]
# How the book's scripts fetch what no registry has yet.
FETCHES = re.compile(r"^(?:pip|npm) install .*\blibacp\b|^cargo add libacp|^libacp = \"", re.M)
UNRELEASED = re.compile("Nothing is released yet|Until there is a release")


def readmes() -> List[str]:
    """Links of a README that lead nowhere where a registry shows it."""
    wrong = []
    for name in SHOWN:
        for link in re.findall(r"\]\(([^)\s]+)", (ROOT / name).read_text("utf-8")):
            if not link.startswith(("https://", "#")):
                wrong.append(f"{name}: {link} leads nowhere on a registry's page")
    return wrong


def unreleased() -> List[str]:
    """Pages with scripts that fetch the package, and without a word about where it is until it is released."""
    wrong = []
    for page in sorted(SRC.glob("*.md")):
        text = page.read_text("utf-8")
        files = re.findall(r"\{\{#include \.\./(snippets/[\w./-]+)", text)
        if not UNRELEASED.search(text) and any(FETCHES.search((SRC.parent / file).read_text("utf-8")) for file in files):
            wrong.append(f"{page.name}: does not say that nothing is released yet")
    return wrong


def main() -> int:
    passed, failures = 0, [*readmes(), *unreleased()]
    for page in sorted(set(SRC.glob("*.md")) - {SRC / "rules.md"}):
        for name in re.findall(r"`([^`\n]+)`", page.read_text("utf-8")):
            for pattern, kind, exists in KINDS:
                if not re.fullmatch(pattern, name):
                    continue
                if exists(name):
                    passed += 1
                else:
                    failures.append(f"{page.name}: there is no {kind} {name}")
                break
    if passed < 120:
        failures.append(f"only {passed} names were found")
    return end(passed, failures)


if __name__ == "__main__":
    sys.exit(main())
