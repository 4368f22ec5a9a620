"""Books with one fault each, which must be refused with the fault: ``broken.py PROGRAM``, the builder of the book.

Ends with ``N passed, N failed``.
"""

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Dict

from ending import end

CONFIG = """[book]
title = "A book"
[build]
build-dir = "out"
create-missing = false
[output.html]
input-404 = ""
[output.html.print]
enable = false
"""
GOOD = {
    "book.toml": CONFIG,
    "src/SUMMARY.md": "# Summary\n\n- [One](one.md)\n- [Two](sub/two.md)\n",
    "src/one.md": "# One\n\n[two](sub/two.md#a-part)\n\n```c\n{{#include ../code/a.c}}\n```\n\n```text\nfree\n```\n",
    "src/sub/two.md": "# Two\n\n## A part\n\n```c\n{{#include ../../code/b.c:part}}\n```\n",
    "code/a.c": "int a;\n",
    "code/b.c": "// ANCHOR: part\nint b;\n// ANCHOR_END: part\n",
}
# What is wrong, what is changed for that, and what must be said of it.
FAULTS = [
    ("a page that is not there", {"src/SUMMARY.md": "# Summary\n\n- [One](three.md)\n"}, "three.md"),
    ("a page that is not listed", {"src/three.md": "# Three\n"}, "three.md: not in SUMMARY.md"),
    ("a snippet that is not there", {"src/one.md": "# One\n\n```c\n{{#include ../code/z.c}}\n```\n"}, "one.md:4: ../code/z.c: not there"),
    ("an anchor that is not there", {"code/b.c": "int b;\n"}, "two.md:6: ../../code/b.c:part: no such anchor"),
    ("an anchor without an end", {"code/b.c": "// ANCHOR: part\nint b;\n"}, "two.md:6: ../../code/b.c:part: no such anchor"),
    ("anchors that show", {"code/a.c": "// ANCHOR: x\n// ANCHOR_END: x\n"}, "one.md:6: ../code/a.c: has anchors"),
    ("code of its own", {"src/one.md": "# One\n\n```c\nint a;\n```\n"}, "one.md:5: this c is in no file that a test runs"),
    ("a link to no page", {"src/one.md": "# One\n\n[two](two.md)\n"}, "one.html: two.html: not there"),
    ("a link to no place", {"src/one.md": "# One\n\n[two](sub/two.md#b)\n"}, "one.html: sub/two.html#b: no such place"),
    ("an image from elsewhere", {"src/one.md": "# One\n\n![x](https://x.test/x.png)\n"}, "one.html: https://x.test/x.png: loaded from elsewhere"),
    ("HTML that does not end", {"src/one.md": "# One\n\n<div>\n\ntext\n"}, "unclosed HTML tag `<div>`"),
]


def build(program: str, files: Dict[str, str]) -> "subprocess.CompletedProcess[str]":
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            path = Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
        return subprocess.run([program, folder], capture_output=True, text=True, timeout=60, check=False)


def main() -> int:
    program = sys.argv[1]
    good = build(program, GOOD)
    failures = [] if good.returncode == 0 else [f"a good book: {good.stdout}{good.stderr}"]
    for what, changed, said in FAULTS:
        done = build(program, {**GOOD, **changed})
        if done.returncode == 0 or said not in done.stdout + done.stderr:
            failures.append(f"{what}: ended with {done.returncode}\n{done.stdout}{done.stderr}")
    return end(1 + len(FAULTS) - len(failures), failures)


if __name__ == "__main__":
    sys.exit(main())
