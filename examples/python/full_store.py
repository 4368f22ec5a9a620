"""The conversations that the full agent keeps, and what a user can set in them."""

from __future__ import annotations

import datetime
from typing import Dict, List, Optional, Sequence, Union

from libacp.types import v1

MODES = {"ask": "Ask before changes", "code": "Change files at once"}
MODELS = {"Local": ["small", "large"], "Hosted": ["huge"]}
PAGE = 2


class Conversation:
    """What is left of a session when it is closed."""

    def __init__(self, id: str, cwd: str, roots: List[str]) -> None:
        self.id = id
        self.cwd = cwd
        self.roots = roots
        self.mode = "ask"
        self.model = "small"
        self.web = False
        self.title: Optional[str] = None
        self.updated = ""
        self.history: List[v1.SessionUpdate] = []
        self.touch()

    def asked(self, blocks: Sequence[v1.ContentBlock]) -> None:
        """Keeps what the user has said."""
        id = self._message_id
        for block in blocks:
            self.history.append({"sessionUpdate": "user_message_chunk", "content": block, "messageId": id})

    def answered(self, text: str) -> None:
        """Keeps what the agent has said."""
        block: v1.ContentBlock = {"type": "text", "text": text}
        self.history.append({"sessionUpdate": "agent_message_chunk", "content": block, "messageId": self._message_id})

    def touch(self) -> None:
        self.updated = datetime.datetime.now(datetime.timezone.utc).isoformat()

    @property
    def _message_id(self) -> str:
        return f"message-{len(self.history)}"

    @property
    def info(self) -> v1.SessionInfo:
        """As `session/list` has it."""
        info: v1.SessionInfo = {"sessionId": self.id, "cwd": self.cwd, "title": self.title, "updatedAt": self.updated}
        if self.roots[1:]:
            info["additionalDirectories"] = self.roots[1:]
        return info

    @property
    def modes(self) -> v1.SessionModeState:
        available: List[v1.SessionMode] = [
            {"id": id, "name": id.title(), "description": text} for id, text in MODES.items()
        ]
        return {"currentModeId": self.mode, "availableModes": available}

    def config_options(self, booleans: bool) -> List[v1.SessionConfigOption]:
        """All options; a client that does not take switches gets none."""
        groups: v1.SessionConfigSelectOptions = [
            {"group": name.lower(), "name": name, "options": [{"value": each, "name": each.title()} for each in models]}
            for name, models in MODELS.items()
        ]
        found: List[v1.SessionConfigOption] = [
            {
                "type": "select",
                "id": "model",
                "name": "Model",
                "category": "model",
                "currentValue": self.model,
                "options": groups,
            }
        ]
        if booleans:
            found.append({"type": "boolean", "id": "web", "name": "Search the web", "currentValue": self.web})
        return found

    def set(self, id: str, value: Union[str, bool]) -> bool:
        """Sets an option, if there is such a one."""
        if id == "web" and isinstance(value, bool):
            self.web = value
        elif id == "model" and isinstance(value, str) and value in sum(MODELS.values(), []):
            self.model = value
        else:
            return False
        return True


class Store:
    """All conversations, of all clients of this process."""

    def __init__(self) -> None:
        self._all: Dict[str, Conversation] = {}

    def add(self, conversation: Conversation) -> None:
        self._all[conversation.id] = conversation

    def find(self, id: str) -> Optional[Conversation]:
        return self._all.get(id)

    def remove(self, id: str) -> None:
        self._all.pop(id, None)

    def page(self, cwd: Optional[str], cursor: Optional[str]) -> v1.ListSessionsResponse:
        """Some conversations, those of a directory or all, and where the next ones begin."""
        found = [each for each in self._all.values() if cwd in (None, each.cwd)]
        begin = int(cursor or 0)
        page: v1.ListSessionsResponse = {"sessions": [each.info for each in found[begin : begin + PAGE]]}
        if len(found) > begin + PAGE:
            page["nextCursor"] = str(begin + PAGE)
        return page
