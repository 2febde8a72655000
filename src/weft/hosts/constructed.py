"""Attributes of classes without hints.  In: a class whose `__init__` has hints; out: the hints of what it sets.

    def __init__(self, n: int): self.n = n; self.x = np.zeros(n)   -->   {"n": int, "x": weft.f64[:]}

Nothing is executed: the compiler of plain Python infers what an object holds when it has been made.
"""

from __future__ import annotations

import ast
import inspect
import types
from collections.abc import Callable
from typing import Any, Final

from weft.errors import Unsupported
from weft.frontend.source import keep
from weft.hosts import typed
from weft.plain import infer
from weft.plain.told import Refusal

_VARIADIC: Final = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def attributes(kind: type, samples: Callable[[Any], list[Any]]) -> dict[str, Any]:
    """The hints of the attributes that `__init__` sets; none if that cannot be known. `samples`: values by a hint."""
    made_by = kind.__dict__.get("__init__")
    if not isinstance(made_by, types.FunctionType) or kind.__bases__ != (object,):
        return {}
    try:
        hints = inspect.get_annotations(made_by, eval_str=True)
        parameters = list(inspect.signature(made_by).parameters.values())[1:]
        if any(parameter.kind in _VARIADIC or parameter.name not in hints for parameter in parameters):
            return {}
        _, root = infer.infer(_maker(kind, len(parameters)), [samples(hints[each.name]) for each in parameters])
        found = [head.root() for head in root.result if head.root().kind == "obj"]
        if len(found) != 1:
            return {}
        nodes = found[0].key[1].attributes
        return {name: typed.of_node(node.root()) for name, node in nodes.items()}
    except (Unsupported, Refusal, typed.NoHint, NameError, TypeError, AttributeError, SyntaxError, RecursionError):
        return {}


def _maker(kind: type, count: int) -> types.FunctionType:
    """A function that makes an object of so many arguments."""
    names = ", ".join(f"a{at}" for at in range(count))
    text = f"def made({names}):\n    return {kind.__name__}({names})\n"
    tree = ast.parse(text)
    namespace = {**vars(inspect.getmodule(kind)), kind.__name__: kind}
    scope: dict[str, Any] = {}
    exec(compile(tree, "<attributes>", "exec"), namespace, scope)
    function = scope["made"]
    keep(function.__code__, tree.body[0])  # type: ignore[arg-type]
    return function  # type: ignore[no-any-return]
