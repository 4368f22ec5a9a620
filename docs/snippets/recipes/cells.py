"""Runs notebook.py as a notebook does, with `await` at the top."""

import ast
import asyncio
from pathlib import Path

source = Path("notebook.py").read_text("utf-8")
asyncio.run(eval(compile(source, "notebook.py", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)))
