"""Nested functions that call themselves, made to stand alone.  In: the definition of one, and what the names denote
that it takes from around it; out: an equal function that is given all of these as parameters.

    def rec(k):                                def rec(k, *, n, out):
        nonlocal out                               if k == n:
        if k == n:                      -->            out += 1
            out += 1                                   return None, out
            return                                 rec(k + 1)   # which sets n and out here, too
        rec(k + 1)                                 return None, out
A variable that it changes comes back as a further result, so that all calls see one value of it.  Other nested
functions that it calls become its own.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence

from weft.frontend.liveness import nonlocals
from weft.frontend.scope import Scope
from weft.frontend.values import Closure, Value
from weft.records import dataclass

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


@dataclass(frozen=True)
class Surroundings:
    """What a nested function takes from around it: values by name, the names it assigns to, functions it calls."""

    values: dict[str, Value]
    shared: tuple[str, ...]
    helpers: tuple[ast.FunctionDef, ...]


def own_names(tree: ast.FunctionDef) -> set[str]:
    """Names that a function, or one inside it, has variables of."""
    arguments = {part.arg for part in ast.walk(tree) if isinstance(part, ast.arg)}
    stored = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
    functions = {part.name for part in ast.walk(tree) if isinstance(part, ast.FunctionDef)}
    return (arguments | stored | functions) - nonlocals([tree])


def surroundings(tree: ast.FunctionDef, scope: Scope) -> Surroundings | str:
    """What a function defined in a scope needs of it; a text says why that cannot be told."""
    values: dict[str, Value] = {}
    helpers: list[ast.FunctionDef] = []
    shared: set[str] = set()
    waiting = [tree]
    while waiting:
        current = waiting.pop(0)
        if any(isinstance(part, ast.Global) for part in ast.walk(current)):
            return f"the recursive function {current.name}, which changes global variables"
        own, changed = own_names(current), nonlocals([current])
        used = [part.id for part in ast.walk(current) if isinstance(part, ast.Name) and part.id not in own]
        for name in dict.fromkeys([*used, *sorted(changed)]):
            value = _found(scope, name)
            if value is None or name in values or name == tree.name:
                continue
            if isinstance(value, Closure) and isinstance(value.tree, ast.FunctionDef):
                if value.tree not in helpers:
                    if value.scope is not scope or value.defaults:
                        return f"the nested function {name} in the recursive function {tree.name}"
                    helpers.append(value.tree)
                    waiting.append(value.tree)
                continue
            values[name] = value
            shared |= {name} & changed
        if current is not tree and {*used, *changed} & (own_names(tree) - {tree.name}):
            return f"the nested function {current.name}, whose names mean others in the recursive function {tree.name}"
    return Surroundings(values, tuple(sorted(shared)), tuple(helpers))


def _found(scope: Scope | None, name: str) -> Value | None:
    owner = owner_of(scope, name)
    return None if owner is None else owner.values[name]


def owner_of(scope: Scope | None, name: str) -> Scope | None:
    """The scope that a name is a variable of, this one or one around it."""
    while scope is not None and (name not in scope.values or name in scope.outer):
        scope = scope.parent
    return scope


def standing_alone(tree: ast.FunctionDef, around: Surroundings) -> ast.FunctionDef:
    """The function with parameters for what is around it, which returns what it shares."""
    made = copy.copy(tree)
    made.args = copy.copy(tree.args)
    names = [ast.copy_location(ast.arg(arg=name), tree) for name in around.values]
    made.args.kwonlyargs = [*tree.args.kwonlyargs, *names]
    made.args.kw_defaults = [*tree.args.kw_defaults, *(None for _ in names)]
    body: list[ast.stmt] = tree.body
    if around.shared:
        own = [part for part in body if not isinstance(part, ast.Nonlocal)]
        end = ast.copy_location(ast.Return(value=None), body[-1])
        body = [_returning(part, around.shared) for part in [*own, end]]
    made.body = [*around.helpers, *body]
    return made


def _returning(node: ast.stmt, shared: Sequence[str]) -> ast.stmt:
    """A statement whose returns give the shared variables, too."""
    if isinstance(node, ast.Return):
        value = node.value or ast.copy_location(ast.Constant(None), node)
        names: list[ast.expr] = [ast.copy_location(ast.Name(id=name, ctx=ast.Load()), node) for name in shared]
        return ast.copy_location(
            ast.Return(value=ast.copy_location(ast.Tuple(elts=[value, *names], ctx=ast.Load()), value)), node
        )
    if isinstance(node, _SCOPES) or not any(isinstance(part, ast.Return) for part in ast.walk(node)):
        return node
    made = copy.copy(node)
    for field in ("body", "orelse", "finalbody"):
        block = getattr(node, field, None)
        if block:
            setattr(made, field, [_returning(part, shared) for part in block])
    for field in ("handlers", "cases"):
        parts = getattr(node, field, None)
        if parts:
            inner = []
            for part in parts:
                part = copy.copy(part)
                part.body = [_returning(statement, shared) for statement in part.body]
                inner.append(part)
            setattr(made, field, inner)
    return made


def varying_parameters(tree: ast.FunctionDef) -> set[str]:
    """Parameters that get something else where a function calls itself: `n` and `s` of `f(n - 1, s + "a", t)`."""
    names = [argument.arg for argument in (*tree.args.posonlyargs, *tree.args.args)]
    found: set[str] = set()
    for call in ast.walk(tree):
        if not isinstance(call, ast.Call):
            continue
        as_method = isinstance(call.func, ast.Attribute) and call.func.attr == tree.name
        if not as_method and not (isinstance(call.func, ast.Name) and call.func.id == tree.name):
            continue
        given = [*zip(names[as_method:], call.args), *((word.arg, word.value) for word in call.keywords)]
        found |= {name for name, value in given if name and not (isinstance(value, ast.Name) and value.id == name)}
    return found
