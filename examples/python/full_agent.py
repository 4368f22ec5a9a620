"""An agent that offers and uses everything that version 1 has: ``python full_agent.py [--login]``.

It speaks on standard input and output. Any prompt gets a tour of all that its client offers; `wait` waits to be cancelled,
`refuse` is refused. With ``--login`` it serves nobody who has not logged in.
"""

from __future__ import annotations

import sys
from typing import Dict, List, Optional, Set

import libacp
from full_store import MODES, Conversation, Store
from full_turn import Tour, wait
from libacp import aio
from libacp.types import v1

COMMANDS: List[v1.AvailableCommand] = [
    {"name": "wait", "description": "Wait to be cancelled"},
    {"name": "tour", "description": "Show everything", "input": {"hint": "anything"}},
]
needs_login = "--login" in sys.argv[1:]
store = Store()
# Clients that have logged in.
users: Set[aio.ClientPeer] = set()
agent = aio.Agent(
    "full-python",
    libacp.__version__,
    title="Everything, in Python",
    capabilities={
        "promptCapabilities": {"image": True, "audio": True, "embeddedContext": True},
        "mcpCapabilities": {"http": True, "sse": True},
        "sessionCapabilities": {"additionalDirectories": {}},
    },
)


# Who may come in


@agent.on("initialize")
async def initialize(client: aio.ClientPeer, params: v1.InitializeRequest) -> Optional[v1.InitializeResponse]:
    if not needs_login:
        return None
    methods: List[v1.AuthMethod] = [{"id": "key", "name": "Key", "description": "The key of this machine"}]
    if ((params.get("clientCapabilities") or {}).get("auth") or {}).get("terminal"):
        methods.append({"type": "terminal", "id": "shell", "name": "Log in by hand", "args": ["--log-in"]})
    return {"protocolVersion": 1, "authMethods": methods}


@agent.on("authenticate")
async def authenticate(client: aio.ClientPeer, params: v1.AuthenticateRequest) -> None:
    if params["methodId"] != "key":
        raise aio.RequestError(libacp.ErrorCode.INVALID_PARAMS, "There is no such way to log in")
    users.add(client)


@agent.on("logout")
async def logout(client: aio.ClientPeer, params: v1.LogoutRequest) -> None:
    users.discard(client)


def check(client: aio.ClientPeer) -> None:
    if needs_login and client not in users:
        raise aio.RequestError(libacp.ErrorCode.AUTH_REQUIRED, "Log in first")


# Sessions


def takes_booleans(client: aio.ClientPeer) -> bool:
    options = (client.capabilities.get("session") or {}).get("configOptions") or {}
    return options.get("boolean") is not None


async def opened(session: aio.AgentSession, conversation: Conversation) -> v1.LoadSessionResponse:
    """What every answer that opens a session has; the commands follow it."""
    session.data = conversation
    await session.update({"sessionUpdate": "available_commands_update", "availableCommands": COMMANDS})
    options = conversation.config_options(takes_booleans(session.client))
    return {"modes": conversation.modes, "configOptions": options}


def kept(id: str) -> Conversation:
    conversation = store.find(id)
    if conversation is None:
        raise aio.RequestError(libacp.ErrorCode.RESOURCE_NOT_FOUND, "There is no such session", {"sessionId": id})
    return conversation


@agent.new_session
async def new(session: aio.AgentSession) -> v1.NewSessionResponse:
    check(session.client)
    conversation = Conversation(session.id, session.cwd, session.roots)
    store.add(conversation)
    return {"sessionId": session.id, **await opened(session, conversation)}


@agent.load_session
async def load(session: aio.AgentSession) -> v1.LoadSessionResponse:
    check(session.client)
    conversation = kept(session.id)
    for update in conversation.history:
        await session.update(update)
    return await opened(session, conversation)


@agent.on("session/resume")
async def resume(session: aio.AgentSession, params: v1.ResumeSessionRequest) -> v1.ResumeSessionResponse:
    check(session.client)
    return await opened(session, kept(session.id))


@agent.on("session/list")
async def list_sessions(client: aio.ClientPeer, params: v1.ListSessionsRequest) -> v1.ListSessionsResponse:
    check(client)
    return store.page(params.get("cwd"), params.get("cursor"))


@agent.on("session/delete")
async def delete(session: aio.AgentSession, params: v1.DeleteSessionRequest) -> None:
    store.remove(session.id)


@agent.on("session/close")
async def close(session: aio.AgentSession, params: v1.CloseSessionRequest) -> None:
    session.data.touch()


@agent.on("session/set_mode")
async def set_mode(session: aio.AgentSession, params: v1.SetSessionModeRequest) -> None:
    if params["modeId"] not in MODES:
        raise aio.RequestError(libacp.ErrorCode.INVALID_PARAMS, "There is no such mode")
    session.data.mode = params["modeId"]
    await session.update({"sessionUpdate": "current_mode_update", "currentModeId": params["modeId"]})


@agent.on("session/set_config_option")
async def set_option(
    session: aio.AgentSession, params: v1.SetSessionConfigOptionRequest
) -> v1.SetSessionConfigOptionResponse:
    conversation: Conversation = session.data
    if not conversation.set(params["configId"], params["value"]):
        raise aio.RequestError(libacp.ErrorCode.INVALID_PARAMS, "There is no such option or value")
    options = conversation.config_options(takes_booleans(session.client))
    await session.update({"sessionUpdate": "config_option_update", "configOptions": options})
    return {"configOptions": options}


# Turns


@agent.prompt
async def answer(turn: aio.Turn) -> Optional[v1.StopReason]:
    if turn.text == "refuse":
        # What is refused is no part of the conversation.
        return "refusal"
    conversation: Conversation = turn.session.data
    conversation.asked(turn.blocks)
    if turn.text == "wait":
        await wait(turn)
    await Tour(turn, conversation).run()
    await turn.message("That was all.", message_id="end")
    conversation.answered("That was all.")
    return None


# The extension of these examples


@agent.on_extension("_libacp.dev/echo")
async def echo(client: aio.ClientPeer, params: object) -> object:
    return params


@agent.on_extension("_libacp.dev/note")
async def note(client: aio.ClientPeer, params: Dict[str, str]) -> None:
    # What the params of an extension mean is not known to the library, so the session is looked up here.
    session = client.sessions.get(params["sessionId"])
    if session is not None:
        said: v1.ContentBlock = {"type": "text", "text": f"noted: {params['note']}"}
        await session.update({"sessionUpdate": "agent_message_chunk", "content": said})


if __name__ == "__main__":
    agent.run()
