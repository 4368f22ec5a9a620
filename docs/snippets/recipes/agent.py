"""An agent with a login, modes, an option, sessions that last, and MCP servers: what the recipes show, in one program."""

import json
import os
import re
import uuid
from pathlib import Path

import libacp.aio

agent = libacp.aio.Agent(
    "recipes",
    "1.0",
    # ANCHOR: methods
    auth_methods=[{"id": "token", "name": "Token", "description": "The token in RECIPES_TOKEN"}],
    # ANCHOR_END: methods
    # ANCHOR: http
    capabilities={"mcpCapabilities": {"http": True}},
    # ANCHOR_END: http
)

# ANCHOR: store
STORE = Path(os.environ.get("RECIPES_STORE", "sessions"))


def save(session):
    STORE.mkdir(exist_ok=True)
    file = STORE / f"{session.id}.json"
    half = file.with_suffix(".new")
    half.write_text(json.dumps({**session.data, "cwd": session.cwd}), "utf-8")
    # Whoever reads it finds the old text or the new one.
    half.replace(file)


def read(id):
    # An id is the client's text: it must not lead out of the folder, nor to another file.
    if not re.fullmatch("[0-9a-f]{32}", id) or not (STORE / f"{id}.json").exists():
        raise libacp.aio.RequestError(libacp.ErrorCode.RESOURCE_NOT_FOUND, "No such session", {"sessionId": id})
    return json.loads((STORE / f"{id}.json").read_text("utf-8"))


# ANCHOR_END: store
# ANCHOR: login
logged_in = False


@agent.on("authenticate")
async def authenticate(client, params):
    global logged_in
    if not os.environ.get("RECIPES_TOKEN"):
        raise libacp.aio.RequestError(libacp.ErrorCode.AUTH_REQUIRED, "RECIPES_TOKEN is not set")
    logged_in = True


def need_login():
    if not logged_in:
        raise libacp.aio.RequestError(libacp.ErrorCode.AUTH_REQUIRED, "Log in first")


# ANCHOR_END: login
# ANCHOR: options
def settings(session):
    """What a session can be set to, as it is now."""
    return {
        "modes": {
            "currentModeId": session.data["mode"],
            "availableModes": [{"id": "ask", "name": "Ask"}, {"id": "code", "name": "Code"}],
        },
        "configOptions": [
            {
                "id": "model",
                "name": "Model",
                "category": "model",
                "type": "select",
                "currentValue": session.data["model"],
                "options": [{"value": "small", "name": "Small"}, {"value": "large", "name": "Large"}],
            }
        ],
    }


@agent.on("session/set_mode")
async def set_mode(session, params):
    session.data["mode"] = params["modeId"]  # one of those above: others are refused before this is called
    save(session)


@agent.on("session/set_config_option")
async def set_option(session, params):
    session.data[params["configId"]] = params["value"]
    save(session)
    return {"configOptions": settings(session)["configOptions"]}


# ANCHOR_END: options
# ANCHOR: sessions
@agent.new_session
async def begin(session):
    need_login()
    id = uuid.uuid4().hex
    session.data = {"mode": "ask", "model": "small", "said": []}
    return {"sessionId": id, **settings(session)}


@agent.load_session
async def load(session):
    need_login()
    session.data = read(session.id)
    for who, text in session.data["said"]:
        await session.update({"sessionUpdate": f"{who}_message_chunk", "content": {"type": "text", "text": text}})
    return settings(session)


@agent.resume_session
async def resume(session):
    need_login()
    session.data = read(session.id)
    return settings(session)  # the client has the past still: nothing is replayed


@agent.on("session/list")
async def list_sessions(client, params):
    need_login()
    kept = [{"sessionId": file.stem, "cwd": read(file.stem)["cwd"]} for file in sorted(STORE.glob("*.json"))]
    return {"sessions": [each for each in kept if params.get("cwd") in (None, each["cwd"])]}


# ANCHOR_END: sessions
# ANCHOR: mcp
def servers(session):
    """The session's MCP servers, each as a client for MCP wants it."""
    for server in session.mcp_servers:
        if "url" in server:
            yield server["name"], server["url"], {each["name"]: each["value"] for each in server["headers"]}
        else:
            environment = {each["name"]: each["value"] for each in server["env"]}
            yield server["name"], [server["command"], *server["args"]], environment


# ANCHOR_END: mcp
@agent.prompt
async def answer(turn):
    data = turn.session.data
    names = ", ".join(name for name, _, _ in servers(turn.session)) or "no servers"
    text = f"{data['mode']}, {data['model']}, {names}: {turn.text}"
    await turn.message(text)
    data["said"] += [("user", turn.text), ("agent", text)]
    save(turn.session)


if __name__ == "__main__":
    agent.run()
