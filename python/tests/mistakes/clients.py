"""Mistakes in clients: each line that is marked must be reported, and no other."""

from typing import Any

from libacp import aio
from libacp.types import v1


async def decide(request: aio.PermissionRequest) -> int:
    return 0


client = aio.Client("mistaken", "1")
aio.Client(permission=decide)  # mistake: a number that is to be an option
aio.Client(files=object())  # mistake: files that cannot be read
aio.Client(terminals="none")  # mistake: no terminals
aio.Client(premission=aio.allow_all)  # mistake: a misspelt option
aio.spawn_agent("agent")  # mistake: not reported, as a text is a sequence of texts


@client.on("session/set_mode")  # mistake: a method of the other side
async def set_mode(session: Any, params: Any) -> None: ...


@client.on("elicitation/create")  # mistake: a result of another method
async def elicit(session: Any, params: v1.CreateElicitationRequest) -> v1.ReadTextFileResponse:
    return {"content": ""}


async def converse(agent: aio.AgentPeer, session: aio.ClientSession) -> None:
    await agent.new_session()  # mistake: no folder
    await agent.new_session("/", mcp_servers=[{"name": "files"}])  # mistake: a server without a command
    await agent.call("session/lst", {})  # mistake: a misspelt method
    await agent.call("session/prompt", {"sessionId": "s"})  # mistake: params without a prompt
    await session.set_mode(1)  # mistake: a number that is to be a mode
    await session.set_config_option("model", 1)  # mistake: a number that is to be an option
    turn = session.prompt({"type": "txt", "text": "Hello"}, meta=[])  # mistake: no object
    for update in turn:  # mistake: a loop that does not wait
        print(update)
    async for update in session.prompt("Hello"):
        if update["sessionUpdate"] == "plan":
            print(update["entrys"])  # mistake: a misspelt member
    if turn.stop_reason == "ended":  # mistake: no such stop reason
        print(turn.result)
    session.close().result  # mistake: an answer that nobody waits for
