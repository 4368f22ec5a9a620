"""Runs an agent behind a proxy in a sandbox: ``python host.py PROXY.wasm [options] -- AGENT …``.

It looks like the agent to whoever starts it: standard input and output are the client's side. The proxy gets fuel for each
piece of input and no more memory than allowed. One that uses up either, or traps, is cut off: the client's open requests
and all later ones are answered with an error that says so, and the agent keeps running until the client ends.
"""

import argparse
import json
import os
import queue
import subprocess
import sys
import threading
from typing import Any, Dict, List, Optional, Tuple

import wasmtime

CLIENT, AGENT = 0, 1
PIECE = 64 * 1024


class CutOff(Exception):
    """The proxy did what it may not; the text is for the client."""


# ANCHOR: sandbox
class Sandbox:
    """One instance of the module, with nothing in it but what it is given here."""

    def __init__(self, module: str, rules: bytes, fuel: int, memory: int) -> None:
        config = wasmtime.Config()
        config.consume_fuel = True
        engine = wasmtime.Engine(config)
        self.fuel = fuel
        self.store = wasmtime.Store(engine)
        self.store.set_limits(memory_size=memory)
        self.store.set_fuel(fuel)
        try:
            instance = wasmtime.Instance(self.store, wasmtime.Module.from_file(engine, module), [])
            self.exports = instance.exports(self.store)
        except (OSError, wasmtime.Trap, wasmtime.WasmtimeError) as error:
            raise CutOff("it could not be loaded") from error
        self.write(rules)
        if self.call("acp_proxy_start") != 0:
            raise CutOff(f"it does not accept the rules: {self.problem()}")

    def problem(self) -> str:
        """What is wrong with the rules."""
        size = self.call("acp_proxy_problem_size")
        address = self.call("acp_proxy_problem")
        return bytes(self.exports["memory"].read(self.store, address, address + size)).decode()

    def call(self, name: str, *arguments: int) -> int:
        try:
            return self.exports[name](self.store, *arguments)
        except wasmtime.Trap as trap:
            if self.store.get_fuel() == 0:
                raise CutOff("it ran longer than it may") from trap
            raise CutOff("it failed") from trap

    def write(self, data: bytes) -> None:
        self.store.set_fuel(self.fuel)
        address = self.call("acp_proxy_input", len(data))
        self.exports["memory"].write(self.store, data, address)

    def receive(self, side: int, data: bytes) -> Tuple[bytes, bytes]:
        """Passes in what a side said, nothing for its end; returns what the client and the agent are to be told."""
        self.write(data)
        self.call("acp_proxy_receive" if data else "acp_proxy_receive_eof", side)
        return self.output(CLIENT), self.output(AGENT)

    def output(self, side: int) -> bytes:
        size = self.call("acp_proxy_waiting", side)
        address = self.call("acp_proxy_output", side)
        data = bytes(self.exports["memory"].read(self.store, address, address + size))
        self.call("acp_proxy_consume", side, size)
        return data
# ANCHOR_END: sandbox


class Open:
    """The client's requests that have no answer yet, for the day when the proxy cannot answer any more."""

    def __init__(self) -> None:
        self.ids: Dict[str, Any] = {}
        self.rest = {CLIENT: b"", AGENT: b""}

    def lines(self, side: int, data: bytes) -> List[Dict[str, Any]]:
        *whole, self.rest[side] = (self.rest[side] + data).split(b"\n")
        messages = []
        for line in whole:
            try:
                message = json.loads(line)
            except ValueError:
                continue
            if isinstance(message, dict) and "id" in message:
                messages.append(message)
        return messages

    def asked(self, data: bytes) -> None:
        for message in self.lines(CLIENT, data):
            if "method" in message:
                self.ids[json.dumps(message["id"])] = message["id"]

    def answered(self, data: bytes) -> None:
        for message in self.lines(AGENT, data):
            if "method" not in message:
                self.ids.pop(json.dumps(message["id"]), None)

    def errors(self, why: str) -> bytes:
        """Answers to all of them."""
        error = {"code": -32603, "message": f"The proxy was cut off: {why}"}
        answers = [json.dumps({"jsonrpc": "2.0", "id": number, "error": error}) for number in self.ids.values()]
        self.ids.clear()
        return "".join(answer + "\n" for answer in answers).encode()


def pump(side: int, stream: Any, pieces: "queue.Queue[Tuple[int, bytes]]") -> None:
    """Brings what a side says; an empty piece is its end. Waits while the queue is full, and so does the side.

    The descriptor itself is read: whoever waits in a buffered stream holds its lock, and an interpreter that ends meanwhile
    aborts.
    """
    while True:
        data = os.read(stream.fileno(), PIECE)
        pieces.put((side, data))
        if not data:
            return


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("proxy")
    parser.add_argument("--rules", default="{}", help="rules as JSON")
    parser.add_argument("--fuel", type=int, default=500_000_000, help="instructions for each piece of input")
    parser.add_argument("--memory", type=int, default=64 << 20, help="bytes")
    parser.add_argument("agent", nargs="+")
    options = parser.parse_args()

    try:
        agent = subprocess.Popen(options.agent, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    except OSError as error:
        print(f"the agent cannot be started: {options.agent[0]}: {error.strerror}", file=sys.stderr)
        return 127
    assert agent.stdin and agent.stdout
    pieces: "queue.Queue[Tuple[int, bytes]]" = queue.Queue(maxsize=16)
    for side, stream in ((CLIENT, sys.stdin.buffer), (AGENT, agent.stdout)):
        threading.Thread(target=pump, args=(side, stream, pieces), daemon=True).start()

    waiting = Open()
    sandbox: Optional[Sandbox] = None
    why = ""

    def tell(to_client: bytes, to_agent: bytes) -> None:
        waiting.answered(to_client)
        sys.stdout.buffer.write(to_client)
        sys.stdout.buffer.flush()
        if to_agent:
            try:
                agent.stdin.write(to_agent)
                agent.stdin.flush()
            except BrokenPipeError:
                pass  # Its end arrives as its own piece.

    def cut_off(error: CutOff) -> None:
        nonlocal sandbox, why
        sandbox, why = None, str(error)
        print(f"the proxy was cut off: {why}", file=sys.stderr)
        tell(waiting.errors(why), b"")

    try:
        sandbox = Sandbox(options.proxy, options.rules.encode(), options.fuel, options.memory)
    except CutOff as error:
        cut_off(error)
    while True:
        side, data = pieces.get()
        if side == CLIENT:
            waiting.asked(data)
        try:
            tell(*(sandbox.receive(side, data) if sandbox else (waiting.errors(why), b"")))
        except CutOff as error:
            cut_off(error)
        if side == CLIENT and not data:
            break
        if side == AGENT and not data:
            print("the agent has ended", file=sys.stderr)
    try:
        agent.stdin.close()
    except BrokenPipeError:
        pass
    return agent.wait()


if __name__ == "__main__":
    sys.exit(main())
