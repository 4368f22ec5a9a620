"""Sees that type checkers report seeded mistakes: ``python check.py mypy|pyright PROGRAM [ARGUMENT ...]``.

Each line with ``# mistake:`` is one. A checker must report most of them, and nothing else.
"""

import re
import subprocess
import sys
from pathlib import Path
from typing import Set, Tuple

HERE = Path(__file__).resolve().parent
SEEDED = 46
CAUGHT = 43
REPORTED = re.compile(r"^\s*(\S+\.py):(\d+)(?::\d+)?:?(?: -)? error", re.M)

Place = Tuple[str, int]


def seeded() -> Set[Place]:
    """Where the mistakes are."""
    found: Set[Place] = set()
    for path in sorted(HERE.glob("*.py")):
        if path != Path(__file__).resolve():
            lines = path.read_text("utf-8").splitlines()
            found |= {(path.name, number) for number, line in enumerate(lines, 1) if "# mistake:" in line}
    return found


def main() -> int:
    name, *command = sys.argv[1:]
    files = sorted({file for file, _ in seeded()})
    done = subprocess.run([*command, *(str(HERE / file) for file in files)], text=True, capture_output=True)
    reported = {(Path(file).name, int(number)) for file, number in REPORTED.findall(done.stdout)}
    mistakes = seeded()
    caught, missed, other = mistakes & reported, mistakes - reported, reported - mistakes
    print(f"{name}: {len(caught)} of {len(mistakes)} mistakes")
    for what, places in (("not reported", missed), ("reported, and no mistake", other)):
        for file, number in sorted(places):
            print(f"  {what}: {file}:{number}")
    if not reported:
        print(done.stdout, done.stderr)
    return 0 if len(mistakes) >= SEEDED and len(caught) >= CAUGHT and not other else 1


if __name__ == "__main__":
    sys.exit(main())
