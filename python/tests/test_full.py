"""What there is no memory for is refused; the process and the connection go on."""

import os
import subprocess
import sys
import unittest
from pathlib import Path

CHILD = '''
import resource

import libacp
from pair import with_session

pair = with_session()
pair.client.request("session/prompt", {"sessionId": "s-1", "prompt": [{"type": "text", "text": "hi"}]})
pair.pump(pair.client)
asked = []
for _ in range(100):
    pair.agent.request("fs/read_text_file", {"sessionId": "s-1", "path": "/work/a"})
    asked.append(pair.one(pair.agent))
content = "0123456789abcde\\n" * 625_000
with open("/proc/self/statm") as status:
    size = int(status.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (size + 400 * 2**20, resource.RLIM_INFINITY))
taken, refused = 0, []
for request in asked:
    try:
        pair.client.respond(request, {"content": content})
        taken += 1
    except (libacp.LimitMisuse, MemoryError) as error:
        refused.append(error)
        break
assert refused and 5 < taken < 90, (taken, refused)
if isinstance(refused[0], libacp.LimitMisuse):
    assert refused[0].rule == "LIMIT-01", refused[0]
# What waits is written, and then there is room again.
sent = 0
while data := pair.client.data_to_send():
    sent += bytes(data).count(b"\\n")
assert sent == taken, (sent, taken)
pair.client.respond(asked[taken], {"content": content})
assert len(pair.client.unanswered) == 100 - taken - 1
print("ok", taken)
'''


@unittest.skipUnless(sys.platform == "linux", "limits of memory are those of Linux")
class Full(unittest.TestCase):
    def test_a_message_without_memory_is_refused(self) -> None:
        here = str(Path(__file__).resolve().parent)
        environment = {**os.environ, "PYTHONPATH": here}
        ran = subprocess.run([sys.executable, "-c", CHILD], env=environment, capture_output=True, text=True, timeout=60)
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        self.assertTrue(ran.stdout.startswith("ok"))
