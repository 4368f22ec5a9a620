"""Puts the example proxy, and proxies that misbehave, between a client and an agent, in every host there is.

    python test_proxy.py PROXY.wasm HOST …

Everything is a real process. Ends with ``N passed, N failed``.
"""

import json
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from pathlib import Path

import wasmtime

HERE = Path(__file__).parent
MODULE, HOSTS = sys.argv[1], sys.argv[2:]
AGENT = [sys.executable, str(HERE / "agent.py")]
RULES = {"context": "Be brief.", "secret": "sk-", "refuse": ["rm"]}
INITIALIZE = {"protocolVersion": 1, "clientCapabilities": {"fs": {"readTextFile": True}, "terminal": True}}

# What misbehaves does so when it is told anything; the rest is as in a good proxy.
SKELETON = """(module (memory (export "memory") 1)
  (func (export "acp_proxy_input") (param i32) (result i32) i32.const 1024)
  (func (export "acp_proxy_start") (result i32) i32.const 0)
  (func (export "acp_proxy_receive") (param i32) (result i32) {0})
  (func (export "acp_proxy_receive_eof") (param i32) (result i32) i32.const 0)
  (func (export "acp_proxy_waiting") (param i32) (result i32) i32.const 0)
  (func (export "acp_proxy_output") (param i32) (result i32) i32.const 0)
  (func (export "acp_proxy_consume") (param i32 i32)))"""
LOOPS = "(loop $again br $again) unreachable"
TRAPS = "unreachable"
# Takes a page at a time, and fails when there is none: the host's limit must come before that of the engine.
HOARDS = "(loop $more (br_if $more (i32.ne (memory.grow (i32.const 1)) (i32.const -1)))) (i32.store (i32.const -4) (i32.const 1)) i32.const 0"


