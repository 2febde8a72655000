"""Nested functions whose results are kept.  In: the statements of a function; out: the same, with a dict and a look
into it for each nested function decorated with functools.cache, or functools.lru_cache(maxsize=None).

    @cache                           memo = {}
    def f(i, j):                     def f(i, j):
        s                   -->          if (i, j) in memo: return memo[i, j]
                                         def body(i, j): s
                                         value = body(i, j); memo[i, j] = value; return value
What a decorator is, is looked up in the function's globals; any other one stays.  Calls with keywords have entries of
their own in Python's cache: such functions stay as they are, too.
"""

from __future__ import annotations

import ast
import copy
import functools
from collections.abc import Mapping
from typing import Any

_TEMPLATE = """
{memo} = {{}}
def {name}():
    if {key} in {memo}:
        return {memo}[{key}]
    def {body}(): pass
    {value} = {body}({arguments})
    {memo}[{key}] = {value}
    return {value}
"""


def without_caches(body: list[ast.stmt], namespace: Mapping[str, Any]) -> list[ast.stmt]:
    """The statements without such decorators; the very list if there are none."""
    nodes = [node for statement in body for node in ast.walk(statement)]
    if not any(isinstance(node, ast.FunctionDef) and node.decorator_list for node in nodes):
        return body
    calls = [node for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
    odd = {
        call.func.id
        for call in calls
        if isinstance(call.func, ast.Name) and (call.keywords or any(isinstance(a, ast.Starred) for a in call.args))
    }
    opener = _Opener(namespace, odd)
    return [new for statement in body for new in opener.opened(statement)]


class _Opener(ast.NodeTransformer):
    def __init__(self, namespace: Mapping[str, Any], odd: set[str]) -> None:
        self.namespace, self.odd = namespace, odd

    def opened(self, statement: ast.stmt) -> list[ast.stmt]:
        new = self.visit(copy.deepcopy(statement))
        return new if isinstance(new, list) else [new]

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        self.generic_visit(node)
        spec = node.args
        plain = not (spec.vararg or spec.kwarg or spec.kwonlyargs or spec.defaults)
        names = [argument.arg for argument in [*spec.posonlyargs, *spec.args]]
        if len(node.decorator_list) != 1 or not names or not plain or node.name in self.odd:
            return node
        if not self._keeps(node.decorator_list[0]):
            return node
        arguments = ", ".join(names)
        filled = _TEMPLATE.format(
            name=node.name,
            memo=f"__weft_memo_{node.name}",
            body=f"__weft_body_{node.name}",
            value=f"__weft_value_{node.name}",
            key=f"({arguments})",
            arguments=arguments,
        )
        memo, outer = ast.parse(filled).body
        for part in (memo, outer):
            for inner in ast.walk(part):
                ast.copy_location(inner, node)
        assert isinstance(outer, ast.FunctionDef)
        body = outer.body[1]
        assert isinstance(body, ast.FunctionDef)
        outer.args, body.args, body.body = copy.deepcopy(spec), spec, node.body
        body.col_offset += 1  # functions are told apart by their places
        return [memo, outer]

    def _keeps(self, decorator: ast.expr) -> bool:
        """Whether a decorator keeps all results."""
        if not isinstance(decorator, ast.Call):
            return self._found(decorator) is functools.cache
        given = [*decorator.args, *(keyword.value for keyword in decorator.keywords if keyword.arg == "maxsize")]
        count = len(decorator.args) + len(decorator.keywords)
        unbounded = len(given) == count == 1 and isinstance(given[0], ast.Constant) and given[0].value is None
        return unbounded and self._found(decorator.func) is functools.lru_cache

    def _found(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Name):
            return self.namespace.get(node.id)
        if isinstance(node, ast.Attribute):
            return getattr(self._found(node.value), node.attr, None)
        return None
