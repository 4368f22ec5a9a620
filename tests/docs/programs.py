"""Builds and runs the programs of the book as its readers do: ``programs.py KIND ...``.

Each folder of docs/snippets is a kind: it is copied to target/docs, and each of its scripts is run there, with the packages
of this tree where a reader has those of a registry. What a script prints must be what the page shows, the file of the same
name that ends with ``.out``. Ends with ``N passed, N failed``.
"""

import contextlib
import http.server
import json
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from typing import Dict, Iterator, List

from ending import end

ROOT = Path(__file__).resolve().parents[2]
SNIPPETS = ROOT / "docs" / "snippets"
TARGET = ROOT / "target"
WORK = TARGET / "docs"
PATIENCE = 600


def run(*command: object, **options: object) -> None:
    subprocess.run([str(part) for part in command], check=True, timeout=PATIENCE, **options)


def only(folder: Path, pattern: str) -> Path:
    (file,) = folder.glob(pattern)
    return file


@contextlib.contextmanager
def installed(_: str) -> Iterator[Dict[str, str]]:
    """The C library in a prefix of its own, where pkg-config, CMake and the loader look."""
    prefix = WORK / "prefix"
    run("cargo", "run", "--quiet", "--package", "xtask", "--", "install", "--prefix", prefix, cwd=ROOT)
    yield {
        "PKG_CONFIG_PATH": str(prefix / "lib" / "pkgconfig"),
        "LD_LIBRARY_PATH": str(prefix / "lib"),
        "CMAKE_PREFIX_PATH": str(prefix),
        "PATH": f"{TARGET / 'venv' / 'bin'}{os.pathsep}{os.environ['PATH']}",
    }


@contextlib.contextmanager
def environment(kind: str) -> Iterator[Dict[str, str]]:
    """An empty virtual environment, in which the name of the package stands for the wheel of this tree."""
    folder = WORK / f"venv-{kind}"
    run(sys.executable, "-m", "venv", "--clear", folder)
    constraint = WORK / f"constraint-{kind}.txt"
    constraint.write_text(f"libacp @ {only(TARGET / 'wheels', '*.whl').as_uri()}\n")
    yield {
        "PATH": f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "PIP_CONSTRAINT": str(constraint),
        "PIP_QUIET": "1",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    }


@contextlib.contextmanager
def registry(_: str) -> Iterator[Dict[str, str]]:
    """An npm registry that has this tree's package."""
    tarball = only(TARGET / "npm", "*.tgz")
    package = json.loads((ROOT / "wasm" / "package.json").read_text("utf-8"))

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path.endswith(".tgz"):
                body = tarball.read_bytes()
            else:
                dist = {"tarball": f"http://{self.headers['host']}/{tarball.name}"}
                version = {**package, "dist": dist}
                all_of_it = {"name": "libacp", "dist-tags": {"latest": package["version"]}, "versions": {package["version"]: version}}
                body = json.dumps(all_of_it).encode()
            self.send_response(200)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield {
            "npm_config_registry": f"http://127.0.0.1:{server.server_port}/",
            "npm_config_noproxy": "127.0.0.1",
            "npm_config_cache": str(WORK / "npm-cache"),
            "npm_config_loglevel": "silent",
        }
        server.shutdown()


@contextlib.contextmanager
def patched(_: str) -> Iterator[Dict[str, str]]:
    """Cargo's own way of putting a crate of one's own in the place of the registry's."""
    config = WORK / ".cargo" / "config.toml"
    config.parent.mkdir(parents=True, exist_ok=True)
    crates = {"libacp": "core", "libacp-files": "files", "libacp-tokio": "tokio"}
    paths = [f"{name} = {{ path = {json.dumps(str(ROOT / folder))} }}\n" for name, folder in crates.items()]
    config.write_text("[patch.crates-io]\n" + "".join(paths))
    yield {"CARGO_PROFILE_DEV_DEBUG": "false", "CARGO_TARGET_DIR": ""}


KINDS = {"c": installed, "cpp": installed, "python": environment, "node": registry, "rust": patched, "tokio": patched, "proxy": environment, "recipes": environment}
# Kinds whose programs stay in this tree.
INSIDE = {"proxy"}


def scripts(kind: str) -> List[str]:
    """Runs the scripts of a kind; what is wrong with them."""
    folder = ROOT
    if kind not in INSIDE:
        folder = WORK / kind
        # What a build has made stays, so that a second run is short.
        shutil.copytree(SNIPPETS / kind, folder, dirs_exist_ok=True)
    wrong = []
    with KINDS[kind](kind) as variables:
        # An empty one is not set.
        variables = {name: value for name, value in {**os.environ, **variables}.items() if value}
        for script in sorted((SNIPPETS / kind).glob("*.sh")):
            command = ["sh", "-eu", str(script)]
            done = subprocess.run(
                command, cwd=folder, env=variables, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE
            )
            expected = script.with_suffix(".out").read_text("utf-8")
            if done.returncode != 0 or not done.stdout.endswith(expected):
                wrong.append(f"{kind}/{script.name} ended with {done.returncode}\n{done.stdout}{done.stderr}")
            else:
                print(f"{kind}/{script.name}: 1 passed, 0 failed")
    return wrong


def main() -> int:
    WORK.mkdir(parents=True, exist_ok=True)
    wrong = [line for kind in sys.argv[1:] for line in scripts(kind)]
    # Those that went well have been counted one by one.
    return end(0, wrong)


if __name__ == "__main__":
    sys.exit(main())
