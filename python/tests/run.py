"""Builds the wheel, installs it into fresh virtual environments under ``target/`` and tests it there.

    python3 python/tests/run.py [--debug] [--types] [--keep-wheel] [INTERPRETER ...]

Without interpreters, the one that runs this. Ends with ``N passed, N failed``; the status is 1 when something failed.
With ``--types`` the stubs are checked as well, by mypy, stubtest and pyright. With ``--keep-wheel`` the wheel that was
built before is tested again. Only the tools and the official SDK come from the package index; the wheel needs nothing
at run time.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import venv
from pathlib import Path
from typing import Dict, List, Optional, Tuple

HERE = Path(__file__).resolve().parent
PACKAGE = HERE.parent
ROOT = PACKAGE.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
WHEELS = TARGET / "wheels"
BUILD_TOOLS = ["maturin==1.16.0"]
SDK = ROOT / "tests" / "interop" / "python" / "requirements.txt"
REMOTE = ROOT / "tests" / "interop" / "remote" / "requirements.txt"
TYPE_TOOLS = ["mypy==2.4.1", "pyright==1.1.414"]
# The last one for Python 3.9.
TRIO = "trio==0.31.0"
IMPORT_MS = 30
SCRIPTS = "Scripts" if os.name == "nt" else "bin"


def run(*command: object, cwd: Optional[Path] = None) -> None:
    subprocess.run([str(part) for part in command], check=True, stdout=sys.stderr, cwd=cwd)


def tools(packages: List[str]) -> Path:
    """The folder of the tools' programs; they are installed when they are not there yet."""
    home = TARGET / "venv-tools"
    done = home / "installed"
    wanted = "\n".join(packages)
    if not done.exists() or not set(packages) <= set(done.read_text().split("\n")):
        if not home.exists():
            venv.create(home, with_pip=True)
        run(home / SCRIPTS / "pip", "install", "--quiet", "--disable-pip-version-check", *packages)
        done.write_text((done.read_text() + "\n" if done.exists() else "") + wanted)
    return home / SCRIPTS


def sdk() -> Optional[Path]:
    """A Python that has the official SDK, a peer in whole turns; none where this Python is too old for it."""
    if sys.version_info < (3, 10):
        return None
    return with_requirements("venv-sdk", SDK)


def with_requirements(name: str, requirements: Path) -> Path:
    """The Python of an environment that has what a file lists; it is made again when the file changes."""
    home = TARGET / name
    python, done, wanted = home / SCRIPTS / "python", home / "installed", requirements.read_text()
    if not done.exists() or done.read_text() != wanted:
        venv.create(home, with_pip=True, clear=True)
        run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", requirements)
        done.write_text(wanted)
    return python


def trio(bin: Path, built: Path) -> Path:
    """A Python that has trio beside the wheel, for the example on it."""
    home = TARGET / "venv-trio"
    python, done = home / SCRIPTS / "python", home / "installed"
    if not done.exists() or done.read_text() != TRIO:
        venv.create(home, with_pip=False, clear=True)
        run(bin / "python", "-m", "pip", "--python", python, "install", "--quiet", "--disable-pip-version-check", TRIO)
        done.write_text(TRIO)
    again = ["install", "--quiet", "--disable-pip-version-check", "--no-index", "--force-reinstall", built]
    run(bin / "python", "-m", "pip", "--python", python, *again)
    return python


def remote(bin: Path, built: Path) -> Optional[Path]:
    """A Python that has web servers and the official SDK with its remote transports, beside the wheel; none where this
    Python is too old for it.
    """
    if sys.version_info < (3, 10):
        return None
    python = with_requirements("venv-remote", REMOTE)
    again = ["install", "--quiet", "--disable-pip-version-check", "--no-index", "--no-deps", "--force-reinstall", built]
    run(bin / "python", "-m", "pip", "--python", python, *again)
    return python


