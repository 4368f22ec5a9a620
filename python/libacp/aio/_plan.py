"""A plan of a session, beside others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Mapping, Optional, Sequence, Union

from .._attributes import Attributes
from ._host import with_meta
from ._told import Told

if TYPE_CHECKING:
    from libacp.types import v1, v2


class Plan:
    """One of the plans of a session; `AgentSession.plan` creates it. In version 1 a session has one plan: the one that was
    set last.
    """

    __slots__ = Attributes(__name__, "Plan", "id _session __weakref__")

    id: str
    """The id of the plan. That of `Turn.plan` is ``main``."""

    def __init__(self, session: Told, id: str) -> None:
        self._session = session
        self.id = id

    async def set(
        self,
        entries: Sequence[Union[str, v1.PlanEntry, v2.PlanEntry]],
        *,
        meta: Optional[Mapping[str, Any]] = None,
    ) -> None:
        """Sends the complete plan; a string stands for a pending entry of medium priority."""
        plan = {"type": "items", "planId": self.id, "entries": [step(entry) for entry in entries]}
        await self._session._update(with_meta({"sessionUpdate": "plan_update", "plan": plan}, meta))

    async def remove(self, *, meta: Optional[Mapping[str, Any]] = None) -> None:
        """Takes the plan away. Without the draft ``plan_operations``, it stays without entries."""
        await self._session._update(with_meta({"sessionUpdate": "plan_removed", "planId": self.id}, meta))

    def __repr__(self) -> str:
        return f"<Plan {self.id!r} of {self._session!r}>"


def step(entry: Union[str, v1.PlanEntry, v2.PlanEntry]) -> Mapping[str, Any]:
    """An entry of a plan; a string stands for a pending one."""
    return {"content": entry, "priority": "medium", "status": "pending"} if isinstance(entry, str) else entry
