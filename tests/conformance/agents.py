"""The agents that are tested: the full ones, and all that the README and the book show, as their readers run them."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence

ROOT = Path(__file__).resolve().parents[2]
TARGET = ROOT / "target"
WORK = TARGET / "conformance"
# Where the packed npm package is installed, beside copies of the examples.
NODE = TARGET / "node"
# The book's agent in Rust.
RUST = WORK / "rust-agent"
LIBRARIES = ["-lpthread", "-ldl", "-lm"]
# Each language's compiler, as the README has it.
COMPILERS = {"c": ["cc", "-std=c99"], "cpp": ["c++", "-std=c++17"]}


class Tested(NamedTuple):
    name: str
    command: List[str]
    options: Dict[str, Any] = {}
    """What the driver is told beside the command."""
    fails: Dict[str, str] = {}
    """Requirements that it is known not to meet, and why; one of them that is met fails the run."""
    build: Optional[Callable[[], object]] = None
    """Makes the program."""


KNOWN: Dict[str, Dict[str, str]] = {"book, Rust": {"INIT-004": "it answers initialize with nothing of its own"}}

# The full agents have a prompt that waits, and may be logged out.
FULL: Dict[str, Any] = {"long_prompt": "wait", "allow_logout": True}


def full() -> Dict[str, List[str]]:
    """The full agents' commands."""
    return {
        "python": [sys.executable, str(ROOT / "examples" / "python" / "full_agent.py")],
        "node": ["node", str(NODE / "full-agent.mjs")],
        "rust": [str(TARGET / "debug" / "acp-full-agent")],
    }


def block(file: Path, language: str, has: str) -> str:
    """The first example of a language that has a text, in a page."""
    for found in re.findall(rf"\n```{language}\n(.*?)```", file.read_text("utf-8"), re.S):
        if has in found:
            return found
    raise LookupError(f"{file}: no example in {language} has {has!r}")


def written(name: str, text: str, folder: Path = WORK) -> str:
    path = folder / name
    path.write_text(text, "utf-8")
    return str(path)


def shown(title: str, command: List[str], build: Optional[Callable[[], object]] = None) -> Tested:
    """An agent as its readers run it."""
    return Tested(title, command, {}, KNOWN.get(title, {}), build)


def compiled(title: str, name: str, language: str, source: str) -> Tested:
    """An agent in C or C++."""
    program, static = WORK / name, TARGET / "release" / "libacp.a"
    command = [*COMPILERS[language], f"-I{ROOT / 'include'}", "-o", program, source, static, *LIBRARIES]
    return shown(title, [str(program)], lambda: subprocess.run(command, check=True))


def node(title: str, text: str, file: str) -> Tested:
    """An agent in JavaScript, written to where the package is installed."""
    return shown(title, ["node", written(file, text, NODE)])


def cargo_built() -> None:
    """The book's Rust agent, with this tree's crate in the place of the registry's; it shares a folder with the book."""
    # Below a folder that the workspace leaves out.
    folder = TARGET / "docs" / "conformance"
    shutil.copytree(ROOT / "docs" / "snippets" / "rust", folder, dirs_exist_ok=True)
    patch = f'patch.crates-io.libacp.path="{ROOT / "core"}"'
    built = TARGET / "docs" / "rust" / "target"
    environment = {**os.environ, "CARGO_TARGET_DIR": str(built), "CARGO_PROFILE_DEV_DEBUG": "false"}
    command = ["cargo", "build", "--quiet", "--bin", "agent", "--config", patch]
    subprocess.run(command, check=True, cwd=folder, env=environment)
    # The book may build its own at the same time, with the same name. A program of its own copies it: what other threads
    # start here inherits the open file until it runs, and a program that somebody may write to cannot be started.
    copy = "import shutil, sys; shutil.copy2(*sys.argv[1:])"
    subprocess.run([sys.executable, "-c", copy, built / "debug" / "agent", RUST], check=True)


def tested() -> Sequence[Tested]:
    """All agents."""
    WORK.mkdir(parents=True, exist_ok=True)
    readme, snippets, examples = ROOT / "README.md", ROOT / "docs" / "snippets", ROOT / "examples"
    python = [sys.executable]
    found = []
    for name, command in full().items():
        found.append(Tested(f"full agent in {name}", command, FULL))
        found.append(Tested(f"full agent in {name} with login", [*command, "--login"], {**FULL, "login": "key"}))
    for title, language in (("C", "c"), ("C++", "cpp")):
        source = written(f"readme.{language}", block(readme, language, "ACP_METHOD_SESSION_NEW"))
        found.append(compiled(f"README, {title}", f"readme-{language}", language, source))
        source = str(snippets / language / f"agent.{language}")
        found.append(compiled(f"book, {title}", f"book-{language}", language, source))
    package = block(ROOT / "python" / "README.md", "python", "agent.run()")
    found += [
        shown("README, Python", [*python, written("readme.py", block(readme, "python", "agent.run()"))]),
        shown("python/README", [*python, written("package.py", package)]),
        shown("book, Python", [*python, str(snippets / "python" / "agent.py")]),
        shown("book, Python, files", [*python, str(examples / "python" / "hello_agent.py")]),
        node("wasm/README", block(ROOT / "wasm" / "README.md", "js", "agent.serve()"), "conformance-readme.mjs"),
        node("book, JavaScript", (snippets / "node" / "agent.mjs").read_text("utf-8"), "conformance-book.mjs"),
        node("book, JavaScript, files", (examples / "node" / "short-agent.mjs").read_text("utf-8"), "conformance-short.mjs"),
        shown("book, Rust", [str(RUST)], cargo_built),
        shown("book, Rust with tokio", [str(TARGET / "debug" / "acp-tokio-agent")]),
        shown("book, Rust with smol", [str(TARGET / "debug" / "acp-smol-agent")]),
    ]
    return found
