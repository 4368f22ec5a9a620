"""Handlers that fail, on both sides and in every way: the peer gets an error, and the connection goes on."""

import asyncio
import unittest
from typing import Any, Callable, Dict, List, cast

from aio_pair import AioCase, agent, libacp, talk, texts, updates
from libacp import aio


class Mute(Exception):
    """An error that cannot even be printed."""

    def __str__(self) -> str:
        raise ZeroDivisionError

    __repr__ = __str__


class Own(BaseException):
    """What is no `Exception`, and no wish to end the program either."""


def looped() -> Exception:
    error = ValueError("ring")
    error.__cause__ = error.__context__ = error
    return error


FAILURES: "List[Callable[[], BaseException]]" = [
    lambda: ValueError("secret"),
    lambda: Mute("secret"),
    looped,
    lambda: RecursionError("secret"),
    lambda: MemoryError(),
    lambda: StopIteration("secret"),
    lambda: StopAsyncIteration(),
    lambda: asyncio.TimeoutError(),
    lambda: cast(BaseException, 5),  # Not even an error.
    lambda: aio.RequestError(10**12, "secret"),
    lambda: aio.RequestError("code", "secret"),  # type: ignore[arg-type]
    lambda: aio.RequestError(1, 5),  # type: ignore[arg-type]
    lambda: aio.RequestError(1, "\ud800"),
    lambda: aio.RequestError(1, "secret", {"a": {1}}),
]
# What stands for a task that is cancelled, and is told as that.
ENDS: "List[Callable[[], BaseException]]" = [asyncio.CancelledError, GeneratorExit, Own]


class Failing(AioCase):
    def failing(self) -> "Dict[str, Callable[..., Any]]":
        """Handlers that raise what `self.failure` makes: at once, later, and as no coroutine at all."""

        async def at_once(*arguments: Any) -> Any:
            raise self.failure()

        async def later(*arguments: Any) -> Any:
            await asyncio.sleep(0)
            raise self.failure()

        def plain(*arguments: Any) -> Any:
            raise self.failure()

        return {"_x/at_once": at_once, "_x/later": later, "_x/plain": plain}

    async def errors(self, peer: Any, code: int) -> None:
        for method in self.failing():
            with self.assertRaises(libacp.PeerError) as caught:
                await self.in_time(peer.request(method))
            self.assertEqual(caught.exception.code, code, (method, self.failure()))
            self.assertNotIn("secret", str(caught.exception))
            self.assertIsNone(caught.exception.data)
            await peer.notify(method)
        self.assertEqual(await self.in_time(peer.request("_x/alive")), {"alive": True})

    async def both_sides(self, code: int) -> None:
        async def alive(*arguments: Any) -> Any:
            return {"alive": True}

        async def ask(turn: aio.Turn) -> None:
            await self.errors(turn.client, code)
            await turn.message("alive")

        tested, client = agent(prompt=ask), aio.Client()
        for host in (tested, client):
            for method, handler in self.failing().items():
                host.on_extension(method)(handler)
            host.on_extension("_x/alive")(alive)
        async with talk(tested, client) as peer:
            await self.errors(peer, code)
            session = await peer.new_session("/")
            self.assertEqual(texts(await updates(session.prompt("?"))), "alive")

    async def test_every_failure_is_an_internal_error(self) -> None:
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: None)
        for self.failure in FAILURES:
            await self.both_sides(libacp.ErrorCode.INTERNAL_ERROR)

    async def test_what_ends_a_handler_is_a_cancelled_request(self) -> None:
        # The loop tells of a task that ended with something of its own kind; that is the host's business.
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: None)
        for self.failure in ENDS:
            async def alive(*arguments: Any) -> Any:
                return {"alive": True}

            tested = agent(prompt=alive)
            tested.on_extension("_x/end")(self.failing()["_x/later"])
            tested.on_extension("_x/alive")(alive)
            async with talk(tested) as peer:
                with self.assertRaises(libacp.PeerError) as caught:
                    await self.in_time(peer.request("_x/end"))
                self.assertEqual(caught.exception.code, libacp.ErrorCode.REQUEST_CANCELLED)
                self.assertEqual(await self.in_time(peer.request("_x/alive")), {"alive": True})

    async def test_prompts_sessions_files_and_terminals_that_fail(self) -> None:
        class Broken:
            async def read_text_file(self, *arguments: Any) -> Any:
                raise KeyError("secret")

            async def end(self, session: Any) -> None:
                """The host's own way to clean up: no peer waits for it."""

            def __getattr__(self, name: str) -> Any:
                return self.read_text_file

        problems: List[Any] = []

        async def ask(turn: aio.Turn) -> None:
            for call in (turn.read_text_file("/a"), turn.write_text_file("/a", "x"), turn.ask_permission({"toolCallId": "t"})):
                try:
                    await self.in_time(call)
                except libacp.PeerError as problem:
                    problems.append((problem.code, "secret" in str(problem)))
            raise KeyError("secret")

        async def no_session(session: Any) -> None:
            raise KeyError("secret")

        broken: Any = Broken()
        client = aio.Client(permission=broken.read_text_file, files=broken, terminals=broken)
        internal = libacp.ErrorCode.INTERNAL_ERROR
        async with talk(agent(prompt=ask), client) as peer:
            session = await peer.new_session("/")
            for _ in range(2):
                with self.assertRaises(libacp.PeerError) as caught:
                    await self.in_time(updates(session.prompt("?")))
                self.assertEqual((caught.exception.code, "secret" in str(caught.exception)), (internal, False))
        self.assertEqual(problems, [(internal, False)] * 6)
        async with talk(agent(prompt=ask, new_session=no_session)) as peer:
            for _ in range(2):
                with self.assertRaises(libacp.PeerError) as caught:
                    await self.in_time(peer.new_session("/"))
                self.assertEqual(caught.exception.code, internal)


if __name__ == "__main__":
    unittest.main()