class Client:
    """A client in plain JSON on a host's standard streams."""

    def __init__(self, host, module, *options, rules=RULES, agent=AGENT):
        runner = ["node", host] if host.endswith(".mjs") else [sys.executable, host]
        command = [*runner, module, "--rules", json.dumps(rules), *options, "--", *agent]
        self.log = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log, text=True)
        self.timer = threading.Timer(30, self.process.kill)
        self.timer.start()
        self.told = []
        self.asked = []

    def send(self, message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.process.stdin.flush()

    def call(self, number, method, params):
        """Asks, serves what is asked back meanwhile, and gives the answer."""
        self.send({"id": number, "method": method, "params": params})
        while True:
            line = self.process.stdout.readline()
            assert line, f"the host ended: {self.errors()}"
            message = json.loads(line)
            if "method" not in message:
                assert message["id"] == number, message
                return message
            if "id" in message:
                self.asked.append(message)
                result = {"content": "sk-9"} if message["method"].startswith("fs/") else self.choice(message)
                self.send({"id": message["id"], "result": result})
            else:
                self.told.append(message["params"]["update"])

    @staticmethod
    def choice(message):
        return {"outcome": {"outcome": "selected", "optionId": message["params"]["options"][0]["optionId"]}}

    def open(self):
        assert self.call(1, "initialize", INITIALIZE)["result"]["protocolVersion"] == 1
        assert self.call(2, "session/new", {"cwd": "/work", "mcpServers": []})["result"]["sessionId"] == "s-1"

    def errors(self):
        self.log.seek(0)
        return self.log.read()

    def end(self):
        self.process.stdin.close()
        status = self.process.wait(20)
        self.timer.cancel()
        self.process.stdout.close()
        return status


def prompt(client, number=3):
    block = {"type": "text", "text": "Hello"}
    return client.call(number, "session/prompt", {"sessionId": "s-1", "prompt": [block]})


def assert_ended(client, answer):
    assert answer.get("result") == {"stopReason": "end_turn"}, (answer, client.errors())


def a_whole_turn(host):
    client = Client(host, MODULE)
    client.open()
    assert_ended(client, prompt(client))
    said = "".join(update["content"]["text"] for update in client.told if update["sessionUpdate"] == "agent_message_chunk")
    assert said.startswith("2 blocks, first: Be brief.the key is [redacted], keep it; so be it"), said
    assert said.endswith("bye [redacted]"), said
    everything = json.dumps(client.told)
    assert "sk-" not in everything, everything
    assert "cat [redacted]" in everything and "token=[redacted]" in everything, everything
    # The policy has answered for the client, in the agent's own terms.
    assert [message["method"] for message in client.asked] == ["session/request_permission", "fs/read_text_file"]
    assert '"optionId": "yes"' in said and '"optionId": "no"' in said, said
    assert "A policy of the proxy forbids this command" in said, said
    # Chunks keep their place among the other updates.
    kinds = [update["sessionUpdate"] for update in client.told]
    assert kinds.index("tool_call") > 3 and kinds[-1] == "agent_message_chunk", kinds
    assert client.call(4, "_proxy/counts", {})["result"] == {"refused": 2, "toolCalls": 2}
    # What the client may not send does not reach the agent, which would end with an error.
    assert client.call(5, "session/load", {"sessionId": "s-2", "cwd": "/", "mcpServers": []})["error"]["code"] == -32601
    assert client.end() == 0, client.errors()


def again_in_one_process(host):
    client = Client(host, MODULE)
    client.open()
    for number in range(3, 23):
        assert_ended(client, prompt(client, number))
    assert client.call(23, "_proxy/counts", {})["result"] == {"refused": 40, "toolCalls": 2}
    assert client.end() == 0, client.errors()


def an_agent_that_dies(host):
    client = Client(host, MODULE)
    client.open()
    error = client.call(3, "_agent/unknown", {})["error"]
    assert error["message"] == "No answer from the other side of the proxy", error
    assert client.end() != 0


def cut_off(body, why, *options):
    def test(host):
        with tempfile.NamedTemporaryFile(suffix=".wasm") as module:
            module.write(wasmtime.wat2wasm(SKELETON.format(body)))
            module.flush()
            client = Client(host, module.name, *options)
            began = time.monotonic()
            for number in (1, 2):
                answer = client.call(number, "initialize", INITIALIZE)
                assert answer["error"] == {"code": -32603, "message": f"The proxy was cut off: {why}"}, answer
            assert time.monotonic() - began < 10
            # The agent was never told anything: it ends well when its input does.
            assert client.end() == 0, client.errors()

    return test


def the_good_one_without_means(host):
    limits = ["--memory", str(1 << 18)]
    client = Client(host, MODULE, *limits)
    answer = client.call(1, "initialize", INITIALIZE)
    assert answer["error"]["message"].startswith("The proxy was cut off: "), answer
    assert client.end() == 0, client.errors()


def rules_that_are_none(host):
    client = Client(host, MODULE, rules={"contxt": "Be brief."})
    for number in (1, 2):
        message = client.call(number, "initialize", INITIALIZE)["error"]["message"]
        assert message.startswith("The proxy was cut off: it does not accept the rules: "), message
        assert "contxt" in message and "context" in message, message
    assert client.end() == 0, client.errors()


def a_module_that_is_missing(host):
    client = Client(host, "no-such.wasm")
    answer = client.call(1, "initialize", INITIALIZE)
    assert answer["error"]["message"].startswith("The proxy was cut off: "), answer
    assert client.end() == 0, client.errors()


def an_agent_that_is_missing(host):
    # While the client's side is open and silent, as it is before the first request.
    client = Client(host, MODULE, agent=["no-such-agent"])
    assert client.process.wait(20) == 127, client.errors()
    client.end()
    lines = client.errors().splitlines()
    assert len(lines) == 1 and lines[0].startswith("the agent cannot be started: no-such-agent: "), lines


def no_imports(_host):
    module = wasmtime.Module.from_file(wasmtime.Engine(), MODULE)
    assert not list(module.imports), [entry.name for entry in module.imports]


TESTS = {
    "a whole turn": a_whole_turn,
    "twenty turns": again_in_one_process,
    "an agent that dies": an_agent_that_dies,
    "a proxy that loops": cut_off(LOOPS, "it ran longer than it may"),
    "a proxy that traps": cut_off(TRAPS, "it failed"),
    "a proxy that hoards": cut_off(HOARDS, "it failed"),
    "too little memory": the_good_one_without_means,
    "rules that are none": rules_that_are_none,
    "a module that is missing": a_module_that_is_missing,
    "an agent that is missing": an_agent_that_is_missing,
    "nothing is imported": no_imports,
}


def main():
    passed = failed = 0
    for host in HOSTS:
        for name, test in TESTS.items():
            try:
                test(host)
                passed += 1
            except Exception:
                failed += 1
                print(f"{Path(host).name}: {name}:\n{traceback.format_exc()}", file=sys.stderr)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


sys.exit(main())
