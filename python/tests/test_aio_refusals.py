"""In which words requests for files and terminals are refused: those of ``tests/access/refusals.json``, as in JavaScript."""

import asyncio
import json
import os
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any, Awaitable, Tuple, cast

from libacp import aio

CASES = json.loads((Path(__file__).resolve().parents[2] / "tests/access/refusals.json").read_text(encoding="utf-8"))


class Session:
    def __init__(self, **members: object) -> None:
        self.__dict__.update(members)


def text(given: Any) -> str:
    return str(given[0] * given[1] + "".join(given[2:])) if isinstance(given, list) else str(given)


async def refusal(asked: Awaitable[object]) -> Tuple[int, str]:
    try:
        await asked
    except aio.RequestError as problem:
        return problem.code, problem.message
    return 0, "nothing was refused"


@unittest.skipUnless(sys.platform == "linux", "the words are those of Linux")
class Refusals(unittest.IsolatedAsyncioTestCase):
    async def test_files(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        root = os.path.realpath(folder.name)
        for made in CASES["made"]:
            if "folder" in made:
                Path(root, made["folder"]).mkdir()
            elif "link" in made:
                Path(root, made["link"]).symlink_to(made["to"])
            else:
                Path(root, made["file"]).write_bytes(made["text"].encode() if "text" in made else bytes(made["bytes"]))
        host, session = aio.Files(most=CASES["most"]), cast(Any, Session(roots=[root]))
        for case in CASES["files"]:
            params: Any = {"path": f"{root}/{text(case['path'])}", "content": case.get("content", "")}
            asked = host.read_text_file if case["method"] == "fs/read_text_file" else host.write_text_file
            with self.subTest(method=case["method"], path=case["path"]):
                self.assertEqual(await refusal(asked(session, params)), (case["code"], case["message"]))
        relative, outside = [await refusal(host.read_text_file(session, cast(Any, {"path": path}))) for path in ("there", "/x")]
        self.assertEqual(relative, outside)
        host.end(session)

    async def test_commands(self) -> None:
        host, session = aio.Terminals(most=1), cast(Any, Session(cwd="/"))
        for case in CASES["terminals"]:
            params: Any = {"command": text(case["command"]), "args": [text(each) for each in case.get("args", ())]}
            params.update({"env": [case["env"]]} if "env" in case else {}, cwd=case.get("cwd"))
            with self.subTest(**{**params, "args": None}):
                self.assertEqual(await refusal(host.create(session, params)), (case["code"], case["message"]))
        for call in (host.output, host.wait_for_exit, host.kill, host.release):
            self.assertEqual(await refusal(call(session, "none")), (-32002, "There is no such terminal"))
        id = await host.create(session, cast(Any, {"command": "sleep", "args": ["60"]}))
        true: Any = {"command": "true"}
        self.assertEqual(await refusal(host.create(session, true)), (-32603, "There are 1 terminals already"))
        # It belongs to its session, whoever else knows its id.
        other = cast(Any, Session(cwd="/"))
        for call in (host.output, host.wait_for_exit, host.kill, host.release):
            self.assertEqual(await refusal(call(other, id)), (-32002, "There is no such terminal"))
        await host.end(other)
        self.assertEqual((await host.output(session, id)).get("exitStatus"), None)
        await host.release(session, id)
        # Those that are being started count as well.
        both = await asyncio.gather(*(refusal(host.create(session, true)) for _ in range(2)))
        self.assertEqual(sorted(both), [(-32603, "There are 1 terminals already"), (0, "nothing was refused")])
        await host.end(session)
        self.assertEqual(await refusal(host.create(session, true)), (-32002, "The session is over"))


if __name__ == "__main__":
    unittest.main()
