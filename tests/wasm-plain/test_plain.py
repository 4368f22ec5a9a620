"""Drives libacp.wasm, the C interface as a plain WebAssembly module, through its exported functions alone.

    python test_plain.py MODULE.wasm ACP.H SCRIPT.json

The host here is wasmtime, but nothing it does is special: the module imports nothing, so any engine can do the same.
Ends with ``N passed, N failed``.
"""

from __future__ import annotations

import gzip
import json
import re
import struct
import sys
import traceback
from pathlib import Path
from typing import Any, Callable

import wasmtime

OK, NONE, MISUSE, INVALID_ARGUMENT, SHORT_BUFFER = 0, 1, -1, -2, -4
CLIENT, AGENT = 1, 2
REQUEST, NOTIFICATION, RESPONSE, CLOSED = 1, 2, 3, 7
MODULE, HEADER, SCRIPT = (Path(argument) for argument in sys.argv[1:4])


class Failed(Exception):
    """A call that returned another status than ACP_OK."""

    def __init__(self, name: str, status: int) -> None:
        super().__init__(f"{name} returned {status}")
        self.status = status


class Library:
    """One instance of the module. Texts go in as pairs of address and length in its memory, and come out so."""

    def __init__(self) -> None:
        self.store = wasmtime.Store()
        self.module = wasmtime.Module.from_file(self.store.engine, str(MODULE))
        self.exports = wasmtime.Instance(self.store, self.module, []).exports(self.store)
        self.memory = self.exports["memory"]
        self.slot = self.alloc(16)

    def raw(self, name: str, *arguments: int) -> int:
        return self.exports[name](self.store, *arguments)

    def alloc(self, size: int) -> int:
        address = self.raw("acp_alloc", size)
        assert address > 0 and address % 8 == 0
        return address

    def free(self, address: int, size: int) -> None:
        self.raw("acp_free", address, size)

    def read(self, address: int, size: int) -> bytes:
        return bytes(self.memory.read(self.store, address, address + size))

    def call(self, name: str, *arguments: Any) -> None:
        """Calls a function; texts and bytes are passed as slices that live as long as the call."""
        held: list[tuple[int, int]] = []
        passed = []
        for argument in arguments:
            if isinstance(argument, (str, bytes)):
                data = argument.encode() if isinstance(argument, str) else argument
                # A slice is a struct, and those are passed by address: its bytes lie behind it.
                size = 8 + len(data)
                address = self.alloc(size)
                self.memory.write(self.store, struct.pack("<II", address + 8, len(data)) + data, address)
                held.append((address, size))
                argument = address
            passed.append(argument)
        try:
            status = self.raw(name, *passed)
        finally:
            for address, size in held:
                self.free(address, size)
        if status != OK:
            raise Failed(name, status)

    def value(self, form: str, name: str, *arguments: Any) -> int:
        """Calls a function whose output is a number or a handle."""
        self.call(name, *arguments, self.slot)
        return struct.unpack("<" + form, self.read(self.slot, struct.calcsize("<" + form)))[0]

    def text(self, name: str, *arguments: Any) -> str | None:
        """Calls a function whose output is a slice; None where there is no such value."""
        try:
            self.call(name, *arguments, self.slot)
        except Failed as failed:
            if failed.status == NONE:
                return None
            raise
        address, size = struct.unpack("<II", self.read(self.slot, 8))
        return self.read(address, size).decode()


class Peer:
    """A connection, and what a host does with it."""

    def __init__(self, library: Library, role: int) -> None:
        self.library = library
        config = library.value("I", "acp_config_new", role)
        self.handle = library.value("I", "acp_connection_new", config)
        library.raw("acp_config_free", config)

    def request(self, method: str, params: Any) -> int:
        return self.library.value("Q", "acp_connection_request", self.handle, method, json.dumps(params))

    def respond(self, serial: int, result: Any) -> None:
        self.library.call("acp_connection_respond", self.handle, serial, json.dumps(result))

    def notify(self, method: str, params: Any) -> None:
        self.library.call("acp_connection_notify", self.handle, method, json.dumps(params))

    def take(self) -> bytes:
        waits = (self.library.text("acp_connection_transmit", self.handle) or "").encode()
        self.library.call("acp_connection_consume", self.handle, len(waits))
        return waits

    def receive(self, data: bytes) -> None:
        self.library.call("acp_connection_receive", self.handle, data)

    def events(self) -> list[dict[str, Any]]:
        events = []
        while True:
            try:
                event = self.library.value("I", "acp_connection_poll_event", self.handle)
            except Failed as failed:
                assert failed.status == NONE
                return events
            seen = {"kind": self.library.value("i", "acp_event_kind", event)}
            for member in ("method", "session", "update", "params", "result", "id", "rule"):
                seen[member] = self.library.text(f"acp_event_{member}", event)
            if seen["kind"] in (REQUEST, RESPONSE):
                seen["serial"] = self.library.value("Q", "acp_event_serial", event)
            self.library.raw("acp_event_free", event)
            events.append(seen)


def move(source: Peer, target: Peer, kind: int, method: str) -> dict[str, Any]:
    """Carries the bytes from one peer to the other, one by one, and returns the one event that they make."""
    for byte in source.take():
        target.receive(bytes([byte]))
    (event,) = target.events()
    assert (event["kind"], event["method"]) == (kind, method), event
    return event


def greeted(library: Library) -> tuple[Peer, Peer]:
    client, agent = Peer(library, CLIENT), Peer(library, AGENT)
    asked = client.request("initialize", {"clientCapabilities": {"fs": {"readTextFile": True}}})
    agent.respond(move(client, agent, REQUEST, "initialize")["serial"], {"agentCapabilities": {"loadSession": True}})
    assert move(agent, client, RESPONSE, "initialize")["serial"] == asked
    return client, agent


