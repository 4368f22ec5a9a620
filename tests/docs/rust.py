"""Looks up the Rust names in the table of docs/src/migrating.md, theirs in the official SDK and ours in libacp.

Each name becomes a link in the documentation of a crate that has nothing else, and rustdoc refuses links that lead nowhere.
Theirs was built for the interop hosts; ours is built here, with all its features. Ends with ``N passed, N failed``.
"""

import re
import subprocess
import sys
from pathlib import Path
from typing import List

from ending import end

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "src" / "migrating.md"
WORK = ROOT / "target" / "docs"
# A column of the table, the crate that its names are below, and where that has been built.
COLUMNS = [
    (2, "agent_client_protocol", ROOT / "target" / "interop-rust" / "debug" / "deps"),
    (3, "libacp", WORK / "libacp" / "debug" / "deps"),
]


def named(column: int) -> List[str]:
    section = PAGE.read_text("utf-8").partition("\n## Rust")[2].partition("\n## ")[0]
    rows = [row.split("|") for row in section.splitlines() if row.startswith("| ")][2:]
    return [name for row in rows for name in re.findall(r"`([\w:]+)`", row[column])]


def missing(crate: str, folder: Path, names: List[str]) -> List[str]:
    built = max(folder.glob(f"lib{crate}-*.rlib"), key=lambda file: file.stat().st_mtime)
    source = WORK / f"names_of_{crate}.rs"
    source.write_text("".join(f"//! [`{crate}::{name}`]\n" for name in names))
    command = ["rustdoc", "--edition", "2021", "-D", "rustdoc::broken_intra_doc_links", "-o", WORK / "names"]
    command += ["--extern", f"{crate}={built}", "-L", f"dependency={folder}", source]
    done = subprocess.run([str(part) for part in command], cwd=ROOT, capture_output=True, text=True, check=False)
    wrong = re.findall(r"unresolved link to `(.+)`", done.stderr)
    # Anything else that goes wrong is no answer.
    return wrong if wrong or done.returncode == 0 else [done.stderr]


def main() -> int:
    passed, failures = 0, []
    build = ["cargo", "build", "--quiet", "--package", "libacp", "--all-features", "--target-dir", str(WORK / "libacp")]
    subprocess.run(build, cwd=ROOT, check=True)
    for column, crate, folder in COLUMNS:
        names = named(column)
        if len(names) < 20:
            failures.append(f"only {len(names)} names of {crate}")
        wrong = missing(crate, folder, names)
        failures += [f"{PAGE.name}: there is no {name}" for name in wrong]
        passed += len(names) - len(wrong)
    return end(passed, failures)


if __name__ == "__main__":
    sys.exit(main())
