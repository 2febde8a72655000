"""`match` to chains of `if`, as CPython runs it: the subject once, names bound only when the whole pattern fits.

    match s:                       if s == 1 or s == 2: A
        case 1 | 2: A       -->    else:
        case [x, *_] if x: B           <t = s[0] if s is a sequence with an entry>; x = t; if x: B

Patterns are compiled inside out: a pattern gets the statements to run when it fits.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from dataclasses import dataclass

from weft.plain.core.build import again, assign, conditional, constant, is_atom, is_constant, load, negated, place
from weft.plain.core.frame import Frame
from weft.plain.core.refuse import NotCore
from weft.plain.core.scopes import stored_names

Statements = list[ast.stmt]
Captures = dict[str, ast.expr]
Then = Callable[[], Statements]
# Classes whose only positional sub-pattern is the object itself.
_SELF_MATCHING = ("bool", "bytearray", "bytes", "dict", "float", "frozenset", "int", "list", "set", "str", "tuple")


def reduce_match(frame: Frame, node: ast.Match, subject: ast.expr, out: Statements) -> Statements:
    """The chain, still to be reduced; `subject` is reduced, and kept in `out` where the cases could change it."""
    guards: Statements = [place(ast.Expr(case.guard), case.guard) for case in node.cases if case.guard]
    rebound = stored_names(guards) | {name for case in node.cases for name in captured(case.pattern)}
    changes = isinstance(subject, ast.Name) and subject.id in rebound
    if not is_atom(subject) or changes or not frame.is_stable(subject, []):
        subject = frame.keep(subject, out)
    return _Cases(frame, subject).chain(node.cases)


def captured(pattern: ast.pattern) -> set[str]:
    found = set()
    for node in ast.walk(pattern):
        name = getattr(node, "rest" if isinstance(node, ast.MatchMapping) else "name", None)
        if name is not None:
            found.add(name)
    return found


@dataclass
class _Cases:
    frame: Frame
    subject: ast.expr

    def chain(self, cases: list[ast.match_case]) -> Statements:
        if not cases:
            return []
        case, rest = cases[0], cases[1:]
        test = _as_test(case.pattern, self.subject)
        if test is not None:
            if case.guard is not None:
                test = place(ast.BoolOp(ast.And(), [test, case.guard]), case.pattern)
            return [conditional(test, case.body, self.chain(rest), case.pattern)]
        captures: Captures = {}
        fits = _Patterns(self.frame, captures)
        if not rest:
            return fits.match(case.pattern, self.subject, lambda: self._bound(case, captures, case.body))
        done = self.frame.temporary()
        yes: Statements = [assign(done, constant(True, case.pattern), case.pattern)]
        return [
            assign(done, constant(False, case.pattern), case.pattern),
            *fits.match(case.pattern, self.subject, lambda: self._bound(case, captures, yes)),
            conditional(load(done, case.pattern), case.body, self.chain(rest), case.pattern),
        ]

    def _bound(self, case: ast.match_case, captures: Captures, body: Statements) -> Statements:
        """What happens when the pattern fits: names are bound, the guard is asked."""
        made: Statements = [assign(name, again(value), case.pattern) for name, value in captures.items()]
        if case.guard is None:
            return made + body
        return [*made, conditional(case.guard, body, [], case.guard)]


def _as_test(pattern: ast.pattern, subject: ast.expr) -> ast.expr | None:
    """A pattern without names or parts as one expression."""
    if isinstance(pattern, ast.MatchValue):
        return place(ast.Compare(again(subject), [ast.Eq()], [pattern.value]), pattern)
    if isinstance(pattern, ast.MatchSingleton):
        value = constant(pattern.value, pattern)
        return place(ast.Compare(again(subject), [ast.Is()], [value]), pattern)
    if isinstance(pattern, ast.MatchOr):
        tests = [_as_test(alternative, subject) for alternative in pattern.patterns]
        if None not in tests:
            return place(ast.BoolOp(ast.Or(), [test for test in tests if test is not None]), pattern)
    return None


def _is_wild(pattern: ast.pattern) -> bool:
    return (
        isinstance(pattern, (ast.MatchAs, ast.MatchStar))
        and pattern.name is None
        and (isinstance(pattern, ast.MatchStar) or pattern.pattern is None)
    )


@dataclass
class _Patterns:
    """Compiles one case's pattern; `captures` collects the names and the atoms that they will be bound to."""

    frame: Frame
    captures: Captures

    def match(self, pattern: ast.pattern, subject: ast.expr, then: Then) -> Statements:
        test = _as_test(pattern, subject)
        if test is not None:
            return [conditional(test, then(), [], pattern)]
        if isinstance(pattern, ast.MatchAs):
            return self._as(pattern, subject, then)
        if isinstance(pattern, ast.MatchOr):
            return self._or(pattern, subject, then)
        if isinstance(pattern, ast.MatchSequence):
            return self._sequence(pattern, subject, then)
        if isinstance(pattern, ast.MatchMapping):
            return self._mapping(pattern, subject, then)
        if isinstance(pattern, ast.MatchClass):
            return self._class(pattern, subject, then)
        raise NotCore(pattern, f"the pattern {type(pattern).__name__}")

    def _all(self, pairs: list[tuple[ast.pattern, ast.expr]], then: Then) -> Statements:
        """Several patterns, one after the other."""
        if not pairs:
            return then()
        (pattern, subject), rest = pairs[0], pairs[1:]
        return self.match(pattern, subject, lambda: self._all(rest, then))

    def _as(self, pattern: ast.MatchAs, subject: ast.expr, then: Then) -> Statements:
        def bind() -> Statements:
            if pattern.name is not None:
                self.captures[pattern.name] = subject
            return then()

        return bind() if pattern.pattern is None else self.match(pattern.pattern, subject, bind)

    def _or(self, pattern: ast.MatchOr, subject: ast.expr, then: Then) -> Statements:
        """Alternatives bind the same names: to temporaries, whichever fits first."""
        done = self.frame.temporary()
        shared = {name: self.frame.temporary() for name in sorted(captured(pattern))}

        def chosen(inner: Captures) -> Statements:
            made: Statements = [assign(shared[name], again(value), pattern) for name, value in inner.items()]
            return [*made, assign(done, constant(True, pattern), pattern)]

        made: Statements = [assign(done, constant(False, pattern), pattern)]
        body = made
        for number, alternative in enumerate(pattern.patterns):
            if number:
                following: Statements = []
                body.append(conditional(negated(load(done, pattern)), following, [], pattern))
                body = following
            inner: Captures = {}
            body.extend(_Patterns(self.frame, inner).match(alternative, subject, lambda inner=inner: chosen(inner)))  # type: ignore[misc]
        self.captures.update({name: load(kept, pattern) for name, kept in shared.items()})
        return [*made, conditional(load(done, pattern), then(), [], pattern)]

    def _sequence(self, pattern: ast.MatchSequence, subject: ast.expr, then: Then) -> Statements:
        frame, entries = self.frame, pattern.patterns
        stars = [i for i, entry in enumerate(entries) if isinstance(entry, ast.MatchStar)]
        length = ""
        if not stars:
            length = f" and len(S) == {len(entries)}"
        elif len(entries) > 1:
            length = f" and len(S) >= {len(entries) - 1}"
        text = (
            "from collections.abc import Sequence as KIND\n"
            f"if isinstance(S, KIND) and not isinstance(S, (str, bytes, bytearray)){length}:\n    BODY"
        )
        body: Statements
        if all(map(_is_wild, entries)):
            body = then()
        elif stars and _is_wild(entries[stars[0]]):
            body = self._by_index(pattern, stars[0], 0, subject, then)
        else:
            body = self._by_unpacking(pattern, subject, then)
        kind = frame.temporary()
        return frame.template(text, pattern, "isinstance str bytes bytearray len", S=subject, KIND=kind, BODY=body)

    def _by_index(self, pattern: ast.MatchSequence, star: int, i: int, subject: ast.expr, then: Then) -> Statements:
        """The entries around `*_`, each read when its turn comes."""
        entries = pattern.patterns
        while i < len(entries) and _is_wild(entries[i]):
            i += 1
        if i == len(entries):
            return then()
        index = f"{i}" if i < star else f"len(S) - {len(entries) - i}"
        name = self.frame.temporary()
        read = self.frame.template(f"T = S[{index}]", entries[i], "len", T=name, S=subject)
        rest = lambda: self._by_index(pattern, star, i + 1, subject, then)  # noqa: E731
        return read + self.match(entries[i], load(name, entries[i]), rest)

    def _by_unpacking(self, pattern: ast.MatchSequence, subject: ast.expr, then: Then) -> Statements:
        names = [self.frame.temporary() for _ in pattern.patterns]
        targets: list[ast.expr] = []
        pairs: list[tuple[ast.pattern, ast.expr]] = []
        for name, entry in zip(names, pattern.patterns):
            target: ast.expr = ast.Name(name, ast.Store())
            if isinstance(entry, ast.MatchStar):
                target = ast.Starred(target, ast.Store())
                entry = place(ast.MatchAs(None, entry.name), entry)
            targets.append(target)
            pairs.append((entry, load(name, entry)))
        unpack = place(ast.Assign([ast.Tuple(targets, ast.Store())], again(subject)), pattern)
        return [unpack, *self._all(pairs, then)]

    def _mapping(self, pattern: ast.MatchMapping, subject: ast.expr, then: Then) -> Statements:
        frame, count = self.frame, len(pattern.keys)
        kind, get, missing = frame.temporary(), frame.temporary(), frame.temporary()
        keys = [key if is_atom(key) else load(frame.temporary(), key) for key in pattern.keys]
        values = [frame.temporary() for _ in keys]
        rest = frame.container()

        def fits() -> Statements:
            made: Statements = []
            if pattern.rest is not None:
                made += frame.template("T = {}\nT.update(S)", pattern, T=rest, S=subject)
                for key in keys:
                    made += frame.template("del T[K]", key, T=rest, K=key)
            pairs = [(entry, load(value, entry)) for entry, value in zip(pattern.patterns, values)]
            if pattern.rest is not None:
                pairs.append((place(ast.MatchAs(None, pattern.rest), pattern), load(rest, pattern)))
            return made + self._all([pair for pair in pairs if not _is_wild(pair[0])], then)

        def found(number: int) -> Statements:
            if number == count:
                return fits()
            text = "V = GET(K, MISSING)\nif V is not MISSING:\n    BODY"
            holes = {"V": values[number], "GET": get, "MISSING": missing}
            return frame.template(text, keys[number], K=keys[number], BODY=found(number + 1), **holes)

        evaluated: Statements = []
        for key, source in zip(keys, pattern.keys):
            if key is not source and isinstance(key, ast.Name):
                evaluated.append(assign(key.id, source, source))
        for number, key in enumerate(keys):
            for earlier in keys[:number]:
                if not (is_constant(key) and is_constant(earlier)):
                    evaluated += frame.template(_SAME_KEY, key, "ValueError", K=key, EARLIER=earlier)
        body = found(0)
        if count:
            text = "GET = S.get\nMISSING = object()"
            evaluated += frame.template(text, pattern, "object", GET=get, MISSING=missing, S=subject)
        length = f" and len(S) >= {count}" if count else ""
        text = f"from collections.abc import Mapping as KIND\nif isinstance(S, KIND){length}:\n    KEYS\n    BODY"
        return frame.template(text, pattern, "isinstance len", S=subject, KIND=kind, KEYS=evaluated, BODY=body)

    def _class(self, pattern: ast.MatchClass, subject: ast.expr, then: Then) -> Statements:
        frame, count = self.frame, len(pattern.patterns)
        entries = [*pattern.patterns, *pattern.kwd_patterns]
        before: Statements = []
        cls = pattern.cls
        if not self._is_self_matching(cls):
            cls = frame.keep(cls, before)
            before += frame.template(_IS_CLASS, pattern, "isinstance type TypeError", C=cls)
        elif count == 1 and len(entries) == 1:
            inner = self.match(entries[0], subject, then)
            return frame.template("if isinstance(S, C):\n    BODY", pattern, "isinstance", S=subject, C=cls, BODY=inner)
        values = [frame.temporary() for _ in entries]
        pairs = [(entry, load(value, entry)) for entry, value in zip(entries, values)]
        body = self._all([pair for pair in pairs if not _is_wild(pair[0])], then)
        missing, names = frame.temporary(), frame.temporary()
        for number in reversed(range(len(entries))):
            attribute = f"NAMES[{number}]" if number < count else repr(pattern.kwd_attrs[number - count])
            read = _READ_SELF if count == 1 and number == 0 else f"V = getattr(S, {attribute}, MISSING)\n"
            body = frame.template(
                read + "if V is not MISSING:\n    BODY",
                pattern,
                _BUILTINS,
                C=cls,
                S=subject,
                V=values[number],
                MISSING=missing,
                NAMES=names,
                BODY=body,
            )
        start = "MISSING = object()\n" if entries else ""
        if count:
            start += _ONE_NAME if count == 1 else _MANY_NAMES.format(count=count)
            start += "".join(_TWICE.format(name=name, count=count) for name in pattern.kwd_attrs)
        made = frame.template(start, pattern, _BUILTINS, C=cls, MISSING=missing, NAMES=names)
        text = "if isinstance(S, C):\n    BEFORE\n    BODY"
        return before + frame.template(text, pattern, "isinstance", S=subject, C=cls, BEFORE=made, BODY=body)

    def _is_self_matching(self, cls: ast.expr) -> bool:
        return isinstance(cls, ast.Name) and cls.id in _SELF_MATCHING and cls.id not in self.frame.names.shadowed


