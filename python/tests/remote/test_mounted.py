"""The ASGI application inside of another one."""

import http.client
import unittest

from serving import serving

from libacp import aio


class Mounted(unittest.IsolatedAsyncioTestCase):
    async def turn(self, address: str) -> None:
        client = aio.Client("test", "1", permission=aio.allow_all)
        async with aio.connect(address, client) as agent:
            session = await agent.new_session("/tmp")
            self.assertEqual(await session.prompt("ask").read_text(), "allowed")

    async def test_in_starlette(self) -> None:
        for server in ("uvicorn", "hypercorn", "granian"):
            with serving(server, "mounted:app") as served:
                for scheme in ("http", "ws"):
                    for path in ("/acp/", "/agents/two"):
                        with self.subTest(server=server, scheme=scheme, path=path):
                            await self.turn(served.url(scheme, path))
                    with self.subTest(server=server, scheme=scheme), self.assertRaises(aio.RemoteEnded) as ended:
                        await self.turn(served.url(scheme, "/agents/three"))
                    self.assertEqual(ended.exception.why, "not-served")
                # What else the application has is served beside it.
                connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=10)
                connection.request("GET", "/hello")
                self.assertEqual(connection.getresponse().read(), b"hello")
                connection.close()


if __name__ == "__main__":
    unittest.main()
