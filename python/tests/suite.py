"""Runs the unit tests beside this file, or in a folder, against the installed module; ends with ``N passed, N failed``."""

import sys
import unittest
from pathlib import Path

import libacp

HERE = Path(__file__).resolve().parent


def main() -> int:
    installed = Path(libacp.__file__).resolve()
    if HERE.parent in installed.parents:
        print(f"this tests the installed module, and {installed} is the source")
        return 1
    folder = sys.argv[1] if len(sys.argv) > 1 else str(HERE)
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=1).run(unittest.TestLoader().discover(folder))
    wrong = {str(test) for test, _ in [*result.failures, *result.errors]} | {str(each) for each in result.unexpectedSuccesses}
    passed = result.testsRun - len(wrong) - len(result.skipped)
    print(f"{passed} passed, {len(wrong)} failed")
    return 1 if wrong or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