_BUILTINS = "getattr object len issubclass isinstance type TypeError " + " ".join(_SELF_MATCHING)
_SAME_KEY = """\
if K == EARLIER:
    raise ValueError(f'mapping pattern checks duplicate key ({K!r})')
"""
_IS_CLASS = f"""\
if not isinstance(C, type):
    raise TypeError('called match pattern must be a {"class" if sys.version_info >= (3, 12) else "type"}')
"""
_ONE_NAME = """\
NAMES = getattr(C, '__match_args__', MISSING)
if NAMES is not MISSING and not isinstance(NAMES, tuple):
    raise TypeError(f'{C.__name__}.__match_args__ must be a tuple (got {type(NAMES).__name__})')
"""
_MANY_NAMES = """\
NAMES = getattr(C, '__match_args__', ())
if not isinstance(NAMES, tuple):
    raise TypeError(f'{{C.__name__}}.__match_args__ must be a tuple (got {{type(NAMES).__name__}})')
if len(NAMES) < {count}:
    raise TypeError(
        f"{{C.__name__}}() accepts {{len(NAMES)}} positional "
        f"sub-pattern{{'' if len(NAMES) == 1 else 's'}} ({count} given)"
    )
"""
_TWICE = """\
if NAMES is not MISSING and '{name}' in NAMES[:{count}]:
    raise TypeError(f"{{C.__name__}}() got multiple sub-patterns for attribute '{name}'")
"""
_READ_SELF = f"""\
if NAMES is MISSING and issubclass(C, ({", ".join(_SELF_MATCHING)})):
    V = S
else:
    if NAMES is MISSING or len(NAMES) < 1:
        raise TypeError(f"{{C.__name__}}() accepts 0 positional sub-patterns (1 given)")
    V = getattr(S, NAMES[0], MISSING)
"""
