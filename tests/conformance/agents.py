"""The agents that are tested: the full ones, and all that the README and the book show, as their readers run them."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Dict, List, NamedTuple, Sequence

ROOT = Path(__file__).resolve().parents[2]
TARGET = ROOT / "target"
WORK = TARGET / "conformance"
# Where the packed npm package is installed, beside copies of the examples.
NODE = TARGET / "node"
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


# The full agents have a prompt that waits, and may be logged out.
FULL: Dict[str, Any] = {"long_prompt": "wait", "allow_logout": True}


def full() -> Dict[str, List[str]]:
    """The full agents' commands."""
    return {
        "python": [sys.executable, str(ROOT / "examples" / "python" / "full_agent.py")],
        "node": ["node", str(NODE / "full-agent.mjs")],
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


def compiled(name: str, language: str, source: str) -> List[str]:
    program = WORK / name
    static = TARGET / "release" / "libacp.a"
    include = f"-I{ROOT / 'include'}"
    subprocess.run([*COMPILERS[language], include, "-o", program, source, static, *LIBRARIES], check=True)
    return [str(program)]


def cargo_built() -> List[str]:
    """The book's Rust agent, with this tree's crate in the place of the registry's; it shares a folder with the book."""
    # Below a folder that the workspace leaves out.
    folder = TARGET / "docs" / "conformance"
    shutil.copytree(ROOT / "docs" / "snippets" / "rust", folder, dirs_exist_ok=True)
    patch = f'patch.crates-io.libacp.path="{ROOT / "core"}"'
    built = TARGET / "docs" / "rust" / "target"
    environment = {**os.environ, "CARGO_TARGET_DIR": str(built), "CARGO_PROFILE_DEV_DEBUG": "false"}
    command = ["cargo", "build", "--quiet", "--bin", "agent", "--config", patch]
    subprocess.run(command, check=True, cwd=folder, env=environment)
    # The book may build its own at the same time, with the same name.
    shutil.copy2(built / "debug" / "agent", WORK / "rust-agent")
    return [str(WORK / "rust-agent")]


def tested() -> Sequence[Tested]:
    """All agents; what has to be built is built first."""
    WORK.mkdir(parents=True, exist_ok=True)
    readme, snippets, examples = ROOT / "README.md", ROOT / "docs" / "snippets", ROOT / "examples"
    python = [sys.executable]
    found = []
    for name, command in full().items():
        found.append(Tested(f"full {name}", command, FULL))
        found.append(Tested(f"full {name} with login", [*command, "--login"], {**FULL, "login": "key"}))
    for language, suffix in (("c", "c"), ("cpp", "cpp")):
        source = written(f"readme.{suffix}", block(readme, language, "ACP_METHOD_SESSION_NEW"))
        found.append(Tested(f"README, {language}", compiled(f"readme-{language}", language, source), {}, KNOWN[f"README, {language}"]))
        source = str(snippets / language / f"agent.{suffix}")
        found.append(Tested(f"book, {language}", compiled(f"book-{language}", language, source)))
    found += [
        Tested("README, Python", [*python, written("readme.py", block(readme, "python", "agent.run()"))]),
        Tested("python/README", [*python, written("package.py", block(ROOT / "python" / "README.md", "python", "agent.run()"))]),
        Tested("book, Python", [*python, str(snippets / "python" / "agent.py")]),
        Tested("book, Python, files", [*python, str(examples / "python" / "hello_agent.py")]),
        node("wasm/README", block(ROOT / "wasm" / "README.md", "js", "agent.serve()"), "conformance-readme.mjs"),
        node("book, JavaScript", (snippets / "node" / "agent.mjs").read_text("utf-8"), "conformance-book.mjs"),
        node("book, JavaScript, files", (examples / "node" / "short-agent.mjs").read_text("utf-8"), "conformance-short.mjs"),
        Tested("book, Rust", cargo_built()),
        Tested("book, Rust with tokio", [str(TARGET / "debug" / "acp-tokio-agent")]),
        Tested("book, Rust with smol", [str(TARGET / "debug" / "acp-smol-agent")]),
    ]
    return found


def node(name: str, text: str, file: str) -> Tested:
    """An agent in JavaScript, written to where the package is installed."""
    return Tested(name, ["node", written(file, text, NODE)], {}, KNOWN.get(name, {}))


ONE_SESSION = "the example has one session, s-1"
NO_NAME = "the example answers initialize with an empty object"
KNOWN: Dict[str, Dict[str, str]] = {
    "README, c": {"SESSION-002": ONE_SESSION, "INIT-004": NO_NAME},
    "README, cpp": {"SESSION-002": ONE_SESSION, "INIT-004": NO_NAME},
}
