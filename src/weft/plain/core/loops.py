"""Loops without else: a flag says whether the loop ended by itself.

while t: A; break   else: B   -->   f = True; while t: A; f = False; break;   if f: B
"""

from __future__ import annotations

import ast

from weft.plain.core.build import assign, conditional, constant, load
from weft.plain.core.frame import Frame

Statements = list[ast.stmt]


def without_else(frame: Frame, node: ast.While | ast.For) -> Statements:
    ended = frame.temporary()
    orelse, node.orelse = node.orelse, []
    jumps = _Jumps(ended, everything=_jumps_inside_try(node.body, False))
    node.body = jumps.rewrite(node.body)
    if jumps.everything:
        node.body.append(assign(ended, constant(True, node), node))
    begin = assign(ended, constant(True, node), node)
    return [begin, node, conditional(load(ended, orelse[0]), orelse, [], orelse[0])]


def _jumps_inside_try(statements: Statements, inside: bool) -> bool:
    """Whether a `break` or `continue` of this loop may be overruled by a `finally` or `__exit__` around it."""
    for statement in statements:
        if isinstance(statement, (ast.Break, ast.Continue)) and inside:
            return True
        within = inside or isinstance(statement, (ast.Try, ast.With))
        for body in _bodies(statement):
            if _jumps_inside_try(body, within):
                return True
    return False


def _bodies(statement: ast.stmt) -> list[Statements]:
    """The bodies in which a `break` belongs to the loop around this statement."""
    if isinstance(statement, (ast.While, ast.For)):
        return [statement.orelse]
    if isinstance(statement, (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef)):
        return []
    bodies = [getattr(statement, name, []) for name in ("body", "orelse", "finalbody")]
    bodies += [handler.body for handler in getattr(statement, "handlers", [])]
    return bodies + [case.body for case in getattr(statement, "cases", [])]


class _Jumps:
    """Sets the flag before each `break`; with `everything`, also where an iteration ends or goes on, since a jump that
    a `finally` overrules must not leave its mark."""

    def __init__(self, ended: str, everything: bool) -> None:
        self.ended = ended
        self.everything = everything

    def rewrite(self, statements: Statements) -> Statements:
        made: Statements = []
        for statement in statements:
            if isinstance(statement, ast.Break):
                made.append(assign(self.ended, constant(False, statement), statement))
            elif isinstance(statement, ast.Continue) and self.everything:
                made.append(assign(self.ended, constant(True, statement), statement))
            made.append(statement)
            for body in _bodies(statement):
                body[:] = self.rewrite(body)
        return made
