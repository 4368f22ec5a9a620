"""The server and the client of the README, as they stand there, but for the port."""

import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from serving import HERE, serving

README = HERE.parents[1] / "README.md"


class Readme(unittest.TestCase):
    def test_the_server_and_the_client(self) -> None:
        blocks = re.findall(r"```python\n(.*?)```", README.read_text("utf-8"), re.DOTALL)
        (server,) = [block for block in blocks if "libacp.http.asgi" in block]
        (client,) = [block for block in blocks if "http://127.0.0.1:8000/acp" in block]
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "readme_server.py").write_text(server)
            with serving("uvicorn", "readme_server:app", {"PYTHONPATH": folder}) as served:
                program = client.replace("http://127.0.0.1:8000/acp", served.url())
                done = subprocess.run([sys.executable, "-c", program], text=True, capture_output=True, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        events = [line for line in done.stdout.splitlines() if line.startswith("{")]
        self.assertIn("connected", events[0])
        self.assertEqual([line for line in done.stdout.splitlines() if line not in events], ["hello"])


if __name__ == "__main__":
    unittest.main()
