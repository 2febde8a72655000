"""Nested functions whose results are kept.  In: the statements of a function; out: the same, with a dict and a look
into it for each nested function decorated with functools.cache, or functools.lru_cache(maxsize=None).

    @cache                           memo = {}
    def f(i, j):                     def f(i, j):
        s                   -->          if (i, j) in memo: return memo[i, j]
                                         def body(i, j): s
                                         value = body(i, j); memo[i, j] = value; return value
A function of the module that is decorated so, and called here, counts as nested.  What a decorator is, is looked up in
the function's globals; any other one stays.  Calls with keywords have entries of their own in Python's cache: such
functions stay as they are, too.
"""

from __future__ import annotations

import ast
import copy
import functools
import types
from typing import Any

from weft.frontend import reads
from weft.frontend.source import load, parameters_of, parsed

#: The attribute of a definition inside another one, which has seen to the calls in it.
_NESTED = "is_nested"

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


def without_caches(
    body: list[ast.stmt], namespace: dict[str, Any], tree: ast.FunctionDef | None = None
) -> list[ast.stmt]:
    """The statements without such decorators; the very list if there are none.

    `tree`: the function that they are of, whose calls of functions of the module count, too.
    """
    for statement in body:
        for node in ast.walk(statement):
            if isinstance(node, ast.FunctionDef):
                setattr(node, _NESTED, True)
    if tree is not None and not hasattr(tree, _NESTED):
        outside = _from_outside(body, namespace, parameters_of(tree))
        body = [*outside, *body] if outside else body
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


def _from_outside(body: list[ast.stmt], namespace: dict[str, Any], taken: frozenset[str]) -> list[ast.stmt]:
    """The functions of the module that the statements call and whose results are kept, as nested functions.

    They give the same for the same arguments if they use nothing but their arguments, functions and constants: then it
    does not matter which calls share a result.  `taken`: the names of the function's parameters.
    """
    nodes = [node for statement in body for node in ast.walk(statement)]
    own = taken | {node.id for node in nodes if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    own |= {node.name for node in nodes if isinstance(node, ast.FunctionDef)}
    found: dict[str, ast.FunctionDef] = {}
    waiting = _called(body)
    while waiting:
        name = waiting.pop()
        thing = reads.entry(namespace, name)
        if name in found or name in own or not isinstance(thing, functools._lru_cache_wrapper):
            continue
        plain = thing.__wrapped__
        if plain.__globals__ is not namespace or plain.__closure__ or thing.cache_parameters()["maxsize"] is not None:
            return []
        reads.function(plain)
        tree = load(plain).tree
        if tree.name != name or not _lasting(tree, namespace) or _free(tree) & own:
            return []
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                setattr(node, _NESTED, True)
        found[name] = tree
        waiting += _called(tree.body)
    return list(found.values())


def _called(body: list[ast.stmt]) -> list[str]:
    calls = [node.func for statement in body for node in ast.walk(statement) if isinstance(node, ast.Call)]
    return [function.id for function in calls if isinstance(function, ast.Name)]


def _free(tree: ast.FunctionDef) -> set[str]:
    """The names that a function takes from its module."""
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    mine = {node.id for node in names if not isinstance(node.ctx, ast.Load)}
    mine |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    return {node.id for node in names} - mine


def _lasting(tree: ast.FunctionDef, namespace: dict[str, Any]) -> bool:
    """Whether what a function takes from its module stays what it is: functions, modules, numbers in capitals."""
    for name in _free(tree):
        thing = reads.entry(namespace, name)
        if not (callable(thing) or isinstance(thing, types.ModuleType) or name not in namespace):
            if not (name.isupper() and isinstance(thing, (int, float))):
                return False
    return not any(isinstance(node, (ast.Global, ast.Nonlocal)) for node in ast.walk(tree))


class _Opener(ast.NodeTransformer):
    def __init__(self, namespace: dict[str, Any], odd: set[str]) -> None:
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
        memo, outer = parsed(filled)
        for part in (memo, outer):
            for inner in ast.walk(part):
                ast.copy_location(inner, node)
        assert isinstance(outer, ast.FunctionDef)
        body = outer.body[1]
        assert isinstance(body, ast.FunctionDef)
        outer.args, body.args, body.body = copy.deepcopy(spec), spec, node.body
        for made in (outer, body):
            setattr(made, _NESTED, True)
        body.col_offset += 1  # functions are told apart by their places
        return [memo, outer]

    def _keeps(self, decorator: ast.expr) -> bool:
        """Whether a decorator keeps all results."""
        if not isinstance(decorator, ast.Call):
            return reads.resolved(decorator, self.namespace) is functools.cache
        given = [*decorator.args, *(keyword.value for keyword in decorator.keywords if keyword.arg == "maxsize")]
        count = len(decorator.args) + len(decorator.keywords)
        unbounded = len(given) == count == 1 and isinstance(given[0], ast.Constant) and given[0].value is None
        return unbounded and reads.resolved(decorator.func, self.namespace) is functools.lru_cache
