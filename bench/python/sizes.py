"""What is installed with a module: `sizes.py MODULE`."""

from __future__ import annotations

import json
import re
import sys
from importlib import metadata
from typing import Any

DISTRIBUTIONS = {"libacp": "libacp", "acp": "agent-client-protocol"}


def installed(module: str) -> "dict[str, Any]":
    """The distribution and all that it requires. Without caches of compiled modules, which Python adds later."""
    found, waiting = {}, [DISTRIBUTIONS[module]]
    while waiting:
        name = re.sub(r"[-_.]+", "-", waiting.pop()).lower()
        if name in found:
            continue
        try:
            found[name] = distribution = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue  # Required on another platform, or with an extra.
        for requirement in distribution.requires or []:
            if "extra ==" not in requirement:
                match = re.match(r"[\w.-]+", requirement)
                assert match, requirement
                waiting.append(match.group())
    files = [file.locate() for each in found.values() for file in each.files or [] if file.suffix != ".pyc"]
    size = sum(path.stat().st_size for path in map(type(files[0]), files) if path.is_file())
    return {"bytes": size, "distributions": len(found)}


print(json.dumps(installed(sys.argv[1])))
