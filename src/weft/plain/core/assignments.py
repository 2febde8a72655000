"""Assignments to Core: one target each, unpacking of names only, places whose parts are atoms.

a = x[i + 1] = f()   -->   t1 = f(); a = t1; t2 = i + 1; x[t2] = t1
a, b = b, a + b      -->   t1 = b; t2 = a + b; a = t1; b = t2
o.a += v             -->   t1 = o.a; t1 += v; o.a = t1
"""

from __future__ import annotations

import ast

from weft.plain.core import places
from weft.plain.core.build import again, assign, is_atom, load, place, store
from weft.plain.core.expressions import operand, reduce, reduce_yield
from weft.plain.core.frame import Frame, is_silent
from weft.plain.core.operands import in_order

Statements = list[ast.stmt]


def reduce_assign(frame: Frame, node: ast.Assign, out: Statements) -> None:
    assign_to(frame, node.targets, node.value, node, out)


def assign_to(frame: Frame, targets: list[ast.expr], value: ast.expr, source: ast.AST, out: Statements) -> None:
    if len(targets) == 1 and _is_pairwise(targets[0], value):
        _pairwise(frame, targets[0], value, out)
        return
    if len(targets) == 1 and isinstance(targets[0], ast.Name) and isinstance(value, (ast.Yield, ast.YieldFrom)):
        value = reduce_yield(frame, value, out)
    else:
        value = reduce(frame, value, out)
    if len(targets) > 1:
        value = _held(frame, value, _stores(targets[:-1]), out)
    for number, target in enumerate(targets):
        _store(frame, target, again(value) if number else value, source, out)


def _stores(targets: list[ast.expr]) -> Statements:
    """The targets as statements, to ask which names they bind."""
    return [place(ast.Assign([target], ast.Constant(None)), target) for target in targets]


def _held(frame: Frame, value: ast.expr, between: Statements, out: Statements) -> ast.expr:
    """A value that is used after the statements `between`."""
    return value if frame.is_stable(value, between) else frame.keep(value, out)


def _is_pairwise(target: ast.expr, value: ast.expr) -> bool:
    """Displays of equal length on both sides, without stars."""
    displays = (ast.Tuple, ast.List)
    if not isinstance(target, displays) or not isinstance(value, displays):
        return False
    starred = any(isinstance(entry, ast.Starred) for entry in (*target.elts, *value.elts))
    return not starred and len(target.elts) == len(value.elts)


def _pairwise(frame: Frame, target: ast.expr, value: ast.expr, out: Statements) -> None:
    assert isinstance(target, (ast.Tuple, ast.List)) and isinstance(value, (ast.Tuple, ast.List))
    operands = [operand(frame, entry) for entry in value.elts]
    count = len(operands)
    found: list[ast.expr] = []
    for i, given in enumerate(operands):
        later = [statement for other in operands[i + 1 :] for statement in other.out]
        out.extend(given.out)
        only = count == 1 and isinstance(target.elts[0], (ast.Name, ast.Tuple, ast.List))
        between = [*later, *_stores(target.elts[:i])]
        found.append(given.value if only else _held(frame, given.value, between, out))
    for entry, given_value in zip(target.elts, found):
        _store(frame, entry, given_value, entry, out)


def _store(frame: Frame, target: ast.expr, value: ast.expr, source: ast.AST, out: Statements) -> None:
    """target = value, the value already reduced."""
    if isinstance(target, ast.Name):
        out.append(assign(target.id, value, source))
        frame.bind(target.id)
    elif isinstance(target, (ast.Attribute, ast.Subscript)):
        operands = [operand(frame, part) for part in places.parts(target)]
        if not all(is_atom(part.value) and not part.out for part in operands):
            value = _held(frame, value, [statement for part in operands for statement in part.out], out)
        places.with_parts(target, in_order(frame, operands, out, atoms=True))
        out.append(place(ast.Assign([target], value), source))
    else:
        assert isinstance(target, (ast.Tuple, ast.List))
        _unpack(frame, target, value, source, out)


def _unpack(frame: Frame, target: ast.Tuple | ast.List, value: ast.expr, source: ast.AST, out: Statements) -> None:
    """(a, x[i], *b) = v  -->  a, t1, *t2 = v; x[i] = t1; b = t2.

    Names before the first other target are bound by the unpacking itself; the others are stored to after it, so that
    the stores come left to right.
    """
    value = value if is_atom(value) else frame.keep(value, out)
    names: list[ast.expr] = []
    rest: list[tuple[ast.expr, str]] = []
    for entry in target.elts:
        inner = entry.value if isinstance(entry, ast.Starred) else entry
        if isinstance(inner, ast.Name) and not rest:
            name = inner.id
            frame.bind(name)
        else:
            name = frame.temporary()
            rest.append((inner, name))
        stored = store(name, inner)
        names.append(place(ast.Starred(stored, ast.Store()), entry) if inner is not entry else stored)
    out.append(place(ast.Assign([place(ast.Tuple(names, ast.Store()), target)], value), source))
    for inner, name in rest:
        _store(frame, inner, load(name, inner), inner, out)


def reduce_augmented(frame: Frame, node: ast.AugAssign, out: Statements) -> None:
    """The target is read, the value evaluated, the result stored."""
    target = node.target
    if isinstance(target, ast.Name):
        given = operand(frame, node.value)
        if is_silent(given.out) or frame.is_stable(load(target.id, target), given.out):
            out.extend(given.out)
            node.value = given.value
            out.append(node)
            return
        kept = frame.keep(load(target.id, target), out)
        out.extend([*given.out, _update(kept.id, node, given.value), assign(target.id, load(kept.id, target), node)])
        return
    parts = [operand(frame, part) for part in places.parts(target)]
    value = operand(frame, node.value)
    # The parts are read again after the value was evaluated: they must be the same then.
    atoms = in_order(frame, parts, out, atoms=True)
    atoms = [atom if frame.is_stable(atom, value.out) else frame.keep(atom, out) for atom in atoms]
    places.with_parts(target, atoms)
    kept = frame.keep(places.same_place(target, ast.Load()), out)
    out.extend([*value.out, _update(kept.id, node, value.value)])
    out.append(place(ast.Assign([target], load(kept.id, target)), node))


def _update(name: str, node: ast.AugAssign, value: ast.expr) -> ast.stmt:
    return place(ast.AugAssign(store(name, node.target), node.op, value), node)
