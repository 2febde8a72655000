"""Comprehensions to loops, or to nested functions where a function inside captures their variables.

[f(x) for x in xs if x]   -->   t = []; for x_1 in xs: if x_1: t.append(f(x_1))
(f(x) for x in xs if x)   -->   def t(u): for x in u: if x: yield f(x)
                                t(iter(xs))
"""

from __future__ import annotations

import ast

from weft.plain.core.build import Filling, arguments, assign, conditional, function, load, never_bound, place
from weft.plain.core.frame import Frame
from weft.plain.core.refuse import WAITLESS, NotCore
from weft.plain.core.scopes import (
    COMPREHENSIONS,
    FUNCTIONS,
    Comprehension,
    captured_by,
    own_parts,
    scope_of,
    variables,
    walrus_targets,
)

Statements = list[ast.stmt]


def reduce_comprehension(frame: Frame, node: Comprehension, out: Statements) -> ast.expr:
    if any(generator.is_async for generator in node.generators):
        raise NotCore(node, "an `async for` in a comprehension", WAITLESS)
    if isinstance(node, ast.GeneratorExp) or _is_captured(node):
        return _as_function(frame, node, out)
    return _as_loops(frame, node, out)


def _is_captured(node: Comprehension) -> bool:
    """Whether a function made inside this comprehension refers to one of its variables."""
    own = variables(node)
    return any(own & made for part in own_parts(node) for made in _captures(part))


def _captures(node: ast.AST) -> list[set[str]]:
    """What each function that is made inside `node` refers to."""
    if isinstance(node, (*FUNCTIONS, ast.GeneratorExp)):
        return [captured_by(node), *(found for child in ast.iter_child_nodes(node) for found in _captures(child))]
    found = [made for child in ast.iter_child_nodes(node) for made in _captures(child)]
    if isinstance(node, COMPREHENSIONS) and _is_captured(node):
        found.append(captured_by(node))
    return found


def _as_loops(frame: Frame, node: Comprehension, out: Statements) -> ast.expr:
    renamed = {name: frame.names.renamed(name) for name in sorted(variables(node))}
    frame.scope.bound.update(renamed.values())
    first = node.generators[0].iter
    _Renamer(renamed).in_scope_of(node)
    result = frame.container()
    # The first iterable is evaluated where the comprehension stands, before anything is made.
    made = _loops(frame, node, result, first, set(renamed.values()))
    out.extend(frame.block(frame, [_empty(frame, node, result, out), *made]))
    return load(result, node)


def _as_function(frame: Frame, node: Comprehension, out: Statements) -> ast.expr:
    name, parameter = frame.temporary(), frame.names.temporary()
    first = node.generators[0].iter
    body: Statements = []
    targets = sorted(walrus_targets(node))
    ours = [target for target in targets if target not in frame.scope.globals]
    theirs = [target for target in targets if target in frame.scope.globals]
    if ours:
        body.append(place(ast.Nonlocal(ours), node))
        out.extend(never_bound(target, node) for target in ours if target in frame.scope.walrus)
        frame.scope.walrus.difference_update(ours)
    if theirs:
        body.append(place(ast.Global(theirs), node))
    iterable: Statements = []
    if isinstance(node, ast.GeneratorExp):
        body += _loops(frame, node, "", load(parameter, first), variables(node))
        iterator = frame.builtin("iter", iterable, first)
    else:
        result = frame.container()
        made = _loops(frame, node, result, load(parameter, first), variables(node))
        body += [_empty(frame, node, result, body), *made]
        body.append(place(ast.Return(load(result, node)), node))
    out.append(frame.function(frame.names, function(name, arguments([parameter], first), body, node)))
    out.extend(iterable)
    given = frame.expression(frame, first, out)
    if isinstance(node, ast.GeneratorExp):
        given = place(ast.Call(iterator, [given], []), first)
    return place(ast.Call(load(name, node), [given], []), node)


def _empty(frame: Frame, node: Comprehension, result: str, out: Statements) -> ast.stmt:
    made: ast.expr
    if isinstance(node, ast.SetComp):
        made = ast.Call(frame.builtin("set", out, node), [], [])
    else:
        made = ast.Dict([], []) if isinstance(node, ast.DictComp) else ast.List([], ast.Load())
    return assign(result, place(made, node), node)


def _loops(frame: Frame, node: Comprehension, result: str, first: ast.expr, own: set[str]) -> Statements:
    """The loops and conditions, still to be reduced, with what is done for each entry inside."""
    body = _innermost(frame, node, result, own)
    for number, generator in reversed(list(enumerate(node.generators))):
        for condition in reversed(generator.ifs):
            body = [conditional(condition, body, [], condition)]
        iterable = generator.iter if number else first
        body = [place(ast.For(generator.target, iterable, body, []), generator.target)]
    return body


def _innermost(frame: Frame, node: Comprehension, result: str, own: set[str]) -> Statements:
    if isinstance(node, ast.GeneratorExp):
        return [place(ast.Expr(place(ast.Yield(node.elt), node.elt)), node.elt)]
    if not isinstance(node, ast.DictComp):
        text = "T.add(X)" if isinstance(node, ast.SetComp) else "T.append(X)"
        return frame.template(text, node.elt, T=result, X=node.elt)
    # Key before value, unlike in an assignment.
    if isinstance(node.key, ast.Constant) or (isinstance(node.key, ast.Name) and node.key.id in own):
        return frame.template("T[K] = V", node.value, T=result, K=node.key, V=node.value)
    key: Filling = frame.names.temporary()
    return frame.template("K = KEY\nT[K] = V", node.value, T=result, K=key, KEY=node.key, V=node.value)


class _Renamer(ast.NodeTransformer):
    """Rename variables in one scope; scopes inside that bind the same name keep theirs."""

    def __init__(self, renamed: dict[str, str]) -> None:
        self.renamed = renamed

    def in_scope_of(self, node: Comprehension) -> None:
        """Rename in everything but the first iterable."""
        for number, generator in enumerate(node.generators):
            if number:
                generator.iter = self.visit(generator.iter)
            generator.target = self.visit(generator.target)
            generator.ifs = [self.visit(condition) for condition in generator.ifs]
        if isinstance(node, ast.DictComp):
            node.key, node.value = self.visit(node.key), self.visit(node.value)
        else:
            node.elt = self.visit(node.elt)

    def visit_Name(self, node: ast.Name) -> ast.Name:
        node.id = self.renamed.get(node.id, node.id)
        return node

    def _without(self, names: set[str]) -> _Renamer:
        return _Renamer({old: new for old, new in self.renamed.items() if old not in names})

    def visit_Lambda(self, node: ast.Lambda) -> ast.Lambda:
        arguments = node.args
        arguments.defaults = [self.visit(default) for default in arguments.defaults]
        arguments.kw_defaults = [default and self.visit(default) for default in arguments.kw_defaults]
        node.body = self._without(scope_of(node).bound).visit(node.body)
        return node

    def _comprehension(self, node: Comprehension) -> Comprehension:
        node.generators[0].iter = self.visit(node.generators[0].iter)
        self._without(variables(node)).in_scope_of(node)
        return node

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension
