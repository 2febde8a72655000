"""Variables of comprehensions, set apart from those that nested functions look up when they are called.  In: the
statements of a function; out: the same, with another name for such a variable.

    k = 1                                          k = 1
    f = lambda x: x + k                    -->     f = lambda x: x + k
    return [f(k) for k in range(3)]                return [f(k_own) for k_own in range(3)]
"""

from __future__ import annotations

import ast
import copy
from typing import Union

from weft.frontend.liveness import target_names, used

_Comprehension = Union[ast.ListComp, ast.GeneratorExp, ast.SetComp, ast.DictComp]
_COMPREHENSIONS = (ast.ListComp, ast.GeneratorExp, ast.SetComp, ast.DictComp)


def with_own_variables(body: list[ast.stmt]) -> list[ast.stmt]:
    """No variable of a comprehension has the name of one that a nested function would look up while it runs."""
    nodes = [node for statement in body for node in ast.walk(statement)]
    taken = frozenset[str]().union(*(used(node) for node in nodes if isinstance(node, (ast.FunctionDef, ast.Lambda))))
    if not taken or not any(isinstance(node, _COMPREHENSIONS) and _shadowing(node, taken) for node in nodes):
        return body
    whole = ast.Module(body=copy.deepcopy(body), type_ignores=[])
    _Renaming(taken).visit(whole)
    return whole.body


def _shadowing(node: _Comprehension, taken: frozenset[str]) -> frozenset[str]:
    bound = frozenset(name for part in node.generators for name in target_names(part.target))
    parameters = {part.arg for part in ast.walk(node) if isinstance(part, ast.arg)}
    return (bound & taken) - parameters


class _Renaming(ast.NodeTransformer):
    def __init__(self, taken: frozenset[str]) -> None:
        self.taken = taken

    def visit(self, node: ast.AST) -> ast.AST:
        if isinstance(node, _COMPREHENSIONS):
            names = _shadowing(node, self.taken)
            # The first iterable is evaluated outside of the comprehension.
            outside = {id(part) for part in ast.walk(node.generators[0].iter)}
            for part in ast.walk(node):
                if isinstance(part, ast.Name) and part.id in names and id(part) not in outside:
                    part.id = f"{part.id}_own"
        return self.generic_visit(node)