def wheel(bin: Path, debug: bool, keep: bool) -> Path:
    """The one wheel for all versions of Python."""
    if not keep:
        for old in WHEELS.glob("libacp-*.whl"):
            old.unlink()
        profile = ["--profile", "dev"] if debug else ["--release"]
        run(bin / "maturin", "build", "--quiet", *profile, "--interpreter", sys.executable, "--out", WHEELS, cwd=PACKAGE)
    (built,) = WHEELS.glob("libacp-*-abi3-*.whl")
    return built


def environment(bin: Path, interpreter: str, built: Path) -> Path:
    """A fresh virtual environment with nothing but the wheel; its Python."""
    version = subprocess.run(
        [interpreter, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"],
        check=True,
        text=True,
        capture_output=True,
    ).stdout.strip()
    home = TARGET / f"venv-py{version}"
    run(interpreter, "-m", "venv", "--clear", "--without-pip", home)
    python = home / SCRIPTS / "python"
    install = ["install", "--quiet", "--disable-pip-version-check", "--no-index", "--no-cache-dir", built]
    run(bin / "python", "-m", "pip", "--python", python, *install)
    return python


# What failed, with its trace: said again at the end, where nothing that follows hides it.
FAILED: List[str] = []


def counted(name: str, *command: object) -> Tuple[int, int]:
    """Runs something that ends with `N passed, N failed`; that line itself is left to the end of this program."""
    print(f"== {name}", flush=True)
    done = subprocess.run([str(part) for part in command], text=True, stdout=subprocess.PIPE, cwd=TARGET)
    counts = re.search(r"(\d+) passed, (\d+) failed\s*\Z", done.stdout)
    if counts is None or (done.returncode != 0) != (counts[2] != "0"):
        print(f"{done.stdout}ended with the status {done.returncode}", flush=True)
        FAILED.append(f"{name}: ended with the status {done.returncode}")
        return 0, 1
    print(f"{done.stdout[: counts.start()]}{counts[1]} right, {counts[2]} wrong", flush=True)
    if counts[2] != "0":
        traces = re.findall(r"^(?:FAIL|ERROR): .*?(?=^=====|^-----.*\nRan |\Z)", done.stdout, re.M | re.S)
        FAILED.append("\n".join([f"{name}: {counts[2]} wrong", *traces]))
    return int(counts[1]), int(counts[2])


def checked(name: str, *command: object, path: Optional[Dict[str, str]] = None) -> Tuple[int, int]:
    """Runs something that has a status and no counts."""
    print(f"== {name}", flush=True)
    # From a folder without a `libacp`: the source beside the tests must not stand in for what is installed.
    failed = subprocess.run([str(part) for part in command], cwd=TARGET, env=path).returncode != 0
    if failed:
        FAILED.append(name)
    return (0, 1) if failed else (1, 0)


def import_time(python: Path) -> float:
    """Milliseconds of processor time of the fastest of ten imports, each in a process of its own."""
    code = "import time; start = time.process_time(); import libacp; print((time.process_time() - start) * 1000)"
    return min(float(subprocess.check_output([str(python), "-I", "-c", code])) for _ in range(10))


def import_in_time(python: Path, name: str) -> Tuple[int, int]:
    milliseconds = import_time(python)
    print(f"== import libacp, {name}: {milliseconds:.1f} ms, {IMPORT_MS} at most", flush=True)
    if milliseconds > IMPORT_MS:
        FAILED.append(f"import libacp, {name}: {milliseconds:.1f} ms")
        return 0, 1
    return 1, 0


def type_checks(bin: Path, python: Path) -> List[Tuple[int, int]]:
    folder = ROOT / "examples" / "python"
    examples = [folder / "hello_agent.py", folder / "chat.py", *sorted(folder.glob("full_*.py"))]
    files = [*sorted(HERE.glob("*.py")), HERE / "hosts" / "agent.py", HERE / "hosts" / "hostile.py", HERE / "hosts" / "stubborn.py"]
    own = ["--python-executable", python, "--config-file", PACKAGE / "pyproject.toml"]
    # stubtest imports what it checks, so it runs in an environment of its own that has the wheel and mypy.
    home = TARGET / "venv-stubtest"
    venv.create(home, with_pip=False, clear=True)
    pip = [bin / "python", "-m", "pip", "--python", home / SCRIPTS / "python", "install", "--quiet"]
    (built,) = WHEELS.glob("libacp-*-abi3-*.whl")
    run(*pip, "--disable-pip-version-check", TYPE_TOOLS[0], built)
    # pyright looks for what is installed with the `python` that it finds first.
    path = {**os.environ, "PATH": os.pathsep.join([str(python.parent), os.environ["PATH"]])}
    # It looks beside a file for what that imports only below the folder that it runs in.
    beside = {**path, "PYTHONPATH": str(folder)}
    seeded = [HERE / "mistakes" / "check.py"]
    allowed = ["--allowlist", HERE / "stubtest.txt"]
    return [
        checked("mypy of the package", bin / "mypy", "--strict", *own, "-p", "libacp"),
        checked("mypy of its use", bin / "mypy", "--strict", *own, *files),
        checked("mypy of the examples", bin / "mypy", "--strict", *own, *examples),
        checked("seeded mistakes, mypy", sys.executable, *seeded, "mypy", bin / "mypy", "--strict", *own),
        checked("seeded mistakes, pyright", sys.executable, *seeded, "pyright", bin / "pyright", path=path),
        checked("stubtest", home / SCRIPTS / "python", "-m", "mypy.stubtest", "libacp", *allowed),
        checked("pyright of its use", bin / "pyright", *sorted(HERE.glob("typing_*.py")), *examples, path=beside),
        checked("pyright of the package", bin / "pyright", "--verifytypes", "libacp", path=path),
    ]


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--debug", action="store_true")
    parser.add_argument("--types", action="store_true")
    parser.add_argument("--keep-wheel", action="store_true")
    parser.add_argument("interpreters", nargs="*", default=[sys.executable])
    options = parser.parse_args()
    bin = tools(BUILD_TOOLS + (TYPE_TOOLS if options.types else []))
    built = wheel(bin, options.debug, options.keep_wheel)
    print(f"note: {built.name}: {built.stat().st_size / 1000:.0f} kB")
    official = sdk()
    if official is None:
        print("note: no turns with the official SDK: it needs Python 3.10")
    else:
        os.environ["LIBACP_TEST_SDK_PYTHON"] = str(official)
    typescript = TARGET / "interop-typescript"
    if shutil.which("node") and (typescript / "node_modules").is_dir():
        os.environ["LIBACP_TEST_TYPESCRIPT"] = str(typescript)
    else:
        print("note: no turns with the official TypeScript SDK: `cargo xtask setup` brings it")
    os.environ["LIBACP_TEST_TRIO_PYTHON"] = str(trio(bin, built))
    results: List[Tuple[int, int]] = []
    python = Path()
    for interpreter in options.interpreters:
        python = environment(bin, interpreter, built)
        results.append(import_in_time(python, python.parent.parent.name))
        results.append(counted(f"unit tests, {python.parent.parent.name}", python, HERE / "suite.py"))
        results.append(checked(f"types at run time, {python.parent.parent.name}", python, HERE / "typing_types.py"))
        results.append(counted(f"vectors, {python.parent.parent.name}", python, ROOT / "tests" / "python" / "vectors.py"))
        replay = ROOT / "tests" / "python" / "remote.py"
        results.append(counted(f"vectors of the remote transports, {python.parent.parent.name}", python, replay))
    served = remote(bin, built)
    if served is None:
        print("note: no remote agents: their servers and the official SDK need Python 3.10")
    else:
        results.append(counted("remote agents", served, HERE / "suite.py", HERE / "remote"))
    if options.types:
        results += type_checks(bin, python)
    passed, failed = map(sum, zip(*results))
    for what in FAILED:
        print(f"failed: {what}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
