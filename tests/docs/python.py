"""What the documentation says of Python, against the installed package and the official SDK.

Each public name has a description, attributes included, and every name in the table of docs/src/migrating.md exists. What
docs/surface.json says of Python is there, and whatever is public in `libacp.aio` is in docs/surface.json.
Ends with ``N passed, N failed``.
"""

import ast
import importlib
import inspect
import json
import re
import sys
from pathlib import Path
from typing import Any, Dict, Iterator, List, Set, Tuple

import libacp
import libacp.aio
import libacp.names
import libacp.types
import libacp.view
from ending import end
from libacp.aio._host import Options
from surface import Surface

# What hosts make themselves, and so choose the options of.
MADE_BY_HOSTS = ("Agent", "Client", "Files", "ReadOnlyFiles", "Terminals")
PAGE = Path(__file__).resolve().parents[2] / "docs" / "src" / "migrating.md"


def described(module: Any) -> Iterator[Tuple[str, bool]]:
    """Each class, function and member of a module, and whether it is described."""
    for name in getattr(module, "__all__", None) or [name for name in vars(module) if not name.startswith("_")]:
        value = getattr(module, name)
        # Texts, tuples and type aliases have the description of what they are made of.
        if inspect.isclass(value) and value.__module__.startswith("libacp"):
            yield f"{module.__name__}.{name}", own(value)
            yield from members(f"{module.__name__}.{name}", value)
            yield from attributes(f"{module.__name__}.{name}", value)
        elif inspect.isroutine(value):
            yield f"{module.__name__}.{name}", own(value)


def own(value: Any) -> bool:
    return bool((value.__doc__ or "").strip())


def members(path: str, kind: type) -> Iterator[Tuple[str, bool]]:
    for name, member in vars(kind).items():
        if not name.startswith("_") and (inspect.isroutine(member) or inspect.isdatadescriptor(member)):
            # What is overridden may be described where it comes from.
            yield f"{path}.{name}", bool(inspect.getdoc(member) or inspect.getdoc(getattr(kind, name)))


def attributes(path: str, kind: type) -> Iterator[Tuple[str, bool]]:
    """The attributes that a class written in Python declares or sets; a text below one describes it."""
    found: Dict[str, bool] = {}
    for base in reversed(kind.__mro__):
        source = getattr(sys.modules[base.__module__], "__file__", "")
        if not base.__module__.startswith("libacp") or not source.endswith(".py"):
            continue
        tree = ast.parse(Path(source).read_text("utf-8"))
        # None in the case of a class that is written in Rust.
        classes = [each for each in tree.body if isinstance(each, ast.ClassDef) and each.name == base.__name__]
        begins = [each for node in classes for each in node.body if isinstance(each, ast.FunctionDef) and each.name == "__init__"]
        for node in [*classes, *begins]:
            for statement, below in zip(node.body, [*node.body[1:], ast.Pass()]):
                name = attribute(statement, isinstance(node, ast.ClassDef))
                if name and not name.startswith("_"):
                    found[name] = found.get(name, False) or (isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant))
    yield from ((f"{path}.{name}", good) for name, good in found.items())


def attribute(statement: ast.stmt, of_class: bool) -> str:
    """The attribute that a statement of a class, or of its ``__init__``, gives a value or a type."""
    places = [statement.target] if isinstance(statement, ast.AnnAssign) else getattr(statement, "targets", [])
    wanted = [place for place in places if isinstance(place, ast.Name if of_class else ast.Attribute)]
    return ast.unparse(wanted[0]).rpartition(".")[2] if wanted else ""


def named(section: str) -> Iterator[str]:
    """The dotted names in the tables of a section."""
    text = PAGE.read_text("utf-8").partition(f"\n## {section}")[2].partition("\n## ")[0]
    for row in re.findall(r"^\|.*\|$", text, re.MULTILINE):
        yield from re.findall(r"`((?:acp|libacp)\.[\w.]+)`", row)


def exists(name: str) -> bool:
    module, *rest = name.split(".")
    found: Any = importlib.import_module(module)
    for part in rest:
        try:
            found = getattr(found, part)
        except AttributeError:
            return False
    return True


