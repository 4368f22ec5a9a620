"""Ten tasks of clients and agents: ``tasks.py COMMAND ...``."""

import asyncio
import os
import sys

import libacp
import libacp.aio


# ANCHOR: login
async def login(agent, cwd):
    """A session, after a login where it needs one."""
    try:
        return await agent.new_session(cwd)
    except libacp.PeerError as error:
        if error.code != libacp.ErrorCode.AUTH_REQUIRED:
            raise
    await agent.authenticate(agent.auth_methods[0]["id"])
    return await agent.new_session(cwd)


# ANCHOR_END: login
# ANCHOR: stream
async def stream(session):
    async for update in session.prompt("Hello"):
        if update["sessionUpdate"] == "agent_message_chunk":
            print(update["content"].get("text", ""), end="", flush=True)
    print()


# ANCHOR_END: stream
# ANCHOR: tool
async def permit(request):
    return request.allow() if request.tool_call.get("kind") != "delete" else request.reject()


# ANCHOR_END: tool
# ANCHOR: mode
async def switch(session):
    await session.set_mode("code")
    print("mode:", session.view.modes["currentModeId"])


# ANCHOR_END: mode
# ANCHOR: cancel
async def cancel(session):
    turn = session.prompt("wait")
    async for _ in turn:
        await turn.cancel()
    print("stopped:", turn.stop_reason)


# ANCHOR_END: cancel
# ANCHOR: list
async def list_sessions(agent, cwd):
    async for kept in agent.list_sessions(cwd):
        print("kept:", kept["title"])


# ANCHOR_END: list
# ANCHOR: load
async def load(agent, id, cwd):
    session = await agent.load_session(id, cwd)
    for entry in session.view.entries:
        print("before:", entry.text)
    return session


# ANCHOR_END: load
# ANCHOR: two
async def two(agent, cwd):
    sessions = [await agent.new_session(cwd) for _ in range(2)]
    answers = await asyncio.gather(sessions[0].prompt("one").read_text(), sessions[1].prompt("two").read_text())
    print("both:", *answers)


# ANCHOR_END: two
# ANCHOR: reconnect
async def reconnect(command, client, session, cwd):
    """The answer to a prompt; of another agent, where the first one ends meanwhile."""
    try:
        return await session.prompt("die").read_text()
    except libacp.aio.AgentEnded:
        async with libacp.aio.spawn_agent(command, client) as agent:
            again = await agent.load_session(session.id, cwd)
            return await again.prompt("die").read_text()


# ANCHOR_END: reconnect
async def main(command):
    cwd = os.getcwd()
    client = libacp.aio.Client("tasks", "1.0", permission=permit, view=True)
    agent = await libacp.aio.spawn_agent(command, client)
    session = await login(agent, cwd)
    await stream(session)
    await list_sessions(agent, cwd)
    again = await load(agent, session.id, cwd)
    await again.prompt("edit")
    print("tool:", *[each.status for each in again.view.entries if each.type == "tool_call"])
    await again.prompt("plan")
    print("plan:", *[each["status"] for entry in again.view.entries if entry.type == "plan" for each in entry.entries])
    await switch(again)
    await cancel(again)
    await two(agent, cwd)
    print("again:", await reconnect(command, client, await agent.new_session(cwd), cwd))
    await agent.close()


asyncio.run(main(sys.argv[1:]))
