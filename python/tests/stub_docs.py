"""The docstrings of ``libacp/_native.pyi`` are those of the module: ``python stub_docs.py`` writes them into it.

Editors show what a stub says, and nothing of the module behind it. ``test_package.py`` sees whether they are the same.
"""

import ast
import inspect
import sys
import textwrap
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple

STUB = Path(__file__).resolve().parents[1] / "libacp" / "_native.pyi"
WIDTH = 112
# As `cargo xtask codegen` breaks lines, which writes a part of the stub.
WRAP: Dict[str, Any] = {"break_on_hyphens": False, "break_long_words": False}
Definition = (ast.ClassDef, ast.FunctionDef)


def documented(text: str) -> str:
    """The text of the stub with the docstrings of the module that is installed."""
    from libacp import _native

    lines: List[Optional[str]] = list(text.split("\n"))
    tree = ast.parse(text)
    after: Dict[int, Tuple[List[str], bool]] = {}
    for owner, node in definitions(tree):
        named = getattr(_native, owner or node.name)
        documents = getattr(named, node.name) if owner and node.name in vars(named) else None if owner else named
        inner = " " * (node.col_offset + 4)
        old, only = node.body[0], len(node.body) == 1
        if isinstance(old, ast.Expr) and isinstance(old.value, ast.Constant) and isinstance(old.value.value, str):
            end = old.end_lineno or old.lineno
            lines[old.lineno - 1 : end] = [None] * (end - old.lineno + 1)
            head = old.lineno - 2
        else:
            first = min([old.lineno, *(each.lineno for each in getattr(old, "decorator_list", ()))])
            head = first - (1 if isinstance(old, ast.Expr) else 2)
        doc = inspect.getdoc(documents) if owner is None or not node.name.startswith("__") else None
        line = lines[head] or ""
        if on_the_same_line(line):
            lines[head] = line = line[: -len(" ...")]
        if doc:
            after[head] = (quoted(doc, inner), False)
        elif only and line.endswith(":"):
            lines[head] = f"{line} ..."
    out: List[str] = []
    for number, kept in enumerate(lines):
        if kept is not None:
            out.append(kept)
        out += after.get(number, ([], False))[0]
    return "\n".join(out)


def definitions(tree: ast.Module) -> "List[Tuple[Optional[str], Any]]":
    """Each class and function, with the class that it is in. An overload has the docstring of its first form."""
    found: "List[Tuple[Optional[str], Any]]" = []
    for node in tree.body:
        if isinstance(node, Definition):
            found.append((None, node))
        if isinstance(node, ast.ClassDef):
            found += [(node.name, each) for each in node.body if isinstance(each, ast.FunctionDef)]
    return found


def on_the_same_line(line: Optional[str]) -> bool:
    return line is not None and line.endswith(": ...")


def quoted(doc: str, indent: str) -> List[str]:
    lines: List[str] = []
    for paragraph in doc.replace("\\", "\\\\").split("\n\n"):
        own = paragraph.split("\n")
        plain = not any(line.startswith((" ", "-", "*")) for line in own)
        lines += ["", *(textwrap.wrap(" ".join(own), WIDTH - len(indent), **WRAP) if plain else own)]
    _, first, *rest = lines
    if not rest:
        return [f'{indent}"""{first}"""']
    return [f'{indent}"""{first}', *(f"{indent}{line}" if line else "" for line in rest), f'{indent}"""']


if __name__ == "__main__":
    before = STUB.read_text("utf-8")
    STUB.write_text(documented(before), "utf-8")
    sys.exit(0)