def imports_nothing() -> None:
    assert [f"{item.module}.{item.name}" for item in Library().module.imports] == []


def exports_the_header() -> None:
    declared = set(re.findall(r"^\w[\w *]*?\b(acp_\w+)\(", HEADER.read_text(), re.M))
    inline = set(re.findall(r"^static inline \w+ (acp_\w+)\(", HEADER.read_text(), re.M))
    exported = {item.name for item in Library().module.exports if item.name.startswith("acp_")}
    assert len(declared) > 100
    # What is defined in the header itself is not in the module.
    assert "acp_text" in inline and declared - exported == inline, declared - exported
    assert exported - declared == {"acp_alloc", "acp_free"}, exported - declared


def whole_conversation() -> None:
    library = Library()
    client, agent = greeted(library)
    assert library.value("H", "acp_connection_version", client.handle) == 1
    assert library.text("acp_connection_capabilities", client.handle) == '{"loadSession": true}'
    client.request("session/new", {"cwd": "/work", "mcpServers": []})
    agent.respond(move(client, agent, REQUEST, "session/new")["serial"], {"sessionId": "s-1"})
    move(agent, client, RESPONSE, "session/new")
    text = "Grüße \u2028 🦀 " + "x" * 100_000
    asked = client.request("session/prompt", {"sessionId": "s-1", "prompt": [{"type": "text", "text": text}]})
    client_bytes = client.take()
    agent.receive(client_bytes)
    (prompt,) = agent.events()
    assert json.loads(prompt["params"])["prompt"][0]["text"] == text
    chunk = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "Hello"}}
    agent.notify("session/update", {"sessionId": "s-1", "update": chunk})
    update = move(agent, client, NOTIFICATION, "session/update")
    assert (update["session"], update["update"]) == ("s-1", "agent_message_chunk")
    assert json.loads(update["params"])["update"] == chunk
    read = agent.request("fs/read_text_file", {"sessionId": "s-1", "path": "/work/a"})
    client.respond(move(agent, client, REQUEST, "fs/read_text_file")["serial"], {"content": "a\n"})
    assert move(client, agent, RESPONSE, "fs/read_text_file")["serial"] == read
    agent.respond(prompt["serial"], {"stopReason": "end_turn"})
    answer = move(agent, client, RESPONSE, "session/prompt")
    assert (answer["serial"], json.loads(answer["result"])) == (asked, {"stopReason": "end_turn"})
    for peer in (client, agent):
        library.call("acp_connection_receive_eof", peer.handle)
        assert [event["kind"] for event in peer.events()] == [CLOSED]
        library.raw("acp_connection_free", peer.handle)


def refuses_what_is_wrong() -> None:
    library = Library()
    client, agent = greeted(library)

    def status(name: str, *arguments: Any) -> int:
        try:
            library.call(name, *arguments)
        except Failed as failed:
            return failed.status
        return OK

    assert status("acp_connection_receive", 0, b"{}") == INVALID_ARGUMENT
    assert status("acp_connection_new", 0, library.slot) == INVALID_ARGUMENT
    assert status("acp_config_new", 9, library.slot) == INVALID_ARGUMENT
    assert status("acp_connection_notify", client.handle, b"\xff", "{}") == INVALID_ARGUMENT
    terminal = {"sessionId": "s-1", "command": "ls"}
    assert status("acp_connection_request", agent.handle, "terminal/create", json.dumps(terminal), library.slot) == MISUSE
    assert library.text("acp_connection_error_rule", agent.handle) not in (None, "")
    assert agent.take() == b""
    client.receive(b"not JSON\n")
    (violation,) = client.events()
    assert violation["rule"]


def long_lives_do_not_grow() -> None:
    library = Library()
    client, agent = greeted(library)

    def turn() -> None:
        for _ in range(200):
            asked = client.request("_x/echo", {"text": "x" * 5000})
            agent.receive(client.take())
            (event,) = agent.events()
            agent.respond(event["serial"], json.loads(event["params"]))
            client.receive(agent.take())
            assert client.events()[0]["serial"] == asked

    turn()
    before = library.memory.data_len(library.store)
    turn()
    assert library.memory.data_len(library.store) == before


def reads_the_interop_script() -> None:
    library = Library()
    script = SCRIPT.read_bytes()
    expected = json.loads(script)
    assert library.value("Q", "acp_json_uint64", script, "/totals/updates") == expected["totals"]["updates"]
    steps = library.value("I", "acp_json_len", script, "/steps")
    assert steps == len(expected["steps"])
    size = len(expected["steps"][0]["request"])
    buffer = library.alloc(size)
    assert library.value("I", "acp_json_string", script, "/steps/0/request", buffer, size) == size
    assert library.read(buffer, size).decode() == expected["steps"][0]["request"]
    try:
        library.call("acp_json_string", script, "/steps/0/request", buffer, size - 1, library.slot)
        raise AssertionError("a buffer that is too small was accepted")
    except Failed as failed:
        assert failed.status == SHORT_BUFFER


TESTS: list[Callable[[], None]] = [
    imports_nothing,
    exports_the_header,
    whole_conversation,
    refuses_what_is_wrong,
    long_lives_do_not_grow,
    reads_the_interop_script,
]


def main() -> int:
    failed = 0
    for test in TESTS:
        try:
            test()
        except Exception:  # noqa: BLE001
            failed += 1
            print(f"FAILED {test.__name__}")
            traceback.print_exc()
    data = MODULE.read_bytes()
    print(f"{MODULE.name}: {len(data)} bytes, {len(gzip.compress(data, 9))} gzipped")
    print(f"{len(TESTS) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
