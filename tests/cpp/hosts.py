#!/usr/bin/env python3
"""Plays with the example hosts, as a user would: `hosts.py FOLDER [--serve ACP] [--under COMMAND]`.

FOLDER has the programs `acp-chat`, `acp-demo-cpp` (examples/cpp) and `acp-editor` (examples/c/editor). COMMAND, say
valgrind with its options, is put in front of each. With ACP, the program `acp`, the chat also talks to an agent that this
serves; it was built with libcurl then. Ends with `N passed, N failed`.
"""

import json
import os
import pty
import re
import select
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

FOLDER = os.path.abspath(sys.argv[1])
OPTIONS = dict(zip(sys.argv[2::2], sys.argv[3::2]))
UNDER = shlex.split(OPTIONS.get("--under", ""))
SERVE = OPTIONS.get("--serve")
PATIENCE = 120
ROGUE, ASKER = ([sys.executable, os.path.join(os.path.dirname(os.path.abspath(__file__)), name)]
                for name in ("rogue.py", "asker.py"))


def program(name):
    return [*UNDER, os.path.join(FOLDER, name)]


CHAT, DEMO, EDITOR = program("acp-chat"), program("acp-demo-cpp"), program("acp-editor")


class Failure(Exception):
    pass


def need(condition, what, seen=""):
    if not condition:
        raise Failure(f"{what}\n{seen}")


def run(command, typed=""):
    """Runs a program with its input in a pipe: its status, its output, its errors."""
    done = subprocess.run(command, input=typed, capture_output=True, text=True, timeout=PATIENCE, check=False)
    # valgrind tells of openat2, which it does not know; the library then does without.
    return done.returncode, done.stdout, re.sub(r"^--\d+-- .*\n", "", done.stderr, flags=re.MULTILINE)


def chat(folder, typed, *agent, version="1"):
    return run([*CHAT, "--cwd", folder, "--version", version, "--", *(agent or DEMO)], typed)


def in_order(text, *parts):
    """Each part is in the text, after the one before it."""
    at = 0
    for part in parts:
        found = text.find(part, at)
        need(found >= 0, f"missing: {part!r}", text)
        at = found + len(part)


def write(folder, name, content):
    path = os.path.join(folder, name)
    with open(path, "wb") as file:
        file.write(content if isinstance(content, bytes) else content.encode())
    return path


