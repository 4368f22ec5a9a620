"""The protocol's messages as types: :mod:`libacp.types.v1` and :mod:`libacp.types.v2`.

Neither is imported before it is used. Both describe plain dicts, as ``json.loads`` gives them.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from . import v1 as v1
    from . import v2 as v2

__all__ = ["v1", "v2"]


def __getattr__(name: str) -> object:
    if name in __all__:
        from importlib import import_module

        return import_module("." + name, __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
