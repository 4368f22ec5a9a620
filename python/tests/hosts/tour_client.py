"""The client's side of ``tests/interop/version-2/tour.json`` on `libacp.aio`: ``tour_client.py CWD AGENT...``.

It makes the calls of the tour, as any program would, and prints what it has seen as one line of JSON.
"""

import asyncio
import json
import sys
from typing import Any, Dict, List

from libacp import aio

LINK: Any = {"type": "resource_link", "uri": "file:///project/notes.md", "name": "notes.md", "mimeType": "text/markdown"}


async def tour(cwd: str, command: List[str]) -> Dict[str, Any]:
    asked: List[Any] = []
    wrong: List[str] = []
    deleting = asyncio.Event()

    async def permit(request: aio.PermissionRequest) -> Any:
        asked.append([request.title, request.description, request.tool_call["toolCallId"]])
        if len(asked) == 1:
            return request.allow()
        deleting.set()
        await asyncio.sleep(600)

    client = aio.Client(
        "libacp-interop-client",
        "1.0.0",
        title="A client of version 2",
        versions=[2],
        view=True,
        permission=permit,
        capabilities={"elicitation": {"form": {}}},
        on_violation=lambda violation: wrong.append(violation.rule),
        on_advice=lambda advice: wrong.append(advice.rule),
    )
    client.on("elicitation/create")(lambda session, params: {"action": "cancel"})
    async with aio.spawn_agent(command, client) as agent:
        session = await agent.new_session(cwd)
        modes = session.result["modes"]
        await session.set_mode("code")
        first = session.prompt([f"Count the lines of {cwd}/notes.md", LINK])
        text = await first.read_text()
        second = session.prompt("Now delete them")
        kinds: List[str] = []

        async def read() -> None:
            async for update in second:
                kinds.append(update["sessionUpdate"])

        reading = asyncio.ensure_future(read())
        await deleting.wait()
        await second.cancel()
        await reading
        before = drawn(session)
        listed = [each async for each in agent.list_sessions(cwd)]
        await session.close()
        loading = agent.load_session(session.id, cwd)
        replayed = [update["sessionUpdate"] async for update in loading]
        again = await loading
        after = drawn(again)
        await again.close()
        return {
            "agent": [agent.info["name"], agent.version],
            "modes": [modes["currentModeId"], len(modes["availableModes"])],
            "turns": [[turn.stop_reason, turn.message_id] for turn in (first, second)],
            "text": text,
            "kinds": kinds,
            "asked": asked,
            "listed": [each["title"] for each in listed],
            "replayed": len(replayed),
            "before": before,
            "after": after,
            "wrong": wrong,
        }


def drawn(session: aio.ClientSession) -> List[str]:
    # The agent does not replay what it thought.
    return [each.text for each in session.view.entries if each.type == "message" and each.role != "thought"]


if __name__ == "__main__":
    print(json.dumps(asyncio.run(tour(sys.argv[1], sys.argv[2:]))))
