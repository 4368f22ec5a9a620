"""Who is refused: foreign pages, foreign hosts, those without the token; by real servers, over both transports."""

import asyncio
import http.client
import json
import unittest
from typing import Any, Dict, List, Tuple

import websockets.asyncio.client as sockets
from serving import Served, serving
from websockets.exceptions import InvalidStatus

import libacp
from libacp import aio

HELLO = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": 1}}
TOKEN = "a-secret-that-nobody-may-see"


def ask(served: Served, headers: Dict[str, str], method: str = "POST", body: Any = HELLO) -> Tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=10)
    usual = {"content-type": "application/json"} if method == "POST" else {}
    text = None if body is None else json.dumps(body)
    connection.request(method, "/acp", text, {**usual, **headers})
    response = connection.getresponse()
    answer = response.read().decode()
    connection.close()
    return response.status, answer


async def shake_hands(served: Served, headers: Dict[str, str]) -> int:
    origin = headers.pop("origin", None)
    host = headers.pop("host", None)
    url = served.url("ws") if host is None else f"ws://{host}/acp"
    there = {} if host is None else {"host": "127.0.0.1", "port": served.port}
    try:
        async with sockets.connect(url, origin=origin, additional_headers=headers, proxy=None, **there):  # type: ignore[arg-type]
            return 101
    except InvalidStatus as refused:
        return refused.response.status_code


async def answering(head: str) -> Tuple[asyncio.Server, int, List[bytes]]:
    """A server that answers everything with this head, in which `{port}` is its own; and what it is asked for."""
    asked: List[bytes] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append(await reader.readline())
        await reader.readuntil(b"\r\n\r\n")
        writer.write(head.replace("{port}", str(port)).encode())
        await writer.drain()
        writer.close()

    listener = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = listener.sockets[0].getsockname()[1]
    return listener, port, asked


