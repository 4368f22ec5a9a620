"""The conversations that the full agent keeps, and what a user can set in them."""

import datetime
from typing import Any, Dict, List, Optional, Sequence

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
        self.options: Dict[str, Any] = {"model": "small", "web": False}
        self.title: Optional[str] = None
        self.updated = ""
        self.history: List[Any] = []
        self.touch()

    def add(self, kind: str, blocks: Sequence[Any]) -> None:
        """Keeps a message."""
        id = f"message-{len(self.history)}"
        self.history += [{"sessionUpdate": kind, "content": block, "messageId": id} for block in blocks]

    def touch(self) -> None:
        self.updated = datetime.datetime.now(datetime.timezone.utc).isoformat()

    @property
    def info(self) -> Dict[str, Any]:
        """As `session/list` has it."""
        more = {"additionalDirectories": self.roots[1:]} if self.roots[1:] else {}
        return {"sessionId": self.id, "cwd": self.cwd, "title": self.title, "updatedAt": self.updated, **more}

    @property
    def modes(self) -> Dict[str, Any]:
        available = [{"id": id, "name": id.title(), "description": text} for id, text in MODES.items()]
        return {"currentModeId": self.mode, "availableModes": available}

    def config_options(self, booleans: bool) -> List[Dict[str, Any]]:
        """All options; a client that does not take switches gets none."""
        groups = [
            {"group": name.lower(), "name": name, "options": [{"value": each, "name": each.title()} for each in models]}
            for name, models in MODELS.items()
        ]
        model = {"type": "select", "id": "model", "name": "Model", "category": "model", "options": groups}
        found = [{**model, "currentValue": self.options["model"]}]
        if booleans:
            found.append({"type": "boolean", "id": "web", "name": "Search the web", "currentValue": self.options["web"]})
        return found

    def set(self, id: str, value: Any) -> bool:
        """Sets an option, if there is such a one."""
        fits = {"model": value in sum(MODELS.values(), []), "web": isinstance(value, bool)}
        if not fits.get(id):
            return False
        self.options[id] = value
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

    def page(self, cwd: Optional[str], cursor: Optional[str]) -> Dict[str, Any]:
        """Some conversations, those of a directory or all, and where the next ones begin."""
        found = [each for each in self._all.values() if cwd in (None, each.cwd)]
        begin = int(cursor or 0)
        more = {"nextCursor": str(begin + PAGE)} if len(found) > begin + PAGE else {}
        return {"sessions": [each.info for each in found[begin : begin + PAGE]], **more}
