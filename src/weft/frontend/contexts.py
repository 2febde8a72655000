"""`with` statements that are nothing but their bodies, or a try around them.  In: the statements of a function; out:
the same, with what such statements mean in their place.

    with np.errstate(divide="ignore"): s    -->    s
    with contextlib.nullcontext(v) as x: s  -->    x = v; s
    with contextlib.suppress(KeyError): s   -->    try: s
                                                   except KeyError: pass
What a context manager is, is looked up in the function's globals; any other `with` stays as it is.
"""

from __future__ import annotations

import ast
import contextlib
import copy
from typing import Any

import numpy as np

from weft.frontend import reads
from weft.frontend.caches import without_caches
from weft.frontend.captured import with_own_variables
from weft.frontend.carrying import with_carried
from weft.frontend.desugar import without_matches

_QUIET = frozenset({"ignore", "warn", "print", "log"})


def without_contexts(
    body: list[ast.stmt], namespace: dict[str, Any], tree: ast.FunctionDef | None = None
) -> list[ast.stmt]:
    """The statements without such `with`s, `match` and caches of results; the very list if there are none.

    `tree`: the function that they are of.
    """
    body = without_caches(with_own_variables(with_carried(without_matches(body, namespace))), namespace, tree)
    if not any(isinstance(node, ast.With) for statement in body for node in ast.walk(statement)):
        return body
    opener = _Opener(namespace)
    return [new for statement in body for new in opener.opened(statement)]


class _Opener(ast.NodeTransformer):
    def __init__(self, namespace: dict[str, Any]) -> None:
        self.namespace = namespace

    def opened(self, statement: ast.stmt) -> list[ast.stmt]:
        new = self.visit(copy.deepcopy(statement))
        return new if isinstance(new, list) else [new]

    def visit_With(self, node: ast.With) -> ast.With | list[ast.stmt]:
        self.generic_visit(node)
        body = list(node.body)
        for item in reversed(node.items):
            opened = self._opened(item, body, node)
            if opened is None and len(node.items) == 1:
                return node
            # Several are one inside the other: regions (`task`, `isolated`) are known by themselves only.
            body = [ast.copy_location(ast.With(items=[item], body=body), node)] if opened is None else opened
        return body

    def _opened(self, item: ast.withitem, body: list[ast.stmt], node: ast.With) -> list[ast.stmt] | None:
        """What one context manager makes of a body; None if it is an unknown one."""
        call = item.context_expr
        if not isinstance(call, ast.Call):
            return None
        manager = reads.resolved(call.func, self.namespace)
        if manager is contextlib.nullcontext and not call.keywords and len(call.args) <= 1:
            value = call.args[0] if call.args else ast.Constant(value=None)
            if item.optional_vars is None:
                entered: ast.stmt = ast.Expr(value=value)
            else:
                entered = ast.Assign(targets=[item.optional_vars], value=value)
            return [ast.fix_missing_locations(ast.copy_location(entered, node)), *body]
        if manager is contextlib.suppress and not call.keywords and item.optional_vars is None:
            kinds = ast.Tuple(elts=call.args, ctx=ast.Load())
            handler = ast.ExceptHandler(type=kinds, name=None, body=[ast.Pass()])
            tried = ast.Try(body=body, handlers=[handler], orelse=[], finalbody=[])
            return [ast.fix_missing_locations(ast.copy_location(tried, node))]
        return body if item.optional_vars is None and not call.args and self._idle(manager, call) else None

    def _idle(self, manager: Any, call: ast.Call) -> bool:
        return manager is np.errstate and all(
            keyword.arg not in (None, "call")
            and isinstance(keyword.value, ast.Constant)
            and keyword.value.value in _QUIET
            for keyword in call.keywords
        )
