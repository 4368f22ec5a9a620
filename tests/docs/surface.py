"""The names in docs/surface.json, which says what each language offers, and how they are compared with a package."""

import json
from pathlib import Path
from typing import Any, Dict, Iterable, List, Set

FILE = Path(__file__).resolve().parents[2] / "docs" / "surface.json"


class Surface:
    """One language's names: in the tables, and set apart with a reason."""

    def __init__(self, language: str) -> None:
        surface: Dict[str, Any] = json.loads(FILE.read_text("utf-8"))
        rows = [row for section in surface["sections"] for row in section["rows"]]
        self.listed: List[str] = [name for row in rows for name in row["names"].get(language, ())]
        apart = surface["apart"][language]
        self.apart: List[str] = [name for entry in apart for name in entry["names"]]
        self.failures = [f"{FILE.name}: {entry['names']} are apart without a reason" for entry in apart if not entry["why"].strip()]
        twice = sorted(name for name in set(self.apart) if self.apart.count(name) > 1 or name in self.listed)
        self.failures += [f"{FILE.name}: {name} is apart, and also elsewhere" for name in twice]

    @property
    def names(self) -> Set[str]:
        return {*self.listed, *self.apart}

    def compare(self, exist: Iterable[str], public: Iterable[str], named: Iterable[str], package: str) -> None:
        """Compares the names with those that exist, and what is public with what is named."""
        everything = set(public)
        self.failures += [f"{FILE.name}: there is no {name} in {package}" for name in sorted(self.names - set(exist))]
        self.failures += [f"{FILE.name}: {name} of {package} is missing" for name in sorted(everything - set(named))]
        self.compared = len(self.names) + len(everything)
        # A walk that finds little has not walked.
        if len(everything) < 150 or len(self.listed) < 200:
            self.failures.append(f"{package}: only {len(everything)} public names, {len(self.listed)} in the tables")
