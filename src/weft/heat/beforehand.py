"""Functions that are called once and run for long.  In: the tree and the code of a script; out: code in which such
functions, at their first call, are compiled if their loops over these arguments take long enough.

Samples come too late for them.  What counts is the estimate for the arguments at hand; below it the function gets its
own code back and costs nothing more.
"""

from __future__ import annotations

import ast
import types

from weft.heat import estimate, trampoline
from weft.heat.spots import Spot

TYPE_CHECKING = False  # as typing has it, without loading typing: a script waits for these imports
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

#: Seconds of plain Python from which the wait for the compiler is sure to be won back.
HEAVY = 4.0


def candidates(tree: ast.Module) -> dict[int, ast.FunctionDef]:
    """Top-level functions with loops, by the line of their code object."""
    found = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and estimate.deepest_loop(node):
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            found[first] = node
    return found


def prepared(
    code: types.CodeType, tree: ast.Module, namespace: dict[str, Any], options: dict[str, Any], spots: list[Spot]
) -> types.CodeType:
    """The code of a module whose candidates look at the arguments of their first call."""
    found = candidates(tree)

    def replaced(constant: Any) -> Any:
        if not isinstance(constant, types.CodeType) or trampoline.unfit(constant) or constant.co_freevars:
            return constant
        node = found.get(constant.co_firstlineno)
        if node is None or node.name != constant.co_name:
            return constant
        return First(constant, node, namespace, options, spots).armed

    if not found:
        return code
    return code.replace(co_consts=tuple(map(replaced, code.co_consts)))


class First:
    """Stands in the place of a function until its first call."""

    def __init__(
        self,
        code: types.CodeType,
        tree: ast.FunctionDef,
        namespace: dict[str, Any],
        options: dict[str, Any],
        spots: list[Spot],
    ) -> None:
        self.code, self.tree, self.namespace, self.options, self.spots = code, tree, namespace, options, spots
        self.armed = trampoline.passing_on(code, self.call)

    def call(self, *args: Any, **kwargs: Any) -> Any:
        from weft.heat.manager import find_function

        function = find_function(self.armed, self.namespace)
        target: Callable[..., Any] = trampoline.like(function, self.code, self.namespace)
        if function is None:
            return target(*args, **kwargs)  # there are several of it, and each asks again
        function.__code__ = self.code
        values = dict(zip(self.code.co_varnames, (*args, *kwargs.values())))
        if estimate.seconds(self.tree, values, self.namespace) < HEAVY:
            return target(*args, **kwargs)
        return self._compiled(function, target)(*args, **kwargs)

    def _compiled(self, function: types.FunctionType, plain: Callable[..., Any]) -> Any:
        from weft.api import jit

        native: Any = jit(plain, **self.options)
        if native is plain:
            return plain
        spot = Spot(self.code, self.namespace)
        self.spots.append(spot)
        spot.taken_over(function, native)
        return native
