"""Runs a program in a terminal of its own, and presses Ctrl-C once it says "ready": python3 terminal.py COMMAND ARGUMENT…

Prints what the terminal shows, and ends as the program does.
"""

import os
import pty
import sys

CTRL_C = b"\x03"

child, terminal = pty.fork()
if child == 0:
    os.execvp(sys.argv[1], sys.argv[1:])

shown = b""
pressed = False
while True:
    try:
        piece = os.read(terminal, 4096)
    except OSError:
        # Linux says so that nobody is at the other end any more.
        break
    if not piece:
        break
    shown += piece
    if not pressed and b"ready" in shown:
        os.write(terminal, CTRL_C)
        pressed = True

_, status = os.waitpid(child, 0)
sys.stdout.buffer.write(shown.replace(b"\r\n", b"\n"))
sys.exit(os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status))
