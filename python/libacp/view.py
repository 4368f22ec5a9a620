"""Sessions as conversations.

A `View` is what a client shows of a session: the messages with their text in one piece, the tool calls with all that was
said of them, plans, terminals, and what the session has one of, such as its state and its title. It is the same for both
versions of the protocol. A connection and an observer keep views if they are made with ``view=True``:

    connection = libacp.Connection("client", view=True)
    ...
    view = libacp.View(connection, session_id)
    for entry in view.entries:
        if isinstance(entry, libacp.view.Message):
            print(entry.role, entry.text)

In `libacp.aio`, ``Client(view=True)`` gives each session a `view`, and ``async for changes in session.changes()`` follows
it.
"""

from ._entries import Compaction, Message, Notice, Plan, Subagent, Terminal, ToolCall, Update
from ._entry import Entry
from ._view import Changes, Follower, View

__all__ = [
    "Changes",
    "Compaction",
    "Entry",
    "Follower",
    "Message",
    "Notice",
    "Plan",
    "Subagent",
    "Terminal",
    "ToolCall",
    "Update",
    "View",
]