def options(path: str, callable: Any) -> Iterator[str]:
    """The options of a function or a constructor. Those that agents and clients share are named alike."""
    for option in inspect.signature(callable).parameters.values():
        if option.kind is option.KEYWORD_ONLY:
            yield f"{path}({option.name}=)"
        elif option.kind is option.VAR_KEYWORD:
            yield from (f"Host({name}=)" for name in Options.__annotations__)


def found(kind: type) -> Set[str]:
    """The public members of a class: methods, properties and attributes."""
    bases = [base for base in kind.__mro__ if base.__module__.startswith("libacp")]
    below = {name for base in bases for name, _ in members("", base)}
    return {path.rpartition(".")[2] for path in below} | {path.rpartition(".")[2] for path, _ in attributes("", kind)}


def public() -> Iterator[str]:
    """Each class, function, member and option of `libacp.aio`."""
    everything = {name: getattr(libacp.aio, name) for name in libacp.aio.__all__}
    for name, value in everything.items():
        yield name
        if not inspect.isclass(value):
            yield from options(name, value)
            continue
        inherited = [each for each in value.__mro__[1:] if everything.get(each.__name__) is each or each in libacp_errors()]
        more = found(value).difference(*map(found, inherited))
        if name in MADE_BY_HOSTS:
            yield from options(name, value)
            # What a constructor takes can be looked at under the same name.
            more -= {*inspect.signature(value).parameters, *Options.__annotations__}
        for member in sorted(more):
            yield f"{name}.{member}"
            if inspect.isroutine(getattr(value, member, None)):
                yield from options(f"{name}.{member}", getattr(value, member))


def libacp_errors() -> List[type]:
    return [value for value in vars(libacp).values() if inspect.isclass(value) and issubclass(value, libacp.Error)]


def resolved(name: str) -> str:
    """What a name in docs/surface.json is among those of `public`; nothing if there is no such thing."""
    path, _, called = name.partition("(")
    if path.startswith("libacp."):
        return name if exists(name) else ""
    kind, _, member = path.partition(".")
    value: Any = getattr(libacp.aio, kind, None)
    if value is None or (member and member not in found(value)):
        return ""
    if member:
        value = getattr(value, member, None)
    if called.startswith('"'):
        try:
            # Handlers of methods that nobody serves are refused.
            getattr(getattr(libacp.aio, kind)("a", drafts=libacp.DRAFTS), member)(json.loads(called[:-1]))
        except ValueError:
            return ""
        return path
    option = called[:-2]
    if not option:
        return name
    parameters = inspect.signature(value).parameters
    shared = any(each.kind is each.VAR_KEYWORD for each in parameters.values()) and option in Options.__annotations__
    return f"Host({option}=)" if shared else name if option in parameters else ""


def surface() -> Surface:
    """Compares docs/surface.json with `libacp.aio`."""
    surface = Surface("python")
    everything = set(public())
    # Some options are those of many calls.
    endings = {name for name in surface.apart if name.startswith("(")}
    exist = {name for name in surface.names if (name in endings and any(each.endswith(name) for each in everything)) or resolved(name)}
    named = {resolved(name) for name in exist - endings}
    named |= {each for each in everything if each.endswith(tuple(endings))}
    # A class is named with its members.
    named |= {name.partition(".")[0].partition("(")[0] for name in named}
    surface.compare(exist, everything, named, "Python")
    return surface


def main() -> int:
    checks: List[Tuple[str, bool]] = [(f"{module.__name__}", own(module)) for module in (libacp, libacp.aio, libacp.names, libacp.view)]
    for module in (libacp, libacp.aio, libacp.view):
        checks += described(module)
    failures = [f"{name} has no description" for name, good in checks if not good]
    # A walk that finds little has not walked.
    assert len(checks) > 250, len(checks)
    names = list(named("Python"))
    assert len(names) > 60, names
    failures += [f"{PAGE.name}: there is no {name}" for name in names if not exists(name)]
    checked = surface()
    passed = len(checks) + len(names) + checked.compared - len(failures) - len(checked.failures)
    return end(passed, [*failures, *checked.failures])


if __name__ == "__main__":
    sys.exit(main())