def content(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


class Terminal:
    """A program in a terminal of its own."""

    def __init__(self, command, folder="."):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.environ.pop("NO_COLOR", None)
            os.execvp(command[0], command)
        self.seen = ""
        self.read_to = 0

    def read_until(self, part):
        until = time.monotonic() + PATIENCE
        while part not in self.seen[self.read_to:]:
            need(time.monotonic() < until, f"never seen: {part!r}", self.seen)
            if select.select([self.fd], [], [], 1)[0]:
                self.seen += self.read()
        self.read_to = self.seen.index(part, self.read_to) + len(part)

    def read(self):
        try:
            data = os.read(self.fd, 65536)
        except OSError:
            data = b""
        if not data:
            raise Failure(f"the program has ended\n{self.seen}")
        return data.decode(errors="replace")

    def type(self, text):
        os.write(self.fd, text.encode())

    def end(self):
        try:
            while True:
                self.seen += self.read()
        except Failure:
            pass
        os.close(self.fd)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def a_turn_with_permission_and_without(folder):
    notes = write(folder, "notes.txt", "one\ntwo\n")
    status, out, errors = chat(folder, "hello\n1\nagain\n7\nx\n2\n")
    need(status == 0 and not errors, f"status {status}", out + errors)
    in_order(
        out, "A demonstration in C++\n", "> hello\n", "The user says: hello\n", "[~] Read the notes\n",
        "[ ] Add a line to notes.txt\n", f"    {notes}\n      one\n      two\n    + hello\n",
        "? May the agent go on: Add a line to notes.txt?\n  1) Yes, once\n  2) No\n? 1\n", f"wrote {notes}\n",
        "[x] Add a line to notes.txt\n", "Your words are in the file now.\n", "> again\n",
        "? 7\na number from 1 to 2\n", "? x\na number from 1 to 2\n", "? 2\n",
        "[!] Add a line to notes.txt\n", "Then I leave the file alone.\n",
    )
    need("\x1b" not in out, "colours outside a terminal", out)
    need(content(notes) == "one\ntwo\nhello\n", "another file", content(notes))


def an_agent_over_http(folder):
    """The same turn with an agent at an address, whose process ends with the chat."""
    write(folder, "notes.txt", "one\ntwo\n")
    command = [SERVE, "--quiet", "serve", "--listen", "127.0.0.1:0", "--", os.path.join(FOLDER, "acp-demo-cpp")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            url = server.stdout.readline().strip()
            status, out, errors = chat(folder, "hello\n1\n", url)
            need(status == 0 and not errors, f"status {status}", out + errors)
            in_order(out, f"(connecting to {url})\n", "A demonstration in C++\n", "The user says: hello\n",
                     "? May the agent go on: Add a line to notes.txt?\n", "Your words are in the file now.\n")
            need(content(os.path.join(folder, "notes.txt")) == "one\ntwo\nhello\n", "another file")
            # A server is there, and no agent.
            status, out, errors = chat(folder, "hello\n", url.replace("/acp", "/other"))
            need(status == 1 and "! not-served 404\n" in out, f"status {status}", out + errors)
        finally:
            server.kill()
    status, out, errors = chat(folder, "hello\n", "http://:")
    need(status == 2 and "no URL" in errors, f"status {status}", out + errors)


def modes_and_commands(folder):
    status, out, errors = chat(folder, ":mode free\nhello\n:mode other\n:quit\nnever\n")
    need(status == 0 and not errors, f"status {status}", out + errors)
    in_order(out, "mode: ask, of ask free\n", "> :mode free\n", "mode: free, of ask free\n",
             "[x] Add a line to notes.txt\n", "> :mode other\n", "! not sent: MODE-", "> :quit\n")
    need("May the agent" not in out and "never" not in out, "asked, or went on", out)
    need(content(os.path.join(folder, "notes.txt")) == "hello\n", "another file")


def a_question_without_an_answer(folder):
    # The user's input ends where the agent asks: nobody can answer, so the turn is cancelled.
    status, out, _ = chat(folder, "hello\n")
    need(status == 0, f"status {status}", out)
    in_order(out, "? May the agent go on", "(stopping)\n", "(the question is withdrawn)\n", "(cancelled)\n")
    need(not os.path.exists(os.path.join(folder, "notes.txt")), "a file was written")


def the_same_in_version_2(folder):
    # The agent reads and writes the file itself, as clients of version 2 have none to offer.
    notes = write(folder, "notes.txt", "one\ntwo\n")
    for version in ("2", "any"):
        write(folder, "notes.txt", "one\ntwo\n")
        status, out, errors = chat(folder, "hello\n1\nagain\n2\n:mode free\nmore\n:mode other\n:quit\n", version=version)
        need(status == 0 and not errors, f"status {status}", out + errors)
        in_order(
            out, "mode: ask, of ask free\n", "> hello\n", "The user says: hello\n", "[ ] Add a line to notes.txt\n",
            f"    {notes}\n      one\n      two\n    + hello\n", "? May the agent go on: Add a line to notes.txt?\n",
            "[x] Add a line to notes.txt\n", "Your words are in the file now.\n", "> again\n",
            "[!] Add a line to notes.txt\n", "Then I leave the file alone.\n", "> :mode free\n", "mode: free, of ask free\n",
            "    + more\n", "Your words are in the file now.\n", "> :mode other\n", "! not sent: CONF-", "> :quit\n")
        need("wrote " not in out, "the client has served a file", out)
        need(content(notes) == "one\ntwo\nhello\nmore\n", "another file", content(notes))
    status, out, _ = chat(folder, "hello\n", version="2")
    need(status == 0, f"status {status}", out)
    in_order(out, "? May the agent go on", "(stopping)\n", "(the question is withdrawn)\n", "(cancelled)\n")
    terminal = Terminal([*CHAT, "--cwd", folder, "--", *DEMO])
    terminal.read_until("> ")
    terminal.type("wait\n")
    terminal.read_until("Working until I am stopped.")
    terminal.type("\x03")
    terminal.read_until("(cancelled)")
    terminal.type("\x03")
    need(terminal.end() == 0, "another status", terminal.seen)


def a_terminal_and_ctrl_c(folder):
    terminal = Terminal([*CHAT, "--cwd", folder, "--version", "1", "--", *DEMO])
    terminal.read_until("> ")
    terminal.type("hello\n")
    terminal.read_until("\x1b[32m    + hello")
    terminal.read_until("? \x1b[0m")
    terminal.type("1\n")
    terminal.read_until("Your words are in the file now.")
    terminal.type("wait\n")
    terminal.read_until("Working until I am stopped.")
    terminal.type("\x03")
    terminal.read_until("(cancelled)")
    terminal.type("hello again\n")
    terminal.read_until("? \x1b[0m")
    terminal.type("\x03")
    terminal.read_until("(the question is withdrawn)")
    terminal.read_until("> ")
    # With no turn to stop, it is the program that ends.
    terminal.type("\x03")
    need(terminal.end() == 0, "another status", terminal.seen)


def agents_that_fail(folder):
    status, out, _ = chat(folder, "crash\nhello\n")
    need(status == 1, f"status {status}", out)
    in_order(out, "> crash\n", "! the agent has gone\n", "the agent ended with 3\n")
    status, out, _ = chat(folder, "hello\n", "sh", "-c", "echo noise; exit 4")
    need(status == 1, f"status {status}", out)
    in_order(out, "! the agent broke FRAME-04: ", "the agent ended with 4\n")
    status, _, errors = chat(folder, "hello\n", os.path.join(folder, "no-such-agent"))
    # Under a checker, a program only finds out afterwards that another one could not be started.
    need(status == 1 and (UNDER or "No such file" in errors), f"status {status}", errors)
    status, _, errors = run([*CHAT, "--cwd", os.path.join(folder, "none"), "--", "true"])
    need(status == 2 and "is no folder" in errors, f"status {status}", errors)
    need(run([*CHAT, "--cwd"])[0] == 2 and run([*CHAT, "--colour", "always"])[0] == 2, "usage")


def an_agent_that_never_speaks(folder):
    terminal = Terminal([*CHAT, "--cwd", folder, "--", *ROGUE, "--silent"])
    terminal.read_until("(starting ")
    terminal.type("\x03")
    need(terminal.end() == 0, "another status", terminal.seen)


def forbidden(folder):
    """A folder with things in it that lead elsewhere."""
    inner = os.path.join(folder, "inner")
    os.makedirs(os.path.join(inner, "folder"))
    outside = write(folder, "outside", "secret")
    write(inner, "inside", "open")
    write(inner, "bytes", b"\xff\xfe")
    os.symlink(outside, os.path.join(inner, "link"))
    os.symlink(os.path.join(folder, "new"), os.path.join(inner, "broken"))
    os.mkdir(os.path.join(folder, "apart"))
    os.symlink(os.path.join(folder, "apart"), os.path.join(inner, "way"))
    os.mkfifo(os.path.join(inner, "pipe"))
    return inner, outside


def check_rogue(out, inner_write):
    refused = ["fs/read_text_file /inside: done"]
    refused += [f"fs/read_text_file {path}: -32602" for path in ["/../outside", "/link", "", "/folder"]]
    in_order(out, *refused, "/missing: -32002", "/bytes: -32602", "/pipe: -32602")
    writes = ["/../outside", "/link", "/broken", "/folder"]
    in_order(out, *[f"fs/write_text_file {path}: {inner_write}" for path in writes])
    # A way up behind what is missing has no file in the end.
    missing = inner_write if inner_write == -32601 else -32002
    in_order(out, *[f"fs/write_text_file {path}: {missing}" for path in ["/none/../way/file", "/none/../way/a/b"]])
    in_order(out, *[f"fs/write_text_file {path}: {inner_write}" for path in ["/pipe", "/.git/config"]])
    in_order(out, "_test.dev/odd : -32601")
    need(not re.search("[\x00-\x08\x0b-\x1f\x7f\x80-\x9f]", out) and "cleared?" in out, "control characters", repr(out))


def nothing_outside(folder, outside):
    need(content(outside) == "secret" and not os.path.exists(os.path.join(folder, "new")), "a file outside was written")
    need(not os.listdir(os.path.join(folder, "apart")), "a file outside was made")
    made = set(os.listdir(os.path.join(folder, "inner"))) & {"none", ".git"}
    need(not made, f"{made} made")


def an_agent_that_tries_too_much(folder):
    inner, outside = forbidden(folder)
    status, out, errors = chat(inner, "2\ngo\n", *ROGUE)
    need(status == 0, f"status {status}", out + errors)
    in_order(out, "? How do you want to log in?\n  1) A key\n  2) A page\n? 2\n", "> go\n")
    check_rogue(out, -32602)
    in_order(out, "    one\n    \n    three\n")
    nothing_outside(folder, outside)


def several_agents_at_once(folder):
    inner, outside = forbidden(folder)
    agents = [*DEMO, "--", *ROGUE, "--no-login", "--", "sh", "-c", "echo noise; exit 4", "--", *DEMO]
    status, out, errors = run([*EDITOR, "--allow", "--cwd", inner, "hello", "--", *agents, "--", "/no/such"])
    need(status == 1 and not errors, f"status {status}", out + errors)
    name, rogue = os.path.basename(DEMO[0]), os.path.basename(ROGUE[0])
    for number in (1, 4):
        in_order(out, *[f"[{number} {name}] {line}" for line in
                        ["* Add a line to notes.txt\n", "Your words are in the file now.\n", "turn ended: end_turn\n"]])
    in_order(out, "[3 sh] broke FRAME-04: ", "[3 sh] failed: initialize: closed\n")
    in_order(out, "[5 such] failed: " if UNDER else "[5 such] failed: start: No such file")
    in_order(out, "3 of 5 agents have done their turn\n")
    check_rogue("".join(line + "\n" for line in out.splitlines() if line.startswith(f"[2 {rogue}]")), -32602)
    nothing_outside(folder, outside)
    need(content(os.path.join(inner, "notes.txt")) in ("hello\n", "hello\nhello\n"), "another file")


def agents_that_may_not(folder):
    inner, _ = forbidden(folder)
    status, out, _ = run([*EDITOR, "--cwd", inner, "hello", "--", *DEMO, "--", *ROGUE, "--no-login"])
    need(status == 0, f"status {status}", out)
    in_order(out, "? rejected: Add a line to notes.txt\n", "Then I leave the file alone.")
    check_rogue("".join(line + "\n" for line in out.splitlines() if line.startswith("[2 ")), -32601)
    status, out, _ = run([*EDITOR, "--cwd", inner, "hello", "--", *ROGUE])
    need(status == 1, f"status {status}", out)
    in_order(out, "failed: session/new: log in first\n", "0 of 1 agents")
    for wrong in (["x"], ["x", "--"], ["--cwd"], ["x", "--", "--", "true"], ["--odd", "x", "--", "true"]):
        need(run([*EDITOR, *wrong])[0] == 2, f"usage: {wrong}")


def titles_of_tool_calls(folder):
    # A request for permission names a tool call by its id; what the call is called came in updates before.
    status, out, _ = run([*EDITOR, "--allow", "--cwd", folder, "hello", "--", *ASKER])
    need(status == 0, f"status {status}", out)
    asked = [line.partition("] ? ")[2] for line in out.splitlines() if "] ? " in line]
    wanted = ["Call 299", "Call 44", "call-43", "Another title", "Of its own", "call-298", "call-none", "call-long",
              "Call 1?"]
    need(asked == [f"allowed: {title}" for title in wanted], "other titles", "\n".join(asked))
    status, out, _ = run([*EDITOR, "--cwd", folder, "hello", "--", *ASKER])
    need(status == 0 and "? rejected: Call 299\n" in out, f"status {status}", out)
    status, out, _ = chat(folder, "hello\n" + "1\n" * len(wanted), *ASKER)
    asked = re.findall(r"^\? May the agent go on: (.*)\?$", out, re.MULTILINE)
    # The view has all of them. Control characters are written out there.
    wanted[2], wanted[5], wanted[7], wanted[8] = "Call 43", "Call 298", "x" * 1025, "Call 1^["
    need(status == 0 and asked == wanted, "other titles in the chat", "\n".join(asked))


def ctrl_c_for_all_agents(folder):
    agents = [*DEMO, "--", *DEMO, "--", *ROGUE, "--silent"]
    command = [*EDITOR, "--allow", "--cwd", folder, "wait", "--", *agents]
    editor = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    watchdog = threading.Timer(PATIENCE, editor.kill)
    watchdog.start()
    out = ""
    # Two work, the third one never says a word: the first Ctrl-C stops the two, the second one all.
    for part in ("Working until I am stopped.\n", "turn ended: cancelled\n"):
        while out.count(part) < 2:
            line = editor.stdout.readline()
            need(line, f"never said twice: {part!r}", out)
            out += line
        editor.send_signal(signal.SIGINT)
    out += editor.communicate()[0]
    watchdog.cancel()
    need(editor.returncode == 1 and "2 of 3 agents" in out, f"status {editor.returncode}", out)


def alive(pid):
    try:
        return content(f"/proc/{pid}/stat").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def until_gone(pid, complaint, since=None):
    """Waits for the end of a process, for a second where time is measured: what was killed goes when the system gets to it."""
    since = since or time.monotonic()
    while alive(pid):
        need(time.monotonic() < since + (PATIENCE if UNDER else 1), complaint)
        time.sleep(0.01)


def quit_and_gone(terminal, file):
    """The user leaves; the process whose number is in the file ends."""
    asked, pid = time.monotonic(), int(content(file))
    terminal.type(":quit\n")
    terminal.end()
    until_gone(pid, "what was started is still there", asked)


def an_agent_behind_a_shell(folder):
    # The shell outlives its agent's input, and what it has started outlives the shell.
    pid = os.path.join(folder, "pid")
    for ways in ("", "trap '' TERM; "):
        shell = ["sh", "-c", f"{ways}sleep 60 & echo $! > {pid}; {shlex.join(DEMO)}; sleep 60; sleep 60"]
        terminal = Terminal([*CHAT, "--cwd", folder, "--", *shell])
        terminal.read_until("> ")
        terminal.type("wait\n")
        terminal.read_until("Working until I am stopped.")
        # Ctrl-C is the program's own: the agent goes on, and says that it has stopped.
        terminal.type("\x03")
        terminal.read_until("(cancelled)")
        need(alive(int(content(pid))), "the agent's child has not survived Ctrl-C")
        quit_and_gone(terminal, pid)
    command = [*EDITOR, "--cwd", folder, "hello", "--", *shell]
    status, out, errors = run(command)
    need(status == 0, f"status {status}", out + errors)
    until_gone(int(content(pid)), "the agent's child is still there, of the editor")


def an_agent_behind_npx(folder):
    if shutil.which("npx") is None:
        print("note: npx is not here: no agent is started through it")
        return
    pid = os.path.join(folder, "pid")
    installed(folder, "acp-demo", f"echo $$ > {pid}; {shlex.join(DEMO)}; sleep 60")
    terminal = Terminal([*CHAT, "--cwd", folder, "--", "npx", "--offline", "--no-install", "acp-demo"], folder)
    terminal.read_until("> ")
    need(alive(int(content(pid))), "npx has started something else")
    quit_and_gone(terminal, pid)


def installed(folder, name, script):
    """A package of that name, whose program is a script of the shell's, as `npm install` leaves it."""
    package = os.path.join(folder, "node_modules", name)
    programs = os.path.join(folder, "node_modules", ".bin")
    os.makedirs(package)
    os.makedirs(programs)
    with open(os.path.join(folder, "package.json"), "w", encoding="utf-8") as file:
        json.dump({"name": "host", "version": "1.0.0", "dependencies": {name: "1.0.0"}}, file)
    with open(os.path.join(package, "package.json"), "w", encoding="utf-8") as file:
        json.dump({"name": name, "version": "1.0.0", "bin": {name: "agent.sh"}}, file)
    program = os.path.join(package, "agent.sh")
    with open(program, "w", encoding="utf-8") as file:
        file.write(f"#!/bin/sh\n{script}\n")
    os.chmod(program, 0o755)
    os.symlink(os.path.join("..", name, "agent.sh"), os.path.join(programs, name))


TESTS = [
    an_agent_behind_a_shell,
    an_agent_behind_npx,
    a_turn_with_permission_and_without, modes_and_commands, a_question_without_an_answer,
    the_same_in_version_2, a_terminal_and_ctrl_c,
    agents_that_fail, an_agent_that_never_speaks, an_agent_that_tries_too_much, several_agents_at_once,
    agents_that_may_not, titles_of_tool_calls, ctrl_c_for_all_agents,
]


def main():
    passed = failed = 0
    for test in [*TESTS, *([an_agent_over_http] if SERVE else [])]:
        with tempfile.TemporaryDirectory() as folder:
            try:
                test(os.path.realpath(folder))
                passed += 1
            except (Failure, subprocess.TimeoutExpired, OSError) as problem:
                print(f"FAILED {test.__name__}: {problem}", flush=True)
                failed += 1
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


sys.exit(main())
