#!/usr/bin/env python3
"""Plays with the programs of the README and the book, as their readers have copied them: `copied.py FOLDER`.

FOLDER has `c-agent`, `c-client`, `cpp-agent` and `cpp-client`. Ends with `N passed, N failed`.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

FOLDER = Path(sys.argv[1]).resolve()
ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 60
# What a client lets an agent wait that does not read, and how much either says meanwhile.
LARGE = "x" * 300_000


class Talk:
    """An agent and what is said to it."""

    def __init__(self, program):
        self.process = subprocess.Popen([FOLDER / program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.watchdog = threading.Timer(PATIENCE, self.process.kill)
        self.watchdog.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.watchdog.cancel()
        self.process.kill()
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()

    def say(self, **message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()

    def hear(self):
        line = self.process.stdout.readline()
        assert line, f"the agent is silent, and ended with {self.process.poll()}"
        return json.loads(line)

    def ask(self, number, method, **params):
        """The answer, and the updates before it."""
        self.say(id=number, method=method, params=params)
        updates = []
        while True:
            heard = self.hear()
            if heard.get("id") == number:
                return heard, updates
            updates.append(heard["params"])

    def begin(self):
        """With a client that has nothing to offer."""
        answer, _ = self.ask(0, "initialize", protocolVersion=1)
        return answer["result"]

    def session(self, number):
        answer, _ = self.ask(number, "session/new", cwd="/", mcpServers=[])
        return answer["result"]["sessionId"]


def text(prompt):
    return [{"type": "text", "text": prompt}]


def an_agent_serves_sessions(agent, _client, _folder):
    with Talk(agent) as talk:
        info = talk.begin()["agentInfo"]
        assert info["name"] and info["version"], info
        sessions = [talk.session(number) for number in (1, 2, 3)]
        assert len(set(sessions)) == 3, sessions
        for number, session in enumerate([*sessions, *sessions], 10):
            answer, updates = talk.ask(number, "session/prompt", sessionId=session, prompt=text(f"hello {number}"))
            assert answer["result"] == {"stopReason": "end_turn"}, answer
            (update,) = updates
            assert update["sessionId"] == session and update["update"]["content"]["text"] == f"hello {number}", update


def an_agent_answers_everything(agent, _client, _folder):
    with Talk(agent) as talk:
        # Too early, of a session that does not exist, of a method that it does not serve, and without a text.
        early, _ = talk.ask(1, "session/new", cwd="/", mcpServers=[])
        assert early["error"]["code"] == -32600, early
        talk.begin()
        nowhere, _ = talk.ask(2, "session/prompt", sessionId="nowhere", prompt=text("hello"))
        assert nowhere["error"], nowhere
        unknown, _ = talk.ask(3, "_example.com/x")
        assert unknown["error"]["code"] == -32601 and unknown["error"]["data"]["method"] == "_example.com/x", unknown
        session = talk.session(4)
        answer, _ = talk.ask(5, "session/prompt", sessionId=session, prompt=[])
        assert answer["result"] == {"stopReason": "end_turn"}, answer


def both_write_to_an_agent(agent, _client, _folder):
    with Talk(agent) as talk:
        talk.begin()
        session = talk.session(1)
        # Nothing of what it says is read until all has been said, far more than pipes hold.
        numbers = range(2, 8)
        for number in numbers:
            talk.say(id=number, method="session/prompt", params={"sessionId": session, "prompt": text(LARGE)})
        told, answers = 0, 0
        while answers < len(numbers):
            heard = talk.hear()
            if "method" in heard:
                told += heard["params"]["update"]["content"]["text"] == LARGE
            else:
                answers += 1
        assert told >= 1, told


def an_agent_ends_with_its_input(agent, _client, _folder):
    with Talk(agent) as talk:
        talk.begin()
        talk.process.stdin.close()
        assert talk.process.wait(2) == 0
    with Talk(agent) as talk:
        talk.begin()
        session = talk.session(1)
        talk.say(id=2, method="session/prompt", params={"sessionId": session, "prompt": text(LARGE)})
        # Nobody reads the rest, and nobody will.
        talk.process.stdin.close()
        assert talk.process.wait(5) == 0


# Says much before it reads the prompt, and says who it is.
TALKER = """
import json, os, sys
def say(**message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\\n")
    sys.stdout.flush()
def hear():
    return json.loads(sys.stdin.readline())
open(sys.argv[1], "w").write(str(os.getpgrp()))
say(id=hear()["id"], result={"protocolVersion": 1})
say(id=hear()["id"], result={"sessionId": "s"})
for _ in range(20):
    say(method="session/update", params={"sessionId": "s", "update": {"sessionUpdate": "session_info_update", "title": "x" * 100_000}})
prompt = hear()
length = len(prompt["params"]["prompt"][0]["text"])
say(method="session/update", params={"sessionId": "s", "update": {"sessionUpdate": "agent_message_chunk",
    "content": {"type": "text", "text": str(length)}}})
say(id=prompt["id"], result={"stopReason": "end_turn"})
"""


def both_write_to_a_client(_agent, client, folder):
    group = Path(folder, "group")
    command = [FOLDER / client, sys.executable, "-c", TALKER, group]
    done = subprocess.run(command, input=LARGE, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.stdout == f"{len(LARGE)}\n(end_turn)\n", done
    # Ctrl-C is not for the agent.
    assert int(group.read_text()) != os.getpgrp()


# Says a word, and goes on when the file is there.
WORD = """
import json, os, sys, time
def say(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
def hear():
    return json.loads(sys.stdin.readline())
say(id=hear()["id"], result={"protocolVersion": 1})
say(id=hear()["id"], result={"sessionId": "s"})
prompt = hear()
say(method="session/update", params={"sessionId": "s", "update": {"sessionUpdate": "agent_message_chunk",
    "content": {"type": "text", "text": "word"}}})
while not os.path.exists(sys.argv[1]):
    time.sleep(0.01)
say(id=prompt["id"], result={"stopReason": "end_turn"})
"""


def words_are_shown_as_they_come(_agent, client, folder):
    go_on = Path(folder, "go-on")
    command = [FOLDER / client, sys.executable, "-c", WORD, go_on]
    # When nobody has seen the word for so long, the agent goes on.
    late = threading.Timer(20, go_on.touch)
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdin.close()
        late.start()
        word = process.stdout.read(4)
        seen = not go_on.exists()
        late.cancel()
        go_on.touch()
        rest = process.stdout.read()
    assert (word, seen, rest) == (b"word", True, b"\n(end_turn)\n"), (word, seen, rest)


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def nothing_is_left_behind_a_shell(agent, client, folder):
    pid = Path(folder, "pid")
    script = f'sleep 60 & echo $! > "{pid}"; "{FOLDER / agent}"; sleep 60'
    command = [FOLDER / client, "sh", "-c", script]
    done = subprocess.run(command, input="Hello", stdout=subprocess.PIPE, text=True, timeout=PATIENCE, check=False)
    assert done.stdout == "Hello\n(end_turn)\n", done
    time.sleep(0.3)
    assert not alive(int(pid.read_text())), "the agent's child is still there"


def the_readme_has_the_books_agent(agent, _client, _folder):
    language = agent.partition("-")[0]
    block = re.search(rf"\n```{language}\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)
    source = ROOT / "docs" / "snippets" / language / f"agent.{language}"
    assert block.group(1) == source.read_text("utf-8"), f"README.md and {source} differ"


TESTS = [
    an_agent_serves_sessions, an_agent_answers_everything, both_write_to_an_agent, an_agent_ends_with_its_input,
    both_write_to_a_client, words_are_shown_as_they_come, nothing_is_left_behind_a_shell,
    the_readme_has_the_books_agent,
]


def main():
    passed = failed = 0
    for language in ("c", "cpp"):
        for test in TESTS:
            with tempfile.TemporaryDirectory() as folder:
                try:
                    test(f"{language}-agent", f"{language}-client", folder)
                    passed += 1
                except (AssertionError, OSError, ValueError, KeyError, subprocess.TimeoutExpired) as problem:
                    print(f"FAILED {test.__name__} {language}: {str(problem)[:2000]}", flush=True)
                    failed += 1
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


sys.exit(main())
