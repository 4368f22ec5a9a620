"""Mistakes in agents: each line that is marked must be reported, and no other."""

from typing import Any, AsyncIterator, Dict, List

from libacp import aio
from libacp.types import v1

agent = aio.Agent("mistaken", "1")
aio.Agent("mistaken", "1", polcy="strict")  # mistake: a misspelt option
aio.Agent("mistaken", "1", policy="strickt")  # mistake: no such policy
aio.Agent("mistaken", "1", capabilities={"loadSesion": True})  # mistake: a misspelt capability
aio.Agent(name="mistaken", versoin="1")  # mistake: a misspelt argument
aio.Agent("mistaken", "1", auth_methods=[{"id": "key"}])  # mistake: a login without a name
aio.Agent("mistaken", "1", timeout="soon")  # mistake: a time that is a text


@agent.on("session/setmode")  # mistake: a misspelt method
async def set_mode(session: aio.AgentSession, params: v1.SetSessionModeRequest) -> None: ...


@agent.on("fs/read_text_file")  # mistake: a method of the other side
async def read(session: aio.AgentSession, params: v1.ReadTextFileRequest) -> None: ...


@agent.on("session/prompt")  # mistake: prompts are handled by `prompt`
async def prompt_by_on(turn: aio.Turn) -> None: ...


@agent.on("session/set_mode")  # mistake: params of another method
async def other_params(session: aio.AgentSession, params: v1.SetSessionConfigOptionRequest) -> None: ...


@agent.on("session/list")  # mistake: a result of another method
async def other_result(client: aio.ClientPeer, params: v1.ListSessionsRequest) -> v1.NewSessionResponse:
    return {"sessionId": "s"}


@agent.on("session/list")  # mistake: a session where there is the client
async def other_subject(session: aio.AgentSession, params: v1.ListSessionsRequest) -> v1.ListSessionsResponse:
    return {"sessions": []}


@agent.on("session/delete")  # mistake: a handler without params
async def no_params(session: aio.AgentSession) -> None: ...


@agent.prompt  # mistake: a text that is no stop reason
async def any_text(turn: aio.Turn) -> str:
    return "done"


@agent.prompt  # mistake: a handler that yields
async def yields(turn: aio.Turn) -> AsyncIterator[str]:
    yield "hello"


@agent.prompt  # mistake: two arguments
async def two(turn: aio.Turn, params: Dict[str, Any]) -> None: ...


@agent.new_session  # mistake: a result that is a text
async def named(session: aio.AgentSession) -> str:
    return "mine"


@agent.on  # mistake: a decorator without a method
async def bare(session: aio.AgentSession, params: Dict[str, Any]) -> None: ...


@agent.on_cancel_tool  # mistake: a handler without the id
async def no_id(session: aio.AgentSession) -> None: ...


async def answer(turn: aio.Turn, blocks: List[v1.ContentBlock]) -> None:
    await turn.message(5)  # mistake: a number that is to be said
    await turn.mesage("hello")  # mistake: a misspelt name
    turn.tool_call("Read", kind="reed")  # mistake: no such kind
    turn.tool_call("Read", status="done")  # mistake: no such status
    turn.terminal("echo", ["-l"], evn={})  # mistake: a misspelt argument
    turn.terminal("echo", [1])  # mistake: an argument that is a number
    await turn.read_text_file("/a", line="1")  # mistake: a line that is a text
    await turn.write_text_file("/a")  # mistake: nothing to write
    await turn.plan([{"content": "Read"}])  # mistake: a step without a state
    await turn.update({"sessionUpdate": "plan"})  # mistake: an update without its members
    await turn.update({"sessionUpdate": "agent_mesage_chunk", "content": blocks[0]})  # mistake: no such update
    print(turn.client.capabilities["fs"]["readTxtFile"])  # mistake: a misspelt capability
    await turn.client.call("session/new", {"cwd": "/", "mcpServers": []})  # mistake: a method of the other side
    for block in blocks:
        if block["type"] == "text":
            print(block["data"])  # mistake: a member of another block
    async with turn.tool_call("Read") as call:
        await call.ask_permission([{"optionId": "yes", "name": "Yes", "kind": "allow"}])  # mistake: no such kind
        await call.update(status="ended")  # mistake: no such status
        await call.append(5)  # mistake: a number that is to be added
    await turn.session.plan("tests").set([{"content": "Run"}])  # mistake: a step without a state
    await turn.session.background(turn)  # mistake: a turn in the background
    await (await turn.display_terminal("make")).exit("0")  # mistake: a code that is a text
    turn.session.work().stop_reason = "done"  # mistake: no such stop reason
    await turn.session.work()  # mistake: work that is no block
    async with turn.tool_call("Read") as outer:
        outer.allowed  # mistake: no such attribute
