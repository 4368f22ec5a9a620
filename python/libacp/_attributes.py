"""What `help` says of attributes: the text below each, which stands in the source and is read when it is asked for."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Dict

    Texts = Dict[str, str]
else:
    Texts = dict


class Attributes(Texts):
    """The ``__slots__`` of a class, by name. Python's `help` lists what is in there, and takes the texts from it.

    Editors and pdoc read the text below an attribute; a running program has lost it. So this looks for it in the source.
    """

    def __init__(self, module: str, kind: str, names: str) -> None:
        super().__init__(dict.fromkeys(names.split(), ""))
        self._module, self._kind = module, kind

    def __getitem__(self, name: str) -> str:
        return _texts(self._module, self._kind).get(name, "")


def _texts(module: str, kind: str) -> "Texts":
    """The texts below the attributes of a class; none where there is no source."""
    import ast
    import inspect
    import sys

    found: "Texts" = {}
    try:
        body = ast.parse(inspect.getsource(sys.modules[module])).body
    except (KeyError, OSError, TypeError, SyntaxError):
        return found
    for node in body:
        if not isinstance(node, ast.ClassDef) or node.name != kind:
            continue
        for above, below in zip(node.body, node.body[1:]):
            named = isinstance(above, ast.AnnAssign) and isinstance(above.target, ast.Name)
            if named and isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant):
                found[ast.unparse(above.target)] = inspect.cleandoc(str(below.value.value))  # type: ignore[attr-defined]
    return found
