"""`with` statements that change no result.  In: the statements of a function; out: the same, with the bodies of such
statements in their place.

    with np.errstate(divide="ignore"): s    -->    s

What a context manager is, is looked up in the function's globals; any other `with` stays as it is.
"""

from __future__ import annotations

import ast
import contextlib
import copy
from collections.abc import Mapping
from typing import Any

import numpy as np

_QUIET = frozenset({"ignore", "warn", "print", "log"})


def without_contexts(body: list[ast.stmt], namespace: Mapping[str, Any]) -> list[ast.stmt]:
    """The statements without idle `with`s; the very list if there are none."""
    if not any(isinstance(node, ast.With) for statement in body for node in ast.walk(statement)):
        return body
    opener = _Opener(namespace)
    return [new for statement in body for new in opener.opened(statement)]


class _Opener(ast.NodeTransformer):
    def __init__(self, namespace: Mapping[str, Any]) -> None:
        self.namespace = namespace

    def opened(self, statement: ast.stmt) -> list[ast.stmt]:
        new = self.visit(copy.deepcopy(statement))
        return new if isinstance(new, list) else [new]

    def visit_With(self, node: ast.With) -> ast.With | list[ast.stmt]:
        self.generic_visit(node)
        return node.body if all(self._idle(item) for item in node.items) else node

    def _idle(self, item: ast.withitem) -> bool:
        call = item.context_expr
        if not isinstance(call, ast.Call) or item.optional_vars is not None or call.args:
            return False
        manager = self._found(call.func)
        if manager is contextlib.nullcontext:
            return not call.keywords
        return manager is np.errstate and all(
            keyword.arg not in (None, "call")
            and isinstance(keyword.value, ast.Constant)
            and keyword.value.value in _QUIET
            for keyword in call.keywords
        )

    def _found(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Name):
            return self.namespace.get(node.id)
        if isinstance(node, ast.Attribute):
            return getattr(self._found(node.value), node.attr, None)
        return None
