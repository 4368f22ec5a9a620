"""Looks up the Rust names in the table of docs/src/migrating.md, theirs in the official SDK and ours in libacp.

Each name becomes a link in the documentation of a crate that has nothing else, and rustdoc refuses links that lead nowhere.
Theirs was built for the interop hosts; ours is built here, with all its features.

What docs/surface.json says of Rust is compared with the pages that rustdoc writes of `libacp::aio` and `libacp_tokio`, in both
directions. Ends with ``N passed, N failed``.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Dict, Iterator, List, Set

from ending import end
from surface import Surface

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "src" / "migrating.md"
WORK = ROOT / "target" / "docs"
# A column of the table, the crate that its names are below, and where that has been built.
COLUMNS = [
    (2, "agent_client_protocol", ROOT / "target" / "interop-rust" / "debug" / "deps"),
    (3, "libacp", WORK / "libacp" / "debug" / "deps"),
]

# Where ours is documented, and the crates and modules whose public names are all in docs/surface.json: a page's folder, and
# what stands before its names.
DOC = WORK / "libacp" / "doc"
WALKED = {"libacp/aio": "", "libacp_tokio": "libacp_tokio::"}
# Others that have names which are in it.
BESIDE = {
    "libacp": "libacp::",
    "libacp/connection": "libacp::connection::",
    "libacp/jsonrpc": "libacp::jsonrpc::",
    "libacp/terminal": "libacp::terminal::",
    "libacp_files": "libacp_files::",
}
PAGE_OF = re.compile(r"(struct|enum|trait|fn|macro|type)\.(\w+)\.html")
MEMBER = re.compile(r'id="(?:method|tymethod|structfield|variant|associatedconstant)\.(\w+)(?:-\d+)?"')
# Behind one of these is what others have written for a type, or a type for others.
OTHERS = re.compile(r'id="(?:trait-implementations|foreign-impls|implementors|synthetic-implementations)"')


def items(folder: str, before: str) -> Iterator[str]:
    """The public names that the pages of a module or a crate are about, and their members."""
    for page in sorted((DOC / folder).glob("*.html")):
        found = PAGE_OF.fullmatch(page.name)
        if found:
            name = before + found[2] + ("!" if found[1] == "macro" else "")
            yield name
            text = OTHERS.split(page.read_text("utf-8"))[0]
            yield from (f"{name}::{member}" for member in MEMBER.findall(text))


def aliases(folder: str) -> Dict[str, str]:
    """What another name stands for."""
    pages = {page.name[5:-5]: page.read_text("utf-8") for page in (DOC / folder).glob("type.*.html")}
    found = {name: re.search(r'type \w+ = <a class="struct" href="struct\.(\w+)\.html"', text) for name, text in pages.items()}
    return {name: target[1] for name, target in found.items() if target}


def surface() -> Surface:
    """Compares docs/surface.json with the two crates."""
    packages = [each for name in ("libacp", "libacp-tokio", "libacp-files") for each in ("--package", name)]
    document = ["cargo", "doc", "--quiet", "--no-deps", *packages, "--all-features", "--target-dir", str(WORK / "libacp")]
    # Pages of what is no more would be taken for what there is.
    shutil.rmtree(DOC, ignore_errors=True)
    subprocess.run(document, cwd=ROOT, check=True)
    surface, other = Surface("rust"), aliases("libacp/aio")
    everything = {name for folder, before in WALKED.items() for name in items(folder, before)}
    beside = {name for folder, before in BESIDE.items() for name in items(folder, before)}
    # Some of them are at the root of the crate as well.
    root = set(re.findall(r'id="reexport\.(\w+)"', (DOC / "libacp" / "index.html").read_text("utf-8")))
    parts = [name.split("::") for name in beside]
    exist = everything | beside | {"::".join([crate, *rest]) for crate, _, *rest in parts if rest and rest[0] in root}
    named: Set[str] = set(surface.names)
    for name in surface.names:
        kind, colons, member = name.rpartition("::")
        # A type is named with its members, and what another name stands for with that.
        named |= {kind, other.get(kind, kind) + colons + member}
    # The members of what another name stands for are its own.
    public = {name for name in everything if name.partition("::")[0] not in other or name in other}
    surface.compare(exist, public, named, "Rust")
    return surface


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
    checked = surface()
    return end(passed + checked.compared - len(checked.failures), [*failures, *checked.failures])


if __name__ == "__main__":
    sys.exit(main())
