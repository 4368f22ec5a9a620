# pyright: strict, reportUnusedExpression=false
"""What type checkers must make of views. Checked and never run."""

from typing import List, Optional, Tuple

import libacp
from libacp import aio, view
from libacp.types import v1
from libacp.views import ViewChanges, ViewModes, ViewQuestion, ViewSnapshot


def shown(entry: view.Entry) -> str:
    """Every kind of entry is told apart by its class."""
    if isinstance(entry, view.Message):
        for block in entry.blocks:
            if block["type"] == "text":
                print(block["text"])
        return f"{entry.role}: {entry.text}{entry.added(None)}"
    if isinstance(entry, view.ToolCall):
        for item in entry.content:
            if item["type"] == "terminal":
                print(item["terminalId"])
        path: List[str] = [location["path"] for location in entry.locations]
        return f"{entry.title} {entry.kind} {entry.status} {path} {entry.permission} {entry.raw_input}"
    if isinstance(entry, view.Plan):
        step: List[v1.PlanEntry] = entry.entries
        return "".join(each["content"] for each in step)
    if isinstance(entry, view.Compaction):
        return entry.status + entry.text
    if isinstance(entry, view.Subagent):
        return str(entry.title) + "".join(entry.additional_directories)
    if isinstance(entry, view.Notice):
        return entry.severity + str(entry.description)
    if isinstance(entry, view.Update):
        return entry.kind
    return str(entry.id)


def look(seen: libacp.View) -> None:
    entries: Tuple[view.Entry, ...] = seen.entries
    terminals: Tuple[view.Terminal, ...] = seen.terminals
    print([shown(entry) for entry in entries], [terminal.output + str(terminal.before) for terminal in terminals])
    state: str = seen.state
    reason: Optional[str] = seen.stop_reason
    questions: List[ViewQuestion] = seen.questions
    modes: Optional[ViewModes] = seen.modes
    print(state, reason, questions[0]["serial"], modes and modes["currentModeId"], seen.usage, seen.frozen, seen.epoch + 1)
    message: Optional[view.Message] = seen.message("m")
    tool: Optional[view.ToolCall] = seen.tool("t")
    print(message, tool, seen.terminal("t"), seen.plan(), seen.plan("p"))
    follower: view.Follower = seen.follow()
    changes: Optional[view.Changes] = follower.take()
    if changes:
        print(changes.before.get(1), "state" in changes.names, changes.reset, changes.removed, changes.revision)
    since: view.Changes = seen.since(5)
    print(since.entries, seen.forget())


async def follow(client: aio.Client, session: aio.ClientSession) -> None:
    look(session.view)
    async for changes in session.changes():
        for entry in changes.entries:
            if isinstance(entry, view.Message):
                print(changes.added(entry), entry.continues(changes.before.get(entry.index)))
        for terminal in changes.terminals:
            print(changes.added(terminal))
    forgotten: bool = session.forget_view()
    print(forgotten)


def low(connection: libacp.Connection, observer: libacp.Observer) -> None:
    look(libacp.View(connection, "s"))
    look(view.View(observer, "s"))
    whole: Optional[ViewSnapshot] = connection.view("s")
    changes: Optional[ViewChanges] = observer.view_since("s", 5)
    print(whole and whole["entries"], changes and changes["reset"])


def wrong(seen: libacp.View, changes: view.Changes) -> None:
    """Each of these is a mistake that a checker must see."""
    seen.state = "idle"  # type: ignore[misc]
    seen.entries[0].text  # type: ignore[attr-defined]
    seen.tool("t").title  # type: ignore[union-attr]
    seen.turns  # type: ignore[attr-defined]
    changes.added(seen.entries[0])  # type: ignore[arg-type]
    aio.Client(view="yes")  # type: ignore[arg-type]
    aio.Agent("a", view=True)  # type: ignore[call-arg]
    libacp.View("s", "s")  # type: ignore[arg-type]