class Refused(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self) -> None:
        asyncio.get_running_loop().set_debug(False)

    def each(self) -> Any:
        for server in ("uvicorn", "hypercorn"):
            with self.subTest(server=server), serving(server) as served:
                yield served

    async def test_foreign_pages_and_hosts(self) -> None:
        for served in self.each():
            own = f"http://127.0.0.1:{served.port}"
            for headers, status in (
                ({}, 200),
                ({"origin": own}, 200),
                ({"origin": "http://evil.example"}, 403),
                ({"origin": "null"}, 403),
                ({"host": "evil.example"}, 421),
                ({"host": "localhost"}, 200),
            ):
                found, answer = ask(served, dict(headers))
                self.assertEqual(found, status, (headers, answer))
                self.assertNotIn("evil", answer)
                socket = await shake_hands(served, dict(headers))
                self.assertEqual(socket, 101 if status == 200 else status, headers)

    async def test_an_agent_that_cannot_be_served(self) -> None:
        """`initialize` is answered with an error: what a `RequestError` says, and nothing of other exceptions."""
        for app, why in (("failing", "The agent could not be served"), ("refusing", "All agents are busy")):
            expected = {"jsonrpc": "2.0", "id": 0, "error": {"code": -32603, "message": why}}
            with self.subTest(app=app), serving("uvicorn", f"ours:{app}") as served:
                status, answer = ask(served, {})
                self.assertEqual((status, json.loads(answer)), (200, expected))
                # Here the agent has failed before it is asked anything.
                async with sockets.connect(served.url("ws"), proxy=None) as socket:
                    await asyncio.sleep(0.1)
                    await socket.send(json.dumps(HELLO))
                    self.assertEqual(json.loads(await socket.recv()), expected)

    async def test_what_is_no_message(self) -> None:
        for served in self.each():
            self.assertEqual(ask(served, {"content-type": "text/plain"})[0], 415)
            self.assertEqual(ask(served, {}, body=[HELLO])[0], 501)
            self.assertEqual(ask(served, {}, "GET", None)[0], 406)
            self.assertEqual(ask(served, {}, "PUT", HELLO)[0], 405)
            self.assertEqual(ask(served, {"accept": "text/event-stream"}, "GET", None)[0], 400)
            self.assertEqual(ask(served, {"acp-connection-id": "none"}, "DELETE", None)[0], 404)

    async def test_a_token(self) -> None:
        for server in ("uvicorn", "hypercorn"):
            with serving(server, env={"LIBACP_TEST_TOKEN": TOKEN}) as served:
                self.assertEqual(ask(served, {})[0], 401)
                self.assertEqual(ask(served, {"authorization": "Bearer no"})[0], 401)
                self.assertEqual(ask(served, {"authorization": f"Bearer {TOKEN}"})[0], 200)
                for scheme in ("http", "ws"):
                    with self.assertRaises(aio.RemoteEnded) as raised:
                        await aio.connect(served.url(scheme))
                    self.assertEqual((raised.exception.why, raised.exception.status), ("refused", 401))
                    headers = {"authorization": f"Bearer {TOKEN}"}
                    async with aio.connect(served.url(scheme), headers=headers) as agent:
                        self.assertEqual(agent.info["name"], "ours")

    async def test_credentials_that_are_asked_for(self) -> None:
        asked = []

        async def authorize(status: int, challenge: Any) -> Dict[str, str]:
            asked.append(status)
            await asyncio.sleep(0)
            return {"authorization": f"Bearer {TOKEN if len(asked) > 1 else 'no'}"}

        with serving("uvicorn", env={"LIBACP_TEST_TOKEN": TOKEN}) as served:
            for scheme in ("http", "ws"):
                asked.clear()
                async with aio.connect(served.url(scheme), authorize=authorize) as agent:
                    session = await agent.new_session("/tmp")
                    self.assertEqual(await session.prompt("hi").read_text(), "hi")
                self.assertEqual(asked, [401, 401])

    async def test_nobody_is_there(self) -> None:
        for scheme in ("http", "ws"):
            with self.assertRaises(aio.RemoteEnded) as raised:
                await aio.connect(f"{scheme}://127.0.0.1:9/acp")
            self.assertEqual(raised.exception.why, "unreachable")
            self.assertIsNotNone(raised.exception.__cause__)
            self.assertEqual(raised.exception.outcome, "closed")

    async def test_redirects_are_not_followed(self) -> None:
        """A client has credentials for the server that it was told of, and for no other (`HTTP-25`)."""
        head = "HTTP/1.1 307 Moved\r\nlocation: http://127.0.0.1:{port}/other\r\ncontent-length: 0\r\n\r\n"
        listener, port, asked = await answering(head)
        for scheme in ("http", "ws"):
            with self.assertRaises(aio.RemoteEnded) as raised:
                await aio.connect(f"{scheme}://127.0.0.1:{port}/acp", headers={"authorization": f"Bearer {TOKEN}"})
            self.assertEqual((raised.exception.why, raised.exception.status), ("refused", 307))
        self.assertEqual(asked, [b"POST /acp HTTP/1.1\r\n", b"GET /acp HTTP/1.1\r\n"])
        listener.close()

    async def test_a_proxy_whose_server_is_away(self) -> None:
        listener, port, _ = await answering("HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n")
        for scheme in ("http", "ws"):
            with self.assertRaises(aio.RemoteEnded) as raised:
                await aio.connect(f"{scheme}://127.0.0.1:{port}/acp", timeout=0.5)
            self.assertEqual((raised.exception.why, raised.exception.status), ("unreachable", 502))
            self.assertIn("(status 502)", str(raised.exception))
        listener.close()

    async def test_nothing_of_it_is_served_there(self) -> None:
        with serving("uvicorn") as served:
            for scheme in ("http", "ws"):
                with self.assertRaises(aio.RemoteEnded) as raised:
                    await aio.connect(served.url(scheme, "/other"))
                self.assertEqual((raised.exception.why, raised.exception.status), ("not-served", 404))

    def test_what_cannot_be_is_told_at_once(self) -> None:
        with self.assertRaises(TypeError):
            aio.connect("agent --acp")
        with self.assertRaises(TypeError):
            aio.connect(["agent"], headers={})  # type: ignore[call-overload]
        with self.assertRaises(TypeError):
            aio.connect("http://localhost/acp", object())  # type: ignore[call-overload]

    async def test_options_that_cannot_be(self) -> None:
        with self.assertRaises(ValueError):
            await aio.connect("http:///acp")
        with self.assertRaises(ValueError):
            await aio.connect("http://localhost/acp", limits={"message": -1})
        with self.assertRaises(ValueError):
            await aio.connect("http://localhost/acp", headers={"x": "a\r\nb"})
        for wrong in ({"hosts": ["a b"]}, {"token": "é"}, {"limits": {"many": 1}}, {"tolerates": ["all"]}, {"path": "acp"}):
            with self.assertRaises(ValueError):
                libacp.http.asgi(aio.Agent("a"), **wrong)  # type: ignore[arg-type]


if __name__ == "__main__":
    unittest.main()
