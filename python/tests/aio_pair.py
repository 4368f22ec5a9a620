"""What the tests of `libacp.aio` share: an agent and a client in one event loop, and agents as child processes."""

import asyncio
import logging
import socket
import sys
import unittest
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, AsyncIterator, Awaitable, Callable, Dict, Iterable, List, Optional, Tuple

import libacp
from libacp import aio

HOSTS = Path(__file__).resolve().parent / "hosts"
# More than anything here takes, and less than anybody wants to wait.
SECONDS = 60.0

Streams = Tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def streams() -> Tuple[Streams, Streams]:
    """Two ends of one connection, through the kernel."""
    ours, theirs = socket.socketpair()
    return await asyncio.open_connection(sock=ours), await asyncio.open_connection(sock=theirs)


@asynccontextmanager
async def talk(agent: aio.Agent, client: Optional[aio.Client] = None) -> AsyncIterator[aio.AgentPeer]:
    """The agent, as the client sees it. At the end, it has noticed that the client is gone."""
    ours, theirs = await streams()
    serving = asyncio.ensure_future(agent.serve(*theirs))
    try:
        async with aio.connect(*ours, client) as peer:
            yield peer
    finally:
        await asyncio.wait_for(serving, SECONDS)


def host(name: str, *arguments: str) -> List[str]:
    """The command line of an agent in `hosts`."""
    return [sys.executable, "-B", str(HOSTS / name), *arguments]


class AioCase(unittest.IsolatedAsyncioTestCase):
    """Tests with a time limit, and with the log at hand."""

    seconds = SECONDS

    def setUp(self) -> None:
        self.log: List[str] = []
        handler = logging.Handler()
        setattr(handler, "emit", lambda record: self.log.append(f"{record.levelname}: {record.getMessage()}"))
        logger = logging.getLogger("libacp.aio")
        logger.setLevel(logging.DEBUG)
        logger.propagate = False
        logger.addHandler(handler)
        self.addCleanup(logger.removeHandler, handler)

    async def asyncSetUp(self) -> None:
        # The tests measure; what `unittest` switches on here would be measured as well.
        asyncio.get_running_loop().set_debug(False)

    async def in_time(self, work: "Awaitable[Any]") -> Any:
        return await asyncio.wait_for(work, self.seconds)


async def until(what: Callable[[], Any]) -> None:
    """Waits until something is so."""
    for _ in range(round(SECONDS / 0.005)):
        if what():
            return
        await asyncio.sleep(0.005)
    raise AssertionError("it did not come to this")


def untaken(peer: aio.Peer) -> bool:
    """Whether nothing is taken of what the other side may make this one hold."""
    more, request = 2**40, 2**50
    # What is more than all of it goes alone.
    whole = [budget.take_now(request, more) for budget in (peer._files, peer._answers)]
    for budget in (peer._files, peer._answers):
        budget.give(request)
    return all(whole)


def agent(**handlers: Any) -> aio.Agent:
    """An agent with a handler for prompts, and perhaps others."""
    made = aio.Agent("tested", "1")
    for name, handler in handlers.items():
        getattr(made, name)(handler)
    return made


async def updates(turn: Any) -> List[Dict[str, Any]]:
    """All updates of a turn."""
    return [update async for update in turn]


def texts(seen: Iterable[Any]) -> str:
    """What the agent has said."""
    return "".join(each["content"]["text"] for each in seen if each["sessionUpdate"] == "agent_message_chunk")


__all__ = ["AioCase", "agent", "host", "libacp", "streams", "talk", "texts", "untaken", "until", "updates"]
