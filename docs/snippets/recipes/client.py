"""Goes on where the last conversation in this folder ended: ``client.py COMMAND ...``."""

import asyncio
import os
import sys

import libacp
import libacp.aio


# ANCHOR: login
async def logged_in(agent, call):
    """What a call gives, after a login where it needs one."""
    try:
        return await call()
    except libacp.PeerError as error:
        if error.code != libacp.ErrorCode.AUTH_REQUIRED or not agent.auth_methods:
            raise
    # A client with a user asks which; this one takes the first.
    await agent.authenticate(agent.auth_methods[0]["id"])
    return await call()


# ANCHOR_END: login
# ANCHOR: open
async def opened(agent, cwd):
    """The last session in a folder, or a new one."""
    if agent.can("session/list") and agent.can("session/load"):
        async for kept in agent.list_sessions(cwd):
            loading = agent.load_session(kept["sessionId"], cwd)
            async for update in loading:
                if update["sessionUpdate"] in ("user_message_chunk", "agent_message_chunk"):
                    print("before:", libacp.printable(update["content"].get("text", "no text")))
            return await loading
    return await agent.new_session(cwd)


# ANCHOR_END: open
# ANCHOR: settings
async def set_up(session):
    """Switches the mode and the model, where there are any to choose from."""
    modes = session.result.get("modes") or {"availableModes": []}
    if any(mode["id"] == "code" for mode in modes["availableModes"]):
        await session.set_mode("code")
    for option in session.result.get("configOptions") or []:
        if option.get("category") == "model" and option["type"] == "select":
            # They may be in groups.
            choices = [each for entry in option["options"] for each in entry.get("options", [entry])]
            await session.set_config_option(option["id"], choices[-1]["value"])


# ANCHOR_END: settings
async def main(command):
    async with libacp.aio.spawn_agent(command) as agent:
        session = await logged_in(agent, lambda: opened(agent, os.getcwd()))
        await set_up(session)
        print("now:", libacp.printable(await session.prompt("Hello").read_text()))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
