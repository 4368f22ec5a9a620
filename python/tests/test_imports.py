"""Imports of the package's modules go one way, also those for annotations."""

import ast
import unittest
from pathlib import Path
from typing import Dict, FrozenSet, List, Set

import libacp

ROOT = Path(libacp.__file__).parent
Graph = Dict[str, Set[str]]


def modules() -> Dict[str, Path]:
    found = {}
    for path in sorted(ROOT.rglob("*.py")):
        parts = ("libacp", *path.relative_to(ROOT).with_suffix("").parts)
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports(name: str, path: Path, known: Dict[str, Path]) -> Set[str]:
    """The modules that a module imports when it is imported, and those for the type checker alone."""
    package = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
    found: Set[str] = set()

    def visit(node: ast.AST) -> None:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return
        if isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            of = ".".join([*base, *([node.module] if node.module else [])])
            # A package's names are its own; a module in it is imported by itself.
            found.update(f"{of}.{each.name}" if f"{of}.{each.name}" in known else of for each in node.names)
        elif isinstance(node, ast.Import):
            found.update(each.name for each in node.names)
        for child in ast.iter_child_nodes(node):
            visit(child)

    visit(ast.parse(path.read_text("utf-8")))
    return found & known.keys() - {name}


def circles(graph: Graph) -> List[FrozenSet[str]]:
    """The sets of modules that import each other."""
    reach = {name: reached(graph, name) for name in graph}
    return sorted({frozenset(each for each in reach[name] if name in reach[each]) for name in graph if name in reach[name]}, key=sorted)


def reached(graph: Graph, name: str) -> Set[str]:
    found: Set[str] = set()
    waiting = [name]
    while waiting:
        new = graph[waiting.pop()] - found
        found |= new
        waiting += new
    return found


def graph() -> Graph:
    known = modules()
    # What a package gathers for its users is no layer of its own.
    inner = {name: path for name, path in known.items() if path.name != "__init__.py"}
    found = {name: imports(name, path, known) for name, path in inner.items()}
    return {name: each & inner.keys() for name, each in found.items()}


class Imports(unittest.TestCase):
    def test_all_packages_are_seen(self) -> None:
        packages = {name for name, path in modules().items() if path.name == "__init__.py"}
        self.assertEqual(packages, {"libacp", "libacp.aio", "libacp.http", "libacp.types"})
        self.assertIn("libacp.aio._wire", graph()["libacp.aio._peer"])
        # For annotations only.
        self.assertIn("libacp.aio._agents", graph()["libacp.aio._on"])

    def test_a_circle_is_found(self) -> None:
        self.assertEqual(circles({"a": {"b"}, "b": {"c"}, "c": {"b"}}), [frozenset("bc")])

    def test_imports_go_one_way(self) -> None:
        self.assertEqual(circles(graph()), [])


if __name__ == "__main__":
    unittest.main()
