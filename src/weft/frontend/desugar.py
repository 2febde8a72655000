"""`match` statements as branches.  In: the statements of a function; out: the same, with each `match` whose patterns
are numbers, names, sequences, classes and alternatives as assignments of its subject and a chain of `if`s.

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

from weft.frontend import reads

_SUBJECT = "__weft_subject"


class _Refused(Exception):
    """A pattern that has no branches of its own."""


def without_matches(body: list[ast.stmt], namespace: dict[str, Any]) -> list[ast.stmt]:
    """The statements without `match`; the very list if there is none.  `namespace` has the classes of patterns."""
    nodes = [node for statement in body for node in ast.walk(statement)]
    if not any(isinstance(node, ast.Match) for node in nodes):
        return body
    opener = _Opener(namespace)
    return [new for statement in body for new in opener.opened(statement)]


class _Opener(ast.NodeTransformer):
    def __init__(self, namespace: dict[str, Any]) -> None:
        self.count = 0
        self.namespace = namespace

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
        _Patterns(self.namespace, tests, names).add(case.pattern, subject)
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


class _Patterns:
    """What a pattern asks of a subject, and the names that it binds."""

    def __init__(self, namespace: dict[str, Any], tests: list[ast.expr], names: dict[str, ast.expr]) -> None:
        self.namespace = namespace
        self.tests = tests
        self.names = names

    def add(self, pattern: ast.pattern, subject: ast.expr) -> None:
        if isinstance(pattern, ast.MatchValue):
            self.tests.append(_compared(subject, ast.Eq(), pattern.value))
        elif isinstance(pattern, ast.MatchSingleton):
            self.tests.append(_compared(subject, ast.Is(), ast.Constant(value=pattern.value)))
        elif isinstance(pattern, ast.MatchAs):
            if pattern.pattern is not None:
                self.add(pattern.pattern, subject)
            if pattern.name is not None:
                self.names[pattern.name] = subject
        elif isinstance(pattern, ast.MatchOr):
            self._alternatives(pattern, subject)
        elif isinstance(pattern, ast.MatchSequence):
            self._sequence(pattern.patterns, subject)
        elif isinstance(pattern, ast.MatchClass):
            self._class(pattern, subject)
        else:
            raise _Refused

    def _alternatives(self, pattern: ast.MatchOr, subject: ast.expr) -> None:
        ways: list[ast.expr] = []
        for part in pattern.patterns:
            inner = _Patterns(self.namespace, [], {})
            inner.add(part, subject)
            if inner.names or not inner.tests:
                raise _Refused
            tests = inner.tests
            ways.append(tests[0] if len(tests) == 1 else ast.BoolOp(op=ast.And(), values=tests))
        self.tests.append(ast.BoolOp(op=ast.Or(), values=ways))

    def _class(self, pattern: ast.MatchClass, subject: ast.expr) -> None:
        """isinstance(subject, cls), and patterns for attributes; one that Python's own types are matched by is them."""
        kind = reads.resolved(pattern.cls, self.namespace)
        if not isinstance(kind, type):
            raise _Refused
        self.tests.append(_call("isinstance", subject, pattern.cls))
        if kind in _WHOLE and len(pattern.patterns) == 1:
            self.add(pattern.patterns[0], subject)
        elif pattern.patterns:
            known = () if (found := reads.lookup(kind, "__match_args__")) is reads.ABSENT else found
            if kind in _WHOLE or len(pattern.patterns) > len(known):
                raise _Refused
            for name, part in zip(known, pattern.patterns):
                self.add(part, ast.Attribute(value=subject, attr=name, ctx=ast.Load()))
        for name, part in zip(pattern.kwd_attrs, pattern.kwd_patterns):
            self.add(part, ast.Attribute(value=subject, attr=name, ctx=ast.Load()))

    def _sequence(self, patterns: Sequence[ast.pattern], subject: ast.expr) -> None:
        stars = [place for place, part in enumerate(patterns) if isinstance(part, ast.MatchStar)]
        if isinstance(subject, ast.Tuple) and not stars:
            if len(subject.elts) != len(patterns):
                self.tests.append(ast.Constant(value=False))
                return
            for part, item in zip(patterns, subject.elts):
                self.add(part, item)
            return
        kinds = ast.Tuple(elts=[ast.Name(id=kind, ctx=ast.Load()) for kind in ("tuple", "list")], ctx=ast.Load())
        self.tests.append(_call("isinstance", subject, kinds))
        count = ast.Constant(value=len(patterns) - len(stars))
        self.tests.append(_compared(_call("len", subject), ast.GtE() if stars else ast.Eq(), count))
        for place, part in enumerate(patterns):
            if isinstance(part, ast.MatchStar):
                self._middle(part, place, len(patterns), subject)
                continue
            at = place if not stars or place < stars[0] else place - len(patterns)
            self.add(part, ast.Subscript(value=subject, slice=ast.Constant(value=at), ctx=ast.Load()))

    def _middle(self, part: ast.MatchStar, place: int, count: int, subject: ast.expr) -> None:
        """*rest: the list of what the other patterns leave."""
        if part.name is None:
            return
        after = count - place - 1
        end = ast.BinOp(left=_call("len", subject), op=ast.Sub(), right=ast.Constant(value=after))
        between = ast.Slice(lower=ast.Constant(value=place), upper=end if after else None, step=None)
        self.names[part.name] = _call("list", ast.Subscript(value=subject, slice=between, ctx=ast.Load()))


#: Python's types whose one pattern is for the value itself.
_WHOLE = frozenset({bool, bytearray, bytes, dict, float, frozenset, int, list, set, str, tuple})


def _call(name: str, *arguments: ast.expr) -> ast.expr:
    return ast.Call(func=ast.Name(id=name, ctx=ast.Load()), args=list(map(copy.deepcopy, arguments)), keywords=[])


def _compared(subject: ast.expr, op: ast.cmpop, value: ast.expr) -> ast.expr:
    return ast.Compare(left=copy.deepcopy(subject), ops=[op], comparators=[value])
