"""The agent of the ten tasks: it wants a login, has modes, and keeps its sessions in the folder TASKS_STORE."""

import asyncio
import os
from pathlib import Path

import libacp.aio

agent = libacp.aio.Agent("tasks", "1.0", auth_methods=[{"id": "key", "name": "Key"}])
STORE = Path(os.environ["TASKS_STORE"])
users = set()


@agent.on("authenticate")
async def authenticate(client, params):
    users.add(client)


# ANCHOR: mode
def modes(session):
    available = [{"id": "ask", "name": "Ask"}, {"id": "code", "name": "Code"}]
    return {"modes": {"currentModeId": session.data, "availableModes": available}}


@agent.on("session/set_mode")
async def set_mode(session, params):
    session.data = params["modeId"]


# ANCHOR_END: mode
@agent.new_session
async def begin(session):
    if session.client not in users:
        raise libacp.aio.RequestError(libacp.ErrorCode.AUTH_REQUIRED, "Log in first")
    session.data = "ask"
    return modes(session)


def file(id):
    # An id is the client's text: it must not lead out of the folder.
    return STORE / id.replace("/", "-")


@agent.load_session
async def load(session):
    session.data = "ask"
    for line in file(session.id).read_text("utf-8").splitlines():
        await session.update({"sessionUpdate": "user_message_chunk", "content": {"type": "text", "text": line}})
    return modes(session)


@agent.on("session/list")
async def list_sessions(client, params):
    kept = [{"sessionId": each.name, "cwd": os.getcwd(), "title": each.read_text("utf-8").strip()} for each in STORE.iterdir()]
    return {"sessions": [each for each in kept if params.get("cwd") in (None, each["cwd"])]}


# ANCHOR: tool
async def edit(turn):
    path = Path(turn.session.cwd, "tasks.txt")
    async with turn.tool_call("Edit tasks.txt", kind="edit", locations=[str(path)]) as call:
        await call.diff(str(path), "new\n", "old\n")
        if await call.ask_permission():  # otherwise the tool call has failed
            path.write_text("new\n", "utf-8")


# ANCHOR_END: tool
# ANCHOR: plan
async def plan(turn):
    await turn.plan(["Look", "Answer"])
    await turn.plan([{"content": "Look", "priority": "medium", "status": "completed"}, "Answer"])


# ANCHOR_END: plan
@agent.prompt
async def answer(turn):
    with file(turn.session.id).open("a", encoding="utf-8") as kept:
        kept.write(f"{turn.text}\n")
    if turn.text == "edit":
        await edit(turn)
    elif turn.text == "plan":
        await plan(turn)
    elif turn.text == "wait":
        await turn.message("Waiting.")
        await asyncio.sleep(60)
    elif turn.text == "die" and file(turn.session.id).read_text("utf-8") == "die\n":
        os._exit(1)
    for part in ("You ", "said ", f"{turn.text} as {turn.session.data}"):
        await turn.message(part)


agent.run()
