"""Serves an ASGI application until standard input ends: ``serve.py SERVER MODULE PORT WAY``."""

import subprocess
import sys
from pathlib import Path
from typing import Dict, List

SERVERS: Dict[str, List[str]] = {
    "uvicorn": ["--port", "{port}", "--log-level", "error", "--timeout-graceful-shutdown", "1"],
    "hypercorn": ["--bind", "127.0.0.1:{port}", "--graceful-timeout", "1"],
    "granian": ["--interface", "asgi", "--port", "{port}", "--no-log"],
}

_, server, module, port, _ = sys.argv
arguments = [each.format(port=port) for each in SERVERS[server]]
process = subprocess.Popen([sys.executable, "-B", "-m", server, f"{module}:app", *arguments], cwd=Path(__file__).parent)
sys.stdin.read()
process.terminate()
try:
    process.wait(5)
except subprocess.TimeoutExpired:
    process.kill()
