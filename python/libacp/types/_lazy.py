"""Makes the types of a generated module when they are first asked for.

A module of the protocol's types has some hundred ``TypedDict``s. Making them all takes longer than everything else
that importing libacp does, and a program needs few of them while it runs. So the generated modules hold them as text,
and this turns one into the type, with those that it names.
"""

import sys
from typing import Any, Callable, Dict, List, Mapping, Tuple

Module = Tuple[Callable[[str], Any], Callable[[], List[str]]]


class _Scope(Dict[str, Any]):
    """The names that the text of a type may use: what ``typing`` has, and the module's own types, made on the way."""

    def __init__(
        self,
        module: str,
        records: Mapping[str, Mapping[str, str]],
        aliases: Mapping[str, str],
        protocols: Mapping[str, bool],
    ) -> None:
        import typing

        super().__init__(Any=typing.Any, Literal=typing.Literal, Union=typing.Union)
        self._module = module
        self._records = records
        self._aliases = aliases
        self._protocols = protocols

    def __missing__(self, name: str) -> Any:
        if name in self._records:
            made = self._record(name, self._records[name])
        elif name in self._aliases:
            made = self._evaluate(self._aliases[name])
        elif name in self._protocols:
            made = self._protocol(name, self._protocols[name])
        else:
            raise KeyError(name)
        # Another thread may have made the same one meanwhile; all must see one.
        return self.setdefault(name, made)

    def _evaluate(self, text: str) -> Any:
        # The text is the generated module's own, never a peer's.
        return eval(text, {}, self)  # noqa: S307

    def _record(self, name: str, members: Mapping[str, str]) -> Any:
        import types
        import typing

        # Checkers see through neither, as both are made of values here.
        typed_dict: Any = typing.TypedDict
        must: Dict[str, Any] = {}
        may: Dict[str, Any] = {}
        for member, text in members.items():
            (may if member.endswith("?") else must)[member.rstrip("?")] = self._evaluate(text)
        made = typed_dict(name, must)
        if may:
            # The one way to say "may be absent" that Python 3.9 knows: a class whose other members come from a base.
            body = {"__annotations__": may, "__module__": self._module}
            made = types.new_class(name, (made,), {"total": False}, lambda space: space.update(body))
        made.__module__ = self._module
        return made

    def _protocol(self, name: str, generic: bool) -> Any:
        import types
        import typing

        def __call__(self: Any, method: str, params: Any, /) -> Any: ...

        sent = typing.TypeVar("sent", covariant=True)
        protocol: Any = typing.Protocol
        base = protocol[sent] if generic else protocol
        body = {"__call__": __call__, "__module__": self._module}
        return types.new_class(name, (base,), {}, lambda space: space.update(body))


def lazy(
    module: str,
    records: Mapping[str, Mapping[str, str]],
    aliases: Mapping[str, str],
    protocols: Mapping[str, bool],
) -> Module:
    """The ``__getattr__`` and ``__dir__`` of a module that has these types."""
    scope: List[_Scope] = []

    def __getattr__(name: str) -> Any:
        if name not in records and name not in aliases and name not in protocols:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        if not scope:
            scope.append(_Scope(module, records, aliases, protocols))
        made = scope[0][name]
        setattr(sys.modules[module], name, made)
        return made

    def __dir__() -> List[str]:
        names = {*vars(sys.modules[module]), *records, *aliases, *protocols}
        return sorted(names)

    return __getattr__, __dir__
