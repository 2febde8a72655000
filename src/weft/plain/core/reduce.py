"""The way in: the tree of a function or class comes, its Core goes, a new tree that can be printed."""

from __future__ import annotations

import ast
import copy
from collections.abc import Collection

from weft.errors import APART
from weft.plain.core.build import function, place
from weft.plain.core.expressions import reduce
from weft.plain.core.frame import Frame, Names
from weft.plain.core.refuse import WAITLESS, NotCore
from weft.plain.core.scopes import bound_identifiers, scope_of
from weft.plain.core.statements import reduce_block

# Builtins that see the variables of their caller by name.
_SEE_VARIABLES = frozenset({"locals", "exec", "eval"})
_SEE_VARIABLES_WITHOUT_ARGUMENTS = frozenset({"vars", "dir"})
_BY_NAME = "name the variables that you need: {'x': x}"
_OUTSIDE = "define the class outside the compiled function"


def core_function(
    tree: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda,
    *,
    fixed: Collection[str] = (),
    shadowed: Collection[str] = (),
) -> ast.FunctionDef:
    """The Core of a function, a new tree; a lambda becomes a `def` with a return.

    Its decorators have been called already and are dropped. Its default values and annotations belong to the scope
    around it and stay as they are. fixed: globals and closure variables that are not rebound while the function runs,
    which saves temporaries; shadowed: names of builtins that mean something else in its module or closure.
    """
    if isinstance(tree, ast.AsyncFunctionDef):
        raise NotCore(tree, "an `async def`", WAITLESS)
    tree = copy.deepcopy(tree)
    if isinstance(tree, ast.Lambda):
        tree = function("_lambda", tree.args, [place(ast.Return(tree.body), tree.body)], tree)
    _refuse_looks(tree, shadowed)
    tree.decorator_list = []
    return _function(Names(tree, fixed, shadowed), tree)


def core_class(tree: ast.ClassDef, *, fixed: Collection[str] = (), shadowed: Collection[str] = ()) -> ast.ClassDef:
    """A class with the bodies of its methods in Core, a new tree; everything else in it stays as it is."""
    tree = copy.deepcopy(tree)
    _refuse_looks(tree, shadowed)
    _class_body(Names(tree, fixed, shadowed), tree)
    return tree


def print_core(tree: ast.AST) -> str:
    return ast.unparse(tree)


def _function(names: Names, tree: ast.FunctionDef) -> ast.FunctionDef:
    """Reduce a function's body in place."""
    scope = scope_of(tree)
    frame = Frame(names, scope, reduce_block, _function, reduce, _class_body, scope.parameters - scope.deleted)
    documented = ast.get_docstring(tree, clean=False) is not None
    first, rest = (tree.body[:1], tree.body[1:]) if documented else ([], tree.body)
    tree.body = first + reduce_block(frame, rest)
    return tree


def _class_body(names: Names, tree: ast.ClassDef) -> None:
    """Reduce a class's methods in place, those under `if` and `try` included."""
    _methods(names, tree.body)


def _methods(names: Names, statements: list[ast.stmt]) -> None:
    for statement in statements:
        if isinstance(statement, (ast.Global, ast.Nonlocal)):
            raise NotCore(statement, f"`{type(statement).__name__.lower()}` in the body of a class", _OUTSIDE)
        if isinstance(statement, ast.AsyncFunctionDef):
            raise NotCore(statement, "an `async def`", WAITLESS)
        if isinstance(statement, ast.FunctionDef):
            _function(names, statement)
        elif isinstance(statement, ast.ClassDef):
            _class_body(names, statement)
        else:
            for name in ("body", "orelse", "finalbody"):
                _methods(names, getattr(statement, name, []))
            for inner in (*getattr(statement, "handlers", []), *getattr(statement, "cases", [])):
                _methods(names, inner.body)


def _refuse_looks(tree: ast.AST, shadowed: Collection[str]) -> None:
    """Temporaries and renamed variables would be seen by these."""
    bound = {*bound_identifiers(tree), *shadowed}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in _SEE_VARIABLES - bound:
            remedy = _BY_NAME if node.id == "locals" else APART
            raise NotCore(node, f"`{node.id}`, which looks at the variables of the function", remedy)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.args and not node.keywords:
            if node.func.id in _SEE_VARIABLES_WITHOUT_ARGUMENTS - bound:
                raise NotCore(node, f"`{node.func.id}()`, which looks at the variables of the function", _BY_NAME)
        if getattr(node, "type_params", None):
            raise NotCore(node, "type parameters", "leave them out")
