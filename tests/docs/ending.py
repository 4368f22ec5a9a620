"""How each script here ends."""

from typing import Sequence


def end(passed: int, failures: Sequence[str]) -> int:
    """Says what went wrong and how much went well; the status of the process."""
    for failure in failures:
        print(f"FAILED {failure}")
    print(f"{passed} passed, {len(failures)} failed")
    return 1 if failures else 0
