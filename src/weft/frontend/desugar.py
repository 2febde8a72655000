"""`match` statements as branches.  In: the statements of a function; out: the same, with each `match` whose patterns
are numbers, names, tuples of these and alternatives as assignments of its subject and a chain of `if`s.

    match x, y:                      subject_0 = x; subject_1 = y
        case (0, b): s      -->      if subject_0 == 0: b = subject_1; s
        case _ if y > 3: t           elif y > 3: t
Other patterns stay as they are, for the builder to refuse.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence
from typing import Any

_SUBJECT = "__weft_subject"


class _Refused(Exception):
    """A pattern that has no branches of its own."""


def without_matches(body: list[ast.stmt]) -> list[ast.stmt]:
    """The statements without `match`; the very list if there is none."""
    nodes = [node for statement in body for node in ast.walk(statement)]
    if not any(isinstance(node, ast.Match) for node in nodes):
        return body
    opener = _Opener()
    return [new for statement in body for new in opener.opened(statement)]


class _Opener(ast.NodeTransformer):
    def __init__(self) -> None:
        self.count = 0

    def opened(self, statement: ast.stmt) -> list[ast.stmt]:
        new = self.visit(copy.deepcopy(statement))
        return new if isinstance(new, list) else [new]

    def visit_Match(self, node: ast.Match) -> Any:
        self.generic_visit(node)
        try:
            return [ast.fix_missing_locations(ast.copy_location(new, node)) for new in self._branches(node)]
        except _Refused:
            return node

    def _branches(self, node: ast.Match) -> list[ast.stmt]:
        self.count += 1
        name = f"{_SUBJECT}_{self.count}"
        before: list[ast.stmt] = []
        subject: ast.expr = ast.Name(id=name, ctx=ast.Load())
        if isinstance(node.subject, ast.Tuple) and not any(isinstance(e, ast.Starred) for e in node.subject.elts):
            parts = [f"{name}_{place}" for place in range(len(node.subject.elts))]
            targets: list[ast.expr] = [ast.Name(id=part, ctx=ast.Store()) for part in parts]
            subject = ast.Tuple(elts=[ast.Name(id=part, ctx=ast.Load()) for part in parts], ctx=ast.Load())
            before.append(ast.Assign(targets=[ast.Tuple(elts=targets, ctx=ast.Store())], value=node.subject))
        else:
            before.append(ast.Assign(targets=[ast.Name(id=name, ctx=ast.Store())], value=node.subject))
        chain: list[ast.stmt] = []
        for case in reversed(node.cases):
            chain = self._case(case, subject, chain)
        return [*before, *chain]

    def _case(self, case: ast.match_case, subject: ast.expr, otherwise: list[ast.stmt]) -> list[ast.stmt]:
        tests: list[ast.expr] = []
        names: dict[str, ast.expr] = {}
        _pattern(case.pattern, subject, tests, names)
        bound: list[ast.stmt] = [
            ast.Assign(targets=[ast.Name(id=key, ctx=ast.Store())], value=copy.deepcopy(value))
            for key, value in names.items()
        ]
        inner = list(case.body)
        if case.guard is not None and names:
            # Names stay bound though the guard fails.
            guarded = ast.If(test=case.guard, body=inner, orelse=copy.deepcopy(otherwise))
            inner = [ast.copy_location(guarded, case.guard)]
        elif case.guard is not None:
            tests.append(case.guard)
        body = [*bound, *inner]
        if not tests:
            return body
        test = tests[0] if len(tests) == 1 else ast.BoolOp(op=ast.And(), values=tests)
        return [ast.copy_location(ast.If(test=test, body=body, orelse=otherwise), case.pattern)]


def _pattern(pattern: ast.pattern, subject: ast.expr, tests: list[ast.expr], names: dict[str, ast.expr]) -> None:
    """Add what a pattern asks of a subject, and the names that it binds."""
    if isinstance(pattern, ast.MatchValue):
        tests.append(_compared(subject, ast.Eq(), pattern.value))
    elif isinstance(pattern, ast.MatchSingleton):
        tests.append(_compared(subject, ast.Is(), ast.Constant(value=pattern.value)))
    elif isinstance(pattern, ast.MatchAs):
        if pattern.pattern is not None:
            _pattern(pattern.pattern, subject, tests, names)
        if pattern.name is not None:
            names[pattern.name] = subject
    elif isinstance(pattern, ast.MatchOr):
        ways: list[ast.expr] = []
        for part in pattern.patterns:
            inner: list[ast.expr] = []
            bound: dict[str, ast.expr] = {}
            _pattern(part, subject, inner, bound)
            if bound or not inner:
                raise _Refused
            ways.append(inner[0] if len(inner) == 1 else ast.BoolOp(op=ast.And(), values=inner))
        tests.append(ast.BoolOp(op=ast.Or(), values=ways))
    elif isinstance(pattern, ast.MatchSequence) and not any(isinstance(p, ast.MatchStar) for p in pattern.patterns):
        _sequence(pattern.patterns, subject, tests, names)
    else:
        raise _Refused


def _sequence(
    patterns: Sequence[ast.pattern], subject: ast.expr, tests: list[ast.expr], names: dict[str, ast.expr]
) -> None:
    if isinstance(subject, ast.Tuple):
        if len(subject.elts) != len(patterns):
            tests.append(ast.Constant(value=False))
            return
        for part, item in zip(patterns, subject.elts):
            _pattern(part, item, tests, names)
        return
    kinds = ast.Tuple(elts=[ast.Name(id=kind, ctx=ast.Load()) for kind in ("tuple", "list")], ctx=ast.Load())
    tests.append(ast.Call(func=ast.Name(id="isinstance", ctx=ast.Load()), args=[subject, kinds], keywords=[]))
    length = ast.Call(func=ast.Name(id="len", ctx=ast.Load()), args=[subject], keywords=[])
    tests.append(_compared(length, ast.Eq(), ast.Constant(value=len(patterns))))
    for place, part in enumerate(patterns):
        item = ast.Subscript(value=subject, slice=ast.Constant(value=place), ctx=ast.Load())
        _pattern(part, item, tests, names)


def _compared(subject: ast.expr, op: ast.cmpop, value: ast.expr) -> ast.expr:
    return ast.Compare(left=copy.deepcopy(subject), ops=[op], comparators=[value])
