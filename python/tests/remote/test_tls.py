"""Agents behind TLS, through real servers: a certificate that is trusted, one that is not, and one of another name."""

import tempfile
import unittest
from typing import Any

from certificates import Certificate
from serving import serving

from libacp import aio

WAYS = (("uvicorn", "https", False), ("hypercorn", "https", True), ("hypercorn", "https", None), ("granian", "wss", None))


def url(scheme: str, port: int) -> str:
    return f"{scheme}://localhost:{port}/acp"


class Tls(unittest.IsolatedAsyncioTestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.here = Certificate(folder.name, "localhost")
        self.elsewhere = Certificate(folder.name, "agents.example.com")

    async def turn(self, address: str, **options: Any) -> None:
        client = aio.Client("test", "1", permission=aio.allow_all)
        async with aio.connect(address, client, **options) as agent:
            session = await agent.new_session("/tmp")
            self.assertEqual(await session.prompt("ask").read_text(), "allowed")

    async def test_a_certificate_that_is_trusted(self) -> None:
        for server, scheme, http2 in WAYS:
            with self.subTest(server=server, scheme=scheme, http2=http2):
                with serving(server, options=self.here.options(server)) as served:
                    await self.turn(url(scheme, served.port), ssl=self.here.trusted(), http2=http2)

    async def test_one_that_is_not_says_so(self) -> None:
        with serving("uvicorn", options=self.here.options("uvicorn")) as served:
            for scheme in ("https", "wss"):
                for trust in ({}, {"ssl": self.elsewhere.trusted()}):
                    with self.subTest(scheme=scheme, trust=trust), self.assertRaises(aio.RemoteEnded) as ended:
                        await self.turn(url(scheme, served.port), **trust)
                    self.assertEqual(ended.exception.why, "unreachable")
                    self.assertIn("certificate verify failed", str(ended.exception))

    async def test_one_of_another_name_says_so(self) -> None:
        with serving("uvicorn", options=self.elsewhere.options("uvicorn")) as served:
            for scheme in ("https", "wss"):
                with self.subTest(scheme=scheme), self.assertRaises(aio.RemoteEnded) as ended:
                    await self.turn(url(scheme, served.port), ssl=self.elsewhere.trusted())
                self.assertIn("Hostname mismatch", str(ended.exception))


if __name__ == "__main__":
    unittest.main()
