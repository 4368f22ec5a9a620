"""Asks an installed wheel what its users would: run by `cargo xtask release wheels` with the version and the wheel's name."""

import importlib.metadata
import importlib.resources
import sys

version, wheel = sys.argv[1:]
metadata = importlib.metadata.metadata("libacp")
assert metadata["Version"] == version, metadata["Version"]
assert wheel.startswith(f"libacp-{version}-cp39-abi3-"), wheel
assert {"Repository", "Documentation", "Changelog"} <= {
    url.split(",")[0] for url in metadata.get_all("Project-URL", [])
}, metadata.get_all("Project-URL")
assert metadata.get_all("Requires-Dist") is None, "it depends on something"
names = {path.name for path in importlib.resources.files("libacp").iterdir()}
assert {"py.typed", "_native.pyi"} <= names, names

import libacp  # noqa: E402
import libacp.aio  # noqa: E402

client, agent = libacp.Connection("client"), libacp.Connection("agent")
client.request("initialize", {})
agent.receive_data(client.data_to_send())
for event in agent.events():
    agent.respond(event, {"agentInfo": {"name": "a", "version": "1"}})
client.receive_data(agent.data_to_send())
answers = [event for event in client.events() if isinstance(event, libacp.Response)]
assert [answer.method for answer in answers] == ["initialize"], answers
assert client.why_not("session/load").rule == "SESS-09"
